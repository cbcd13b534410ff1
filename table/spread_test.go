package table_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/table"
)

// counting is a table of a column and a sparse one that hold the number of the row, with as much of columns that
// training lacks in every third block.
type counting struct {
	rows   int
	schema credence.Schema
}

func (c *counting) Schema() *credence.Schema { return &c.schema }
func (c *counting) Rows() int                { return c.rows }
func (c *counting) Read(dst *credence.Chunk, first, count int) error {
	dst.First, dst.Unseen = first, nil
	dst.Values = linop.NewDense(count, 1)
	dst.Sparse.Reset(3)
	for i := range count {
		dst.Values.Row(i)[0] = float64(first + i)
		dst.Sparse.AppendRow([]int32{2}, []float64{float64(first + i)})
		if first/512%3 == 1 {
			dst.Unseen = append(dst.Unseen, float64(first+i))
		}
	}
	return nil
}

// TestSpread: rows of a part are those that SourceRow says, in order, from the first to the last and evenly spread,
// whatever is read at once.
func TestSpread(t *testing.T) {
	for _, c := range []struct{ rows, limit, want int }{{25_000, 10_000, 10_000}, {10_001, 10_000, 10_000}, {100, 1000, 100}, {1000, 1000, 1000}, {0, 10, 0}, {500, 5, 16}, {40, 33, 32}, {10, 5, 10}, {16, 15, 16}, {17, 5, 16}} {
		source := &counting{rows: c.rows, schema: credence.Schema{Columns: []credence.Column{{Name: "x"}}, Sparse: 3}}
		s := table.SpreadOf(source, c.limit)
		if s.Rows() != c.want {
			t.Fatalf("%d of %d rows: %d, want %d", c.limit, c.rows, s.Rows(), c.want)
		}
		for _, together := range []int{512, 7} {
			var chunk credence.Chunk
			last, gap := -1, 0
			for first := 0; first < s.Rows(); first += together {
				count := min(together, s.Rows()-first)
				must.Succeed(t, s.Read(&chunk, first, count))
				for i := range count {
					row := s.SourceRow(first + i)
					_, values := chunk.Sparse.Row(i)
					unseen := 0.0
					if chunk.Unseen != nil {
						unseen = chunk.Unseen[i]
					}
					if chunk.Values.Row(i)[0] != float64(row) || values[0] != float64(row) || row <= last || unseen != 0 && unseen != float64(row) || chunk.First != first {
						t.Fatalf("row %d is %g, %g and %g, want %d after %d", first+i, chunk.Values.Row(i)[0], values[0], unseen, row, last)
					}
					gap, last = max(gap, row-last), row
				}
			}
			if c.want > 16 && (last != c.rows-1 || gap > 2+16*c.rows/c.want) {
				t.Errorf("%d of %d rows: to %d, at most %d apart", c.limit, c.rows, last, gap)
			}
		}
	}
	if got := table.SpreadOf(&counting{rows: 100}, 32).Place(31); got != "row 100" {
		t.Error(got)
	}
}

// placed is a table that knows the places of its rows, and cannot read those from row 90 on.
type placed struct{ counting }

func (p *placed) Place(row int) string { return fmt.Sprintf("a.csv:%d", row+2) }
func (p *placed) Read(dst *credence.Chunk, first, count int) error {
	if first+count > 90 {
		return fmt.Errorf("the disk is gone at row %d", first)
	}
	return p.counting.Read(dst, first, count)
}

// TestSpreadSaysWhatItsTableSays: a row of a part stands where its table says that it stands, and what the table cannot
// read the part cannot.
func TestSpreadSaysWhatItsTableSays(t *testing.T) {
	s := table.SpreadOf(&placed{counting{rows: 100}}, 32)
	for row, want := range map[int]string{0: "a.csv:2", 15: "a.csv:17", 16: "a.csv:86", 31: "a.csv:101"} {
		if got := s.Place(row); got != want {
			t.Errorf("row %d stands at %s, want %s", row, got, want)
		}
	}
	var chunk credence.Chunk
	must.Succeed(t, s.Read(&chunk, 0, 16))
	if err := s.Read(&chunk, 10, 20); err == nil || !strings.Contains(err.Error(), "the disk is gone") {
		t.Errorf("a table that fails is read: %v", err)
	}
}
