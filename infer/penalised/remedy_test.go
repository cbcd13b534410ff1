package penalised_test

import (
	"context"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/penalised"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/prior"
)

// TestRemedy: where one row has a weight, a λ that is stated is not told to be stated.
func TestRemedy(t *testing.T) {
	s := conform.NewSelection(10, 3, 1, 0, 1, 0.2, false, 1)
	s.Weight = []float64{1, 0, 0, 0, 0, 0, 0, 0, 0, 0}
	e := must.Value(penalised.New(credence.Model{Features: s.Features, Likelihood: likelihood.Gaussian{}, Prior: prior.Normal{}}, penalised.Config{Name: "lasso", Alpha: 1, Lambda: 0.1}))(t)
	if _, err := e.Fit(context.Background(), conform.Memory{All: &s.Batch}); err != nil && strings.Contains(err.Error(), "state lambda") {
		t.Errorf("lambda is stated: %v", err)
	}
}
