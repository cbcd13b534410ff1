package online

import (
	"testing"
	"unsafe"

	"github.com/credence-ml/credence/internal/kernel"
)

// Pairs are prefetched by their size.
func TestPairShift(t *testing.T) {
	if size := unsafe.Sizeof(pair{}); size != 1<<pairShift || unsafe.Sizeof([chunkSize]pair{}) != kernel.PrefetchBytes {
		t.Errorf("a pair has %d bytes", size)
	}
}
