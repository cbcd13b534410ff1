package effect_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/effect"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/score"
)

// grades draws 1, 3 or 7, with cutpoints at −.5 and 1.
func grades(rng *rand.Rand, f float64) float64 {
	u := rng.Float64()
	switch f += math.Log(u / (1 - u)); {
	case f > 1:
		return 7
	case f > -0.5:
		return 3
	}
	return 1
}

// gradesLikelihood is the log likelihood of slope, Bern, Chur and both cutpoints, which knows nothing of the package.
func gradesLikelihood(d *data, p []float64) (sum float64) {
	sigmoid := func(v float64) float64 { return 1 / (1 + math.Exp(-v)) }
	for i, y := range d.y {
		f := gradesLatent(p, d.x[i], d.city[i])
		above := [4]float64{1, sigmoid(f - p[3]), sigmoid(f - p[4]), 0}
		k := map[float64]int{1: 0, 3: 1, 7: 2}[y]
		sum += math.Log(above[k] - above[k+1])
	}
	return sum
}

func gradesLatent(p []float64, x float64, city string) float64 {
	return p[0]*x + map[string]float64{"Bern": p[1], "Chur": p[2]}[city]
}

// gradesMean is the average of E y over rows, with x and the city that set makes of them.
func gradesMean(d *data, p []float64, set func(x float64, city string) (float64, string)) (sum float64) {
	for i := range d.x {
		x, city := set(d.x[i], d.city[i])
		f := gradesLatent(p, x, city)
		sum += (1 + 2/(1+math.Exp(p[3]-f)) + 4/(1+math.Exp(p[4]-f))) / float64(len(d.x))
	}
	return sum
}

// TestOrdinal: of 800 rows, weights and cutpoints drawn together spread as the delta method has it from the curvature
// of the likelihood of both.
func TestOrdinal(t *testing.T) {
	d := draw(800, 21, grades)
	p := []float64{0.6, 0.4, -0.3, -0.5, 1}
	curvature := mat.NewSymDense(len(p), nil)
	negative := func(p []float64) float64 { return -gradesLikelihood(d, p) }
	for range 6 {
		gradient := mat.NewVecDense(len(p), fd.Gradient(nil, negative, p, &fd.Settings{Formula: fd.Central}))
		fd.Hessian(curvature, negative, p, nil)
		var step mat.VecDense
		if err := step.SolveVec(curvature, gradient); err != nil {
			t.Fatal(err)
		}
		for k := range p {
			p[k] -= step.AtVec(k)
		}
	}
	scorer := fitted(t, d, fit.Options{Formula: "y ~ x + city", Family: "ordinal"})
	if scorer.Fitted().Family == nil {
		t.Fatal("the cutpoints have no posterior")
	}
	type setting = func(x float64, city string) (float64, string)
	same := func(x float64, city string) (float64, string) { return x, city }
	at := func(level string) setting { return func(x float64, _ string) (float64, string) { return x, level } }
	more := func(x float64, city string) (float64, string) { return x + 1, city }
	check := func(e effect.Effect, high, low setting) {
		t.Helper()
		quantity := func(p []float64) float64 {
			v := gradesMean(d, p, high)
			if low != nil {
				v -= gradesMean(d, p, low)
			}
			return v
		}
		gradient := mat.NewVecDense(len(p), fd.Gradient(nil, quantity, p, &fd.Settings{Formula: fd.Central}))
		var step mat.VecDense
		if err := step.SolveVec(curvature, gradient); err != nil {
			t.Fatal(err)
		}
		sd := math.Sqrt(mat.Dot(gradient, &step))
		near(t, e.Term+" "+e.Contrast, float64(e.Estimate), quantity(p), 0.3*sd+4*float64(e.MCSE))
		near(t, e.Term+" "+e.Contrast+": SD", float64(e.StdError)/sd, 1, 0.06)
		if e.Method != "draws" {
			t.Errorf("by %s", e.Method)
		}
	}
	list := of(t, scorer, d, effect.Options{Draws: 3000})
	for k, e := range of(t, scorer, d, effect.Options{Draws: 3000, Work: 1}) { // the delta method leaves cutpoints out
		if e.Method != "draws" || e.Low != list[k].Low {
			t.Errorf("%+v where work is bounded, want %+v", e, list[k])
		}
	}
	if _, err := (effect.Options{Work: -1}).Validate(); err == nil {
		t.Error("work below 0 is taken")
	}
	check(find(t, list, "x", "+1"), more, same)
	check(find(t, list, "city", "Chur - Basel"), at("Chur"), at("Basel"))
	check(of(t, scorer, d, effect.Options{What: effect.Predictions, Draws: 3000})[0], same, nil)
	for _, e := range of(t, scorer, d, effect.Options{What: effect.Predictions, Columns: []string{"city"}, Draws: 3000}) {
		check(e, at(e.Contrast), nil)
	}
	for k, e := range of(t, scorer, d, effect.Options{What: effect.Predictions, At: []string{"x=-3", "x=3"}, Draws: 3000}) {
		check(e, func(_ float64, city string) (float64, string) { return []float64{-3, 3}[k], city }, nil)
	}
}

