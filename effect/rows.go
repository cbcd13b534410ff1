package effect

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/score"
)

// method is how a quantity is found.
type method string

// The methods.
const (
	exact method = "exact" // closed form
	draws method = "draws" // of the weights
	delta method = "delta" // linear in the weights about their mean
)

// vector is a quantity that is taken to be linear in the weights of a member: its value at their mean, and its
// gradient.
type vector struct {
	value    float64
	gradient []float64
}

// tally is a sum over rows of a group: of values and gradients for each member, or of values for each draw.
type tally struct {
	weight  float64
	vectors []vector
	draws   []float64
}

// runner sums over rows.
type runner struct {
	*plan
	scorer  *score.Scorer
	options *Options
	table   *altered
	bound   reader
	by      []*byColumn
	ws      *credence.Workspace
	members []*member
	method  method
	total   int // draws

	groups  map[string]int
	names   []Group
	cells   [][]*tally // of each sum and group
	varies  []bool     // contrasts whose difference of f is not the same in all rows
	gaps    []float64  // the difference of the first row, of each contrast and member
	batch   credence.Batch
	weight  []float64
	of      []int       // group of each row
	probes  [][]float64 // of each member and state, what the probe makes of each row
	latent  []float64
	unseen  []float64      // the variance of f of each row by what training did not have
	further bool           // some row has such a variance
	skipped map[string]int // rows that lack a column that changes
	rows    int
}

// reset forgets all sums.
func (r *runner) reset() {
	r.groups, r.names = map[string]int{}, nil
	r.cells = make([][]*tally, len(r.sums))
}

// pass goes over all rows. After each run it calls flush, if there is one.
func (r *runner) pass(ctx context.Context, run int, flush func(first int) error) error {
	r.reset()
	r.varies, r.gaps = make([]bool, len(r.contrasts)), slices.Repeat([]float64{math.NaN()}, len(r.contrasts)*len(r.members))
	r.probes = make([][]float64, len(r.members)*len(r.states))
	r.skipped, r.rows = map[string]int{}, 0
	for first := 0; first < r.table.Rows(); first += run {
		if err := ctx.Err(); err != nil {
			return err
		}
		count := min(run, r.table.Rows()-first)
		if r.options.Progress != nil {
			r.options.Progress(first, r.table.Rows())
		}
		if err := r.begin(first, count); err != nil {
			return err
		}
		for k := range r.states {
			if err := r.state(k, first, count); err != nil {
				return err
			}
		}
		r.compare(count)
		if flush != nil {
			if err := flush(first); err != nil {
				return err
			}
			r.reset()
		}
	}
	return nil
}

// begin finds the weights and the groups of a run of rows.
func (r *runner) begin(first, count int) error {
	r.table.changes = nil
	if err := r.table.load(first, count); err != nil {
		return err
	}
	r.weight, r.of = slices.Grow(r.weight[:0], count)[:count], r.of[:0]
	for i := range r.weight {
		r.weight[i] = 1
	}
	if r.table.weights != nil {
		if err := r.table.weights.Read(&r.batch, first, count); err != nil {
			return err
		}
		copy(r.weight, r.batch.Offset)
	}
	for i := range count {
		key, name := fmt.Sprint(i), Group(nil)
		if !r.options.Rows {
			key, name = groupOf(r.table, r.by, i)
		}
		g, known := r.groups[key]
		if !known {
			g = len(r.names)
			r.groups[key], r.names = g, append(r.names, name)
		}
		r.of = append(r.of, g)
		if r.weight[i] < 0 || r.weight[i]-r.weight[i] != 0 {
			return fmt.Errorf("%s: the weight of the row is %v: weights are 0 or more", r.table.Place(first+i), r.weight[i])
		}
	}
	r.rows += count
	var counted []*column
	for _, s := range r.sums {
		if s.needs == nil || s.needs.sparse >= 0 || slices.Contains(counted, s.needs) {
			continue
		}
		counted = append(counted, s.needs)
		for i := range count {
			if v := r.table.value(i, s.needs); v != v {
				r.skipped[s.needs.name]++
			}
		}
	}
	return nil
}

// state adds the rows in a state to all sums of it.
func (r *runner) state(k, first, count int) error {
	r.table.changes = r.states[k]
	if err := r.bound.Read(&r.batch, first, count); err != nil {
		return fmt.Errorf("%w (with %s)", err, r.words(k))
	}
	for at, s := range r.sums {
		if s.state == k {
			r.open(at, count, s.needs)
		}
	}
	from := 0
	for place, m := range r.members {
		if r.method == draws && m.count == 0 {
			continue
		}
		m.Model.Features.Transform(r.ws, &m.phi, &r.batch)
		r.unseen = slices.Grow(r.unseen[:0], count)[:count]
		clear(r.unseen)
		r.scorer.Fitted().AddUnseen(m.place, r.unseen, &r.batch)
		r.further = r.further || slices.ContainsFunc(r.unseen, func(v float64) bool { return v > 0 })
		if r.method == draws {
			r.addDraws(k, m, from, count)
			from += m.count
		} else {
			r.addVectors(k, m, place, count)
		}
	}
	return nil
}

// words says what a state replaces.
func (r *runner) words(k int) string {
	if len(r.states[k]) == 0 {
		return "the rows as they are"
	}
	text := ""
	for i, c := range r.states[k] {
		if i > 0 {
			text += ", "
		}
		name, verb := "", " at "
		if c.sparse {
			name = r.scorer.Frame().SparseName(c.column)
		} else {
			name, _ = credence.CutText(r.table.schema.Columns[c.column].Name)
		}
		if c.add {
			verb = " moved by "
		}
		value := number(c.value)
		if !c.sparse && r.table.schema.Columns[c.column].Kind == credence.Category {
			value = r.table.schema.Columns[c.column].Levels[int(c.value)]
		}
		text += name + verb + value
	}
	return text
}

