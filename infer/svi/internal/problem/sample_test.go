package problem

import (
	"math"
	"testing"

	"github.com/credence-ml/credence"
	base "github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
)

// sampleOf is a sample of one block.
func sampleOf(b *credence.Batch) *sample {
	s := new(sample)
	phi := &credence.Design{Dense: linop.NewDense(len(b.Target), 0)}
	s.add(&Block{Batch: b, Phi: phi})
	return s
}

// TestSamples: by hand, what a fit begins with of targets that are kept: the largest target and the mean of the offsets
// by weights, the variance of targets less offsets by weights times precisions or, of heavy tails, by the quartiles of
// rows with a weight, medians between two values of half of the weight each, and the mode of a shift of f. Rows without
// weight have no part in any, and a row of weight 2 is two rows.
func TestSamples(t *testing.T) {
	near := func(what string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) <= 1e-9*(1+math.Abs(want))) {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	s := sampleOf(&credence.Batch{Target: []float64{5, 900, 3, 8}, Offset: []float64{1, 70, 2, 1}, Weight: []float64{1, 0, 2, 1}, Precision: []float64{2, 1, 0.5, 1}})
	near("the largest target", s.largest(), 8)
	near("the mean offset", s.meanOffset(), 6./4)
	near("the largest of none above 1", sampleOf(&credence.Batch{Target: []float64{0.5, 0}}).largest(), 1)
	near("the mean offset without weight", sampleOf(&credence.Batch{Target: []float64{1}, Offset: []float64{3}, Weight: []float64{0}}).meanOffset(), 0)
	if got := sampleOf(&credence.Batch{Target: []float64{1, 2, 3}, Offset: []float64{0.1, 0.1, 0.1}, Weight: []float64{0.3, 0.7, 0.1}}).meanOffset(); got != 0.1 {
		t.Errorf("the mean of offsets of 0.1 is %v", got)
	}
	mean := (2*4. + 1*1. + 1*7.) / 4 // 5 − 1, 3 − 2 and 8 − 1, by weights times precisions of 2, 1 and 1
	near("the variance", s.scale(false), (2*(4-mean)*(4-mean)+(1-mean)*(1-mean)+(7-mean)*(7-mean))/4)
	var heavy credence.Batch
	for i := range 8 {
		heavy.Target, heavy.Offset, heavy.Weight = append(heavy.Target, float64(10*i+3)), append(heavy.Offset, 3), append(heavy.Weight, 1)
	}
	heavy.Target, heavy.Offset, heavy.Weight = append(heavy.Target, -1e9, -2e9), append(heavy.Offset, 0, 0), append(heavy.Weight, 0, 0)
	sd := (60. - 20) / (2 * 0.6744897501960817)
	near("the variance by quartiles", sampleOf(&heavy).scale(true), sd*sd)
	for value, want := range map[float64]float64{0: 1, 5: 25, -1e6: 1e12} {
		for _, heavy := range []bool{false, true} {
			near("the variance of a constant", sampleOf(&credence.Batch{Target: []float64{value + 2, value + 2}, Offset: []float64{2, 2}}).scale(heavy), want)
		}
	}
	for _, c := range []struct{ values, weights, median []float64 }{
		{[]float64{4, 1, 9}, []float64{1, 1, 1}, []float64{4}},
		{[]float64{4, 1, 9, 7}, []float64{1, 1, 1, 1}, []float64{5.5}},
		{[]float64{4, 1, 9, 7}, []float64{1, 2, 1, 0}, []float64{2.5}},
		{[]float64{4, 1, 9}, []float64{1, 3, 1}, []float64{1}},
		{[]float64{4, 1}, []float64{0, 0}, []float64{0}},
	} {
		near("the median", weightedMedian(c.values, c.weights), c.median[0])
	}
	centre, deviation := sampleOf(&heavy).median(77, true)
	near("the centre", centre, 35)
	near("the deviation", deviation, madNormal*20)
	centre, deviation = sampleOf(&heavy).median(77, false)
	near("without a centre", centre, 0)
	near("the deviation about 0", deviation, madNormal*35)
	if _, deviation = sampleOf(&credence.Batch{Target: []float64{1, 1, 1, 9}}).median(77, true); deviation != 77 {
		t.Errorf("the deviation of equal targets is %v", deviation)
	}
	counts := sampleOf(&credence.Batch{Target: []float64{5, 900, 3, 8}, Offset: []float64{1, -4, 0.5, -1}, Weight: []float64{1, 0, 2, 1}})
	c := counts.location(likelihood.Poisson{}, 1e6)
	near("the shift of counts", math.Round(1e4*c)/1e4, math.Round(1e4*math.Log((5.+2*3+8)/(math.E+2*math.Sqrt(math.E)+1/math.E)))/1e4)
	if pulled := counts.location(likelihood.Poisson{}, 1e-2); !(math.Abs(pulled) < math.Abs(c)/2) {
		t.Errorf("under a narrow prior the shift is %v, under a wide one %v", pulled, c)
	}
}

