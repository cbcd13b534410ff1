package online

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/prior"
)

// rows draws n rows of two of the given number of features with logistic labels.
func rows(n, features int, seed uint64) (*credence.Batch, []float64) {
	rng := rand.New(rand.NewPCG(seed, 0))
	w := make([]float64, features)
	for j := range w {
		w[j] = rng.NormFloat64()
	}
	b := &credence.Batch{X: linop.Dense{Rows: n}, Sparse: linop.CSR{Rows: n, Cols: features, Start: []int{0}}}
	truth := make([]float64, n)
	for i := range n {
		first := rng.IntN(features)
		second := (first + 1 + rng.IntN(features-1)) % features
		x := []float64{1, 0.5 + rng.Float64()}
		b.Sparse.Index = append(b.Sparse.Index, int32(first), int32(second))
		b.Sparse.Value = append(b.Sparse.Value, x...)
		b.Sparse.Start = append(b.Sparse.Start, len(b.Sparse.Index))
		truth[i] = special.Sigmoid(w[first]*x[0] + w[second]*x[1] - 0.5)
		label := 0.0
		if rng.Float64() < truth[i] {
			label = 1
		}
		b.Target = append(b.Target, label)
	}
	return b, truth
}

func loss(truth, probability []float64) float64 {
	sum := 0.0
	for i, q := range truth {
		sum -= q*math.Log(probability[i]) + (1-q)*math.Log1p(-probability[i])
	}
	return sum / float64(len(truth))
}

// Of what adPredictor has learned the share counts that it goes on with: precisions above those of the priors, of
// features and the bias, and means by them.
func TestAdPredictorGoesOnWithAShare(t *testing.T) {
	train, _ := rows(500, 3, 4)
	a := NewAdPredictor(AdPredictorConfig{})
	prior := map[int]float64{0: 0.01, credence.InterceptSlot: a.bias[1]}
	a.Learn(train, make([]float64, 500))
	before := map[int]credence.Marginal{0: a.Weight(0), credence.InterceptSlot: a.Weight(credence.InterceptSlot)}
	a.Continue(0.25)
	for slot, m := range before {
		precision := 1/prior[slot] + 0.25*(1/m.Variance-1/prior[slot])
		mean, got := m.Mean*0.25/m.Variance/precision, a.Weight(slot)
		if !(math.Abs(got.Variance*precision-1) <= 1e-12) || !(math.Abs(got.Mean-mean) <= 1e-12*math.Abs(mean)) || !(m.Variance < 0.99*prior[slot]) {
			t.Errorf("slot %d goes on as %+v, want the mean %v and the precision %v", slot, got, mean, precision)
		}
	}
}

// Learners of other rows are brought together by the product of what they say: precisions above those of the priors add
// up, and so do shifts. Slots are those of each.
func TestAdPredictorUnites(t *testing.T) {
	config := AdPredictorConfig{Variance: 0.3, Beta: 2}
	learn := func(seed uint64) *AdPredictor {
		b, _ := rows(400, 3, seed)
		a := NewAdPredictor(config)
		a.Learn(b, make([]float64, 400))
		return a
	}
	one, other, united := learn(4), learn(5), learn(4)
	other.state.at(1)[0] *= 2
	if err := united.Unite(other, []int32{7, 0, 2}); err != nil {
		t.Fatal(err)
	}
	united.United()
	none := credence.Marginal{Variance: config.Variance / (config.Beta * config.Beta)}
	for slot, from := range map[int]int{0: 1, 1: -2, 2: 2, 7: 0, credence.InterceptSlot: credence.InterceptSlot} {
		prior, a, b := none.Variance, one.Weight(slot), none
		if slot == credence.InterceptSlot {
			prior = biasVariance
		}
		if from > -2 {
			b = other.Weight(from)
		}
		precision := 1/a.Variance + 1/b.Variance - 1/prior
		mean, got := (a.Mean/a.Variance+b.Mean/b.Variance)/precision, united.Weight(slot)
		if !(math.Abs(got.Variance*precision-1) <= 1e-12) || !(math.Abs(got.Mean-mean) <= 1e-12*math.Abs(mean)) || got.Mean == 0 {
			t.Errorf("slot %d is %+v, want the mean %v and the precision %v", slot, got, mean, precision)
		}
	}
	if united.Unite(NewFTRL(FTRLConfig{}), nil) == nil || united.Unite(NewAdPredictor(AdPredictorConfig{Variance: 1}), nil) == nil || united.Unite(other, []int32{1}) == nil {
		t.Error("what does not fit is added")
	}
	for _, l := range []interface{ Unites() error }{NewFTRL(FTRLConfig{}), NewSGD(SGDConfig{}), NewTrial([]ability.Continuer{NewFTRL(FTRLConfig{})})} {
		if err := l.Unites(); err == nil || !strings.Contains(err.Error(), "no posterior") {
			t.Errorf("%T: %v", l, err)
		}
	}
	if err := NewTrial([]ability.Continuer{one, other}).Unites(); err == nil || !strings.Contains(err.Error(), "state it") {
		t.Error(err)
	}
}

