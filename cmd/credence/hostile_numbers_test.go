package main

import (
	"cmp"
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
	{"three rows", func(rows [][3]float64, _ bool) [][3]float64 { return rows[:3] }},
	{"equal rows", func(rows [][3]float64, _ bool) [][3]float64 {
		for i := range rows {
			rows[i] = rows[0]
		}
		return rows
	}},
	{"equal columns under other targets", func(rows [][3]float64, _ bool) [][3]float64 {
		for i := range rows {
			rows[i][0], rows[i][1] = 1, 2
		}
		return rows
	}},
	{"a column of one value that is not 0", func(rows [][3]float64, _ bool) [][3]float64 {
		rows = scaled(rows, 0, 0)
		rows[17][0] = 3
		return rows
	}},
	{"all sizes of numbers", func(rows [][3]float64, _ bool) [][3]float64 {
		for i := range rows {
			rows[i][0] = math.Copysign(math.Pow(10, float64(i*10-300)), rows[i][0])
		}
		return rows
	}},
	{"denormal numbers", func(rows [][3]float64, _ bool) [][3]float64 {
		for i := range rows {
			rows[i][0] = math.Float64frombits(uint64(i))
		}
		return rows
	}},
	{"zeros of both signs", func(rows [][3]float64, _ bool) [][3]float64 {
		for i := range rows {
			rows[i][0] = math.Copysign(0, rows[i][0])
		}
		return rows
	}},
	{"whole numbers beyond 2⁵³", func(rows [][3]float64, _ bool) [][3]float64 {
		for i := range rows {
			rows[i][0] = 1<<60 + float64(i)*256
		}
		return rows
	}},
	{"tails without a variance", func(rows [][3]float64, _ bool) [][3]float64 {
		for i := range rows {
			rows[i][0] = math.Pow(math.Tan(math.Pi*(float64(i)+0.5)/61-math.Pi/2), 5)
		}
		return rows
	}},
	{"ends of what numbers hold", func(rows [][3]float64, _ bool) [][3]float64 {
		for i := range rows {
			rows[i][0] = math.Copysign(1.7e308, rows[i][0])
		}
		return rows
	}},
	{"columns that add up to 1", func(rows [][3]float64, _ bool) [][3]float64 {
		for i := range rows {
			rows[i][1] = 1 - rows[i][0]
		}
		return rows
	}},
	{"a column that is the target", func(rows [][3]float64, _ bool) [][3]float64 {
		for i := range rows {
			rows[i][0] = rows[i][2]
		}
		return rows
	}},
	{"a column that is the target in other units", func(rows [][3]float64, _ bool) [][3]float64 {
		for i := range rows {
			rows[i][0] = 1e9 * (rows[i][2] + 1e3)
		}
		return rows
	}},
	{"a target of one value but once", func(rows [][3]float64, _ bool) [][3]float64 {
		for i := range rows {
			rows[i][2] = 0
		}
		rows[40][2] = 1
		return rows
	}},
	{"a target of 1e12 once", func(rows [][3]float64, classes bool) [][3]float64 {
		if classes {
			return nil
		}
		rows[40][2] = 1e12
		return rows
	}},
	{"a target about 1e15", func(rows [][3]float64, classes bool) [][3]float64 {
		if classes {
			return nil
		}
		for i := range rows {
			rows[i][2] += 1e15
		}
		return rows
	}},
	{"rows in order of the target", func(rows [][3]float64, _ bool) [][3]float64 {
		slices.SortFunc(rows, func(a, b [3]float64) int { return cmp.Compare(a[2], b[2]) })
		return rows
	}},
	{"rows twice", func(rows [][3]float64, _ bool) [][3]float64 { return append(rows, rows...) }},
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
