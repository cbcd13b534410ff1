package laplace

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/lbfgs"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/prior"
)

func held(inclusion, slab, spike float64) prior.SpikeSlab {
	return prior.SpikeSlab{Inclusion: param.Hold(inclusion), Slab: param.Hold(slab), Spike: param.Hold(spike)}
}

func engineOf(t *testing.T, s *conform.Selection, l credence.Likelihood, p credence.Prior, cfg Config) *Engine {
	t.Helper()
	return must.Value(New(credence.Model{Features: s.Features, Likelihood: l, Prior: p}, cfg))(t)
}

func fitOf(t *testing.T, s *conform.Selection, l credence.Likelihood, p credence.Prior, cfg Config) *credence.Fitted {
	t.Helper()
	return must.Value(engineOf(t, s, l, p, cfg).Fit(context.Background(), conform.Memory{All: &s.Batch}))(t)
}

// TestEnumeration compares inclusion, weights and evidence with those of all 4,096 models where the
// spike is not narrower than the posterior, σ²/n.
func TestEnumeration(t *testing.T) {
	if testing.Short() {
		t.Skip("a comparison of numbers: the race detector learns nothing from it")
	}
	for _, c := range []struct {
		n           int
		correlation float64
		sparse      bool
		weighted    bool
		odds        []float64
	}{{100, 0, false, false, nil}, {100, 0.5, false, false, nil}, {100, 0.3, true, false, nil}, {100, 0.3, false, true, nil}, {100, 0.3, false, false, []float64{0.02, 0, 50, 0, 0.02, 0, 1, 10, 0, 0.001, 3, 0}}} {
		const p, noise, slab, spike, pi = 12, 0.5, 1.0, 0.02, 0.3
		s := conform.NewSelection(c.n, p, 4, c.correlation, 1, noise, c.sparse, uint64(c.n)+3)
		if c.weighted {
			for i := range c.n {
				s.Weight = append(s.Weight, float64(1+i%3))
			}
		}
		p0 := held(pi, slab, spike)
		if s.Odds = c.odds; c.odds != nil {
			p0.Odds = s.WeightOdds()
		}
		fitted := fitOf(t, s, likelihood.Gaussian{NoiseVariance: param.Hold(noise)}, p0, Config{})
		mean, square, total := 0.0, 0.0, 0.0
		for i, y := range s.Target {
			total += s.WeightOf(i)
			mean += s.WeightOf(i) * y
		}
		mean /= total
		for i, y := range s.Target {
			square += s.WeightOf(i) * (y - mean) * (y - mean) / total
		}
		inclusion, weights, evidence := s.EnumerateNormals(pi, slab, spike, noise, mean, 100*square)
		q := fitted.Members[0].Posterior.(*posterior.SpikeSlab)
		off, far := 0.0, 0.0
		for j := range p {
			gap := q.Probability[j+1] - inclusion[j]
			off += gap * gap / p
			far = math.Max(far, math.Abs(q.Mean[j+1]-weights[j]))
		}
		t.Logf("%+v: inclusion %.4f, weights %.4f, evidence %.3f of %.3f", c, math.Sqrt(off), far, *fitted.Report.EvidenceEstimate, evidence)
		if math.Sqrt(off) > 0.05 || far > 0.1 {
			t.Errorf("%+v: inclusions are off by %.3f (root mean square), weights by %.3f", c, math.Sqrt(off), far)
		}
		if got := *fitted.Report.EvidenceEstimate; !(math.Abs(got-evidence) <= 1) {
			t.Errorf("%+v: log evidence is %.3f, by enumeration %.3f", c, got, evidence)
		}
	}
}

// newFit loads a problem at given values, classes above 0.7.
func newFit(t *testing.T, n, p int, l credence.Likelihood, sparse bool, cfg Config) *fit {
	t.Helper()
	s := conform.NewSelection(n, p, 4, 0.3, 1, 0.5, sparse, uint64(n*p))
	if _, ok := l.(likelihood.Bernoulli); ok {
		s.Divide(0.7)
	} else {
		for i := range n {
			s.Weight = append(s.Weight, float64(1+i%3))
		}
	}
	return must.Value(engineOf(t, s, l, held(0.2, 1, 0.02), cfg).newFit(context.Background(), conform.Memory{All: &s.Batch}))(t)
}

