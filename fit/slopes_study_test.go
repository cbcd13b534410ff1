package fit_test

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/internal/study"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/table"
)

// slopesTruth is what rows of groups with a level and a slope each are drawn from.
type slopesTruth struct{ intercept, slope, level, rise, correlation float64 }

// slopesSet is a drawn set, the effects of its first group, and f of a group that is not in it at x = 1.
type slopesSet struct {
	slopesTruth
	levels       bool // groups have no slopes of their own
	groups       []string
	x, y         []float64
	first, fresh float64
}

// drawSlopes draws rows of x of mean 0 and standard deviation 1, so that what enters the fit is x itself; nil where a
// mean is beyond numbers.
func drawSlopes(rng *rand.Rand, truth slopesTruth, groups, each int, family likelihood.Sampler) *slopesSet {
	s := &slopesSet{slopesTruth: truth, levels: truth.rise == 0}
	mean, square, n := 0.0, 0.0, float64(groups*each)
	for range groups * each {
		s.x = append(s.x, rng.NormFloat64())
		mean += s.x[len(s.x)-1] / n
	}
	for i := range s.x {
		s.x[i] -= mean
		square += s.x[i] * s.x[i] / n
	}
	effects := func() (a, b float64) {
		u, v := rng.NormFloat64(), rng.NormFloat64()
		return truth.level * u, truth.rise * (truth.correlation*u + math.Sqrt(1-truth.correlation*truth.correlation)*v)
	}
	for g := range groups {
		a, b := effects()
		if g == 0 {
			s.first = a
		}
		for i := range each {
			row := g*each + i
			s.x[row] /= math.Sqrt(square)
			f := truth.intercept + truth.slope*s.x[row] + a + b*s.x[row]
			if f > mostLatent {
				return nil
			}
			s.groups, s.y = append(s.groups, fmt.Sprint("g", g)), append(s.y, family.Sample(rng, f))
		}
	}
	a, b := effects()
	s.fresh = truth.intercept + truth.slope + a + b
	return s
}

// mostLatent is what f is at most: draws from the priors overflow.
const mostLatent = 40

// answer is a posterior of one number: its mean, standard deviation, 90 % interval, and where the truth lies in it.
type slopesAnswer struct {
	mean, sd, z, rank float64
	held              bool
}

// fit returns where the truths lie in their posteriors.
func (s *slopesSet) fit(t *testing.T, family string, rng *rand.Rand) map[string]slopesAnswer {
	rows := must.Value(table.New().Categories("g", s.groups).Numbers("x", s.x).Numbers("y", s.y).Source())(t)
	formula := "y ~ x + (1 + x | g)"
	if s.levels {
		formula = "y ~ x + (1 | g)"
	}
	fitted := must.Value(fit.Table(t.Context(), rows, fit.Options{Formula: formula, Family: family, Threads: 1}))(t)
	df := 0.0
	if q, ok := fitted.Members[0].Posterior.(credence.LatentDF); ok {
		df = q.LatentDF()
	}
	out := map[string]slopesAnswer{}
	add := func(what string, truth, mean, sd, df float64) {
		a := slopesAnswer{mean: mean, sd: sd, z: (truth - mean) / sd}
		a.rank = special.NormalCDF(a.z)
		if df > 0 {
			a.rank = distuv.StudentsT{Sigma: 1, Nu: df}.CDF(a.z * math.Sqrt(df/(df-2)))
		}
		a.held = math.Abs(a.rank-0.5) <= 0.45
		out[what] = a
	}
	for _, term := range must.Value(score.Terms(fitted, score.TermOptions{}))(t) {
		switch term.Name {
		case "(intercept)":
			add("intercept", s.intercept, term.Mean, float64(term.SD), df)
		case "x":
			add("slope", s.slope, term.Mean, float64(term.SD), df)
		case "g=g0":
			add("effect of a group", s.first, term.Mean, float64(term.SD), df)
		}
	}
	unseen := must.Value(table.New().Categories("g", []string{"new"}).Numbers("x", []float64{1}).Source())(t)
	scored := must.Value(must.Value(score.New(fitted, score.Options{}))(t).Table(unseen, score.IgnoreTargets))(t)
	must.Succeed(t, scored.Each(t.Context(), func(rows *score.Rows) error {
		mean, variance := rows.Latent(0)
		add("f of a new group", s.fresh, mean, math.Sqrt(variance), df)
		return nil
	}))
	// Ranks of standard deviations and correlations, whose laws are not normal, are told by their tenths.
	below := [3]float64{}
	truths := [3]float64{s.level, s.rise, s.correlation}
	deviations := func(share float64) []score.Deviation {
		g := score.GroupsOf(fitted, share).Groups[0]
		return slices.Concat(g.SD, g.Correlations)
	}
	for _, share := range []float64{0.8, 0.6, 0.4, 0.2, 1e-9} {
		for k, d := range deviations(share) {
			if truths[k] > float64(d.Lower) {
				below[k]++
			}
			if truths[k] > float64(d.Upper) && share > 0.1 {
				below[k]++
			}
		}
	}
	for k, d := range deviations(0.9) {
		out[slopesQuantities[len(slopesQuantities)-3+k]] = slopesAnswer{
			rank: (below[k] + rng.Float64()) / 10, held: truths[k] >= float64(d.Lower) && truths[k] <= float64(d.Upper),
		}
	}
	return out
}

