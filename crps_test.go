package credence

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

// scoreByHand is the CRPS by the integral that defines it, over x = centre + scale sinh(t), or exp(t) where y is
// positive, in short intervals.
func scoreByHand(d *Distribution, i int, y, centre, scale float64, positive bool) (sum float64) {
	at, x, slope := math.Asinh((y-centre)/scale), func(t float64) float64 { return centre + scale*math.Sinh(t) }, func(t float64) float64 { return scale * math.Cosh(t) }
	panels := 220
	if positive {
		panels = 640
		at, x, slope = math.Log(y), math.Exp, math.Exp
	}
	for _, side := range [2]float64{-1, 1} {
		for k := range panels { // far out the tails are powers
			from, to := at+side*float64(k)*0.05, at+side*float64(k+1)*0.05
			if k >= 160 && !positive {
				from, to = at+side*float64(k-144)*0.5, at+side*float64(k-143)*0.5
			}
			part := quad.Fixed(func(t float64) float64 {
				p := d.CDF(i, x(t))
				if side > 0 {
					p = 1 - p
				}
				return p * p * slope(t)
			}, math.Min(from, to), math.Max(from, to), 12, quad.Legendre{}, 1)
			if sum += part; k > 40 && part <= 1e-11*sum { // from here on a part is at most e^-0.05 of the one before
				break
			}
		}
	}
	return sum
}

func distributions(t *testing.T, f *Fitted, rows *Batch) (exact, shared *Distribution) {
	t.Helper()
	exact, shared = new(Distribution), new(Distribution)
	shared.Share(new(Tables))
	for _, d := range []*Distribution{exact, shared} {
		if err := f.DistributionTo(NewWorkspace(1), d, rows); err != nil {
			t.Fatal(err)
		}
	}
	return exact, shared
}

// The score of continuous targets is the integral that defines it, of closed forms, of tables and of what is integrated
// twice, of members that differ, in the middle, far out and where log densities bend; and so it is of the exponential
// of a target.
func TestCRPSOfNumbers(t *testing.T) {
	models := locatedModels()
	for _, df := range []float64{0, 2.1, 9, 1e5} {
		g := likelihood.Gaussian{NoiseVariance: param.From(0.3), PredictiveDF: df}
		for count := 1; count <= 3; count++ {
			f := &Fitted{}
			for m := range count {
				f.Members = append(f.Members, Member{Model: Model{Features: identity{1}, Likelihood: g}, Posterior: point{[]float64{1 - 2*float64(m)}, 0.1 + float64(m)}, Weight: float64(1+m) / float64(count*(count+1)/2)})
			}
			models[fmt.Sprintf("%d of gaussian, %v degrees of freedom", count, df)] = f
		}
	}
	if !testing.Short() {
		models["a family of one's own"] = &Fitted{Members: []Member{{Model: Model{Features: identity{1}, Likelihood: likelihood.Quadrature{Likelihood: likelihood.StudentT{DegreesOfFreedom: param.From(4)}}}, Posterior: point{[]float64{1}, 0.2}}}}
	}
	for name, f := range models {
		exact, shared := distributions(t, f, batchOf(1, -2))
		for i := range 2 {
			// which takes long
			if strings.HasSuffix(name, "of f") && (i == 1 || testing.Short() || strings.Contains(name, ", 0 degrees")) {
				continue
			}
			quantiles := []float64{0.25, 0.75, 0.0001, 0.9999, 0.5}
			exact.Quantiles(quantiles, i, []float64{0.25, 0.75, 0.0001, 0.9999, 0.5})
			scale := quantiles[1] - quantiles[0]
			for _, y := range []float64{quantiles[0], quantiles[2+i], quantiles[4] + scale/3} {
				got, want := shared.CRPS(i, y, nil), scoreByHand(shared, i, y, quantiles[4], scale, strings.HasPrefix(name, "gamma"))
				if !(math.Abs(got-want) <= 1e-8*want) {
					t.Errorf("%s, row %d: the score of %v is %.12g, by hand %.12g", name, i, y, got, want)
				}
			}
		}
	}
}

// The score of exp(y) under a normal y has a closed form (Baran & Lerch 2015).
func TestCRPSOfTransforms(t *testing.T) {
	for _, sd := range []float64{0.05, 0.6, 2} {
		f := &Fitted{Members: []Member{{Model: Model{Features: identity{1}, Likelihood: likelihood.Gaussian{NoiseVariance: param.From(sd * sd / 2)}}, Posterior: point{[]float64{1}, sd * sd / 2}}}}
		d, _ := distributions(t, f, batchOf(1.3))
		for _, z := range []float64{-9, -1, 0, 0.3, 4} {
			y, cdf := 1.3+sd*z, special.NormalCDF
			want := math.Exp(y)*(2*cdf(z)-1) - 2*math.Exp(1.3+sd*sd/2)*(cdf(z-sd)+cdf(sd/math.Sqrt2)-1)
			if got := d.CRPS(0, y, math.Exp); !(math.Abs(got-want) <= 1e-8*want) {
				t.Errorf("sd %v, y %v: %.12g, want %.12g", sd, y, got, want)
			}
		}
	}
}