// families are those of the engine.
var families = []credence.Likelihood{likelihood.Gaussian{NoiseVariance: param.Hold(0.5)}, likelihood.Bernoulli{}, likelihood.Bernoulli{Link: likelihood.Probit}}

// some are weights on both sides of where spike and slab meet.
func some(d int) []float64 {
	w := make([]float64, d)
	for j := range w {
		w[j] = 0.4 * math.Sin(float64(j*j+1))
	}
	return w
}

func TestGradient(t *testing.T) {
	for _, l := range families {
		for _, sparse := range []bool{false, true} {
			f := newFit(t, 20, 15, l, sparse, Config{})
			w := some(16)
			gradient := make([]float64, 16)
			p := f.normals()
			f.objective(p, w, gradient)
			conform.Gradient(t, w, gradient, func(x []float64) float64 { return f.objective(p, x, make([]float64, 16)) })
		}
	}
}

// TestPrior compares slope and curvature of the prior with differences, and sees the curvature
// negative where it should be.
func TestPrior(t *testing.T) {
	p := normals{logOdds: -1, slab: 2, spike: 0.01}
	negative := false
	at := func(w float64) (value, slope, curvature float64) {
		value, slope, curvature = p.given(w, special.Sigmoid(-p.odds(w)), special.Softplus(-p.odds(w)))
		return value + p.constant(), slope, curvature
	}
	for w := -3.0; w <= 3; w += 0.013 {
		const h = 1e-4
		value, slope, curvature := at(w)
		direct := -math.Log(1/(1+math.E)*math.Exp(-w*w/4)/math.Sqrt(4*math.Pi) + math.E/(1+math.E)*math.Exp(-w*w/0.02)/math.Sqrt(0.02*math.Pi))
		up, slopeUp, _ := at(w + h)
		down, slopeDown, _ := at(w - h)
		if !(math.Abs(value-direct) <= 1e-10) || !(math.Abs(slope-(up-down)/(2*h)) <= 1e-3) || !(math.Abs(curvature-(slopeUp-slopeDown)/(2*h)) <= 1e-2*(1+math.Abs(curvature))) {
			t.Fatalf("w = %g: %g, %g, %g; directly %g, by differences %g, %g", w, value, slope, curvature, direct, (up-down)/(2*h), (slopeUp-slopeDown)/(2*h))
		}
		negative = negative || curvature < 0
	}
	if !negative {
		t.Error("no curvature is negative")
	}
}

// TestInclusion compares with a fine sum over ten standard deviations, for steps narrow and wide.
func TestInclusion(t *testing.T) {
	for _, p := range []normals{{0, 1, 1e-3}, {-4, 1, 1e-6}, {1, 1, 1e-7}, {2, 1, 0.5}, {0, 1, 0.01}} {
		for _, mean := range []float64{0, 0.05, -0.12, 0.6} {
			for _, sd := range []float64{1e-9, 1e-3, 0.03, 0.3} {
				sum, mass := 0.0, 0.0
				const count = 100_000
				for k := -count; k <= count; k++ {
					z := 10 * float64(k) / count
					odds := p.logOdds + math.Log(p.spike/p.slab)/2 + (mean+sd*z)*(mean+sd*z)/2*(1/p.spike-1/p.slab)
					density := math.Exp(-z * z / 2)
					sum += density / (1 + math.Exp(-odds))
					mass += density
				}
				if got, want := p.inclusion(mean, sd*sd), sum/mass; !(math.Abs(got-want) <= 1e-5) {
					t.Errorf("%+v, N(%g, %g²): %.8f, want %.8f", p, mean, sd, got, want)
				}
			}
		}
	}
}

// TestProximal compares the proximal step with a search over a grid.
func TestProximal(t *testing.T) {
	p := normals{logOdds: -1, slab: 1, spike: 0.01}
	for _, step := range []float64{0.001, 0.1, 3} {
		for u := -2.0; u <= 2; u += 0.171 {
			cost := func(w float64) float64 { v, _ := p.joint(w); return (w-u)*(w-u)/(2*step) + v }
			best := math.Inf(1)
			for w := -2.1; w <= 2.1; w += 1e-4 {
				best = math.Min(best, cost(w))
			}
			if got := p.proximal(u, step); cost(got) > best+1e-9 {
				t.Errorf("u = %g, step %g: %g costs %g, at best %g", u, step, got, cost(got), best)
			}
		}
	}
}

