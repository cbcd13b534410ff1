package active

import (
	"cmp"
	"math"
	"slices"

	"github.com/credence-ml/credence"
)

// Pool keeps the best rows of a stream by their own scores, and picks from these. Its memory does not
// grow with the stream.
type Pool struct {
	scorer *Scorer
	limit  int
	kept   []candidate
	rows   credence.Batch // theirs
	sorted bool           // the first limit rows are the best of those added before them, in order
}

// candidate is a row that was kept.
type candidate struct {
	place          int // in the pool
	row            int // in rows
	score          float64
	mean, variance float64
	cost           float64
}

// Shortlist is how many rows the picks of so many come from.
func Shortlist(picks int) int { return max(1000, 50*picks) }

// NewPool returns an empty pool that n rows will be picked from.
func (s *Scorer) NewPool(n int) *Pool { return &Pool{scorer: s, limit: Shortlist(n)} }

func better(a, b candidate) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.place, b.place))
}

// Add offers row i of the batch: its place in the pool, mean and variance of f, and its cost, 1 where
// all are the same.
func (p *Pool) Add(rows *credence.Batch, i, place int, mean, variance, cost float64) {
	c := candidate{place: place, score: p.scorer.Score(place, mean, variance) / cost, mean: mean, variance: variance, cost: cost}
	if len(p.kept) == 2*p.limit {
		p.shorten()
	}
	if p.sorted && better(c, p.kept[p.limit-1]) > 0 {
		return
	}
	c.row = p.rows.Rows()
	p.kept = append(p.kept, c)
	appendRow(&p.rows, rows, i)
}

// shorten leaves the best rows alone, in order.
func (p *Pool) shorten() {
	slices.SortFunc(p.kept, better)
	p.kept = p.kept[:min(p.limit, len(p.kept))]
	var rows credence.Batch
	for k := range p.kept {
		appendRow(&rows, &p.rows, p.kept[k].row)
		p.kept[k].row = k
	}
	p.rows, p.sorted = rows, len(p.kept) == p.limit
}

// Candidate is a row to have labelled.
type Candidate struct {
	Place       int     // in the pool, from 0
	Score       float64 // given the picks before it, over its cost
	Mean        float64 // of f, as the model has it
	Probability float64 // of the positive class; NaN for numbers
}

// Picks returns n rows in the order of their picks, fewer where there are not so many, each given
// those before it.
func (p *Pool) Picks(n int) []Candidate {
	return p.picks(n, func(int) float64 { return math.NaN() }, nil)
}

// picks includes each row with the label at its place, after telling what f was thought to be there,
// unless told is nil.
func (p *Pool) picks(n int, label func(place int) float64, told func(mean, variance float64)) []Candidate {
	p.shorten()
	if len(p.kept) == 0 {
		return nil
	}
	var mean, variance, cost []float64
	var place []int
	for _, c := range p.kept {
		mean, variance, cost, place = append(mean, c.mean), append(variance, c.variance), append(cost, c.cost), append(place, c.place)
	}
	b := p.scorer.NewBlock(&p.rows, mean, variance, place)
	b.cost = cost
	var out []Candidate
	for range n {
		i := b.Next()
		if i < 0 {
			break
		}
		out = append(out, Candidate{place[i], b.Score(i), mean[i], p.scorer.Probability(mean[i], variance[i])})
		if told != nil {
			told(b.Latent(i))
		}
		b.Include(i, label(place[i]))
	}
	return out
}
