package active

import (
	"context"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/infer/convex"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/prior"
)

const inputs = 4

// gaussianOf returns N(A⁻¹b, A⁻¹) as a fitted model of a family.
func gaussianOf(t *testing.T, family credence.Likelihood, a *mat.SymDense, b []float64) *credence.Fitted {
	t.Helper()
	var chol mat.Cholesky
	if !chol.Factorize(a) {
		t.Fatal("A is not positive definite")
	}
	d := a.SymmetricDim()
	var upper, inverse mat.TriDense
	chol.UTo(&upper)
	must.Succeed(t, inverse.InverseTri(&upper))
	q := &posterior.Full{Mean: make([]float64, d), Factor: make([]float64, d*d)}
	mean := mat.NewVecDense(d, q.Mean)
	must.Succeed(t, chol.SolveVecTo(mean, mat.NewVecDense(d, b)))
	for i := range d {
		for k := i; k < d; k++ {
			q.Factor[i*d+k] = inverse.At(i, k)
		}
	}
	return &credence.Fitted{Members: []credence.Member{{Model: credence.Model{Features: conform.Columns{Dense: d}, Likelihood: family}, Posterior: q}}}
}

func poolOf(n int) *credence.Batch {
	rows := conform.Regression(likelihood.Bernoulli{Link: likelihood.Logit}, n, inputs, 5)
	rows.Offset = make([]float64, n)
	for i := range rows.Offset {
		rows.Offset[i] = 0.2 * float64(i%3)
	}
	return rows
}

func blockOf(t *testing.T, s *Scorer, rows *credence.Batch) *Picker {
	t.Helper()
	n := rows.Rows()
	mean, variance, place := make([]float64, n), make([]float64, n), make([]int, n)
	must.Succeed(t, s.Latent(mean, variance, rows))
	for i := range place {
		place[i] = i
	}
	return s.NewPicker(rows, mean, variance, place)
}

// TestInclusions: means and variances after rank-one updates are those of factoring A afresh with the
// sites of the rows, known labels and unknown ones, classes and numbers.
func TestInclusions(t *testing.T) {
	const n = 60
	for _, family := range []credence.Likelihood{likelihood.Bernoulli{Link: likelihood.Logit}, likelihood.Bernoulli{Link: likelihood.Probit}, likelihood.Gaussian{NoiseVariance: param.Hold(0.3)}} {
		rows := poolOf(n)
		a, b := mat.NewSymDense(inputs, nil), []float64{0.3, -0.2, 0.1, 0.4}
		for j := range inputs {
			a.SetSym(j, j, 1+0.2*float64(j))
			for k := range j {
				a.SetSym(j, k, 0.15)
			}
		}
		s := must.Value(NewScorer(gaussianOf(t, family, a, b), Information, 0, 1))(t)
		block := blockOf(t, s, rows)
		for step := range 9 {
			i := block.Next()
			mean, variance := block.Latent(i)
			label := rows.Target[i]
			if step%3 == 2 {
				label = math.NaN()
			}
			shift, precision := s.site(label, mean, variance)
			before := slices.Clone(block.mean)
			block.Include(i, label)
			x := rows.X.Row(i)
			for j := range inputs {
				b[j] += (shift - precision*rows.Offset[i]) * x[j]
				for k := range j + 1 {
					a.SetSym(j, k, a.At(j, k)+precision*x[j]*x[k])
				}
			}
			fresh := must.Value(NewScorer(gaussianOf(t, family, a, b), Information, 0, 1))(t)
			want := blockOf(t, fresh, rows)
			for k := range n {
				m, v := block.Latent(k)
				mm, vv := want.Latent(k)
				if !(math.Abs(m-mm) <= 1e-10) || !(math.Abs(v-vv) <= 1e-10) {
					t.Fatalf("%T, step %d, row %d: N(%v, %v), afresh N(%v, %v)", family, step, k, m, v, mm, vv)
				}
				if label != label && !(math.Abs(m-before[k]) <= 1e-13) {
					t.Fatalf("an unknown label moved the mean of row %d from %v to %v", k, before[k], m)
				}
			}
		}
	}
}