// TestGIST sees FLAS* end at a minimum: no weight can be moved, alone, to where the joint density is higher.
func TestGIST(t *testing.T) {
	for _, l := range families {
		f := newFit(t, 40, 30, l, false, Config{Method: GIST, Tolerance: 1e-10})
		starts := must.Value(f.starts(context.Background()))(t)
		m, err := f.seek(context.Background(), starts[len(starts)-1])
		if err == nil {
			err = f.search(context.Background(), f.normals(), m, false)
		}
		must.Succeed(t, err)
		p, gradient := f.normals(), make([]float64, 31)
		base := f.loss(m.weights, gradient) + f.penalty(p, m.weights)
		if !(math.Abs(base-m.objective) <= 1e-8*math.Abs(base)) {
			t.Errorf("%v: the objective is %.10g, said to be %.10g", l, base, m.objective)
		}
		for j := range m.weights {
			for _, step := range []float64{-1e-3, 1e-3} {
				moved := append([]float64(nil), m.weights...)
				moved[j] += step
				if value := f.loss(moved, gradient) + f.penalty(p, moved); value < base-1e-6 {
					t.Errorf("%v: weight %d moved by %g lowers the objective by %g", l, j, step, base-value)
				}
			}
		}
	}
}

// TestLearnedInclusion: π ends where the candidates without prior odds of their own have it, those with such have no
// part in it.
func TestLearnedInclusion(t *testing.T) {
	s := conform.NewSelection(200, 12, 4, 0.3, 1, 0.5, false, 7)
	s.Odds = []float64{300, 300, 300, 0, 0, 0, 0, 0, 0, 0, 0, 0}
	p := prior.SpikeSlab{Slab: param.Hold(1), Spike: param.Hold(0.001), Odds: s.WeightOdds()}
	e := engineOf(t, s, families[0], p, Config{})
	f := must.Value(e.newFit(context.Background(), conform.Memory{All: &s.Batch}))(t)
	fitted := must.Value(e.Fit(context.Background(), conform.Memory{All: &s.Batch}))(t)
	shared := 0.0
	for _, in := range fitted.Members[0].Posterior.(*posterior.SpikeSlab).Probability[4:] {
		shared += in
	}
	odds := (f.OddsA + shared) / (f.OddsB + 9 - shared)
	if got := fitted.Members[0].Model.Prior.(prior.SpikeSlab).Inclusion.Value; f.Shared != 9 || !(math.Abs(math.Log(got/(1-got)/odds)) <= 2*learnedTolerance) {
		t.Errorf("%.3f of %d candidates are in, and their odds are %v, not %v", shared, f.Shared, got/(1-got), odds)
	}
}

// TestInclusionPrior: of a Beta prior the mean counts, above ½ and below that of one candidate, too.
func TestInclusionPrior(t *testing.T) {
	s := conform.NewSelection(100, 20, 4, 0.3, 1, 0.5, false, 3)
	for _, beta := range [][2]float64{{1, 9}, {9, 1}, {1, 999}} {
		fitted := fitOf(t, s, likelihood.Gaussian{}, prior.SpikeSlab{InclusionPrior: beta}, Config{Starts: 1})
		if got, want := fitted.Report.Hyper.Of("inclusion", 0), beta[0]/(beta[0]+beta[1]); !(math.Abs(got/want-1) <= 1e-12) {
			t.Errorf("Beta%v: the inclusion is %v, and its mean %v", beta, got, want)
		}
	}
}

