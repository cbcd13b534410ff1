package main

import (
	"context"

	"github.com/credence-ml/credence/bench/data"
	"github.com/credence-ml/credence/bench/layout"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/score"
)

// countsPart fits published regressions of counts under a prior so wide that the posterior mean is the
// maximum of the likelihood.
var countsPart = part{
	name: "counts", heading: "Regressions of counts", left: 2, tasks: countTasks,
	columns: []column{
		setColumn, modelColumn("family"), trainColumn, {"weights", func(row *row) string { return count(row.results[0].Weights) }},
		number("log-likelihood", 2, func(r *result) float64 { return r.Extra["log_likelihood"] }), theirs("by R", 2),
		{"learned", func(row *row) string { return learned(row.theirs, row.results[0].Extra) }},
		{"by R", func(row *row) string { return learned(row.theirs, row.theirs) }},
		cpuColumn, number("peak MB", 0, func(r *result) float64 { return r.PeakBytes / 1e6 }),
	},
	notes: "Log-likelihood at the posterior mean under normal(variance=10000); peak MB is of the whole benchmark so far. " +
		"nmes1988: Zeileis, Kleiber & Jackman, Regression models for count data in R, J. Stat. Softw. 27(8), 2008, to two digits by R's glm and MASS::glm.nb; " +
		"the other two: R's glm on the sets of CASdatasets.",
}

// learned writes the size of a negative binomial, or the intercept and the slope of a single covariate,
// where R's are known.
func learned(known, of map[string]float64) string {
	switch {
	case known["size"] > 0:
		return "size " + layout.Number(of["size"], 4)
	case known["slope"] != 0:
		return layout.Number(of["intercept"], 5) + ", " + layout.Number(of["slope"], 8)
	}
	return ""
}

func countTasks(_ context.Context, b *bench, _ string) ([]*task, error) {
	const doctor = "visits ~ hospital + health + chronic + gender + school + insurance"
	var tasks []*task
	for _, set := range []struct {
		name, formula, family string
		published             map[string]float64 // by R
		covariate             string             // where there is but one
	}{
		{"nmes1988", doctor, "poisson", map[string]float64{"by R": -17971.61}, ""},
		{"nmes1988", doctor, "negbinomial", map[string]float64{"by R": -12170.55, "size": 1.2066}, ""},
		{"bemtpl97", "nclaims ~ coverage + ageph + sex + bm + power + agec + fuel + use + fleet + offset(log(expo))", "poisson", map[string]float64{"by R": -62494.38}, ""},
		{"fremtpl2_age", "claims ~ driver_age", "poisson", map[string]float64{"by R": -113429.71, "slope": -0.001899561, "intercept": -3.157199}, "driver_age"},
	} {
		if b.missing(set.name) {
			continue
		}
		o := b.options(set.formula, "", set.family, full)
		o.Prior = "normal(variance=10000)"
		t := b.file(set.name, set.name+".csv.gz", nil, set.family, o)
		t.theirs = set.published
		t.more = func(r *result, rows *score.Rows) {
			family := r.fitted.Members[0].Model.Likelihood
			if nb, ok := family.(likelihood.NegativeBinomial); ok {
				r.Extra["size"] = nb.Size.Value
			}
			for i := range rows.Len() {
				mean, _ := rows.Latent(i)
				r.Extra["log_likelihood"] += family.LogDensity(rows.Target(i), mean)
			}
		}
		if set.covariate != "" {
			t.beside = ownScale
		}
		tasks = append(tasks, t)
	}
	return tasks, nil
}

// ownScale keeps the intercept and the slope on the scale of the data.
func ownScale(r *result, _, _ *data.Table) error {
	terms, err := score.Terms(r.fitted, score.TermOptions{})
	if err != nil {
		return err
	}
	for _, term := range terms {
		if term.Name == "(intercept)" {
			r.Extra["intercept"] = term.Mean
		} else {
			r.Extra["slope"] = term.Mean
		}
	}
	return nil
}
