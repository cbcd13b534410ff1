package relation

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/credence-ml/credence/fit"
)

// All are the relations of rows, columns, roles, units and running, in the order of the page.
func All() []Relation {
	return slices.Concat(Roles(), Orders(), Units(), Running())
}

// Roles are the relations of what a row counts for.
func Roles() []Relation {
	return []Relation{
		{
			Name: "weights = copies", About: "a row of weight 0, 1, 2 or 3 is the row so many times", Refused: "weight",
			Base: func(j Job) (Job, bool) { return j.Term("weight(w)"), weightless(j) },
			Change: func(j Job) (Job, bool) {
				j.Rows = j.Rows.Pick(copies(j.Rows.Numbers["w"]))
				return j, weightless(j)
			},
			Expect: untold("rows"),
		},
		{
			Name: "weight 0 = no row", About: "a row of weight 0 is not there", Refused: "weight",
			Base: func(j Job) (Job, bool) { return j.Term("weight(w)"), weightless(j) },
			Change: func(j Job) (Job, bool) {
				var rows []int
				for i, w := range j.Rows.Numbers["w"] {
					if w > 0 {
						rows = append(rows, i)
					}
				}
				j.Rows = j.Rows.Pick(rows)
				return j.Term("weight(w)"), weightless(j)
			},
			Expect: untold("rows"),
		},
		{
			Name: "weight 0 says nothing", About: "what stands in a row of weight 0 moves no number", Refused: "weight",
			Base: func(j Job) (Job, bool) { return j.Term("weight(w)"), weightless(j) },
			Change: func(j Job) (Job, bool) {
				w := j.Rows.Numbers["w"]
				away := func(t Table, name string, by float64) Table {
					values := slices.Clone(t.Numbers[name])
					for i := range values {
						if w[i] == 0 {
							values[i] += by
						}
					}
					return t.With(name, values)
				}
				j.Rows = away(away(j.Rows, "x", 30), "u", -40)
				if y := j.Target(); additive(j) {
					j.Rows = away(j.Rows, y, 50)
				}
				return j.Term("weight(w)"), weightless(j)
			},
		},
		{
			Name: "precision = copies", About: "under a held variance v a Gaussian row of precision 4 is the row four times, the evidence apart by ½ log 4 + 3⁄2 log 2πv; where a family has no dispersion, precision is a weight", Refused: "precision",
			Base: func(j Job) (Job, bool) {
				applies := roleless(j) && dispersion(j) != other
				j = heldNoise(j).Term("precision(p)")
				j.Options.Raw = true // scales of columns are those of rows
				j.Probe = j.Probe.Map("p", func(float64) float64 { return 1 })
				return j, applies
			},
			Change: func(j Job) (Job, bool) {
				j.Options.Raw = true
				if dispersion(j) == none {
					return j.Term("weight(p)"), roleless(j)
				}
				j = heldNoise(j)
				j.Rows = j.Rows.Pick(copies(j.Rows.Numbers["p"]))
				return j, roleless(j) && dispersion(j) != other
			},
			Expect: func(j Job, place string, v float64) (float64, bool) {
				if isEvidence(place) && dispersion(j) == gaussian {
					for _, p := range j.Rows.Numbers["p"] {
						v -= (p-1)/2*math.Log(2*math.Pi*heldVariance) + math.Log(p)/2
					}
				}
				// which is what a row is compared with, of any precision
				return v, place != "rows" && !strings.HasPrefix(place, "target.")
			},
		},
		{
			Name: "unit of precision", About: "where precisions are four times as large, the dispersion of the noise is too, and nothing else changes", Refused: "precision",
			Base: func(j Job) (Job, bool) {
				applies := roleless(j) && free(j) && dispersed(j)
				return j.Term("precision(p)"), applies
			},
			Change: func(j Job) (Job, bool) {
				j = j.Both(func(t Table) Table { return t.Map("p", func(p float64) float64 { return 4 * p }) })
				return j.Term("precision(p)"), true
			},
			Expect: func(j Job, place string, v float64) (float64, bool) {
				kind, name, _ := strings.Cut(place, ".")
				switch {
				case kind != "hyper" && kind != "hyper_prior":
				case name == "noise_variance":
					v *= 4
				case name == "shape":
					v /= 4
				case name == "scale" && strings.HasPrefix(j.Options.Family, "studentt"): // and not that of a prior
					v *= 2
				}
				return v, true
			},
		},
		{
			Name: "offset", About: "of an additive family, an offset taken from the target; of another, a constant offset taken from the intercept or the cutpoints", Refused: "offset",
			Base: func(j Job) (Job, bool) {
				if !additive(j) {
					j = j.Both(func(t Table) Table { return t.Map("o", func(float64) float64 { return constantOffset }) })
				}
				return j.Term("offset(o)"), !j.Has("offset")
			},
			Change: func(j Job) (Job, bool) {
				if additive(j) {
					j = j.Both(func(t Table) Table {
						y, o := slices.Clone(t.Numbers[j.Target()]), t.Numbers["o"]
						floats.Sub(y, o)
						return t.With(j.Target(), y)
					})
				}
				return j, !j.Has("offset")
			},
			Expect: func(j Job, place string, v float64) (float64, bool) {
				_, last := split(place)
				switch {
				case strings.HasPrefix(place, "target."):
					return v, false
				case !additive(j) && slices.Contains([]string{"mean", "lower", "upper"}, last) && strings.HasPrefix(place, "terms.") && strings.Contains(place, "(intercept)"):
					return v + constantOffset, true
				case !additive(j) && (strings.HasPrefix(place, "terms.cutpoints.") && last != "sd" || strings.HasPrefix(place, "hyper.cutpoint") || j.Options.Family == "ordinal" && last == "f_mean"):
					return v - constantOffset, true
				case additive(j) && (last == "mean" || last == "lower" || last == "upper" || last == "f_mean" || strings.HasPrefix(last, "sample_")):
					for i := range j.Probe.Rows() {
						if row(place) == j.Probe.Key(i) {
							v -= j.Probe.Numbers["o"][i]
						}
					}
				}
				return v, true
			},
		},
		{
			Name: "odds of one", About: "a feature without an effect whose odds are stated leaves the inclusion that the others share, in the model for certain or out of it, to a tenth: the slab is another", Refused: "odds",
			Base:   func(j Job) (Job, bool) { return certain(j, 1e12), selects(j) },
			Change: func(j Job) (Job, bool) { return certain(j, 1e-12), selects(j) },
			Expect: func(_ Job, place string, v float64) (float64, bool) { return v, place == "hyper.inclusion" },
		},
		{
			Name: "trials", About: "k of n trials are k rows of one class and n − k of the other, under a held prior and columns as they are; the evidence is apart by the logarithm of the number of orders", Refused: "trials",
			Base: func(j Job) (Job, bool) { return held(j), trials(j) },
			Change: func(j Job) (Job, bool) {
				j = held(j)
				var rows []int
				var classes []float64
				for i, hits := range j.Rows.Numbers["hits"] {
					for k := range int(j.Rows.Numbers["n"][i]) {
						rows, classes = append(rows, i), append(classes, float64(of(k < int(hits))))
					}
				}
				j.Rows = j.Rows.Pick(rows).With("hits", classes).With("n", slices.Repeat([]float64{1}, len(rows)))
				return j, trials(j)
			},
			Expect: func(j Job, place string, v float64) (float64, bool) {
				if isEvidence(place) {
					for i, k := range j.Rows.Numbers["hits"] {
						n := j.Rows.Numbers["n"][i]
						a, _ := math.Lgamma(n + 1)
						b, _ := math.Lgamma(k + 1)
						c, _ := math.Lgamma(n - k + 1)
						v -= a - b - c
					}
				}
				return v, place != "rows" && !strings.HasPrefix(place, "target.")
			},
		},
	}
}

