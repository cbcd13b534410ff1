package fit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/modelfile"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/selection"
	"github.com/credence-ml/credence/table"
)

// twins has ten columns, of which A matters, and B or its near copy Twin.
type twins struct{ Y, A, B, Twin, C, D, E, F, G, H, I float64 }

func twinRows(t *testing.T, n int) credence.Source {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 1))
	var list []twins
	for range n {
		z := func() float64 { return rng.NormFloat64() }
		r := twins{A: z(), B: z(), C: z(), D: z(), E: z(), F: z(), G: z(), H: z(), I: z()}
		r.Twin = r.B + 0.1*z()
		r.Y = 3 + r.A + 0.5*r.B + 0.5*z()
		list = append(list, r)
	}
	rows := must.Value(table.Structs(list))(t)
	return rows
}

// TestSelect calls the feature that matters, puts the twins into one credible set, and keeps all of it in
// the model file.
func TestSelect(t *testing.T) {
	options := fit.Options{Formula: "Y ~ .", Prior: "spikeslab(inclusion_prior=[1, 9])", PriorOdds: []fit.Odds{{Feature: "A", Odds: 0.5}}}
	fitted := must.Value(fit.Select(context.Background(), twinRows(t, 80), options, selection.Options{NullCheck: 2, Path: selection.PathAlways}))(t)
	s := fitted.Selection
	names := s.Names()
	if !slices.Contains(names, "A") || slices.Contains(names, "C") {
		t.Errorf("called %v", names)
	}
	found := false
	for _, set := range s.Sets {
		if set.LogBayesFactor < 3 {
			t.Errorf("set %+v", set)
		}
		var before []float64 // odds of a set are those of its members
		for _, f := range s.Features {
			if f.Set == set.ID {
				before = append(before, fitted.Members[0].Model.Prior.(prior.SpikeSlab).PriorInclusion(f.Weight))
			}
		}
		count := fitted.Members[0].Posterior.(*posterior.Draws).Count
		if want := selection.LogBayesFactor(set.Coverage, count, before); !(math.Abs(set.LogBayesFactor-want) <= 1e-12) {
			t.Errorf("set %+v: the log Bayes factor by the odds of its members is %v", set, want)
		}
		members := slices.Clone(set.Features)
		slices.Sort(members)
		if slices.Equal(members, []string{"B", "Twin"}) {
			found = set.Coverage >= 0.95 && set.Purity > 0.9
		}
	}
	sum := s.Features[slices.IndexFunc(s.Features, func(f selection.Feature) bool { return f.Name == "B" })].Inclusion +
		s.Features[slices.IndexFunc(s.Features, func(f selection.Feature) bool { return f.Name == "Twin" })].Inclusion
	if !found || sum < 0.9 {
		t.Errorf("sets %+v; the inclusions of the twins sum to %.2f", s.Sets, sum)
	}
	for _, f := range s.Features {
		for _, set := range s.Sets {
			if slices.Contains(set.Features, f.Name) != (f.Set == set.ID) {
				t.Errorf("feature %s has the set %d, and set %d holds %v", f.Name, f.Set, set.ID, set.Features)
			}
		}
	}
	if e := s.Path[0].Expected; e < 1.5 || e > 3 {
		t.Errorf("%v features are expected at the first step of the path", e)
	}
	if len(s.Path) != 3 || s.Path[0].Inclusion != 0.1 || s.Null == nil || len(s.Null.Called) != 2 || s.Null.Share > 0.2 {
		t.Errorf("path %+v, null %+v", s.Path, s.Null)
	}
	var file bytes.Buffer
	must.Succeed(t, modelfile.Write(&file, fitted, modelfile.DefaultParts()))
	again := must.Value(modelfile.Read(bytes.NewReader(file.Bytes()), int64(file.Len()), modelfile.DefaultParts()))(t)
	if again.Selection == nil || !slices.Equal(again.Selection.Names(), names) || len(again.Selection.Sets) != len(s.Sets) {
		t.Errorf("the model file has %+v", again.Selection)
	}
}