var slopesQuantities = []string{"intercept", "slope", "effect of a group", "f of a new group", "sd", "sd of slopes", "correlation"}

// TestSlopesCoverage: of few groups with a level and a slope each, of standard deviations .7 and .4 and correlation .3,
// 90 % intervals hold the fixed effects, the standard deviations and the correlation.
func TestSlopesCoverage(t *testing.T) {
	study.OnlyCalibration(t)
	const sets = 1000
	for _, c := range [][2]int{{6, 5}, {10, 5}, {18, 10}} {
		t.Run(fmt.Sprintf("%d × %d", c[0], c[1]), func(t *testing.T) {
			held := map[string]float64{}
			for set := range uint64(sets) {
				rng := rand.New(rand.NewPCG(study.Seed(330)+set, uint64(c[0])))
				s := drawSlopes(rng, slopesTruth{0.3, 0.5, 0.7, 0.4, 0.3}, c[0], c[1], likelihood.Gaussian{NoiseVariance: param.Hold(1)})
				for what, a := range s.fit(t, "gaussian", rng) {
					if a.held {
						held[what] += 1.0 / sets
					}
				}
			}
			least := map[string]float64{"intercept": 0.87, "slope": 0.87, "sd": 0.86, "sd of slopes": 0.86, "correlation": 0.86}
			for _, what := range slopesQuantities {
				t.Logf("%s %.3f", what, held[what])
				if held[what] < least[what]-2*math.Sqrt(0.09/sets) {
					t.Errorf("%s is held %.3f times, want %.2f", what, held[what], least[what])
				}
			}
		})
	}
}

// TestSlopesRanks draws everything from its priors: intercept, slope, noise, standard deviations and correlation. What
// priors take from the data, the standard deviation of the target under gaussian and where the intercept is under
// others, is the same for all sets that are kept, which are chosen by their targets alone: posteriors stay
// right.
func TestSlopesRanks(t *testing.T) {
	study.OnlyCalibration(t)
	for _, family := range []likelihood.Family{likelihood.Gaussian{}, likelihood.Poisson{}, likelihood.Bernoulli{}} {
		for _, c := range [][2]int{{8, 6}, {20, 10}} {
			slopesRanks(t, family, c[0], c[1], false)
		}
	}
}

// TestFewRowsRanks does so of groups of few rows, with a level each, whose evidence is corrected by quadrature.
func TestFewRowsRanks(t *testing.T) {
	study.OnlyCalibration(t)
	slopesRanks(t, likelihood.Bernoulli{}, 100, 3, true)
	slopesRanks(t, likelihood.Poisson{}, 100, 2, true)
}

func slopesRanks(t *testing.T, family likelihood.Family, groups, each int, levels bool) {
	const sets = 400
	name, _, _ := strings.Cut(fmt.Sprint(family), "(")
	t.Run(fmt.Sprintf("%s, %d × %d", name, groups, each), func(t *testing.T) {
		var ranks conform.Ranks
		squares, held, worst := map[string]float64{}, map[string]float64{}, map[string]float64{}
		for set := range uint64(sets) {
			rng := rand.New(rand.NewPCG(study.Seed(331)+set, uint64(100*groups+each)))
			var s *slopesSet
			for s == nil || !s.kept(family) {
				truth, family := drawTruth(rng, family)
				if levels {
					truth.rise, truth.correlation = 0, 0
				}
				s = drawSlopes(rng, truth, groups, each, family)
			}
			for what, a := range s.fit(t, name, rng) {
				squares[what] += a.z * a.z / sets
				worst[what] = max(worst[what], math.Abs(a.z))
				ranks.Add(what, a.rank)
				if a.held {
					held[what] += 1.0 / sets
				}
			}
		}
		for _, what := range slopesQuantities {
			if levels && (what == "sd of slopes" || what == "correlation") {
				continue
			}
			t.Logf("%s: z SD %.3f (largest %.1f), coverage %.3f", what, math.Sqrt(squares[what]), worst[what], held[what])
			if held[what] < 0.87-2*math.Sqrt(0.09/sets) {
				t.Errorf("%s is held %.3f times", what, held[what])
			}
		}
		if _, exact := family.(likelihood.Gaussian); !exact { // docs/groups.md says where they are uneven
			ranks.Tell(t)
			return
		}
		ranks.Check(t)
	})
}

