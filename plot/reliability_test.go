package plot

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/metric"
	"github.com/credence-ml/credence/score"
)

// TestReliability: the curve is the isotonic regression of the targets on the predictions, by its formula of least and
// largest means, the slope is that of evaluate, bins hold all rows, and a model that is right lies in the band.
func TestReliability(t *testing.T) {
	train, test := rowsOf(t, 500, 30), rowsOf(t, 160, 31)
	for _, options := range []fit.Options{{Formula: "class ~ " + inputs, Family: "bernoulli"}, {Formula: "count ~ " + inputs, Family: "poisson"}, {Formula: "y ~ " + inputs}, {Formula: "y ~ " + inputs + " + weight(w)"}} {
		scorer := modelOf(t, train, options)
		c := pictureOf(t, Reliability, Input{Scorer: scorer, Rows: test, Seed: 2})
		marks := c.Panels[0].Marks
		band, line, bins := marks[0], marks[2], marks[3]
		var mean, y, weight []float64
		bound := must.Value(scorer.Table(test, score.RequireTargets))(t)
		must.Succeed(t, bound.Each(t.Context(), func(rows *score.Rows) error {
			for i := range rows.Len() {
				m, _ := rows.Moments(i)
				mean, y, weight = append(mean, m), append(y, rows.Target(i)), append(weight, rows.Weight(i))
			}
			return nil
		}))
		order := make([]int, len(mean))
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(a, b int) int {
			if mean[a] < mean[b] {
				return -1
			}
			return 1
		})
		// The largest over beginnings of the least over ends of the means of y between them.
		iso := make([]float64, len(order))
		for k := range order {
			best := math.Inf(-1)
			for from := 0; from <= k; from++ {
				least, sum, total := math.Inf(1), 0.0, 0.0
				for to := from; to < len(order); to++ {
					sum, total = sum+weight[order[to]]*y[order[to]], total+weight[order[to]]
					if to >= k {
						least = min(least, sum/total)
					}
				}
				best = max(best, least)
			}
			iso[k] = best
		}
		for i, x := range line.X {
			k, _ := slices.BinarySearchFunc(order, x, func(at int, x float64) int {
				if mean[at] < x {
					return -1
				}
				return 1
			})
			low, high := iso[max(0, k-1)], iso[min(k, len(iso)-1)] // of the rows about x
			if line.Y[i] < low-1e-9 || line.Y[i] > high+1e-9 {
				t.Errorf("%s at %g: %g, want %g to %g", options.Family, x, line.Y[i], low, high)
			}
		}
		inside := 0
		for i := range band.X {
			if band.Low[i]-1e-9 <= line.Y[i] && line.Y[i] <= band.High[i]+1e-9 {
				inside++
			}
			if !(band.Low[i] <= band.High[i]) {
				t.Errorf("%s: band from %g to %g", options.Family, band.Low[i], band.High[i])
			}
		}
		if inside < 150 {
			t.Errorf("%s: %d of %d points in the band", options.Family, inside, len(band.X))
		}
		var slope, intercept float64
		if _, err := fmt.Sscanf(c.Under, "160 rows; calibration slope %g, intercept %g", &slope, &intercept); err != nil || len(bins.X) > metric.ReliabilityBins || len(bins.X) < 5 {
			t.Errorf("%s: %s: %v; %d bins", options.Family, c.Under, err, len(bins.X))
		}
		if wantIntercept, want := stat.LinearRegression(mean, y, weight, false); !scorer.Binary() && (!(math.Abs(slope-want) <= 1e-3) || !(math.Abs(intercept-wantIntercept) <= 1e-2)) {
			t.Errorf("%s: line %g + %g x, want %g + %g x", options.Family, intercept, slope, wantIntercept, want)
		}
		if scorer.Binary() { // where logistic regression has its maximum, residuals are orthogonal to the logit
			gap, product := 0.0, 0.0
			for i, p := range mean {
				logit := math.Log(p / (1 - p))
				residual := y[i] - 1/(1+math.Exp(-intercept-slope*logit))
				gap, product = gap+residual/160, product+residual*logit/160
			}
			if !(math.Abs(gap) <= 2e-3) || !(math.Abs(product) <= 2e-3) {
				t.Errorf("residuals of the line sum to %g, with the logit to %g", gap, product)
			}
		}
	}
	// Predictions that go too far leave the band.
	scorer := modelOf(t, rowsOf(t, 40, 32), fit.Options{Formula: "class ~ " + inputs + " + rbf(x, z, n=60, lengthscale=0.3)", Family: "bernoulli", Prior: "normal(variance=100)"})
	c := pictureOf(t, Reliability, Input{Scorer: scorer, Rows: rowsOf(t, 600, 33)})
	var share int
	if _, err := fmt.Sscanf(c.Under[strings.LastIndex(c.Under, "; ")+2:], "%d %% of the curve outside", &share); err != nil || share < 30 {
		t.Errorf("%d %% outside: %v: %s", share, err, c.Description)
	}
}