// Every learner comes near the truth on data that its model can describe.
func TestLearnersLearn(t *testing.T) {
	train, _ := rows(40000, 30, 1)
	test, truth := rows(40000, 30, 1) // the same weights; scored in expectation
	test.Target = slices.Repeat([]float64{math.NaN()}, 40000)
	for name, l := range map[string]credence.Online{
		"ftrl":        NewFTRL(FTRLConfig{}),
		"adpredictor": NewAdPredictor(AdPredictorConfig{Variance: 1}),
		"sgd":         NewSGD(SGDConfig{}),
	} {
		probability := make([]float64, train.Sparse.Rows)
		l.Learn(train, probability)
		l.Learn(test, probability)
		best, got := loss(truth, truth), loss(truth, probability)
		// 31 weights from 40,000 rows cost about 31/80,000 of log loss when fitted at
		// the optimum; online steps lose a few times that, a probit link on logistic
		// data a little more.
		if got > best+0.004 {
			t.Errorf("%s: log loss %.4f, the truth has %.4f", name, got, best)
		}
	}
}

// steps are rows of one feature, with weights and offsets.
var steps = []struct{ x, y, weight, offset float64 }{
	{1, 1, 1, 0}, {2, 0, 2, 0.5}, {-1, 1, 0.5, -1}, {0.5, 0, 1, 2}, {3, 1, 4, 0}, {3, 1, 1, 0.3},
}

// stepByStep compares the scores of a learner with those of a reference, of which score
// returns the latent score of a row without its offset and learn takes the slope
// of the loss in it.
func stepByStep(t *testing.T, l credence.Online, score func(x float64) float64, learn func(x, slope float64)) {
	t.Helper()
	for i, c := range steps {
		want := 1 / (1 + math.Exp(-(score(c.x) + c.offset)))
		got := make([]float64, 1)
		l.Learn(&credence.Batch{
			Target: []float64{c.y}, Weight: []float64{c.weight}, Offset: []float64{c.offset},
			Sparse: linop.CSR{Rows: 1, Cols: 1, Start: []int{0, 1}, Index: []int32{0}, Value: []float64{c.x}},
		}, got)
		if !(math.Abs(got[0]-want) <= 1e-14) {
			t.Fatalf("row %d: probability %v, want %v", i, got[0], want)
		}
		learn(c.x, c.weight*(want-c.y))
	}
}

