package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// hostileTables are tables of two columns and a target with something in them that arithmetic does not
// like, made from one of plain numbers. The target is a number, a class, a count or a positive number.
var hostileTables = []struct {
	name   string
	change func(rows [][3]float64, classes bool) [][3]float64
}{
	{"plain", func(rows [][3]float64, _ bool) [][3]float64 { return rows }},
	{"a value of 1e155", func(rows [][3]float64, _ bool) [][3]float64 { rows[30][0] = 1e155; return rows }},
	{"a value of 1e308", func(rows [][3]float64, _ bool) [][3]float64 { rows[30][0] = 1e308; return rows }},
	{"a column times 1e200", func(rows [][3]float64, _ bool) [][3]float64 { return scaled(rows, 0, 1e200) }},
	{"a column times 1e-300", func(rows [][3]float64, _ bool) [][3]float64 { return scaled(rows, 0, 1e-300) }},
	{"a column about 1e12", func(rows [][3]float64, _ bool) [][3]float64 {
		for i := range rows {
			rows[i][0] += 1e12
		}
		return rows
	}},
	{"a constant column", func(rows [][3]float64, _ bool) [][3]float64 { return scaled(rows, 0, 0) }},
	{"two equal columns", func(rows [][3]float64, _ bool) [][3]float64 {
		for i := range rows {
			rows[i][1] = rows[i][0]
		}
		return rows
	}},
	{"two columns equal to 15 digits", func(rows [][3]float64, _ bool) [][3]float64 {
		for i := range rows {
			rows[i][1] = rows[i][0] * (1 + 1e-15)
		}
		return rows
	}},
	{"a target times 1e160", func(rows [][3]float64, classes bool) [][3]float64 {
		if classes {
			return nil
		}
		return scaled(rows, 2, 1e160)
	}},
	{"a target times 1e-200", func(rows [][3]float64, classes bool) [][3]float64 {
		if classes {
			return nil
		}
		return scaled(rows, 2, 1e-200)
	}},
	{"a constant target", func(rows [][3]float64, _ bool) [][3]float64 {
		for i := range rows {
			rows[i][2] = 1
		}
		return rows
	}},
	{"one row", func(rows [][3]float64, _ bool) [][3]float64 { return rows[:1] }},
	{"two rows", func(rows [][3]float64, _ bool) [][3]float64 { return rows[:2] }},
	{"separable classes", func(rows [][3]float64, classes bool) [][3]float64 {
		if !classes {
			return nil
		}
		for i := range rows {
			rows[i][2] = 0
			if rows[i][0] > 0 {
				rows[i][2] = 1
			}
		}
		return rows
	}},
}

func scaled(rows [][3]float64, column int, factor float64) [][3]float64 {
	for i := range rows {
		rows[i][column] *= factor
	}
	return rows
}

// No engine makes a fit that is not finite of any table: it fits and predicts finite numbers, or refuses.
func TestHostileNumbers(t *testing.T) {
	count := newTally(t)
	share := 16
	if testing.Short() {
		share = 64
	}
	number := func(y float64) float64 { return y }
	class := func(y float64) float64 { return float64(max(0, int(math.Copysign(1, y)))) }
	whole := func(y float64) float64 { return math.Floor(3 * math.Abs(y)) }
	positive := func(y float64) float64 { return math.Abs(y) + 0.1 }
	selected := func(engine string) []string { return []string{"--engine", engine, "--prior", "spikeslab"} }
	type fitting struct {
		family string
		target func(y float64) float64
		flags  []string
	}
	var all []fitting
	for _, engine := range []string{"exact", "exact(hyper=ml)", "svi", "svi(covariance=full)", "convex", "lasso", "ridge", "elasticnet", "cappedl1"} {
		all = append(all, fitting{"gaussian", number, []string{"--engine", engine}})
		if !strings.HasPrefix(engine, "exact") {
			all = append(all, fitting{"bernoulli", class, []string{"--engine", engine}})
		}
	}
	for _, prior := range []string{"laplace", "studentt"} {
		all = append(all, fitting{"gaussian", number, []string{"--prior", prior}}, fitting{"bernoulli", class, []string{"--prior", prior}})
	}
	for _, engine := range []string{"ep", "gibbs(flips=200)", "laplace"} {
		all = append(all, fitting{"gaussian", number, selected(engine)}, fitting{"bernoulli", class, selected(engine)})
	}
	all = append(all, fitting{"bernoulli(link=probit)", class, selected("sep")},
		fitting{"poisson", whole, nil}, fitting{"negbinomial", whole, nil}, fitting{"poisson(link=softplus)", whole, nil},
		fitting{"gamma", positive, nil}, fitting{"studentt", number, nil}, fitting{"ordinal", whole, nil})
	for k, table := range hostileTables {
		for e, f := range all {
			for r, raw := range [][]string{nil, {"--raw"}} {
				if !hostileEverything() && (len(all)*k+2*e+r)%share != 0 {
					continue
				}
				rng := rand.New(rand.NewPCG(uint64(k), uint64(e)))
				var rows [][3]float64
				for range 60 {
					a, b := rng.NormFloat64(), rng.NormFloat64()
					rows = append(rows, [3]float64{a, b, f.target(2*a - b + rng.NormFloat64())})
				}
				if rows = table.change(rows, f.family[0] == 'b'); rows == nil {
					continue
				}
				if f.family == "ordinal" && slices.ContainsFunc(rows, func(row [3]float64) bool { return row[2] > 20 || row[2] != math.Floor(row[2]) }) {
					continue
				}
				text := "a,b,y\n"
				for _, row := range rows {
					text += fmt.Sprintf("%v,%v,%v\n", row[0], row[1], row[2])
				}
				data, model := file(t, "t.csv", text), filepath.Join(t.TempDir(), "m.safetensors")
				name := fmt.Sprintf("%s, %s %v %v", table.name, f.family, f.flags, raw)
				args := append([]string{"fit", data, "--target", "y", "--family", f.family, "-q", "-o", model}, append(f.flags, raw...)...)
				if o := count.check(name, "", "", nil, args...); o.code == exitDone {
					count.check(name, "", "", everyNumber, "predict", model, data, "-q")
				}
			}
		}
	}
}
