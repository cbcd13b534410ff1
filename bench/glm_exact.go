package main

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/bench/glmtrial"
	"github.com/credence-ml/credence/bench/layout"
	"github.com/credence-ml/credence/bench/protocol"
	"github.com/credence-ml/credence/infer/exact"
	"github.com/credence-ml/credence/infer/svi"
	"github.com/credence-ml/credence/prior"
)

// exactResult is one way of fitting one split.
type exactResult struct {
	Set   string  `json:"set"`
	Split int     `json:"split"`
	Model string  `json:"model"`
	SMSE  float64 `json:"smse"`
	NLPD  float64 `json:"nlpd"`
	// Evidence is the log evidence of exact and the bound of svi.
	Evidence   float64 `json:"evidence"`
	CPUSeconds float64 `json:"cpu_seconds"`
}

// exactFits are the ways of fitting, the exact engine's first.
var exactFits = []string{"exact", "svi, full", "svi, diagonal", "svi, full, learning all"}

// exactly sets svi beside the exact engine on Gaussian models: at the hyper-parameters that exact
// learned, on the same random features, and learning them itself.
func (b *glmBench) exactly(ctx context.Context) error {
	table := &layout.Table{Left: 2, Head: []string{"set", "fit", "splits", "SMSE", "off exact", "at most", "NLPD", "evidence or bound", "CPU s a fit"}}
	for _, name := range []string{"boston", "concrete"} {
		if protocol.Missing(b.folder, name) {
			fmt.Fprintf(b.progress, "glm: %s is not in %s: skipped\n", name, b.folder)
			continue
		}
		set, err := protocol.Load(ctx, b.folder, name)
		if err != nil {
			return err
		}
		first, end, err := splitRange(b.splits, len(set.Splits))
		if err != nil {
			return err
		}
		results := make([][]exactResult, len(exactFits))
		for k := first; k < end; k++ {
			split, err := b.exactSplit(ctx, set, k)
			if err != nil {
				return fmt.Errorf("%s, split %d: %w", name, k, err)
			}
			for i, r := range split {
				results[i] = append(results[i], r)
				if err := b.record(r); err != nil {
					return err
				}
			}
		}
		for i, list := range results {
			addExact(table, list, results[0], exactFits[i])
		}
	}
	return b.table("Beside the exact engine", table, "`center(y) ~ 0 + rbf(., n=100)`, the same frequencies in every fit of a split. svi holds the lengthscales, the prior variance and the noise that exact learned, "+
		"and in the last row learns them itself, from one start as exact does here. Off exact, at most: mean and largest |SMSE/SMSE of exact − 1| over the splits.")
}

func addExact(table *layout.Table, list, reference []exactResult, name string) {
	n := float64(len(list))
	var smse, nlpd, evidence, cpu, over, largest float64
	for k, r := range list {
		smse += r.SMSE / n
		nlpd += r.NLPD / n
		evidence += r.Evidence / n
		cpu += r.CPUSeconds / n
		gap := math.Abs(r.SMSE/reference[k].SMSE - 1)
		over += gap / n
		largest = math.Max(largest, gap)
	}
	mean, most := layout.Number(100*over, 4)+" %", layout.Number(100*largest, 4)+" %"
	if name == exactFits[0] || name == exactFits[3] {
		mean, most = "", ""
	}
	table.Add(list[0].Set, name, strconv.Itoa(len(list)), layout.Number(smse, 5), mean, most,
		layout.Number(nlpd, 4), layout.Number(evidence, 2), layout.Number(cpu, 2))
}

// exactSplit fits one split in every way.
func (b *glmBench) exactSplit(ctx context.Context, set *protocol.Set, k int) ([]exactResult, error) {
	train, test := set.Split(k)
	options := glmtrial.Options{Formula: exactFormula(set, ""), Family: "gaussian", Seed: b.seed + uint64(k), Threads: b.threads}
	run := func(options glmtrial.Options, name string) (exactResult, *glmtrial.Fit, error) {
		r := exactResult{Set: set.Name, Split: k, Model: name}
		fit, err := glmtrial.Run(ctx, train, options)
		if err != nil {
			return r, nil, err
		}
		scores, _, err := fit.Regression(test, 0.9)
		if err != nil {
			return r, nil, err
		}
		r.SMSE, r.NLPD, r.CPUSeconds = float64(scores.SMSE), float64(scores.NLPD), fit.CPUSeconds
		if fit.Report.Evidence != nil {
			r.Evidence = *fit.Report.Evidence
		} else {
			r.Evidence = *fit.Report.ELBO
		}
		fmt.Fprintf(b.progress, "%s split %d, %s: SMSE %.6f, NLPD %.4f, %.2f\n", set.Name, k, name, r.SMSE, r.NLPD, r.Evidence)
		return r, fit, nil
	}
	options.Exact = &exact.Config{Starts: 1, Draws: 1}
	reference, fit, err := run(options, exactFits[0])
	if err != nil {
		return nil, err
	}
	results := []exactResult{reference}
	free := options
	free.Exact, free.SVI = nil, svi.Config{Covariance: svi.Full}
	held, err := hold(options, set, fit.Members[0].Model)
	if err != nil {
		return nil, err
	}
	held.Exact = nil
	for i, o := range []glmtrial.Options{held, held, free} {
		if i == 0 {
			o.SVI = svi.Config{Covariance: svi.Full}
		}
		r, _, err := run(o, exactFits[1+i])
		if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	return results, nil
}

// exactFormula has no intercept, whose prior variance exact learns and svi holds, but a centred target.
func exactFormula(set *protocol.Set, arguments string) string {
	return "center(" + set.Target + ") ~ 0 + " + set.Formula("rbf(., n=100"+arguments+")")
}

// hold states the hyper-parameters of a fitted model in the text of the next.
func hold(options glmtrial.Options, set *protocol.Set, model credence.Model) (glmtrial.Options, error) {
	tunable, ok := model.Features.(credence.Tunable)
	if !ok {
		return options, fmt.Errorf("the features of exact have no lengthscales")
	}
	var lengthscales []string
	for _, h := range tunable.Hyper() {
		lengthscales = append(lengthscales, number(h.Value))
	}
	normal, ok := model.Prior.(prior.Normal)
	if !ok {
		return options, fmt.Errorf("the prior of exact is %v", model.Prior)
	}
	blocks := model.Features.Blocks()
	variance := normal.Variances[blocks[len(blocks)-1].First] // of the random features
	options.Formula = exactFormula(set, ", lengthscale=["+strings.Join(lengthscales, ", ")+"]")
	options.Family = "gaussian(variance=" + number(model.Likelihood.Variance(0)) + ")"
	options.Prior = "normal(variance=" + number(variance) + ")"
	return options, nil
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