// The paper's Algorithm 1 for one feature, written out.
func TestFTRLByHand(t *testing.T) {
	cfg := FTRLConfig{Alpha: 0.2, Beta: 0.5, L1: 0.3, L2: 0.1}
	z, n, biasZ, biasN := 0.0, 0.0, 0.0, 0.0
	at := func(z, n, l1, l2 float64) float64 {
		if math.Abs(z) <= l1 {
			return 0
		}
		sign := 1.0
		if z < 0 {
			sign = -1
		}
		return -(z - sign*l1) / ((cfg.Beta+math.Sqrt(n))/cfg.Alpha + l2)
	}
	step := func(z, n *float64, g, w float64) {
		sigma := (math.Sqrt(*n+g*g) - math.Sqrt(*n)) / cfg.Alpha
		*z += g - sigma*w
		*n += g * g
	}
	stepByStep(t, NewFTRL(cfg), func(x float64) float64 { return at(z, n, cfg.L1, cfg.L2)*x + at(biasZ, biasN, 0, 0) }, func(x, slope float64) {
		step(&z, &n, slope*x, at(z, n, cfg.L1, cfg.L2))
		step(&biasZ, &biasN, slope, at(biasZ, biasN, 0, 0))
	})
}

// AdaGrad for one feature, written out.
func TestSGDByHand(t *testing.T) {
	cfg := SGDConfig{Rate: 0.3, L2: 0.05}
	var w, bias float64
	squares := [2]float64{firstSquare, firstSquare}
	stepByStep(t, NewSGD(cfg), func(x float64) float64 { return w*x + bias }, func(x, slope float64) {
		g := slope*x + cfg.L2*w
		squares[0] += g * g
		squares[1] += slope * slope
		w -= cfg.Rate * g / math.Sqrt(squares[0])
		bias -= cfg.Rate * slope / math.Sqrt(squares[1])
	})
}

// One row of adPredictor matches the moments of prior × Φ, by quadrature.
func TestAdPredictorMatchesMoments(t *testing.T) {
	const variance, x, beta = 0.7, -1.5, 1.3
	a := NewAdPredictor(AdPredictorConfig{Variance: variance, Beta: beta})
	b := &credence.Batch{Target: []float64{1}, Sparse: linop.CSR{Rows: 1, Cols: 1, Start: []int{0, 1}, Index: []int32{0}, Value: []float64{x}}}
	a.Learn(b, make([]float64, 1))
	rest := math.Sqrt(beta*beta + biasVariance*beta*beta)
	var z, mean, square float64
	const steps = 20000
	for i := range steps + 1 {
		w := 12 * math.Sqrt(variance) * (2*float64(i)/steps - 1)
		d := math.Exp(-w*w/(2*variance)) * special.NormalCDF(x*w/rest)
		z, mean, square = z+d, mean+w*d, square+w*w*d
	}
	mean, square = mean/z, square/z
	got := a.state.at(0)
	if !(math.Abs(got[0]-mean) <= 1e-12) || !(math.Abs(got[1]-(square-mean*mean)) <= 1e-12) {
		t.Errorf("weight %g ± %g, want %g ± %g", got[0], got[1], mean, square-mean*mean)
	}
}

// A row of weight ω is for adPredictor its Gaussian factor to the power ω, in precisions and shifts; the variance is a
// hundredth at least, however large ω is, and the mean that of the factor. An offset stands for as much of the mean of
// the bias.
func TestAdPredictorWeight(t *testing.T) {
	after := func(bias, weight, offset float64) pair {
		a := NewAdPredictor(AdPredictorConfig{Variance: 0.7})
		a.bias[0] = bias
		a.Learn(&credence.Batch{
			Target: []float64{1}, Weight: []float64{weight}, Offset: []float64{offset},
			Sparse: linop.CSR{Rows: 1, Cols: 1, Start: []int{0, 1}, Index: []int32{0}, Value: []float64{2}},
		}, make([]float64, 1))
		return *a.state.at(0)
	}
	one := after(0, 1, -0.8)
	precision := 1/one[1] - 1/0.7 // of the factor
	for _, weight := range []float64{0.3, 1, 2, 50, 1e6, 1e18, 1e90} {
		total := 1/0.7 + weight*precision
		want := pair{weight * (one[0] / one[1]) / total, max(1/total, 0.7*smallestShrink)}
		if got := after(0, weight, -0.8); one[0] <= 0 || !(math.Abs(got[0]-want[0]) <= 1e-12) || !(math.Abs(got[1]-want[1]) <= 1e-12) {
			t.Errorf("weight %g ends at %v, want %v", weight, got, want)
		}
	}
	if moved := after(-0.5, 1, -0.3); !(math.Abs(moved[0]-one[0]) <= 1e-15) || !(math.Abs(moved[1]-one[1]) <= 1e-15) {
		t.Errorf("with a part of the offset in the bias the weight ends at %v, not %v", moved, one)
	}
}

