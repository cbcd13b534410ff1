package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset/text"
)

const (
	// sampleLevels of a column are remembered while types are inferred.
	sampleLevels = 1000
	// A column counts as a number one with some texts in it, rather than as a
	// category, if at least numberShare of its values are numbers, or half of them
	// and the rest is always the same text.
	numberShare = 0.8
)

// census counts what the values of a column look like.
type census struct {
	wantLevels      bool // declared a category: number texts are levels as well
	values, numbers int
	booleans        [3]int                   // by pair: true/false, yes/no, t/f
	truths          [3]int                   // how many of them are true
	disguised       [text.Sign + 1]disguised // numbers written in another way
	others          map[string]int           // texts that are no numbers, at most sampleLevels
	levels          map[string]bool          // texts met since it looked like a category, at most sampleLevels
}

var errSampled = errors.New("enough rows are seen")

// headerOf reads the header of delimited text off its first block. The splitter
// stands behind that block, which may hold rows.
func (t *Table) headerOf(in *input, splitter *text.Splitter, block *text.Block) ([]string, error) {
	err := splitter.Next(block)
	if err == io.EOF {
		return nil, &text.Error{File: in.name, What: "the file is empty: was it written completely?"}
	}
	if err != nil {
		return nil, err
	}
	block.Layout = &text.Layout{File: in.name}
	names, line, err := t.parser(in).Header(block)
	if err != nil {
		return nil, err
	}
	return names, t.checkHeader(in, names, line)
}

// checkHeader refuses names that cannot serve.
func (t *Table) checkHeader(in *input, names []string, line int) error {
	fail := func(format string, values ...any) error {
		return &text.Error{File: in.name, Line: line, What: fmt.Sprintf(format, values...)}
	}
	if len(names) == 0 {
		return &text.Error{File: in.name, What: "the file holds no header and no rows: was it written completely?"}
	}
	if len(names) == 1 {
		if other := sniffDelimiter([]byte(names[0]), true); other != 0 && t.options.Delimiter != 0 {
			return fail("the header is a single column %s: the delimiter is probably %s: use --delimiter %s",
				text.Quote(names[0]), delimiterName(other), delimiterArgument(other))
		}
	}
	seen := make(map[string]int, len(names))
	numbers, counted := 0, true
	for i, name := range names {
		if !validText(name) {
			return fail("the name of column %d, %s, is not UTF-8: convert the file with iconv -f LATIN1 -t UTF-8", i+1, text.Quote(name))
		}
		if name == "" {
			return fail("column %d has no name: name it in the header (row numbers of pandas or R are left out with index=False or row.names=FALSE)", i+1)
		}
		if first, twice := seen[name]; twice {
			return fail("columns %d and %d are both named %s: rename one", first+1, i+1, text.Quote(name))
		}
		seen[name] = i
		if _, _, ok := text.ParseNumber([]byte(name)); ok {
			numbers++
		}
		counted = counted && (name == strconv.Itoa(i) || name == strconv.Itoa(i+1))
	}
	if numbers == len(names) && !counted {
		return fail("the first line holds numbers, not column names: put a header line in front")
	}
	return nil
}

func delimiterName(delimiter byte) string {
	switch delimiter {
	case '\t':
		return "a tab"
	case ',':
		return "a comma"
	case ';':
		return "a semicolon"
	}
	return strconv.Quote(string(rune(delimiter)))
}

func delimiterArgument(delimiter byte) string {
	if delimiter == '\t' {
		return `$'\t'`
	}
	return "'" + string(rune(delimiter)) + "'"
}

