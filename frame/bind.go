package frame

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/cell"
	"github.com/credence-ml/credence/linop"
)

// Bound is the model rows of a table: a frame applied to a source. It is what
// [Frame.Bind] returns, for one reader at a time.
type Bound struct {
	frame   *Frame
	rows    *keptRows
	targets Targets
	plain   []plainInput // from columns of the table
	sparse  []plainInput // from columns of the sparse segment
	special []specialInput
	reader  *reader
	offsets []operand
	// Without an expression where they are not read.
	target, weight, precision, trials operand
	column                            []float64
	counts                            Counts
	counted                           int // rows that counts covers
	marks                             bool
	lacking                           []bool // of the rows last read
}

// MarkLacking lets rows stay that are to be predicted and lack a value, where the policy is Drop, which cannot
// leave them out: Read fills them as Mean does, and Lacks tells which they are.
func (b *Bound) MarkLacking() { b.marks = b.frame.Missing == Drop && b.targets != RequireTargets }

// Lacks says whether row i of those last read lacks a value that the model needs.
func (b *Bound) Lacks(i int) bool { return b.marks && b.lacking[i] }

// lack marks row i of the block, or says that it has to be refused.
func (b *Bound) lack(i, from int) (marked bool) {
	if b.marks && !b.lacking[i] {
		b.lacking[i] = true
		if i >= from {
			b.counts.Lacking++
		}
	}
	return b.marks
}

// Counts says what was done to the rows read so far, each row counted once.
type Counts struct {
	Dropped        int // rows left out for a missing value
	Lacking        int // rows without a prediction for a missing value
	Momentless     int // rows predicted without mean or standard deviation, which are beyond all numbers
	Impossible     int // rows whose target has no log density, since the model holds it impossible
	Beyond         int // rows outside the box of a Hilbert-space process, where its function is 0
	Filled         int // missing values filled
	UnseenLevels   int // values of categories that training did not see
	UnseenGroups   int // rows of a group that calibration has no rows of
	DrawnGroups    int // values of groups that training did not see, or that are missing
	UnseenFeatures int // entries of sparse columns beyond those of training
}

// plainInput is a column that is only centred and scaled.
type plainInput struct {
	from, to        int
	center, inverse float64
}

// specialInput is any other input.
type specialInput struct {
	operand
	to     int
	codes  []float64 // of a category: training's code of each level, or -1
	unseen int       // how many of the levels training did not see
	binary bool      // numbers stand where training had booleans
	// missing is the code of a missing value of a keyed input, -1 where training had none.
	missing float64
}

// Targets says what binding does with the targets of a table.
type Targets uint8

const (
	// IgnoreTargets: rows are predicted; the table needs neither targets nor weights.
	IgnoreTargets Targets = iota
	// UseTargets: rows are predicted, and scored where they have a target. No row is left out, a
	// missing target is NaN, and the weights of training are not needed.
	UseTargets
	// RequireTargets: rows are those of training or an evaluation. They need a target and what weighs
	// them; rows without are an error, or are left out under the policy Drop or DropTarget.
	RequireTargets
)

// Bind returns the model rows of a table. The table needs the columns that the
// model names, in any order; their kinds must be those of training.
func (f *Frame) Bind(source credence.Source, targets Targets) (*Bound, error) {
	withTarget := targets != IgnoreTargets
	b := &Bound{frame: f, rows: newKeptRows(source), targets: targets}
	if withTarget && f.Target == nil {
		return nil, fmt.Errorf("frame: the model has no target: name one in the formula")
	}
	if f.Sparse > 0 && source.Schema().Sparse == 0 && !source.Schema().Label {
		return nil, fmt.Errorf("frame: the table has no numbered sparse columns, which the model uses: give a libsvm file")
	}
	if schema := source.Schema(); f.SegmentWidth > 0 && schema.Sparse > 0 && (schema.ZeroBased != f.ZeroBased || (schema.Features == nil) != (f.Features == nil)) {
		return nil, fmt.Errorf("frame: the sparse columns of the table are named otherwise than those of training: read it with the schema of the model")
	}
	b.rows.segment = f.SparseNames
	var expressions []*Expr
	for _, e := range f.expressions(withTarget) {
		if e != nil && e == f.Weight && targets == UseTargets {
			continue
		}
		expressions = append(expressions, e)
	}
	if err := b.rows.add(f.SegmentWidth, expressions...); err != nil {
		return nil, err
	}
	for i := range f.Inputs {
		if err := b.addInput(i); err != nil {
			return nil, err
		}
	}
	if err := b.addOthers(); err != nil {
		return nil, err
	}
	if withTarget {
		if err := b.addTarget(); err != nil {
			return nil, err
		}
		if drops := f.drops(); drops != nil && targets == RequireTargets {
			if err := b.rows.drop(drops); err != nil {
				return nil, err
			}
			b.counts.Dropped = len(b.rows.dropped)
		}
	}
	return b, nil
}

