package learn

import (
	"errors"
	"fmt"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature/keyed"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/formula"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/task"
	"github.com/credence-ml/credence/metric"
	"github.com/credence-ml/credence/table"
)

// Learner learns rows one after another. It is for one goroutine at a time. Its fields may be set
// before the first row.
type Learner struct {
	// MaxMalformed is how many malformed rows are skipped; one more is an error.
	MaxMalformed int64
	OnMalformed  func(error) // called for every row that is skipped
	// Nameless says that the names of features are not kept; a name is as long as its levels.
	Nameless bool
	// OnProgress is called after every Every rows; 0 means never.
	Every      int64
	OnProgress func(Progress)
	OnPass     func(Pass) // called at the end of every pass

	options fit.Options
	engine  *fit.Online
	formula string // as compiled
	target  string
	notes   []string
	// modelled are the columns that the model takes.
	modelled map[string]bool

	classes [2]string      // of the target, where they are not 0 or -1 and 1
	columns []table.Column // of the whole table, where they are known
	drafted *draft         // of these columns, before the first row
	reading credence.Reading
	online  credence.Online
	plan    *keyed.Plan
	index   *keyed.Index
	names   *keyed.Names // nil where none are kept
	binder  *keyed.Binder
	row     *oneRow

	probability []float64
	targets     []float64 // of the rows of a batch, of which some are held out
	measured    *metric.Progressive
	counts      counts
	then        counts     // once all batches are learned
	last        *task.Task // of the last of them; nil where none is being learned
	under       []*task.Task
	broken      error // a panic, or a state that is no number: nothing more is told of it
	finished    bool  // all of several passes are done
	final       bool  // nothing more is learned
	// what is known of the features is given up for their weights, of which there are more than releaseEvery
	released     bool
	releaseEvery int
	fitted       *credence.Fitted // then
}

// counts is what a learner has seen.
type counts struct {
	Pass      int      `json:"pass"`
	Before    int64    `json:"before,omitempty"` // different rows of the run that this one starts from
	Rows      int64    `json:"rows"`             // learned: those before, and its own in all passes
	PassRows  int64    `json:"pass_rows"`        // of them in this pass
	Slots     int      `json:"slots"`            // features of the rows learned
	Malformed int64    `json:"malformed"`        // skipped, in this pass
	Dropped   int64    `json:"dropped"`          // left out, in the first pass
	Positives float64  `json:"positives"`        // weight of the rows of class 1, in the first pass
	Weight    float64  `json:"weight"`           // of all rows of the first pass
	Sums      passSums `json:"sums,omitzero"`
	Files     int      `json:"files,omitempty"` // that were learned apart, and brought together
}

// New returns a learner that has seen nothing. It refuses, as [fit.ErrMisuse], whatever is wrong with
// the options whatever the data; the formula may still not fit them.
func New(options fit.Options) (*Learner, error) {
	if options.Registry == nil {
		options.Registry = fit.Default()
	}
	l := &Learner{options: options, index: &keyed.Index{}, measured: &metric.Progressive{}, releaseEvery: releaseEvery}
	var err error
	if l.engine, err = fit.NewOnline(options); err != nil {
		return nil, err
	}
	if l.online, err = l.engine.New(); err != nil {
		return nil, err
	}
	return l, l.check()
}

// check refuses options that online learning does not have.
func (l *Learner) check() error {
	o := &l.options
	misuse := func(option string, err error) error { return &fit.Misuse{Option: option, Err: err} }
	if _, err := (frame.Options{Missing: o.Missing}).Validate(); err != nil {
		return misuse("", err)
	}
	plan, err := formula.Check(o.Formula, l.formulaOptions())
	if err == nil {
		_, err = plan.Keyed(func(string) (credence.Kind, bool) { return formula.AnyKind, true })
	}
	if err == nil && !plan.Intercept {
		err = l.pin()
	}
	if err != nil {
		return misuse("formula", err)
	}
	family, err := formula.ParseFamily(o.Family, o.Registry.Families)
	if err != nil {
		return misuse("family", err)
	}
	described := l.describe()
	if have, want := family.String(), fmt.Sprint(described.Model.Likelihood); have != "" && have != want && (have != "bernoulli" || want != "bernoulli(link=logit)") {
		return misuse("family", fmt.Errorf("engine %s learns %s, not %s: leave it out", l.engine.Engine, want, have))
	}
	return nil
}

// describe returns the model of the engine.
func (l *Learner) describe() credence.Member {
	fitted := credence.Fitted{Members: make([]credence.Member, 1)}
	l.online.Describe(&fitted)
	return fitted.Members[0]
}

// pin takes the intercept out of the engine, which not every engine can do.
func (l *Learner) pin() error {
	pinned, ok := l.online.(interface{ PinIntercept() })
	if !ok {
		return fmt.Errorf("engine %s keeps its intercept: leave 0 out", l.engine.Engine)
	}
	pinned.PinIntercept()
	return nil
}

func (l *Learner) formulaOptions() formula.Options {
	return formula.Options{Target: l.options.Target, ReadFile: l.options.ReadFile, Time: l.options.Time}
}

