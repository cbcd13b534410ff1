package keyed

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/cell"
	"github.com/credence-ml/credence/internal/keyhash"
	"github.com/credence-ml/credence/table"
)

// Binder turns rows of a table into batches over the slots of an index, by a plan. Slots are given in
// the order of the rows, so that results never depend on where runs end. It is for one goroutine at a time.
type Binder struct {
	plan     *Plan
	index    *Index
	names    *Names // of the slots; nil keeps none
	frozen   bool   // the index does not grow: other keys count as unseen
	required bool   // rows must have a target though the index is frozen

	rows     *table.Rows
	columns  []table.Column // those that inputs and terms were resolved for
	cells    []cells        // beside inputs
	alone    bool           // one bag of all sparse entries is the whole plan
	terms    []term
	single   []*term // those of one level
	asKeys   bool    // their keys are those of the levels
	levels   int     // inputs that are levels
	values   []int   // inputs of which a row may lack the value, or whose numbers are read
	target   reader
	weight   reader
	time     reader
	now      float64 // time of the present row
	offset   []reader
	constant float64 // beside them

	// Faults are the rows that the last Bind left out, with the number of rows that it read before
	// each, of which From has those in the batch. Dropped counts rows left out for missing values.
	Faults  []table.Fault
	From    []int
	Dropped int
	// Unknown counts the entries that a frozen index did not have.
	Unknown int
	// MarkLacking lets rows stay that are to be predicted and lack a value which the policy drop asks for: Lacking
	// has those of the last Bind, as places in From.
	MarkLacking bool
	Lacking     []int

	keys  []uint64 // of the levels of the rows from first on, row by row
	first int
	row   int     // the present one
	slots []int32 // of the single terms in the present row, -1 where they are not known
	// sought are the slots of the keys of row soughtFor as far as the index has told yet.
	sought    []int32
	soughtFor int
	number    []byte // scratch of levelOf

	stamps  [stampCount]uint32 // last row that had a slot with these bits
	stamp   uint32
	places  []int32         // of slots in a long row
	placed  int             // entries of the row whose places are known
	ones    bool            // every value of the batch is 1 so far
	memory  [Batches]memory // of the last batches
	turn    int             // the last of them
	pending float64         // weight of a row that counts in means once it is learned
	key     []uint64        // scratch of crosses
	bag     []int32
	text    []byte
	crossed int  // entries that the present cross has given
	again   bool // in a later pass: means stay as they are
}

// Batches is how many batches of a [Binder] are there at a time.
const Batches = 4

// memory is that of a batch with its rows and faults.
type memory struct {
	batch  credence.Batch
	from   []int
	faults []table.Fault
}

// stampCount is a power of two well above the usual number of features in a row, and small enough
// for the table to stay in the first-level cache.
const stampCount = 1 << 11

// NewBinder returns a binder for scoring by a model's plan and features: keys that training did not
// have are unseen.
func NewBinder(p *Plan, features *Features, targets frame.Targets) (*Binder, error) {
	if p == nil || features == nil {
		return nil, errors.New("the model has no plan of its keys, or no features")
	}
	index, err := IndexOf(features.Keys)
	if err != nil {
		return nil, err
	}
	plan := *p
	plan.Inputs = slices.Clone(plan.Inputs)
	if targets == frame.IgnoreTargets {
		plan.Target = nil
	}
	return &Binder{plan: &plan, index: index, frozen: true, required: targets == frame.RequireTargets}, plan.Validate()
}

// NewLearning returns a binder for learning: the index, the names and the plan's means grow.
func NewLearning(plan *Plan, index *Index, names *Names) (*Binder, error) {
	if plan == nil || index == nil {
		return nil, errors.New("there is no plan of the keys, or no index of them")
	}
	return &Binder{plan: plan, index: index, names: names}, plan.Validate()
}

// cells is an input as the present run has it.
type cells struct {
	column  int  // of the run; -1 for namespaces and indices
	level   bool // a level, not a number
	space   uint64
	single  uint64      // key of a number, or the index
	missing uint64      // key of the indicator
	marked  bool        // a gap has the feature of the indicator, once for each column of numbers
	at      int         // of a level: its key among those of a row
	none    uint64      // key of a missing level
	fill    uint64      // key of the level that fills a gap
	part    *frame.Expr // what makes a number of the value; nil where the value is as it stands

	x   float64 // of the present row
	has levelIs
	gap bool // the present row has no value
}

// levelIs says what stands for the level of a row.
type levelIs byte

const (
	itself  levelIs = iota // or the missing level
	filled                 // the level that fills gaps
	nothing                // there is no level yet that could
)

// term is a term of the plan with what is known of its slots in this run.
type term struct {
	*Term
	label string
	bag   bool  // an input is a namespace
	level bool  // its one input is a level
	slot  int32 // of its one input, a number; -1 is not looked up yet
}