// What FTRL counts as selected as it goes agrees with a count.
func TestFTRLSelected(t *testing.T) {
	f := NewFTRL(FTRLConfig{L1: 5})
	b, _ := rows(3000, 40, 2)
	f.Learn(b, make([]float64, 3000))
	want := 0
	for slot := range int32(40) {
		if w, _ := f.weight(f.state.at(slot), f.cfg.L1, f.cfg.L2); w != 0 {
			want++
		}
	}
	if f.selected != want || want == 0 || want == 40 {
		t.Errorf("%d selected, counted %d", f.selected, want)
	}
}

// A row that would take the state beyond finite numbers is scored and not learned.
func TestRowsBeyondNumbersAreRefused(t *testing.T) {
	for name, fresh := range map[string]func() credence.Online{
		"ftrl":        func() credence.Online { return NewFTRL(FTRLConfig{}) },
		"adpredictor": func() credence.Online { return NewAdPredictor(AdPredictorConfig{}) },
		"sgd":         func() credence.Online { return NewSGD(SGDConfig{}) },
	} {
		for what, spoil := range map[string]func(b *credence.Batch){
			"value": func(b *credence.Batch) { b.Sparse.Value[b.Sparse.Start[50]] = 1e170 },
			"weight": func(b *credence.Batch) {
				b.Weight = slices.Repeat([]float64{1}, 100)
				b.Weight[50] = 1e300
			},
		} {
			var weights [2][]credence.Marginal
			for i := range weights {
				b, _ := rows(100, 1000, 7) // the features of row 50 are new
				want := []int(nil)
				if i == 1 {
					spoil(b)
					want = []int{50}
				} else {
					b.Target[50] = math.NaN() // scored alone
				}
				l := fresh()
				if refused := l.Learn(b, make([]float64, 100)); !slices.Equal(refused, want) {
					t.Fatalf("%s, %s: rows %v are refused, want %v", name, what, refused, want)
				}
				for slot := credence.InterceptSlot; slot < 1000; slot++ {
					weights[i] = append(weights[i], l.Weight(slot))
				}
			}
			if !slices.Equal(weights[0], weights[1]) {
				t.Errorf("%s, %s: the refused row changed weights", name, what)
			}
		}
	}
}

// The features that are said to be in the model are those whose weights are not 0, after rows and after a part of what
// they said is forgotten.
func TestSelected(t *testing.T) {
	for _, l := range []ability.Continuer{NewFTRL(FTRLConfig{L1: 3}), NewAdPredictor(AdPredictorConfig{}), NewSGD(SGDConfig{})} {
		train, _ := rows(500, 12, 5)
		for round, share := range []float64{1, 0.4, 0.3} {
			l.Continue(share)
			l.Learn(train, make([]float64, 500))
			in := 0
			for slot := range 12 {
				if l.Weight(slot).Mean != 0 {
					in++
				}
			}
			if got := l.Selected(12); got != in {
				t.Errorf("%T: round %d: %d features are selected, and %d are in the model", l, round, got, in)
			}
		}
	}
}

// A weight that was never learned stands at the prior that its learner describes.
func TestUnseenStandAtThePrior(t *testing.T) {
	for _, learner := range []credence.Online{NewFTRL(FTRLConfig{}), NewAdPredictor(AdPredictorConfig{Variance: 0.7, Beta: 2}), NewSGD(SGDConfig{})} {
		fitted := &credence.Fitted{Members: make([]credence.Member, 1)}
		learner.Describe(fitted)
		if got, want := learner.Weight(3).Variance, fitted.Members[0].Model.Prior.(prior.Normal).Variance.Value; got != want {
			t.Errorf("%T: a weight has the variance %g before it learns, and a prior of %g", learner, got, want)
		}
	}
}
