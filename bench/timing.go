package main

import (
	"context"
	"io"
)

func runTiming(ctx context.Context, args []string, out, progress io.Writer) error { return nil }
func runCell(ctx context.Context, args []string, out, progress io.Writer) error   { return nil }
