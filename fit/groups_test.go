package fit_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/table"
)

// crossed is a table of 60 rows, 6 levels of g and 4 of h, with y of an effect of each and of slopes of x by g.
func crossed(t *testing.T, class bool) credence.Source {
	t.Helper()
	var g, h []string
	var x, y []float64
	for i := range 60 {
		a, b := i%6, i*5%4
		g, h, x = append(g, string(rune('a'+a))), append(h, string(rune('p'+b))), append(x, 3+2*math.Sin(float64(7*i)))
		f := math.Cos(float64(a)) + 0.5*math.Sin(float64(3*b)) + (0.5+0.3*math.Cos(float64(5*a)))*x[i] + 0.3*math.Cos(float64(i*i))
		if class {
			f = math.Round(1 / (1 + math.Exp(2-f)))
		}
		y = append(y, f)
	}
	return must.Value(table.New().Categories("g", g).Categories("h", h).Numbers("x", x).Numbers("y", y).Source())(t)
}

// law returns the posterior of the weights of a block, and its prior variance.
func law(t *testing.T, fitted *credence.Fitted, block string) (mean, variance []float64, prior float64) {
	t.Helper()
	m := &fitted.Members[0]
	for _, b := range m.Model.Features.Blocks() {
		if b.Name == block {
			d := m.Model.Features.Weights()
			mean, variance = make([]float64, d), make([]float64, d)
			m.Posterior.Marginals(mean, variance)
			return mean[b.First : b.First+b.Count], variance[b.First : b.First+b.Count], m.Model.Prior.(credence.UnseenPrior).UnseenVariance(b)
		}
	}
	t.Fatalf("there is no block %s", block)
	return nil, nil, 0
}

// Effects of groups are the weights of onehot(g), slopes by group those of g:x, to the bit, whatever the engine.
func TestGroupsAreLevels(t *testing.T) {
	for _, c := range []struct {
		groups, levels, blocks string // blocks: one of each formula, in pairs
		family                 string
	}{
		{"y ~ x + (1|g)", "y ~ x + onehot(g)", "(1 | g)=onehot(g)", "gaussian"},
		{"y ~ (0+x|g)", "y ~ g:x", "(0 + x | g)=g:x", "gaussian"},
		{"y ~ x + (1|g/h)", "y ~ x + onehot(g) + g:h", "(1 | g)=onehot(g), (1 | g:h)=g:h", "gaussian"},
		{"y ~ x + (1|g)", "y ~ x + onehot(g)", "(1 | g)=onehot(g)", "bernoulli"},
	} {
		rows := crossed(t, c.family == "bernoulli")
		var both [2]*credence.Fitted
		for k, text := range []string{c.groups, c.levels} {
			both[k] = must.Value(fit.Table(t.Context(), rows, fit.Options{Formula: text, Family: c.family, Threads: 1}))(t)
		}
		for _, pair := range splitPairs(c.blocks) {
			mean, variance, prior := law(t, both[0], pair[0])
			otherMean, otherVariance, other := law(t, both[1], pair[1])
			if strings.Contains(c.groups, "/") { // of the combinations some are in no row, and have no weight
				mean, variance, otherMean, otherVariance = mean[:1], variance[:1], otherMean[:1], otherVariance[:1]
				if math.Abs(mean[0]-otherMean[0]) > 1e-6*math.Sqrt(variance[0]) || math.Abs(prior/other-1) > 1e-6 {
					t.Errorf("%s: %s has mean %v and prior variance %v, %v and %v", c.groups, pair[0], mean, prior, otherMean, other)
				}
				continue
			}
			if !slices.Equal(mean, otherMean) || !slices.Equal(variance, otherVariance) || prior != other {
				t.Errorf("%s: %s has means %v, %v", c.groups, pair[0], mean, otherMean)
			}
		}
	}
}

func splitPairs(text string) (pairs [][2]string) {
	for rest := text; rest != ""; {
		left, after, _ := strings.Cut(rest, "=")
		right, more, _ := strings.Cut(after, ", ")
		pairs, rest = append(pairs, [2]string{left, right}), more
	}
	return pairs
}

