package table

import (
	"fmt"

	"github.com/credence-ml/credence"
)

// Spread is an evenly spread part of a table, in runs of neighbouring rows. It is for one reader at a time.
type Spread struct {
	credence.Source
	rows  int
	chunk credence.Chunk
}

// neighbours is the length of a run.
const neighbours = 16

// SpreadOf returns about limit rows of a table, evenly spread over it; all where it has no more.
func SpreadOf(source credence.Source, limit int) *Spread {
	s := &Spread{Source: source, rows: source.Rows()}
	if s.rows > limit {
		s.rows = min(s.rows, max(neighbours, limit/neighbours*neighbours))
	}
	return s
}

// Rows returns the number of rows of the part.
func (s *Spread) Rows() int { return s.rows }

// SourceRow returns the row of the table that a row is.
func (s *Spread) SourceRow(row int) int {
	all := s.Source.Rows()
	if s.rows >= all {
		return row
	}
	return int(int64(row/neighbours)*int64(all-neighbours)/int64(max(1, s.rows/neighbours-1))) + row%neighbours
}

// Place says where a row stands.
func (s *Spread) Place(row int) string {
	if p, ok := s.Source.(interface{ Place(row int) string }); ok {
		return p.Place(s.SourceRow(row))
	}
	return fmt.Sprintf("row %d", s.SourceRow(row)+1)
}

// Read implements [credence.Source].
func (s *Spread) Read(dst *credence.Chunk, first, count int) error {
	if s.rows >= s.Source.Rows() {
		return s.Source.Read(dst, first, count)
	}
	dst.Reset(s.Schema(), first)
	for row := first; row < first+count; {
		length := min(neighbours-row%neighbours, first+count-row)
		if err := s.Source.Read(&s.chunk, s.SourceRow(row), length); err != nil {
			return err
		}
		dst.Append(&s.chunk, 0, length)
		row += length
	}
	return nil
}
