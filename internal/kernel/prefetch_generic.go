//go:build !amd64 || purego

package kernel

import "unsafe"

func prefetch(int, *int32, unsafe.Pointer, uint) {}

func prefetchNumbers(int, *uint64, *uint32, uint64) {}
