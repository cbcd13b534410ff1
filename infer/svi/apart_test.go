package svi

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/credence-ml/credence"
	base "github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/infer/svi/internal/newton"
	"github.com/credence-ml/credence/infer/svi/internal/problem"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/prior"
)

// part is so many rows from one on.
func (m *memory) part(first, count int) *memory {
	stride := m.x.Stride
	return &memory{x: linop.Dense{Rows: count, Cols: m.x.Cols, Stride: stride, Data: m.x.Data[first*stride : (first+count)*stride]}, y: m.y[first : first+count]}
}

// TestAnswersAddUp: what rows answer to every question is what parts of them answer, added up, where some are asked and
// a part has none of these, too; and the separation of classes is that of all.
func TestAnswersAddUp(t *testing.T) {
	const rows = 3000
	ctx := context.Background()
	for _, lik := range []likelihood.Family{likelihood.Poisson{}, likelihood.Bernoulli{}, likelihood.StudentT{}} {
		data := draw(t, lik, rows, 3, 7)
		e := must.Value(New(credence.Model{Features: plain{p: 3, intercept: true}, Likelihood: lik, Prior: held(2)}, Config{Covariance: Full}))(t)
		about := func(q base.Question) *base.Question {
			q.Mean, q.Spread = []float64{.1, -.2, .3, .05}, []float64{.2, .01, 0, 0, .1, .02, 0, .3, .01, .2}
			problem.NewFamily(e.likelihood).Tell(&q)
			return &q
		}
		held := about(base.Question{What: base.AskPass, Clamp: true})
		free := *held
		free.Clamp = false
		if _, heavy := lik.(likelihood.StudentT); fmt.Sprint(must.Value(e.Answer(ctx, data, held, 0, rows))(t)) == fmt.Sprint(must.Value(e.Answer(ctx, data, &free, 0, rows))(t)) == heavy {
			t.Errorf("%v: clamped curvatures are others: %v", lik, !heavy)
		}
		drawn := []float64{.2, .1, -.1, 0, .4, .2, .1, -.3}
		for _, q := range []*base.Question{
			{What: base.AskSizes}, about(base.Question{What: base.AskPass}), about(base.Question{What: base.AskPass, Valued: true}),
			about(base.Question{What: base.AskPass, Fixed: true, Sloped: true}), about(base.Question{What: base.AskDraws, Drawn: drawn}),
			about(base.Question{What: base.AskDraws, Drawn: drawn, Rows: newton.PilotRows}),
		} {
			want := must.Value(e.Answer(ctx, data, q, 0, rows))(t)
			if length := must.Value(e.Length(q))(t); length != len(want) {
				t.Fatalf("%v, %s: %d numbers for %d", lik, q.What, len(want), length)
			}
			var sum []float64
			for _, at := range [][2]int{{0, 700}, {700, 1}, {701, 1299}, {2000, 1000}} {
				x := must.Value(e.Answer(ctx, data.part(at[0], at[1]), q, at[0], rows))(t)
				if sum == nil {
					sum = x
				} else {
					q.Add(sum, x)
				}
			}
			if q.What == base.AskPass { // which counts the parts that are not separated
				want[2], sum[2] = math.Min(want[2], 1), math.Min(sum[2], 1)
			}
			for l := range 2 { // the second half of what draws are asked for are squares of what the first adds up
				if total, squares := want[l], want[len(want)-2+l]; q.Rows > 0 && !(squares > 0 && total*total <= rows*squares) {
					t.Errorf("%v, %s of %d rows: sum %v, of the squares %v", lik, q.What, q.Rows, total, squares)
				}
			}
			for i, v := range want {
				if !(math.Abs(sum[i]-v) <= 1e-9*(1+math.Abs(v))) {
					t.Errorf("%v, %s of %d rows: number %d adds up to %v, want %v", lik, q.What, q.Rows, i, sum[i], v)
				}
			}
		}
	}
}

// watched are rows that lie apart, of which those at the places alone may be read: the others answer from the next fit
// on.
type watched struct {
	credence.Data
	engine  *Engine
	places  map[int]bool
	answers map[string][]float64
	branch  string
	count   int
	asked   int // in this fit
	others  int // rows that were read and are at no place
}

func (w *watched) Read(dst *credence.Batch, first, count int) error {
	for i := range count {
		if !w.places[first+i] {
			w.others++
		}
	}
	return w.Data.Read(dst, first, count)
}

func (w *watched) Ask(q *base.Question) ([]float64, error) {
	key := fmt.Sprint(w.branch, w.count)
	w.count++
	if x, known := w.answers[key]; known {
		return x, nil
	}
	x, err := w.engine.Answer(context.Background(), w.Data, q, 0, w.Rows())
	if w.answers[key] = x; err == nil {
		w.asked++
		err = base.ErrAsked
	}
	return nil, err
}

func (w *watched) Branch(name string, _ bool) func() {
	branch, count := w.branch, w.count
	w.branch, w.count = w.branch+name+".", 0
	return func() { w.branch, w.count = branch, count }
}

func (w *watched) Lacking() bool { return false }

// TestPlacesAreThoseThatAreRead: of rows that lie apart a fit reads those at the places that it names, and no other;
// with answers of all it is the fit of all.
func TestPlacesAreThoseThatAreRead(t *testing.T) {
	for _, rows := range []int{400, 1500, 10_000, 20_000} {
		data := draw(t, likelihood.Poisson{}, rows, 2, 4)
		e := must.Value(New(credence.Model{Features: plain{p: 2, intercept: true}, Likelihood: likelihood.Poisson{}, Prior: prior.Normal{}}, Config{Covariance: Full}))(t)
		want := must.Value(e.Fit(t.Context(), data))(t)
		w := &watched{Data: data, engine: e, places: map[int]bool{}, answers: map[string][]float64{}}
		for _, i := range e.Places(rows) {
			w.places[i] = true
		}
		for round := 0; ; round++ {
			w.branch, w.count, w.asked = "", 0, 0
			got, err := e.Fit(t.Context(), w)
			if errors.Is(err, base.ErrAsked) && w.asked > 0 && round < 100 {
				continue
			}
			must.Succeed(t, err)
			if a, b := *got.Report.ELBO, *want.Report.ELBO; !(math.Abs(a-b) <= 1e-8*math.Abs(b)) || w.others > 0 {
				t.Errorf("%d rows: ELBO %v, want %v; %d rows were read at other places than %d", rows, a, b, w.others, len(w.places))
			}
			t.Logf("%d rows: %d rounds, %d places", rows, round+1, len(w.places))
			break
		}
	}
}
