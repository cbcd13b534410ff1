package fit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/selection"
	"github.com/credence-ml/credence/selection/refit"
	"github.com/credence-ml/credence/table"
)

// Select fits a spike-and-slab model to a table and says which features matter: fit.Table with the
// prior spikeslab unless another is stated, and the selection in the fit. Options.Prior must be one
// under which weights may be 0.
func Select(ctx context.Context, rows credence.Source, options Options, how selection.Options) (*credence.Fitted, error) {
	job, err := NewSelection(options, how)
	if err != nil {
		return nil, err
	}
	prepared, err := job.Prepare(ctx, rows)
	if err != nil {
		return nil, err
	}
	return prepared.Select(ctx, how)
}

// NewSelection is New for a selection: the prior is spikeslab unless stated, and refuses, as
// [ErrMisuse], whatever is wrong whatever the data.
func NewSelection(options Options, how selection.Options) (*Job, error) {
	if err := how.Validate(); err != nil {
		return nil, &Misuse{"", err}
	}
	options.Prior = cmp.Or(options.Prior, "spikeslab")
	job, err := newJob(options, true)
	if err != nil {
		return nil, err
	}
	if _, ok := job.prior.(prior.SpikeSlab); !ok {
		return nil, &Misuse{"prior", fmt.Errorf("%v leaves no weight at 0: use spikeslab, or leave it out", job.prior)}
	}
	return job, nil
}

// Select fits the model and says which features matter.
func (p *Prepared) Select(ctx context.Context, how selection.Options) (*credence.Fitted, error) {
	fitted, err := p.Fit(ctx)
	if err != nil {
		return nil, err
	}
	base := p.base()
	result, err := base.Describe(ctx, fitted, how)
	if err != nil {
		return nil, err
	}
	if how.Path == selection.PathAlways || how.Path == "" && p.job.engine.entry == nil && p.size() <= pathSize {
		if err := p.path(ctx, result, how.Check); err != nil {
			return nil, err
		}
	}
	if how.NullCheck > 0 {
		if result.Null, err = base.Null(ctx, how); err != nil {
			return nil, err
		}
	}
	if how.Bootstrap > 0 {
		engine := p.other
		if p.entry.Name == "gibbs" {
			if engine, err = p.beside(quick, p.model.Prior); err != nil {
				return nil, err
			}
		}
		if err := base.Bootstrap(ctx, engine, result, how); err != nil {
			return nil, err
		}
	}
	if how.Check > 0 {
		engines, err := p.checked()
		if err != nil {
			return nil, err
		}
		if result.Check, err = base.Check(ctx, engines, how.Check); err != nil {
			return nil, err
		}
	}
	fitted.Selection = result
	return fitted, nil
}

// SelectProducts is [Select] for rows of which only the products are known, XᵀX, Xᵀy, yᵀy and their number, as shards
// add them up or a paper prints them: the answer is that of the rows but for rounding. Targets are normal, and the
// formula has the columns as they are, whose products alone are known; what needs rows is refused: permuted targets,
// resamples, folds.
func SelectProducts(ctx context.Context, products *table.Products, options Options, how selection.Options) (*credence.Fitted, error) {
	job, err := NewProducts(options, how)
	if err != nil {
		return nil, err
	}
	prepared, err := job.PrepareProducts(ctx, products)
	if err != nil {
		return nil, err
	}
	return prepared.Select(ctx, how)
}

// NewProducts is NewSelection for [Job.PrepareProducts].
func NewProducts(options Options, how selection.Options) (*Job, error) {
	options.Family = cmp.Or(options.Family, "gaussian")
	if name, _, _ := strings.Cut(options.Family, "("); name != "gaussian" {
		return nil, &Misuse{"family", fmt.Errorf("%s: products of columns stand for rows with normal targets alone: use --family gaussian, or the rows", name)}
	}
	for _, o := range []struct {
		name  string
		value int
	}{{"null-check", how.NullCheck}, {"bootstrap", how.Bootstrap}, {"check", how.Check}} {
		if o.value > 0 {
			return nil, &Misuse{"", fmt.Errorf("--%s needs the rows, and their products do not have them: leave it out, or use the rows", o.name)}
		}
	}
	return NewSelection(options, how)
}