// levelCodes returns training's code of each level of a table, -1 for those that training did not
// have, and the number of these. Both lists are in the same order as a rule.
func levelCodes(trained, levels []string) (codes []float64, unseen int) {
	codes = make([]float64, len(levels))
	var index map[string]int
	next := 0
	for i, level := range levels {
		if next < len(trained) && trained[next] == level {
			codes[i] = float64(next)
			next++
			continue
		}
		if index == nil {
			index = make(map[string]int, len(trained))
			for code, known := range trained {
				index[known] = code
			}
		}
		code, known := index[level]
		if !known {
			code = -1
			unseen++
		}
		codes[i] = float64(code)
	}
	return codes, unseen
}

func (b *Bound) addInput(i int) error {
	in := &b.frame.Inputs[i]
	s := &b.rows.slots[b.rows.names[in.Expr.root()]]
	if s.texts != nil {
		s.texts.fix(in.Levels)
	}
	kind := b.rows.kind(&in.Expr)
	if in.Kind == credence.Category {
		if kind != credence.Category {
			return fmt.Errorf("frame: column %q holds %ss but was a category in training: declare it with %s",
				in.Expr.Column, kind, cell.Types(in.Expr.Column+"=category"))
		}
		special := specialInput{operand: b.rows.operand(&in.Expr), to: i}
		special.missing = float64(slices.Index(in.Levels, missingLevel))
		special.codes, special.unseen = levelCodes(in.Levels, b.rows.levels(&in.Expr))
		b.special = append(b.special, special)
		return nil
	}
	if kind == credence.Category && !in.Indicates {
		return fmt.Errorf("frame: column %q is a category (%s) but was a %s in training: declare what stands for a missing value, or correct the column",
			in.Expr.Column, list(b.rows.levels(&in.Expr)), in.Kind)
	}
	if len(in.Expr.Steps) > 0 || in.Indicates {
		b.special = append(b.special, specialInput{operand: b.rows.operand(&in.Expr), to: i})
		return nil
	}
	if in.Kind == credence.Boolean && kind != credence.Boolean {
		b.special = append(b.special, specialInput{operand: b.rows.operand(&in.Expr), to: i, binary: true})
		return nil
	}
	if s.column < 0 {
		b.sparse = append(b.sparse, plainInput{s.wide, i, in.Center, 1 / in.Scale})
	} else {
		b.plain = append(b.plain, plainInput{s.column, i, in.Center, 1 / in.Scale})
	}
	return nil
}

// addOthers finds trials, precision, weight and offsets.
func (b *Bound) addOthers() error {
	f := b.frame
	for i := range f.Offset {
		b.offsets = append(b.offsets, b.rows.operand(&f.Offset[i]))
	}
	all := b.offsets
	if f.Trials != nil {
		b.trials = b.rows.operand(f.Trials)
		all = append(all, b.trials)
	}
	if f.Precision != nil {
		b.precision = b.rows.operand(f.Precision)
		all = append(all, b.precision)
	}
	if f.Weight != nil && b.targets == RequireTargets {
		b.weight = b.rows.operand(f.Weight)
		all = append(all, b.weight)
	}
	for _, e := range all {
		if b.rows.kind(e.Expr) == credence.Category {
			return asNumbers(e.Expr, b.rows.levels(e.Expr))
		}
	}
	return nil
}

