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

// Of a value and a weight of 1 the short form is the long one to the bit, where the shrinking is bounded, too.
func TestFilterOne(t *testing.T) {
	for _, variance := range []float64{1e-3, 0.7, 5, 99.5} {
		a, b := pair{0.3, variance}, pair{0.3, variance}
		a.filter(1, 1, 0.25, 0.01)
		b.filterOne(0.25, 0.01)
		if a != b {
			t.Errorf("variance %v: %v, want %v", variance, b, a)
		}
	}
}
