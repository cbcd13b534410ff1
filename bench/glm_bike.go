package main

import (
	"context"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/bench/data"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/score"
)

// bikeParts set families of counts beside a Gaussian of the logarithm, on the next year and on every
// fifth hour.
func bikeParts() []part {
	p := part{name: "bike", left: 1, columns: []column{
		modelColumn("model"), testColumn,
		number("log density", 4, func(r *result) float64 { return r.Extra["log_density"] }),
		percent("90 % covers", 1, func(r *result) float64 { return r.Coverage90 }),
		percent("50 % covers", 1, func(r *result) float64 { return r.Coverage50 }),
		number("mean width", 0, func(r *result) float64 { return r.Extra["width"] }),
		number("Σ mean / Σ count", 3, func(r *result) float64 { return r.Extra["means"] / r.Extra["counts"] }), cpuColumn,
	}, notes: "Log density: mean log probability of the count. That of the Gaussian of log(count) is of the interval from count − ½ to count + ½, " +
		"which is a probability as the others are; its density p(log y)/y, the change of variables, differs by less than 0.01 a row."}
	years, hours := p, p
	years.heading, years.tasks = "Bike hours, 2011 to 2012", bikeTasks(" - year", func(year float64, _ int) bool { return year == 1 })
	years.notes += " **The second year is busier by six tenths, and no model of the first can know: intervals that cover 90 % of other hours of the same years cover far fewer there, and the fewer the closer the model follows the first year.**"
	hours.heading, hours.tasks = "Bike hours, every fifth hour", bikeTasks("", func(_ float64, row int) bool { return everyFifth(row) })
	return []part{years, hours}
}

func bikeTasks(without string, isTest func(year float64, row int) bool) func(context.Context, *bench, string) ([]*task, error) {
	return func(_ context.Context, b *bench, _ string) ([]*task, error) {
		const name, inputs = "bike_hour", " ~ . - dateday"
		if b.missing(name) {
			return nil, nil
		}
		types := map[string]credence.Kind{}
		for _, column := range []string{"hour", "month", "season", "weekday", "weathersit"} {
			types[column] = credence.Category
		}
		var tasks []*task
		for _, m := range []struct{ name, formula, family, engine string }{
			{"poisson", "count" + inputs, "poisson", full},
			{"negbinomial", "count" + inputs, "negbinomial", full},
			{"exact, log(count)", "log(count)" + inputs + " - count", "gaussian", "exact"},
			{"negbinomial, hour:workingday", "count" + inputs + " + onehot(hour):workingday", "negbinomial", full},
		} {
			t := b.file(name, name+".csv.gz", nil, m.name, b.options(m.formula+without, "", m.family, m.engine))
			t.load = func(ctx context.Context) (train, test *data.Table, err error) {
				all, err := data.Load(ctx, b.path(name, name+".csv.gz"), nil, types)
				if err != nil {
					return nil, nil, err
				}
				year := all.Column("year")
				train, test = all.Divide(func(row int) bool { return isTest(year[row], row) })
				return train, test, nil
			}
			t.more = func(r *result, rows *score.Rows) { scoreCounts(r, rows, m.engine == "exact") }
			tasks = append(tasks, t)
		}
		return tasks, nil
	}
}

// scoreCounts adds what is measured of counts, which the model has the logarithms of or not.
func scoreCounts(r *result, rows *score.Rows, logarithm bool) {
	type scored struct{ density, mean, count, width float64 }
	computed := make([]scored, rows.Len())
	rows.Each(func(i int) {
		y := rows.Target(i)
		mean, variance := rows.Moments(i)
		var ends [2]float64
		rows.Quantiles(ends[:], i, []float64{0.05, 0.95})
		c := scored{rows.LogDensity(i, y), mean, y, ends[1] - ends[0]}
		if logarithm {
			c.count, c.mean, c.width = math.Round(math.Exp(y)), math.Exp(mean+variance/2), math.Exp(ends[1])-math.Exp(ends[0])
			sd := math.Sqrt(variance)
			c.density = logInterval((math.Log(c.count-0.5)-mean)/sd, (math.Log(c.count+0.5)-mean)/sd)
		}
		computed[i] = c
	})
	for _, c := range computed {
		n := r.Extra["rows"]
		r.Extra["rows"]++
		r.Extra["log_density"] += (c.density - r.Extra["log_density"]) / (n + 1)
		r.Extra["width"] += (c.width - r.Extra["width"]) / (n + 1)
		r.Extra["means"] += c.mean
		r.Extra["counts"] += c.count
	}
}

// logInterval is the log probability of (a, b) under the standard normal, from the side on which it
// does not cancel.
func logInterval(a, b float64) float64 {
	if a > 0 {
		a, b = -b, -a
	}
	high, low := special.LogNormalCDF(b), special.LogNormalCDF(a)
	return high + math.Log(-math.Expm1(low-high))
}
