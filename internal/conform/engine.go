package conform

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/credence-ml/credence"
)

// Engine tests an engine on data that it can fit. make returns a new engine for
// the same model and options at the given number of threads.
func Engine(t *testing.T, make func(threads int) (credence.Engine, error), data credence.Data) {
	t.Helper()
	fit := func(t *testing.T, threads int) *credence.Fitted {
		t.Helper()
		engine, err := make(threads)
		if err != nil {
			t.Fatal(err)
		}
		fitted, err := engine.Fit(context.Background(), data)
		if err != nil {
			t.Fatal(err)
		}
		return fitted
	}
	first := fit(t, 1)
	t.Run("report", func(t *testing.T) { engineReport(t, first, data) })
	t.Run("threads", func(t *testing.T) {
		for threads := 1; threads <= 3; threads++ {
			other := fit(t, threads)
			if !reflect.DeepEqual(other.Report, first.Report) {
				t.Errorf("the report differs between %d threads and one:\n%+v\n%+v", threads, other.Report, first.Report)
			}
			for k := range first.Members {
				if !reflect.DeepEqual(other.Members[k].Posterior, first.Members[k].Posterior) {
					t.Errorf("the posterior differs between %d threads and one", threads)
				}
			}
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		engine, err := make(1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := engine.Fit(ctx, data); !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled fit returned %v", err)
		}
	})
}

// engineReport checks what every fit reports.
func engineReport(t *testing.T, fitted *credence.Fitted, data credence.Data) {
	t.Helper()
	report := &fitted.Report
	if len(fitted.Members) == 0 {
		t.Fatal("the fit has no members")
	}
	d := fitted.Members[0].Model.Features.Weights()
	if report.Engine == "" || report.Rows != data.Rows() || report.Weights != d {
		t.Errorf("the report names engine %q, %d rows and %d weights, want %d and %d", report.Engine, report.Rows, report.Weights, data.Rows(), d)
	}
	switch report.Status {
	case credence.Converged, credence.IterationLimit, credence.Closed:
	default:
		t.Errorf("the fit ended as %q", report.Status)
	}
	for _, bound := range []*float64{report.Evidence, report.EvidencePenalised, report.ELBO} {
		if bound != nil && (math.IsNaN(*bound) || math.IsInf(*bound, 0)) {
			t.Errorf("an evidence or bound is %v", *bound)
		}
	}
	for _, member := range fitted.Members {
		if w := member.Posterior.Weights(); w != d {
			t.Errorf("a posterior has %d of %d weights", w, d)
		}
		if member.Model.Likelihood == nil || member.Model.Prior == nil {
			t.Error("a member's model lacks its likelihood or prior")
		}
	}
	if !(fitted.TargetVariance >= 0) || math.IsNaN(fitted.TargetMean) {
		t.Errorf("the targets have mean %v and variance %v", fitted.TargetMean, fitted.TargetVariance)
	}
}

// Roles tests what an engine makes of weights and offsets: weight 2 is the row twice, and
// offsets that are a combination of the features move the weights back by it. The second is
// true where the prior hardly matters, so that fit must have one that is nearly flat,
// held; tolerance bounds what is left of it and where fits stop, of means in standard
// deviations and of variances relative. Data need no weights and offsets of their own.
func Roles(t *testing.T, engine credence.Engine, data credence.Data, tolerance float64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(51, 52))
	var rows credence.Batch
	if err := data.Read(&rows, 0, data.Rows()); err != nil {
		t.Fatal(err)
	}
	n := rows.Rows()
	rows.Weight, rows.Offset = make([]float64, n), make([]float64, n)
	var order []int
	for i := range n {
		rows.Weight[i] = float64(1 + rng.IntN(3))
		for range int(rows.Weight[i]) {
			order = append(order, i)
		}
	}
	fit := func(rows *credence.Batch) (fitted *credence.Fitted, mean, variance []float64) {
		fitted, err := engine.Fit(context.Background(), Memory{rows})
		if err != nil {
			t.Fatal(err)
		}
		mean, variance = make([]float64, fitted.Report.Weights), make([]float64, fitted.Report.Weights)
		fitted.Members[0].Posterior.Marginals(mean, variance)
		return fitted, mean, variance
	}
	weighted, mean, variance := fit(&rows)
	compare := func(t *testing.T, gotMean, gotVariance, want []float64) {
		t.Helper()
		for j, v := range variance {
			if !(math.Abs(gotMean[j]-want[j]) <= tolerance*math.Sqrt(v)) || !(math.Abs(gotVariance[j]-v) <= tolerance*v) {
				t.Errorf("weight %d is %g with variance %g, want %g and %g", j, gotMean[j], gotVariance[j], want[j], v)
			}
		}
	}
	t.Run("weights", func(t *testing.T) {
		twice := pick(&rows, 0, len(order), order)
		twice.Weight = nil
		fitted, m, v := fit(twice)
		compare(t, m, v, mean)
		for _, bound := range [][2]*float64{{fitted.Report.Evidence, weighted.Report.Evidence}, {fitted.Report.ELBO, weighted.Report.ELBO}} {
			if bound[0] != nil {
				near(t, *bound[0], *bound[1], tolerance, "evidence or bound")
			}
		}
	})
	t.Run("offsets", func(t *testing.T) {
		var phi credence.Design
		features := weighted.Members[0].Model.Features
		features.Transform(credence.NewWorkspace(1), &phi, &rows)
		held := make([]float64, features.Weights())
		moved := make([]float64, len(held))
		for j := range held {
			held[j] = rng.NormFloat64() / 2
			moved[j] = mean[j] - held[j]
		}
		shifted := rows
		shifted.Offset = make([]float64, n)
		phi.MulVec(shifted.Offset, held)
		_, m, v := fit(&shifted)
		compare(t, m, v, moved)
	})
}