// Columns names the columns that a table of this schema must be read with: text(c) for the texts of c.
func (l *Learner) Columns(schema *credence.Schema) ([]string, error) {
	l.columns, l.reading = l.columns[:0], schema.Reading
	for _, c := range schema.Columns {
		l.columns = append(l.columns, table.Column{Name: c.Name, Kind: c.Kind, Notation: schema.Reading.Notations[c.Name]})
	}
	plan := l.plan
	if plan == nil {
		drafted, err := l.draft(l.columns, schema.Label, schema.Label && hasImportance(l.columns))
		if err != nil {
			return nil, err
		}
		l.drafted, l.formula, plan = drafted, drafted.formula.String(), drafted.keys
	}
	l.target = plan.TargetColumn()
	timeless := *plan
	timeless.Time = nil
	l.modelled = make(map[string]bool)
	for _, name := range needs(&timeless) {
		l.modelled[name] = true
	}
	return needs(plan), nil
}

// needs names the columns of a plan: text(c) for the texts of c.
func needs(plan *keyed.Plan) []string {
	values, texts := plan.Needs()
	for _, name := range texts {
		values = append(values, credence.TextOf(name))
	}
	return values
}

// Takes says whether the model itself takes a column, as Columns found it: the column of times, for one, may say
// when rows came and nothing else.
func (l *Learner) Takes(column string) bool { return l.modelled[column] }

// place says that a complaint is about the formula.
func (l *Learner) place(err error) error {
	if errors.Is(err, formula.ErrNoTarget) { // the options alone say so
		return &fit.Misuse{Err: err}
	}
	if errors.Is(err, fit.ErrMisuse) {
		return err
	}
	return fmt.Errorf("formula: %w", err)
}

// hasImportance says whether the columns beside sparse entries are those of Vowpal Wabbit text.
func hasImportance(columns []table.Column) bool {
	return slices.ContainsFunc(columns, func(c table.Column) bool { return c.Name == "weight" })
}

// draft is a formula that was compiled for rows of some columns.
type draft struct {
	sparse, namespaces bool // the rows have sparse entries, which have namespaces
	formula            *formula.Plan
	keys               *keyed.Plan
}

func (l *Learner) draft(columns []table.Column, sparse, namespaces bool) (*draft, error) {
	compiled, keys, err := formula.ForRows(l.options.Formula, columns, sparse, namespaces, l.formulaOptions())
	if err != nil {
		return nil, l.place(err)
	}
	if l.options.Time != "" { // which says when rows came
		e := frame.Column(l.options.Time)
		keys.Time = &e
	}
	return &draft{sparse, namespaces, compiled, keys}, nil
}

// begin takes the formula as it is for the first rows.
func (l *Learner) begin(rows *table.Rows) error {
	sparse := len(rows.Start) > 0
	columns := l.columns
	if columns == nil {
		columns = rows.Columns
	}
	namespaces := sparse && (hasImportance(columns) || len(rows.Spaces.List) > 0)
	drafted, err := l.drafted, error(nil)
	if l.drafted = nil; drafted == nil || drafted.sparse != sparse || drafted.namespaces != namespaces {
		if drafted, err = l.draft(columns, sparse, namespaces); err != nil {
			return err
		}
	}
	plan := drafted.keys
	unknown := map[string]bool{}
	for _, c := range rows.Columns {
		unknown[c.Name] = unknown[c.Name] || c.Unknown
	}
	for i := range plan.Inputs {
		in := &plan.Inputs[i]
		in.Unknown = in.Role == keyed.AsValue && unknown[in.Expr.Column]
	}
	plan.Positive, plan.Missing, plan.DropTarget = l.options.Positive, l.options.Missing, l.options.DropTarget
	plan.Reading = l.reading
	if plan.Positive == "" {
		plan.Negative, plan.Positive = l.classes[0], l.classes[1]
	}
	l.plan, l.formula, l.notes = plan, drafted.formula.String(), drafted.formula.Warnings
	// An index names itself, unless it is hashed.
	if indexed := sparse && !namespaces && !slices.ContainsFunc(plan.Bags, func(b keyed.Bag) bool { return b.Bits > 0 }); !l.Nameless && !indexed {
		l.names = &keyed.Names{}
	}
	if plan.NoIntercept { // an engine that was restored does not know
		if err := l.pin(); err != nil {
			return err
		}
	}
	l.binder, err = keyed.NewLearning(plan, l.index, l.names)
	return err
}

// SetClasses tells the two classes of the target, the second of which is positive, where Options.Positive
// does not say and they are not 1 against 0 or -1. It returns whether there was something to tell.
func (l *Learner) SetClasses(negative, positive string) bool {
	if l.options.Positive != "" || positive == "1" && (negative == "0" || negative == "-1") {
		return false
	}
	l.classes = [2]string{negative, positive}
	return true
}

// Reading says how the texts of the rows that were learned became values: a table of more rows is read alike.
func (l *Learner) Reading() credence.Reading {
	if l.plan != nil {
		return l.plan.Reading
	}
	return l.reading
}

// Kinds returns the kinds that columns of the rows learned had, where other rows by themselves may not tell them.
func (l *Learner) Kinds() map[string]credence.Kind {
	if l.plan == nil {
		return nil
	}
	return l.plan.Kinds()
}

// Target returns the column of the target, as Columns found it.
func (l *Learner) Target() string { return l.target }

// Formula returns the formula with its target, "" before Columns and the first row.
func (l *Learner) Formula() string { return l.formula }

// Engine returns the text that makes the engine again.
func (l *Learner) Engine() string { return l.engine.Call }

// Passes returns how many passes over the rows the engine was asked for.
func (l *Learner) Passes() int { return l.engine.Passes }
