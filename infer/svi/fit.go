package svi

import (
	"context"
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/prior"
)

// fit is one run of an engine.
type fit struct {
	*Engine
	ws        *credence.Workspace
	data      credence.Data
	features  credence.Features // at the values learned so far
	groups    []group
	d         int
	report    credence.Report
	targets   moments
	redraw    int    // start whose draw of random features was kept
	separable bool   // the classes are separated by the result
	near      *tuned // where hyper-parameters were learned; nil where there are none
}

// Fit implements [credence.Engine].
func (e *Engine) Fit(ctx context.Context, data credence.Data) (*credence.Fitted, error) {
	if data.Rows() == 0 {
		return nil, fmt.Errorf("svi: there are no rows to fit")
	}
	r := &fit{
		Engine: e, ws: credence.NewWorkspace(e.config.Threads), data: data,
		features: e.model.Features, groups: e.groups(), d: e.model.Features.Weights(),
	}
	r.targets.reset()
	var first credence.Batch
	if err := data.Read(&first, 0, 1); err != nil {
		return nil, err
	}
	r.report = credence.Report{
		Engine: "svi", Rows: data.Rows(), Inputs: first.X.Cols + first.Sparse.Cols, Weights: r.d,
	}
	saved, err := r.readCheckpoint()
	if err != nil {
		return nil, err
	}
	if err := r.tune(ctx, saved); err != nil {
		return nil, err
	}
	if e.config.Covariance == Full {
		return r.fitFull(ctx, saved)
	}
	return r.fitMixture(ctx, saved)
}

func (r *fit) open(limit int) *table {
	return newTable(r.data, r.ws, r.features, r.likelihood, limit, false)
}

func (r *fit) warn(format string, arguments ...any) {
	r.report.Warnings = append(r.report.Warnings, fmt.Sprintf(format, arguments...))
}

const (
	// cheap is the number of operations of a pass below which convergence to more digits than
	// anybody needs is free.
	cheap = 1e8
	// affordable is that of a pass which a comparison for a warning may take.
	affordable = 1e11
)

func (r *fit) tolerance() float64 {
	if r.config.Tolerance > 0 {
		return r.config.Tolerance
	}
	if float64(r.data.Rows())*float64(r.d)*float64(r.d) > cheap && r.config.Covariance == Full {
		return 1e-3
	}
	return 1e-4
}

// levels are the numbers of rows on which a fit is brought near its optimum before
// it goes on with eight times as many: the last steps are few.
func (r *fit) levels() []int {
	var list []int
	for rows := max(startRows, 30*r.d); 2*rows <= r.data.Rows(); rows *= 8 {
		list = append(list, rows)
	}
	return append(list, 0)
}

// member assembles the model at what was learned.
func (r *fit) member(posterior credence.Posterior, priors []float64, f *family) credence.Member {
	variances := make([]float64, r.d)
	for k, g := range r.groups {
		for j := g.first; j < g.first+g.count; j++ {
			variances[j] = priors[k]
		}
	}
	return credence.Member{
		Model: credence.Model{
			Features:   r.features,
			Likelihood: f.Likelihood,
			Prior:      prior.Normal{Variance: r.prior.Variance, ARD: r.prior.ARD, Variances: variances},
		},
		Posterior: posterior,
	}
}

// finish assembles the result.
func (r *fit) finish(m credence.Member, priors []float64, f *family) *credence.Fitted {
	if p, ok := f.Likelihood.(likelihood.Parametric); ok {
		for _, parameter := range p.Parameters() {
			name := parameter.Name
			if _, ok := p.(likelihood.Gaussian); ok {
				name = "noise_variance"
			}
			r.report.Hyper = append(r.report.Hyper, credence.Value{Name: name, Value: parameter.Value})
		}
	}
	for k, g := range r.groups {
		r.report.Hyper = append(r.report.Hyper, credence.Value{Name: "prior_variance." + g.name, Value: priors[k]})
	}
	if tunable, ok := r.features.(credence.Tunable); ok {
		for _, h := range tunable.Hyper() {
			r.report.Hyper = append(r.report.Hyper, credence.Value{Name: h.Name, Value: h.Value})
		}
	}
	return &credence.Fitted{
		Members: []credence.Member{m}, Report: r.report,
		TargetMean: r.targets.mean, TargetVariance: r.targets.variance(),
	}
}