// sampleCSV reads the header of every file and the first rows, and decides the
// kinds of the columns.
func (t *Table) sampleCSV(ctx context.Context) error {
	var counts []census
	rows := 0
	for position, in := range t.inputs {
		s, err := in.open(ctx, false)
		if err != nil {
			return err
		}
		defer s.close()
		parser := t.parser(in)
		splitter := text.NewSplitter(s, in.name, 1, parser.Delimiter)
		block := &text.Block{}
		names, err := t.headerOf(in, splitter, block)
		if err != nil {
			return err
		}
		if position == 0 {
			t.schema.Columns = make([]credence.Column, len(names))
			counts = make([]census, len(names))
			for i, name := range names {
				t.schema.Columns[i].Name = name
				counts[i].wantLevels = t.options.Types[name] == credence.Category
			}
			t.index = positions(t.schema.Columns)
		}
		order, err := t.columnOrder(in, names)
		if err != nil {
			return err
		}
		missing := t.options.missing()
		for rows < sampleRows {
			err = parser.Records(block, func(line int, fields [][]byte) error {
				if len(fields) != len(order) {
					if rows == 0 && strings.HasPrefix(names[0], "#") {
						return &text.Error{File: in.name, Line: 1, What: fmt.Sprintf("the line, %s, is a comment, not the names of columns: remove it", text.Quote(strings.Join(names, string(rune(parser.Delimiter)))))}
					}
					return text.Ragged(in.name, line, len(fields), len(order), rows == 0)
				}
				for i, field := range fields {
					counts[order[i]].add(field, missing)
				}
				if rows++; rows == sampleRows {
					return errSampled
				}
				return ctx.Err()
			})
			if err == errSampled {
				break
			}
			if err == nil {
				err = splitter.Next(block)
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				return err
			}
			block.Layout = &text.Layout{File: in.name}
		}
	}
	if rows == 0 {
		return t.noRows()
	}
	t.columns = make([]column, len(counts))
	for i := range counts {
		t.decideKind(i, &counts[i])
	}
	return nil
}

func (t *Table) noRows() error {
	if t.format != formatCSV {
		return &text.Error{File: t.inputs[0].name, What: "there are no rows: was the file written completely?"}
	}
	names := make([]string, len(t.schema.Columns))
	for i := range names {
		names[i] = t.schema.Columns[i].Name
	}
	return &text.Error{File: t.inputs[0].name, What: fmt.Sprintf("there is no row below the header, the line %s: was the file written completely?",
		text.Quote(strings.Join(names, string(rune(t.parser(t.inputs[0]).Delimiter)))))}
}

// columnOrder returns, for every field of a file, its column in the schema.
func (t *Table) columnOrder(in *input, names []string) ([]int, error) {
	order := make([]int, len(names))
	for i, name := range names {
		var known bool
		if order[i], known = t.index[name]; !known {
			return nil, &text.Error{File: in.name, Line: 1, Column: name,
				What: "the column is not in " + t.inputs[0].name + ": files that are read together must have the same columns"}
		}
	}
	if len(names) < len(t.schema.Columns) { // names differ among themselves
		found := make(map[int]bool, len(order))
		for _, position := range order {
			found[position] = true
		}
		for i, c := range t.schema.Columns {
			if !found[i] {
				return nil, &text.Error{File: in.name, Line: 1, Column: c.Name,
					What: "the column is missing, but " + t.inputs[0].name + " has it: files that are read together must have the same columns"}
			}
		}
	}
	return order, nil
}

// pairs are the texts of booleans that inference recognises, true first.
var pairs = [...][2]string{{"true", "false"}, {"yes", "no"}, {"t", "f"}}

func (c *census) add(field []byte, missing map[string]struct{}) {
	if len(field) == 0 {
		return
	}
	if _, is := missing[string(field)]; is {
		return
	}
	c.values++
	if c.levels == nil {
		c.levels, c.others = make(map[string]bool), make(map[string]int)
	}
	_, _, number := text.ParseNumber(field)
	// Levels are kept once the column is known to be no plain number one: a wide
	// table of numbers would otherwise be held as texts.
	if (!number || c.wantLevels || len(c.others) > 0) && len(c.levels) < sampleLevels && len(field) <= text.MaxLevel && !c.levels[string(field)] {
		c.levels[string(field)] = true
	}
	if number {
		c.numbers++
		return
	}
	if way, plain := text.Disguised(field); way != text.NoNumber {
		d := &c.disguised[way]
		if d.count++; d.example == "" {
			d.example, d.plain = string(field), plain
		}
	}
	for i, pair := range pairs {
		for value, word := range pair {
			if len(field) == len(word) && strings.EqualFold(string(field), word) {
				c.booleans[i]++
				if value == 0 {
					c.truths[i]++
				}
			}
		}
	}
	if len(c.others) < sampleLevels {
		c.others[text.Quote(field)]++
	}
}

