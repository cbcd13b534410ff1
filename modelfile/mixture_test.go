package modelfile

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/prior"
)

// variational returns a fit with the given posterior of three weights.
func variational(t *testing.T, q credence.Posterior) *credence.Fitted {
	t.Helper()
	inputs := feature.Inputs{Dense: []feature.Input{{Column: credence.Column{Name: "a"}}, {Column: credence.Column{Name: "b"}}}}
	set, err := feature.New(inputs, &feature.Intercept{}, &feature.Linear{Inputs: []int{0, 1}})
	if err != nil {
		t.Fatal(err)
	}
	k, bound := 0.83, -17.5
	return &credence.Fitted{
		Members: []credence.Member{{
			Model: credence.Model{
				Features: set, Likelihood: likelihood.NegativeBinomial{Size: 1.5, Learn: true},
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
	} {
		fitted := variational(t, q)
		var file bytes.Buffer
		if err := Write(&file, fitted); err != nil {
			t.Fatal(err)
		}
		got, err := Read(bytes.NewReader(file.Bytes()), int64(file.Len()))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got.Members[0].Posterior, q) {
			t.Errorf("%T came back as %+v", q, got.Members[0].Posterior)
		}
		if !reflect.DeepEqual(got.Report, fitted.Report) {
			t.Errorf("report came back as %+v", got.Report)
		}
	}
}

func TestVariationalPosteriorsRefused(t *testing.T) {
	for _, c := range []struct {
		q    credence.Posterior
		want string
	}{
		{&posterior.Diagonal{Mean: []float64{1, 2, 3}, Variance: []float64{1, -1, 1}}, "element 1 of tensor member.0.posterior.variance is -1"},
		{&posterior.Diagonal{Mean: []float64{1, 2}, Variance: []float64{1, 1}}, "has 2 elements, not 3"},
		{&posterior.Mixture{Count: 1, Means: []float64{1, 2, 3, 4}, Variances: []float64{1, 1, 1, 1}}, "has 4 elements, not 3"},
	} {
		var file bytes.Buffer
		if err := Write(&file, variational(t, c.q)); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(bytes.NewReader(file.Bytes()), int64(file.Len())); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%T: got %v, want %q", c.q, err, c.want)
		}
	}
}
