package relation

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"strconv"
	"strings"

	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/selection"
)

// Where the rows of a job come from.
const (
	Memory  = "memory" // of a Go program
	File    = "file"   // CSV
	Pipe    = "pipe"   // standard input
	Parquet = "parquet"
)

// Job is what is asked of a program: a command, its options and its rows.
type Job struct {
	Command string // fit, select, stream, and those of the command line
	Options fit.Options
	Select  selection.Options // of the command select
	Flags   []string          // of a command line, beside those that Options stand for
	Rows    Table             // what is fitted
	Probe   Table             // rows that are predicted; none where it has no rows
	From    string            // Memory, File, Pipe or Parquet; "" is what the run likes best
	// Interrupted asks for the job to be stopped whenever it has written a checkpoint, and to be gone on with from
	// there.
	Interrupted bool
	// Later is the number of rows of Rows that an online learner first has alone: the others are learned by a learner
	// that goes on from a checkpoint. 0 is all at once.
	Later int
}

// Run answers a job. An error is the refusal of it.
type Run func(ctx context.Context, j Job) (Answer, error)

// Term is the job with a term more in its formula.
func (j Job) Term(text string) Job {
	j.Options.Formula += " + " + text
	return j
}

// Has says whether the formula has a call of this name, such as "weight".
func (j Job) Has(call string) bool { return strings.Contains(j.Options.Formula, call+"(") }

// Target is the column of the target.
func (j Job) Target() string {
	target, _, _ := strings.Cut(j.Options.Formula, "~")
	return strings.TrimSpace(target)
}

// Gaussian says that the family is: stated, or that of a target of numbers where none is.
func (j Job) Gaussian() bool { return strings.HasPrefix(j.Options.Family, "gaussian") }

// Both is the job with rows and probe through a function.
func (j Job) Both(f func(Table) Table) Job {
	j.Rows, j.Probe = f(j.Rows), f(j.Probe)
	return j
}

// Key tells jobs apart.
func (j Job) Key() string {
	h := fnv.New128a()
	text, err := json.Marshal([]any{j.Command, j.Options, j.Select, j.Flags, j.From, j.Interrupted, j.Later})
	if err != nil {
		panic(err)
	}
	h.Write(text)
	for _, t := range []Table{j.Rows, j.Probe} {
		fmt.Fprintf(h, "\n%v", t.Keys)
		for _, name := range t.Names {
			fmt.Fprintf(h, "\n%s\n", name)
			for _, v := range t.Numbers[name] {
				bits := math.Float64bits(v)
				h.Write([]byte{byte(bits), byte(bits >> 8), byte(bits >> 16), byte(bits >> 24), byte(bits >> 32), byte(bits >> 40), byte(bits >> 48), byte(bits >> 56)})
			}
			for _, text := range t.Texts[name] {
				fmt.Fprintf(h, "%q", text)
			}
		}
	}
	return string(h.Sum(nil))
}

// Answer is every number that was given, by its place: "terms.linear.x.sd", "evidence", "row3.upper". Truths are 1 and
// 0.
type Answer map[string]float64

// timings are places whose numbers are never the same twice.
var timings = map[string]bool{"seconds": true}

// JSON adds the numbers of a JSON text under a prefix, which is "" or ends in a dot. An object of a list is placed by
// its name, where it has one, behind that of its block or group, an effect by its term, contrast and rows, and by its
// number otherwise.
func (a Answer) JSON(prefix string, text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return err
	}
	return a.add(strings.TrimSuffix(prefix, "."), value)
}

// Value adds the numbers of anything that JSON can hold.
func (a Answer) Value(prefix string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return a.JSON(prefix, text)
}

func (a Answer) add(place string, value any) error {
	below := func(name string) string {
		if place == "" {
			return name
		}
		return place + "." + name
	}
	switch value := value.(type) {
	case json.Number:
		number, err := value.Float64()
		if err != nil {
			return err
		}
		return a.put(place, number)
	case bool:
		number := 0.0
		if value {
			number = 1
		}
		return a.put(place, number)
	case map[string]any:
		for name, v := range value {
			if timings[name] {
				continue
			}
			if err := a.add(below(name), v); err != nil {
				return err
			}
		}
	case []any:
		for i, v := range value {
			name := strconv.Itoa(i)
			if object, ok := v.(map[string]any); ok {
				name = named(object, name)
			}
			if err := a.add(below(name), v); err != nil {
				return err
			}
		}
	}
	return nil // texts are no numbers
}

// named is the place of an object in a list.
func named(object map[string]any, otherwise string) string {
	if term, ok := object["term"].(string); ok {
		by, _ := json.Marshal(object["by"])
		return fmt.Sprintf("%s.%v.%s", term, object["contrast"], strings.ReplaceAll(string(by), ".", "_"))
	}
	name, ok := object["name"].(string)
	if !ok {
		if name, ok = object["block"].(string); !ok {
			return otherwise
		}
		return name
	}
	for _, outer := range []string{"block", "group"} {
		if text, ok := object[outer].(string); ok && text != "" && text != name {
			name = text + "." + name
		}
	}
	return name
}

// put adds a number. Two numbers of one place are refused: one of them would never be compared.
func (a Answer) put(place string, v float64) error {
	if _, twice := a[place]; twice {
		return fmt.Errorf("relation: two numbers have the place %s", place)
	}
	a[place] = v
	return nil
}

// CSV adds the numbers of a table of predictions, row i of which answers row i of probe: "row3.mean". Empty cells are
// NaN, and texts are left out.
func (a Answer) CSV(text string, probe Table) error {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	names := strings.Split(lines[0], ",")
	if len(lines)-1 != probe.Rows() {
		return fmt.Errorf("relation: %d rows were answered, and there are %d", len(lines)-1, probe.Rows())
	}
	for i, line := range lines[1:] {
		for k, cell := range strings.Split(line, ",") {
			v, err := strconv.ParseFloat(cell, 64)
			if cell == "" {
				v = math.NaN()
			} else if err != nil {
				continue
			}
			if err := a.put(fmt.Sprintf("row%d.%s", probe.Key(i), names[k]), v); err != nil {
				return err
			}
		}
	}
	return nil
}
