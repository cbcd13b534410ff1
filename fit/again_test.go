package fit_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/selection"
	"github.com/credence-ml/credence/table"
)

// The recipe has what was stated, without the places of files, and nothing of what was not.
func TestRecipe(t *testing.T) {
	rows := must.Value(table.Structs(sold()))(t)
	all := must.Value(fit.Table(context.Background(), rows, fit.Options{
		Formula: "zip ~ size + rooms", Missing: "mean", DropTarget: true, Unseen: "prior", Positive: "b", Raw: true, Types: "zip=text", Engine: "laplace", Seed: 4,
	}))(t)
	want := credence.Recipe{
		Formula: "zip ~ size + rooms", Family: "bernoulli", Prior: "normal", Engine: "laplace", Seed: 4,
		Missing: "mean", DropTarget: true, Unseen: "prior", Positive: "b", Raw: true, Types: "zip=text",
	}
	if !reflect.DeepEqual(all.Recipe, want) {
		t.Errorf("recipe %+v", all.Recipe)
	}
	odds := []fit.Odds{{Feature: "size", Odds: 3, Place: "odds.csv:1"}, {Feature: "rooms", Odds: 0.25}}
	some := must.Value(fit.Select(context.Background(), rows, fit.Options{
		Formula: "price ~ size + rooms", Missing: "error", Unseen: "error", Engine: "ep", PriorOdds: odds,
	}, selection.Options{}))(t)
	want = credence.Recipe{
		Formula: "price ~ size + rooms", Family: "gaussian", Prior: "spikeslab", Engine: "ep", PriorOdds: map[string]float64{"size": 3, "rooms": 0.25},
	}
	if !reflect.DeepEqual(some.Recipe, want) {
		t.Errorf("recipe %+v", some.Recipe)
	}
}
