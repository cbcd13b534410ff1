package criticism

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/special"
)

const (
	// mostOutliers is the largest share of rows that are outliers: more are a matter of the family.
	mostOutliers = 0.1
	// namedRows is how many outliers a finding names in its text.
	namedRows = 5
	// leastKurtosis is that from which tails matter, of a Student t with some twenty degrees of freedom, and
	// toldKurtosis that from which they are told with the fit: of ten, which a row of gains .006 nat by.
	leastKurtosis, toldKurtosis = 3.4, 4
)

// extremes returns the rows that are impossible under the model, the most extreme first, none where
// they are so many that the family is to blame.
func (s *sample) extremes() []int {
	n := float64(len(s.target))
	p := s.surprise
	if s.kind.gaussian {
		// The standard deviation as the median size has it: outliers enlarge a learned variance, behind which they
		// would hide.
		sizes := make([]float64, len(s.residual))
		for i, e := range s.residual {
			sizes[i] = math.Abs(e)
		}
		scale := sizes[ascending(floatBits(sizes))[len(sizes)/2]] / special.NormalQuantile(0.75)
		for i, e := range s.residual {
			if scale == 0 { // more than half are on the line
				break
			}
			// Outliers that have bent the fit leave the error of f, √leverage times the noise they are taken
			// for, in the residuals of all rows.
			own := scale
			if s.options.Fitted {
				own = max(scale, math.Sqrt(s.variance[i]*s.information[i]))
			}
			// The median size is as good as the variance of 0.37 times as many rows. No other tail is below unlikely.
			if t := math.Abs(e) / own; t > 3 {
				p[i] = studentTail(t, 0.37*n)
			}
		}
	}
	var rows []int
	s.least = 1
	for i := range p {
		s.least = math.Min(s.least, p[i]*n)
		if p[i]*n <= s.share {
			rows = append(rows, i)
		}
	}
	if float64(len(rows)) > mostOutliers*n {
		return nil
	}
	slices.SortStableFunc(rows, func(a, b int) int {
		return cmp.Or(cmp.Compare(p[a], p[b]), cmp.Compare(math.Abs(s.residual[b]), math.Abs(s.residual[a])))
	})
	return rows
}

// unlikely is the probability under the mean of f from which on a target is no candidate for an outlier.
// The predictive distribution, which has thicker tails, costs much more.
const unlikely = 1e-3

// surprise is the probability of a target of a row that is as extreme as y, the largest under l and under far, the
// likelihoods at other parameters; 1 where that is far from 0, and of a Gaussian, see extremes.
func (k kind) surprise(batch *credence.Batch, dist *credence.Distribution, l family, far []credence.Likelihood, i int) float64 {
	y := batch.Target[i]
	f, variance := dist.Latent(i)
	switch {
	case k.gaussian:
		return 1
	case k.classes && math.Exp(l.LogDensity(y, f)) > unlikely:
		return 1
	case k.classes:
		return math.Exp(dist.LogDensity(i, y))
	case extreme(l, y, func(y float64) float64 { return l.CDF(y, f) }) > unlikely:
		return 1
	}
	p := extreme(l, y, func(y float64) float64 { return dist.CDF(i, y) })
	for _, other := range far {
		if other, ok := batch.LikelihoodOf(other, i).(family); ok && p <= unlikely {
			p = max(p, extreme(other, y, func(y float64) float64 { return other.PredictiveCDF(y, f, variance) }))
		}
	}
	return p
}

// extreme is the probability of a target at least as far out as y, on either side.
func extreme(l family, y float64, cdf func(y float64) float64) float64 {
	upTo := cdf(y)
	from := 1 - upTo
	if l.Discrete() {
		from = 1 - cdf(y-1)
	}
	return math.Max(0, 2*math.Min(upTo, from))
}

