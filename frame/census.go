package frame

import (
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/segments"
	"github.com/credence-ml/credence/internal/special"
)

// Census counts what [Fit] must know of the training rows: moments, levels and classes, in one
// round for the model and one before it for each nesting of center and scale. Each round adds all rows
// in order and ends with Next.
//
// A census merges with that of other files, and has a JSON form, so that the files of a table can be counted apart:
// statistics are kept by segments of [credence.SegmentRows] rows, which are added as a binary tree over a file, and by
// files, which are added as one over the table, so that files that are counted apart give the bytes of the whole.
type Census struct {
	frame   *Frame
	options Options
	first   int // file of the whole table that is the first one here
	file    int // that rows are added to
	next    int // row of that file behind those added
	added   int // rows, of all files
	size    int // rows of a segment: credence.SegmentRows, but in tests
	round   int
	pending []pending             // the steps that this round learns; none in the last
	levels  map[string]*levelList // of the columns that are categories
	words   []string              // of a boolean target
	nodes   []node                // of files that have ended
	within  []node                // of complete segments of the file
	segment *tally                // of the present segment; nil before its first row
	reader  *censusReader         // nil for a census read from a file
}

// levelList is the levels of a column in the order of their codes.
type levelList struct {
	Levels []string `json:"levels"`
	// Sort says that the order is that of appearance, not of the table's schema.
	Sort   bool `json:"sort,omitempty"`
	hashes []uint64
}

// hash returns the hashes of the levels.
func (l *levelList) hash() []uint64 {
	for _, level := range l.Levels[len(l.hashes):] {
		h := fnv.New64a()
		h.Write([]byte(level))
		l.hashes = append(l.hashes, h.Sum64())
	}
	return l.hashes
}

// pending is a step whose statistics a round learns.
type pending struct {
	operand
	at int
}

// node is a run of files or segments and their tally.
type node = segments.Node[*tally]

// NewCensus returns a census of no rows of a table that has the schema. Its first row is that of file first of the
// whole table: 0 where the table is whole, or one file.
func NewCensus(plan *Plan, schema *credence.Schema, first int, options Options) (*Census, error) {
	if plan == nil || schema == nil {
		return nil, errors.New("frame: there is no plan or no schema: compile a formula, and give the schema of the table")
	}
	if first < 0 {
		return nil, fmt.Errorf("frame: there is no file %d: count the files of a table from 0", first)
	}
	return newCensus(plan, schema, first, credence.SegmentRows, options)
}

func newCensus(plan *Plan, schema *credence.Schema, first, size int, options Options) (*Census, error) {
	options, err := options.Validate()
	if err != nil {
		return nil, err
	}
	if err := plan.validate(); err != nil {
		return nil, err
	}
	c := &Census{frame: newFrame(plan, options), options: options, first: first, file: first, size: size, levels: map[string]*levelList{}}
	c.reader = &censusReader{view: newView(schema, nil)}
	c.reader.place = c.reader.placeOf
	if err := c.reader.add(0, c.frame.expressions(true)...); err != nil {
		return nil, err
	}
	if err := c.describe(plan); err != nil {
		return nil, err
	}
	c.reader.resolve(c.frame)
	c.bind()
	return c, nil
}

// describe fixes the kinds and refuses numbers asked of a category.
func (c *Census) describe(plan *Plan) error {
	frame, v := c.frame, c.reader.view
	frame.SegmentWidth, frame.SparseNames = v.schema.Sparse, v.schema.SparseNames
	frame.Reading = v.schema.Reading.Of(frame.Columns())
	if plan.Sparse {
		frame.Sparse = frame.SegmentWidth
	}
	for i := range frame.Inputs {
		in := &frame.Inputs[i]
		kind := v.kind(&in.Expr)
		in.Segment = v.slots[v.names[in.Expr.root()]].column < 0
		switch {
		case len(in.Expr.Steps) == 0 || in.Expr.Level:
			in.Kind = kind
		case kind == credence.Category:
			return asNumbers(&in.Expr, v.levels(&in.Expr))
		}
		if in.Kind == credence.Category {
			c.list(&in.Expr)
		}
	}
	others := []*Expr{frame.Weight, frame.Precision, frame.Trials}
	for i := range frame.Offset {
		others = append(others, &frame.Offset[i])
	}
	for _, e := range others {
		if e != nil && v.kind(e) == credence.Category {
			return asNumbers(e, v.levels(e))
		}
	}
	t := frame.Target
	if t == nil {
		return nil
	}
	if t.Kind = v.kind(&t.Expr); t.Kind != credence.Category {
		return nil
	}
	levels := v.levels(&t.Expr)
	if len(t.Expr.Steps) > 0 {
		return asNumbers(&t.Expr, levels)
	}
	switch t.Mode {
	case Numbers:
		return fmt.Errorf("frame: target %s is a category (%s), and the family needs numbers: choose --family bernoulli, or another target", t.Expr, list(levels))
	case Grades:
		return fmt.Errorf("frame: target %s is a category (%s), whose order is unknown: number the grades 0, 1, 2, …", t.Expr, list(levels))
	}
	c.list(&t.Expr)
	return nil
}