// Knows says whether training had a level of an input, by its place in the plan. Of an input that terms have crossed
// alone that is not known, and it is taken to have had all.
func (b *Binder) Knows(input int, level string) bool {
	alone := false
	for i := range b.plan.Terms {
		t := &b.plan.Terms[i]
		if len(t.Inputs) > 1 || t.Inputs[0] != input {
			continue
		}
		key := keyhash.Text(keyhash.Space(b.plan.Inputs[input].name()), []byte(level))
		if alone = true; b.index.Find(keyhash.Shorten(key, t.Bits)) >= 0 {
			return true
		}
	}
	return !alone
}

// Begin takes up a run of rows. An error says which column it lacks.
func (b *Binder) Begin(rows *table.Rows) error {
	b.rows = rows
	if b.cells == nil || !slices.Equal(b.columns, rows.Columns) {
		if err := b.resolve(rows); err != nil {
			return err
		}
	}
	b.Forget()
	return nil
}

// Forget looks up anew the slots that the binder remembers: call it when the index has been pruned.
func (b *Binder) Forget() {
	b.soughtFor = -1
	for i := range b.terms {
		b.terms[i].slot = -1
	}
}

// resolve finds the columns of the plan among those of the run.
func (b *Binder) resolve(rows *table.Rows) error {
	b.columns = slices.Clone(rows.Columns)
	b.cells, b.levels, b.values = make([]cells, len(b.plan.Inputs)), 0, b.values[:0]
	places, marked := placesOf(rows.Columns), map[string]bool{}
	for i := range b.cells {
		in, c := &b.plan.Inputs[i], &b.cells[i]
		name := in.Expr.Column
		c.space, c.column = keyhash.Space(in.name()), -1
		if !in.text() {
			b.values = append(b.values, i)
		}
		c.single, c.missing = keyhash.Number(c.space), keyhash.Number(keyhash.Space(name+"_missing"))
		switch in.Role {
		case AsNamespace:
			continue
		case AsIndex:
			index, err := strconv.ParseUint(name[1:], 10, 64)
			if err != nil {
				return fmt.Errorf("keyed: %s is no index of a sparse column: the file is damaged", name)
			}
			c.single = index
			continue
		}
		if c.column = places.find(name, in.text()); c.column < 0 {
			return lacking(rows, name)
		}
		column := &rows.Columns[c.column]
		if in.Unknown && !column.Unknown {
			in.Kind, in.Unknown = column.Kind, false
			b.renameIndicator(in, c)
		}
		if c.level = in.Role == AsLevel || in.Kind == credence.Category; c.level {
			c.at, b.levels = b.levels, b.levels+1
			c.none, c.fill = keyhash.Text(c.space, []byte(missingLevel)), keyhash.Text(c.space, []byte(in.Fill))
		}
		if c.marked = !c.level && !marked[name]; c.marked {
			marked[name] = true
		}
		if len(in.Expr.Steps) > 0 {
			c.part = &in.Expr
		}
		if in.Kind == credence.Category && c.part != nil || c.part != nil && c.level && isText(column) {
			return fmt.Errorf("%s: column %q is a category, and %s needs numbers: use %s as a plain column", rows.File, name, in.Expr, cell.Column(name))
		}
	}
	b.terms = make([]term, len(b.plan.Terms))
	for i := range b.terms {
		t := &b.terms[i]
		t.Term = &b.plan.Terms[i]
		t.label = b.plan.label(t.Term)
		for _, input := range t.Inputs {
			t.bag = t.bag || b.plan.Inputs[input].Role == AsNamespace
		}
		t.level = len(t.Inputs) == 1 && b.cells[t.Inputs[0]].level
	}
	b.drop()
	b.single = b.single[:0]
	b.asKeys = true
	for i := range b.terms {
		if t := &b.terms[i]; t.level {
			b.asKeys = b.asKeys && t.Bits == 0 && b.cells[t.Inputs[0]].at == len(b.single)
			b.single = append(b.single, t)
		}
	}
	b.asKeys = b.asKeys && len(b.single) == b.levels
	bags := b.plan.Bags
	b.alone = len(b.terms) == 0 && len(bags) == 1 && bags[0].Bits == 0 && len(bags[0].Except) == 0
	return b.resolveRest(rows, places)
}

// renameIndicator gives the weight of rows without a value to the missing level, where the column turns out
// to have levels: that is the feature that fit has. If hash(c) has made the feature already, the weight
// stays as it is.
func (b *Binder) renameIndicator(in *Input, c *cells) {
	if b.frozen || in.Kind != credence.Category {
		return
	}
	slot := b.index.rename(c.missing, keyhash.Text(c.space, []byte(missingLevel)))
	if slot >= 0 && b.names != nil {
		b.names.rename(slot, in.name()+"="+missingLevel)
	}
}