// TestReduced: where the search is over few weights and the rows, it ends at a minimum over all weights, which a search
// over all of them does not lower; prior odds of their own, kept columns, weighted rows and sparse columns among them.
func TestReduced(t *testing.T) {
	for _, l := range families {
		for _, sparse := range []bool{false, true} {
			s := conform.NewSelection(20, 300, 4, 0.3, 1, 0.5, sparse, 7)
			for i := range s.Target {
				if s.Weight = append(s.Weight, float64(1+i%3)); l != families[0] {
					s.Target[i] = float64(i % 2)
				}
			}
			s.Odds = make([]float64, 300)
			s.Odds[5], s.Odds[17] = 30, 0.001
			before := held(0.2, 1, 0.002)
			before.Odds = s.WeightOdds()
			if !sparse {
				s.Features = conform.Columns{Dense: 300, Intercept: true, Kept: 3}
				clear(before.Odds[:4])
			}
			f := must.Value(engineOf(t, s, l, before, Config{Tolerance: 1e-10}).newFit(context.Background(), conform.Memory{All: &s.Batch}))(t)
			starts, err := f.starts(context.Background())
			if err != nil || !f.reducible() {
				t.Fatal(err, f.reducible())
			}
			for _, start := range starts[len(starts)-3:] {
				m := &mode{weights: start}
				p, gradient, metric := f.normals(), make([]float64, 301), f.metric(f.normals(), start)
				must.Succeed(t, f.search(context.Background(), p, m, false))
				if got := f.objective(p, m.weights, gradient); got != m.objective || !m.converged {
					t.Errorf("%v: the objective is %.10g, said to be %.10g, converged %v", l, got, m.objective, m.converged)
				}
				for j, g := range gradient {
					if !(math.Abs(g) <= 1e-3*math.Sqrt(metric[j])) {
						t.Errorf("%v: the slope in weight %d, of curvature %.3g, is %.3g", l, j, metric[j], g)
					}
				}
				moved, in := slices.Clone(m.weights), 0
				result, err := lbfgs.Minimise(moved, func(w, gradient []float64) (float64, error) { return f.objective(p, w, gradient), nil },
					lbfgs.Config{Tolerance: 1e-10, Curvature: f.metric(p, m.weights)})
				if err != nil || result.F < m.objective-1e-5 {
					t.Errorf("%v: a search over all weights goes from %.10g to %.10g, %v", l, m.objective, result.F, err)
				}
				for _, w := range m.weights[1:] {
					if !(math.Abs(w) <= 0.3) {
						in++
					}
				}
				if in == 0 {
					t.Errorf("%v: nothing is in", l)
				}
			}
		}
	}
}

// TestReducedGoesOn: however soon a search may end, it does not before every weight that left its parabola was searched
// for.
func TestReducedGoesOn(t *testing.T) {
	left := 0
	for seed := range uint64(12) {
		s := conform.NewSelection(20, 300, 4, 0.3, 1, 0.5, false, seed)
		f := must.Value(engineOf(t, s, families[0], held(0.2, 1, 0.002), Config{}).newFit(context.Background(), conform.Memory{All: &s.Batch}))(t)
		for _, tolerance := range []float64{0.1, 1, 10} {
			r := f.parabolas(f.normals(), 301)
			must.Succeed(t, r.minimise(context.Background(), &mode{weights: make([]float64, 301)}, lbfgs.Config{Tolerance: tolerance, MaxIterations: 1000}))
			if left = max(left, len(r.few)); len(r.at) != len(r.few)+r.Rows {
				t.Errorf("set %d, tolerance %g: %d weights left their parabolas, %d were searched for", seed, tolerance, len(r.few), len(r.at)-r.Rows)
			}
		}
	}
	if left < 5 {
		t.Errorf("at most %d weights left their parabolas", left)
	}
}

// TestAnswersAreStored: a checkpoint has all of an answer but what is found of it at the end.
func TestAnswersAreStored(t *testing.T) {
	f := newFit(t, 20, 15, likelihood.Bernoulli{}, false, Config{})
	want := &answer{mode: &mode{some(f.Table.Count()), 4, 5, true}, steps: 6, settled: true, at: [3]float64{7, 8, 9}, kept: []float64{10, 11}, evidence: 12, rank: 13}
	if got := f.answerOf(store(want)); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v with %+v, want %+v with %+v", got, got.mode, want, want.mode)
	}
}

// TestSettles: what is learned settles in more steps than finalists are followed for.
func TestSettles(t *testing.T) {
	s := conform.NewSelection(60, 400, 12, 0, 1, 0.1, false, 5)
	fitted := fitOf(t, s, likelihood.Gaussian{}, prior.SpikeSlab{}, Config{Starts: 2})
	if fitted.Report.Status != credence.Converged {
		t.Errorf("%s: %q", fitted.Report.Status, fitted.Report.Warnings)
	}
}

