package credence

import (
	"math"
	"strings"
	"testing"

	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/linop"
)

// normalFamily is y ~ N(f, noise) with the closed forms written out once more.
type normalFamily struct{ noise float64 }

func (l normalFamily) LogDensity(y, f float64) float64 {
	logDensity, _, _ := l.TiltedMoments(y, f, 0)
	return logDensity
}
func (l normalFamily) Mean(f float64) float64   { return f }
func (l normalFamily) Variance(float64) float64 { return l.noise }

func (l normalFamily) PredictiveMean(mean, _ float64) float64         { return mean }
func (l normalFamily) PredictiveVariance(_, variance float64) float64 { return variance + l.noise }
func (l normalFamily) TiltedMoments(y, mean, variance float64) (logDensity, dMean, dVariance float64) {
	v, d := variance+l.noise, y-mean
	return -0.5 * (math.Log(2*math.Pi*v) + d*d/v), d / v, (d*d/v - 1) / (2 * v)
}
func (l normalFamily) PredictiveCDF(y, mean, variance float64) float64 {
	return 0.5 * math.Erfc((mean-y)/math.Sqrt(2*(variance+l.noise)))
}
func (l normalFamily) PredictiveQuantile(p, mean, variance float64) float64 {
	return mean + math.Sqrt(variance+l.noise)*special.NormalQuantile(p)
}

// identity passes the dense inputs through.
type identity struct{ width int }

func (f identity) Weights() int    { return f.width }
func (f identity) Blocks() []Block { return []Block{{Name: "linear", Count: f.width}} }
func (f identity) Transform(_ *Workspace, phi *Design, rows *Batch) {
	phi.Dense = rows.X
}

// point is a posterior that knows w and adds a constant variance to f.
type point struct {
	w        []float64
	variance float64
}

func (p point) Weights() int { return len(p.w) }
func (p point) Latent(_ *Workspace, mean, variance []float64, phi *Design) {
	phi.MulVec(mean, p.w)
	for i := range variance {
		variance[i] = p.variance
	}
}
func (p point) Marginals(mean, variance []float64) { copy(mean, p.w); clear(variance) }

func batchOf(x ...float64) *Batch {
	return &Batch{X: linop.Dense{Rows: len(x), Cols: 1, Stride: 1, Data: x}}
}

func member(w, variance, noise float64) Member {
	return Member{
		Model:     Model{Features: identity{1}, Likelihood: normalFamily{noise}},
		Posterior: point{[]float64{w}, variance},
	}
}

func TestPredictGaussian(t *testing.T) {
	fitted := &Fitted{Members: []Member{member(2, 3, 1)}}
	batch := batchOf(1, -1)
	batch.Offset = []float64{10, 0}
	dist, err := fitted.Distribution(NewWorkspace(2), batch)
	if err != nil {
		t.Fatal(err)
	}
	const z95 = 1.6448536269514722 // the 0.95 quantile of a standard normal
	for i, mean := range []float64{12, -2} {
		if m, v := dist.Moments(i); m != mean || v != 4 {
			t.Errorf("row %d: mean %g, variance %g, want %g, 4", i, m, v, mean)
		}
		lower, upper := dist.Quantile(i, 0.05), dist.Quantile(i, 0.95)
		if !(math.Abs(upper-(mean+2*z95)) <= 1e-9) || !(math.Abs(lower-(mean-2*z95)) <= 1e-9) {
			t.Errorf("row %d: interval [%g, %g]", i, lower, upper)
		}
	}
}

// A mixture of two members: moments by the law of total variance, the quantile
// by inverting the average of the two distribution functions.
func TestPredictMixture(t *testing.T) {
	fitted := &Fitted{Members: []Member{member(1, 0.5, 0.5), member(-3, 3, 1)}}
	ws := NewWorkspace(1)
	dist, err := fitted.Distribution(ws, batchOf(1))
	if err != nil {
		t.Fatal(err)
	}
	mean, variance := dist.Moments(0)
	if !(math.Abs(mean-(-1)) <= 1e-15) || !(math.Abs(variance-(0.5*(1+4)+4)) <= 1e-14) {
		t.Errorf("mean %g, variance %g, want -1, 6.5", mean, variance)
	}
	density := 0.5*math.Exp(-0.5*(1-0.3)*(1-0.3))/math.Sqrt(2*math.Pi) +
		0.5*math.Exp(-0.5*(0.3+3)*(0.3+3)/4)/math.Sqrt(2*math.Pi*4)
	if got := dist.LogDensity(0, 0.3); !(math.Abs(got-math.Log(density)) <= 1e-14) {
		t.Errorf("log density %g, want %g", got, math.Log(density))
	}
	for _, p := range []float64{0.01, 0.3, 0.5, 0.9} {
		q := dist.Quantile(0, p)
		if got := dist.CDF(0, q); !(math.Abs(got-p) <= 1e-7) {
			t.Errorf("CDF of the %g quantile is %g", p, got)
		}
	}
	if f, v := dist.Latent(0); f != -1 || !(math.Abs(v-(0.5*(0.5+3)+4)) <= 1e-14) {
		t.Errorf("latent mean %g, variance %g", f, v)
	}
}

func TestPredictRefuses(t *testing.T) {
	if _, err := (&Fitted{}).Distribution(NewWorkspace(1), batchOf(1)); err == nil {
		t.Error("a fit without members predicted")
	}
	of := member(1, 1, 1)
	of.Model.Likelihood = densityAlone{}
	_, err := (&Fitted{Members: []Member{of}}).Distribution(NewWorkspace(1), batchOf(1))
	if err == nil || !strings.Contains(err.Error(), "give it the methods of credence.Predictive") {
		t.Errorf("a family without a predictive distribution: %v", err)
	}
}

// densityAlone is a family of which nothing but the density is known.
type densityAlone struct{}

func (densityAlone) LogDensity(y, f float64) float64 { return -(y - f) * (y - f) }
func (densityAlone) Mean(f float64) float64          { return f }
func (densityAlone) Variance(float64) float64        { return 1 }
