package parquet

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/credence-ml/credence/internal/conform/bombs"
)

// few is how many rows of a bomb are read, and within how much memory, which is also what a large page takes.
const few, fewBytes = 3e5, 128 << 20

// drain reads the first rows of all columns of a file, side by side in steps.
func drain(f *File, rows int64) error {
	for i := range f.Groups() {
		g := group(f, i)
		defer g.Close()
		var columns []*Pages
		for j := range f.Columns {
			columns = append(columns, g.Pages(j))
		}
		left, values := make([]int, len(columns)), make([]int, len(columns))
		for done := int64(0); done < min(rows, g.Rows); done += piece {
			for j, p := range columns {
				for want := int(min(piece, g.Rows-done)); want > 0; {
					if left[j] == 0 {
						n, _, err := p.Next()
						if err != nil {
							return err
						}
						left[j], values[j] = n, 0
						continue
					}
					n, there, err := p.Run(min(want, left[j]))
					if err != nil {
						return err
					}
					for left[j], want = left[j]-n, want-n; there && n > 0; {
						if values[j] == 0 {
							v, err := p.Values()
							if err != nil {
								return err
							}
							values[j] = v.Len()
						}
						k := min(n, values[j])
						n, values[j] = n-k, values[j]-k
					}
				}
			}
		}
	}
	return nil
}

// What a file says takes no memory: bombs are refused, or read as the legal files that they are.
func TestBombs(t *testing.T) {
	for _, b := range bombs.All() {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f, err := Open(bytes.NewReader(b.Content), int64(len(b.Content)))
		if err == nil {
			err = drain(f, few)
		}
		runtime.ReadMemStats(&after)
		most := uint64(fewBytes)
		if b.Name == "pages-of-64MB" { // is refused for what its columns take
			most = memory
		}
		if taken := after.TotalAlloc - before.TotalAlloc; taken > most {
			t.Errorf("%s of %d bytes takes %d MB", b.Name, len(b.Content), taken>>20)
		}
		if right := b.Rows > 0 || b.Means; (err == nil) != right || err == nil && !b.Means && f.Rows != b.Rows {
			t.Errorf("%s: %d rows, %v", b.Name, b.Rows, err)
		}
		t.Logf("%s, %d bytes: %d MB, %v", b.Name, len(b.Content), (after.TotalAlloc-before.TotalAlloc)>>20, err)
	}
}