// inverse returns the diagonal of H⁻¹ and log |H| by elimination, for H = XᵀWX + diag v.
func inverse(f *fit, bends []float64) (diagonal []float64, logDet float64) {
	d, n := len(bends), f.Rows
	h := make([][]float64, d)
	columns := make([][]float64, d)
	for j := range d {
		columns[j] = make([]float64, n)
		f.Column(columns[j], j)
		h[j] = make([]float64, 2*d)
		h[j][d+j] = 1
		for k := range j + 1 {
			for i, c := range f.curvature {
				h[j][k] += c * columns[j][i] * columns[k][i]
			}
			h[k][j] = h[j][k]
		}
		h[j][j] += bends[j]
	}
	for j := range d {
		logDet += math.Log(math.Abs(h[j][j]))
		for k := range d {
			if k == j {
				continue
			}
			factor := h[k][j] / h[j][j]
			for l := j; l < 2*d; l++ {
				h[k][l] -= factor * h[j][l]
			}
		}
	}
	diagonal = make([]float64, d)
	for j := range d {
		diagonal[j] = h[j][d+j] / h[j][j]
	}
	return diagonal, logDet
}

// TestVariances compares exact variances in both forms with elimination, curvatures of the prior that
// are negative among them; those of Nystrom are never smaller, and equal where the columns span all
// rows; random ones are within their errors; and the estimate of the determinant is never larger, and exact of all
// columns.
func TestVariances(t *testing.T) {
	single, several := 0.0, 0.0 // squares of what Nyström's are off, by one set of columns and by three
	defer func() {
		if !(several < 0.99*single) {
			t.Errorf("three sets of columns are off by %.4g, one by %.4g", several, single)
		}
	}()
	for _, l := range families {
		for _, size := range [][2]int{{40, 15}, {12, 30}} {
			for _, sparse := range []bool{false, true} {
				f := newFit(t, size[0], size[1], l, sparse, Config{Seed: 3, Vectors: 8})
				d := size[1] + 1
				f.loss(some(d), make([]float64, d))
				bends := make([]float64, d)
				for j := range bends {
					bends[j] = 0.5 + float64(j*7%11)
				}
				bends[3], bends[5] = -0.05, 0.001
				want, logDet := inverse(f, bends)
				m, err := f.exact(bends, 0.1)
				if err != nil || m == nil {
					t.Fatal(err, m)
				}
				for j, v := range m.variance {
					if !(math.Abs(v-want[j]) <= 1e-8*math.Abs(want[j])) {
						t.Errorf("%v %v: variance %d is %.10g, by elimination %.10g", l, size, j, v, want[j])
					}
				}
				if !(math.Abs(m.logDet-logDet) <= 1e-8*math.Abs(logDet)+1e-8) {
					t.Errorf("%v %v: log |H| is %g, by elimination %g", l, size, m.logDet, logDet)
				}
				bends[3], bends[5] = 0.1, 0.1
				want, logDet = inverse(f, bends)
				for _, most := range []int{1, d / 2, d} {
					near := must.Value(f.nearLogDet(bends, want, most))(t)
					if near > logDet+1e-8 || most == d && near < logDet-1e-8 {
						t.Errorf("%v %v: log |H| from %d columns is about %g, exactly %g", l, size, most, near, logDet)
					}
				}
				for _, columns := range []int{4, size[0]} {
					f.config.Columns, f.config.Sets = columns, 3
					m := must.Value(f.nystrom(bends))(t)
					for j, v := range m.variance {
						if v < want[j]*(1-1e-9) || columns >= min(size[0], size[1]) && v > want[j]*(1+1e-6) {
							t.Errorf("%v %v: Nyström variance %d from %d columns is %g, exactly %g", l, size, j, columns, v, want[j])
						}
					}
				}
				apart := func(sets int) (square float64) {
					f.config.Columns, f.config.Sets = 4, sets
					for j, v := range must.Value(f.nystrom(bends))(t).variance {
						square += (v - want[j]) * (v - want[j])
					}
					return square
				}
				single, several = single+apart(1), several+apart(3)
				m = f.random(bends)
				off, all := 0.0, 0.0
				for j, v := range m.variance {
					off += (v - want[j]) * (v - want[j])
					all += want[j] * want[j]
				}
				off /= all
				t.Logf("%v %v: random variances are off by %.3g, said to be by %.3g", l, size, math.Sqrt(off), m.err)
				if math.Sqrt(off) > 4*m.err+1e-6 {
					t.Errorf("%v %v: random variances are off by %.3g, said to be by %.3g", l, size, math.Sqrt(off), m.err)
				}
				f.config.Vectors = d + 1 // the range is all there is
				for j, v := range f.random(bends).variance {
					if !(math.Abs(v-want[j]) <= 1e-6*want[j]) {
						t.Errorf("%v %v: spanned, variance %d is %g, exactly %g", l, size, j, v, want[j])
					}
				}
			}
		}
	}
}

