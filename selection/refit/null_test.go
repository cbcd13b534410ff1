package refit

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/selection"
)

// TestTogether: the class of a group is that of most of the weight of its rows; rows without a weight are in none.
func TestTogether(t *testing.T) {
	group, each, positive := together([]float64{7, 7, 7, 9, 9, 7}, []float64{1, 1, 5, 1, 2, 0}, []float64{0, 0, 1, 1, 0, 0})
	if !slices.Equal(group, []int{0, 0, 0, 1, 1, -1}) || !slices.Equal(each, []float64{1, 1}) || !slices.Equal(positive, []float64{1, 0}) {
		t.Errorf("groups %v of weights %v and classes %v", group, each, positive)
	}
}

// TestPermuted: what belongs to a target goes with it, inputs stay, whatever rows are read, and the data
// behind keep theirs.
func TestPermuted(t *testing.T) {
	b := &credence.Batch{X: linop.NewDense(4, 1), Target: []float64{1, 2, 3, 4}}
	for i, y := range b.Target {
		b.X.Row(i)[0] = y
		b.Offset, b.Weight, b.Trials = append(b.Offset, 10*y), append(b.Weight, 20*y), append(b.Trials, 30*y)
		b.Precision = append(b.Precision, 40*y)
	}
	d := &permuted{Data: conform.Memory{All: b}}
	must.Succeed(t, d.load(t.Context()))
	d.order = []int{2, 3, 1, 0}
	var got credence.Batch
	must.Succeed(t, d.Read(&got, 1, 3))
	for k, list := range [][]float64{got.Target, got.Offset, got.Weight, got.Trials, got.Precision} {
		for i, y := range []float64{4, 2, 1} {
			if want := y * []float64{1, 10, 20, 30, 40}[k]; list[i] != want {
				t.Errorf("list %d, row %d: %v, want %v", k, i, list[i], want)
			}
		}
	}
	if got.X.Row(0)[0] != 2 || !slices.Equal(b.Target, []float64{1, 2, 3, 4}) {
		t.Errorf("inputs %v, targets behind %v", got.X, b.Target)
	}
}

// levels are features of which the last four are a group.
type levels struct{ conform.Columns }

func (levels) Groups() []credence.Block { return []credence.Block{{Name: "city", First: 2, Count: 4}} }

// constant is an engine that finds the same in any rows.
type constant struct{ fitted *credence.Fitted }

func (c constant) Fit(context.Context, credence.Data) (*credence.Fitted, error) { return c.fitted, nil }

// TestNullShare: of the candidates whose share permuted targets call, a group is one, called or not.
func TestNullShare(t *testing.T) {
	for in, want := range map[float64]float64{0.9: 2. / 3, 0.1: 1. / 3} { // of x, z and city
		q := &posterior.SpikeSlab{Mean: make([]float64, 6), Variance: slices.Repeat([]float64{1}, 6), Probability: []float64{0.8, 0.2, in, in, in, in}}
		fitted := &credence.Fitted{Members: []credence.Member{{
			Model: credence.Model{Features: levels{conform.Columns{Dense: 6}}, Likelihood: likelihood.Gaussian{}, Prior: prior.SpikeSlab{}}, Posterior: q,
		}}}
		fitted.Report.Together = true
		all := &credence.Batch{X: linop.NewDense(20, 6), Target: make([]float64, 20)}
		got, err := (&Base{Data: conform.Memory{All: all}, Engine: constant{fitted}}).Null(t.Context(), selection.Options{NullCheck: 3})
		if err != nil || !(math.Abs(got.Share-want) <= 1e-12) || len(got.Called) != 3 {
			t.Errorf("a group of inclusion %v: %+v, %v, want a share of %v", in, got, err, want)
		}
	}
}
