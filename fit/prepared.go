package fit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/criticism"
	"github.com/credence-ml/credence/formula"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/infer/exact"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/table"
)

// Prepared is a model made for a table, with the engine that will fit it.
type Prepared struct {
	job    *Job
	rows   credence.Source
	plan   *formula.Plan
	frame  *frame.Frame
	data   credence.Data
	model  credence.Model
	engine credence.Engine
	other  credence.Engine // the same for other rows, of which there are no checkpoints
	maker  Maker           // of the same for other features
	entry  *Engine
	why    string // the engine was chosen
	call   string // that makes it again
	// drawn are the frequencies of the model's random features, and fewer says which of them are fewer than asked for,
	// "" if none.
	drawn   []formula.Frequencies
	fewer   string
	looks   *credence.Look  // of the target, where it does not look like measurements
	outside credence.Source // the rows' columns outside the formula, nil where rows has them
	// products are what the rows stand for, nil for rows of their own, and term is the one of the formula by which they
	// do.
	products *table.Products
	term     string
	sums     *exact.Sums // over the rows, of which data has only some; nil for rows that are there
}

// formula is the one that was asked for, spelled out.
func (p *Prepared) formula() string { return strings.TrimSuffix(p.plan.String(), p.term) }

// Prepare reads the table once for kinds, levels and moments, makes the model, chooses the engine,
// and refuses what would not fit into memory.
func (j *Job) Prepare(ctx context.Context, rows credence.Source) (*Prepared, error) {
	if rows == nil {
		return nil, errors.New("there is no table: give a credence.Source, as table.Structs or dataset.Open make")
	}
	p := &Prepared{job: j, rows: rows}
	var err error
	if p.plan, err = j.parse(rows.Schema()); err != nil {
		return nil, err
	}
	if p.frame, err = frame.Fit(ctx, &p.plan.Frame, rows, j.family.Options(j.frame)); err != nil {
		return nil, err
	}
	if p.data, err = p.frame.Bind(rows, frame.RequireTargets); err != nil {
		return nil, err
	}
	if p.looks, err = p.look(ctx); err != nil {
		return nil, err
	}
	return p, p.assemble(p.data)
}

// assemble makes the model of the frame and the engine. Features may look at the rows, which are nil where they lie
// elsewhere.
func (p *Prepared) assemble(all credence.Data) error {
	j, rows := p.job, p.frame.Rows
	family, err := j.family.Likelihood(p.frame)
	if err != nil {
		return err
	}
	if p.drawn, err = p.plan.Frequencies(p.frame, all); err != nil {
		return err
	}
	features, err := p.plan.Features(p.frame, all, j.options.Seed, p.drawn)
	if err != nil {
		return err
	}
	p.model = credence.Model{Features: features, Likelihood: family}
	if p.model.Prior, err = withOdds(j.prior, features, j.options.PriorOdds); err != nil {
		return err
	}
	entry, call, why, err := j.engine.choose(p.model, rows)
	if err == nil && j.engine.entry == nil && entry.diagonal(call) && p.takeFewer() {
		entry, call, why, err = j.engine.choose(p.model, rows)
	}
	if err == nil && j.like != nil {
		err = p.liken(j.like)
	}
	if err != nil {
		return err
	}
	made := p.model.Features // of fewer frequencies, it may be
	if c := ability.Covariances(made); len(c) > 0 && (entry.Groups == nil || !entry.Groups(call)) {
		return fmt.Errorf("the model has %d weights, %d of them of the %d levels of %s, too many for the engines that fit effects of groups: write onehot(…) in its place, or state --engine 'svi(covariance=full)' if memory and time allow",
			made.Weights(), c[0].Levels*len(c[0].Columns), c[0].Levels, made.Blocks()[c[0].Block].Name)
	}
	rest, _ := problem.Rest(made, p.model.Prior)
	if entry.Crosses && problem.Crossed(made, p.model.Prior) {
		rest = min(rest, problem.FullWeights)
	}
	if err := refuseSize(entry, call, j.prior, rows, made.Weights(), rest, j.memory()); err != nil {
		return err
	}
	p.entry, p.why, p.call = entry, why, call.String()
	o := &j.options
	maker, err := j.engine.maker(Settings{Prior: j.prior, Seed: o.Seed, Threads: o.Threads, Checkpoint: o.Checkpoint, Progress: o.Progress}, entry, call)
	if err == nil {
		p.engine, err = maker(p.model)
	}
	if p.other = p.engine; err == nil && o.Checkpoint != "" {
		if maker, err = j.engine.maker(Settings{Prior: j.prior, Seed: o.Seed, Threads: o.Threads}, entry, call); err == nil {
			p.other, err = maker(p.model)
		}
	}
	p.maker = maker
	return err
}

