package criticism

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/likelihood"
)

// looked draws 500 values.
func looked(seed uint64, draw func(rng *rand.Rand) float64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 26))
	values := make([]float64, 500)
	for i := range values {
		values[i] = draw(rng)
	}
	return values
}

// TestLook: values that are drawn of a family look like it, whatever columns would explain of them.
func TestLook(t *testing.T) {
	between := func(low, v, high float64) float64 { return math.Min(high, math.Max(low, v)) }
	for name, c := range map[string]struct {
		like, first string
		draw        func(rng *rand.Rand) float64
	}{
		"claims, one in five":       {LookCounts, "poisson", func(rng *rand.Rand) float64 { return likelihood.Poisson{}.Sample(rng, -1.6) }},
		"claims of unequal drivers": {LookCounts, "poisson", func(rng *rand.Rand) float64 { return likelihood.Poisson{}.Sample(rng, -2+.3*rng.NormFloat64()) }},
		"visits":                    {LookCounts, "poisson", func(rng *rand.Rand) float64 { return likelihood.Poisson{}.Sample(rng, 2) }},
		"bikes in an hour":          {LookCounts, "negbinomial", func(rng *rand.Rand) float64 { return likelihood.Poisson{}.Sample(rng, 4.5+.8*rng.NormFloat64()) }},
		"accidents, few":            {LookCounts, "poisson", func(rng *rand.Rand) float64 { return math.Floor(2.8 * math.Pow(rng.Float64(), 1.7)) }},
		"grades 1 to 5":             {LookGrades, "ordinal", func(rng *rand.Rand) float64 { return between(1, math.Round(3+rng.NormFloat64()), 5) }},
		"grades 0 to 4":             {LookGrades, "ordinal", func(rng *rand.Rand) float64 { return between(0, math.Round(2+1.3*rng.NormFloat64()), 4) }},
		"quality 3 to 9":            {LookGrades, "ordinal", func(rng *rand.Rand) float64 { return between(0, math.Round(6+.9*rng.NormFloat64()), 10) }},
		"one or two":                {LookClasses, "bernoulli", func(rng *rand.Rand) float64 { return 1 + math.Floor(2*rng.Float64()) }},
		"shares of twenty":          {LookShares, "binomial", func(rng *rand.Rand) float64 { return math.Round(20*rng.Float64()) / 20 }},
		"prices":                    {LookAmounts, "gamma", func(rng *rand.Rand) float64 { return math.Round(100*math.Exp(5+.7*rng.NormFloat64())) / 100 }},
		"whole hundreds of dollars": {LookAmounts, "gamma", func(rng *rand.Rand) float64 { return 100 * math.Round(math.Exp(7+.6*rng.NormFloat64())) }},
		"whole dollars":             {LookAmounts, "gamma", func(rng *rand.Rand) float64 { return math.Round(math.Exp(12 + .6*rng.NormFloat64())) }},
		"whole numbers, narrow":     {"", "", func(rng *rand.Rand) float64 { return math.Round(5000 + 300*rng.NormFloat64()) }},
		"costs, mostly none": {LookAmounts, "gamma", func(rng *rand.Rand) float64 {
			if rng.Float64() < .7 {
				return 0
			}
			return math.Exp(5 + rng.NormFloat64())
		}},
		"years":              {LookNumbers, "", func(rng *rand.Rand) float64 { return math.Round(2005 + 6*rng.NormFloat64()) }},
		"ages":               {LookNumbers, "negbinomial", func(rng *rand.Rand) float64 { return math.Round(between(18, 45+14*rng.NormFloat64(), 90)) }},
		"normal values":      {"", "", func(rng *rand.Rand) float64 { return rng.NormFloat64() }},
		"positive, normal":   {"", "", func(rng *rand.Rand) float64 { return 10 + rng.NormFloat64() }},
		"whole and negative": {"", "", func(rng *rand.Rand) float64 { return math.Round(5 * rng.NormFloat64()) }},
		"per cent":           {"", "", func(rng *rand.Rand) float64 { return 100 * rng.Float64() }},
		"left-skewed":        {"", "", func(rng *rand.Rand) float64 { return 100 - between(0, 5*math.Exp(rng.NormFloat64()), 99) }},
		"constant":           {"", "", func(*rand.Rand) float64 { return 3 }},
	} {
		for seed := range uint64(20) {
			look := LookAt("y", looked(seed, c.draw))
			if look == nil {
				look = &credence.Look{}
			}
			first := ""
			if len(look.Families) > 0 {
				first = look.Families[0]
			}
			if look.Like != c.like || first != c.first {
				t.Errorf("%s, seed %d: %+v", name, seed, look)
			}
			// The remedy names what it is about, and so can be typed.
			if named := first == "" || strings.Contains(look.Remedy, first); !named {
				t.Errorf("%s: the remedy %q does not name %s", name, look.Remedy, first)
			}
			for _, f := range look.Families {
				if !slices.ContainsFunc(likelihood.All(), func(e likelihood.Entry) bool { return e.Zero.Name() == f }) {
					t.Errorf("%s: there is no family %s", name, f)
				}
			}
		}
	}
}

// TestLookOfPieces: values in pieces look as they do at once, and what is told of them is true of all,
// also of those between the ones whose quantiles are taken.
func TestLookOfPieces(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 26))
	values := make([]float64, 45_001)
	for i := range values {
		values[i] = math.Exp(.5 * rng.NormFloat64())
	}
	values[7], values[29_999] = .0625, 1024.5
	values[11] = math.NaN()
	whole := LookAt("y", values)
	var pieces Targets
	for from := 0; from < len(values); from += 777 {
		pieces.Add(values[from:min(from+777, len(values))])
	}
	if got := pieces.Look("y"); got.String() != whole.String() || !strings.Contains(got.Text, "from 0.0625 to 1024") {
		t.Errorf("%v, at once %v", got, whole)
	}
	if n := len(pieces.every); n < lookedAt || n >= 2*lookedAt || n*pieces.stride < pieces.rows || (n-1)*pieces.stride >= pieces.rows {
		t.Errorf("quantiles of %d values, one of %d", n, pieces.stride)
	}
	if got := LookAt("y", append(make([]float64, 0, 8), 0, 1, 2, 3, 1, 0, 2)); got != nil {
		t.Errorf("seven values: %v", got)
	}
}
