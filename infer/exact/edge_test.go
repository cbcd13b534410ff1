package exact

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

func TestEdgesAreFitted(t *testing.T) {
	constant := randomTable(34, 30, 3, 0)
	for i := range constant.target {
		constant.target[i] = 5
	}
	zero := *constant
	zero.target = make([]float64, 30)
	scaled := func(factor float64, n int) *table {
		data := randomTable(35, n, 6, 0)
		for i := range data.target {
			data.target[i] *= factor
		}
		return data
	}
	repeated := randomTable(36, 30, 3, 0)
	for i := range 30 {
		repeated.x.Row(i)[1], repeated.x.Row(i)[2] = repeated.x.Row(i)[0], 0
	}
	noiseless := randomTable(37, 50, 3, 0)
	for i := range 50 {
		noiseless.target[i] = 3 * noiseless.x.Row(i)[1]
	}
	for name, c := range map[string]struct {
		data     *table
		features plain
		warning  string
	}{
		"constant target":              {constant, linear(3), "constant"},
		"constant, no intercept":       {constant, plain{dense: 3, sizes: []int{3}}, "constant"},
		"zero target":                  {&zero, linear(3), "constant"},
		"one row":                      {randomTable(38, 1, 3, 0), linear(3), "constant"},
		"two rows":                     {randomTable(39, 2, 3, 0), linear(3), "floor"},
		"one row, intercept":           {randomTable(40, 1, 0, 0), linear(0), "constant"},
		"intercept only":               {randomTable(41, 30, 0, 0), linear(0), ""},
		"no weights":                   {randomTable(42, 30, 0, 0), plain{}, ""},
		"equal and zero columns":       {repeated, linear(3), ""},
		"no noise":                     {noiseless, linear(3), "floor"},
		"huge targets":                 {scaled(1e300, 30), linear(6), "beyond what a number can hold"},
		"huge targets, fewer rows":     {scaled(1e300, 4), linear(6), "beyond what a number can hold"},
		"tiny targets":                 {scaled(1e-300, 30), linear(6), "beyond what a number can hold"},
		"tiny targets, fewer rows":     {scaled(1e-300, 4), linear(6), "beyond what a number can hold"},
		"huge targets after small":     {withJump(randomTable(43, 1200, 6, 0)), linear(6), ""},
		"huge targets, no weights":     {scaled(1e300, 30), plain{}, "beyond what a number can hold"},
		"ordinary, weights of nothing": {withZeroWeights(randomTable(45, 40, 6, 0)), linear(6), ""},
	} {
		for k := range 4 {
			ard, config := k%2 == 1, Config{}
			if k >= 2 {
				config = ml
			}
			f := fitted(t, model(c.features, prior.Normal{ARD: ard}, likelihood.Gaussian{}), config, c.data)
			if name == "two rows" && k < 2 {
				c.warning = "" // the noise has a prior
			} else if name == "two rows" {
				c.warning = "floor"
			}
			if math.IsNaN(*f.Report.Evidence) || math.IsInf(*f.Report.Evidence, 0) {
				t.Errorf("%s: the evidence is %v", name, *f.Report.Evidence)
			}
			for _, v := range f.Report.Hyper {
				if !(v.Value > 0) || math.IsInf(v.Value, 0) {
					t.Errorf("%s: %s is %v", name, v.Name, v.Value)
				}
			}
			all := strings.Join(f.Report.Warnings, "; ")
			if !strings.Contains(all, c.warning) || c.warning == "" && all != "" && !ard {
				t.Errorf("%s: warnings read %q, want %q", name, all, c.warning)
			}
			ws := credence.NewWorkspace(1)
			var phi credence.Design
			c.features.Transform(ws, &phi, c.data.batch())
			n := c.data.Rows()
			mean, variance := make([]float64, n), make([]float64, n)
			f.Members[0].Posterior.Latent(ws, mean, variance, &phi)
			for i := range n {
				if math.IsNaN(mean[i]) || math.IsInf(mean[i], 0) || math.IsNaN(variance[i]) || variance[i] < 0 {
					t.Fatalf("%s: f of row %d is %v with variance %v", name, i, mean[i], variance[i])
				}
			}
		}
	}
}

func withJump(t *table) *table {
	for i := 600; i < len(t.target); i++ {
		t.target[i] *= 1e120
	}
	return t
}

func withZeroWeights(t *table) *table {
	for i := range t.target {
		t.weight = append(t.weight, float64(i%2))
	}
	return t
}

