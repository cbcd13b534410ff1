package plot

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/chart"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/score"
)

// replicates are the targets of rows, and sets of targets that the model draws in their place: those of a set share the
// weights and the parameters of the family.
type replicates struct {
	y      []float64
	sets   [][]float64
	looked string // which rows
}

// mostDrawn is the largest number of targets that are drawn.
const mostDrawn = 20_000_000

// replicate draws so many sets of targets of the rows that are looked at, without rows of weight 0, or fewer where rows
// are many.
func (p *picture) replicate(ctx context.Context, count int) (*replicates, error) {
	table, repeat, err := p.counted(ctx)
	if err != nil {
		return nil, err
	}
	count = max(10, min(count, mostDrawn/max(1, repeat.total())))
	draws, err := p.Scorer.Draw(count, p.Seed)
	if err != nil {
		return nil, err
	}
	r := &replicates{sets: make([][]float64, draws.Count), looked: p.looked(repeat.rows) + repeat.told()}
	err = table.Each(ctx, func(rows *score.Rows) error {
		copies := make([]int, rows.Len())
		for i := range copies {
			copies[i] = repeat.of(rows.Weight(i))
			r.y = append(r.y, slices.Repeat([]float64{rows.Target(i)}, copies[i])...)
		}
		y, err := draws.Targets(rows, copies)
		for k := range y {
			r.sets[k%draws.Count] = append(r.sets[k%draws.Count], y[k])
		}
		return err
	})
	return r, err
}

func (p *picture) family() (l credence.Likelihood, of likelihood.TargetKind) {
	l = p.Scorer.Fitted().Members[0].Model.Likelihood
	_, of = likelihood.Describe(l)
	return l, of
}

// each returns what a function makes of every set.
func (r *replicates) each(of func(set []float64) []float64) (list [][]float64) {
	for _, set := range r.sets {
		list = append(list, of(set))
	}
	return list
}

// across returns the mean of sets at each of their places, and the ends of what a share of them has there.
func across(sets [][]float64, share float64) (mean, low, high []float64) {
	column := make([]float64, len(sets))
	for i := range sets[0] {
		sum := 0.0
		for s := range sets {
			column[s] = sets[s][i]
			sum += column[s] / float64(len(sets))
		}
		slices.Sort(column)
		mean, low, high = append(mean, sum), append(low, special.Quantile(column, (1-share)/2)), append(high, special.Quantile(column, (1+share)/2))
	}
	return mean, low, high
}

// mostValues is the largest number of whole numbers that have a share each.
const mostValues = 60

// shares returns the share of a set at each whole number from low to high.
func shares(set []float64, low, high float64) []float64 {
	out := make([]float64, int(high-low)+1)
	for _, v := range set {
		if k := int(v - low); v >= low && v <= high {
			out[k] += 1 / float64(len(set))
		}
	}
	return out
}

// statistic is a number of a set of targets.
type statistic struct {
	name string
	of   func(set []float64) float64
}

// statistics are those that tell about a family.
func (p *picture) statistics() []statistic {
	list := []statistic{{"mean", func(set []float64) float64 { return stat.Mean(set, nil) }}}
	_, kind := p.family()
	if kind == likelihood.Classes {
		return list
	}
	list = append(list, statistic{"standard deviation", func(set []float64) float64 { return stat.StdDev(set, nil) }})
	if kind == likelihood.Counts {
		list = append(list, statistic{"share of zeros", func(set []float64) float64 { return shares(set, 0, 0)[0] }})
	}
	return append(list, statistic{"largest", slices.Max[[]float64]})
}

const (
	statisticSets = 1000
	bins          = 24
)

func drawStatistics(ctx context.Context, p *picture) (*chart.Chart, error) {
	r, err := p.replicate(ctx, min(statisticSets, max(100, 2_000_000/max(1, p.rows().Rows()))))
	if err != nil {
		return nil, err
	}
	name := p.Scorer.Frame().TargetName()
	c := &chart.Chart{Title: fmt.Sprintf("Numbers of %s among those of what the model draws", name), Under: fmt.Sprintf("%s; %d sets drawn", r.looked, len(r.sets)),
		Description: "A histogram of each number over sets of targets that the model draws for the same rows, and the observed one as a line, which should lie among them.", Columns: 2}
	for _, s := range p.statistics() {
		observed := s.of(r.y)
		// a standard deviation of one row, or one that no number holds
		if !special.Finite(observed) {
			continue
		}
		values, above := make([]float64, len(r.sets)), 0.0
		for k, set := range r.sets {
			values[k] = s.of(set)
			above += float64(1+cmp.Compare(values[k], observed)) / 2 // equal ones are half above
		}
		share := above / float64(len(values))
		c.Panels = append(c.Panels, chart.Panel{Title: fmt.Sprintf("%s: %.3g %% of the sets are above", s.name, 100*share), X: chart.Axis{Name: s.name}, Y: chart.Axis{Name: "share of sets"},
			Marks: []chart.Mark{histogram(values)}, Rules: []chart.Rule{{Name: "observed " + number(observed), At: observed, Upright: true}}})
		c.Description += fmt.Sprintf(" %s: observed %s, above it %.3g %% of the sets.", s.name, number(observed), 100*share)
	}
	c.Columns = min(len(c.Panels), 2)
	return c, nil
}