// TestKept: columns that are kept are never in the spike, and the prior variance that is learned of them is
// where their weights have it.
func TestKept(t *testing.T) {
	s := conform.NewSelection(100, 12, 4, 0.3, 1, 0.5, false, 3)
	s.Features = conform.Columns{Dense: 12, Intercept: true, Kept: 3}
	for _, method := range []Method{LBFGS, GIST} {
		e := engineOf(t, s, likelihood.Gaussian{NoiseVariance: param.Hold(0.5)}, held(0.3, 1, 0.02), Config{Method: method})
		fitted := must.Value(e.Fit(context.Background(), conform.Memory{All: &s.Batch}))(t)
		q := fitted.Members[0].Posterior.(*posterior.SpikeSlab)
		for j := 1; j < 4; j++ {
			if q.Probability[j] != 1 {
				t.Errorf("%s: kept weight %d has the inclusion %v", method, j, q.Probability[j])
			}
		}
		f := must.Value(e.newFit(context.Background(), conform.Memory{All: &s.Batch}))(t)
		mean, sd := f.Units.Centre, f.Units.Scale
		s.KeptVariance = fitted.Report.Hyper[len(fitted.Report.Hyper)-1].Value
		_, weights, _ := s.EnumerateNormals(0.3, 1, 0.02, 0.5, mean, 100*sd*sd)
		square := 0.0
		for j := range 3 {
			square += q.Mean[j+1]*q.Mean[j+1] + q.Variance[j+1]
			if !(math.Abs(q.Mean[j+1]-weights[j]) <= 0.05) {
				t.Errorf("%s: kept weight %d is %.3f, by enumeration %.3f", method, j+1, q.Mean[j+1], weights[j])
			}
		}
		_, slope, _ := f.KeptBlocks[0].Prior.At(math.Log(s.KeptVariance/f.Units.Scale/f.Units.Scale) / 2)
		if gap := square/s.KeptVariance - 3 + slope; !(math.Abs(gap) <= 0.1) {
			t.Errorf("%s: the variance %.3f is not where its slope is 0 but %.3f", method, s.KeptVariance, gap)
		}
	}
}

// TestTwoRows: where a path ends before its first start, the search begins from nothing.
func TestTwoRows(t *testing.T) {
	s := conform.NewSelection(2, 3, 1, 0, 1, 0.5, false, 2)
	for _, l := range []credence.Likelihood{likelihood.Gaussian{}, likelihood.Bernoulli{}} {
		if _, ok := l.(likelihood.Bernoulli); ok {
			s.Target[0], s.Target[1] = 0, 1
		}
		fitted := fitOf(t, s, l, prior.SpikeSlab{}, Config{Starts: 1})
		if q := fitted.Members[0].Posterior.(*posterior.SpikeSlab); !(q.Variance[1] > 0) {
			t.Errorf("%v: %v", l, q)
		}
	}
}

