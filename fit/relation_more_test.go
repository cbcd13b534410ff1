package fit_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/internal/relation"
	"github.com/credence-ml/credence/selection"
)

// TestLearnedIsHeld: hyper-parameters that are stated at what was learned give the same posterior and predictions, and
// the evidence, or the bound of it, that stood beside the mode.
func TestLearnedIsHeld(t *testing.T) {
	rows, probe := relation.Data(120, 1), relation.Data(5, 2)
	const noise, variance, scale = "hyper.noise_variance", "hyper.prior_variance.linear", "hyper.prior_scale"
	for _, c := range []struct {
		command, formula, engine string
		family, prior            string   // that learn
		familyAt, priorAt        string   // that hold, with verbs for what was learned
		of, from                 []string // places of what was learned, for the family and for the prior
		within                   float64
	}{
		{"fit", "y", "exact(hyper=mode, tolerance=1e-11)", "gaussian", "normal", "gaussian(variance=%v)", "normal(variance=%v)", []string{noise}, []string{variance}, 1e-5},
		{"fit", "y", "svi(covariance=full, hyper=mode, tolerance=1e-9)", "gaussian", "normal", "gaussian(variance=%v)", "normal(variance=%v)", []string{noise}, []string{variance}, 1e-4},
		{"fit", "cost", "svi(covariance=full, hyper=mode, tolerance=1e-9)", "gamma", "normal", "gamma(shape=%v)", "normal(variance=%v)", []string{"hyper.shape"}, []string{variance}, 1e-4},
		{"fit", "count", "svi(components=2, tolerance=1e-9)", "poisson", "normal", "poisson", "normal(variance=%v)", nil, []string{variance}, 1e-3},
		{"fit", "y", "svi(components=2, tolerance=1e-9)", "gaussian", "normal", "gaussian(variance=%v)", "normal(variance=%v)", []string{noise}, []string{variance}, 1e-3},
		{"fit", "y", "convex(hyper=mode)", "gaussian", "laplace", "gaussian(variance=%v)", "laplace(scale=%v)", []string{noise}, []string{scale}, 1e-3},
		{"fit", "b", "convex(hyper=mode)", "bernoulli", "laplace", "bernoulli", "laplace(scale=%v)", nil, []string{scale}, 1e-3},
		{"fit", "y", "ep(hyper=mode, tolerance=1e-9)", "gaussian", "spikeslab", "gaussian(variance=%v)", "spikeslab(slab=%v, inclusion=%v)", []string{noise}, []string{"hyper.slab", "hyper.inclusion"}, 1e-4},
	} {
		job := relation.Job{Command: c.command, Rows: rows, Probe: probe, Options: fit.Options{Formula: c.formula + line, Family: c.family, Prior: c.prior, Engine: c.engine}}
		learned := must.Value(runFit(t.Context(), job))(t)
		values := func(places []string) (list []any) {
			for _, place := range places {
				if _, known := learned[place]; !known {
					t.Fatalf("%s: nothing is learned of %s", c.engine, place)
				}
				list = append(list, learned[place])
			}
			return list
		}
		subject := relation.Subject{Name: c.engine + " " + c.formula, Under: c.engine, Job: job, Within: c.within}
		held := relation.Relation{
			Name: "learned = held",
			Change: func(j relation.Job) (relation.Job, bool) {
				j.Options.Family, j.Options.Prior = fmt.Sprintf(c.familyAt, values(c.of)...), fmt.Sprintf(c.priorAt, values(c.from)...)
				return j, true
			},
			Expect: func(_ relation.Job, place string, v float64) (float64, bool) {
				return v, strings.HasPrefix(place, "terms.") || strings.HasPrefix(place, "row") && place != "rows" || place == "evidence" || place == "elbo" || place == "elbo_bound" || place == "evidence_bound"
			},
		}
		relation.Check(t, atMode, []relation.Subject{subject}, []relation.Relation{held}, []relation.Exempt{
			{Subject: "svi(components=2*", Place: "elbo", Reason: "the components of a mixture have no order: either comes first by a rounding, and draws that tell the elbo with them"},
			{Subject: "svi(components=2*", Place: "row*.sample_*", Reason: "the components of a mixture have no order, and draws are of the first first"},
		})
	}
}

// atMode is runFit with an evidence at the mode in the place of the evidence.
func atMode(ctx context.Context, j relation.Job) (relation.Answer, error) {
	a, err := runFit(ctx, j)
	for _, name := range []string{"evidence", "elbo", "evidence_bound"} {
		if v, known := a[name+"_mode"]; known {
			a[name] = v
		}
	}
	return a, err
}