// histogram returns the bars of values, without a few of heavy tails.
func histogram(values []float64) chart.Mark {
	slices.Sort(values)
	low, high := special.Quantile(values, .005), special.Quantile(values, .995)
	width := (high - low) / bins
	m := chart.Mark{Shape: chart.Bar, Width: width, Name: "sets that the model draws"}
	if !(width > 0) {
		m.Width, m.X, m.Y = max(1e-3, math.Abs(low)/20), []float64{low}, []float64{1}
		return m
	}
	for k := range bins {
		m.X, m.Y = append(m.X, low+(float64(k)+.5)*width), append(m.Y, 0)
	}
	for _, v := range values {
		if v >= low && v <= high {
			m.Y[min(int((v-low)/width), bins-1)] += 1 / float64(len(values))
		}
	}
	return m
}

func refuseRootogram(p *picture) string {
	if _, kind := p.family(); kind != likelihood.Counts {
		return "a rootogram is of counts, and the target is none"
	}
	return ""
}

func drawRootogram(ctx context.Context, p *picture) (*chart.Chart, error) {
	r, err := p.replicate(ctx, 200)
	if err != nil {
		return nil, err
	}
	high := slices.Max(r.y)
	for _, set := range r.sets {
		high = max(high, special.Quantile(slices.Sorted(slices.Values(set)), .999))
	}
	width := math.Ceil((high + 1) / mostValues) // of a run of counts that are told together
	roots := func(set []float64) []float64 {
		out := make([]float64, int(high/width)+1)
		for _, v := range set {
			if v <= high {
				out[int(v/width)]++
			}
		}
		return out
	}
	observed := roots(r.y)
	expected, least, most := across(r.each(roots), p.Interval)
	bars := chart.Mark{Shape: chart.Bar, Width: .8 * width, Name: "observed, hanging from what is expected"}
	curve := chart.Mark{Shape: chart.Line, Colour: 1, Thick: true, Name: "expected"}
	band := chart.Mark{Shape: chart.Band, Colour: chart.Grey, Name: fmt.Sprintf("feet of %.6g %% of the sets that the model draws", 100*p.Interval)}
	out, worst, gap := 0, 0.0, 0.0
	for k := range observed {
		top, at := math.Sqrt(expected[k]), (float64(k)+.5)*width-.5
		foot, low, high := top-math.Sqrt(observed[k]), top-math.Sqrt(most[k]), top-math.Sqrt(least[k])
		bars.X, bars.Low, bars.Y = append(bars.X, at), append(bars.Low, foot), append(bars.Y, top)
		band.Low, band.High = append(band.Low, low), append(band.High, high)
		if foot < low || foot > high {
			out++
		}
		if math.Abs(foot) > gap {
			gap, worst = math.Abs(foot), at
		}
	}
	curve.X, curve.Y, band.X = bars.X, bars.Y, bars.X
	name := p.Scorer.Frame().TargetName()
	c := &chart.Chart{
		Title: fmt.Sprintf("Rootogram: how often %s has each value", name), Under: fmt.Sprintf("%s; %d of %d feet outside the band", r.looked, out, len(observed)),
		Description: fmt.Sprintf("The square root of how often each count is expected, from which the square root of how often it is observed hangs: feet below 0 are counts that are more often than expected. %d of %d feet lie outside the band; the farthest is at %s.", out, len(observed), number(worst)),
		Panels:      []chart.Panel{{X: chart.Axis{Name: name, Whole: true}, Y: chart.Axis{Name: "square root of the number of rows"}, Marks: []chart.Mark{bars, band, curve}, Rules: []chart.Rule{{At: 0}}}},
	}
	if width > 1 {
		c.Under += fmt.Sprintf("; %g counts a bar", width)
	}
	return c, nil
}