// list gives a category column a list of levels.
func (c *Census) list(e *Expr) {
	if _, known := c.levels[e.root()]; !known {
		texts := c.reader.slots[c.reader.names[e.root()]].texts
		c.levels[e.root()] = &levelList{Levels: c.reader.levels(e), Sort: texts != nil}
	}
}

// asNumbers refuses a category where numbers are needed.
func asNumbers(e *Expr, levels []string) error {
	return fmt.Errorf("frame: %s: column %q is a category (%s), not numbers: use it as a plain column, or declare what stands for a missing value",
		e, e.Column, list(levels))
}

// bind finds the steps that the round learns.
func (c *Census) bind() {
	c.pending = c.pending[:0]
	for _, e := range c.frame.expressions(true) {
		if e == nil || e.Column == "" {
			continue
		}
		round := 0
		for at := range e.Steps {
			if !e.Steps[at].Function.learned() {
				continue
			}
			if round == c.round {
				p := pending{operand: operand{Expr: e}, at: at}
				if c.reader != nil {
					p.operand = c.reader.operand(e)
				}
				c.pending = append(c.pending, p)
			}
			round++
		}
	}
}

// Next ends a round: every row has been added, and the census of every shard merged. It reports whether
// another round is needed.
func (c *Census) Next() (more bool, err error) {
	if len(c.pending) == 0 {
		return false, nil
	}
	total, err := c.total()
	if err != nil {
		return false, err
	}
	for k, p := range c.pending {
		step := &p.Steps[p.at]
		step.Mean = total.Steps[k].centre()
		if step.Function == Scale {
			step.SD = total.Steps[k].deviation()
		}
		if !special.Finite(step.Mean) || !special.Finite(step.SD) {
			return false, fmt.Errorf("frame: %s: the numbers are too large to have a standard deviation: use a larger unit", p.Expr)
		}
	}
	c.begin(c.round + 1)
	return true, nil
}

// begin makes the census one of no rows in the given round.
func (c *Census) begin(round int) {
	c.round, c.file, c.next, c.added, c.nodes, c.within, c.segment = round, c.first, 0, 0, nil, nil, nil
	c.bind()
}

// Continue makes the census of a shard, to which nothing was added, one of the round after a merged census
// has ended one with Next.
func (c *Census) Continue(merged *Census) error {
	if c.added > 0 || c.file != c.first || c.round != 0 {
		return fmt.Errorf("frame: a census continues before rows are added to it")
	}
	if err := c.sameModel(merged); err != nil {
		return err
	}
	from := merged.frame.expressions(true)
	for k, e := range c.frame.expressions(true) {
		if e != nil {
			e.Steps = slices.Clone(from[k].Steps)
		}
	}
	c.begin(merged.round)
	return nil
}

// Merge adds the census of other rows of the table, in the same round.
func (c *Census) Merge(later *Census) error {
	if err := c.flush(); err != nil {
		return err
	}
	if err := later.flush(); err != nil {
		return err
	}
	if err := c.sameModel(later); err != nil {
		return err
	}
	if c.round != later.round {
		return fmt.Errorf("frame: a census of round %d cannot be merged with one of round %d", c.round+1, later.round+1)
	}
	others := later.frame.expressions(true)
	for k, e := range c.frame.expressions(true) {
		if e != nil && !slices.Equal(e.Steps, others[k].Steps) {
			return fmt.Errorf("frame: shards know different statistics of %s: continue all of them with the same merged census", e)
		}
	}
	if at := segments.Overlap(c.nodes, later.nodes); at >= 0 {
		return fmt.Errorf("frame: both censuses have file %d: merge each file once", at+1)
	}
	c.frame.SegmentWidth, c.frame.Sparse = max(c.frame.SegmentWidth, later.frame.SegmentWidth), max(c.frame.Sparse, later.frame.Sparse)
	nodes := make([]node, len(later.nodes))
	for i, n := range later.nodes {
		nodes[i] = node{Position: n.Position, Height: n.Height, Sum: n.Sum.clone()}
	}
	c.mergeLevels(later, nodes)
	c.nodes = segments.Join(append(c.nodes, nodes...))
	c.first, c.file = min(c.first, later.first), max(c.file, later.file)
	return nil
}

