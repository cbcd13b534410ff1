package criticism

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

const (
	// bends is the number of curves that a trend may be made of, the Legendre polynomials of degrees 2
	// to 4 in the rank of a column. Spreads are compared with those of degrees 1 to 3.
	bends = 3
	// leastShare is the share of the variance of residuals that a trend must explain to matter.
	leastShare = 0.01
)

// trend looks for curves in the scores d log p(y|f)/df, against the prediction and against every column.
// What is linear in either is taken out, because a fit takes it out too.
func (s *sample) trend() *Finding {
	used := func(values []float64) []float64 { return pick(values, s.used) }
	f, score, information := used(s.mean), used(s.score), used(s.information)
	return s.against(func(u []float64, rank []float64) (share, p float64) {
		constant := make([]float64, len(u))
		for i := range constant {
			constant[i] = 1
		}
		return scoreTest(curves(rank, 2), [][]float64{constant, rank, u, f}, information, score)
	}, func(names []string, explained float64) *Finding {
		finding := &Finding{Check: "trend"}
		if len(names) == 0 {
			finding.Text = fmt.Sprintf("the residuals bend with the prediction, and a curve explains %.2g %% of their variance", 100*explained)
			finding.Remedy = "add products of columns or rbf(.) to the formula"
			if other := s.otherFamily(); other != "" {
				finding.Remedy += ", or " + other
			}
			return finding
		}
		finding.Text = fmt.Sprintf("the residuals bend with %s, and a curve explains %.2g %% of their variance", list(names), 100*explained)
		finding.Remedy = fmt.Sprintf("add rbf(%s) or poly(%[1]s, 3) to the formula", names[0])
		return finding
	})
}

// spread looks for residuals that are larger in one place than in another.
func (s *sample) spread() *Finding {
	if s.kind.fixedDispersion || s.kind.classes {
		return nil
	}
	size := func(e float64) float64 { return math.Log1p(e * e) } // outliers count little
	sizes, information := make([]float64, len(s.used)), make([]float64, len(s.used))
	var expected []moment3
	if !s.kind.gaussian { // whose residuals have the same distribution everywhere
		expected = s.replicates(size)
	}
	mean := 0.0
	for k, i := range s.used {
		sizes[k], information[k] = size(s.residual[i]), 1
		if expected != nil {
			sizes[k] -= expected[i].mean
		}
		mean += sizes[k] / float64(len(s.used))
	}
	for k := range sizes {
		sizes[k] -= mean
	}
	return s.against(func(u []float64, rank []float64) (share, p float64) {
		constant := make([]float64, len(u))
		for i := range constant {
			constant[i] = 1
		}
		return scoreTest(curves(rank, 1), [][]float64{constant}, information, sizes)
	}, func(names []string, explained float64) *Finding {
		with := "the prediction"
		if len(names) > 0 {
			with = list(names)
		}
		finding := &Finding{
			Check:  "dispersion",
			Text:   fmt.Sprintf("the residuals spread more in some places than in others, with %s", with),
			Remedy: "intervals are too wide in one place and too narrow in another; " + s.wider(),
		}
		return finding
	})
}

// wider is the remedy for spreads that vary.
func (s *sample) wider() string {
	if s.kind.gaussian {
		if other := s.otherFamily(); other != "" {
			return other
		}
		return "give precision(w) if a column says how precise a row is" + s.heavy(", or ")
	}
	return "fit groups of rows that spread alike apart"
}

// heavy proposes the Student t family, which is fitted under a normal prior alone. Of whole numbers from 0 on it is none
// but by an error: its scale shrinks to nothing about the commonest of them, where its density has no bound.
func (s *sample) heavy(before string) string {
	if !s.normal || s.whole {
		return ""
	}
	return before + "--family studentt"
}

// otherFamily proposes another family than the Gaussian for targets that look like counts, grades or classes, and for
// positive ones their logarithm too; "" for all others.
func (s *sample) otherFamily() string {
	switch {
	case !s.kind.gaussian || s.name == "" || s.transformed:
		return ""
	case s.discrete():
		return s.looks.Remedy
	}
	for _, i := range s.used {
		if !(s.target[i] > 0) {
			return ""
		}
	}
	if !s.normal {
		return fmt.Sprintf("fit log(%s)", s.name)
	}
	return fmt.Sprintf("fit log(%s), or --family gamma", s.name)
}

// discrete says whether the targets of a Gaussian look like counts, grades or classes, whose families are fitted under a
// normal prior.
func (s *sample) discrete() bool {
	return s.normal && s.looks != nil && (s.looks.Like == LookCounts || s.looks.Like == LookGrades || s.looks.Like == LookClasses)
}

// against runs a test against the prediction and every column, and says what was found, nil for nothing.
// Columns stand before the prediction, which bends with them.
func (s *sample) against(test func(u, rank []float64) (share, p float64), say func(names []string, share float64) *Finding) *Finding {
	type result struct {
		name     string
		share, p float64
	}
	columns := s.largest()
	tests := float64(len(columns) + 1)
	run := func(name string, values []float64) result {
		u := pick(values, s.used)
		standardise(u)
		explained, p := test(u, ranks(u))
		return result{name, explained, math.Min(1, p*tests)}
	}
	least := leastShare + s.error()
	speaks := func(r result) bool { return r.p <= share && r.share >= least }
	results := make([]result, len(columns))
	s.ws.Pool().Run(len(columns), func(k, _ int) { results[k] = run(columns[k].name, columns[k].values) })
	results = slices.DeleteFunc(results, func(r result) bool { return !speaks(r) })
	var names []string
	if len(results) == 0 {
		r := run("", s.mean)
		if !speaks(r) {
			return nil
		}
		results = append(results, r)
	} else {
		slices.SortStableFunc(results, func(a, b result) int { return cmp.Compare(b.share, a.share) })
		for _, r := range results {
			names = append(names, r.name)
		}
	}
	f := say(names, results[0].share)
	f.Statistic, f.P = results[0].share, results[0].p
	return f
}

// error bounds the share of the variance of residuals that the error of f itself explains in rows other
// than those of the fit, by twice its expectation: however many rows there are, the error bends them all
// alike. Residuals of rows of the fit have none of it.
func (s *sample) error() float64 {
	if s.options.Fitted {
		return 0
	}
	sum := 0.0
	for _, i := range s.used {
		sum += s.variance[i] * s.information[i]
	}
	return 2 * sum / float64(len(s.used))
}

// largest returns the columns that vary most with the prediction, at most mostColumns.
func (s *sample) largest() []column {
	f := pick(s.mean, s.used)
	standardise(f)
	type candidate struct {
		column
		size float64
	}
	var list []candidate
	for _, c := range s.columns {
		u := pick(c.values, s.used)
		if !standardise(u) {
			continue
		}
		sum := 0.0
		for i, v := range u {
			sum += v * f[i]
		}
		list = append(list, candidate{c, math.Abs(sum)})
	}
	slices.SortStableFunc(list, func(a, b candidate) int { return cmp.Compare(b.size, a.size) })
	columns := make([]column, min(len(list), mostColumns))
	for i := range columns {
		columns[i] = list[i].column
	}
	return columns
}

// list names the first three.
func list(names []string) string {
	if len(names) > 3 {
		return strings.Join(names[:3], ", ") + fmt.Sprintf(" and %d more", len(names)-3)
	}
	return strings.Join(names, ", ")
}

// pick returns the values of the rows.
func pick(values []float64, rows []int) []float64 {
	out := make([]float64, len(rows))
	for k, i := range rows {
		out[k] = values[i]
	}
	return out
}
