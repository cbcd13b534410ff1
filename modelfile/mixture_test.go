package modelfile

import (
	"bytes"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/safetensors"
)

// variational returns a fit with the given posterior of three weights.
func variational(t *testing.T, q credence.Posterior) *credence.Fitted {
	t.Helper()
	inputs := feature.Inputs{Dense: []feature.Input{{Column: credence.Column{Name: "a"}}, {Column: credence.Column{Name: "b"}}}}
	set := must.Value(feature.New(inputs, &feature.Intercept{}, &feature.Linear{Inputs: []int{0, 1}}))(t)
	k, bound := 0.83, -17.5
	return &credence.Fitted{
		Members: []credence.Member{{
			Model: credence.Model{
				Features: set, Likelihood: likelihood.NegativeBinomial{Size: param.From(1.5)},
				Prior: prior.Normal{Variances: []float64{100, 0.5, 0.5}},
			},
			Posterior: q,
		}},
		Report: credence.Report{Engine: "svi", Status: credence.Converged, ParetoK: &k, ELBOBound: &bound},
	}
}

func TestVariationalPosteriors(t *testing.T) {
	for _, q := range []credence.Posterior{
		&posterior.Diagonal{Mean: []float64{1, -2, 0.5}, Variance: []float64{0.1, 2, 1e-300}},
		&posterior.Mixture{Count: 2, Means: []float64{1, 2, 3, 4, 5, 6}, Variances: []float64{1, 0.5, 0.25, 4, 3, 2}},
		&posterior.Full{Mean: []float64{1, 2, 3}, Factor: []float64{1, 2, 3, 0, 4, 5, 0, 0, 6}, Probability: []float64{1, 0.5, 0}, DF: 5},
		&posterior.Draws{Count: 2, Values: []float64{1, 2, 3, 4, 5, 6}, Probability: []float64{1, 0.5, 0.25}},
		&posterior.Draws{Count: 1, Values: []float64{1, 2, 3}},
		&posterior.Draws{Count: 2, Values: []float64{1, 2, 3, 4, 5, 6}, Mean: []float64{7, 8, 9}},
	} {
		fitted := variational(t, q)
		var file bytes.Buffer
		must.Succeed(t, Write(&file, fitted, DefaultParts()))
		got := must.Value(Read(bytes.NewReader(file.Bytes()), int64(file.Len()), DefaultParts()))(t)
		if !reflect.DeepEqual(got.Members[0].Posterior, q) {
			t.Errorf("%T came back as %+v", q, got.Members[0].Posterior)
		}
		if !reflect.DeepEqual(got.Report, fitted.Report) {
			t.Errorf("report came back as %+v", got.Report)
		}
	}
}

// family is a posterior of a size and three weights along two axes.
func family() *credence.FamilyPosterior {
	return &credence.FamilyPosterior{
		Coordinates: []credence.Coordinate{{Name: "size", Power: 1}}, Mode: []float64{0.3}, Root: []float64{0.5, -0.25},
		Slopes: []float64{1, 2, 3, 4, 5, 6}, Widths: []float64{7, 8}, Nodes: []float64{-1, 0.5, 1}, Gains: []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6},
	}
}