// kept says whether a set has the scale that its priors were drawn at: a target of standard deviation 1, counts of
// which each group has some, and groups of few rows a third of one, or both classes.
func (s *slopesSet) kept(family likelihood.Family) bool {
	mean, variance := stat.PopMeanVariance(s.y, nil)
	switch family.(type) {
	case likelihood.Gaussian:
		return math.Abs(math.Sqrt(variance)-1) < 0.1
	case likelihood.Poisson:
		if s.levels {
			return mean > 0.3 && mean < 20
		}
		total := map[string]float64{}
		for i, g := range s.groups {
			total[g] += s.y[i]
		}
		return mean < 20 && slices.Min(slices.Collect(maps.Values(total))) > 0
	}
	return mean > 0.1 && mean < 0.9
}

// drawTruth draws from the priors, the intercept evenly over all that could be kept.
func drawTruth(rng *rand.Rand, family likelihood.Family) (out slopesTruth, drawn likelihood.Sampler) {
	scale := cmp.Or(likelihood.LatentScale(family), 1)
	deviation := func() float64 {
		v := distuv.Beta{Alpha: 1, Beta: likelihood.PriorTail(family), Src: rng}.Rand()
		return scale * math.Sqrt(v/(1-v))
	}
	out.slope, out.level, out.rise = deviation()*rng.NormFloat64(), deviation(), deviation()
	out.correlation = 2*distuv.Beta{Alpha: 2, Beta: 2, Src: rng}.Rand() - 1
	if _, normal := family.(likelihood.Gaussian); normal {
		noise := math.Tan(math.Pi / 2 * rng.Float64())
		return out, likelihood.Gaussian{NoiseVariance: param.Hold(noise * noise)}
	}
	out.intercept = 40*rng.Float64() - 20
	return out, family.(likelihood.Sampler)
}

// weightedDraws returns mean and standard deviation of the fixed effects of a gaussian set by importance sampling over
// noise, standard deviations and correlation, from the closed form of the marginal density of y and the priors that
// doc.go of infer/exact states: 4,000 draws from the priors, then twice 4,000 from a Student-t of their weighted
// moments.
// size is what the last ones count for.
func (s *slopesSet) weightedDraws(rng *rand.Rand) (mean, sd [2]float64, size float64) {
	n, unit := len(s.y), 0.0
	centre, variance := stat.PopMeanVariance(s.y, nil)
	unit = math.Sqrt(variance)
	priors := []hyper.Prior{hyper.HalfCauchy(unit), hyper.BetaPrime{A: 1, B: 0.5, Scale: unit}, hyper.BetaPrime{A: 1, B: 0.5, Scale: unit}, hyper.BetaPrime{A: 1, B: 0.5, Scale: unit}, hyper.LKJ(2, 0)}
	v, chol := mat.NewSymDense(n, nil), new(mat.Cholesky)
	y, columns := mat.NewVecDense(n, nil), mat.NewDense(n, 2, nil)
	for i := range n {
		y.SetVec(i, s.y[i]-centre)
		columns.SetRow(i, []float64{1, s.x[i]})
	}
	// at returns the log density at logarithms of standard deviations, and half that of the odds of the correlation.
	at := func(theta []float64) (value float64, mean, variance [2]float64) {
		for k, p := range priors {
			density, _, _ := p.At(theta[k])
			value += density
		}
		noise, slope := math.Exp(2*theta[0]), math.Exp(2*theta[1])
		level, rise, rho := math.Exp(theta[2]), math.Exp(theta[3]), math.Tanh(theta[4])
		for i := range n {
			for j := range i + 1 {
				c := 100*unit*unit + slope*s.x[i]*s.x[j]
				if s.groups[i] == s.groups[j] {
					c += level*level + rho*level*rise*(s.x[i]+s.x[j]) + rise*rise*s.x[i]*s.x[j]
				}
				if i == j {
					c += noise
				}
				v.SetSym(i, j, c)
			}
		}
		if !chol.Factorize(v) {
			return math.Inf(-1), mean, variance
		}
		var solved mat.VecDense
		var sides, inner mat.Dense
		if chol.SolveVecTo(&solved, y) != nil || chol.SolveTo(&sides, columns) != nil {
			return math.Inf(-1), mean, variance
		}
		inner.Mul(columns.T(), &sides)
		for k, prior := range []float64{100 * unit * unit, slope} {
			mean[k] = prior * mat.Dot(columns.ColView(k), &solved)
			variance[k] = prior - prior*prior*inner.At(k, k)
		}
		return value - (chol.LogDet()+mat.Dot(y, &solved))/2, mean, variance
	}
	const draws, df = 4000, 5
	var middle, root []float64 // of the proposal, nil at first
	for range 3 {
		thetas, weights, moments := mat.NewDense(draws, 5, nil), make([]float64, draws), make([][4]float64, draws)
		for i := range draws {
			theta, log := thetas.RawRowView(i), 0.0
			if root != nil {
				var z [5]float64
				square := 0.0
				for k := range z {
					z[k] = rng.NormFloat64()
					square += z[k] * z[k]
				}
				tail := distuv.ChiSquared{K: df, Src: rng}.Rand() / df
				for k := range z {
					theta[k] = middle[k] + floats.Dot(root[5*k:5*k+k+1], z[:k+1])/math.Sqrt(tail)
				}
				log = -(df + 5.0) / 2 * math.Log(1+square/tail/df)
			} else {
				for k, p := range priors {
					b := p.(hyper.BetaPrime)
					u := distuv.Beta{Alpha: b.A, Beta: b.B, Src: rng}.Rand()
					theta[k] = math.Log(b.Scale) + math.Log(u/(1-u))/2
					density, _, _ := p.At(theta[k])
					log += density
				}
			}
			value, m, w := at(theta)
			weights[i], moments[i] = value-log, [4]float64{m[0], m[1], w[0], w[1]}
		}
		most, total, squares := slices.Max(weights), 0.0, 0.0
		for i, w := range weights {
			weights[i] = math.Exp(w - most)
			total += weights[i]
		}
		mean, sd = [2]float64{}, [2]float64{}
		for i := range weights {
			weights[i] /= total
			squares += weights[i] * weights[i]
			for k := range 2 {
				mean[k] += weights[i] * moments[i][k]
				sd[k] += weights[i] * (moments[i][2+k] + moments[i][k]*moments[i][k])
			}
		}
		for k := range 2 {
			sd[k] = math.Sqrt(sd[k] - mean[k]*mean[k])
		}
		size = 1 / squares
		middle = make([]float64, 5)
		for i, w := range weights {
			floats.AddScaled(middle, w, thetas.RawRowView(i))
		}
		spread := mat.NewSymDense(5, nil)
		for i, w := range weights {
			away := mat.NewVecDense(5, nil)
			away.SubVec(thetas.RowView(i), mat.NewVecDense(5, middle))
			spread.SymRankOne(spread, w, away)
		}
		for k := range 5 {
			spread.SetSym(k, k, 1.1*spread.At(k, k)+0.01)
		}
		var lower mat.TriDense
		var of mat.Cholesky
		of.Factorize(spread)
		of.LTo(&lower)
		root = mat.DenseCopyOf(&lower).RawMatrix().Data
	}
	mean[0] += centre
	return mean, sd, size
}