func (b *Bound) addTarget() error {
	t := b.frame.Target
	b.target = b.rows.operand(&t.Expr)
	kind := b.rows.kind(&t.Expr)
	var levels []string
	if kind == credence.Category {
		levels = b.rows.levels(&t.Expr)
		if t.Mode == Numbers || len(t.Expr.Steps) > 0 {
			return fmt.Errorf("frame: target %s is a category (%s) but was a number in training: correct the column", t.Expr, list(levels))
		}
	}
	b.reader = newReader(t, kind, levels)
	return nil
}

// Rows returns the number of rows, those dropped not among them.
func (b *Bound) Rows() int { return b.rows.rows() }

// Counts says what was done to the rows read so far.
func (b *Bound) Counts() Counts { return b.counts }

// Anew says that the source has other rows now, which count as the next ones.
func (b *Bound) Anew() { b.counted = 0 }

// Only leaves out the rows of the table that keep denies, beside those that are.
func (b *Bound) Only(keep func(row int) bool) {
	var dropped []int
	next := b.rows.dropped
	for row := range b.rows.source.Rows() {
		if len(next) > 0 && next[0] == row {
			next = next[1:]
		} else if keep(row) {
			continue
		}
		dropped = append(dropped, row)
	}
	b.rows.dropped, b.counted = dropped, 0
}

// SourceRow returns the row of the table that row i came from.
func (b *Bound) SourceRow(i int) int { return b.rows.sourceRow(i) }

// Place says where row i stands, for messages to people: "train.csv:17". It is no method, for what engines write of the
// rows is stored, and names them by [Bound.SourceRow].
func Place(b *Bound, i int) string { return b.rows.place(i) }

// Farthest names what of row i of a batch is farthest from the rows of training, a number in units of its
// spread there, and gives its value: an input, an entry of the sparse segment, an offset or a precision; "" where
// there is none.
func (b *Bound) Farthest(batch *credence.Batch, i int) (name string, value float64) {
	most := 0.0
	far := func(distance, v float64, of func() string) {
		if distance = math.Abs(distance); distance > most {
			most, name, value = distance, of(), v
		}
	}
	for j := range b.frame.Inputs {
		if in := &b.frame.Inputs[j]; in.Kind != credence.Category {
			x := batch.X.Row(i)[j]
			far(x, x*in.Scale+in.Center, func() string { return in.Name })
		}
	}
	if batch.Sparse.Rows > 0 {
		columns, values := batch.Sparse.Row(i)
		for k, j := range columns {
			far(linop.At(values, k), linop.At(values, k), func() string { return b.frame.SparseName(int(j)) })
		}
	}
	for _, e := range b.frame.Offset {
		far(batch.OffsetOf(i), batch.OffsetOf(i), func() string { return "offset(" + e.String() + ")" })
	}
	if e := b.frame.Precision; e != nil {
		far(1/batch.PrecisionOf(i), batch.PrecisionOf(i), func() string { return "precision(" + e.String() + ")" })
	}
	return name, value
}

// readTarget stores in dst what the likelihood sees of the targets of the current rows.
func (b *Bound) readTarget(dst []float64, first int) error {
	t := b.frame.Target
	if err := b.rows.evaluate(dst, b.target, len(t.Expr.Steps), first); err != nil {
		return err
	}
	for i, v := range dst {
		if v != v && b.targets == RequireTargets {
			return b.rows.fail(first+i, fmt.Errorf("target %s is missing: leave such rows out with --missing drop-target, or predict instead", t.Expr))
		}
	}
	text := func(i int) (string, bool) { return b.rows.text(first+i, &t.Expr) }
	if bad := b.reader.read(dst, text); bad >= 0 {
		known := strings.Join(t.Classes(), ", ")
		what := "is " + number(dst[bad])
		switch k := int(dst[bad]); {
		case b.reader.codes != nil && k >= 0 && k < len(b.reader.codes):
			what = "is " + b.rows.levels(&t.Expr)[k]
		case b.reader.codes != nil:
			what = "has a class"
			if level, ok := text(bad); ok {
				what = "is " + level
			}
		}
		return b.rows.fail(first+bad, fmt.Errorf("target %s %s, which training did not see: it must be one of %s", t.Expr, what, known))
	}
	return nil
}
