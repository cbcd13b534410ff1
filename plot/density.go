package plot

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/credence-ml/credence/internal/chart"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/likelihood"
)

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
	if lower == 0 && sorted[0] > 0 && special.Quantile(sorted, .99) > 20*special.Quantile(sorted, .5) {
		d.logs, d.at = true, math.Inf(-1)
		for i, v := range sorted {
			sorted[i] = math.Log10(v)
		}
	}
	n := len(sorted)
	width := stat.StdDev(sorted, nil)
	if iqr := (special.Quantile(sorted, .75) - special.Quantile(sorted, .25)) / 1.34; iqr > 0 && !(width < iqr) {
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