// TestMembers: a mixture counts with the moments of f over all of its members.
func TestMembers(t *testing.T) {
	rows := poolOf(30)
	a := mat.NewSymDense(inputs, nil)
	for j := range inputs {
		a.SetSym(j, j, 2)
	}
	family := likelihood.Gaussian{NoiseVariance: param.Hold(0.5)}
	fitted := gaussianOf(t, family, a, []float64{1, 0, 0, 1})
	fitted.Members = append(fitted.Members, gaussianOf(t, family, a, []float64{-1, 2, 0, 0}).Members...)
	fitted.Members[0].Weight, fitted.Members[1].Weight = 0.3, 0.7
	s := must.Value(NewScorer(fitted, Information, 0, 1))(t)
	if !(math.Abs(s.noise-0.5) <= 1e-15) {
		t.Errorf("the noise of members of 0.5 is %g", s.noise)
	}
	block := blockOf(t, s, rows)
	for i := range 30 {
		column := block.column(i)
		_, variance := block.Latent(i)
		if !(math.Abs(column[i]-variance) <= 1e-12) {
			t.Fatalf("row %d: Cov(f, f) %v, Var f %v", i, column[i], variance)
		}
		for k := range 30 { // Σ w_k C + Σ w_k (m_k − m)(m_k − m)ᵀ by the difference d of the means: w_1 w_2 d dᵀ
			x, z := rows.X.Row(i), rows.X.Row(k)
			within, left, right := 0.0, 0.0, 0.0
			for j := range inputs {
				within += x[j] * z[j] / 2
				left += x[j] * []float64{1, -1, 0, 0.5}[j]
				right += z[j] * []float64{1, -1, 0, 0.5}[j]
			}
			if want := within + 0.21*left*right; !(math.Abs(column[k]-want) <= 1e-12) {
				t.Fatalf("rows %d, %d: covariance %v, want %v", i, k, column[k], want)
			}
		}
	}
}

func convexFit(t *testing.T, rows *credence.Batch) *credence.Fitted {
	t.Helper()
	engine, err := convex.New(credence.Model{
		Features: conform.Columns{Dense: inputs, Intercept: true}, Likelihood: likelihood.Bernoulli{Link: likelihood.Logit},
		Prior: prior.Normal{Variance: param.Hold(1)},
	}, convex.Config{})
	if err != nil {
		t.Fatal(err)
	}
	fitted := must.Value(engine.Fit(context.Background(), conform.Memory{All: rows}))(t)
	return fitted
}

// TestPool: picks do not depend on the order in which rows come nor on how many at once, and with a
// pool no longer than the shortlist are those of a block over all rows.
func TestPool(t *testing.T) {
	const n, picks = 2600, 7
	fitted := convexFit(t, poolOf(40))
	rows := poolOf(n)
	for _, score := range []Score{Information, BALD, Uncertainty, Random} {
		s := must.Value(NewScorer(fitted, score, 3, 1))(t)
		all, own := blockOf(t, s, rows), blockOf(t, s, rows)
		var want []int
		for range picks {
			i := all.Next()
			want = append(want, i)
			all.Include(i, math.NaN())
		}
		for _, stride := range []int{1, 7, 2599} {
			pool := s.NewPool(picks, 0)
			for k := range n {
				i := k * stride % n
				pool.Add(rows, i, i, own.mean[i], own.variance[i], 1)
			}
			got, err := pool.Picks(picks)
			if err != nil || len(got) != picks {
				t.Fatalf("%v: %d picks", err, len(got))
			}
			for k, c := range got {
				if c.Place != want[k] {
					t.Fatalf("%s, stride %d: pick %d is row %d, over all rows %d", score, stride, k, c.Place, want[k])
				}
			}
			if len(pool.kept) > Shortlist(score, picks) {
				t.Fatalf("%d rows are kept", len(pool.kept))
			}
		}
	}
}

// TestDuplicates: a block does not ask for copies of a row that was picked, which scores of their own would.
func TestDuplicates(t *testing.T) {
	fitted := convexFit(t, poolOf(40))
	rows := &credence.Batch{X: linop.NewDense(0, 0)}
	source := poolOf(200)
	for i := range 200 {
		for range 4 {
			rows.Append(source, i, 1)
		}
	}
	rows.Offset = nil
	s := must.Value(NewScorer(fitted, Information, 0, 1))(t)
	block := blockOf(t, s, rows)
	first := block.Next()
	before := block.Score(first ^ 1)
	block.Include(first, math.NaN())
	if after := block.Score(first ^ 1); !(after < 0.8*before) {
		t.Errorf("the copy of a row scores %v after %v", after, before)
	}
	distinct := map[int]bool{first / 4: true}
	for range 7 {
		i := block.Next()
		block.Include(i, math.NaN())
		distinct[i/4] = true
	}
	if len(distinct) < 3 { // scores of their own would give 2
		t.Errorf("8 picks are copies of %d rows", len(distinct))
	}
}

