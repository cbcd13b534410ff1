package criticism

import (
	"context"
	"math"

	"github.com/credence-ml/credence"
)

const (
	// ErrorRate is about the share of fits of right models that one of the checks speaks against.
	ErrorRate = 0.01
	// Rows is the largest number of rows that are looked at.
	Rows = 10000
	// fewestRows is the number of rows below which sums say nothing.
	fewestRows = 30
	// share is the error of each of the five checks.
	share = ErrorRate / 5
)

// Options says how to look at the rows.
type Options struct {
	Seed    uint64 // of the replicated targets
	Threads int    // 0 means all processors; results do not depend on it
	// Fitted says that the rows are those that the model was fitted to.
	Fitted bool
}

// Finding is what a check says against a model.
type Finding struct {
	Check     string  `json:"check"` // dispersion, zeros, tails, trend or outliers
	Statistic float64 `json:"statistic"`
	Expected  float64 `json:"expected"` // value of the statistic under the model
	P         float64 `json:"p"`        // probability of the statistic under the model, for all that the check looked at
	Text      string  `json:"text"`
	Remedy    string  `json:"remedy"`
	Rows      []int   `json:"rows,omitempty"` // of the data, counted from 0
}

// String returns the text and the remedy in one line.
func (f Finding) String() string { return f.Text + ": " + f.Remedy }

// Of looks for faults of a model in rows with targets: those that it was fitted to, or others. It returns
// what was found, at most one finding for each check. The likelihood must be one with
// derivatives and a distribution function, such as every family of package likelihood; any other has no
// findings. Rows of weight 0 are left out, and other weights are not used.
func Of(ctx context.Context, fitted *credence.Fitted, data credence.Data, options Options) ([]Finding, error) {
	s, err := newSample(ctx, fitted, data, options)
	if err != nil || s == nil || len(s.residual) == 0 {
		return nil, err
	}
	var found []Finding
	add := func(f *Finding) bool {
		if f == nil {
			return false
		}
		found = append(found, *f)
		return true
	}
	// Outliers come first: few of them are left out of what follows, and many are no outliers but
	// a matter of dispersion or tails.
	extreme := s.extremes()
	all := s.used
	s.leaveOut(extreme)
	if s.kind.fixedDispersion && len(extreme) > 0 && s.dispersion() != nil {
		extreme, s.used = nil, all
	}
	outliers := add(s.outliers(extreme))
	if len(s.used) < fewestRows {
		return found, nil
	}
	wild := outliers && s.influence(extreme) > influential
	if !wild {
		dispersed := add(s.dispersion())
		add(s.zeros(dispersed))
	}
	told := outliers && s.discrete() // that the family is another
	if !told {
		add(s.tails())
	}
	if !wild && !add(s.trend()) && !told {
		add(s.spread())
	}
	return found, nil
}

// influential is the sum of squared residuals of outliers, in those of all other rows, from which on
// they have bent the fit so far that the other residuals show nothing but that.
const influential = 1

// influence returns the sum of squared residuals of the rows over that of the rows used.
func (s *sample) influence(rows []int) float64 {
	squares := func(rows []int) float64 {
		sum := 0.0
		for _, i := range rows {
			sum += s.residual[i] * s.residual[i]
		}
		return sum
	}
	return squares(rows) / math.Max(squares(s.used), math.SmallestNonzeroFloat64)
}
