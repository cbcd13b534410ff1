package problem

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

// listed are features with these blocks, of which one may have a hyper-parameter.
type listed struct {
	credence.Tunable
	weights int
	blocks  []credence.Block
	hyper   []credence.Hyper
}

func (f listed) Weights() int             { return f.weights }
func (f listed) Blocks() []credence.Block { return f.blocks }
func (f listed) Hyper() []credence.Hyper  { return f.hyper }
func (f listed) WeightName(j int) string  { return string(rune('p' + j)) }

// The second block's name contains that of the first, as rbf(linear) does: only the index says which
// block a hyper-parameter belongs to.
var two = listed{weights: 4, blocks: []credence.Block{
	{Name: "(intercept)", Count: 1, Intercept: true}, {Name: "rbf", First: 1, Count: 1}, {Name: "sum(rbf)", First: 2, Count: 2},
}, hyper: []credence.Hyper{{Name: "lengthscale.sum(rbf)", Block: 2}}}

func TestGroups(t *testing.T) {
	intercept, held := Group{Name: "(intercept)", Count: 1, Of: 1, Intercept: true}, param.Parameter{Value: 1, State: param.Held}
	for _, c := range []struct {
		prior prior.Normal
		want  []Group
	}{
		{prior.Normal{}, []Group{intercept,
			{Name: "rbf", First: 1, Count: 1, Block: 1, Of: 1, Learned: true},
			{Name: "sum(rbf)", First: 2, Count: 2, Block: 2, Of: 2, Learned: true, Tuned: true, Moves: true}}},
		{prior.Normal{ARD: true, Variance: held}, []Group{intercept,
			{Name: "rbf.q", First: 1, Count: 1, Block: 1, Of: 1, Stated: held},
			{Name: "sum(rbf).r", First: 2, Count: 1, Block: 2, Of: 2, Stated: held, Tuned: true, Moves: true},
			{Name: "sum(rbf).s", First: 3, Count: 1, Block: 2, Of: 2, Stated: held, Tuned: true, Moves: true}}},
	} {
		got, err := Groups("test", two, c.prior)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v: %+v, %v", c.prior, got, err)
		}
	}
}

func TestGroupsRefuse(t *testing.T) {
	gap := listed{weights: 3, blocks: []credence.Block{{Name: "a", Count: 1}, {Name: "b", First: 2, Count: 1}}}
	short := listed{weights: 3, blocks: []credence.Block{{Name: "a", Count: 2}}}
	wide := listed{weights: 2, blocks: []credence.Block{{Name: "a", Count: 2, Intercept: true}}}
	late := listed{weights: 2, blocks: []credence.Block{{Name: "a", Count: 1}, {Name: "b", First: 1, Count: 1, Intercept: true}}}
	lost := listed{weights: 2, blocks: []credence.Block{{Name: "a", Count: 2}}, hyper: []credence.Hyper{{Name: "h", Block: 1}}}
	for want, features := range map[string]credence.Features{
		`test: block "b" covers weights 2 to 2 where weight 1 comes next`: gap,
		"test: blocks cover 2 of 3 weights":                               short,
		"test: the intercept is weight 1: put its block first":            late,
		`test: block "a" covers weights 0 to 1 where weight 0 comes next`: wide,
		"test: the hyper-parameter h belongs to block 1 of 1":             lost,
	} {
		if _, err := Groups("test", features, prior.Normal{}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("the error reads %v, want %q", err, want)
		}
	}
}

func TestNamesAndSizes(t *testing.T) {
	if WeightName(two, 0) != "(intercept)" || WeightName(two, 3) != "sum(rbf).s" || WeightName(two, 9) != "9" {
		t.Error(WeightName(two, 0), WeightName(two, 3), WeightName(two, 9))
	}
	if Size(1, 0.5) != 0.5 || !math.IsInf(Size(1, 1e-10), 1) || !math.IsInf(Size(0, 0), 1) {
		t.Error("sizes of columns")
	}
}

// TestSpreads: sums over rows of weight 2 of a constant, of columns about a mean and about 0, and of random Fourier
// features.
func TestSpreads(t *testing.T) {
	groups := []Group{{Count: 1, Of: 1, Intercept: true}, {First: 1, Count: 2, Of: 2}, {First: 3, Count: 1, Of: 1, Tuned: true}, {First: 4, Count: 1, Of: 1},
		{First: 5, Count: 2, Of: 2, Unit: true}, {First: 7, Count: 1, Of: 4, Unit: true}}
	squares, means := []float64{2, 26, 8, 6, 18, 1.5, 0.5, 0.2}, []float64{0, 3, 2 - 1e-10, 0, 3, 0, 0, 0}
	for k, want := range []float64{1, 2, math.Sqrt(3), 0, 1, 0.5} {
		if got := Spreads(groups, squares, means, 2)[k]; !(math.Abs(got-want) <= 1e-15) {
			t.Errorf("group %d: %v, want %v", k, got, want)
		}
	}
	if got := Spreads(groups, squares, nil, 2)[1]; !(math.Abs(got-math.Sqrt(17)) <= 1e-15) {
		t.Errorf("without an intercept: %v", got)
	}
}