// Model returns the model, and Data its rows, for programs that fit parts of them.
func (p *Prepared) Model() credence.Model { return p.model }

// Data returns the rows of the model.
func (p *Prepared) Data() credence.Data { return p.data }

// Placed adds to a warning or a remark of the fit where the rows that it names stand, for people: the fit itself has
// their numbers alone.
func (p *Prepared) Placed(text string) string { return criticism.Placed(p.rows, text) }

// Frequencies returns how many frequencies the model's random features draw.
func (p *Prepared) Frequencies() []formula.Frequencies { return p.drawn }

// Beside gives the criticism columns outside the formula that may show groups of rows, as a table of the same rows:
// what [Job.Outside] names. Without it those of the fitted table itself are looked at.
func (p *Prepared) Beside(rows credence.Source) { p.outside = rows }

// Fit fits the model.
func (p *Prepared) Fit(ctx context.Context) (*credence.Fitted, error) {
	checkpoint := p.job.options.Checkpoint
	_, begun := os.Stat(checkpoint)
	fitted, err := p.once(ctx)
	if err != nil && begun == nil && ctx.Err() == nil && !strings.Contains(err.Error(), checkpoint) {
		err = fmt.Errorf("%w; the fit went on from checkpoint %s: if it is damaged, remove it to begin anew", err, checkpoint)
	}
	if err != nil {
		return nil, err
	}
	fr := p.frame
	fitted.Recipe = p.recipe()
	fitted.Report.Inputs, fitted.Report.Target = len(fr.Inputs)+fr.Sparse, p.looks
	for _, d := range p.drawn {
		fitted.Report.Frequencies = append(fitted.Report.Frequencies, credence.Value{Name: d.Term, Value: float64(d.Count)})
	}
	warnings := append(append([]string{}, p.plan.Warnings...), fr.Warnings...)
	if p.fewer != "" {
		warnings = append(warnings, p.fewer)
	}
	if !p.plan.Intercept && pullsToMean(fr) {
		warnings = append(warnings, "the formula has no intercept and columns are centred, so that f is 0 where they are at their means: use --raw for a line through the origin, or a column of ones")
	}
	if fr.Fractions > 0 && learnsDispersion(p.model.Likelihood) {
		warnings = append(warnings, fmt.Sprintf("weight(%s) counts equal rows, and is no whole number in %d of %d: write precision(%s) where a row is the mean of so many, or measured so precisely", fr.Weight.Written(), fr.Fractions, fr.Rows, fr.Weight.Written()))
	}
	writes := p.entry.Checkpoints
	if e, ok := p.engine.(interface{ Checkpoints() bool }); ok { // of some models alone
		writes = writes && e.Checkpoints()
	}
	if p.job.options.Checkpoint != "" && !writes {
		warnings = append(warnings, fmt.Sprintf("engine %s writes no checkpoint: the one asked for is not used", p.entry.Name))
	}
	if text := p.unlearned(fitted); text != "" {
		warnings = append(warnings, text)
	}
	if err := p.tellGroups(ctx, fitted); err != nil {
		return nil, err
	}
	fitted.Report.Warnings = append(warnings, fitted.Report.Warnings...)
	fitted.Report.Remarks = append(append([]string(nil), fr.Remarks...), fitted.Report.Remarks...)
	if p.products != nil { // of single rows nothing is known, and those to come have no weight
		alone := *fr
		alone.Weight, fitted.Frame = nil, &alone
		fitted.Report.Rows = p.products.Rows()
		return fitted, nil
	}
	if p.lacking() {
		fitted.Report.Remarks = append(fitted.Report.Remarks, "no row was looked at, for none was carried beside the sums: nothing is said of outliers, groups, bends and tails")
		return fitted, nil
	}
	found, err := criticism.Of(ctx, fitted, p.data, criticism.Options{
		Seed: p.job.options.Seed, Threads: p.job.options.Threads, Fitted: true, Beside: cmp.Or(p.outside, p.rows),
	})
	warnings, remarks, details := criticism.Texts(found)
	r := &fitted.Report
	r.Warnings, r.Remarks, r.Details = append(r.Warnings, warnings...), append(r.Remarks, remarks...), details
	return fitted, err
}

