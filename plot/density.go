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
	name, lower := p.Scorer.Frame().TargetName(), math.Inf(-1)
	l, _ := p.family()
	if !p.Scorer.Original() {
		lower, _, _ = likelihood.Support(l)
	}
	panel := chart.Panel{X: chart.Axis{Name: name, Whole: p.Scorer.Discrete()}, Y: chart.Axis{Name: "density"}}
	drawn := chart.Mark{Name: fmt.Sprintf("%d sets that the model draws", len(r.sets)), Faint: true}
	observed := chart.Mark{Colour: chart.Ink, Thick: true, Name: "observed"}
	low, high := slices.Min(r.y), slices.Max(r.y)
	for _, set := range r.sets {
		low, high = min(low, slices.Min(set)), max(high, slices.Max(set))
	}
	if p.Scorer.Discrete() && high-low < mostValues {
		panel.Y.Name, observed.Shape, drawn.Shape, drawn.Thick, drawn.Faint = "share of rows", chart.Points, chart.Interval, true, false
		if p.Scorer.Binary() && low >= 0 && high <= 1 {
			low, high, panel.X.Levels = 0, 1, p.Scorer.Classes()
		}
		for v := low; v <= high; v++ {
			drawn.X = append(drawn.X, v)
		}
		of := func(set []float64) []float64 { return shares(set, low, high) }
		observed.X, observed.Y = drawn.X, of(r.y)
		_, drawn.Low, drawn.High = across(r.each(of), 1)
		panel.Marks = []chart.Mark{drawn, observed}
	} else {
		d := newSmooth(r.y, lower)
		if d.logs {
			panel.X.Scale, panel.Y.Name = chart.Log, "density of the logarithm"
		}
		sets := r.each(d.density)
		for _, drawn.Y = range sets {
			drawn.X = d.x
			panel.Marks = append(panel.Marks, drawn)
		}
		mean, _, _ := across(sets, 1)
		observed.X, observed.Y = d.x, d.density(r.y)
		panel.Marks = append(panel.Marks, chart.Mark{Name: "their mean", X: d.x, Y: mean, Dashed: true, Colour: 1}, observed)
	}
	return &chart.Chart{
		Title: fmt.Sprintf("Observed %s among what the model draws", name), Under: r.looked, Panels: []chart.Panel{panel},
		Description: fmt.Sprintf("The distribution of %s, and those of %d sets of targets that the model draws for the same rows: the observed one should look like one of them.", name, len(r.sets)),
	}, nil
}