// TestUndecidedIsTold: gaussian rows, more than columns, are warned of where a weight may be of the spike or of the
// slab, alone.
func TestUndecidedIsTold(t *testing.T) {
	const n = 200
	rng := rand.New(rand.NewPCG(12, 3))
	for _, c := range []struct {
		weights []float64
		tell    bool
	}{{[]float64{3, 0, -4}, false}, {[]float64{0.04, 0, -4}, true}} {
		s := &conform.Selection{Weights: c.weights, Features: conform.Columns{Dense: 3, Intercept: true}}
		s.X = linop.NewDense(n, 3)
		for i := range n {
			f := 0.1 * rng.NormFloat64()
			for j, w := range c.weights {
				s.X.Row(i)[j] = rng.NormFloat64()
				f += w * s.X.Row(i)[j]
			}
			s.Target = append(s.Target, f)
		}
		fitted := fitOf(t, s, likelihood.Gaussian{NoiseVariance: param.Hold(0.01)}, held(0.1, 4, 1e-4), Config{})
		told := slices.ContainsFunc(fitted.Report.Warnings, func(w string) bool { return strings.HasPrefix(w, "one mode is not all") })
		if q := fitted.Members[0].Posterior.(*posterior.SpikeSlab); told != c.tell {
			t.Errorf("%v: warned %v with inclusions %v", c.weights, told, q.Probability)
		}
	}
}

// TestStartsAreAPath: starts are different points of the paths, each kept as it was, the first ones of fewer weights
// than the last.
func TestStartsAreAPath(t *testing.T) {
	for _, l := range families {
		f := newFit(t, 40, 60, l, false, Config{Starts: 8})
		starts := must.Value(f.starts(context.Background()))(t)
		active := func(w []float64) (n int) {
			for _, v := range w {
				if v != 0 {
					n++
				}
			}
			return n
		}
		for k := range starts[1:] {
			if slices.Equal(starts[k], starts[k+1]) {
				t.Errorf("%v: starts %d and %d of %d are the same", l, k, k+1, len(starts))
			}
		}
		if len(starts) < 4 || active(starts[0]) >= active(starts[len(starts)-1]) {
			t.Errorf("%v: %d starts, from %d weights to %d", l, len(starts), active(starts[0]), active(starts[len(starts)-1]))
		}
	}
}

// TestShifted: a constant that is added to the columns leaves f as sure as it was.
func TestShifted(t *testing.T) {
	sd := func(by float64) float64 {
		s := conform.NewSelection(200, 5, 2, 0, 1, 0.5, false, 3)
		s.Shift(by)
		return s.LatentSD(fitOf(t, s, likelihood.Gaussian{}, prior.SpikeSlab{}, Config{}).Members[0].Posterior)
	}
	want := sd(0)
	for _, by := range []float64{3, 1000} {
		if got := sd(by); !(math.Abs(got/want-1) <= 0.01) {
			t.Errorf("columns + %v: f has a standard deviation of %.4g, of %.4g as they were", by, got, want)
		}
	}
}

// TestRank: where variances are estimated and the evidence is not known, answers of different noise and slab are ranked
// as those of exact variances are: of as many columns as rows Nyström's are exact.
func TestRank(t *testing.T) {
	for seed := range uint64(10) {
		s := conform.NewSelection(60, 200, 5, 0.3, 1, 0.5, false, seed)
		var noise [2]float64
		var in [2]int
		for k, cfg := range []Config{{}, {Variances: Nystrom, Columns: 60, Sets: 1}} {
			fitted := fitOf(t, s, likelihood.Gaussian{}, prior.SpikeSlab{}, cfg)
			noise[k] = fitted.Report.Hyper.Of("noise_variance", 0)
			for _, a := range fitted.Members[0].Posterior.(*posterior.SpikeSlab).Probability[1:] {
				if a > 0.5 {
					in[k]++
				}
			}
		}
		if in[0] != in[1] || !(math.Abs(math.Log(noise[1]/noise[0])) < 0.2) {
			t.Errorf("seed %d: %d columns are in at noise %.3f, by exact variances %d at %.3f", seed, in[1], noise[1], in[0], noise[0])
		}
	}
}

// TestSpikeIsNoGuess: a spike is held or follows the slab, and none is learned from a guess.
func TestSpikeIsNoGuess(t *testing.T) {
	err := Supports(likelihood.Gaussian{}, prior.SpikeSlab{Spike: param.From(0.3)})
	if err == nil || !strings.Contains(err.Error(), "state spike=0.3, or leave it out") {
		t.Error(err)
	}
}
