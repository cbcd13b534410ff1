package fit_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/relation"
	"github.com/credence-ml/credence/selection"
)

// What subjects are made of.
const (
	line   = " ~ x + z + u + city + garden"
	curves = " ~ x + z + city + rbf(u, n=12) + poly(z, 2)"
)

// subjects are jobs of every engine, in its several forms.
func subjects() (all []relation.Subject) {
	small, probe := relation.Data(120, 1), relation.Data(5, 2)
	few := small.Pick(slices.Collect(func(yield func(int) bool) {
		for i := range 40 {
			if !yield(i) {
				return
			}
		}
	}))
	wide, noise := few.Wide(45, 4)
	wideProbe, _ := probe.Wide(45, 5)
	long, longProbe := relation.Data(1100, 3), relation.Data(600, 4)
	add := func(name, command, formula, family, prior, engine string, change ...func(*relation.Subject)) {
		under, _, _ := strings.Cut(engine, "(")
		s := relation.Subject{Name: name, Under: under, Within: 1e-6, Job: relation.Job{Command: command, Rows: small, Probe: probe,
			Options: fit.Options{Formula: formula, Family: family, Prior: prior, Engine: engine, Seed: 3}}}
		for _, c := range change {
			c(&s)
		}
		all = append(all, s)
	}
	slow := func(s *relation.Subject) { s.Slow = true }
	within := func(v float64) func(*relation.Subject) { return func(s *relation.Subject) { s.Within = v } }
	roughly := func(s *relation.Subject) { // sites of classes settle ten times as roughly
		s.Tolerances = append(s.Tolerances, relation.Tolerance{Relation: "offset", Within: 1e-5})
	}
	sharp := func(s *relation.Subject) { // scales, weights and evidence are those of copies to the sums' rounding
		s.Tolerances = append(s.Tolerances, relation.Tolerance{Relation: "precision = copies", Within: 1e-10})
	}
	divided := func(s *relation.Subject) { // by the inclusion, of a tenth, are ends of weights that may be 0
		for _, end := range []string{"*.lower", "*.upper"} {
			s.Tolerances = append(s.Tolerances, relation.Tolerance{Place: end, Within: 5e-6})
		}
	}
	raw := func(s *relation.Subject) { s.Job.Options.Raw = true }
	fewRows := func(s *relation.Subject) { s.Job.Rows = few }
	sparse := "spikeslab(inclusion=0.1)" // or few rows would be told by columns alone
	wideRows := func(s *relation.Subject) { s.Job.Rows, s.Job.Probe = wide, wideProbe }
	longRows := func(s *relation.Subject) { s.Job.Rows, s.Job.Probe, s.Slow = long, longProbe, true }
	missing := func(s *relation.Subject) {
		s.Job.Rows, s.Job.Probe, s.Job.Options.Missing = small.Missing(), probe.Missing(), "mean"
	}
	extras := func(s *relation.Subject) {
		s.Job.Select = selection.Options{NullCheck: 2, Bootstrap: 3, Moments: true, Path: selection.PathAlways}
	}

	add("exact", "fit", "y"+line, "gaussian", "normal", "exact(tolerance=1e-14)", sharp)
	add("exact, few rows", "fit", "y"+strings.Replace(curves, "n=12", "n=40, lengthscale=2", 1), "gaussian", "normal", "exact(tolerance=1e-9)", fewRows, within(1e-4))
	add("exact, features", "fit", "y"+curves, "gaussian", "normal(ard=true)", "exact(draws=2, starts=2)", slow, within(1e-4))
	add("exact, mode", "fit", "y"+line+" + radial(x, z, centres=8)", "gaussian", "normal", "exact(hyper=mode, tolerance=1e-9)", missing)
	add("exact, held", "fit", "y"+line, "gaussian(variance=2)", "normal(variance=0.5)", "exact", sharp)
	add("exact, blocks", "fit", "y"+line, "gaussian", "normal", "exact(tolerance=1e-9)", longRows)

	add("exact, splines", "fit", "y ~ s(x, k=6) + s(u, period=3) + city", "gaussian", "normal", "exact(tolerance=1e-9)")
	add("exact, proportioned", "fit", "y ~ hsgp(x, m=9) + periodic(u, period=30, m=4) + city", "gaussian", "normal", "exact(tolerance=1e-9)", within(1e-4))
	add("exact, kernels", "fit", "y ~ rbf(x, z, n=8, lengthscale=2):matern32(x, lengthscale=1) + spectral(u, components=1, n=4, lengthscale=1, period=20) + rbf(x, z, u, kind=fastfood, n=5, lengthscale=3)", "gaussian", "normal", "exact(tolerance=1e-9)")
	add("svi, splines", "fit", "count ~ s(x, k=6) + s(u, period=3)", "poisson", "normal", "svi(covariance=full, hyper=mode, tolerance=1e-9)", within(1e-4))
	add("ep, splines", "select", "y ~ s(x, k=6) + z", "gaussian", "spikeslab", "ep(tolerance=1e-9)", divided)
	add("exact, groups", "fit", "y ~ x + z + (u || city) + (1 | city:garden)", "gaussian", "normal", "exact(tolerance=1e-9)")
	add("svi, groups", "fit", "count ~ x + z + (1 | city, sd=~0.5)", "poisson", "normal", "svi(covariance=full, tolerance=1e-9)", within(1e-4))
	add("svi, few rows a group", "fit", "count ~ x + z + (1 | city:garden)", "poisson", "normal", "svi(covariance=full, tolerance=1e-9)", fewRows, within(1e-4))
	add("exact, precisions", "fit", "y ~ x + z + city + precision(p)", "gaussian", "normal", "exact(tolerance=1e-9)")

	add("svi", "fit", "y"+line, "gaussian", "normal", "svi(covariance=full, tolerance=1e-14)", sharp)
	add("svi, counts", "fit", "count"+line, "poisson", "normal", "svi(covariance=full, tolerance=1e-9)", missing, within(1e-4))
	add("svi, diagonal", "fit", "y"+line, "gaussian", "normal", "svi(tolerance=1e-9)")
	add("svi, classes", "fit", "b"+line, "bernoulli", "normal", "svi(covariance=full, tolerance=1e-9)")
	add("svi, precisions", "fit", "cost ~ x + z + city + precision(p)", "gamma", "normal", "svi(covariance=full, tolerance=1e-9)", slow, within(1e-3))
	add("svi, mixture", "fit", "cost"+line, "gamma", "normal", "svi(components=2)", slow, within(1e-4))
	add("svi, grades", "fit", "grade"+line, "ordinal", "normal", "svi(covariance=full, tolerance=1e-9)", slow)
	add("svi, trials", "fit", "hits"+line, "binomial(trials=n)", "normal", "svi(covariance=full, tolerance=1e-9)", slow, within(1e-4))
	add("svi, costs", "fit", "cost"+line, "gamma", "normal", "svi(covariance=full, tolerance=1e-9)", slow, within(1e-3))
	add("svi, tails", "fit", "y"+line, "studentt", "normal", "svi(covariance=full, tolerance=1e-9)", slow, within(1e-4))
	add("svi, dispersed counts", "fit", "count ~ x + z + offset(log(e)) + rbf(u, n=6)", "negbinomial", "normal", "svi(covariance=full, tolerance=1e-9)", slow, within(1e-4))
	add("svi, batches", "fit", "y"+line, "gaussian", "normal", "svi(batch=40, epochs=3, estimator=sample)", slow, within(1e-2))
	add("svi, rows left out", "fit", "b"+line+" + offset(log(e))", "bernoulli", "normal", "svi(hyper=heldout, tolerance=1e-9)", within(1e-3))
	add("svi, blocks", "fit", "count"+line, "poisson", "normal", "svi(covariance=full, tolerance=1e-9)", longRows, within(1e-4))

	add("svi, correlated groups", "fit", "count ~ x + (z | city) + (1 | garden)", "poisson", "normal", "svi(covariance=full, tolerance=1e-9)", within(1e-3))
	add("convex", "fit", "y"+line, "gaussian", "laplace", "convex(tolerance=1e-9)")
	add("convex, few rows", "fit", "y ~ x + z + u"+noise, "gaussian", "studentt", "convex(tolerance=1e-9)", wideRows, slow, within(1e-4))
	add("convex, classes", "fit", "b"+line, "bernoulli", "laplace", "convex(tolerance=1e-9)")
	add("convex, normal", "fit", "y"+line, "gaussian", "normal", "convex(tolerance=1e-9)", slow)

	add("ep", "select", "y"+line, "gaussian", "spikeslab", "ep(tolerance=1e-9)")
	add("ep, extras", "select", "y"+line, "gaussian", "spikeslab", "ep(tolerance=1e-9)", extras, slow)
	add("ep, few rows", "select", "y ~ x + z + u"+noise, "gaussian(variance=2)", sparse, "ep(tolerance=1e-9)", wideRows, slow, within(1e-4))
	add("ep, classes", "select", "b ~ x + z + u + city + keep(garden)", "bernoulli(link=probit)", "spikeslab", "ep(tolerance=1e-9)")
	add("ep, diagonal", "select", "b"+line, "bernoulli(link=probit)", "spikeslab", "ep(tolerance=1e-9, covariance=diagonal)", roughly)
	nothing, aimless := small.Wide(8, 6)
	nothingProbe, _ := probe.Wide(8, 7)
	add("ep, nothing to find", "select", "u ~"+strings.TrimPrefix(aimless, " +"), "gaussian", "spikeslab", "ep(tolerance=1e-9)", within(1e-5), func(s *relation.Subject) {
		s.Job.Rows, s.Job.Probe = nothing, nothingProbe
	})
	add("ep, raw", "select", "b ~ x + z + u", "bernoulli(link=probit)", "spikeslab(inclusion=0.5, slab=1)", "ep(tolerance=1e-9, covariance=diagonal)", roughly, func(s *relation.Subject) {
		s.Job.Options.Raw = true
	})

	add("ep, raw alone", "select", "b ~ x", "bernoulli(link=probit)", "spikeslab", "ep(tolerance=1e-9, covariance=diagonal)", raw, roughly)

	add("gibbs", "select", "y ~ x + z + u + city + keep(garden)", "gaussian", "spikeslab", "gibbs(chains=2, flips=400, draws=100)")
	add("gibbs, few rows", "select", "y ~ x + z + u"+noise, "gaussian(variance=2)", sparse, "gibbs(chains=2, flips=1000, draws=100)", wideRows, slow, within(1e-4))
	add("gibbs, classes", "select", "b"+line, "bernoulli(link=probit)", "spikeslab", "gibbs(chains=2, flips=400, draws=100)", slow)
	add("gibbs, horseshoe", "fit", "y ~ x + z + u + city + keep(garden)", "gaussian", "horseshoe", "gibbs(chains=2, sweeps=100, draws=100)")

	add("laplace", "fit", "count"+line, "poisson", "", "laplace(tolerance=1e-9)")
	add("laplace, selecting", "select", "y"+line, "gaussian", "spikeslab", "laplace(tolerance=1e-9)")
	add("laplace, raw", "select", "y ~ x", "gaussian", "spikeslab", "laplace(tolerance=1e-9)", raw)
	add("laplace, classes", "select", "b ~ x + z + u + city + keep(garden)", "bernoulli", "spikeslab", "laplace(tolerance=1e-9)", slow, within(1e-5))
	add("laplace, few rows", "select", "y ~ x + z + u"+noise, "gaussian(variance=2)", sparse, "laplace(tolerance=1e-9)", wideRows, slow, within(1e-4))

	add("sep", "fit", "b"+line, "bernoulli(link=probit)", "spikeslab", "sep")
	add("sep, online", "stream", "b"+line, "", "", "sep(passes=2)")
	add("sep, forgetting", "stream", "b"+line, "", "", "sep(batch=30, forget=60)", func(s *relation.Subject) {
		for _, r := range slices.Concat(relation.Roles(), relation.Orders()) { // batches are of rows as they come
			s.Not = append(s.Not, r.Name)
		}
	})
	add("ftrl", "stream", "b"+line, "", "", "ftrl")
	add("adpredictor", "stream", "b"+line, "", "", "adpredictor")
	add("sgd", "stream", "b"+line, "", "", "sgd")

	for _, name := range []string{"lasso", "elasticnet", "ridge", "cappedl1"} {
		add(name, "fit", "y"+line, "gaussian", "normal", name+"(lambda=0.1)", within(1e-3))
		add(name+", folds", "fit", "y ~ x + z + u", "gaussian", "normal", name, within(1e-3), slow)
		add(name+", classes", "fit", "b"+line, "bernoulli", "normal", name+"(lambda=0.02)", within(1e-3), slow)
	}
	return all
}