// TestFeaturesAreTerms: selection tells of each weight that may be 0 what its term tells, by the interval asked for,
// and of groups of more than one column the name.
func TestFeaturesAreTerms(t *testing.T) {
	fitted := must.Value(fit.Select(t.Context(), twinRows(t, 80), fit.Options{Formula: "Y ~ A + C + group(B, Twin) + keep(D)", Engine: "ep"}, selection.Options{Interval: 0.6}))(t)
	told := map[int]selection.Feature{}
	for _, f := range fitted.Selection.Features {
		told[f.Weight] = f
	}
	for j, term := range must.Value(score.Terms(fitted, score.TermOptions{Interval: 0.6}))(t) {
		f, is := told[j]
		if !is {
			continue
		}
		if term.Inclusion == nil || f.Block != term.Block || f.Name != term.Name || f.Inclusion != *term.Inclusion || f.Mean != term.Mean || f.SD != float64(term.SD) || f.Lower != float64(term.Lower) || f.Upper != float64(term.Upper) {
			t.Errorf("%+v is told as %+v", term, f)
		}
		if grouped := f.Name == "B" || f.Name == "Twin"; grouped != (f.Group != "") {
			t.Errorf("%s is of the group %q", f.Name, f.Group)
		}
		delete(told, j)
	}
	if len(told) > 0 || len(fitted.Selection.Features) != 4 {
		t.Errorf("of %+v some are no terms", fitted.Selection.Features)
	}
}

// TestSelectEP: expectation propagation has credible sets too.
func TestSelectEP(t *testing.T) {
	options := fit.Options{Formula: "Y ~ .", Prior: "spikeslab(inclusion_prior=[1, 9])", Engine: "ep"}
	fitted := must.Value(fit.Select(context.Background(), twinRows(t, 80), options, selection.Options{}))(t)
	var sets [][]string
	for _, set := range fitted.Selection.Sets {
		members := slices.Clone(set.Features)
		slices.Sort(members)
		sets = append(sets, members)
		if set.Coverage < 0.95 || len(members) == 2 && set.Purity < 0.9 || set.LogBayesFactor < 3 {
			t.Errorf("set %+v", set)
		}
	}
	if len(sets) != 2 || !slices.ContainsFunc(sets, func(s []string) bool { return slices.Equal(s, []string{"B", "Twin"}) }) {
		t.Errorf("sets %v", sets)
	}
}

// TestPurity: the purity of a set is the weighted correlation of its columns, wherever they are centred; and
// the share called in permuted targets is that of all features.
func TestPurity(t *testing.T) {
	const n = 60
	rng := rand.New(rand.NewPCG(3, 1))
	noise, b, twin, w, y := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	var sums [6]float64 // w, wb, wt, wbb, wtt, wbt
	for i := range n {
		noise[i], b[i] = rng.NormFloat64(), 5+rng.NormFloat64()
		twin[i], w[i] = 3-b[i]+0.2*rng.NormFloat64(), float64(1+i%4)
		y[i] = (b[i]-twin[i])/2 + rng.NormFloat64()
		for k, v := range []float64{1, b[i], twin[i], b[i] * b[i], twin[i] * twin[i], b[i] * twin[i]} {
			sums[k] += w[i] * v
		}
	}
	for k := range sums[1:] {
		sums[k+1] /= sums[0]
	}
	rows := must.Value(table.New().Numbers("noise", noise).Numbers("b", b).Numbers("twin", twin).Numbers("w", w).Numbers("y", y).Source())(t)
	options := fit.Options{Formula: "y ~ noise + b + twin + weight(w)", Raw: true, Engine: "gibbs(flips=2000)"}
	fitted := must.Value(fit.Select(context.Background(), rows, options, selection.Options{Coverage: 0.999, Threshold: 0.01, NullCheck: 2, Interval: 0.5}))(t)
	want := math.Abs(sums[5]-sums[1]*sums[2]) / math.Sqrt((sums[3]-sums[1]*sums[1])*(sums[4]-sums[2]*sums[2]))
	s := fitted.Selection
	if len(s.Sets) != 1 || slices.Contains(s.Sets[0].Features, "noise") || len(s.Sets[0].Features) != 2 || !(math.Abs(s.Sets[0].Purity-want) <= 1e-9) {
		t.Errorf("sets %+v, want one of purity %v", s.Sets, want)
	}
	if n := must.Value(fit.Select(context.Background(), twinRows(t, 80), fit.Options{Formula: "Y ~ .", Prior: "spikeslab(inclusion_prior=[1, 9])"}, selection.Options{Threshold: 0.03, NullCheck: 8}))(t).Selection.Null; slices.Min(n.Called) == slices.Max(n.Called) {
		t.Errorf("every permutation has %d features called", n.Called)
	}
	if n := s.Null; n.Called[0] == 0 || n.Share != float64(n.Called[0])/6+float64(n.Called[1])/6 {
		t.Errorf("%+v of 3 features", n)
	}
	options.Engine = "ep"
	for interval, want := range map[float64]float64{0.5: 0.6745, 0.9: 1.6449} {
		fitted := must.Value(fit.Select(context.Background(), rows, options, selection.Options{Interval: interval}))(t)
		if f := fitted.Selection.Features[0]; !(math.Abs((f.Upper-f.Lower)/2/f.SD/want-1) <= 0.2) {
			t.Errorf("the interval of %v is %v standard deviations on both sides", interval, (f.Upper-f.Lower)/2/f.SD)
		}
	}
}

