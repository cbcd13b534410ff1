//go:build !unix

package study

import "time"

// Processor is the CPU time of this process so far, on all threads; 0 where the system does not tell.
func Processor() time.Duration { return 0 }