// TestReferences: a learned variance begins where the group alone would explain the target if all columns were like the
// one that varies least, is tried within e^±12 of that and of where all are as large as they are together, and moves by
// e^±3 at a step; a guess begins where it is stated, within that range, and what is held stays.
func TestReferences(t *testing.T) {
	const latent, weight = 6.0, 10.0
	columns := []columnSums{{square: 10, total: 0, present: 10}, {square: 40, total: 0, present: 10}, {square: 0}, {square: 4000, total: 0, present: 10}}
	for _, c := range []struct {
		group        base.Group
		wide, narrow float64
		begin        float64
	}{
		{base.Group{First: 0, Count: 2}, latent / 5, latent / 5, latent / 5},
		{base.Group{First: 0, Count: 4}, latent / 4, latent / 405, latent / 4},
		{base.Group{First: 2, Count: 1}, 1, 1, 1},
		{base.Group{First: 0, Count: 2, Stated: param.From(3)}, latent / 5, latent / 5, 3},
		{base.Group{First: 0, Count: 2, Stated: param.From(1e9)}, latent / 5, latent / 5, latent / 5 * math.Exp(12)},
		{base.Group{First: 0, Count: 2, Stated: param.From(1e-9)}, latent / 5, latent / 5, latent / 5 * math.Exp(-12)},
		{base.Group{First: 0, Count: 2, Stated: param.Hold(1e9)}, 1e9, 1e9, 1e9},
	} {
		p := &Problem{Groups: []base.Group{c.group}}
		r, v := p.reference(0, latent, columns, weight)
		for _, x := range [][2]float64{{r.Wide, c.wide}, {r.Narrow, c.narrow}, {v, c.begin}} {
			if !(math.Abs(x[0]/x[1]-1) <= 1e-12) {
				t.Errorf("%+v: %+v, beginning at %v, want %v, %v and %v", c.group, r, v, c.wide, c.narrow, c.begin)
				break
			}
		}
	}
	r := Reference{Wide: 3, Narrow: 0.2}
	for _, c := range [][3]float64{{0, math.Log(0) + 0, 0}, {math.Log(3) + 11, math.Log(3) + 8, math.Log(3) + 12}, {math.Log(0.2) - 10, math.Log(0.2) - 12, math.Log(0.2) - 7}} {
		if lower, upper := r.LogBounds(c[0]); c[0] != 0 && (!(math.Abs(lower-c[1]) <= 1e-12) || !(math.Abs(upper-c[2]) <= 1e-12)) || c[0] == 0 && (lower != -3 || upper != 3) {
			t.Errorf("from %v a step goes from %v to %v", c[0], lower, upper)
		}
	}
	for _, sum := range []float64{1e-6, 1, 1e6} { // the maximum of a prior and of weights
		prior := hyper.BetaPrime{A: 1, B: 0.5, Scale: 2}
		x := balance(prior, sum, 5, math.Log(sum/5))
		if _, slope, _ := prior.At(x / 2); !(math.Abs(sum*math.Exp(-x)-5+slope) <= 1e-9) {
			t.Errorf("of squares that add up to %v the variance is e^%v, where the slope is %v", sum, x, sum*math.Exp(-x)-5+slope)
		}
	}
}
