package shards

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/infer/exact"
	"github.com/credence-ml/credence/internal/kernel"
)

// products are the sums of the last round: of every product of two columns of the model, or of one and the target, that
// is not 0 by itself. A column is a product of numbers in the rows that have some levels; so is that of two.
type products struct {
	columns []column
	weights int
	engine  *exact.Engine
	inputs  int
	// places are where the sums of a monomial stand, by the categories and the monomial.
	places map[string]place
}

type place struct{ statement, sum int }

// column is a column of the model for each combination of the levels of its key, the last fastest.
type column struct {
	first   int
	key     []feature.Leveled
	factors []factor
	scale   float64 // by which the products of the factors, in units of the table, are divided
}

// factor is a number less a centre.
type factor struct {
	input  int
	centre float64
}

// mostProducts bounds the sums of a job: 200 columns of numbers.
const mostProducts = 25_000

// columnsOf returns the columns of the model's terms.
func (q *asked) columnsOf(terms []feature.Plain) (list []column, err error) {
	add := func(first int, key []feature.Leveled, factors [][2]float64) {
		c := column{first: first, key: key, scale: 1}
		for _, f := range factors { // (v − centre)/scale + origin
			in := &q.inputs[int(f[0])]
			c.factors = append(c.factors, factor{int(f[0]), in.Center - f[1]*in.Scale})
			c.scale *= in.Scale
		}
		list = append(list, c)
	}
	for _, t := range terms {
		switch {
		case t.Kind == "numbers":
			for i, input := range t.Inputs {
				add(t.First+i, nil, [][2]float64{{float64(input), 0}})
			}
		case t.Kind == "powers":
			for i, input := range t.Inputs {
				for k := range t.Degree {
					add(t.First+i*t.Degree+k, nil, slices.Repeat([][2]float64{{float64(input), 0}}, k+1))
				}
			}
		case t.Kind == "levels" && t.Met == nil && len(t.Columns) == 1 && (t.Key == nil || t.Columns[0].Key == nil) && t.Columns[0].Part == 0:
			add(t.First, append(slices.Clone(t.Key), t.Columns[0].Key...), t.Columns[0].Factors)
		default:
			return nil, errors.New("a database sums up products of numbers and categories: leave other terms out, such as rbf(x) and s(x), or fit on one machine")
		}
	}
	return list, nil
}

// askProducts asks for the sums of the last round.
func (j *Job) askProducts(q *asked) error {
	p, engine, _, err := j.prepared(&carried{rows: j.state.Frame.Rows})
	if err == nil && engine == nil {
		err = errors.New("a database adds up for gaussian targets alone: state --family gaussian --engine exact, or fit on one machine")
	}
	if err != nil {
		return err
	}
	terms, err := p.Plain()
	if err != nil {
		return err
	}
	q.problem = &products{engine: engine, weights: p.Model().Features.Weights(), inputs: len(q.inputs), places: map[string]place{}}
	r := q.problem
	if r.columns, err = q.columnsOf(terms); err != nil {
		return err
	}
	y := column{factors: []factor{{len(q.inputs), j.state.Units.Centre}}}
	open := map[string]int{} // the last statement by categories
	count := 0
	ask := func(a, b *column) {
		groups, monomial := q.product(a, b)
		at := key(groups, monomial)
		if _, known := r.places[at]; known {
			return
		}
		k, known := open[fmt.Sprint(groups)]
		if !known || len(q.all[k].sums) == mostAggregates {
			k = len(q.all)
			q.all = append(q.all, statement{groups: groups, from: "(" + q.rows + ") s"})
			open[fmt.Sprint(groups)] = k
		}
		r.places[at] = place{k, len(q.all[k].sums)}
		q.all[k].sums = append(q.all[k].sums, q.print("SUM("+monomial+")"))
		count++
	}
	ask(&y, &column{})
	ask(&y, &y)
	for i := range r.columns {
		ask(&r.columns[i], &y)
		for k := range r.columns[i:] {
			ask(&r.columns[i], &r.columns[i+k])
		}
	}
	if count > mostProducts {
		return fmt.Errorf("the formula asks the database for %d sums, and %d are the most: export the table to Parquet, and fit its rows", count, mostProducts)
	}
	return nil
}

