//go:build !unix

package main

import "time"

var start = time.Now()

// processorTime is the time since the start, where nothing better is known.
func processorTime() time.Duration { return time.Since(start) }