// TestOrdinalMean: draws of weights and cutpoints have the mean that predictions have, of few rows too, and of members.
func TestOrdinalMean(t *testing.T) {
	for _, formula := range []string{"y ~ x + city", "y ~ city + rbf(x, n=20)"} {
		d := draw(60, 22, grades)
		scorer := fitted(t, d, fit.Options{Formula: formula, Family: "ordinal"})
		want := moments(t, scorer, d)
		e := of(t, scorer, d, effect.Options{What: effect.Predictions, Draws: 10_000})[0]
		near(t, formula, float64(e.Estimate), want, 4*float64(e.MCSE)+0.03*float64(e.StdError))
	}
}

// moments is the average of E y over rows, as predictions tell it.
func moments(t testing.TB, scorer *score.Scorer, d *data) (sum float64) {
	t.Helper()
	bound, err := scorer.Table(d.source(t), score.IgnoreTargets)
	if err != nil {
		t.Fatal(err)
	}
	if err := bound.Each(t.Context(), func(r *score.Rows) error {
		for i := range r.Len() {
			m, _ := r.Moments(i)
			sum += m / float64(len(d.x))
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return sum
}

// TestCutpointsMoveWithWeights: where one axis moves weights and cutpoints alike, E y of a row is a function of it, by
// quadrature.
func TestCutpointsMoveWithWeights(t *testing.T) {
	d := draw(60, 23, grades)
	model, err := fit.Table(t.Context(), d.source(t), fit.Options{Formula: "y ~ x", Family: "ordinal"})
	if err != nil {
		t.Fatal(err)
	}
	member := model.Members[0]
	member.Weight = 1
	const a, b, rest = 0.3, 0.7, 1e-6 // slopes of both weights, and the variance beside them
	p, q, r := a*a+rest, a*b, b*b+rest
	mean := []float64{0.2, 0.5}
	member.Posterior = &posterior.Full{Mean: mean, Factor: []float64{math.Sqrt(p - q*q/r), q / math.Sqrt(r), 0, math.Sqrt(r)}}
	model.Members = []credence.Member{member}
	model.Family = &credence.FamilyPosterior{Coordinates: model.Family.Coordinates, Mode: model.Family.Mode, Root: []float64{0.5, 0.3}, Slopes: []float64{a, b}, Widths: []float64{0}}
	scorer, err := score.New(model, score.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []float64{-1, 2} {
		one := d.some(func(i int) int { return max(0, 1-i) }).with(func(d *data, i int) { d.x[i] = x })
		phi, _, _ := features(t, scorer, 0, one)
		var first, second float64
		for k := -4000; k <= 4000; k++ {
			z := float64(k) / 500
			f := phi.Row(0)[0]*(mean[0]+a*z) + phi.Row(0)[1]*(mean[1]+b*z)
			low := model.Family.Mode[0] + 0.5*z
			high := low + math.Exp(model.Family.Mode[1]+0.3*z)
			mu := 1 + 2/(1+math.Exp(low-f)) + 4/(1+math.Exp(high-f))
			density := math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) / 500
			first, second = first+density*mu, second+density*mu*mu
		}
		e := of(t, scorer, one, effect.Options{What: effect.Predictions, Draws: 5000})[0]
		near(t, "E y", float64(e.Estimate), first, 1e-3)
		near(t, "its SD", float64(e.StdError)/math.Sqrt(second-first*first), 1, 0.01)
	}
}
