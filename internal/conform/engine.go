package conform

import (
	"context"
	"errors"
	"math"
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
