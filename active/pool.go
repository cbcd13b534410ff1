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

	audit, validation *sample // rows by chance; nil for none
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
func Shortlist(score Score, picks int) int {
	if score == ErrorReduction { // each pick costs validationRows times as much
		return max(200, 10*picks)
	}
	return max(1000, 50*picks)
}

// NewPool returns an empty pool that n rows will be picked from. A share audit of these, 0 for none, will be rows by
// chance, whatever their scores: the share of errors that the model makes of them, before it learns
// their labels, is that of all rows.
func (s *Scorer) NewPool(n int, audit float64) *Pool {
	p := &Pool{scorer: s, limit: Shortlist(s.score, n)}
	if count := Audited(n, audit); count > 0 {
		p.audit = &sample{limit: count, rng: credence.Rand(s.seed, credence.ActiveAudit, 0)}
	}
	if s.score == ErrorReduction && s.validation == nil {
		p.validation = &sample{limit: validationRows, rng: credence.Rand(s.seed, credence.ActiveValidation, 0)}
	}
	return p
}

// Audited is the number of rows by chance among n picks: at least 1 for a share above 0.
func Audited(n int, share float64) int {
	if !(share > 0) {
		return 0
	}
	return max(1, int(share*float64(n)+0.5))
}

func better(a, b candidate) int { return first(a.score, b.score, a.place, b.place) }

// first orders by scores, the higher first, and then by places.
func first(a, b float64, placeA, placeB int) int {
	switch {
	case a > b:
		return -1
	case a < b:
		return 1
	case a == b:
		return cmp.Compare(placeA, placeB)
	}
	return cmp.Or(cmp.Compare(b, a), cmp.Compare(placeA, placeB)) // of a NaN
}

// Add offers row i of the batch: its place in the pool, mean and variance of f, and its cost, 1 where
// all are the same.
func (p *Pool) Add(rows *credence.Batch, i, place int, mean, variance, cost float64) {
	c := candidate{place: place, score: p.scorer.scoreOf(rows, i, place, mean, variance) / cost, mean: mean, variance: variance, cost: cost}
	if p.audit != nil {
		p.audit.add(c, rows, i)
	}
	if p.validation != nil {
		p.validation.add(c, rows, i)
	}
	if len(p.kept) == 2*p.limit {
		p.shorten()
	}
	if p.sorted && better(c, p.kept[p.limit-1]) > 0 {
		return
	}
	c.row = p.rows.Rows()
	p.kept = append(p.kept, c)
	p.rows.Append(rows, i, 1)
}

// shorten leaves the best rows alone, in order.
func (p *Pool) shorten() {
	slices.SortFunc(p.kept, better)
	p.kept = p.kept[:min(p.limit, len(p.kept))]
	var rows credence.Batch
	for k := range p.kept {
		rows.Append(&p.rows, p.kept[k].row, 1)
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
	Audit       bool    // taken by chance
}

// Picks returns n rows in the order of their picks, fewer where there are not so many, each given
// those before it.
func (p *Pool) Picks(n int) ([]Candidate, error) {
	return p.picks(n, func(int) float64 { return math.NaN() }, nil)
}

// picks includes each row with the label at its place, after telling of it, unless told is nil, the mean of f
// there.
func (p *Pool) picks(n int, label func(place int) float64, told func(c Candidate, mean float64)) ([]Candidate, error) {
	p.shorten()
	if len(p.kept) == 0 {
		return nil, nil
	}
	if p.validation != nil {
		if err := p.scorer.Validate(p.validation.batch()); err != nil {
			return nil, err
		}
	}
	audits := p.addAudits()
	n = min(n, len(p.kept))
	var mean, variance, cost []float64
	var place []int
	for _, c := range p.kept {
		mean, variance, cost, place = append(mean, c.mean), append(variance, c.variance), append(cost, c.cost), append(place, c.place)
	}
	b := p.scorer.NewPicker(&p.rows, mean, variance, place)
	b.cost = cost
	for _, i := range audits {
		b.picked[i] = true
	}
	var out []Candidate
	taken := 0
	for k := range n {
		i, audit := -1, (k+1)*len(audits)/n > k*len(audits)/n // evenly spread
		if audit {
			i = audits[taken]
			taken++
		} else {
			i = b.Next()
		}
		if i < 0 {
			break
		}
		c := Candidate{place[i], b.Score(i), mean[i], p.scorer.Probability(mean[i], variance[i]), audit}
		out = append(out, c)
		if told != nil {
			at, _ := b.Latent(i)
			told(c, at)
		}
		b.Include(i, label(place[i]))
	}
	return out, nil
}

// addAudits returns where the rows by chance are among those kept, after adding those that are not.
func (p *Pool) addAudits() (rows []int) {
	if p.audit == nil {
		return nil
	}
	for k, c := range p.audit.kept {
		at := slices.IndexFunc(p.kept, func(kept candidate) bool { return kept.place == c.place })
		if at < 0 {
			at, c.row = len(p.kept), p.rows.Rows()
			p.kept = append(p.kept, c)
			p.rows.Append(&p.audit.rows[k], 0, 1)
		}
		rows = append(rows, at)
	}
	return rows
}
