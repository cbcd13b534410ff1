package parquet

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/bitpacked"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/rle"
)

// room returns bytes with room behind them, as pages have.
func room(from []byte) []byte { return append(make([]byte, 0, len(from)+64), from...) }

// Runs and packed bits of every width are read as parquet-go writes them, in pieces of any size; cut off, they end or
// are refused.
func TestRuns(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 27))
	for trial := range 400 {
		width, want := rng.IntN(33), make([]int32, 1+rng.IntN(500))
		for i := range want {
			if want[i] = int32(rng.Uint64() & (1<<width - 1)); i > 0 && rng.IntN(60) > trial%60 {
				want[i] = want[i-1]
			}
		}
		from, err := (&rle.Encoding{BitWidth: width}).EncodeInt32(nil, want)
		if err != nil {
			t.Fatal(err)
		}
		got := func(r runs) (all []int32, err error) {
			for len(all) < len(want) {
				to := make([]int32, min(1+rng.IntN(150), len(want)-len(all)))
				n, err := r.next(to)
				if all = append(all, to[:n]...); err != nil || n < len(to) {
					return all, err
				}
			}
			return all, nil
		}
		if all, err := got(runs{from: room(from), width: width}); err != nil || !slices.Equal(all, want) {
			t.Fatalf("width %d: %v, want %v: %v", width, all, want, err)
		}
		if all, err := got(runs{from: room(from[:len(from)-1]), width: width}); width > 0 && err == nil && len(all) == len(want) {
			t.Fatalf("width %d: cut off, %d numbers are read", width, len(all))
		}
		for r, at := (&runs{from: room(from), width: width}), 0; at < len(want); {
			n, is, err := r.run(1+rng.IntN(100), want[0])
			if err != nil || n == 0 {
				t.Fatalf("width %d: %d numbers: %v", width, n, err)
			}
			for ; n > 0; n, at = n-1, at+1 {
				if at < len(want) && is != (want[at] == want[0]) {
					t.Fatalf("width %d: number %d of %v is told otherwise", width, at, want)
				}
			}
		}
		levels := make([]byte, len(want))
		for i := range levels {
			levels[i] = byte(rng.IntN(5))
		}
		from, err = (&bitpacked.Encoding{BitWidth: bits.Len(4)}).EncodeLevels(nil, levels)
		if err != nil {
			t.Fatal(err)
		}
		all, err := got(packed(room(from), 3, true))
		for i, level := range levels {
			if err != nil || int32(level) != all[i] {
				t.Fatalf("level %d is %d, want %d: %v, %v of %v in %08b", i, all[i], level, err, all, levels, from)
			}
		}
	}
}

// Differences are read as parquet-go writes them, in pieces of any size, and so is what stands behind them.
func TestDeltas(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 27))
	for trial := range 200 {
		want := make([]int64, 1+rng.IntN(600))
		for i := range want {
			want[i] = int64(rng.Uint64()) >> (trial % 64)
		}
		from, err := (&delta.BinaryPackedEncoding{}).EncodeInt64(nil, want)
		if err != nil {
			t.Fatal(err)
		}
		var d deltas
		if err := d.begin(room(append(from, 1, 2, 3))); err != nil {
			t.Fatal(err)
		}
		if behind, err := d.behind(); err != nil || !slices.Equal(behind, []byte{1, 2, 3}) {
			t.Fatalf("%d behind: %v", len(behind), err)
		}
		for at := 0; at < len(want); {
			to := make([]int64, min(1+rng.IntN(100), len(want)-at))
			if n, err := d.next(to); n < len(to) || err != nil || !slices.Equal(to, want[at:at+n]) {
				t.Fatalf("%v, want %v: %v", to[:n], want[at:at+len(to)], err)
			}
			at += len(to)
		}
		if n, err := d.next(make([]int64, 1)); n != 0 || err != nil {
			t.Errorf("%d behind the last: %v", n, err)
		}
		if err := d.begin(room(from[:len(from)/2])); err == nil {
			if n, err := d.next(make([]int64, len(want))); err == nil && n == len(want) && len(want) > 40 && trial%64 < 50 {
				t.Errorf("cut off, %d integers are read", n)
			}
		}
	}
}
