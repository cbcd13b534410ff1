package relation

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
)

// Data draws a table that every family finds its target in:
//
//	x, z, u   numbers of different sizes and means, u without an effect
//	city      a category of three levels
//	garden    a category of two
//	y         a number             b       yes or no
//	count     0, 1, 2, …           hits    of n, between 1 and 5
//	cost      above 0              grade   1, 2 or 3
//	e         an exposure          o       an offset
//
// and the roles that relations give to rows: w counts copies, 0 to 3, and p is a precision, 1 to 4.
func Data(rows int, seed uint64) Table {
	rng := rand.New(rand.NewPCG(seed, 11))
	t := Table{Names: []string{"x", "z", "u", "city", "garden", "y", "b", "count", "cost", "n", "hits", "grade", "e", "o", "w", "p"},
		Numbers: map[string][]float64{}, Texts: map[string][]string{}}
	number := func(name string, v float64) float64 {
		t.Numbers[name] = append(t.Numbers[name], v)
		return v
	}
	text := func(name, v string) { t.Texts[name] = append(t.Texts[name], v) }
	for range rows {
		x, z := rng.NormFloat64(), rng.NormFloat64()
		z = 0.5*x + z
		level, garden := rng.IntN(3), rng.IntN(2)
		f := 0.8*x - 0.4*z + 0.5*float64(level-1) + 0.3*float64(garden)
		number("x", 3+2*x)
		number("z", 0.1*z-1)
		number("u", 10*rng.NormFloat64())
		text("city", []string{"Basel", "Bern", "Biel"}[level])
		text("garden", []string{"lawn", "none"}[garden])
		number("y", 5+2*f+1.5*rng.NormFloat64())
		chance := 1 / (1 + math.Exp(-1.5*f))
		text("b", []string{"no", "yes"}[of(rng.Float64() < chance)])
		e := number("e", 0.5+rng.Float64())
		count := 0
		for level := math.Exp(-2 * e * math.Exp(0.6*f)); ; count++ {
			if level /= rng.Float64(); level >= 1 {
				break
			}
		}
		number("count", float64(count))
		number("cost", math.Exp(1+0.7*f)*(rng.ExpFloat64()+rng.ExpFloat64())/2)
		n := number("n", float64(1+rng.IntN(5)))
		hits := 0
		for range int(n) {
			hits += of(rng.Float64() < chance)
		}
		number("hits", float64(hits))
		number("grade", float64(1+of(f+rng.NormFloat64() > -0.5)+of(f+rng.NormFloat64() > 0.5)))
		number("o", 0.4*rng.NormFloat64())
		number("w", float64(rng.IntN(4)))
		number("p", float64(1+rng.IntN(4)))
	}
	return t
}

func of(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// Wide is the table with columns of noise more, v1 and so on, and the sum of their names for a formula.
func (t Table) Wide(columns int, seed uint64) (wide Table, terms string) {
	rng := rand.New(rand.NewPCG(seed, 12))
	for k := range columns {
		values := make([]float64, t.Rows())
		for i := range values {
			values[i] = rng.NormFloat64()
		}
		name := fmt.Sprintf("v%d", k+1)
		t, terms = t.With(name, values), terms+" + "+name
	}
	return t, terms
}

// Missing is the table with cells that are missing, in one row of seven of x, u and city. The city that most rows have
// and that which weighs most are two.
func (t Table) Missing() Table {
	for k, name := range []string{"x", "u"} {
		values := slices.Clone(t.Numbers[name])
		for i := range values {
			if i%7 == 2*k {
				values[i] = math.NaN()
			}
		}
		t = t.With(name, values)
	}
	texts, weights := slices.Clone(t.Texts["city"]), slices.Clone(t.Numbers["w"])
	for i := range texts {
		switch {
		case i%7 == 5:
			texts[i] = ""
		case texts[i] == "Biel" && i%3 > 0: // which is made rare, and weighs most
			texts[i] = "Bern"
		case texts[i] == "Biel":
			weights[i] = 9
		}
	}
	t = t.With("w", weights)
	t.Texts = maps.Clone(t.Texts)
	t.Texts["city"] = texts
	return t
}
