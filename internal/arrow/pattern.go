package arrow

import (
	"fmt"
	"iter"
	"slices"

	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/linop"
)

// Pattern says which numbers a matrix has. It is not changed once it is made.
type Pattern struct {
	// Weights is d; Dense is how many of the columns, the first ones, are dense.
	Weights, Dense int
	// Cells has a row for every level of every head, outermost head first, with the places in the pattern's order of
	// the sparse columns that the level meets. Every level meets all dense columns, which are not listed.
	Cells linop.CSR

	heads []head
	place []int32 // of every weight in the pattern's order
	leaf  int     // place of the first weight that no head has
	rest  int     // offset of the leaf's values
	size  int
}

// head is the levels of a key, which are eliminated together.
type head struct {
	runs       []ability.LevelRun
	levels, k  int
	first, end int  // places
	row        int  // of Cells, of level 0
	bare       bool // no level has sparse cells
	// Offsets of its values: D, lower triangles row by row; the k×Dense cells of every level; its k numbers of every
	// sparse cell.
	own, dense, cells int
}

// New returns the pattern of heads, outermost first, each of the runs of one key, with their cells. It refuses what is
// none.
func New(weights, dense int, heads [][]ability.LevelRun, cells linop.CSR) (*Pattern, error) {
	p := &Pattern{Weights: weights, Dense: dense, Cells: cells, place: slices.Repeat([]int32{-1}, max(0, weights))}
	if weights < 0 || dense < 0 || dense > weights || cells.Cols != weights {
		return nil, fmt.Errorf("arrow: %d weights, %d of them dense, and cells of %d columns", weights, dense, cells.Cols)
	}
	rows := 0
	for _, runs := range heads {
		h := head{runs: runs, first: p.leaf, row: rows}
		for _, r := range runs {
			if r.First < dense || r.Levels < 1 || r.Columns < 1 || r.Levels > weights || r.Columns > weights || r.First+r.Levels*r.Columns > weights || h.k > 0 && r.Levels != h.levels {
				return nil, fmt.Errorf("arrow: %d levels of %d weights from %d on, of %d weights with %d dense ones", r.Levels, r.Columns, r.First, weights, dense)
			}
			h.levels = r.Levels
			h.k += r.Columns
		}
		rows += h.levels
		h.end = h.first + h.levels*h.k
		from := 0
		for _, r := range runs {
			for j := range r.Levels * r.Columns {
				if p.place[r.First+j] >= 0 {
					return nil, fmt.Errorf("arrow: weight %d belongs to two levels", r.First+j)
				}
				p.place[r.First+j] = int32(h.first + j/r.Columns*h.k + from + j%r.Columns)
			}
			from += r.Columns
		}
		p.leaf = h.end
		p.heads = append(p.heads, h)
	}
	next := p.leaf
	for j, at := range p.place {
		if at < 0 {
			p.place[j] = int32(next)
			next++
		}
	}
	if cells.Rows != rows || len(cells.Start) != rows+1 {
		return nil, fmt.Errorf("arrow: cells of %d levels, where there are %d", cells.Rows, rows)
	}
	return p, p.lay()
}

// lay finds where the values are, and checks the cells.
func (p *Pattern) lay() error {
	for t := range p.heads {
		h := &p.heads[t]
		for g := range h.levels {
			cells := p.cellsOf(h, g)
			for i, c := range cells {
				if int(c) < h.end || int(c) >= p.Weights || int(c) >= p.leaf && int(c) < p.leaf+p.Dense || i > 0 && c <= cells[i-1] {
					return fmt.Errorf("arrow: cell %d of a level is with place %d of %d", i+1, c, p.Weights)
				}
			}
		}
		h.own, h.bare = p.size, p.Cells.Start[h.row] == p.Cells.Start[h.row+h.levels]
		h.dense = h.own + h.levels*triangle(h.k)
		h.cells = h.dense + h.levels*h.k*p.Dense
		p.size = h.cells + (p.Cells.Start[h.row+h.levels]-p.Cells.Start[h.row])*h.k
	}
	p.rest = p.size
	p.size += p.Rest() * p.Rest()
	return nil
}

// Len is the number of values.
func (p *Pattern) Len() int { return p.size }

// Rest is R, the number of weights of the leaf, which no head has.
func (p *Pattern) Rest() int { return p.Weights - p.leaf }

// Parts are the dense columns, the runs of every head, outermost first, and what every level has met.
func (p *Pattern) Parts() (dense int, heads [][]ability.LevelRun, cells *linop.CSR) {
	for _, h := range p.heads {
		heads = append(heads, h.runs)
	}
	return p.Dense, heads, &p.Cells
}

// cellsOf are the places of the sparse cells of a level.
func (p *Pattern) cellsOf(h *head, g int) []int32 {
	return p.Cells.Index[p.Cells.Start[h.row+g]:p.Cells.Start[h.row+g+1]]
}

// block is a level's values: the lower triangle of D, k rows of cells with dense columns, and k numbers of every sparse
// cell.
type block struct {
	own, dense, sparse []float64
	cells              []int32
}

func (p *Pattern) block(values []float64, h *head, g int) block {
	size, k := triangle(h.k), h.k
	own, dense := values[h.own+g*size:h.own+(g+1)*size], values[h.dense+g*k*p.Dense:h.dense+(g+1)*k*p.Dense]
	if h.bare {
		return block{own: own, dense: dense}
	}
	from, to := p.Cells.Start[h.row+g]-p.Cells.Start[h.row], p.Cells.Start[h.row+g+1]-p.Cells.Start[h.row]
	return block{own, dense, values[h.cells+from*k : h.cells+to*k], p.cellsOf(h, g)}
}

// at returns where the numbers of a cell begin among the sparse ones, or -1 where the level does not meet that place.
func (b *block) at(place int32, k int) int {
	if cell, found := slices.BinarySearch(b.cells, place); found {
		return cell * k
	}
	return -1
}

// headOf returns the head of a place, level and column; t is -1 for the leaf.
func (p *Pattern) headOf(place int32) (t, level, column int) {
	for t := range p.heads {
		if h := &p.heads[t]; int(place) < h.end {
			at := int(place) - h.first
			return t, at / h.k, at % h.k
		}
	}
	return -1, 0, int(place) - p.leaf
}

// triangle is the number of numbers of a lower triangle.
func triangle(k int) int { return k * (k + 1) / 2 }

// diagonal yields the numbers on the diagonals of k×k lower triangles, one triangle behind the other.
func diagonal(triangles []float64, k int) iter.Seq2[int, *float64] {
	return func(yield func(i int, v *float64) bool) {
		for g := range len(triangles) / triangle(k) {
			for r := range k {
				if !yield(g*k+r, &triangles[g*triangle(k)+r*(r+3)/2]) {
					return
				}
			}
		}
	}
}

// Leaf is the R×R values of the leaf.
func (p *Pattern) Leaf(values []float64) []float64 { return values[p.rest:p.size] }

// Take stores x, by columns, in the pattern's order, and Give stores it back.
func (p *Pattern) Take(dst, x []float64) {
	for j, at := range p.place {
		dst[at] = x[j]
	}
}

// Give undoes Take.
func (p *Pattern) Give(dst, x []float64) {
	for j, at := range p.place {
		dst[j] = x[at]
	}
}