// outliers names the rows.
func (s *sample) outliers() *Finding {
	n := len(s.extreme)
	if n == 0 {
		return nil
	}
	f := &Finding{Statistic: float64(n), P: s.least, Remedy: "correct or leave out what is wrong"}
	var named []string
	for k, i := range s.extreme {
		f.Rows = append(f.Rows, s.place[i])
		if k < namedRows {
			named = append(named, strconv.Itoa(s.sourceRow(s.place[i])+1))
		} else if k == namedRows {
			named = append(named, "…")
		}
	}
	f.Text = fmt.Sprintf("%d rows (rows %s) are impossible under the model", n, strings.Join(named, ", "))
	if n == 1 {
		f.Text = fmt.Sprintf("1 row (row %s) is impossible under the model", named[0])
	}
	switch {
	case s.discrete(): // the family is to blame, not the rows
		f.Text = fmt.Sprintf("the family is wrong, and not the rows: column %s is fitted as gaussian and holds %s, and %d of the %d rows looked at are impossible under a normal distribution", s.name, s.looks.Text, n, len(s.target))
		f.Remedy = s.looks.Remedy
	case s.kind.gaussian && s.otherFamily() != "" && !slices.ContainsFunc(s.extreme, func(i int) bool { return s.residual[i] < 0 }):
		f.Remedy += ", or " + s.otherFamily() // large amounts are far above
	case s.kind.gaussian && s.heavy("") != "":
		f.Remedy += s.heavy(", or ") + ", under which single rows count little"
	case s.kind.name == "poisson":
		f.Remedy += ", or --family negbinomial"
	}
	return f
}

// tails compares the kurtosis of the residuals of a Gaussian with that of normal ones.
func (s *sample) tails() *Finding {
	e := pick(s.residual, s.used)
	if !standardise(e) {
		return nil
	}
	n := float64(len(e))
	kurtosis, skewness := 0.0, 0.0
	for _, v := range e {
		kurtosis += v * v * v * v / n
		skewness += v * v * v / n
	}
	if kurtosis < leastKurtosis {
		return nil
	}
	f := &Finding{
		Statistic: kurtosis, Expected: 3 * (n - 1) / (n + 1), P: kurtosisAbove(kurtosis, n),
		Text:   fmt.Sprintf("large residuals are more common than under a normal distribution (kurtosis %.2g, not 3)", kurtosis),
		Remedy: cmp.Or(s.heavy(""), "intervals are too narrow far out, and too wide nearby"),
	}
	if kurtosis < toldKurtosis {
		f.Tone = Detail
	}
	other := s.otherFamily()
	if other != "" && skewness > 0 && special.QuantileSkewness(s.residual) > leastLopsided {
		f.Text = fmt.Sprintf("large residuals are more common above than below the prediction (skewness %.2g, not 0)", skewness)
		f.Remedy = other
	}
	if s.discrete() {
		f.Remedy = other
	}
	return f
}

// leastLopsided is the skewness by quantiles from which tails are a matter of one side: that of a gamma
// distribution of shape 8. 400 values of a Student t with two degrees of freedom exceed 0.18 once in 40 sets.
const leastLopsided = 0.2

// wider is the remedy for spreads that vary.
func (s *sample) wider() string {
	if !s.kind.gaussian {
		return "fit groups of rows that spread alike apart"
	}
	return cmp.Or(s.otherFamily(), "give precision(w) if a column says how precise a row is"+s.heavy(", or "))
}

// heavy proposes the Student t family, which is fitted under a normal prior alone. Of whole numbers from 0 on it is
// none but by an error: its scale shrinks to nothing about the commonest of them, where its density has no bound.
func (s *sample) heavy(before string) string {
	if !s.normal || !slices.ContainsFunc(s.target, func(y float64) bool { return y < 0 || y != math.Trunc(y) }) {
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
	case slices.ContainsFunc(s.used, func(i int) bool { return !(s.target[i] > 0) }):
		return ""
	case !s.normal:
		return fmt.Sprintf("fit log(%s)", s.term(s.name))
	}
	return fmt.Sprintf("fit log(%s), or --family gamma", s.term(s.name))
}

// discrete says whether the targets of a Gaussian look like counts, grades or classes, whose families are fitted under
// a normal prior.
func (s *sample) discrete() bool {
	return s.normal && s.looks != nil && (s.looks.Like == LookCounts || s.looks.Like == LookGrades || s.looks.Like == LookClasses)
}