// resolveRest finds target, weight and offset. Scoring does without the first two.
func (b *Binder) resolveRest(rows *table.Rows, places columnPlaces) error {
	var err error
	read := func(e *frame.Expr, optional bool) (r reader) {
		r.column = -1
		if e == nil || e.Column == "" {
			return r
		}
		r.expr = *e
		if r.column = places.find(e.Column, false); r.column < 0 && !optional && err == nil {
			err = lacking(rows, e.Column)
		}
		return r
	}
	b.target = read(b.plan.Target, b.frozen && !b.required)
	if b.target.classes = &b.plan.Roles; b.target.column >= 0 {
		b.target.labels = frame.NewLabels(b.plan.Labels(), rows.Columns[b.target.column].Kind)
	}
	b.weight = read(b.plan.Weight, b.frozen)
	b.time = read(b.plan.Time, false)
	b.offset, b.constant = b.offset[:0], 0
	for i := range b.plan.Offset {
		if e := &b.plan.Offset[i]; e.Column == "" {
			b.constant += e.Value
			continue
		}
		b.offset = append(b.offset, read(&b.plan.Offset[i], false))
	}
	return err
}

// drop leaves out terms that make the same features as one before, as a category c and hash(c) do.
func (b *Binder) drop() {
	seen := map[string]bool{}
	b.terms = slices.DeleteFunc(b.terms, func(t term) bool {
		signature := strconv.Itoa(t.Bits) + t.label
		for _, k := range t.Order {
			c := &b.cells[t.Inputs[k]]
			signature += fmt.Sprintf(" %x %v", c.space, c.level)
		}
		again := seen[signature]
		seen[signature] = true
		return again
	})
}

// columnPlaces are those of the columns of a run by name: of its values and of its texts, -1 for none.
type columnPlaces map[string][2]int

func placesOf(columns []table.Column) columnPlaces {
	places := make(columnPlaces, len(columns))
	add := func(name string, k, which int) {
		at, known := places[name]
		if !known {
			at = [2]int{-1, -1}
		}
		at[which] = k
		places[name] = at
	}
	for k, c := range columns {
		if !c.Text {
			add(c.Name, k, 0)
			continue
		}
		add(c.Name, k, 1)
		if of, found := credence.CutText(c.Name); found {
			add(of, k, 1)
		}
	}
	return places
}

// find returns the place of the values of a column, or of its texts, the other where there are none
// of the kind, and -1 where there is neither.
func (p columnPlaces) find(name string, text bool) int {
	at, known := p[name]
	switch {
	case !known:
		return -1
	case text && at[1] >= 0 || at[0] < 0:
		return at[1]
	}
	return at[0]
}

func lacking(rows *table.Rows, name string) error {
	const most = 12 // names in a message
	var names []string
	for k := range rows.Columns {
		if len(names) < most && !slices.Contains(names, rows.Columns[k].Name) {
			names = append(names, rows.Columns[k].Name)
		}
	}
	return fmt.Errorf("%s: there is no column %q: the columns are %q", rows.File, name, names)
}

// hash works out the keys of the levels of count rows from first on: a missing text has that of the
// missing level.
func (b *Binder) hash(first, count int) {
	b.first = first
	b.keys = slices.Grow(b.keys[:0], count*b.levels)[:count*b.levels]
	for k := range b.cells {
		c := &b.cells[k]
		if !c.level {
			continue
		}
		at, texts := c.at, isText(&b.rows.Columns[c.column])
		for i := first; i < first+count; i++ {
			key := c.none
			switch v := b.rows.Row(i)[c.column]; {
			case v != v:
			case texts:
				key = keyhash.Text(c.space, b.rows.TextOf(c.column, v))
			default: // a row whose part there is none of is refused as it is read
				key = keyhash.Text(c.space, b.levelOf(c, v))
			}
			b.keys[at] = key
			at += b.levels
		}
	}
}

// keysOf returns the keys of the levels of a row.
func (b *Binder) keysOf(i int) []uint64 { return b.keys[(i-b.first)*b.levels:][:b.levels] }

// missingLevel is the level that stands for a missing text.
const missingLevel = "(missing)"

// levelOf returns the text of a cell that is taken as a level and not missing; it is valid until the next.
func (b *Binder) levelOf(c *cells, v float64) []byte {
	switch column := &b.rows.Columns[c.column]; {
	case isText(column):
		return b.rows.TextOf(c.column, v)
	case c.part != nil:
		v, _ = c.part.Apply(v)
		b.number = cell.AppendLevel(b.number[:0], v, 64)
	case column.Kind == credence.Boolean:
		b.number = strconv.AppendBool(b.number[:0], v != 0)
	default:
		b.number = cell.AppendLevel(b.number[:0], v, 64)
	}
	return b.number
}

// isText says that the values of a column are those of texts.
func isText(c *table.Column) bool { return c.Kind == credence.Category || c.Text }

// numberOf reads the text of a cell in a column of numbers or booleans.
func numberOf(kind credence.Kind, text []byte) (v float64, ok bool) {
	if kind == credence.Boolean {
		return cell.ParseBoolean(text)
	}
	v, finite, ok := cell.ParseNumber(text)
	return v, ok && finite
}
