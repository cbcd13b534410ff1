//go:build !purego

package kernel

import "unsafe"

// prefetch fetches n items from chunks of 1 << 20 bytes.
//
//go:noescape
func prefetch(n int, items *int32, chunks unsafe.Pointer, shift uint)

// prefetchNumbers fetches the numbers at n places of a list, those below its length.
//
//go:noescape
func prefetchNumbers(n int, places *uint64, list *uint32, length uint64)
