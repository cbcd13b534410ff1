package plot

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/credence-ml/credence/internal/chart"
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
	table, err := p.Scorer.Table(p.rows(), score.RequireTargets)
	if err != nil {
		return nil, err
	}
	total, counted, err := weigh(ctx, table)
	if err != nil {
		return nil, err
	}
	repeat := newCopier(total, counted)
	count = max(10, min(count, mostDrawn/max(1, repeat.total())))
	draws, err := p.Scorer.Draw(count, p.Seed)
	if err != nil {
		return nil, err
	}
	r := &replicates{sets: make([][]float64, draws.Count), looked: p.looked(counted) + repeat.told()}
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

func (p *picture) family() (l any, of likelihood.TargetKind) {
	l = p.Scorer.Fitted().Members[0].Model.Likelihood
	_, of = likelihood.Describe(p.Scorer.Fitted().Members[0].Model.Likelihood)
	return l, of
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

// smooth are densities of sets over a grid: of values, or of their logarithms to base 10.
type smooth struct {
	x             []float64
	low, step, at float64 // of the grid; at is the lower end of the support, −∞ where there is none
	bandwidth     float64
	logs          bool
}

const gridSize = 140

// newSmooth returns densities over the range of some targets, by Silverman's rule of thumb for their bandwidth.
func newSmooth(y []float64, lower float64) *smooth {
	d := &smooth{at: lower}
	sorted := slices.Sorted(slices.Values(y))
	if lower == 0 && sorted[0] > 0 && percentile(sorted, .99) > 20*percentile(sorted, .5) {
		d.logs, d.at = true, math.Inf(-1)
		for i, v := range sorted {
			sorted[i] = math.Log10(v)
		}
	}
	n := len(sorted)
	width := stat.StdDev(sorted, nil)
	if iqr := (percentile(sorted, .75) - percentile(sorted, .25)) / 1.34; iqr > 0 && !(width < iqr) {
		width = iqr
	}
	if d.bandwidth = .9 * width * math.Pow(float64(n), -.2); !(d.bandwidth > 0) {
		d.bandwidth = max(1e-3, 1e-3*math.Abs(sorted[0]))
	}
	room := max(3*d.bandwidth, .1*(sorted[n-1]-sorted[0]))
	d.low = max(sorted[0]-room, d.at)
	d.step = (sorted[n-1] + room - d.low) / (gridSize - 1)
	for k := range gridSize {
		x := d.low + float64(k)*d.step
		if d.logs {
			x = math.Pow(10, x)
		}
		d.x = append(d.x, x)
	}
	return d
}

// density returns that of a set, reflected at the end of the support so that no mass is beyond it.
func (d *smooth) density(set []float64) []float64 {
	var mass [3 * gridSize]float64 // of each point of the grid, and of as many to either side
	add := func(v, share float64) {
		at := (v-d.low)/d.step + gridSize
		if k := int(math.Floor(at)); at >= 0 && at < float64(len(mass)-1) { // no int holds how far out a set may lie
			mass[k] += share * (1 - at + float64(k))
			mass[k+1] += share * (at - float64(k))
		}
	}
	for _, v := range set {
		if d.logs {
			v = math.Log10(v)
		}
		add(v, 1/float64(len(set)))
		if !math.IsInf(d.at, -1) {
			add(2*d.at-v, 1/float64(len(set)))
		}
	}
	out := make([]float64, gridSize)
	reach := min(gridSize-1, int(5*d.bandwidth/d.step)+1)
	for k := range out {
		for j := -reach; j <= reach; j++ {
			z := float64(j) * d.step / d.bandwidth
			out[k] += mass[k+gridSize+j] * math.Exp(-z*z/2) / (d.bandwidth * math.Sqrt(2*math.Pi))
		}
	}
	return out
}

func drawDist(ctx context.Context, p *picture) (*chart.Chart, error) {
	r, err := p.replicate(ctx, 50)
	if err != nil {
		return nil, err
	}
	l, _ := p.family()
	lower := math.Inf(-1)
	if of, ok := l.(likelihood.Supported); ok && !p.Scorer.Original() {
		lower, _ = of.Support()
	}
	name := p.Scorer.Frame().TargetName()
	panel := chart.Panel{X: chart.Axis{Name: name, Whole: p.Scorer.Discrete()}, Y: chart.Axis{Name: "density"}}
	low, high := slices.Min(r.y), slices.Max(r.y)
	for _, set := range r.sets {
		if p.Scorer.Discrete() {
			low, high = min(low, slices.Min(set)), max(high, slices.Max(set))
		}
	}
	var x []float64
	var of func(set []float64) []float64
	shape := chart.Line
	if p.Scorer.Discrete() && high-low < mostValues {
		panel.Y.Name, shape = "share of rows", chart.Interval
		for v := low; v <= high; v++ {
			x = append(x, v)
		}
		if p.Scorer.Binary() && low >= 0 && high <= 1 {
			low, high, x, panel.X.Levels = 0, 1, []float64{0, 1}, p.Scorer.Classes()
		}
		of = func(set []float64) []float64 { return shares(set, low, high) }
	} else {
		d := newSmooth(r.y, lower)
		if x, of = d.x, d.density; d.logs {
			panel.X.Scale, panel.Y.Name = chart.Log, "density of the logarithm"
		}
	}
	observed := chart.Mark{Colour: chart.Ink, Thick: true, Name: "observed", X: x, Y: of(r.y)}
	mean := make([]float64, len(x))
	var all [][]float64
	for k, set := range r.sets {
		y := of(set)
		all = append(all, y)
		for i, v := range y {
			mean[i] += v / float64(len(r.sets))
		}
		if shape == chart.Line {
			m := chart.Mark{X: x, Y: y, Faint: true}
			if k == 0 {
				m.Name = fmt.Sprintf("%d sets that the model draws", len(r.sets))
			}
			panel.Marks = append(panel.Marks, m)
		}
	}
	if shape == chart.Interval {
		m := chart.Mark{Shape: chart.Interval, Thick: true, X: x, Name: fmt.Sprintf("%d sets that the model draws", len(r.sets))}
		for i := range x {
			column := make([]float64, len(all))
			for s := range all {
				column[s] = all[s][i]
			}
			slices.Sort(column)
			m.Low, m.High = append(m.Low, column[0]), append(m.High, column[len(column)-1])
		}
		observed.Shape = chart.Points
		panel.Marks = append(panel.Marks, m, observed)
	} else {
		panel.Marks = append(panel.Marks, chart.Mark{Name: "their mean", X: x, Y: mean, Dashed: true, Colour: 1}, observed)
	}
	return &chart.Chart{
		Title: fmt.Sprintf("Observed %s among what the model draws", name), Under: r.looked, Panels: []chart.Panel{panel},
		Description: fmt.Sprintf("The distribution of %s, and those of %d sets of targets that the model draws for the same rows: the observed one should look like one of them.", name, len(r.sets)),
	}, nil
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
		if math.IsNaN(observed) || math.IsInf(observed, 0) {
			continue
		}
		values, above := make([]float64, len(r.sets)), 0.0
		for k, set := range r.sets {
			values[k] = s.of(set)
			switch {
			case values[k] > observed:
				above++
			case values[k] == observed:
				above += .5
			}
		}
		slices.Sort(values)
		// A few sets of heavy tails are left out of the picture, not of the probability.
		low, high := percentile(values, .005), percentile(values, .995)
		width := (high - low) / bins
		m := chart.Mark{Shape: chart.Bar, Width: width, Name: "sets that the model draws"}
		if !(width > 0) {
			m.Width, m.X, m.Y = max(1e-3, math.Abs(low)/20), []float64{low}, []float64{1}
		}
		for k := 0; k < bins && width > 0; k++ {
			from := low + float64(k)*width
			count := 0
			for _, v := range values {
				if v >= from && (v < from+width || k == bins-1 && v <= high) {
					count++
				}
			}
			m.X, m.Y = append(m.X, from+width/2), append(m.Y, float64(count)/float64(len(values)))
		}
		share := above / float64(len(values))
		c.Panels = append(c.Panels, chart.Panel{Title: fmt.Sprintf("%s: %.3g %% of the sets are above", s.name, 100*share), X: chart.Axis{Name: s.name}, Y: chart.Axis{Name: "share of sets"},
			Marks: []chart.Mark{m}, Rules: []chart.Rule{{Name: "observed " + number(observed), At: observed, Upright: true}}})
		c.Description += fmt.Sprintf(" %s: observed %s, above it %.3g %% of the sets.", s.name, number(observed), 100*share)
	}
	c.Columns = min(len(c.Panels), 2)
	return c, nil
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
		high = max(high, percentile(slices.Sorted(slices.Values(set)), .999))
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
	sets := make([][]float64, len(r.sets))
	for k, set := range r.sets {
		sets[k] = roots(set)
	}
	bars := chart.Mark{Shape: chart.Bar, Width: .8 * width, Name: "observed, hanging from what is expected"}
	curve := chart.Mark{Shape: chart.Line, Colour: 1, Thick: true, Name: "expected"}
	band := chart.Mark{Shape: chart.Band, Colour: chart.Grey, Name: fmt.Sprintf("feet of %g %% of the sets that the model draws", 100*p.Interval)}
	out, worst, gap := 0, 0.0, 0.0
	for k := range observed {
		column, mean := make([]float64, len(sets)), 0.0
		for s := range sets {
			column[s] = sets[s][k]
			mean += sets[s][k] / float64(len(sets))
		}
		slices.Sort(column)
		top, at := math.Sqrt(mean), (float64(k)+.5)*width-.5
		foot := top - math.Sqrt(observed[k])
		bars.X, bars.Low, bars.Y = append(bars.X, at), append(bars.Low, foot), append(bars.Y, top)
		curve.X, curve.Y = append(curve.X, at), append(curve.Y, top)
		low, high := top-math.Sqrt(percentile(column, (1+p.Interval)/2)), top-math.Sqrt(percentile(column, (1-p.Interval)/2))
		band.X, band.Low, band.High = append(band.X, at), append(band.Low, low), append(band.High, high)
		if foot < low || foot > high {
			out++
		}
		if math.Abs(foot) > gap {
			gap, worst = math.Abs(foot), at
		}
	}
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
