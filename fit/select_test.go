package fit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/modelfile"
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
	rows, err := table.Structs(list)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestSelect calls the feature that matters, puts the twins into one credible set, and keeps all of it in
// the model file.
func TestSelect(t *testing.T) {
	options := fit.Options{Formula: "Y ~ .", Prior: "spikeslab(inclusion_prior=[1, 9])"}
	fitted, err := fit.Select(context.Background(), twinRows(t, 80), options, selection.Options{NullCheck: 2, Path: true})
	if err != nil {
		t.Fatal(err)
	}
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
	if len(s.Path) != 3 || s.Path[0].Inclusion != 0.1 || s.Null == nil || len(s.Null.Called) != 2 || s.Null.Share > 0.2 {
		t.Errorf("path %+v, null %+v", s.Path, s.Null)
	}
	var file bytes.Buffer
	if err := modelfile.Write(&file, fitted, modelfile.DefaultParts()); err != nil {
		t.Fatal(err)
	}
	again, err := modelfile.Read(bytes.NewReader(file.Bytes()), int64(file.Len()), modelfile.DefaultParts())
	if err != nil {
		t.Fatal(err)
	}
	if again.Selection == nil || !slices.Equal(again.Selection.Names(), names) || len(again.Selection.Sets) != len(s.Sets) {
		t.Errorf("the model file has %+v", again.Selection)
	}
}

// TestSelectEP: expectation propagation has credible sets too.
func TestSelectEP(t *testing.T) {
	options := fit.Options{Formula: "Y ~ .", Prior: "spikeslab(inclusion_prior=[1, 9])", Engine: "ep"}
	fitted, err := fit.Select(context.Background(), twinRows(t, 80), options, selection.Options{})
	if err != nil {
		t.Fatal(err)
	}
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