// Stated standard deviations are held, others begin at theirs, and the prior of the model is about neither.
func TestStatedDeviationsOfGroups(t *testing.T) {
	rows := crossed(t, false)
	run := func(formula, prior, engine string) *credence.Fitted {
		t.Helper()
		return must.Value(fit.Table(t.Context(), rows, fit.Options{Formula: formula, Prior: prior, Engine: engine, Threads: 1}))(t)
	}
	for _, engine := range []string{"exact", "svi(covariance=full)", "laplace"} {
		if _, _, v := law(t, run("y ~ x + (1|g, sd=0.5)", "", engine), "(1 | g)"); math.Abs(v-0.25) > 1e-12 {
			t.Errorf("%s: the held prior variance is %v", engine, v)
		}
		fitted := run("y ~ x + (1|g)", "normal(variance=3)", engine)
		if _, _, v := law(t, fitted, "linear"); v != 3 {
			t.Errorf("%s: the stated prior variance is %v", engine, v)
		}
		_, _, v := law(t, fitted, "(1 | g)")
		if v == 3 || !(v > 0.05 && v < 5) {
			t.Errorf("%s: the prior variance of groups is %v", engine, v)
		}
		if _, _, begun := law(t, run("y ~ x + (1|g, sd=~0.1)", "normal(variance=3)", engine), "(1 | g)"); math.Abs(begun/v-1) > 0.02 {
			t.Errorf("%s: begun elsewhere the prior variance of groups is %v, and %v", engine, begun, v)
		}
		ard := run("y ~ x + (1|g)", "normal(ard=true)", engine).Members[0].Model.Prior.(prior.Normal).Variances
		if ard[2] != ard[7] {
			t.Errorf("%s: under ard groups have prior variances %v", engine, ard)
		}
	}
	held := run("y ~ x + (1|g, sd=0.5)", "", "exact")
	onehot := run("y ~ x + onehot(g)", "normal(variance=0.25)", "exact")
	mean, _, _ := law(t, held, "(1 | g)")
	other, _, _ := law(t, onehot, "onehot(g)")
	if math.Abs(mean[0]-other[0]) > 0.02 {
		t.Errorf("held at 0.5 the first effect is %v, and by the prior %v", mean[0], other[0])
	}
}

// What fits no effects of groups is refused before any row is read.
func TestGroupsAreRefused(t *testing.T) {
	use := "use --engine exact for the family gaussian and --engine 'svi(covariance=full)' for others, or write onehot(g)"
	for _, engine := range []string{"convex", "svi", "svi(batch=8)", "lasso", "ridge"} {
		_, err := fit.New(fit.Options{Formula: "y ~ x + (1|g)", Engine: engine})
		if err == nil || !strings.HasSuffix(err.Error(), "does not fit effects of groups, (1 | g): "+use) {
			t.Errorf("%s: %v", engine, err)
		}
	}
	for _, engine := range []string{"ep", "gibbs", "sep", "laplace"} {
		_, err := fit.New(fit.Options{Formula: "y ~ x + (1|g)", Prior: "spikeslab", Engine: engine, Family: "bernoulli(link=probit)"})
		if err == nil || !strings.Contains(err.Error(), "effects of groups, (1 | g), are normal") || !strings.HasSuffix(err.Error(), use) {
			t.Errorf("%s: %v", engine, err)
		}
	}
	if _, err := fit.New(fit.Options{Formula: "y ~ (1|g:h)", Engine: "convex"}); err == nil || !strings.HasSuffix(err.Error(), "or write g:h") {
		t.Error(err)
	}
}

// A group that training did not have, or none, is drawn from the law of groups, and counted; --unseen error refuses it.
func TestUnseenGroups(t *testing.T) {
	rows := crossed(t, false)
	for _, c := range []struct {
		unseen, asked string
		refused       string
	}{
		{"", "", ""}, {"prior", "", ""}, {"error", "", `level "new" was not seen`}, {"", "error", `level "new" was not seen`}, {"error", "prior", ""},
	} {
		fitted := must.Value(fit.Table(t.Context(), rows, fit.Options{Formula: "y ~ x + (1|g)", Unseen: frame.Unseen(c.unseen), Threads: 1}))(t)
		_, _, variance := law(t, fitted, "(1 | g)")
		fresh := must.Value(table.New().Categories("g", []string{"a", "new", ""}).Numbers("x", []float64{3, 3, 3}).Source())(t)
		scored := must.Value(must.Value(score.New(fitted, score.Options{Unseen: frame.Unseen(c.asked)}))(t).Table(fresh, score.IgnoreTargets))(t)
		var sd []float64
		err := scored.Each(t.Context(), func(rows *score.Rows) error {
			for i := range rows.Len() {
				_, v := rows.Latent(i)
				sd = append(sd, v)
			}
			return nil
		})
		if c.refused != "" {
			if err == nil || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("unseen %q, asked %q: %v", c.unseen, c.asked, err)
			}
			continue
		}
		if err != nil || sd[1] != sd[2] || sd[1] < variance || sd[0] > sd[1]/2 || scored.Counts().UnseenLevels != 2 {
			t.Errorf("unseen %q, asked %q: variances %v under a law of %v, %d counted, %v", c.unseen, c.asked, sd, variance, scored.Counts().UnseenLevels, err)
		}
	}
}
