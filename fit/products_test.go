package fit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/infer/exact"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/selection"
	"github.com/credence-ml/credence/table"
)

// productsOf are those of the rows of a selection problem, whose columns are x1 and so on, and the target y.
func productsOf(s *conform.Selection) *table.Products {
	p := &table.Products{Names: []string{table.Ones}}
	for j := range s.X.Cols {
		p.Names = append(p.Names, fmt.Sprintf("x%d", j+1))
	}
	p.Names = append(p.Names, "y")
	d := len(p.Names)
	p.Gram = make([]float64, d*d)
	for i, y := range s.Target {
		row := append(append([]float64{1}, s.X.Row(i)...), y)
		for j, v := range row {
			for k, u := range row {
				p.Gram[j*d+k] += v * u
			}
		}
	}
	return p
}

// TestSelectProducts: products tell what the rows tell, be those more or fewer than columns, in their own units:
// inclusions, weights, hyper-parameters, sets and the variance explained.
func TestSelectProducts(t *testing.T) {
	for _, c := range []struct {
		n, p   int
		engine string
	}{{90, 20, "ep"}, {30, 50, "ep"}, {90, 20, "gibbs(flips=2000)"}, {30, 50, "gibbs(flips=2000)"}} {
		t.Run(fmt.Sprintf("%s, %d rows, %d columns", c.engine, c.n, c.p), func(t *testing.T) {
			s := conform.NewSelection(c.n, c.p, 4, 0.3, 1, 0.2, false, 3)
			for i := range s.Target { // units and means that matter
				s.Target[i] = 50 + 4*s.Target[i]
				for j, x := range s.X.Row(i) {
					s.X.Row(i)[j] = float64(j) + x*float64(1+j%3)
				}
			}
			options := fit.Options{Target: "y", Engine: c.engine}
			want := must.Value(fit.Select(context.Background(), sourceOf(t, &s.X, s.Target), options, selection.Options{}))(t)
			got := must.Value(fit.SelectProducts(context.Background(), productsOf(s), options, selection.Options{}))(t)
			near := func(what string, a, b, unit float64) {
				if !(math.Abs(a-b) <= 1e-5*unit) {
					t.Errorf("%s is %v, from the rows %v", what, a, b)
				}
			}
			of := map[string]selection.Feature{}
			for _, f := range want.Selection.Features {
				of[f.Name] = f
			}
			if len(of) != c.p || len(got.Selection.Features) != c.p || got.Selection.Selected < 2 || got.Report.Rows != c.n {
				t.Errorf("%d features of %d, %d called, %d rows", len(got.Selection.Features), len(of), got.Selection.Selected, got.Report.Rows)
			}
			for _, f := range got.Selection.Features {
				w := of[f.Name]
				near("inclusion of "+f.Name, f.Inclusion, w.Inclusion, 1)
				near("mean of "+f.Name, f.Mean, w.Mean, w.SD+1e-3)
				near("sd of "+f.Name, f.SD, w.SD, w.SD+1e-3)
				if f.Set != w.Set || f.Selected != w.Selected {
					t.Errorf("%+v, from the rows %+v", f, w)
				}
			}
			for k, v := range got.Report.Hyper {
				near(v.Name, v.Value, want.Report.Hyper[k].Value, v.Value)
			}
			// by draws of f, of others rows under ep
			near("variance explained", got.Selection.Explained.Mean, want.Selection.Explained.Mean, 500)
			if a, b := got.Report.EvidenceEstimate, want.Report.EvidenceEstimate; a != nil {
				near("evidence", *a, *b, 1)
			}
			near("mean of the target", got.TargetMean, want.TargetMean, want.TargetMean)
			near("its variance", got.TargetVariance, want.TargetVariance, want.TargetVariance)
			for _, w := range got.Report.Warnings {
				if !slices.Contains(want.Report.Warnings, w) {
					t.Errorf("a warning that the rows do not have: %s", w)
				}
			}
		})
	}
}