// decideKind sets the kind of a column from training, from the options, or from
// what its values look like, in this order.
func (t *Table) decideKind(i int, c *census) {
	described := &t.schema.Columns[i]
	if known, is := t.trained[described.Name]; is {
		*described = t.options.Schema.Columns[known]
		t.columns[i].trained = true
		return
	}
	kind, declared := t.options.Types[described.Name]
	if !declared {
		kind, t.columns[i].note = c.kind()
		if kind == credence.Category {
			t.columns[i].comma, t.columns[i].doubt = c.doubt()
		}
		if kind == credence.Boolean {
			t.columns[i].words = c.words()
		}
	}
	described.Kind = kind
	if kind == credence.Category {
		described.Levels = slices.Collect(maps.Keys(c.levels))
		sortLevels(described.Levels)
	}
}

// kind infers what the column is, with a note where that is open to doubt.
func (c *census) kind() (credence.Kind, string) {
	switch {
	case c.values == 0:
		return credence.Numeric, fmt.Sprintf("has no value in the first %d rows; taken for a number", sampleRows)
	case c.numbers == c.values:
		return credence.Numeric, ""
	}
	for i, count := range c.booleans {
		both := c.truths[i] > 0 && c.truths[i] < count
		if count == c.values && (both || len(pairs[i][0]) > 1) {
			return credence.Boolean, ""
		}
	}
	share := float64(c.numbers) / float64(c.values)
	if share >= numberShare || share >= 0.5 && len(c.others) == 1 {
		return credence.Numeric, fmt.Sprintf("is a number in %d of %d values, else for example %s",
			c.numbers, c.values, slices.Min(slices.Collect(maps.Keys(c.others))))
	}
	if c.numbers > 0 {
		return credence.Category, fmt.Sprintf("is a category; %d of %d values are numbers", c.numbers, c.values)
	}
	return credence.Category, ""
}

// disguised counts numbers that are written in one other way.
type disguised struct {
	count          int
	example, plain string
}

// doubt returns, for a category that is most probably numbers written in another way, one with a
// decimal comma or what to tell the user about it; nothing where the values are no numbers.
func (c *census) doubt() (comma, note string) {
	total, most := c.numbers, text.NoNumber
	for way := range c.disguised {
		total += c.disguised[way].count
		if c.disguised[way].count > 0 {
			most = text.Disguise(way)
		}
	}
	if most == text.NoNumber || float64(total) < numberShare*float64(c.values) {
		return "", ""
	}
	if comma := c.disguised[text.DecimalComma].example; comma != "" && most <= text.Grouped {
		return comma, "" // what is grouped by threes has decimal commas as well
	}
	d := &c.disguised[most]
	return "", fmt.Sprintf("is read as a category, and its values, such as %s, look like numbers: %s",
		text.Quote(d.example), most.Remedy(d.example, d.plain))
}

// words are the texts of the booleans, that for 0 first; nil if they are mixed.
func (c *census) words() []string {
	for i, count := range c.booleans {
		if count == c.values {
			return []string{pairs[i][1], pairs[i][0]}
		}
	}
	return nil
}

// sampleLibSVM reads the first rows to learn the number of columns so far.
func (t *Table) sampleLibSVM(ctx context.Context) error {
	t.schema = credence.Schema{Columns: []credence.Column{{Name: "label"}}, Label: true}
	t.columns, t.index = make([]column, 1), positions(t.schema.Columns)
	if trained := t.options.Schema; trained != nil {
		t.schema.Sparse = trained.Sparse
		if known, is := t.trained["label"]; is {
			t.schema.Columns[0] = trained.Columns[known]
			t.columns[0].trained = true
		}
		return nil
	}
	if kind, declared := t.options.Types["label"]; declared {
		t.schema.Columns[0].Kind = kind
	}
	in := t.inputs[0]
	s, err := in.open(ctx, false)
	if err != nil {
		return err
	}
	defer s.close()
	splitter := text.NewSplitter(s, in.name, 1, 0)
	parser := text.LibSVM{Rules: t.rules(), SparseLimit: maxSparse}
	layout := &text.Layout{File: in.name, Fields: []text.Field{{Name: "label", Kind: t.schema.Columns[0].Kind, Keep: -1}}, Last: -1}
	block := &text.Block{}
	for rows := 0; rows < sampleRows; rows += block.Rows {
		err := splitter.Next(block)
		if err == io.EOF {
			break
		}
		if err == nil {
			block.Reset(layout)
			parser.Parse(block)
			err = block.Err
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		t.schema.Sparse = max(t.schema.Sparse, int(block.MaxIndex))
	}
	return nil
}