// TestConstantTargetIsPredicted checks that the answer is the constant.
func TestConstantTargetIsPredicted(t *testing.T) {
	data := randomTable(46, 30, 3, 0)
	for i := range data.target {
		data.target[i] = 1e6
	}
	f := fitted(t, model(linear(3), prior.Normal{}, likelihood.Gaussian{}), Config{}, data)
	mean, variance := make([]float64, 4), make([]float64, 4)
	f.Members[0].Posterior.Marginals(mean, variance)
	// The intercept is shrunk by the floor of the noise, 1e-6 of the target's square, over n.
	near(t, "intercept", mean[0], 1e6, 1e-6)
}

func TestRefusals(t *testing.T) {
	good := model(linear(2), prior.Normal{}, likelihood.Gaussian{})
	for name, c := range map[string]struct {
		model credence.Model
		cfg   Config
		want  string
	}{
		"no features":   {credence.Model{Likelihood: good.Likelihood, Prior: good.Prior}, Config{}, "no features"},
		"no likelihood": {credence.Model{Features: good.Features, Prior: good.Prior}, Config{}, "no likelihood"},
		"no prior":      {credence.Model{Features: good.Features, Likelihood: good.Likelihood}, Config{}, "no prior"},
		"poisson":       {credence.Model{Features: good.Features, Likelihood: likelihood.Poisson{}, Prior: good.Prior}, Config{}, "likelihood.Poisson is not Gaussian"},
		"laplace":       {credence.Model{Features: good.Features, Likelihood: good.Likelihood, Prior: otherPrior{}}, Config{}, "prior laplace is not normal"},
		"starts":        {good, Config{Starts: -1}, "exact: starts cannot be -1: it must be between 1 and 1000, or left out"},
		"tolerance":     {good, Config{Tolerance: math.NaN()}, "tolerance"},
		"blocks":        {model(plain{dense: 3, sizes: []int{2}}, prior.Normal{}, likelihood.Gaussian{}), Config{}, "blocks cover 2 of 3 weights"},
		"prior variance": {model(linear(2), prior.Normal{Variance: param.Parameter{Value: -1, State: param.Held}}, likelihood.Gaussian{}),
			Config{}, "variance -1"},
	} {
		if _, err := New(c.model, c.cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: refusal reads %v, want %q", name, err, c.want)
		}
	}
	for name, c := range map[string]struct {
		change func(*table)
		want   string
	}{
		"empty":           {func(d *table) { *d = table{} }, "no rows"},
		"no target":       {func(d *table) { d.target = nil }, "no target"},
		"missing target":  {func(d *table) { d.target[3] = math.NaN() }, "row 4: target"},
		"infinite offset": {func(d *table) { d.offset = make([]float64, 20); d.offset[5] = math.Inf(1) }, "row 6: offset +Inf is not a finite number"},
		"negative weight": {func(d *table) { d.weight = make([]float64, 20); d.weight[6] = -1 }, "row 7: weight"},
		"no weight":       {func(d *table) { d.weight = make([]float64, 20) }, "weights add up to 0"},
		"infinite column": {func(d *table) { d.x.Row(2)[1] = 1e300 }, "feature column a.2"},
	} {
		data := randomTable(47, 20, 2, 0)
		c.change(data)
		e := must.Value(New(good, Config{}))(t)
		if _, err := e.Fit(context.Background(), data); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: the error reads %v, want %q", name, err, c.want)
		}
	}
}

type otherPrior struct{}

func (otherPrior) String() string { return "laplace" }

// TestRepeatedColumns checks the ladder of jitter: with next to no noise, held, A is singular to
// rounding when columns repeat each other.
func TestRepeatedColumns(t *testing.T) {
	data := randomTable(59, 200, 3, 0)
	for i := range 200 {
		data.x.Row(i)[1] = data.x.Row(i)[0]
		data.target[i] = data.x.Row(i)[0]
	}
	only := plain{dense: 3, sizes: []int{3}}
	held := prior.Normal{Variance: param.Parameter{Value: 1, State: param.Held}}
	f := fitted(t, model(only, held, likelihood.Gaussian{NoiseVariance: param.Hold(1e-18)}), Config{}, data)
	if all := strings.Join(f.Report.Warnings, "; "); !strings.Contains(all, "columns repeat each other") {
		t.Errorf("warnings read %q", all)
	}
	mean, variance := make([]float64, 3), make([]float64, 3)
	f.Members[0].Posterior.Marginals(mean, variance)
	near(t, "sum of the equal columns' weights", mean[0]+mean[1], 1, 1e-5) // ten times the largest jitter

	e, err := New(model(only, held, likelihood.Gaussian{NoiseVariance: param.Hold(1e-308)}), Config{})
	must.Succeed(t, err)
	data.x.Row(0)[0], data.x.Row(0)[1] = 1e5, 1e5 // ΦᵀΦ/σ² overflows
	_, err = e.Fit(context.Background(), data)
	if err == nil || !strings.Contains(err.Error(), "the column of a.1 (1 of 3) is lost") {
		t.Errorf("the error reads %v", err)
	}
}
