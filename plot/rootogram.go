package plot

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence/internal/chart"
	"github.com/credence-ml/credence/likelihood"
)

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