// TestProductsOfShards: sums of the exact engine, made shard by shard and merged in another order, are the products of
// the rows, and select the same features to the byte.
func TestProductsOfShards(t *testing.T) {
	const n, p, from = credence.SegmentRows + 300, 3, credence.SegmentRows + 100
	s := conform.NewSelection(n, p, 2, 0, 0.01, 1, false, 6)
	for i := range s.Target {
		s.Target[i] += 1000
	}
	model := credence.Model{Features: s.Features, Likelihood: likelihood.Gaussian{}, Prior: prior.Normal{}}
	engine := must.Value(exact.New(model, exact.Config{}))(t)
	ctx := context.Background()
	units := must.Value(engine.Units(ctx, conform.Memory{All: &s.Batch}))(t)
	add := func(file, first, count int) *exact.Sums {
		sums, err := engine.NewSums("", units, file)
		if err == nil {
			err = sums.Add(ctx, conform.Memory{All: conform.Rows(&s.Batch, first, count)})
		}
		if err != nil {
			t.Fatal(err)
		}
		return sums
	}
	merged := func(parts ...*exact.Sums) *table.Products {
		for _, part := range parts[1:] {
			must.Succeed(t, parts[0].Merge(part))
		}
		gram := must.Value(parts[0].Products())(t)
		return &table.Products{Names: []string{table.Ones, "x1", "x2", "x3", "y"}, Gram: gram, Centre: []float64{0, 0, 0, 0, units.Centre}}
	}
	all := merged(add(0, 0, n))
	for i := range s.Target {
		s.Target[i] -= units.Centre
	}
	want := productsOf(s)
	for i := range s.Target {
		s.Target[i] += units.Centre
	}
	for k, v := range all.Gram {
		if !(math.Abs(v-want.Gram[k]) <= 1e-11*math.Sqrt(want.Gram[k/5*6]*want.Gram[k%5*6])) {
			t.Errorf("product %d is %v, want %v", k, v, want.Gram[k])
		}
	}
	text := func(p *table.Products) string {
		fitted := must.Value(fit.SelectProducts(ctx, p, fit.Options{Target: "y", Engine: "ep"}, selection.Options{}))(t)
		out := must.Value(json.Marshal(fitted.Selection))(t)
		return string(out)
	}
	one := text(merged(add(0, 0, from), add(1, from, n-from)))
	if other := text(merged(add(1, from, n-from), add(0, 0, from))); other != one {
		t.Errorf("shards select otherwise:\n%s\n%s", other, one)
	}
	if _, err := add(1, from, n-from).Products(); err == nil {
		t.Error("products of a part of the rows were given")
	}
	for i := range s.Target {
		s.Precision = append(s.Precision, float64(1+i%2))
	}
	if _, err := add(0, 0, 100).Products(); err == nil {
		t.Error("products of rows with precisions of their own were given")
	}
}

// TestProductsRefuse: what products cannot tell is refused, before they are read where that can be.
func TestProductsRefuse(t *testing.T) {
	p := productsOf(conform.NewSelection(30, 3, 1, 0, 1, 1, false, 1))
	for _, c := range []struct {
		options fit.Options
		how     selection.Options
		want    string
		misuse  bool
	}{
		{fit.Options{Target: "y"}, selection.Options{NullCheck: 1}, "--null-check needs the rows", true},
		{fit.Options{Target: "y"}, selection.Options{Bootstrap: 2}, "--bootstrap needs the rows", true},
		{fit.Options{Target: "y"}, selection.Options{Check: 5}, "--check needs the rows", true},
		{fit.Options{Target: "y", Family: "bernoulli"}, selection.Options{}, "use --family gaussian", true},
		{fit.Options{Formula: "y ~ x1:x2 + x3"}, selection.Options{}, "asks for more than the columns as they are", false},
		{fit.Options{Formula: "y ~ log(x1)"}, selection.Options{}, "", false},
		{fit.Options{Formula: "exp(y) ~ ."}, selection.Options{}, "asks for more than the columns as they are", false},
		{fit.Options{Formula: "y ~ . + offset(x1)"}, selection.Options{}, "", false},
	} {
		_, err := fit.SelectProducts(context.Background(), p, c.options, c.how)
		if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, fit.ErrMisuse) != c.misuse {
			t.Errorf("%+v: %v", c.options, err)
		}
	}
	fitted, err := fit.SelectProducts(context.Background(), p, fit.Options{Formula: "y ~ x1 + keep(x3)", Engine: "ep"}, selection.Options{})
	if err != nil || len(fitted.Selection.Features) != 1 {
		t.Errorf("%v: %v", fitted, err)
	}
}