// counts says whether a row counts in a sum: it lacks nothing.
func (r *runner) counts(i int, needs *column) bool {
	if r.bound.Lacks(i) {
		return false
	}
	if needs == nil || needs.sparse >= 0 {
		return true
	}
	v := r.table.value(i, needs)
	return v == v
}

// open makes room for the groups of a run of rows in a sum, and adds up their weights.
func (r *runner) open(at, count int, needs *column) {
	for len(r.cells[at]) < len(r.names) {
		c := &tally{}
		if r.method == draws {
			c.draws = make([]float64, r.total)
		} else {
			for _, m := range r.members {
				c.vectors = append(c.vectors, vector{gradient: make([]float64, m.Posterior.Weights())})
			}
		}
		r.cells[at] = append(r.cells[at], c)
	}
	for i := range count {
		if r.counts(i, needs) {
			r.cells[at][r.of[i]].weight += r.weight[i]
		}
	}
}

// trialsOf returns how many trials E y of a row is of, where rows state their own; the curve is then of one.
func (r *runner) trialsOf(i int) float64 {
	if r.batch.Trials == nil || r.options.Link {
		return 1
	}
	return r.batch.Trials[i]
}

// addDraws adds E[y|f] of the rows under every draw of a member.
func (r *runner) addDraws(k int, m *member, from, count int) {
	values := slices.Grow(r.latent[:0], count*m.count)[:count*m.count]
	r.latent = values
	m.latent(r.ws, k, values)
	r.ws.Each(count, func(i int) {
		row := values[i*m.count : (i+1)*m.count]
		if offset := r.batch.OffsetOf(i); offset != 0 {
			floats.AddConst(offset, row)
		}
		switch v := r.unseen[i]; {
		case v > 0:
			for s, f := range row {
				row[s] = m.curveOf(s).expected(f, v)
			}
		case m.curves == nil:
			m.curve.each(row)
		default:
			for s, f := range row {
				row[s] = m.curves[s].at(f)
			}
		}
		if trials := r.trialsOf(i); trials != 1 {
			kernel.Scale(trials, row)
		}
	})
	for at, s := range r.sums {
		for i := 0; s.state == k && i < count; i++ {
			if r.counts(i, s.needs) {
				kernel.Axpy(r.weight[i], values[i*m.count:(i+1)*m.count], r.cells[at][r.of[i]].draws[from:from+m.count])
			}
		}
	}
}

// raised returns by how much the logarithm of E y is above f of a row, where that is what is linear in the weights.
func (r *runner) raised(m *member, i int) float64 {
	if m.curve.identity {
		return 0
	}
	return r.unseen[i] / 2
}

// addVectors adds E y of the rows and its gradient under a member.
func (r *runner) addVectors(k int, m *member, place, count int) {
	memory := slices.Grow(r.latent[:0], 3*count)[:3*count]
	r.latent = memory
	mean, variance, slope := memory[:count], memory[count:2*count], memory[2*count:]
	if r.method == exact {
		m.Posterior.Latent(r.ws, mean, nil, &m.phi)
		probe := make([]float64, count)
		m.phi.Mul(r.ws, probe, m.probe)
		for i := range probe {
			probe[i] += r.batch.OffsetOf(i) + r.raised(m, i)
		}
		r.probes[place*len(r.states)+k] = probe
	} else {
		m.Posterior.Latent(r.ws, mean, variance, &m.phi)
	}
	r.ws.Each(count, func(i int) {
		f := mean[i] + r.batch.OffsetOf(i)
		if mean[i], slope[i] = f+r.raised(m, i), 1; r.method == delta {
			trials, v := r.trialsOf(i), variance[i]+r.unseen[i]
			mean[i], slope[i] = trials*m.curve.expected(f, v), trials*m.curve.slope(f, v)
		}
	})
	weights := variance // which are no longer needed
	for at, s := range r.sums {
		if s.state != k {
			continue
		}
		for i := range count {
			w := 0.0
			if r.counts(i, s.needs) {
				w = r.weight[i]
			}
			v := &r.cells[at][r.of[i]].vectors[place]
			v.value += w * mean[i]
			if weights[i] = w * slope[i]; len(r.names) > 1 && weights[i] != 0 {
				m.phi.Each(i, func(j int, x float64) { v.gradient[j] += weights[i] * x })
			}
		}
		if len(r.names) == 1 {
			m.phi.AddMulTrans(r.ws, r.cells[at][0].vectors[place].gradient, weights)
		}
	}
}

// compare notes the contrasts whose difference of f is not the same function of the weights in every row.
func (r *runner) compare(count int) {
	if r.method != exact {
		return
	}
	for k, c := range r.contrasts {
		if len(c.high) != 1 || len(c.low) != 1 {
			r.varies[k] = true
			continue
		}
		for place := range r.members {
			high := r.probes[place*len(r.states)+r.sums[c.high[0]].state]
			low := r.probes[place*len(r.states)+r.sums[c.low[0]].state]
			gap := &r.gaps[k*len(r.members)+place]
			for i := range count {
				if !r.counts(i, r.sums[c.high[0]].needs) {
					continue
				}
				if *gap != *gap {
					*gap = high[i] - low[i]
				}
				if math.Abs(high[i]-low[i]-*gap) > 1e-9*(math.Abs(high[i])+math.Abs(low[i])) {
					r.varies[k] = true
				}
			}
		}
	}
}