// TestExactIsVariational: a Gaussian model has the same numbers under exact and under svi, every field of the report
// and every prediction, in every treatment, to what the tolerances of the climbs and, integrated, the nodes leave.
func TestExactIsVariational(t *testing.T) {
	precise := func(p float64) float64 { return math.Pow(10, (4*p-10)/3) } // from .01 to 100
	rows, probe := relation.Data(60, 5).Map("p", precise), relation.Data(5, 6).Map("p", precise)
	var subjects []relation.Subject
	for _, c := range []struct {
		formula, prior string
		raw            bool
	}{
		{"y" + line, "normal", false},
		{"y ~ x + z:u + city", "normal", true},
		{"y ~ 0 + x + z", "normal", false},
		{"y ~ 0 + x + z + offset(-100)", "normal", false}, // nothing explains the mean but noise
		{"y ~ x + z + u + weight(w)", "normal(ard=true)", false},
		{"y ~ x + z:u + city + precision(p)", "normal", true},
		{"y ~ 0 + x + z + precision(p)", "normal", false},
		{"y ~ x + z + u + precision(p)", "normal(ard=true)", false},
		{"y ~ x + radial(z, u, centres=6, lengthscale=2)", "normal", false},
		// noise and a block are correlated
		{"y ~ x + radial(z, u, centres=6, lengthscale=2) + precision(p)", "normal", false},
		{"y ~ 0 + sigmoid(x, z, centres=6, lengthscale=1)", "normal", false},
		{"y ~ x + rbf(z, u, n=10, lengthscale=1)", "normal(ard=true)", false},
		{"y ~ x + rbf(z, u, n=10, lengthscale=1)", "normal", false},
		{"y" + line, "normal(variance=0.5)", false},
		{"y ~ z + (1 + x | city)", "normal", false},
	} {
		for _, treatment := range []string{"integrate", "mode", "ml"} {
			subjects = append(subjects, relation.Subject{
				Name: c.formula + " " + c.prior + " " + treatment, Under: treatment, Within: 1e-2, Slow: treatment != "integrate",
				Tolerances: []relation.Tolerance{{Place: "evidence_mode", Within: 1e-4}, {Place: "evidence", Within: 2e-4}, {Place: "terms.*.mean", Within: 5e-3}},
				Job: relation.Job{Command: "fit", Rows: rows, Probe: probe, Options: fit.Options{
					Formula: c.formula, Family: "gaussian", Prior: c.prior, Raw: c.raw, Seed: 3, Engine: "exact(tolerance=1e-9, hyper=" + treatment + ")"}},
			})
		}
	}
	same := relation.Relation{
		Name: "exact = svi",
		Change: func(j relation.Job) (relation.Job, bool) {
			j.Options.Engine = strings.Replace(j.Options.Engine, "exact(tolerance=1e-9", "svi(covariance=full, tolerance=1e-7, diagnostics=0", 1)
			return j, true
		},
	}
	relation.Check(t, func(ctx context.Context, j relation.Job) (relation.Answer, error) {
		a, err := runFit(ctx, j)
		for from, to := range map[string]string{"elbo": "evidence", "elbo_mode": "evidence_mode"} {
			if v, known := a[from]; known {
				a[to] = v
				delete(a, from)
			}
		}
		return a, err
	}, subjects, []relation.Relation{same}, []relation.Exempt{
		{Place: "evidence_penalised", Reason: "a bound is told without the priors of hyper-parameters"},
		{Subject: "* mode", Place: "hyper_sd.*", Reason: "svi works the curvature out where it integrates alone"},
		{Subject: "* mode", Place: "hyper_joint.*", Reason: "svi works the curvature out where it integrates alone"},
		{Subject: "*rbf*normal(ard=true) ml", Reason: "a weight that vanishes does so to the floor of its engine"},
		{Subject: "y ~ x + radial*precision* ml", Reason: "without priors there are two maxima .04 nats apart, and each engine climbs to one of them"},
		{Subject: "y ~ 0 + x + z + offset* ml", Reason: "a block that vanishes does so to the floor of its engine"},
	})
}

