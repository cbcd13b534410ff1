package hyper

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence/internal/conform/must"
)

// corrected is a log density −½ z² of one θ about 2, with a correction of θ − 2; means are θ − 2 and variances 1.
type corrected struct {
	correction func(theta float64) float64
	width      float64 // of the posterior of θ
	climbs     int
}

func (c *corrected) Evaluate(ctx context.Context, from *Evaluation, thetas [][]float64, to Precision, do func(int, *Evaluation) error) error {
	return Each(func(_ context.Context, _ *Evaluation, theta []float64, to Precision) (*Evaluation, error) {
		gap := theta[0] - 2
		z := gap / c.width
		e := &Evaluation{Gradient: []float64{-z / c.width}, Point: Point{
			LogDensity: 3 - z*z/2, Correction: c.correction(gap), Mean: []float64{gap}, Variance: []float64{1},
		}}
		if to == ForNode {
			e.Linear = []float64{1}
		}
		return e, nil
	}).Evaluate(ctx, from, thetas, to, do)
}

func (c *corrected) integrate(t *testing.T) *Integrated {
	t.Helper()
	rules := Rules{
		Weights: 1, Steps: 10, Width: 0.02, Near: 0.05, Enough: 1e-5, Spread: Upper(1), Marginals: func() []int { return []int{0} },
		Climb: func(_ context.Context, at *Evaluation, theta []float64) (*Evaluation, error) {
			c.climbs++
			return at, nil
		},
	}
	begin := &Evaluation{Theta: []float64{2}, Gradient: []float64{0}, Point: Point{LogDensity: 3, Mean: []float64{0}, Variance: []float64{1}}}
	top := must.Value(rules.Mode(t.Context(), c, begin))(t)
	return must.Value(rules.Integrate(t.Context(), c, top))(t)
}

// A correction bz − az²/2 makes the law of θ = width·z normal with the precision 1 + a and the mean b/(1 + a), however
// far that is from the mode of the density without it: moments, evidence and marginal are of that law, and the
// uncorrected evidence is what it would be without.
func TestCorrections(t *testing.T) {
	const width = 0.6
	for _, c := range []struct{ a, b, within float64 }{
		{0, 0, 1e-9}, {0, 0.05, 1e-9}, {0, 3, 1e-9}, {0.1, 0.8, 2e-3}, {-0.1, -2, 5e-3},
	} {
		m := &corrected{width: width, correction: func(theta float64) float64 {
			z := theta / width
			return 7 + c.b*z - c.a*z*z/2
		}}
		out := m.integrate(t)
		mean, variance := width*c.b/(1+c.a), width*width/(1+c.a)
		uncorrected := 3 + math.Log(2*math.Pi*width*width)/2
		evidence := uncorrected + 7 - math.Log1p(c.a)/2 + c.b*c.b/(1+c.a)/2
		scale := math.Max(1, math.Abs(mean/width))
		for _, v := range []struct {
			name      string
			got, want float64
		}{
			{"mean", out.Mean[0], mean}, {"θ", out.Theta[0], 2 + mean}, {"variance", out.Variance[0], 1 + variance},
			{"evidence", out.LogDensity, evidence},
		} {
			if !(math.Abs(v.got-v.want) <= c.within*scale) {
				t.Errorf("a = %g, b = %g: the %s is %.6f, want %.6f", c.a, c.b, v.name, v.got, v.want)
			}
		}
		if math.Abs(c.b) < 1 && !(math.Abs(out.Uncorrected-uncorrected) <= 1e-3) || !(math.Abs(out.Uncorrected-uncorrected) <= 0.05*c.b*c.b+1e-9) {
			t.Errorf("a = %g, b = %g: the uncorrected evidence is %.6f, want %.6f", c.a, c.b, out.Uncorrected, uncorrected)
		}
		if m.climbs > 0 || out.Outcome != Summed {
			t.Errorf("a = %g, b = %g: %d climbs, %v", c.a, c.b, m.climbs, out.Outcome)
		}
		law := out.Marginals[0]
		for i, theta := range law.At {
			at := theta - out.Mode.At.Theta[0]
			from := out.Mode.At.Theta[0] - 2 - mean
			if want := -((at+from)*(at+from) - from*from) / (2 * variance); !(math.Abs(law.LogDensity[i]-want) <= 1e-9) {
				t.Errorf("a = %g, b = %g: the log density at %.3f is %.6f, want %.6f", c.a, c.b, theta, law.LogDensity[i], want)
			}
		}
		if ends := len(law.At) - 1; law.LogDensity[0] > law.LogDensity[ends/2]-3 {
			t.Errorf("a = %g, b = %g: the lower end is not in the tail", c.a, c.b)
		}
	}
}

// Where integration is skipped, for θ is all but known, moments are still those where corrections move the mode, and
// the evidence without them is that of the mode without them.
func TestSkippedCorrections(t *testing.T) {
	m := &corrected{width: 0.01, correction: func(theta float64) float64 { return -2 + 4*theta/0.01 }}
	out := m.integrate(t)
	want := 3 + math.Log(2*math.Pi*1e-4)/2
	if out.Outcome != Skipped || !(math.Abs(out.Theta[0]-2.04) <= 1e-9) || !(math.Abs(out.Mean[0]-0.04) <= 1e-9) {
		t.Errorf("%v: θ is %v, the mean %v", out.Outcome, out.Theta, out.Mean)
	}
	if !(math.Abs(out.Uncorrected-want) <= 1e-9) || !(math.Abs(out.LogDensity-(want-2+8)) <= 1e-9) {
		t.Errorf("the evidence is %v, %v without corrections: want %v, %v", out.LogDensity, out.Uncorrected, want+6, want)
	}
}

// A node that is more likely without its correction is another mode, one that a correction alone raises is none; one
// whose correction is no number weighs nothing.
func TestNodesWithCorrections(t *testing.T) {
	axes := must.Value(NewAxes([]float64{0}, 0, mat.NewSymDense(1, []float64{1}), false))(t)
	begin := func() *sums {
		return newSums(&Maximum{Axes: axes}, Point{Mean: []float64{0}, Variance: []float64{1}}, nil)
	}
	point := Point{LogDensity: -1, Correction: 5, Mean: []float64{0}, Variance: []float64{1}}
	if !begin().add(point) {
		t.Error("a node that its correction raises was taken for a mode")
	}
	point.LogDensity, point.Correction = 0.2, -5
	if begin().add(point) {
		t.Error("a node above the mode was not told")
	}
	moved := newSums(&Maximum{Axes: axes, uncorrected: &Evaluation{Point: Point{LogDensity: 0.15}}}, Point{Mean: []float64{0}, Variance: []float64{1}}, nil)
	if !moved.add(point) {
		t.Error("a node below the mode without corrections was taken for another")
	}
	s := begin()
	for range axes.points() {
		s.add(Point{LogDensity: -1, Correction: math.NaN(), Mean: []float64{9}, Variance: []float64{9}})
	}
	near(t, "mean", s.Mean[0], 0, 1e-12)
}
