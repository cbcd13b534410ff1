//go:build !purego

package kernel

import "unsafe"

// prefetch fetches n items from chunks of 1 << 20 bytes.
//
//go:noescape
func prefetch(n int, items *int32, chunks unsafe.Pointer, shift uint)