// TestScalesOfLearnedLengthscales: where lengthscales are learned, on a ridge along which svi stops sooner, priors have
// the scales of where they start, and the bound lies below the evidence: of 400 rows and more, from which on
// lengthscales are not averaged over.
func TestScalesOfLearnedLengthscales(t *testing.T) {
	precise := func(p float64) float64 { return math.Pow(10, (4*p-10)/3) }
	for _, formula := range []string{"y ~ z + radial(x, centres=8) + precision(p)", "y ~ 0 + sigmoid(x, z, centres=6)"} {
		var answers [2]relation.Answer
		for k, engine := range []string{"exact", "svi(covariance=full)"} {
			var err error
			answers[k], err = runFit(t.Context(), relation.Job{Command: "fit", Rows: relation.Data(450, 5).Map("p", precise), Probe: relation.Data(1, 6),
				Options: fit.Options{Formula: formula, Family: "gaussian", Prior: "normal", Raw: true, Engine: engine, Seed: 3}})
			if err != nil {
				t.Fatal(err)
			}
		}
		exact, svi := answers[0], answers[1]
		for place, v := range exact {
			if strings.HasPrefix(place, "hyper_prior.") && !(math.Abs(svi[place]-v) <= 1e-10*v) {
				t.Errorf("%s: %s is %v under svi and %v under exact", formula, place, svi[place], v)
			}
		}
		if !(svi["elbo"] <= exact["evidence"]+0.1) || !(svi["elbo_mode"] <= exact["evidence_mode"]+0.1) {
			t.Errorf("%s: the bound is %v, %v at the mode, and the evidence %v, %v", formula, svi["elbo"], svi["elbo_mode"], exact["evidence"], exact["evidence_mode"])
		}
	}
}

// TestSegments: on more rows than a segment of sums has, threads and where blocks begin change nothing.
func TestSegments(t *testing.T) {
	if testing.Short() {
		t.Skip("a large table")
	}
	rows := relation.Data(1<<17+700, 7)
	rows.Names = []string{"x", "z", "y", "count"}
	var subjects []relation.Subject
	for target, engine := range map[string]string{"y": "exact", "count": "svi(covariance=full, tolerance=1e-9)"} {
		family := map[string]string{"y": "gaussian", "count": "poisson"}[target]
		subjects = append(subjects, relation.Subject{Name: engine, Under: engine, Within: 1e-4,
			Job: relation.Job{Command: "fit", Rows: rows, Probe: relation.Data(5, 2), Options: fit.Options{Formula: target + " ~ x + z", Family: family, Engine: engine}}})
	}
	var relations []relation.Relation
	for _, r := range relation.All() {
		if r.Name == "threads" || r.Name == "blocks of rows" {
			relations = append(relations, r)
		}
	}
	relation.Check(t, runFit, subjects, relations, nil)
}

// TestSeedsMatter: what is drawn is drawn by the seed.
func TestSeedsMatter(t *testing.T) {
	rows, probe := relation.Data(120, 1), relation.Data(5, 2)
	for _, c := range []struct {
		command, formula, family, prior, engine string
		places                                  []string
	}{
		{"fit", "y" + curves, "gaussian", "normal", "exact", []string{"evidence", "terms.rbf*.mean", "row*.sample_1", "row*.sample_2"}},
		{"fit", "count" + line, "poisson", "normal", "svi(components=2)", []string{"elbo_standard_error", "effective_share", "row*.sample_1"}},
		{"select", "y" + line, "gaussian", "spikeslab(inclusion_prior=[1, 1])", "ep", []string{"selection.variance_explained.lower", "selection.null_check.*", "selection.features.*.frequency"}},
		{"select", "y" + line, "gaussian", "spikeslab", "gibbs(chains=2, flips=400, draws=100)", []string{"selection.features.*.inclusion", "terms.*.mean", "hyper.slab", "row*.mean"}},
		{"fit", "y" + line, "gaussian", "horseshoe", "gibbs(chains=2, sweeps=100, draws=100)", []string{"terms.*.mean", "row*.mean"}},
		{"fit", "b" + line, "bernoulli(link=probit)", "spikeslab", "sep", []string{"terms.*.mean"}},
	} {
		relation.Differ(t, runFit, relation.Job{
			Command: c.command, Rows: rows, Probe: probe, Select: selection.Options{NullCheck: 3, Bootstrap: 5},
			Options: fit.Options{Formula: c.formula, Family: c.family, Prior: c.prior, Engine: c.engine, Seed: 2},
		}, c.places...)
	}
}

