package dataset

import (
	"fmt"
	"sort"

	"github.com/credence-ml/credence/table"
)

// maxRuns bounds what is remembered of where rows stand. Only rows on several
// lines and lines that are no rows begin a new run.
const maxRuns = 1 << 18

// places remembers where rows stand.
type places struct {
	Files []string `json:"files"`
	Runs  []run    `json:"runs"`
	Lost  int      `json:"lost,omitempty"` // first row that is not remembered, 0 if all are
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
		p.Files = append(p.Files, b.File)
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