// TestRefusals: what a score is not for is said.
func TestRefusals(t *testing.T) {
	a := mat.NewSymDense(1, []float64{1})
	for _, c := range []struct {
		family credence.Likelihood
		score  Score
		fits   bool
	}{
		{likelihood.Gaussian{NoiseVariance: param.Hold(1)}, Uncertainty, false},
		{likelihood.Gaussian{NoiseVariance: param.Hold(1)}, BALD, true},
		{likelihood.Bernoulli{Link: likelihood.Cloglog}, Information, false},
		{likelihood.Bernoulli{Link: likelihood.Probit}, Information, true},
		{likelihood.Bernoulli{}, Information, true},
		{likelihood.Poisson{}, Information, false},
		{likelihood.Bernoulli{}, "entropy", false},
	} {
		_, err := NewScorer(gaussianOf(t, c.family, a, []float64{0}), c.score, 0, 1)
		if (err == nil) != c.fits {
			t.Errorf("%v, %s: %v", c.family, c.score, err)
		}
	}
	// Weights of a penalised fit have no variance: every label would tell nothing, and the first rows would be "best".
	point := gaussianOf(t, likelihood.Bernoulli{}, a, []float64{0})
	point.Members[0].Posterior = &posterior.Diagonal{Mean: []float64{1}, Variance: []float64{0}}
	for score, fits := range map[Score]bool{Information: false, BALD: false, ErrorReduction: false, Uncertainty: true, Random: true} {
		if _, err := NewScorer(point, score, 0, 1); (err == nil) != fits {
			t.Errorf("one set of weights, %s: %v", score, err)
		}
	}
	classes, _ := NewScorer(gaussianOf(t, likelihood.Bernoulli{}, a, []float64{0}), Information, 0, 1)
	p := positive(1.5, 3)
	want := p*includedPrecision(0.5, 1.5, 3) + (1-p)*includedPrecision(-0.5, 1.5, 3)
	if _, precision := classes.site(math.NaN(), 1.5, 3); !(math.Abs(precision-want) <= 1e-6*want) {
		t.Errorf("precision without a label %v, want %v", precision, want)
	}
	s, _ := NewScorer(gaussianOf(t, likelihood.Gaussian{NoiseVariance: param.Hold(0.5)}, a, []float64{0}), Information, 0, 1)
	if got, want := s.Score(0, 3, 2), math.Log(5)/2; !(math.Abs(got-want) <= 1e-15) {
		t.Errorf("information of a number %v, want %v", got, want)
	}
}

// TestTies: rows of the same score are picked in the order of the pool.
func TestTies(t *testing.T) {
	rows, a := poolOf(3), mat.NewSymDense(inputs, nil)
	for j := range inputs {
		a.SetSym(j, j, 1)
	}
	s := must.Value(NewScorer(gaussianOf(t, likelihood.Bernoulli{}, a, make([]float64, inputs)), Information, 0, 1))(t)
	block := s.NewPicker(rows, []float64{0.1, 0.1, 0.1}, []float64{1, 1, 1}, []int{7, 4, 5})
	for _, want := range []int{1, 2, 0} {
		if got := block.Next(); got != want {
			t.Errorf("row %d is picked, want %d", got, want)
		}
	}
}

// TestUnseenVariance: what categories that are unseen add to the variance of f is in the row's own inclusion.
func TestUnseenVariance(t *testing.T) {
	rows, a := poolOf(5), mat.NewSymDense(inputs, nil)
	for j := range inputs {
		a.SetSym(j, j, 1)
	}
	s := must.Value(NewScorer(gaussianOf(t, likelihood.Bernoulli{}, a, make([]float64, inputs)), Information, 0, 1))(t)
	mean, variance := make([]float64, 5), make([]float64, 5)
	must.Succeed(t, s.Latent(mean, variance, rows))
	variance[2] += 1.5
	block := s.NewPicker(rows, mean, variance, []int{0, 1, 2, 3, 4})
	block.Include(2, 1)
	shift, precision := s.site(1, mean[2], variance[2])
	kappa := 1 + variance[2]*precision
	m, v := block.Latent(2)
	if !(math.Abs(v-variance[2]/kappa) <= 1e-12) || !(math.Abs(m-mean[2]-(shift-mean[2]*precision)*variance[2]/kappa) <= 1e-12) {
		t.Errorf("f is %v ± %v after its inclusion, want a variance of %v", m, math.Sqrt(v), variance[2]/kappa)
	}
}

