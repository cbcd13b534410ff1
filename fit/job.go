package fit

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/criticism"
	"github.com/credence-ml/credence/formula"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/prior"
)

// Table fits a model to the rows of a table.
func Table(ctx context.Context, rows credence.Source, options Options) (*credence.Fitted, error) {
	job, err := New(options)
	if err != nil {
		return nil, err
	}
	return job.Fit(ctx, rows)
}

// Job is a fit whose options have been found sound. It may be used for any number of tables.
type Job struct {
	options  Options
	frame    frame.Options
	family   formula.Family
	prior    credence.Prior
	engine   *choice
	like     *credence.Fitted        // the model that is fitted again, nil for another
	progress func(credence.Progress) // is called between fits without a fold
}

// New reads the options and refuses, as [ErrMisuse], whatever is wrong with them whatever the data.
func New(options Options) (*Job, error) { return newJob(options, false) }

// newJob is New, and says whether the prior is what the job is for.
func newJob(options Options, selecting bool) (*Job, error) {
	if options.Registry == nil {
		options.Registry = Default()
	}
	if err := options.validate(); err != nil {
		return nil, err
	}
	if options.HoldOut > 0 {
		return nil, &Misuse{"hold_out", errors.New("rows are held out where they are learned online: use package learn, or leave it out")}
	}
	if options.Time != "" || options.HalfLife != "" {
		return nil, &Misuse{"time", errors.New("times are for rows that are learned online: use package learn, or leave it out")}
	}
	j := &Job{options: options}
	j.frame = frame.Options{Missing: options.Missing, DropTarget: options.DropTarget, Unseen: options.Unseen, Raw: options.Raw, Positive: options.Positive}
	var err error
	if _, err = j.frame.Validate(); err != nil {
		return nil, &Misuse{"", err}
	}
	if j.engine, err = parseEngine(options.Engine, options.Registry); err != nil {
		return nil, &Misuse{"engine", err}
	}
	j.engine.selecting = selecting
	if e := j.engine.entry; e != nil {
		options.Family, options.Prior = cmp.Or(options.Family, e.Family), cmp.Or(options.Prior, e.Prior)
	}
	if j.family, err = formula.ParseFamily(options.Family, options.Registry.Families); err != nil {
		return nil, &Misuse{"family", err}
	}
	plan, err := formula.Check(options.Formula, formula.Options{Target: options.Target, Family: j.family, ReadFile: options.ReadFile})
	if err != nil {
		return nil, &Misuse{"formula", err}
	}
	if j.prior, err = formula.ParsePrior(options.Prior, options.Registry.Priors); err != nil {
		return nil, &Misuse{"prior", err}
	}
	if _, selects := j.prior.(prior.SpikeSlab); !selects && len(options.PriorOdds) > 0 {
		return nil, &Misuse{"prior_odds", fmt.Errorf("%v leaves no weight at 0, and none has odds of it: use --prior spikeslab, or leave prior odds out", j.prior)}
	}
	if err := j.engine.ofGroups(plan.Bars(), j.prior); err != nil {
		return nil, &Misuse{"engine", err}
	}
	if stated := j.family.Stated(); stated != nil && options.Positive != "" {
		if _, kind := likelihood.Describe(stated); kind != likelihood.Classes {
			return nil, &Misuse{"", fmt.Errorf("--positive names a class, and family %s has none: leave it out, or use --family bernoulli", j.family.Name())}
		}
	}
	if e := j.engine.entry; e != nil { // arguments may be those of another prior
		if _, err := j.engine.maker(Settings{Prior: j.prior}, e, j.engine.call); err != nil {
			return nil, &Misuse{"engine", err}
		}
	}
	for _, family := range j.family.Possible() {
		refused := j.engine.check(family, j.prior)
		if refused == nil {
			return j, nil
		}
		err = cmp.Or(err, refused)
	}
	return nil, &Misuse{"", err}
}

// parse compiles the formula for a table.
func (j *Job) parse(schema *credence.Schema) (*formula.Plan, error) {
	return formula.Parse(j.options.Formula, schema, formula.Options{
		Target: j.options.Target, Family: j.family, ReadFile: j.options.ReadFile,
	})
}

// Columns names the columns that the model needs of a table: those to be read. Columns of the sparse
// segment are not among them.
func (j *Job) Columns(schema *credence.Schema) ([]string, error) {
	plan, err := j.parse(schema)
	if errors.Is(err, formula.ErrNoTarget) { // the options alone say so
		return nil, &Misuse{"", err}
	}
	if err != nil {
		return nil, err
	}
	var columns []string
	places, needs := schema.Places(), plan.Frame.Needs()
	if j.like != nil { // of a table that has others, too
		needs = j.like.Frame.(*frame.Frame).Needs(true)
	}
	for _, name := range needs {
		of, _ := credence.CutText(name)
		_, known := places[name]
		if _, texts := places[of]; known || texts {
			columns = append(columns, name)
		}
	}
	return columns, nil
}

// PartsAlone names the columns of which the model takes parts of dates alone, such as hour(t).
func (j *Job) PartsAlone(schema *credence.Schema) ([]string, error) {
	plan, err := j.parse(schema)
	if err != nil {
		return nil, err
	}
	return plan.Frame.PartsAlone(), nil
}

// Outside names the columns of a table outside the formula that may show groups of rows, for [Prepared.Beside].
func (j *Job) Outside(schema *credence.Schema) ([]string, error) {
	plan, err := j.parse(schema)
	if err != nil {
		return nil, err
	}
	return criticism.Outside(schema, plan.Frame.Needs()), nil
}

// Fit fits the model to a table.
func (j *Job) Fit(ctx context.Context, rows credence.Source) (*credence.Fitted, error) {
	run, err := j.Prepare(ctx, rows)
	if err != nil {
		return nil, err
	}
	return run.Fit(ctx)
}
