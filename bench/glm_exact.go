package main

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/bench/data"
	"github.com/credence-ml/credence/bench/layout"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/prior"
)

// exactFits are the ways of fitting, the exact engine's first.
var exactFits = []struct{ name, engine string }{
	{"exact", "exact(starts=1, draws=1, hyper=ml)"}, {"svi, full", full}, {"svi, diagonal", "svi"}, {"svi, full, learning all", "svi(covariance=full, hyper=ml)"},
}

// exactPart sets svi beside the exact engine on Gaussian models: at the hyper-parameters that exact
// learned, on the same random features, and learning them itself.
var exactPart = part{
	name: "exact", heading: "Beside the exact engine", left: 2, tasks: exactTasks,
	columns: []column{
		setColumn, modelColumn("fit"), splitColumn, smseColumn,
		{"off exact", func(row *row) string { mean, _ := offExact(row); return mean }},
		{"at most", func(row *row) string { _, most := offExact(row); return most }},
		nlpdColumn, number("evidence or bound", 2, func(r *result) float64 { return r.Evidence }),
		{"CPU s a fit", cpuColumn.text},
	},
	notes: "`center(y) ~ 0 + rbf(., n=100)`, the same frequencies in every fit of a split. svi holds the lengthscales, the prior variance and the noise that exact learned, " +
		"and in the last row learns them itself, from one start as exact does here. Off exact, at most: mean and largest |SMSE/SMSE of exact − 1| over the splits.",
}

// offExact is how far the fits with held values are off the exact engine's.
func offExact(row *row) (mean, most string) {
	if row.hold == nil {
		return "", ""
	}
	over, largest := 0.0, 0.0
	for k, r := range row.results {
		gap := math.Abs(float64(r.SMSE/row.first.results[k].SMSE) - 1)
		over += gap / float64(len(row.results))
		largest = math.Max(largest, gap)
	}
	return layout.Number(100*over, 4) + " %", layout.Number(100*largest, 4) + " %"
}

func exactTasks(ctx context.Context, b *bench, splits string) ([]*task, error) {
	var tasks []*task
	for _, name := range []string{"boston", "concrete"} {
		if b.missing(name) {
			continue
		}
		set, err := data.LoadSet(ctx, b.folder, name)
		if err != nil {
			return nil, err
		}
		first, end, err := splitRange(splits, len(set.Splits))
		if err != nil {
			return nil, err
		}
		for k := first; k < end; k++ {
			for i, way := range exactFits {
				o := b.options(exactFormula(set, ""), "", "gaussian", way.engine)
				o.Seed += uint64(k)
				t := &task{result: result{Set: name, Model: way.name, Formula: o.Formula, Engine: way.engine, Split: k, Seed: o.Seed}, options: o,
					load: func(context.Context) (train, test *data.Table, err error) {
						train, test = set.Split(k)
						return train, test, nil
					}}
				if i == 1 || i == 2 {
					t.hold = func(o *fit.Options, first *result) error { return hold(o, set, first.fitted.Members[0].Model) }
				}
				tasks = append(tasks, t)
			}
		}
	}
	return tasks, nil
}

// exactFormula has no intercept, whose prior variance exact learns and svi holds, but a centred target.
func exactFormula(set *data.Set, arguments string) string {
	return "center(" + set.Target + ") ~ 0 + " + set.Formula("rbf(., n=100"+arguments+")")
}

// hold states the hyper-parameters of a fitted model in the text of the next.
func hold(o *fit.Options, set *data.Set, model credence.Model) error {
	tunable, ok := model.Features.(credence.Tunable)
	if !ok {
		return fmt.Errorf("the features of exact have no lengthscales")
	}
	text := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	var lengthscales []string
	for _, h := range tunable.Hyper() {
		lengthscales = append(lengthscales, text(h.Value))
	}
	normal, ok := model.Prior.(prior.Normal)
	if !ok {
		return fmt.Errorf("the prior of exact is %v", model.Prior)
	}
	blocks := model.Features.Blocks()
	o.Formula = exactFormula(set, ", lengthscale=["+strings.Join(lengthscales, ", ")+"]")
	o.Family = "gaussian(variance=" + text(model.Likelihood.Variance(0)) + ")"
	o.Prior = "normal(variance=" + text(normal.Variances[blocks[len(blocks)-1].First]) + ")" // of the random features
	return nil
}