// once fits the model to the data, and gives the fit what prediction needs.
func (p *Prepared) once(ctx context.Context) (*credence.Fitted, error) {
	fitted, err := p.fitRows(ctx)
	if err == nil {
		fitted, err = p.double(ctx, fitted)
	}
	if err == nil {
		fitted, err = p.widen(ctx, fitted)
	}
	if err == nil && !p.lacking() {
		err = p.checkFinite(fitted)
	}
	if err == nil {
		fitted.Frame, fitted.TargetMean, fitted.TargetVariance = p.frame, p.frame.Target.Mean, p.frame.Target.Variance
	}
	return fitted, err
}

// lacking says that there are sums and no rows at all.
func (p *Prepared) lacking() bool {
	carried, ok := p.data.(interface{ Lacking() bool })
	return ok && carried.Lacking()
}

// fitRows fits the model to its rows, or to their sums.
func (p *Prepared) fitRows(ctx context.Context) (*credence.Fitted, error) {
	if p.sums == nil {
		return p.engine.Fit(ctx, p.data)
	}
	engine, _, err := p.Apart(false)
	if err != nil {
		return nil, err
	}
	return engine.FitSums(ctx, p.sums)
}

// priorText states the prior, "" where the engine takes none.
func (p *Prepared) priorText() string {
	if p.entry.Priorless {
		return ""
	}
	return p.job.prior.String()
}

// Note is a line about what was chosen.
type Note struct{ Topic, Text string }

// Explain tells what the texts and the table came to: what the target looks like or its positive class, the
// model, and the engine and why.
func (p *Prepared) Explain() (notes []Note) {
	if p.looks != nil {
		notes = append(notes, Note{"target", fmt.Sprintf("column %s, fitted as gaussian: %v", p.frame.TargetName(), p.looks)})
	}
	if positive := p.frame.Target.Positive(); positive != "" {
		notes = append(notes, Note{"target", fmt.Sprintf("%s: the positive class is %s", p.frame.TargetName(), positive)})
	}
	notes = append(notes, Note{"model", fmt.Sprintf("%s   %v, %s prior", p.formula(), p.model.Likelihood, cmp.Or(p.priorText(), "no"))})
	return append(notes, Note{"engine", p.entry.Name + ": " + p.why})
}

// learnsDispersion says whether rows tell how far targets lie from their means, which weights say how
// many rows tell.
func learnsDispersion(l credence.Likelihood) bool {
	_, dispersed := l.(likelihood.Dispersed)
	parametric, ok := l.(likelihood.Parametric)
	return dispersed && ok && slices.ContainsFunc(parametric.Parameters(), func(p likelihood.Parameter) bool { return p.State != param.Held })
}

// pullsToMean reports whether a frame centres inputs and has none that is
// constant, which would take the place of an intercept.
func pullsToMean(fr *frame.Frame) bool {
	centred := false
	for i := range fr.Inputs {
		in := &fr.Inputs[i]
		centred = centred || in.Center != 0
		if in.Kind == credence.Category || in.Kind == credence.Numeric && !in.Segment && in.Center == 0 && in.Scale == 1 {
			return false
		}
	}
	return centred
}

// checkFinite refuses a fit that no model file could hold: parts that are none, or predictions that are
// no numbers.
func (p *Prepared) checkFinite(fitted *credence.Fitted) error {
	failed := func(what any) error {
		return fmt.Errorf("%s: the fit did not end in finite numbers (%v): scale the columns, look for values that are far from all others, or use another engine", p.entry.Name, what)
	}
	for i := range fitted.Members {
		m := &fitted.Members[i]
		for _, part := range []any{m.Model.Likelihood, m.Model.Prior, m.Posterior} {
			if v, ok := part.(interface{ Validate() error }); ok {
				if err := v.Validate(); err != nil {
					return failed(err)
				}
			}
		}
	}
	var row credence.Batch
	var distribution credence.Distribution
	if err := p.data.Read(&row, 0, 1); err != nil {
		return err
	}
	if err := fitted.DistributionTo(credence.NewWorkspace(1), &distribution, &row); err != nil {
		return err
	}
	if mean, variance := distribution.Latent(0); math.IsNaN(mean-mean) || !(variance >= 0) {
		return failed(fmt.Sprintf("f of the first row has mean %v and variance %v", mean, variance))
	}
	return nil
}