// PrepareProducts is Prepare for the products of rows.
func (j *Job) PrepareProducts(ctx context.Context, products *table.Products) (*Prepared, error) {
	if products == nil {
		return nil, errors.New("there are no products: read them by table.ReadProducts")
	}
	source, weight, err := products.Source()
	if err != nil {
		return nil, err
	}
	weighed, term := *j, " + weight("+weight+")"
	weighed.options.Formula = cmp.Or(j.options.Formula, ".") + term
	if !strings.Contains(j.options.Formula, "~") {
		weighed.options.Target = cmp.Or(j.options.Target, products.Target)
	}
	p, err := weighed.Prepare(ctx, source)
	if err != nil {
		return nil, err
	}
	named, ok := p.model.Features.(credence.Named)
	plain := ok && slices.Contains(products.Names, p.frame.TargetName()) && len(p.frame.Offset) == 0 && p.frame.Precision == nil
	for k := 0; plain && k < p.model.Features.Weights(); k++ {
		plain = slices.Contains(products.Names, named.WeightName(k))
	}
	if !plain {
		return nil, fmt.Errorf("the formula %s asks for more than the columns as they are, of which alone there are products: write such columns into the table of products, or use the rows", p.plan)
	}
	p.products, p.term = products, term
	return p, nil
}

// pathCounts are the numbers of features that the path expects in the model beforehand.
var pathCounts = []float64{1, 2, 5, 10, 20, 50, 100}

// pathSize is the number of rows times weights up to which a path takes about a second or two.
const pathSize = 2e5

// size is the number of rows times weights.
func (p *Prepared) size() float64 {
	return float64(p.data.Rows()) * float64(p.model.Features.Weights())
}

// leastListed is the inclusion above which a feature's coefficient stands in a step of the path.
const leastListed = 0.01

// path fits the model at stated prior inclusion probabilities, and, where folds are given, to all rows but one
// fold as well, for each fold.
func (p *Prepared) path(ctx context.Context, result *selection.Result, folds int) error {
	count, _ := result.Candidates()
	var held *refit.Folds
	if folds > 0 {
		var err error
		if held, err = p.base().Deal(ctx, folds); err != nil {
			return err
		}
	}
	var densities [][]float64
	for _, expected := range pathCounts {
		if expected > float64(count)/2 {
			break
		}
		inclusion := expected / float64(count)
		o := p.job.options
		o.Checkpoint, o.Progress, o.Family = "", nil, cmp.Or(o.Family, p.job.family.String())
		o.Prior, o.Engine = "spikeslab(inclusion="+strconv.FormatFloat(inclusion, 'g', -1, 64)+")", quick
		job, err := New(o)
		if err != nil {
			return err
		}
		at, err := job.Prepare(ctx, p.rows)
		if err != nil {
			return err
		}
		fitted, err := at.Fit(ctx)
		if lost(err) || err == nil && fitted.Report.Stuck {
			continue
		}
		if err != nil {
			return err
		}
		found, err := refit.Features(fitted, selection.Options{})
		if err != nil {
			return err
		}
		found.Call(selection.Options{})
		step := selection.Step{
			Inclusion: inclusion, Selected: found.Selected, Features: found.Names(), Evidence: fitted.Report.EvidenceEstimate,
			Coefficients: []selection.Coefficient{},
		}
		_, step.Expected = found.Candidates()
		for _, f := range found.Features {
			if f.Inclusion > leastListed {
				step.Coefficients = append(step.Coefficients, selection.Coefficient{Name: f.Name, Inclusion: f.Inclusion, Mean: f.Mean})
			}
		}
		if held != nil {
			of, err := at.base().Densities(ctx, held, at.engine)
			if err != nil {
				return err
			}
			densities = append(densities, of)
		}
		result.Path = append(result.Path, step)
	}
	if held != nil {
		refit.OneStandardError(result.Path, densities, held)
	}
	return nil
}