// The posterior of the parameters of a family comes back as it is, with gains and without; what is none is refused both
// ways, and a file without one has none.
func TestFamilyPosterior(t *testing.T) {
	written := func(f *credence.FamilyPosterior) (map[string]string, []safetensors.Tensor) {
		fitted := variational(t, &posterior.Diagonal{Mean: []float64{1, -2, 0.5}, Variance: []float64{0.1, 2, 1}})
		fitted.Family = f
		metadata, tensors, err := encode(fitted, DefaultParts())
		if err != nil {
			t.Fatal(err)
		}
		return metadata, tensors
	}
	read := func(metadata map[string]string, tensors []safetensors.Tensor) (*credence.Fitted, error) {
		var file bytes.Buffer
		must.Succeed(t, safetensors.Write(&file, metadata, tensors))
		return Read(bytes.NewReader(file.Bytes()), int64(file.Len()), DefaultParts())
	}
	normal := family()
	normal.Nodes, normal.Gains = nil, nil
	for _, f := range []*credence.FamilyPosterior{family(), normal, nil} {
		got := must.Value(read(written(f)))(t)
		if !reflect.DeepEqual(got.Family, f) {
			t.Errorf("%+v came back as %+v", f, got.Family)
		}
	}
	for _, c := range []struct {
		tensor safetensors.Tensor
		want   string
	}{
		{safetensors.Of("family.slopes", []float64{1, 2, 3, 4}, 2, 2), "has 2 elements, not 3, in dimension 1"},
		{safetensors.Of("family.root", []float64{1, 2, 3}, 1, 3), "tensor family.slopes has 2 elements, not 3, in dimension 2"},
		{safetensors.Of("family.mode", []float64{1, 2}, 2), "tensor family.root has 1 elements, not 2, in dimension 1"},
		{safetensors.Of("family.nodes", []float64{1, 0.5, -1}, 3), "node 2 of an axis"},
		{safetensors.Of("family.widths", []float64{math.NaN(), 1}, 2), "element 0 of tensor family.widths is NaN"},
	} {
		metadata, tensors := written(family())
		for i := range tensors {
			if tensors[i].Name == c.tensor.Name {
				tensors[i] = c.tensor
			}
		}
		if _, err := read(metadata, tensors); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %v, want %q", c.tensor.Name, err, c.want)
		}
	}
	bad := variational(t, &posterior.Diagonal{Mean: []float64{1, -2, 0.5}, Variance: []float64{0.1, 2, 1}})
	bad.Family = family()
	bad.Family.Root = nil
	if err := Write(io.Discard, bad, DefaultParts()); err == nil || !strings.Contains(err.Error(), "posterior of the family") {
		t.Error(err)
	}
}

func TestVariationalPosteriorsRefused(t *testing.T) {
	for _, c := range []struct {
		q    credence.Posterior
		want string
	}{
		{&posterior.Diagonal{Mean: []float64{1, 2, 3}, Variance: []float64{1, -1, 1}}, "weight 1 has variance -1"},
		{&posterior.Diagonal{Mean: []float64{1, 2}, Variance: []float64{1, 1}}, "has 2 elements, which are not d where d = 3"},
		{&posterior.Mixture{Count: 1, Means: []float64{1, 2, 3, 4}, Variances: []float64{1, 1, 1, 1}}, "has 4 elements, which are not K×d where d = 3"},
		{&posterior.Mixture{Count: 0, Means: []float64{1, 2, 3}, Variances: []float64{1, 1, 1}}, "3 means in 0 components"},
		{&posterior.Full{Mean: []float64{1, 2, 3}, Factor: []float64{1}}, "a covariance factor of 1 numbers for 3 weights"},
	} {
		if err := Write(io.Discard, variational(t, c.q), DefaultParts()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%T: got %v, want %q", c.q, err, c.want)
		}
	}
}

// A file may have been written by another program: its tensors are checked when they are read.
func TestPosteriorsReadAreChecked(t *testing.T) {
	for _, c := range []struct {
		tensor safetensors.Tensor
		want   string
	}{
		{safetensors.Of("member.0.posterior.variances", []float64{1, 1, 1, 1, -1, 1}, 2, 3), "weight 4 has variance -1"},
		{safetensors.Of("member.0.posterior.variances", []float64{1, 1, 1}, 1, 3), "has 1 elements, not 2, in dimension 1"},
		{safetensors.Of("member.0.posterior.means", []float64{1, 2, 3, 4}, 2, 2), "has 2 elements, not 3, in dimension 2"},
		{safetensors.Of("member.0.posterior.means", []float64{1, 2, 3}), "has 1 dimensions, not 2"},
		{safetensors.Of("member.0.posterior.means", []float64{1, 2, 3, math.Inf(1), 1, 1}, 2, 3), "element 3 of tensor member.0.posterior.means is +Inf"},
	} {
		q := &posterior.Mixture{Count: 2, Means: []float64{1, 2, 3, 4, 5, 6}, Variances: []float64{1, 0.5, 0.25, 4, 3, 2}}
		metadata, tensors, err := encode(variational(t, q), DefaultParts())
		if err != nil {
			t.Fatal(err)
		}
		for i := range tensors {
			if tensors[i].Name == c.tensor.Name {
				tensors[i] = c.tensor
			}
		}
		var file bytes.Buffer
		must.Succeed(t, safetensors.Write(&file, metadata, tensors))
		if _, err := Read(bytes.NewReader(file.Bytes()), int64(file.Len()), DefaultParts()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %v, want %q", c.tensor.Name, err, c.want)
		}
	}
}
