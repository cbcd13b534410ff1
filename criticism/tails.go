package criticism

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mathext"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/special"
)

const (
	// mostOutliers is the largest share of rows that are outliers: more are a matter of the family.
	mostOutliers = 0.1
	// namedRows is how many outliers a finding names in its text.
	namedRows = 5
	// leastKurtosis is that from which tails matter, of a Student t with some twenty degrees of freedom, and toldKurtosis
	// that from which they are told with the fit: of ten, which a row of gains .006 nat by.
	leastKurtosis, toldKurtosis = 3.4, 4
)

// extremes returns the rows that are impossible under the model, the most extreme first, none where
// they are so many that the family is to blame.
func (s *sample) extremes() []int {
	n := float64(len(s.target))
	p := s.surprise
	if scale := s.robustScale(); scale > 0 {
		p = make([]float64, len(s.residual))
		for i, e := range s.residual {
			// Outliers that have bent the fit leave the error of f, √leverage times the noise they are taken
			// for, in the residuals of all rows.
			own := scale
			if s.options.Fitted {
				own = math.Max(scale, math.Sqrt(s.variance[i]*s.information[i]))
			}
			// The median size is as good as the variance of 0.37 times as many rows.
			p[i] = studentTail(e/own, 0.37*n)
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

// robustScale is the standard deviation of the residuals of a Gaussian as their median size has it, 0 of
// another family: outliers enlarge a learned variance, behind which they would hide.
func (s *sample) robustScale() float64 {
	if !s.kind.gaussian {
		return 0
	}
	sizes := make([]float64, len(s.residual))
	for i, e := range s.residual {
		sizes[i] = math.Abs(e)
	}
	slices.Sort(sizes)
	return sizes[len(sizes)/2] / special.NormalQuantile(0.75)
}

// unlikely is the probability under the mean of f from which on a target is no candidate for an outlier.
// The predictive distribution, which has thicker tails, costs much more.
const unlikely = 1e-3

// surprise is the probability of a target of row i that is as extreme as y, or 1 where that is far from 0.
func (k kind) surprise(dist *credence.Distribution, l family, i int, y float64) float64 {
	if k.gaussian { // see robustScale
		return 1
	}
	f, _ := dist.Latent(i)
	if k.classes {
		if math.Exp(l.LogDensity(y, f)) > unlikely {
			return 1
		}
		return math.Exp(dist.LogDensity(i, y))
	}
	if extreme(l, y, func(y float64) float64 { return l.CDF(y, f) }) > unlikely {
		return 1
	}
	return extreme(l, y, func(y float64) float64 { return dist.CDF(i, y) })
}

// surpriseUnder is the larger of a surprise that matters and that under a likelihood at other parameters.
func (k kind) surpriseUnder(l family, dist *credence.Distribution, surprise float64, i int, y float64) float64 {
	if k.gaussian || k.classes || surprise > unlikely {
		return surprise
	}
	f, variance := dist.Latent(i)
	return math.Max(surprise, extreme(l, y, func(y float64) float64 { return l.PredictiveCDF(y, f, variance) }))
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
func (s *sample) outliers(rows []int) *Finding {
	if len(rows) == 0 {
		return nil
	}
	f := &Finding{Check: "outliers", Tone: Fault, Statistic: float64(len(rows)), P: s.least}
	for _, i := range rows {
		f.Rows = append(f.Rows, s.place[i])
	}
	var named []string
	for _, row := range f.Rows[:min(len(f.Rows), namedRows)] {
		named = append(named, strconv.Itoa(s.sourceRow(row)+1))
	}
	if len(f.Rows) > namedRows {
		named = append(named, "…")
	}
	if s.discrete() { // the family is to blame, not the rows
		f.Text = fmt.Sprintf("the family is wrong, and not the rows: column %s is fitted as gaussian and holds %s, and %d of the %d rows looked at are impossible under a normal distribution", s.name, s.looks.Text, len(rows), len(s.target))
		f.Remedy = s.looks.Remedy
		return f
	}
	if len(rows) == 1 {
		f.Text = fmt.Sprintf("1 row (row %s) is impossible under the model", named[0])
	} else {
		f.Text = fmt.Sprintf("%d rows (rows %s) are impossible under the model", len(rows), strings.Join(named, ", "))
	}
	f.Remedy = "correct or leave out what is wrong"
	switch {
	case s.kind.gaussian:
		if heavy := s.heavy(", or "); heavy != "" {
			f.Remedy += heavy + ", under which single rows count little"
		}
	case s.kind.name == "poisson":
		f.Remedy += ", or --family negbinomial"
	}
	return f
}

// tails compares the kurtosis of the residuals of a Gaussian with that of normal ones.
func (s *sample) tails() *Finding {
	if !s.kind.gaussian {
		return nil
	}
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
	p := kurtosisAbove(kurtosis, n)
	if p > s.share || kurtosis < leastKurtosis {
		return nil
	}
	f := &Finding{
		Check: "tails", Tone: Remark, Statistic: kurtosis, Expected: 3 * (n - 1) / (n + 1), P: p,
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

// kurtosisAbove is the probability that n normal values have at least this kurtosis: the cube root
// of a ratio of moments is about normal (Anscombe & Glynn 1983).
func kurtosisAbove(kurtosis, n float64) float64 {
	mean := 3 * (n - 1) / (n + 1)
	variance := 24 * n * (n - 2) * (n - 3) / ((n + 1) * (n + 1) * (n + 3) * (n + 5))
	x := (kurtosis - mean) / math.Sqrt(variance)
	skew := 6 * (n*n - 5*n + 2) / ((n + 7) * (n + 9)) * math.Sqrt(6*(n+3)*(n+5)/(n*(n-2)*(n-3)))
	a := 6 + 8/skew*(2/skew+math.Sqrt(1+4/(skew*skew)))
	z := (1 - 2/(9*a) - math.Cbrt((1-2/a)/(1+x*math.Sqrt(2/(a-4))))) / math.Sqrt(2/(9*a))
	return special.NormalCDF(-z)
}

// above returns about P(T ≥ t) of a sum: the tail of the gamma distribution, shifted and maybe turned
// round, that has its cumulants.
func (m moment3) above(t float64) float64 {
	if !(m.variance > 0) {
		if t > m.mean {
			return 0
		}
		return 1
	}
	z, skew := (t-m.mean)/math.Sqrt(m.variance), m.third/math.Pow(m.variance, 1.5)
	if math.Abs(skew) < 1e-3 {
		return special.NormalCDF(-z)
	}
	// A gamma variable of this shape a, less a and over √a, has skewness 2/√a.
	root := 2 / math.Abs(skew)
	shape := root * root
	if skew > 0 {
		return mathext.GammaIncRegComp(shape, math.Max(0, shape+root*z))
	}
	return mathext.GammaIncReg(shape, math.Max(0, shape-root*z))
}

// below returns about P(T ≤ t).
func (m moment3) below(t float64) float64 {
	return moment3{-m.mean, m.variance, -m.third}.above(-t)
}

// studentTail returns P(|T| ≥ t) of a Student-t variable.
func studentTail(t, df float64) float64 { return 2 * special.StudentCDF(-math.Abs(t), df) }