// The score of whole numbers is the sum that defines it, for counts that are added up from 0, larger ones, successes
// among trials, grades and classes.
func TestCRPSOfCounts(t *testing.T) {
	sum := func(d *Distribution, i int, y, last float64) (score float64) {
		for k := 0.0; k < last; k++ {
			p := d.CDF(i, k)
			if k >= y {
				p = 1 - p
			}
			if score += p * p; k >= y && p < 1e-8 {
				break
			}
		}
		return score
	}
	models := countModels()
	for _, l := range []Predictive{
		likelihood.Bernoulli{}, likelihood.Bernoulli{Link: likelihood.Cloglog}, likelihood.Ordinal{Cutpoints: param.List{Values: []float64{-1, 0.5, 1}}},
		likelihood.Binomial{Trials: 7}, likelihood.Binomial{Trials: 200}, likelihood.Binomial{Trials: 3000},
	} {
		f := &Fitted{}
		for m := range 2 {
			f.Members = append(f.Members, Member{Model: Model{Features: identity{1}, Likelihood: l}, Posterior: point{[]float64{0.5 - float64(m)/2}, 0.2 + float64(m)}, Weight: 0.3 + 0.4*float64(m)})
		}
		models[fmt.Sprint(l)] = f
	}
	rows := batchOf(-2, 0.2, 1, 3, 4.9, 5.5, 7)
	for name, f := range models {
		exact, shared := distributions(t, f, rows)
		_, upper := exact.parts[0].likelihood.(likelihood.Supported).Support()
		for i := range rows.Rows() {
			// which adding up one by one takes long for
			if last := exact.Quantile(i, 1-1e-8); last > 300 || testing.Short() && last > 200 {
				continue
			}
			for _, p := range []float64{1e-6, 0.3, 0.999} {
				y := math.Round(exact.Quantile(i, p))
				got, want := shared.CRPS(i, y, nil), sum(exact, i, y, upper)
				if !(math.Abs(got-want) <= 1e-8*math.Max(want, 1e-2)) {
					t.Errorf("%s, row %d: the score of %v is %.12g, by hand %.12g", name, i, y, got, want)
				}
			}
		}
	}
}

// largeScoreByHand is the sum that defines the CRPS of a count y, one by one up to where nothing is left.
func largeScoreByHand(d *Distribution, i int, y float64) (score float64) {
	for k := 0.0; ; k++ {
		p := d.CDF(i, k)
		if k >= y {
			p = 1 - p
		}
		if score += p * p; k >= y && p*p*(k+1) <= 1e-11*score {
			return score
		}
	}
}

// The score of counts is the sum where the probability of 0 is below all numbers, for all of f or a part of it, and
// where trials differ by row.
func TestCRPSOfLargeCounts(t *testing.T) {
	of := func(l Predictive, mean, variance float64) (*Distribution, *Batch) {
		f, rows := &Fitted{Members: []Member{{Model: Model{Features: identity{1}, Likelihood: l}, Posterior: point{[]float64{1}, variance}}}}, batchOf(mean, mean, mean)
		if _, ok := l.(likelihood.Binomial); ok {
			rows.Trials = []float64{3, 70_000, 3}
		}
		_, shared := distributions(t, f, rows)
		return shared, rows
	}
	for _, c := range []struct {
		family         Predictive
		mean, variance float64
	}{
		{likelihood.Poisson{}, 7, 0.0025}, {likelihood.Poisson{}, 5.5, 0.0625}, {likelihood.Poisson{}, 4, 0.4}, {likelihood.Binomial{}, -4, 0.01},
	} {
		d, rows := of(c.family, c.mean, c.variance)
		for i := range rows.Rows() {
			if i > 0 && rows.Trials == nil {
				continue
			}
			for _, p := range []float64{0.01, 0.6} {
				y := d.Quantile(i, p)
				if got, want := d.CRPS(i, y, nil), largeScoreByHand(d, i, y); !(math.Abs(got-want) <= 2e-8*want) {
					t.Errorf("%v, f %v ± √%v, row %d: the score of %v is %.12g, by hand %.12g", c.family, c.mean, c.variance, i, y, got, want)
				}
			}
		}
	}
}
