package prior

import (
	"math"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/param"
)

func TestNormalText(t *testing.T) {
	for _, c := range []struct {
		prior Normal
		want  string
	}{
		{Normal{}, "normal"},
		{Normal{Variance: param.Parameter{Value: 1, State: param.Held}}, "normal(variance=1)"},
		{Normal{Variance: param.Parameter{Value: 0.1, State: param.Guess}}, "normal(variance=~0.1)"},
		{Normal{ARD: true}, "normal(ard=true)"},
		{Normal{Variance: param.Parameter{Value: 1e-20, State: param.Guess}, ARD: true}, "normal(variance=~1e-20, ard=true)"},
		{Normal{Variances: []float64{1, 2}}, "normal"}, // learned values are no part of the statement
	} {
		if got := c.prior.String(); got != c.want {
			t.Errorf("%+v reads %q, want %q", c.prior, got, c.want)
		}
	}
}

func TestNormalRefusals(t *testing.T) {
	for _, c := range []struct {
		prior Normal
		want  string
	}{
		{Normal{}, ""},
		{Normal{ARD: true}, ""},
		{Normal{Variance: param.Parameter{Value: 0, State: param.Held}}, "variance 0 is not a positive number"},
		{Normal{Variance: param.Parameter{Value: -1, State: param.Guess}}, "variance -1 is not a positive number"},
		{Normal{Variance: param.Parameter{Value: 2, State: param.Held}, ARD: true}, "leave out one of them"},
	} {
		err := c.prior.Validate()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: refusal reads %v, want %q", c.prior, err, c.want)
		}
	}
}

// TestUnseenForm: two terms of two columns have correlations of their own: 4 + 1 + 2·0.5·2·1, and 9 + 1 − 2·0.3·3·1.
func TestUnseenForm(t *testing.T) {
	p := Normal{Variances: []float64{4, 1, 4, 1, 9, 1}, Correlations: []Correlation{{First: 0, Values: []float64{0.5}}, {First: 4, Values: []float64{-0.3}}}}
	for first, want := range map[int]float64{0: 7, 4: 8.2} {
		if got := p.UnseenForm(credence.Block{First: first, Count: 2}, []float64{1, 1}); !(math.Abs(got-want) <= 1e-12) {
			t.Errorf("from weight %d on: %v, want %v", first, got, want)
		}
	}
	// a block that ends with the last variance has a form, and one behind it none that is known
	if got := p.UnseenForm(credence.Block{First: 5, Count: 1}, []float64{2}); got != 4 {
		t.Errorf("of the last weight: %v, want 4", got)
	}
	if got := p.UnseenForm(credence.Block{First: 5, Count: 2}, []float64{2, 1}); got != 0 {
		t.Errorf("of weights beyond the last: %v, want 0", got)
	}
}
