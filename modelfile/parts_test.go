package modelfile_test

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/formula"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/modelfile"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/spec"
)

// uniform is a prior of the program's own.
type uniform struct {
	Width param.Parameter `json:"width,omitzero"`
}

func (uniform) Name() string     { return "uniform" }
func (p uniform) String() string { return "uniform(width=" + param.Number(p.Width.Value) + ")" }

func readUniform(a *spec.Arguments) prior.Named {
	return uniform{a.Setting("width", spec.Positive())}
}

// laplacian is a family of the program's own, y ~ Laplace(f, Scale) smoothed at f, whose expectations
// likelihood.Quadrature takes.
type laplacian struct {
	Scale float64 `json:"scale"`
}

func (laplacian) Name() string { return "laplacian" }
func (l laplacian) LogDensity(y, f float64) float64 {
	return -math.Hypot((y-f)/l.Scale, 1) - math.Log(2*l.Scale*0.60190723019723457)
}
func (l laplacian) Mean(f float64) float64   { return f }
func (l laplacian) Variance(float64) float64 { return 2.6994 * l.Scale * l.Scale }
func (l laplacian) Derivatives(y, f float64) (value, first, second float64) {
	u := (y - f) / l.Scale
	root := math.Hypot(u, 1)
	return l.LogDensity(y, f), u / root / l.Scale, -1 / (root * root * root * l.Scale * l.Scale)
}

func readLaplacian(a *spec.Arguments) likelihood.Named {
	return likelihood.Quadrature{Likelihood: laplacian{a.Float("scale", 1, spec.Positive())}}
}

// point is a posterior of the program's own: weights that are known.
type point struct {
	Values []float64 `json:"-" tensor:"values,d"`
}

func (*point) Kind() string    { return "point" }
func (*point) Validate() error { return nil }
func (p *point) Weights() int  { return len(p.Values) }
func (p *point) Latent(_ *credence.Workspace, mean, variance []float64, phi *credence.Design) {
	phi.MulVec(mean, p.Values)
	clear(variance)
}
func (p *point) Marginals(mean, variance []float64) {
	copy(mean, p.Values)
	clear(variance)
}

// parts are the module's and the program's: a line for each.
func parts() modelfile.Parts {
	all := modelfile.DefaultParts()
	all.Priors = append(all.Priors, prior.Entry{Zero: uniform{}, Read: readUniform})
	all.Families = append(all.Families, likelihood.Entry{Zero: likelihood.Quadrature{Likelihood: laplacian{}}, Read: readLaplacian})
	all.Posteriors = append(all.Posteriors, &point{})
	return all
}

// Parts of a program's own are read from texts, saved, loaded, and predict; a program without
// them refuses the file and the texts.
func TestPartsOfAProgram(t *testing.T) {
	family, err := formula.ParseFamily("laplacian(scale=0.5)", parts().Families)
	if err != nil {
		t.Fatal(err)
	}
	p, err := formula.ParsePrior("uniform(width=3)", parts().Priors)
	if err != nil {
		t.Fatal(err)
	}
	set, err := feature.New(feature.Inputs{Dense: []feature.Input{{Column: credence.Column{Name: "x"}}}}, &feature.Linear{Inputs: []int{0}})
	if err != nil {
		t.Fatal(err)
	}
	fitted := &credence.Fitted{Members: []credence.Member{{
		Model:     credence.Model{Features: set, Likelihood: family.Stated(), Prior: p},
		Posterior: &point{Values: []float64{2}},
	}}}
	var file bytes.Buffer
	must.Succeed(t, modelfile.Write(&file, fitted, parts()))
	again, err := modelfile.Read(bytes.NewReader(file.Bytes()), int64(file.Len()), parts())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := again.Members[0].Model.Likelihood, (likelihood.Quadrature{Likelihood: laplacian{0.5}}); !reflect.DeepEqual(got, want) {
		t.Errorf("the family came back as %#v", got)
	}
	if got := again.Members[0].Model.Prior; got != (uniform{param.Hold(3)}) {
		t.Errorf("the prior came back as %#v", got)
	}
	var batch credence.Batch
	batch.X.Reshape(1, 1)
	batch.X.Row(0)[0] = 1.5
	dist, err := again.Distribution(credence.NewWorkspace(1), &batch)
	if err != nil {
		t.Fatal(err)
	}
	if mean, variance := dist.Moments(0); mean != 3 || !(math.Abs(variance-2.6994*0.25) <= 1e-12) {
		t.Errorf("y is %v ± %v", mean, variance)
	}

	if _, err := modelfile.Read(bytes.NewReader(file.Bytes()), int64(file.Len()), modelfile.DefaultParts()); err == nil || !strings.Contains(err.Error(), `"laplacian" is unknown`) {
		t.Errorf("without the parts: %v", err)
	}
	if err := modelfile.Write(&file, fitted, modelfile.DefaultParts()); err == nil || !strings.Contains(err.Error(), "cannot be stored") {
		t.Errorf("without the parts: %v", err)
	}
	if _, err := formula.ParsePrior("uniform", prior.All()); err == nil || !strings.Contains(err.Error(), `there is no prior "uniform"`) {
		t.Errorf("without the parts: %v", err)
	}
}

// A file is read in time that is linear in the levels of its categories, of which there may be a million.
func TestManyLevels(t *testing.T) {
	const levels = 200_000
	names := make([]string, levels)
	for i := range names {
		names[i] = fmt.Sprintf("level %d", i)
	}
	inputs := feature.Inputs{Dense: []feature.Input{{Column: credence.Column{Name: "c", Kind: credence.Category, Levels: names}}}}
	set, err := feature.New(inputs, &feature.Linear{Inputs: []int{0}})
	if err != nil {
		t.Fatal(err)
	}
	q := &posterior.Diagonal{Mean: make([]float64, levels), Variance: slices.Repeat([]float64{1}, levels)}
	fitted := &credence.Fitted{Members: []credence.Member{
		{Model: credence.Model{Features: set, Likelihood: likelihood.Gaussian{}, Prior: prior.Normal{}}, Posterior: q},
		{Model: credence.Model{Features: set, Likelihood: likelihood.Gaussian{}, Prior: prior.Normal{}}, Posterior: q},
	}}
	var file bytes.Buffer
	must.Succeed(t, modelfile.Write(&file, fitted, modelfile.DefaultParts()))
	if n := bytes.Count(file.Bytes(), []byte("level 199999")); n != 1 {
		t.Errorf("the file has the last level %d times", n)
	}
	again, err := modelfile.Read(bytes.NewReader(file.Bytes()), int64(file.Len()), modelfile.DefaultParts())
	if err != nil {
		t.Fatal(err)
	}
	if got := again.Members[1].Model.Features.(*feature.Set).Inputs(); !slices.Equal(got.Dense[0].Levels, names) {
		t.Error("the levels came back as others")
	}
}