// exempt is what does not hold, and why.
var exempt = []relation.Exempt{
	{Relation: "offset", Place: "baseline*", Reason: "a prediction without columns has no offset"},
	{Relation: "precision = copies", Place: "baseline*", Reason: "a prediction without columns takes each row once"},
	{Relation: "sign of a column", Place: "pareto_k", Reason: "draws that diagnose a fit follow the order and the signs of weights"},
	{Relation: "sign of a column", Place: "e[fv]*_[sg]*", Reason: "draws that diagnose a fit follow the order and the signs of weights"},
	{Relation: "sign of a column", Subject: "svi, mixture", Reason: "the components of a mixture start from draws in the order of weights, of either sign"},
	{Relation: "sign of a column", Subject: "sep*", Place: "weight_coverage", Reason: "the coverage is drawn in the order of weights"},
	{Relation: "sign of a column", Subject: "laplace*", Place: "selection.expected_false", Reason: "of features that are in for certain the expected share of false ones is a rounding"},
	{Relation: "sign of a column", Subject: "gibbs*", Reason: "a weight of the other sign is another draw"},
	{Relation: "order of columns", Place: "pareto_k", Reason: "draws that diagnose a fit follow the order of weights"},
	{Relation: "order of columns", Place: "e[fv]*_[sg]*", Reason: "draws that diagnose a fit follow the order of weights"},
	{Relation: "order of columns", Place: "elbo_standard_error", Reason: "draws that diagnose a fit follow the order of weights"},
	{Relation: "order of columns", Subject: "exact, few rows", Reason: "random features are drawn in the order of blocks"},
	{Relation: "order of columns", Subject: "exact, features", Reason: "random features are drawn in the order of blocks"},
	{Relation: "order of columns", Subject: "exact, kernels", Reason: "random features are drawn in the order of blocks"},
	{Relation: "precision = copies", Subject: "exact, mode", Reason: "centres are chosen among the rows"},
	{Relation: "precision = copies", Subject: "exact, features", Reason: "of several modes of a lengthscale the search may find another"},
	{Relation: "precision = copies", Subject: "exact, few rows", Reason: "of fewer rows than weights, degrees of freedom are those of the rows' coefficients"},
	{Relation: "weight*", Subject: "exact, mode", Reason: "centres are chosen among the rows"},
	{Relation: "order of rows", Subject: "exact, mode", Reason: "centres are chosen among the rows"},
	{Relation: "weight*", Subject: "svi, batches", Reason: "batches are drawn from the rows that there are"},
	{Relation: "order of rows", Subject: "svi, batches", Reason: "batches are drawn from the rows that there are"},
	{Relation: "order of columns", Subject: "svi, mixture", Reason: "the components of a mixture start from draws in the order of weights"},

	{Place: "selection.variance_explained.*", Reason: "the variance explained is estimated from draws by row"},
	{Place: "selection.null_check.*", Relation: "[wo]*", Reason: "targets are permuted by row"},
	{Place: "selection.features.*.frequency", Relation: "weights = copies", Reason: "the bootstrap draws rows, whatever they weigh"},
	{Place: "selection.features.*.frequency", Relation: "weight 0 = no row", Reason: "the bootstrap draws rows, whatever they weigh"},
	{Place: "selection.features.*.frequency", Relation: "order of rows", Reason: "the bootstrap draws rows, whatever they weigh"},
	{Place: "selection.features.*.frequency", Relation: "precision = copies", Reason: "the bootstrap draws rows, however precise they are"},
	{Place: "selection.null_check.*", Relation: "precision = copies", Reason: "targets are permuted by row"},
	{Relation: "precision = copies", Subject: "svi", Place: "pareto_k", Reason: "where a bound is the evidence, weights of draws are rounding, and so is their tail"},
	{Relation: "weights = copies", Subject: "ep, [dr]*", Reason: "messages go by row where covariances are not kept, so that copies are not a weight"},
	{Relation: "o[rd]d[es]*", Subject: "gibbs, classes", Reason: "latent values of rows are drawn in the order of rows, and other odds draw others"},
	{Relation: "order of columns", Subject: "gibbs*", Reason: "chains visit columns in their order: other draws"},
	{Relation: "weight*", Subject: "gibbs, few rows", Reason: "of fewer rows than columns the chains have other draws"},
	{Relation: "precision = copies", Subject: "gibbs, few rows", Reason: "of fewer rows than columns the chains have other draws"},

	{Relation: "weight[s ]*[=]*", Subject: "sep", Reason: "rows are learned one after another, in an order drawn for their number"},
	{Relation: "order of rows", Subject: "sep", Reason: "rows are learned one after another, in an order drawn for their number"},
	{Relation: "offset", Subject: "sep*", Reason: "the intercept begins at 0, whatever the offsets"},
	{Relation: "order of columns", Subject: "sep*", Place: "weight_coverage", Reason: "the coverage is drawn in the order of weights"},
}