// product returns the categories and the monomial of the product of two columns. Every run of the query has the same
// order of factors, whichever column has them.
func (q *asked) product(a, b *column) (groups []int, monomial string) {
	for _, l := range slices.Concat(a.key, b.key) {
		groups = append(groups, l.Input)
	}
	slices.Sort(groups)
	var factors []string
	for _, f := range slices.Concat(a.factors, b.factors) {
		factors = append(factors, fmt.Sprintf("(v%d - %s)", f.input, literal(f.centre)))
	}
	slices.Sort(factors)
	if factors == nil {
		return slices.Compact(groups), "1e0"
	}
	return slices.Compact(groups), strings.Join(factors, " * ")
}

// key names a monomial among some categories.
func key(groups []int, monomial string) string { return fmt.Sprint(groups, monomial) }

// combination is one column of those that a [column] is, with the levels of its key.
type combination struct {
	weight int
	levels map[int]string
}

// combinations returns all, in the order of their weights.
func (q *asked) combinations(c *column) []combination {
	list := []combination{{c.first, map[int]string{}}}
	for _, l := range c.key {
		var more []combination
		for i := range list {
			for k := range l.Levels {
				levels := map[int]string{l.Input: q.inputs[l.Input].Levels[k]}
				maps.Copy(levels, list[i].levels)
				more = append(more, combination{c.first + (list[i].weight-c.first)*l.Levels + k, levels})
			}
		}
		list = more
	}
	return list
}

// takeProducts makes the sums of what the last query told.
func (j *Job) takeProducts(q *asked, answers [][]row, a *answer, vectors map[string][]float64) error {
	r, rows := q.problem, j.state.Frame.Rows
	tables := make([]map[string]*row, len(answers))
	for k := range answers {
		tables[k] = map[string]*row{}
		total := 0
		for i := range answers[k] {
			of := &answers[k][i]
			for n := range of.levels {
				of.levels[n] = strings.TrimSpace(of.levels[n])
			}
			for n, v := range of.sums {
				if v-v != 0 {
					return fmt.Errorf("sum %d of statement %d is no number: the values are too large, or the table changed since it was counted: make the job anew", n+1, k+1)
				}
			}
			total += of.rows
			levels := strings.Join(of.levels, "\x00")
			if same := tables[k][levels]; same != nil { // but for blanks around them
				kernel.Axpy(1, of.sums, same.sums)
				continue
			}
			tables[k][levels] = of
		}
		if total != rows {
			return fmt.Errorf("statement %d has %d rows, and %d were counted: part of the answer is lost, and is to be asked again, or the table changed, and the job is to be made anew", k+1, total, rows)
		}
	}
	// sums are those of the product of two columns, over the rows with some levels.
	sums := func(a, b *column) func(one, other map[int]string) float64 {
		groups, monomial := q.product(a, b)
		at, levels := r.places[key(groups, monomial)], make([]string, len(groups))
		return func(one, other map[int]string) float64 {
			for n, input := range groups {
				level, has := one[input]
				second, also := other[input]
				if has && also && level != second {
					return 0
				}
				if levels[n] = level; !has {
					levels[n] = second
				}
			}
			if found := tables[at.statement][strings.Join(levels, "\x00")]; found != nil {
				return found.sums[at.sum] / (a.scale * b.scale)
			}
			return 0
		}
	}
	d := r.weights
	gram, cross := make([]float64, d*(d+1)/2), make([]float64, d)
	units := *j.state.Units
	y := column{factors: []factor{{len(q.inputs), units.Centre}}, scale: units.Scale}
	combinations := make([][]combination, len(r.columns))
	for i := range r.columns {
		combinations[i] = q.combinations(&r.columns[i])
	}
	for i := range r.columns {
		own, with := combinations[i], sums(&r.columns[i], &y)
		for _, c := range own {
			cross[c.weight] = with(c.levels, nil)
		}
		for k := i; k < len(r.columns); k++ {
			with := sums(&r.columns[i], &r.columns[k])
			for _, c := range own {
				for _, e := range combinations[k] {
					low, high := min(c.weight, e.weight), max(c.weight, e.weight)
					gram[low*d-low*(low-1)/2+high-low] = with(c.levels, e.levels)
				}
			}
		}
	}
	all, err := r.engine.SumsOf(j.state.Frame.Fingerprint(), units, rows, r.inputs, gram, cross, sums(&y, &column{scale: 1})(nil, nil), sums(&y, &y)(nil, nil))
	if err != nil {
		return err
	}
	a.Counts = j.state.Counts[0]
	a.Sums, err = all.Encode(prefix(0), vectors)
	return err
}
