package plot

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/chart"
	"github.com/credence-ml/credence/internal/order"
	"github.com/credence-ml/credence/metric"
	"github.com/credence-ml/credence/score"
)

// reliabilitySets is the number of sets of targets that are drawn from the predictions.
const reliabilitySets = 100

// reliabilityOf returns the reliability of predicted means, and the line through targets over them.
func reliabilityOf(y, mean, weight []float64) (metric.CalibrationResult, error) {
	c := metric.Calibration{Table: true}
	for i := range y {
		c.Add(y[i], mean[i], weight[i])
	}
	return c.Result()
}

// curveValues is the number of places at which curves are compared.
const curveValues = 201

// curveOf returns the ascending function of steps at ascending places: straight between steps.
func curveOf(steps []metric.ReliabilityBin, places []float64) (values []float64) {
	k := 0
	for _, x := range places {
		for k < len(steps)-1 && x > steps[k].To {
			k++
		}
		y := steps[k].Observed
		if k > 0 && x < steps[k].From {
			before := steps[k-1]
			y = before.Observed + (x-before.To)/(steps[k].From-before.To)*(y-before.Observed)
		}
		values = append(values, y)
	}
	return values
}

func drawReliability(ctx context.Context, p *picture) (*chart.Chart, error) {
	table, repeat, err := p.counted(ctx)
	if err != nil {
		return nil, err
	}
	classes := metric.Classification{}
	var y, mean, weight []float64
	sets := make([][]float64, reliabilitySets)
	err = table.Each(ctx, func(rows *score.Rows) error {
		for i := range rows.Len() {
			predicted, _ := rows.Moments(i)
			if p.Scorer.Binary() {
				predicted = rows.Probabilities(nil, i)[1]
			}
			if rows.Weight(i) == 0 {
				continue
			}
			if predicted != predicted {
				return fmt.Errorf("%s: the prediction has no mean, with which the target could be compared: %s", rows.Place(i), p.Scorer.Momentless())
			}
			if p.Scorer.Binary() {
				classes.Add(rows.Target(i), predicted, rows.Weight(i))
			}
			rng := credence.Rand(p.Seed, credence.PlotDraws, uint64(rows.SourceRow(i)))
			copies := max(1, repeat.of(rows.Weight(i))) // so that sets spread as those of so many rows
			for range copies {
				y, mean, weight = append(y, rows.Target(i)), append(mean, predicted), append(weight, rows.Weight(i)/float64(copies))
				for s := range sets {
					drawn, err := rows.Sample(i, rng)
					if err != nil {
						return err
					}
					sets[s] = append(sets[s], drawn)
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	// In ascending order, which metric finds at once for every set.
	ascending := order.By(len(mean), func(a, b int) int { return cmp.Compare(mean[a], mean[b]) })
	for _, list := range append([][]float64{y, mean, weight}, sets...) {
		copied := slices.Clone(list)
		for k, i := range ascending {
			list[k] = copied[i]
		}
	}
	found, err := reliabilityOf(y, mean, weight)
	if err != nil {
		return nil, err
	}
	if p.Scorer.Binary() { // whose line is that of the logit
		line, err := classes.Calibration(false)
		if err != nil {
			return nil, err
		}
		found.Slope, found.Intercept = line.Slope, line.Intercept
	}
	low, high := mean[0], mean[len(mean)-1]
	x := floats.Span(make([]float64, curveValues), low, high)
	for s, set := range sets {
		of, err := reliabilityOf(set, mean, weight)
		if err != nil {
			return nil, err
		}
		sets[s] = curveOf(of.Reliability.Isotonic, x)
	}
	line := chart.Mark{Colour: 1, Thick: true, Name: "observed", X: x, Y: curveOf(found.Reliability.Isotonic, x)}
	band := chart.Mark{Shape: chart.Band, Colour: chart.Grey, X: x, Name: fmt.Sprintf("%.6g %% of the curves of a model that is right", 100*p.Interval)}
	_, band.Low, band.High = across(sets, p.Interval)
	outside := 0
	for k, y := range line.Y {
		outside += boolean(y < band.Low[k]-1e-12 || y > band.High[k]+1e-12)
	}
	bins := chart.Mark{Shape: chart.Points, Thick: true, Name: fmt.Sprintf("means of up to %d bins of rows", metric.ReliabilityBins)}
	for _, b := range found.Reliability.Bins {
		bins.X, bins.Y = append(bins.X, b.Predicted), append(bins.Y, b.Observed)
	}
	name := p.predicted()
	under := p.looked(repeat.rows)
	if found.Slope.Defined() && found.Intercept.Defined() {
		under += fmt.Sprintf("; calibration slope %.3f, intercept %s", found.Slope, number(float64(found.Intercept)))
	}
	share := math.Round(100 * float64(outside) / curveValues)
	under += fmt.Sprintf("; %g %% of the curve outside the band", share) + repeat.told()
	return &chart.Chart{
		Title: fmt.Sprintf("Reliability: what is observed where %s is predicted", name), Under: under,
		Description: fmt.Sprintf("The ascending curve of the observed mean against the predicted one: on the diagonal where predictions are right, and in the band where chance explains how far it is from there. %s.", under),
		Panels: []chart.Panel{{X: chart.Axis{Name: "predicted " + name}, Y: chart.Axis{Name: "observed mean"}, Marks: []chart.Mark{
			band, {X: []float64{low, high}, Y: []float64{low, high}, Colour: chart.Grey, Dashed: true, Name: "as predicted"}, line, bins, rugOf(mean)}}},
	}, nil
}
