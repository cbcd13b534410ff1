package exact

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/prior"
)

// TestLengthscalesAreAveraged: below averagedRows rows each draw of frequencies has members at other lengthscales,
// which share its weight; draws weigh alike. From there on there is one member a draw.
func TestLengthscalesAreAveraged(t *testing.T) {
	for n, each := range map[int]int{60: 8, averagedRows: 1} {
		data := randomTable(57, n, 3, 0)
		f := fitted(t, model(fourierSet(t, 3, 20, feature.RBF), prior.Normal{}, likelihood.Gaussian{}), Config{Draws: 2, Starts: 2, MaxIterations: 40}, data)
		if len(f.Members) != 2*each {
			t.Fatalf("%d rows gave %d members", n, len(f.Members))
		}
		if each == 1 {
			if f.Members[0].Weight != 0 || f.Members[1].Weight != 0 {
				t.Error("draws weigh alike")
			}
			continue
		}
		for draw := range 2 {
			total := 0.0
			for k, m := range f.Members[draw*each : (draw+1)*each] {
				total += m.Weight
				if !(m.Weight > 0) || m.Weight > 0.5*math.Exp(mostLogShare)*f.Members[draw*each].Weight*2.0001 {
					t.Errorf("member %d weighs %v, the mode %v", k, m.Weight, f.Members[draw*each].Weight)
				}
			}
			if !(math.Abs(total-0.5) <= 1e-12) {
				t.Errorf("draw %d weighs %v", draw, total)
			}
		}
	}
}

// TestLengthscaleDrawsAreTheirPosterior: with one lengthscale, the evidence by Laplace's approximation and the mean
// of its logarithm over the members agree with sums over a grid.
func TestLengthscaleDrawsAreTheirPosterior(t *testing.T) {
	data := randomTable(58, 60, 1, 0)
	features := newBent(1, 0)
	features.unit = 2
	m := model(features, prior.Normal{}, likelihood.Gaussian{})
	f := fitted(t, m, Config{Starts: 1}, data)
	if len(f.Members) != averageMembers {
		t.Fatalf("%d members", len(f.Members))
	}
	total, first, second := 0.0, 0.0, 0.0
	const step = 0.1
	var logs, at []float64
	for u := -4.0; u < 4.6; u += step {
		held := features
		held.length, held.held = []float64{math.Exp(u)}, []bool{true}
		r := fitted(t, model(held, prior.Normal{}, likelihood.Gaussian{}), Config{Starts: 1}, data).Report
		logs, at = append(logs, *r.Evidence-u*u/2-math.Log(2*math.Pi)/2), append(at, u)
	}
	for k, l := range logs {
		w := math.Exp(l-*f.Report.Evidence) * step
		total += w
		first += w * at[k]
		second += w * at[k] * at[k]
	}
	mean := first / total
	sd := math.Sqrt(second/total - mean*mean)
	if !(math.Abs(math.Log(total)) <= 0.08) {
		t.Errorf("the evidence is off by %v nats", math.Log(total))
	}
	got, weight := 0.0, 0.0
	for _, m := range f.Members {
		got += m.Weight * math.Log(m.Model.Features.(bent).length[0])
		weight += m.Weight
	}
	// The mode has the weight of a draw: four standard errors of sixteen draws.
	if !(math.Abs(got-mean) <= 4*sd/math.Sqrt(averageMembers)) || !(math.Abs(weight-1) <= 1e-12) {
		t.Errorf("log lengthscale %v of total weight %v, want %v ± %v", got, weight, mean, sd)
	}
}

// TestSharesOfLengthscales: a drawn member weighs, in units of the mode's, the posterior at its lengthscale over
// the normal density that it was drawn from.
func TestSharesOfLengthscales(t *testing.T) {
	data := randomTable(58, 60, 1, 0)
	features := newBent(1, 0)
	features.unit = 2
	run := opened(t, features, data)
	run.total = data.Rows()
	ctx := context.Background()
	ready := ascent{features: features, hyper: features.length, tune: true, maxIterations: 100, tolerance: 1e-9, last: true}
	end := must.Value(run.climb(ctx, run.form, ready))(t)
	l, err := run.lengthscales(ctx, run.form, end)
	if err != nil || l == nil {
		t.Fatal(l, err)
	}
	if end, err = run.climbBeyond(ctx, run.form, ready); err != nil {
		t.Fatal(err)
	}
	at := func(length float64) float64 {
		held := features
		held.length, held.held = []float64{length}, []bool{true}
		r := fitted(t, model(held, prior.Normal{}, likelihood.Gaussian{}), Config{Starts: 1}, data).Report
		return *r.Evidence - math.Log(length)*math.Log(length)/2
	}
	if len(end.beside) != averageMembers-1 {
		t.Fatalf("%d members beside the mode", len(end.beside))
	}
	sd, top, capped := math.Exp(l.covariance.LogDet()/2), at(end.hyper[0]), 0
	for _, o := range end.beside[:6] {
		z := (math.Log(o.hyper[0]) - l.mean[0]) / sd
		want := at(o.hyper[0]) - top + z*z/2
		if want > mostLogShare {
			want, capped = mostLogShare, capped+1
		}
		near(t, "log share", o.logShare, want, 1e-4)
	}
	if capped == 6 {
		t.Error("no share is its own")
	}
}

// TestSmallWarnings: a variance for every weight, and lengthscales without a prior, on few rows.
func TestSmallWarnings(t *testing.T) {
	for n, want := range map[int]int{99: 1, 101: 0} {
		data := randomTable(61, n, 2, 0)
		f := fitted(t, model(linear(2), prior.Normal{ARD: true}, likelihood.Gaussian{}), Config{}, data)
		if got := strings.Count(strings.Join(f.Report.Warnings, "; "), "normal(ard=true) on "); got != want {
			t.Errorf("%d rows: %q", n, f.Report.Warnings)
		}
	}
	data := randomTable(61, 60, 1, 0)
	for _, c := range []struct {
		starts []float64
		want   string
	}{{nil, "leave lengthscale_prior=none out"}, {[]float64{1}, "state period= where it is known"}} {
		f := fitted(t, model(flat{newBent(1, 0), c.starts}, prior.Normal{}, likelihood.Gaussian{}), Config{Starts: 1}, data)
		if all := strings.Join(f.Report.Warnings, "; "); len(f.Members) != 1 || !strings.Contains(all, "length.b.1 has no prior and stands at its maximum, as if it were known: "+c.want) {
			t.Errorf("%d members, %q", len(f.Members), all)
		}
	}
}

// flat are bent features whose lengthscales have no prior.
type flat struct {
	bent
	starts []float64
}

func (f flat) Hyper() []credence.Hyper {
	list := f.bent.Hyper()
	for k := range list {
		list[k].PriorSD, list[k].Starts = 0, f.starts
	}
	return list
}

func (f flat) WithHyper(values []float64) credence.Features {
	return flat{f.bent.WithHyper(values).(bent), f.starts}
}
