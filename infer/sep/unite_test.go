package sep

import (
	"math"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/must"
)

// TestUniteIsTheProduct: two learners of other rows, under slots of their own, are the prior times what each says. Sums
// of factors add up; the posterior of every weight has the moments of the spike and slab times their product, which
// quadrature gives.
func TestUniteIsTheProduct(t *testing.T) {
	p := oneHotProblem(900, []int{5, 8}, 21)
	for name, cfg := range map[string]Config{"row by row": {}, "mini-batches": {Batch: 20}} {
		learn := func(first, last int, reverse bool) *Learner {
			l := must.Value(NewLearner(cfg, p.hyper()))(t)
			b := batchOf(p.x[first:last], p.y[first:last])
			for i, j := range b.Sparse.Index {
				if reverse {
					b.Sparse.Index[i] = int32(p.features-1) - j
				}
			}
			l.Learn(b, make([]float64, b.Rows()))
			l.Leave(!reverse)
			return l
		}
		a, b := learn(0, 400, false), learn(400, 900, true)
		if a.early.rows.Rows != 400 || b.early.rows.Rows != 0 || a.byClass != nil {
			t.Errorf("%s: %d and %d rows are kept", name, a.early.rows.Rows, b.early.rows.Rows)
		}
		slots := make([]int32, p.features)
		for j := range slots {
			slots[j] = int32(p.features-1) - int32(j)
		}
		united := learn(0, 400, false)
		must.Succeed(t, united.Unite(b, slots))
		united.United()
		for j := range p.features {
			one, other := a.at(int32(j)), b.at(slots[j])
			lambda, shift := one.lambda+other.lambda, one.shift+other.shift
			slab := func(w float64) float64 {
				return math.Exp(shift*w-0.5*lambda*w*w-0.5*w*w/p.slab) / math.Sqrt(2*math.Pi*p.slab)
			}
			in := p.inclusion * trapezium(slab, math.Sqrt(p.slab))
			mean := p.inclusion * trapezium(func(w float64) float64 { return w * slab(w) }, math.Sqrt(p.slab)) / (in + 1 - p.inclusion)
			w := united.Weight(j)
			if alpha := in / (in + 1 - p.inclusion); !(math.Abs(w.Inclusion-alpha) <= 1e-9) {
				t.Errorf("%s: inclusion %d is %v, want %v", name, j, w.Inclusion, alpha)
			}
			if math.Abs(w.Mean-mean) > 1e-6*math.Sqrt(w.Variance) { // prior factors are in single precision
				t.Errorf("%s: weight %d is %v, want %v", name, j, w.Mean, mean)
			}
		}
		bias := united.Weight(credence.InterceptSlot)
		if want := 1.0/biasVariance + a.bias.lambda + b.bias.lambda; !(math.Abs(1/bias.Variance-want) <= 1e-6*want) {
			t.Errorf("%s: the bias has precision %v, want %v", name, 1/bias.Variance, want)
		}
		if united.rows != 900 || united.biasSums.count[0]+united.biasSums.count[1] != 900 || united.features != p.features || united.nextEB <= 900 {
			t.Errorf("%s: %d rows of weights %v, %d features, the prior is learned at %d", name, united.rows, united.biasSums.count, united.features, united.nextEB)
		}
		restored(t, stateOf(t, united)) // whose checks refuse what learning cannot lead to
	}
}

// TestUnitedLearnsThePrior: ρ0 and τ0 rest where the evidence of all is largest, whatever those of the first were.
func TestUnitedLearnsThePrior(t *testing.T) {
	p := oneHotProblem(3000, []int{40, 60}, 5)
	learn := func(first, last int) *Learner {
		l := must.Value(NewLearner(Config{}, Hyper{}))(t)
		l.Learn(batchOf(p.x[first:last], p.y[first:last]), make([]float64, last-first))
		l.Leave(false)
		return l
	}
	slots := make([]int32, p.features)
	for j := range slots {
		slots[j] = int32(j)
	}
	unite := func(start float64) *Learner {
		l := learn(0, 1500)
		if start > 0 {
			l.setPrior(start, start)
		}
		must.Succeed(t, l.Unite(learn(1500, 3000), slots))
		l.United()
		return l
	}
	a, b := unite(0), unite(0.6)
	if !(math.Abs(a.prior.logit-b.prior.logit) <= 0.02) || !(math.Abs(math.Log(a.prior.slab/b.prior.slab)) <= 0.02) {
		t.Errorf("ρ0 and τ0 are %v, %v and %v, %v by the start", a.prior.inclusion, a.prior.slab, b.prior.inclusion, b.prior.slab)
	}
	if step := a.scoringStep(1, true, true); step > rested {
		t.Errorf("a step is still %v long", step)
	}
}

// TestUnites: options whose learning depends on the order of all rows are refused.
func TestUnites(t *testing.T) {
	for want, cfg := range map[string]Config{"forget": {Forget: 100}, "half_life": {HalfLife: 3}, "prune": {Prune: 0.01}, "features drop": {Features: 9}} {
		if err := must.Value(NewLearner(cfg, Hyper{}))(t).Unites(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
	l := must.Value(NewLearner(Config{Batch: 9, PositiveWeight: 2}, Hyper{}))(t)
	must.Succeed(t, l.Unites())
	if l.Unite(nil, nil) == nil || l.Unite((*Learner)(nil), nil) == nil {
		t.Error("no learner is united with")
	}
}