// TestForms: moments of rows of few entries are those of the posterior, offsets and what training did not see included.
func TestForms(t *testing.T) {
	const n, dense, sparse = 70, 2, 38
	const d = dense + sparse
	a := mat.NewSymDense(d, nil)
	b := make([]float64, d)
	for j := range d {
		b[j] = math.Sin(float64(j))
		for k := range j {
			a.SetSym(j, k, math.Cos(float64(j*k))/2)
		}
		a.SetSym(j, j, 20)
	}
	fitted := gaussianOf(t, likelihood.Bernoulli{}, a, b)
	fitted.Members[0].Model.Features = conform.Columns{Dense: dense, Sparse: sparse}
	rows := &credence.Batch{X: linop.NewDense(n, d), Offset: make([]float64, n), Target: make([]float64, n)}
	for i := range n {
		x := rows.X.Row(i)
		x[0], x[1], rows.Offset[i] = 1, math.Cos(float64(i)), 0.1*float64(i%4)
		x[dense+i%5], x[dense+5+i%33] = 1, 0.5+float64(i%3)
	}
	s := must.Value(NewScorer(fitted, Information, 0, 2))(t)
	mean, variance := make([]float64, n), make([]float64, n)
	must.Succeed(t, s.Latent(mean, variance, rows))
	if s.form == nil {
		t.Fatal("no sums over pairs were made")
	}
	dist := must.Value(fitted.Distribution(credence.NewWorkspace(1), rows))(t)
	for i := range n {
		if m, v := dist.Latent(i); !(math.Abs(mean[i]-m) <= 1e-13) || !(math.Abs(variance[i]-v) <= 1e-14) {
			t.Errorf("row %d: %v, %v, want %v, %v", i, mean[i], variance[i], m, v)
		}
	}
	fitted.Members[0].Model.Prior, fitted.Members[0].Model.Features = prior.Normal{Variance: param.Hold(0.5)}, further{conform.Columns{Dense: dense, Sparse: sparse}}
	rows.Unseen = make([]float64, n)
	rows.Unseen[3] = 4
	known := variance[3]
	if !s.forms(mean, variance, rows) || !(math.Abs(variance[3]-known-2) <= 1e-13) {
		t.Errorf("what training did not see adds %v to the variance, want 2", variance[3]-known)
	}
}

// further is features with weights for what [credence.Batch].Unseen holds.
type further struct{ conform.Columns }

func (further) AddUnseen(variance []float64, rows *credence.Batch, prior credence.UnseenPrior) {
	ability.AddUnseenSquares(variance, rows.UnseenOf, prior, credence.Block{})
}

// The covariance of many weights is not formed, whatever posterior they have.
func TestFormsAreBounded(t *testing.T) {
	const d = mostFormed + 1
	q := &posterior.Draws{Count: 2, Values: make([]float64, 2*d)}
	for k := range q.Values {
		q.Values[k] = math.Sin(float64(k))
	}
	fitted := gaussianOf(t, likelihood.Bernoulli{}, mat.NewSymDense(1, []float64{1}), []float64{0})
	fitted.Members[0].Posterior, fitted.Members[0].Model.Features = q, conform.Columns{Sparse: d}
	rows := &credence.Batch{X: linop.NewDense(d, d), Target: make([]float64, d)}
	for i := range d {
		rows.X.Row(i)[i] = 1
	}
	s := must.Value(NewScorer(fitted, Information, 0, 2))(t)
	mean, variance := make([]float64, d), make([]float64, d)
	must.Succeed(t, s.Latent(mean, variance, rows))
	if want := (q.Values[1] + q.Values[d+1]) / 2; s.form != nil || !(math.Abs(mean[1]-want) <= 1e-14) {
		t.Errorf("formed %v, mean %v, want %v", s.form != nil, mean[1], want)
	}
}

// Orders of scores end at places, also where scores are no numbers.
func TestFirst(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		a, b float64
		want int
	}{{2, 1, -1}, {1, 2, 1}, {1, 1, -1}, {nan, nan, -1}, {1, nan, -1}, {nan, 1, 1}} {
		if got := first(c.a, c.b, 3, 4); got != c.want {
			t.Errorf("%v before %v: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