// Orders are the relations of what stands where.
func Orders() []Relation {
	return []Relation{
		{
			Name: "order of rows", About: "the order of rows says nothing",
			Change: func(j Job) (Job, bool) {
				j.Rows = j.Rows.Pick(rand.New(rand.NewPCG(5, 6)).Perm(j.Rows.Rows()))
				return j, true
			},
		},
		{
			Name: "blocks of rows", About: "of a table of several blocks of 512 rows, where a block begins says nothing",
			Change: func(j Job) (Job, bool) {
				n := j.Rows.Rows()
				rows := make([]int, n)
				for i := range rows {
					rows[i] = (i + 300) % n
				}
				j.Rows = j.Rows.Pick(rows)
				return j, n > 512
			},
		},
		{
			Name: "order of columns", About: "the order of the terms of a formula and of the columns of a table says nothing",
			Change: func(j Job) (Job, bool) {
				target, right, _ := strings.Cut(j.Options.Formula, "~")
				terms := strings.Split(strings.TrimSpace(right), " + ")
				slices.Reverse(terms)
				j.Options.Formula = target + "~ " + strings.Join(terms, " + ")
				return j.Both(func(t Table) Table {
					t.Names = slices.Clone(t.Names)
					slices.Reverse(t.Names)
					return t
				}), len(terms) > 1
			},
		},
		{
			Name: "row alone", About: "a row is predicted alone as it is among others, to the bit", Bits: true,
			Change: func(j Job) (Job, bool) {
				n := j.Probe.Rows()
				if n > 1 {
					j.Probe = j.Probe.Pick([]int{n - 1})
				}
				return j, n > 1
			},
			Expect: func(j Job, place string, v float64) (float64, bool) { // draws follow the place in the file
				return v, row(place) == j.Probe.Key(j.Probe.Rows()-1) && !strings.Contains(place, ".sample_")
			},
		},
	}
}