// TestSlopesWeighted: standard deviations of the fixed effects beside those of weighted draws.
func TestSlopesWeighted(t *testing.T) {
	study.OnlyCalibration(t)
	const sets = 60
	for _, c := range [][2]int{{6, 5}, {10, 5}, {8, 6}} {
		t.Run(fmt.Sprintf("%d × %d", c[0], c[1]), func(t *testing.T) {
			var ratios [2][]float64
			var off, short []float64
			for set := range uint64(sets) {
				rng := rand.New(rand.NewPCG(study.Seed(332)+set, uint64(c[0])))
				truth, family := slopesTruth{0, 0.5, 0.7, 0.4, 0.3}, likelihood.Sampler(likelihood.Gaussian{NoiseVariance: param.Hold(1)})
				var s *slopesSet
				for s == nil || c[0] == 8 && !s.kept(likelihood.Gaussian{}) {
					if c[0] == 8 {
						truth, family = drawTruth(rng, likelihood.Gaussian{})
					}
					s = drawSlopes(rng, truth, c[0], c[1], family)
				}
				answers := s.fit(t, "gaussian", rng)
				mean, sd, size := s.weightedDraws(rng)
				short = append(short, size)
				for k, what := range []string{"intercept", "slope"} {
					ratios[k] = append(ratios[k], answers[what].sd/sd[k])
					off = append(off, math.Abs(answers[what].mean-mean[k])/sd[k])
				}
			}
			slices.Sort(short)
			slices.Sort(off)
			for k, what := range []string{"intercept", "slope"} {
				slices.Sort(ratios[k])
				t.Logf("sd of the %s ÷ that of weighted draws: median %.3f, tenths %.3f to %.3f; at least %.0f draws count; means off %.3f SD in the median, %.3f at most",
					what, ratios[k][sets/2], ratios[k][sets/10], ratios[k][sets*9/10], short[0], off[sets], off[2*sets-1])
				if !(math.Abs(ratios[k][sets/2]-1) <= 0.05) {
					t.Errorf("in the median %.3f", ratios[k][sets/2])
				}
			}
		})
	}
}
