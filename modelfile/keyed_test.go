package modelfile

import (
	"bytes"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature/keyed"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/prior"
)

func keyedFit(named, included bool) *credence.Fitted {
	features := &keyed.Features{Keys: []uint64{7, 1 << 63, 3}}
	if named {
		features.Text, features.Ends = []byte("a=xb"), []int64{3, 3, 4}
	}
	q := &posterior.SpikeSlab{Mean: []float64{-1, 0.5, 0, 2}, Variance: []float64{0.1, 0.2, 0.3, 0.4}}
	if !included {
		q.Probability = []float64{1, 0.9, 0.1, 1}
	}
	return &credence.Fitted{
		Recipe: credence.Recipe{Formula: "click ~ hash(.)", Engine: "sep"},
		Frame:  &keyed.Frame{Target: "click", Plan: &keyed.Plan{Format: keyed.Format, Roles: frame.Roles{Target: new(frame.Column("click"))}}},
		Members: []credence.Member{{
			Model: credence.Model{
				Features: features, Likelihood: likelihood.Bernoulli{Link: likelihood.Probit},
				Prior: prior.SpikeSlab{Inclusion: param.Hold(0.25), Slab: param.Hold(2)},
			},
			Posterior: q,
		}},
		Report: credence.Report{Engine: "sep", Rows: 10},
	}
}

func TestKeyedRoundTrip(t *testing.T) {
	for _, named := range []bool{false, true} {
		for _, included := range []bool{false, true} {
			want := keyedFit(named, included)
			if slab := slabOf(want); included {
				slab.Centre = []float64{0, 0.25, 0, 0.5}
			}
			var file bytes.Buffer
			must.Succeed(t, Write(&file, want, DefaultParts()))
			got := must.Value(Read(bytes.NewReader(file.Bytes()), int64(file.Len()), DefaultParts()))(t)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("read %+v, want %+v", got.Members[0], want.Members[0])
			}
		}
	}
}

// TestCentreNeedsAnIntercept: a posterior with a centre is refused where the first weight is no intercept.
func TestCentreNeedsAnIntercept(t *testing.T) {
	fitted := keyedFit(false, true)
	features := fitted.Members[0].Model.Features.(*keyed.Features)
	features.Keys, features.NoIntercept = append(features.Keys, 9), true
	slabOf(fitted).Centre = []float64{0, 0.25, 0, 0.5}
	var file bytes.Buffer
	must.Succeed(t, Write(&file, fitted, DefaultParts()))
	if _, err := Read(bytes.NewReader(file.Bytes()), int64(file.Len()), DefaultParts()); err == nil || !strings.Contains(err.Error(), "has a centre, and the first weight is no intercept") {
		t.Error(err)
	}
}

// The intercept, a known key, and an unknown one at the prior's variance.
func TestKeyedPredicts(t *testing.T) {
	fitted := keyedFit(false, false)
	batch := &credence.Batch{
		X: linop.Dense{Rows: 1}, Unseen: []float64{4 + 1},
		Sparse: linop.CSR{Rows: 1, Cols: 3, Start: []int{0, 1}, Index: []int32{0}, Value: []float64{1}},
	}
	dist := must.Value(fitted.Distribution(credence.NewWorkspace(1), batch))(t)
	mean, variance := dist.Latent(0)
	if mean != -1+0.5 || !(math.Abs(variance-(0.1+0.2+(4+1)*0.5)) <= 1e-14) {
		t.Errorf("f is %g ± %g", mean, variance)
	}
}

// What could not be read back is not written.
func TestKeyedRefusals(t *testing.T) {
	for what, change := range map[string]func(f *credence.Fitted){
		"stands twice":            func(f *credence.Fitted) { f.Members[0].Model.Features.(*keyed.Features).Keys[0] = 3 },
		"ends at":                 func(f *credence.Fitted) { f.Members[0].Model.Features.(*keyed.Features).Ends[1] = 1 },
		"1 means and 4 variances": func(f *credence.Fitted) { slabOf(f).Mean = []float64{1} },
		"variance -1":             func(f *credence.Fitted) { slabOf(f).Variance[2] = -1 },
		"inclusion probability 2": func(f *credence.Fitted) { slabOf(f).Probability[2] = 2 },
		"posterior.mean is NaN":   func(f *credence.Fitted) { slabOf(f).Mean[1] = math.NaN() },
		"has the number +Inf":     func(f *credence.Fitted) { f.TargetMean = math.Inf(1) },
		"inclusion 7 is not": func(f *credence.Fitted) {
			f.Members[0].Model.Prior = prior.SpikeSlab{Inclusion: param.Parameter{Value: 7, State: param.Held}}
		},
		"has no members":           func(f *credence.Fitted) { f.Members = nil },
		"likelihood *modelfile.st": func(f *credence.Fitted) { f.Members[0].Model.Likelihood = &stranger{} },
	} {
		fitted := keyedFit(true, false)
		change(fitted)
		if err := Write(io.Discard, fitted, DefaultParts()); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("refusal reads %v, want %q", err, what)
		}
	}
}

func slabOf(f *credence.Fitted) *posterior.SpikeSlab {
	return f.Members[0].Posterior.(*posterior.SpikeSlab)
}

// stranger is a family that no table has.
type stranger struct{ likelihood.Bernoulli }
