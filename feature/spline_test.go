package feature

import (
	"math"
	"testing"

	"github.com/credence-ml/credence/linop"
)

// allProducts returns φ(x)ᵀφ(z) for all pairs of rows.
func allProducts(phi linop.Dense) [][]float64 {
	all := make([][]float64, phi.Rows)
	for i := range all {
		for k := range phi.Rows {
			sum := 0.0
			for j, v := range phi.Row(i) {
				sum += v * phi.Row(k)[j]
			}
			all[i] = append(all[i], sum)
		}
	}
	return all
}

// The prior of the curve is that of mgcv 1.8-41's basis "cr", a(x)ᵀ S⁺ a(z), inside the knots, on one and beyond both
// ends:
//
//	sm <- smoothCon(s(x, bs="cr", k=6), data.frame(x=seq(0, 4.5, len=40)), knots=list(x=c(0, .5, 1, 2, 4, 4.5)),
//	                absorb.cons=FALSE, scale.penalty=FALSE)[[1]]
//	X <- PredictMat(sm, data.frame(x=c(-1, .2, 1.5, 3, 5, 2))); e <- eigen(sm$S[[1]]); p <- 1:4
//	X %*% e$vectors[,p] %*% diag(1/e$values[p]) %*% t(e$vectors[,p]) %*% t(X)
func TestSplineIsThatOfMgcv(t *testing.T) {
	want := [][]float64{
		{3.374730177017, 0.695804755809, -1.106463514617, -0.879446882696, 1.195667928462, -1.263128306878},
		{0.695804755809, 0.173064143125, -0.277920803770, -0.250052273669, 0.325951431254, -0.336802910053},
		{-1.106463514617, -0.277920803770, 0.448152609386, 0.392333254090, -0.501819148806, 0.542179232804},
		{-0.879446882696, -0.250052273669, 0.392333254090, 0.530697675127, -0.706967181138, 0.558002645503},
		{1.195667928462, 0.325951431254, -0.501819148806, -0.706967181138, 1.012495794017, -0.692890211640},
		{-1.263128306878, -0.336802910053, 0.542179232804, 0.558002645503, -0.692890211640, 0.709490740741},
	}
	in := numbers(2)
	s := newSet(t, in, &Spline{"s(b)", 1, []float64{0, 0.5, 1, 2, 4, 4.5}})
	rows := batch(in, 6, false)
	for i, x := range []float64{-1, 0.2, 1.5, 3, 5, 2} {
		rows.X.Row(i)[1] = x
	}
	phi := spread(s, rows)
	if phi.Cols != 4 {
		t.Fatalf("%d weights for 6 knots", phi.Cols)
	}
	for i, row := range allProducts(phi) {
		for k, got := range row {
			if !(math.Abs(got-want[i][k]) <= 1e-11) {
				t.Fatalf("rows %d and %d: %.12f, of mgcv %.12f", i, k, got, want[i][k])
			}
		}
	}
}

// φ(x)ᵀφ(z) = Σ cos(2πj(x−z)/period)/j⁴ for x and z in the unit of the column, which repeats: the sum over all j is a
// polynomial in the fractional part of (x−z)/period, −(2π)⁴ B₄/48, and the tail beyond J is at most 1/(3J³).
func TestCyclicIsASumOfHarmonics(t *testing.T) {
	in := numbers(1)
	in.Dense[0].Center, in.Dense[0].Scale = 11.5, 6.9
	const harmonics = 300
	s := newSet(t, in, &Cyclic{"s(a)", 0, 24, harmonics})
	own := []float64{0, 24, 5.3, 5.3 - 72, 17, 23.999, 1e6 * 24}
	rows := batch(in, len(own), false)
	for i, x := range own {
		rows.X.Row(i)[0] = (x - 11.5) / 6.9
	}
	for i, row := range allProducts(spread(s, rows)) {
		for k, got := range row {
			u := math.Mod(math.Abs(own[i]-own[k])/24, 1)
			b4 := u*u*u*u - 2*u*u*u + u*u - 1./30
			want := -math.Pow(2*math.Pi, 4) / 48 * b4
			if !(math.Abs(got-want) <= 1./(3*harmonics*harmonics*harmonics)) {
				t.Fatalf("%g and %g: %.10f, want %.10f", own[i], own[k], got, want)
			}
		}
	}
	phi := spread(s, rows)
	for j, v := range phi.Row(0) { // the cosines and sines of 0
		if want := float64(1-j%2) / float64((j/2+1)*(j/2+1)); !(math.Abs(v-want) <= 1e-9) {
			t.Fatalf("weight %d of 0 is %v, want %v", j, v, want)
		}
	}
	for j, v := range phi.Row(0) {
		if !(math.Abs(v-phi.Row(1)[j]) <= 1e-9) || !(math.Abs(phi.Row(2)[j]-phi.Row(3)[j]) <= 1e-9) {
			t.Fatalf("weight %d does not repeat", j)
		}
	}
	if s.WeightName(0) != "a cos 1" || s.WeightName(5) != "a sin 3" {
		t.Fatalf("weights %s, %s", s.WeightName(0), s.WeightName(5))
	}
}

func TestSplineConformance(t *testing.T) {
	in := withCategory(numbers(3), "zip", 3)
	s := newSet(t, in, &Intercept{}, &Linear{Inputs: span(0, 4)}, &Spline{"s(b)", 1, []float64{-1, 0, 0.3, 2}}, &Cyclic{"s(c)", 2, 3, 4})
	checkFeatures(t, s, batch(in, conformRows, false))
	groups := s.Groups()
	if last := groups[:2]; last[0].Name != "s(b)" || last[0].Count != 2 || last[1].Name != "s(c)" || last[1].Count != 8 {
		t.Fatalf("groups %+v", groups)
	}
	smooths := s.Smooths()
	if len(smooths) != 2 || smooths[0].Inputs[0] != 1 || smooths[1].Inputs[0] != 2 {
		t.Fatalf("smooths %+v", smooths)
	}
	far := newSet(t, in, &Spline{"s(b)", 1, []float64{-1e100, 1e-300, 2e-300, 1e100}}, &Cyclic{"s(c)", 2, 1e-300, 2})
	rows := batch(in, 3, false)
	copy(rows.X.Data, []float64{0, math.MaxFloat64, math.MaxFloat64, 0, 0, -math.MaxFloat64, 1e300, 0, 0, 1.5e-300, 1e-310, 0})
	conformFinite(t, far, rows)

	refuses(t, in, "feature: s(b) has 2 knots: give three at least", &Spline{"s(b)", 1, []float64{0, 1}})
	refuses(t, in, "feature: s(b): knot 3 is 1: give finite numbers that increase", &Spline{"s(b)", 1, []float64{0, 1, 1}})
	refuses(t, in, "feature: s(zip): zip is a category: leave it out or use onehot(zip)", &Spline{"s(zip)", 3, []float64{0, 1, 2}})
	refuses(t, in, "feature: s(b) has 0 harmonics of a period of 3: give 1 to 1000 of a positive one", &Cyclic{"s(b)", 1, 3, 0})
	refuses(t, in, "feature: s(b) has 2 harmonics of a period of -3: give 1 to 1000 of a positive one", &Cyclic{"s(b)", 1, -3, 2})
}