// several is a kind of which there are many.
func several(kind credence.Kind) string {
	if kind == credence.Category {
		return "categories"
	}
	return kind.String() + "s"
}

// sameModel refuses a census of another plan, or of columns of other kinds.
func (c *Census) sameModel(other *Census) error {
	a, b := c.frame, other.frame
	for i := range min(len(a.Inputs), len(b.Inputs)) {
		if x, y := &a.Inputs[i], &b.Inputs[i]; x.Name == y.Name && x.Kind != y.Kind {
			return fmt.Errorf("frame: column %q holds %s in one shard and %s in another: declare its kind", x.Expr.Column, several(x.Kind), several(y.Kind))
		}
	}
	if c.outline() != other.outline() || !slices.Equal(a.Features, b.Features) {
		return fmt.Errorf("frame: the census of another model: count all shards under the same formula and options")
	}
	return nil
}

// outline is all of the plan and the options but what the rows decide.
func (c *Census) outline() string {
	f := c.frame
	var b strings.Builder
	for _, e := range f.expressions(true) {
		if e != nil {
			fmt.Fprintf(&b, "%q", e)
		}
		b.WriteByte(';')
	}
	for i := range f.Inputs {
		fmt.Fprintf(&b, "%d", f.Inputs[i].Kind)
	}
	if f.Target != nil {
		fmt.Fprintf(&b, ";%d %s", f.Target.Kind, f.Target.Mode)
	}
	fmt.Fprintf(&b, ";%d;%t %t %t %s %t %s %q", len(f.Offset), f.Sparse > 0, f.ZeroBased, f.Raw, f.Missing, f.DropTarget, f.Unseen, c.options.Positive)
	return b.String()
}

// mergeLevels makes one list of the levels of both, and gives the codes in nodes, which are of the
// rows behind, their places in it.
func (c *Census) mergeLevels(later *Census, nodes []node) {
	places := map[string][]float64{}
	for column, list := range c.levels {
		other := later.levels[column]
		list.Sort = list.Sort || other.Sort
		if slices.Equal(list.Levels, other.Levels) {
			continue
		}
		list.Sort = true
		codes, _ := levelCodes(list.Levels, other.Levels)
		list.Levels = slices.Clip(list.Levels)
		for k, code := range codes {
			if code < 0 {
				codes[k] = float64(len(list.Levels))
				list.Levels = append(list.Levels, other.Levels[k])
			}
		}
		places[column] = codes
	}
	if len(places) == 0 {
		return
	}
	for k := range nodes {
		t := nodes[k].Sum
		for i := range t.Inputs {
			if in, of := &c.frame.Inputs[i], &t.Inputs[i]; in.Kind == credence.Category && places[in.Expr.root()] != nil {
				codes, levels := places[in.Expr.root()], len(c.levels[in.Expr.root()].Levels)
				of.Counts, of.Weights = moved(of.Counts, codes, levels), moved(of.Weights, codes, levels)
			}
		}
		target := c.frame.Target
		if t.Target != nil && target.Kind == credence.Category && places[target.Expr.Column] != nil {
			for i, code := range t.Target.Values {
				t.Target.Values[i] = places[target.Expr.Column][int(code)]
			}
		}
	}
}

// total adds up all files.
func (c *Census) total() (*tally, error) {
	if err := c.flush(); err != nil {
		return nil, err
	}
	total, _, lacking := segments.Total(c.nodes)
	switch {
	case lacking > 0:
		return nil, fmt.Errorf("frame: the census lacks files before file %d: merge the censuses that have them", lacking+1)
	case total == nil:
		return c.newTally(), nil
	}
	return total, nil
}

// newTally returns a tally of no rows in the present round.
func (c *Census) newTally() *tally {
	t := &tally{Missing: map[string]int{}}
	if len(c.pending) > 0 {
		t.Steps = make([]moments, len(c.pending))
		return t
	}
	t.Inputs = make([]inputTally, len(c.frame.Inputs))
	if c.frame.Target != nil {
		t.Target = &targetTally{}
	}
	return t
}
