package dataset

import (
	"fmt"
	"sort"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/table"
)

// source is a table whose rows are held in chunks.
type source struct {
	schema credence.Schema
	first  []int // first row of every chunk, and the number of rows
	ones   bool  // every sparse value is 1
	last   int   // chunk of the last row that was read
	places places
	words  func(column string) []string
	names  []string     // of all files
	shift  int32        // to be added to stored sparse columns
	unseen bool         // chunks have sums of squares behind the columns
	cache  *cacheChunks // nil in memory
	// chunk returns a chunk, valid until the next call.
	chunk func(i int) (*credence.Chunk, error)
}

// Schema returns the columns that were asked for, with all their levels.
func (s *source) Schema() *credence.Schema { return &s.schema }

// Words returns the texts of a boolean column that mean false and true, or nil where
// they are not known.
func (s *source) Words(column string) []string { return s.words(column) }

// Files returns the first row of every file.
func (s *source) Files() []int {
	begins, next := make([]int, len(s.names)), 0
	for i, name := range s.names {
		begins[i] = s.Rows()
		if next < len(s.places.Files) {
			begins[i] = s.places.Begins[next]
			if s.places.Files[next] == name {
				next++
			}
		}
	}
	return begins
}

// Rows returns the number of rows.
func (s *source) Rows() int { return s.first[len(s.first)-1] }

// Read copies rows [first, first+count) to dst.
func (s *source) Read(dst *credence.Chunk, first, count int) error {
	if first < 0 || count < 0 || first > s.Rows()-count {
		return fmt.Errorf("dataset: rows [%d, %d) of a table with %d rows: ask for rows that there are", first, first+count, s.Rows())
	}
	width := len(s.schema.Columns)
	dst.First = first
	dst.Values.Reshape(count, width)
	if s.schema.Sparse > 0 {
		dst.Sparse.Rows, dst.Sparse.Cols = count, s.schema.Sparse
		dst.Sparse.Start = append(dst.Sparse.Start[:0], 0)
		dst.Sparse.Index = dst.Sparse.Index[:0]
		if s.ones {
			dst.Sparse.Value = nil
		} else if dst.Sparse.Value = dst.Sparse.Value[:0]; dst.Sparse.Value == nil {
			dst.Sparse.Value = []float64{} // nil would mean ones
		}
	} else {
		emptySparse(&dst.Sparse, count)
	}
	unseen := dst.Unseen
	if dst.Unseen = nil; s.unseen {
		dst.Unseen = append(unseen[:0], make([]float64, count)...)
	}
	for done := 0; done < count; {
		i := s.find(first + done)
		c, err := s.chunk(i)
		if err != nil {
			return err
		}
		from := first + done - s.first[i]
		n := min(count-done, s.first[i+1]-s.first[i]-from)
		if s.unseen {
			copyApart(dst, &c.Values, done, from, n)
		} else {
			copy(dst.Values.Data[done*width:(done+n)*width], c.Values.Data[from*width:])
		}
		if s.schema.Sparse > 0 {
			appendRows(&dst.Sparse, c.Sparse.Start[from:from+n+1], c.Sparse.Index, c.Sparse.Value, c.Sparse.Value == nil)
		}
		done += n
	}
	dst.Unseen = nilIfZero(dst.Unseen)
	return nil
}

// copyApart copies n stored rows to rows done and following of dst: the last column
// to Unseen.
func copyApart(dst *credence.Chunk, stored *linop.Dense, done, from, n int) {
	width := stored.Cols - 1
	for i := range n {
		row := stored.Row(from + i)
		copy(dst.Values.Row(done+i), row[:width])
		dst.Unseen[done+i] = row[width]
	}
}

// nilIfZero returns nil for zeros alone.
func nilIfZero(squares []float64) []float64 {
	for _, square := range squares {
		if square != 0 {
			return squares
		}
	}
	return nil
}

// find returns the chunk that holds a row.
func (s *source) find(row int) int {
	for i := s.last; i < min(s.last+2, len(s.first)-1); i++ {
		if s.first[i] <= row && row < s.first[i+1] {
			s.last = i
			return i
		}
	}
	s.last = sort.SearchInts(s.first, row+1) - 1
	return s.last
}

// maxRuns bounds what is remembered of where rows stand. Only rows on several
// lines and lines that are no rows begin a new run.
const maxRuns = 1 << 18

// places remembers where rows stand.
type places struct {
	Files  []string `json:"files"`
	Begins []int    `json:"begins"` // the first row of each file that has rows
	Runs   []run    `json:"runs"`
	Lost   int      `json:"lost,omitempty"` // first row that is not remembered, 0 if all are
}

// run is a run of rows on consecutive lines of a file.
type run struct {
	Row  int `json:"r"`
	File int `json:"f"`
	Line int `json:"l"`
}

// add notes the rows of a run, the first of which is row first.
func (p *places) add(b *table.Rows, first int) {
	if n := len(p.Files); n == 0 || p.Files[n-1] != b.File {
		p.Files, p.Begins = append(p.Files, b.File), append(p.Begins, first)
	}
	file := len(p.Files) - 1
	for _, r := range b.Places {
		row := first + r.Row
		if n := len(p.Runs); n > 0 && p.Runs[n-1].File == file && p.Runs[n-1].Line+row-p.Runs[n-1].Row == r.Line {
			continue
		}
		if len(p.Runs) >= maxRuns {
			if p.Lost == 0 {
				p.Lost = row
			}
			return
		}
		p.Runs = append(p.Runs, run{row, file, r.Line})
	}
}

// Place returns where a row stands, for example "train.csv:17".
func (s *source) Place(row int) string {
	p := &s.places
	i := sort.Search(len(p.Runs), func(i int) bool { return p.Runs[i].Row > row }) - 1
	if i < 0 || p.Lost > 0 && row >= p.Lost {
		return fmt.Sprintf("row %d", row+1)
	}
	r := p.Runs[i]
	if r.Line == 0 { // Parquet has no lines
		return fmt.Sprintf("%s: row %d", p.Files[r.File], row-r.Row+1)
	}
	return fmt.Sprintf("%s:%d", p.Files[r.File], r.Line+row-r.Row)
}