func init() {
	for _, name := range []string{"sep, online", "ftrl", "adpredictor", "sgd"} {
		for _, r := range []string{"weights = copies", "order of rows"} {
			exempt = append(exempt, relation.Exempt{Relation: r, Subject: name, Reason: "rows are learned one after another, as they come"})
		}
		exempt = append(exempt, relation.Exempt{Relation: "offset", Subject: name, Reason: "the intercept begins at 0, whatever the offsets"})
	}
	for _, r := range []string{"weights = copies", "order of rows"} {
		exempt = append(exempt, relation.Exempt{Relation: r, Subject: "svi, rows left out", Reason: "rows are left out as they are dealt, by their number"})
	}
	for _, name := range []string{"lasso*", "elasticnet*", "ridge*", "cappedl1*"} {
		for _, r := range []string{"weights = copies", "weight 0 = no row", "order of rows", "precision = copies"} {
			for _, place := range []string{"hyper.*", "row*"} {
				exempt = append(exempt, relation.Exempt{Relation: r, Subject: name, Place: place, Reason: "folds are of rows, and the noise is their loss"})
			}
			exempt = append(exempt, relation.Exempt{Relation: r, Subject: strings.TrimSuffix(name, "*") + ", folds", Reason: "folds are of rows, and the noise is their loss"})
		}
	}
}

// TestRelations runs every relation on every engine. What it finds is the first table of docs/relations.md.
func TestRelations(t *testing.T) {
	all := subjects()
	for _, e := range fit.Default().Engines {
		if !slices.ContainsFunc(all, func(s relation.Subject) bool { return s.Under == e.Name }) {
			t.Errorf("engine %s has no subject", e.Name)
		}
	}
	relation.Check(t, runFit, all, relation.All(), exempt).Verify(t, "../docs/relations.md", "engines")
}
