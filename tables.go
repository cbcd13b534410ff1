package credence

import (
	"maps"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/quad"
)

// located is the ability of a family of location, as package likelihood describes.
type located interface {
	Location() (unit float64, logarithm bool)
}

// Tables are distribution functions of the families of location of a model, in the distance of y from the mean of f and
// the standard deviation of f, for [Distribution.Share]. They are made as rows ask for them and are not stored; what
// they say depends on the family alone, and they are safe for many goroutines. The zero value has none yet.
type Tables struct {
	byFamily atomic.Pointer[map[tableKey]knownTable] // copied to be added to, so that rows need no lock
	adding   sync.Mutex
	nodes    sync.Pool // of *countNodes: room to add up counts in
	rows     sync.Pool // of *rowTable
	standard atomic.Pointer[standardQuantiles]
}

type knownTable struct {
	*quad.Located
	logarithm bool // log y is looked up
}

// tableKey is a family under an f of so many degrees of freedom.
type tableKey struct {
	likelihood Predictive
	df         float64
}

// table returns the table of a family whose f is a scale mixture, of nothing for a family that is none of location.
func (t *Tables) table(likelihood Predictive, posterior Posterior, scales []quad.Scale) knownTable {
	family, ok := likelihood.(located)
	if t == nil || !ok {
		return knownTable{}
	}
	key := tableKey{likelihood: likelihood}
	if tailed, ok := posterior.(LatentDF); ok && len(scales) > 1 {
		key.df = tailed.LatentDF()
	}
	if all := t.byFamily.Load(); all != nil {
		if table, ok := (*all)[key]; ok {
			return table
		}
	}
	return t.add(key, family, scales)
}

// add returns the table of a key that is new to some goroutine.
func (t *Tables) add(key tableKey, family located, scales []quad.Scale) knownTable {
	t.adding.Lock()
	defer t.adding.Unlock()
	all := map[tableKey]knownTable{}
	if before := t.byFamily.Load(); before != nil {
		maps.Copy(all, *before)
	}
	table, ok := all[key]
	if !ok {
		unit, logarithm := family.Location()
		scales = slices.Clone(scales)
		table = knownTable{quad.NewLocated(unit, func(d, sd float64) (sum float64) {
			if logarithm {
				d = math.Exp(d)
			}
			for _, scale := range scales {
				sum += scale.Weight * key.likelihood.PredictiveCDF(d, 0, sd*sd*scale.Factor)
			}
			return sum
		}), logarithm}
		all[key] = table
		t.byFamily.Store(&all)
	}
	return table
}

// Share has the distribution functions of families of location looked up in tables, from the next
// [Fitted.DistributionTo] on: within 1e-9, and their quantiles within a millionth of an interval's width. Quantiles of
// counts are added up, exact but where the distribution function is within 1e-9 of a probability. Without tables both
// are integrated, which takes up to a hundred times as long.
func (d *Distribution) Share(tables *Tables) { d.tables = tables }

// rowTable is the distribution function of a row by the tables of its components.
type rowTable struct {
	slices        []quad.Slice
	means, shares []float64
	values        []float64 // Φ⁻¹ of the components, and then what they are of
	total         float64
	logarithm     bool // log y is looked up
}

// rowTable returns the tables of row i, nil where a component has none. Who is done with them gives them back.
func (d *Distribution) rowTable(i int) *rowTable {
	if d.tables == nil || d.parts[0].table.Located == nil {
		return nil
	}
	r, ok := d.tables.rows.Get().(*rowTable)
	if !ok {
		r = &rowTable{}
	}
	r.means, r.shares, r.total, r.logarithm = r.means[:0], r.shares[:0], d.total, d.parts[0].table.logarithm
	for k := 0; k < len(d.parts); k += d.parts[k].scales {
		p := &d.parts[k]
		if p.table.Located == nil {
			d.tables.rows.Put(r)
			return nil
		}
		if len(r.means) == len(r.slices) {
			r.slices = append(r.slices, quad.Slice{})
		}
		p.table.Slice(&r.slices[len(r.means)], math.Sqrt(p.variance[i]))
		r.means, r.shares = append(r.means, p.mean[i]), append(r.shares, p.whole)
	}
	r.values = slices.Grow(r.values[:0], len(r.means))[:len(r.means)]
	return r
}

// release gives back what rowTable returned.
func (d *Distribution) release(r *rowTable) {
	if r != nil {
		d.tables.rows.Put(r)
	}
}

// cdf returns P(Y ≤ y), or P(log Y ≤ y) of a table of logarithms, which is no number where tables end or are none.
func (r *rowTable) cdf(y float64) (sum float64) {
	for k, mean := range r.means {
		r.values[k] = r.slices[k].At(y - mean)
	}
	kernel.NormalCDF(r.values, r.values)
	for k, p := range r.values {
		sum += r.shares[k] * p
	}
	return sum / r.total
}

// at is cdf of y itself.
func (r *rowTable) at(y float64) float64 {
	if r == nil {
		return math.NaN()
	}
	if r.logarithm {
		y = math.Log(math.Max(y, 0))
	}
	return r.cdf(y)
}

// quantile returns the quantile of row i by its tables; false where they do not reach.
func (r *rowTable) quantile(d *Distribution, i int, p float64) (_ float64, ok bool) {
	if r == nil {
		return 0, false
	}
	mean, variance := d.Latent(i)
	unit, _ := d.parts[0].likelihood.(located).Location()
	y, ok := secant(r.cdf, p, mean, math.Sqrt(variance+unit*unit), math.Inf(1), 0)
	if r.logarithm {
		y = math.Exp(y)
	}
	return y, ok
}

// scaled is the ability of a family whose predictive distributions differ in their places and scales alone.
type scaled interface {
	PredictiveScale(variance float64) float64
	StandardQuantile(p float64) float64
}

// standardQuantiles are those of the standard distribution of a family, at the probabilities last asked for.
type standardQuantiles struct {
	family                   Predictive
	probabilities, quantiles []float64
}

// scaledQuantiles is Quantiles of a row of one part, from what all rows share; false for other rows.
func (d *Distribution) scaledQuantiles(dst []float64, i int, probabilities []float64) bool {
	first := &d.parts[0]
	family, ok := first.likelihood.(scaled)
	if !ok || len(d.parts) > 1 || d.tables == nil || first.perRow != nil {
		return false
	}
	known := d.tables.standard.Load()
	if known == nil || known.family != first.likelihood || !slices.Equal(known.probabilities, probabilities) {
		known = &standardQuantiles{first.likelihood, slices.Clone(probabilities), make([]float64, len(probabilities))}
		for k, p := range probabilities {
			known.quantiles[k] = family.StandardQuantile(p)
		}
		d.tables.standard.Store(known)
	}
	_, mean, variance := first.at(i)
	scale := family.PredictiveScale(variance)
	for k, q := range known.quantiles {
		dst[k] = mean + scale*q
	}
	return true
}
