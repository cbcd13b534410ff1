package main

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/bench/glmdata"
	"github.com/credence-ml/credence/bench/glmtrial"
	"github.com/credence-ml/credence/bench/layout"
	"github.com/credence-ml/credence/bench/process"
	"github.com/credence-ml/credence/bench/protocol"
	"github.com/credence-ml/credence/infer/svi"
	"github.com/credence-ml/credence/likelihood"
)

// countSet is a published regression of counts.
type countSet struct {
	name, formula, family string
	logLikelihood         float64 // by R
	size                  float64 // of a negative binomial, by R; 0 where there is none
	slope, intercept      float64 // of one covariate, by R; 0 where there are several
	covariate             string
}

// countsSource says where the figures of countSets come from.
const countsSource = "nmes1988: Zeileis, Kleiber & Jackman, Regression models for count data in R, J. Stat. Softw. 27(8), 2008, to two digits by R's glm and MASS::glm.nb; " +
	"the other two: R's glm on the sets of CASdatasets."

func countSets() []countSet {
	const doctor = "visits ~ hospital + health + chronic + gender + school + insurance"
	return []countSet{
		{name: "nmes1988", formula: doctor, family: "poisson", logLikelihood: -17971.61},
		{name: "nmes1988", formula: doctor, family: "negbinomial", logLikelihood: -12170.55, size: 1.2066},
		{name: "bemtpl97", formula: "nclaims ~ coverage + ageph + sex + bm + power + agec + fuel + use + fleet + offset(log(expo))", family: "poisson", logLikelihood: -62494.38},
		{name: "fremtpl2_age", formula: "claims ~ driver_age", family: "poisson", logLikelihood: -113429.71, slope: -0.001899561, intercept: -3.157199, covariate: "driver_age"},
	}
}

// countResult is what a regression of counts came to.
type countResult struct {
	Set           string  `json:"set"`
	Family        string  `json:"family"`
	Rows          int     `json:"rows"`
	Weights       int     `json:"weights"`
	LogLikelihood float64 `json:"log_likelihood"` // at the posterior mean
	Published     float64 `json:"published"`
	Size          float64 `json:"size,omitempty"`
	Intercept     float64 `json:"intercept,omitempty"`
	Slope         float64 `json:"slope,omitempty"`
	CPUSeconds    float64 `json:"cpu_seconds"`
	PeakBytes     float64 `json:"peak_bytes"`
}

// counts fits published regressions under a prior so wide that the posterior mean is the
// maximum of the likelihood.
func (b *glmBench) counts(ctx context.Context) error {
	table := &layout.Table{Left: 2, Head: []string{"set", "family", "rows", "weights", "log-likelihood", "by R", "learned", "by R", "CPU s", "peak MB"}}
	for _, set := range countSets() {
		if protocol.Missing(b.folder, set.name) {
			fmt.Fprintf(b.progress, "glm: %s is not in %s: skipped\n", set.name, b.folder)
			continue
		}
		r, err := b.countSet(ctx, set)
		if err != nil {
			return fmt.Errorf("%s: %w", set.name, err)
		}
		var learned, theirs string
		switch {
		case set.size > 0:
			learned, theirs = "size "+layout.Number(r.Size, 4), layout.Number(set.size, 4)
		case set.covariate != "":
			learned = layout.Number(r.Intercept, 5) + ", " + layout.Number(r.Slope, 8)
			theirs = layout.Number(set.intercept, 5) + ", " + layout.Number(set.slope, 8)
		}
		table.Add(r.Set, r.Family, strconv.Itoa(r.Rows), strconv.Itoa(r.Weights), layout.Number(r.LogLikelihood, 2), layout.Number(r.Published, 2),
			learned, theirs, layout.Number(r.CPUSeconds, 2), layout.Number(r.PeakBytes/1e6, 0))
		if err := b.record(r); err != nil {
			return err
		}
	}
	return b.table("Regressions of counts", table, "Log-likelihood at the posterior mean under normal(variance=10000); peak MB is of the whole benchmark so far. "+countsSource)
}

func (b *glmBench) countSet(ctx context.Context, set countSet) (*countResult, error) {
	data, err := glmdata.Load(ctx, b.path(set.name, set.name+".csv.gz"), nil, nil)
	if err != nil {
		return nil, err
	}
	fit, err := glmtrial.Run(ctx, data, glmtrial.Options{
		Formula: set.formula, Family: set.family, Prior: "normal(variance=10000)", SVI: svi.Config{Covariance: svi.Full}, Seed: b.seed, Threads: b.threads,
	})
	if err != nil {
		return nil, err
	}
	r := &countResult{Set: set.name, Family: set.family, Rows: fit.Report.Rows, Weights: fit.Report.Weights, Published: set.logLikelihood,
		CPUSeconds: fit.CPUSeconds, PeakBytes: float64(process.PeakMemory())}
	family := fit.Members[0].Model.Likelihood
	if nb, ok := family.(likelihood.NegativeBinomial); ok {
		r.Size = nb.Size.Value
	}
	var x []float64
	if set.covariate != "" {
		x = data.Column(set.covariate)
	}
	first, far := math.NaN(), 0 // f of the first row, and a row whose covariate differs
	row := 0
	err = fit.Each(data, func(_ *credence.Workspace, rows *credence.Batch, dist *credence.Distribution) {
		for i, y := range rows.Target {
			mean, _ := dist.Latent(i)
			r.LogLikelihood += family.LogDensity(y, mean)
			if x != nil {
				switch {
				case row == 0:
					first = mean
				case far == 0 && x[row] != x[0]:
					far = row
					r.Slope = (mean - first) / (x[row] - x[0])
					r.Intercept = first - r.Slope*x[0]
				}
			}
			row++
		}
	})
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(b.progress, "%s %s: log-likelihood %.2f, published %.2f, %.2f CPU s\n", r.Set, r.Family, r.LogLikelihood, r.Published, r.CPUSeconds)
	return r, nil
}
