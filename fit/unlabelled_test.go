package fit_test

import (
	"context"
	"math"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/table"
)

// TestUnlabelled: before any label the weights are N(0, v) on columns scaled by the pool, an intercept aside,
// whether the table has the target or not; what would have to be learned is refused.
func TestUnlabelled(t *testing.T) {
	type row struct {
		A, B float64
	}
	type labelled struct {
		A, B float64
		Spam string
	}
	var without []row
	var with []labelled
	for i := range 30 {
		r := row{float64(i), float64(i*7%13) * 100}
		without, with = append(without, r), append(with, labelled{r.A, r.B, []string{"", "yes"}[i%2]})
	}
	for _, source := range []func() (credence.Source, error){
		func() (credence.Source, error) { return table.Structs(without) }, func() (credence.Source, error) { return table.Structs(with) },
	} {
		rows := must.Value(source())(t)
		of := func(o fit.Options) (*credence.Fitted, error) {
			o.Formula, o.Engine = "Spam ~ A + B", "convex"
			job := must.Value(fit.New(o))(t)
			return job.Unlabelled(context.Background(), rows)
		}
		fitted := must.Value(of(fit.Options{Family: "bernoulli", Prior: "normal(variance=2)"}))(t)
		mean, variance := make([]float64, 3), make([]float64, 3)
		fitted.Members[0].Posterior.Marginals(mean, variance)
		if mean[1] != 0 || mean[2] != 0 || variance[1] != 2 || variance[2] != 2 || !(variance[0] > 100) {
			t.Errorf("N(%v, %v), want N(0, 2) beside the intercept", mean, variance)
		}
		if fitted.Frame.TargetName() != "Spam" {
			t.Errorf("the target is %s", fitted.Frame.TargetName())
		}
		for _, o := range []fit.Options{{Family: "bernoulli"}, {Family: "gaussian", Prior: "normal(variance=1)"}, {Family: "bernoulli", Prior: "laplace(scale=1)"}} {
			if _, err := of(o); err == nil {
				t.Errorf("%+v is taken", o)
			}
		}
		numbers := must.Value(of(fit.Options{Family: "gaussian(variance=0.5)", Prior: "normal(variance=1)"}))(t)
		numbers.Members[0].Posterior.Marginals(mean, variance)
		if !(math.Abs(variance[1]-1) <= 0) {
			t.Errorf("numbers have variance %v", variance)
		}
	}
}