// TestSpreadOfDegreesOfFreedom: the standard deviation that is told of the logarithm of a learned parameter is that of
// the density which the bounds at stated values and the prior make.
func TestSpreadOfDegreesOfFreedom(t *testing.T) {
	if testing.Short() {
		t.Skip("a comparison of numbers: the race detector learns nothing from it")
	}
	rows := relation.Data(120, 1)
	y := slices.Clone(rows.Numbers["y"])
	for i := range y {
		if i%13 == 0 {
			y[i] += float64(4 - i%2*8)
		}
	}
	job := relation.Job{Command: "fit", Rows: rows.With("y", y), Options: fit.Options{Formula: "y ~ x + z", Prior: "normal(variance=1)", Engine: "svi(covariance=full, tolerance=1e-9)"}}
	at := func(df string) relation.Answer {
		job.Options.Family = "studentt(scale=1.5" + df + ")"
		a := must.Value(runFit(t.Context(), job))(t)
		return a
	}
	learned := at("")
	sum, mean, square := 0.0, 0.0, 0.0 // of the density of u = log(df − 2), and of log df under it
	prior := hyper.Cauchy{Scale: 4, From: 2}
	for u := -2.0; u <= 5; u += 0.25 {
		df := 2 + math.Exp(u)
		of, _, _ := prior.At(u)
		density := math.Exp(at(fmt.Sprintf(", df=%v", df))["elbo"] - learned["elbo_mode"] + of)
		sum, mean, square = sum+density, mean+density*math.Log(df), square+density*math.Log(df)*math.Log(df)
	}
	want := math.Sqrt(square/sum - mean*mean/sum/sum)
	if got := learned["hyper_sd.df"]; !(math.Abs(got-want) < 0.1*want) {
		t.Errorf("the logarithm of %v degrees of freedom has a standard deviation of %v, want %v", learned["hyper.df"], got, want)
	}
}

// TestResolvedShare: of features without an effect, the part of the inclusion in which the rows tell the slab is the
// same under ep and under gibbs, which compresses rows.
func TestResolvedShare(t *testing.T) {
	var shares [2][]float64
	for k, engine := range []string{"ep", "gibbs(chains=4, flips=4000)"} {
		a, err := runFit(t.Context(), relation.Job{Command: "select", Rows: relation.Data(120, 1),
			Options: fit.Options{Formula: "u ~ x + z + e + o", Family: "gaussian", Prior: "spikeslab(inclusion_prior=[1, 1])", Engine: engine}})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"x", "z", "e", "o"} {
			f := "selection.features.linear." + name
			shares[k] = append(shares[k], a[f+".resolved"]/a[f+".inclusion"])
		}
	}
	for i, want := range shares[0] {
		if got := shares[1][i]; !(math.Abs(got-want) < 0.1) {
			t.Errorf("feature %d: %v of the inclusion is resolved under gibbs, and %v under ep", i, got, want)
		}
	}
}

// TestRolesTogether: an offset is taken from rows of any weight, and a weight is copies of rows with any offset.
func TestRolesTogether(t *testing.T) {
	var offset, weight []relation.Relation
	for _, r := range relation.Roles() {
		switch r.Name {
		case "offset":
			offset = append(offset, r)
		case "weights = copies":
			weight = append(weight, r)
		}
	}
	weighed, moved := subjectsWith(" + weight(w)"), subjectsWith(" + offset(log(e))")
	relation.Check(t, runFit, weighed, offset, exempt)
	relation.Check(t, runFit, moved, weight, exempt)
}

// TestPartsOfWeights: a row is two rows of the weights ¼ and ¾, under every engine that takes other weights than whole
// ones. gibbs refuses them for classes alone, where each copy of a row has a variable.
func TestPartsOfWeights(t *testing.T) {
	part := func(j relation.Job) (relation.Job, bool) {
		var rows []int
		var w []float64
		for i := range j.Rows.Numbers["w"] {
			rows, w = append(rows, i, i), append(w, 0.25, 0.75)
		}
		j.Rows = j.Rows.Pick(rows).With("w", w)
		return j.Term("weight(w)"), true
	}
	parts := relation.Relation{Name: "weights = copies", Refused: "weight", Change: part,
		Expect: func(_ relation.Job, place string, v float64) (float64, bool) {
			return v, relation.Ungrouped(place) != "rows"
		}}
	relation.Check(t, runFit, subjectsWith(""), []relation.Relation{parts}, exempt)
	for _, s := range subjectsWith("") {
		job, _ := part(s.Job)
		_, err := runFit(t.Context(), job)
		if refused := err != nil && strings.Contains(err.Error(), "whole numbers"); refused != (s.Name == "gibbs, classes") {
			t.Errorf("%s: %v", s.Name, err)
		}
	}
}

// subjectsWith are subjects of every engine that takes weights and offsets, with more in their formulas.
func subjectsWith(role string) (all []relation.Subject) {
	for _, s := range subjects() {
		if slices.Contains([]string{"exact", "svi, classes", "svi, counts", "convex, classes", "ep, classes", "gibbs, classes", "laplace"}, s.Name) {
			s.Job.Options.Formula += role
			all = append(all, s)
		}
	}
	return all
}