func TestSelectRefuses(t *testing.T) {
	rows := twinRows(t, 20)
	for _, c := range []struct {
		options fit.Options
		how     selection.Options
		want    string
	}{
		{fit.Options{Target: "Y", Prior: "normal"}, selection.Options{}, "leaves no weight at 0"},
		{fit.Options{Target: "Y"}, selection.Options{FDR: 2}, "not a probability"},
		{fit.Options{Target: "Y", Family: "poisson"}, selection.Options{}, "no engine"},
		{fit.Options{Target: "Y", Engine: "lasso"}, selection.Options{}, "engine lasso cannot fit this model: it does not fit the prior spikeslab, under which features are selected; use --engine ep or gibbs or laplace"},
		{fit.Options{Target: "Y", Engine: "exact"}, selection.Options{}, "under which features are selected; use --engine ep"},
	} {
		_, err := fit.Select(context.Background(), rows, c.options, c.how)
		if err == nil || !errors.Is(err, fit.ErrMisuse) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.options, err)
		}
	}
}

func ExampleSelect() {
	type sample struct{ Y, A, B, C float64 }
	rng := rand.New(rand.NewPCG(1, 1))
	var samples []sample
	for range 60 {
		s := sample{A: rng.NormFloat64(), B: rng.NormFloat64(), C: rng.NormFloat64()}
		s.Y = 2*s.B + 0.5*rng.NormFloat64()
		samples = append(samples, s)
	}
	rows, _ := table.Structs(samples)
	model, err := fit.Select(context.Background(), rows, fit.Options{Target: "Y"}, selection.Options{Threshold: 0.9})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(model.Selection.Names())
	// Output: [B]
}

// TestSelectNull: where a flat prior of the inclusion has every column in at next to no weight, none is called and the
// first lines say so, as does each feature.
func TestSelectNull(t *testing.T) {
	s := conform.NewSelection(100, 100, 0, 0, 1, 1, false, 511)
	fitted := must.Value(fit.Select(context.Background(), sourceOf(t, &s.X, s.Target), fit.Options{Formula: "y ~ .", Prior: "spikeslab(inclusion_prior=[1, 1])", Engine: "ep(hyper=mode)"}, selection.Options{}))(t)
	above := 0
	for _, f := range fitted.Selection.Features {
		if f.Inclusion > 0.5 {
			above++
		}
		if f.Resolved == nil || *f.Resolved > 0.5 || f.Selected {
			t.Errorf("%+v", f)
		}
	}
	if above < 10 || fitted.Selection.Selected != 0 || !strings.Contains(strings.Join(fitted.Report.Warnings, "; "), "nothing is told apart") {
		t.Errorf("%d above one half, %d called: %v", above, fitted.Selection.Selected, fitted.Report.Warnings)
	}
}

// TestSelectSpread: where many near copies share a signal no single one is called, and it is said that together they
// explain it; where nothing matters that is not said.
func TestSelectSpread(t *testing.T) {
	for _, signal := range []float64{1, 0} {
		rng := rand.New(rand.NewPCG(2, 9))
		s := conform.NewSelection(60, 30, 0, 0.995, 1, 1, false, 17)
		for i := range s.Target {
			sum := 0.0
			for _, x := range s.X.Row(i) {
				sum += x / 30
			}
			s.Target[i] = signal*sum + 0.4*rng.NormFloat64()
		}
		fitted, err := fit.Select(context.Background(), sourceOf(t, &s.X, s.Target),
			fit.Options{Formula: "y ~ .", Engine: "ep(hyper=mode)", Prior: "spikeslab(inclusion_prior=[1, 29])"}, selection.Options{})
		if err != nil {
			t.Fatal(err)
		}
		said := strings.Contains(strings.Join(fitted.Report.Warnings, "; "), "no single feature stands out")
		if said != (signal > 0) || fitted.Selection.Selected > 0 {
			t.Errorf("signal %v: %d called, of the variance %+v is explained: %v", signal, fitted.Selection.Selected, *fitted.Selection.Explained, fitted.Report.Warnings)
		}
	}
}