// copies is every row as many times as its count says.
func copies(counts []float64) (rows []int) {
	for i, count := range counts {
		rows = append(rows, slices.Repeat([]int{i}, int(count))...)
	}
	return rows
}

// weightless says that a job has no weight of its own.
func weightless(j Job) bool { return !j.Has("weight") }

// roleless says that a job has no weight or precision of its own.
func roleless(j Job) bool { return weightless(j) && !j.Has("precision") }

// untold says nothing of a place.
func untold(which ...string) func(Job, string, float64) (float64, bool) {
	return func(_ Job, place string, v float64) (float64, bool) {
		return v, !slices.Contains(which, Ungrouped(place))
	}
}

// constantOffset is the offset of every row under a link.
const constantOffset = 0.7

// heldVariance is that of the noise where it is held.
const heldVariance = 2.5

// heldNoise is the job with a held variance, where it is Gaussian.
func heldNoise(j Job) Job {
	if dispersion(j) == gaussian {
		j.Options.Family = "gaussian(variance=2.5)"
	}
	return j
}

// held is the job with a held prior and columns as they are.
func held(j Job) Job {
	j.Options.Prior, j.Options.Raw = "normal(variance=0.3)", true
	return j
}

// What precision does under a family.
const (
	gaussian = iota // divides the variance
	none            // there is nothing to divide
	other           // divides another dispersion
)

func dispersion(j Job) int {
	name, _, _ := strings.Cut(j.Options.Family, "(")
	switch name {
	case "gaussian":
		return gaussian
	case "gamma", "studentt":
		return other
	}
	return none
}

// dispersed says that precisions divide a dispersion, which is one parameter.
func dispersed(j Job) bool {
	return dispersion(j) == gaussian || strings.HasPrefix(j.Options.Family, "gamma") || strings.HasPrefix(j.Options.Family, "studentt")
}

// additive says that f is a location of the target.
func additive(j Job) bool {
	return strings.HasPrefix(j.Options.Family, "gaussian") || strings.HasPrefix(j.Options.Family, "studentt")
}

// selects says that features may be left out, and u is one of them.
func selects(j Job) bool {
	return j.Options.Prior == "spikeslab" && strings.Contains(j.Options.Formula, " + u") && j.Command != "stream"
}

// certain is the job with odds of u stated.
func certain(j Job, odds float64) Job {
	j.Options.PriorOdds = append(slices.Clone(j.Options.PriorOdds), fit.Odds{Feature: "u", Odds: odds})
	return j
}

// trials says that the target counts successes of a number of trials of each row.
func trials(j Job) bool { return strings.Contains(j.Options.Family, "trials=") }
