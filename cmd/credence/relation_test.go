package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/relation"
)

// answered is the [relation.Run] of command lines, in this process: every number that the command prints as JSON and,
// where a job has rows to predict, those of predict, by the row. What scores rows with targets scores those that were
// fitted where there are no others, so that whatever a relation does to rows it does to both.
func answered(ctx context.Context, j relation.Job) (relation.Answer, error) {
	return fits{}.answered(ctx, j)
}

// fits are the models that commands read, by the job that makes them: the same fit serves all of them.
type fits map[string]model

// model is a model file, or why there is none.
type model struct {
	bytes []byte
	err   error
}

// answered is [answered] for several jobs.
func (f fits) answered(ctx context.Context, j relation.Job) (relation.Answer, error) {
	folder, err := os.MkdirTemp("", "relation")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	c := &commandLine{ctx: ctx, folder: folder, job: j, answer: relation.Answer{}, fits: f}
	return c.answer, c.run()
}

// commandLine runs the commands of a job in a folder.
type commandLine struct {
	ctx    context.Context
	folder string
	job    relation.Job
	answer relation.Answer
	stops  int // at checkpoints
	fits   fits
}

func (c *commandLine) run() error {
	j := &c.job
	model := filepath.Join(c.folder, "m.safetensors")
	switch j.Command {
	case "fit", "select", "stream":
		args := append([]string{j.Command, "DATA", "-o", model}, c.options()...)
		if stop, again := c.stopped(args); stop != nil {
			if out, err := c.invoke(*stop, args[:len(args)-len(j.Flags)]); err == nil && j.Later == 0 {
				return fmt.Errorf("it was not stopped: %s", out)
			}
			args = append(args, again...)
		}
		if err := c.tell("", c.data(rowsName, j.Rows), args); err != nil {
			return err
		}
		return c.predict(model)
	case "merge":
		if err := c.merged(model); err != nil {
			return err
		}
		return c.predict(model)
	case "select of sums": // by the part that the model was merged from
		if err := c.merged(model); err != nil {
			return err
		}
		clear(c.answer)
		return c.tell("", source{}, append([]string{"select", filepath.Join(c.folder, "job"), filepath.Join(c.folder, "part"), "--products", "--engine", "ep(tolerance=1e-9)"}, c.running()...))
	case "look":
		return c.tell("", c.data(rowsName, j.Rows), append([]string{"look", "DATA"}, c.running()...))
	case "active simulate":
		return c.tell("", c.data(rowsName, j.Rows), append([]string{"active", "simulate", "DATA"}, c.options()...))
	}
	flags := j.Flags
	j.Flags = nil
	scored := j.Rows
	if j.Probe.Rows() > 0 {
		scored = j.Probe
	}
	if err := c.fitted(model); err != nil {
		return err
	}
	j.Flags = flags
	score := func(prefix, command string, more ...string) error {
		return c.tell(prefix, c.data("scored", scored), slices.Concat(strings.Fields(command), more, c.running()))
	}
	switch j.Command {
	case "predict":
		return c.predict(model)
	case "draws":
		return c.draws(model)
	case "calibrate": // by the rows that are predicted
		if err := score("", "calibrate", model, "DATA", "-o", model+"2"); err != nil {
			return err
		}
		return c.predict(model + "2")
	case "report": // whose model and evaluation are those of fit and evaluate
		if err := score("", "report", model, "DATA", "-o", "FOLDER/report.html"); err != nil {
			return err
		}
		for place, v := range maps.Clone(c.answer) {
			if before, after, found := strings.Cut(place, ".sd ("); found { // whose size is in the name
				delete(c.answer, place)
				_, after, _ = strings.Cut(after, ")")
				c.answer[before+".sd"+after] = v
			}
			for _, part := range []string{"evaluation.", "model."} {
				if own, is := strings.CutPrefix(place, part); is {
					delete(c.answer, place)
					c.answer[own] = v
				}
			}
		}
		delete(c.answer, "bytes")
		return nil
	case "evaluate", "effects", "plot":
		return score("", j.Command, append([]string{model, "DATA"}, flags...)...)
	case "inspect":
		return c.tell("", source{}, slices.Concat([]string{"inspect", model}, flags, c.running()))
	case "compare":
		other := filepath.Join(c.folder, "other.safetensors")
		whole := j.Options.Formula
		j.Options.Formula, j.Flags = strings.NewReplacer("x + ", "", " + x", "").Replace(whole), nil
		if err := c.fitted(other); err != nil {
			return err
		}
		j.Options.Formula = whole
		return score("", "compare", append([]string{model, other, "DATA"}, flags...)...)
	case "active rank":
		return c.rank(model)
	}
	return fmt.Errorf("there is no command %s", j.Command)
}

// fitted fits the rows of the job, where no job before it was of the same fit.
func (c *commandLine) fitted(path string) error {
	j := c.job
	j.Command, j.Probe, j.From = "fit", relation.Table{}, cmp.Or(j.From, relation.File)
	if strings.Contains(j.Options.Formula, "hash(") {
		j.Command = "stream"
	}
	m, known := c.fits[j.Key()]
	if !known {
		if _, m.err = c.invoke(c.data(rowsName, j.Rows), append([]string{j.Command, "DATA", "-o", path}, c.options()...)); m.err == nil {
			if m.bytes, m.err = os.ReadFile(path); m.err != nil {
				return m.err
			}
		}
		c.fits[j.Key()] = m
	}
	if m.err != nil || !known {
		return m.err
	}
	return os.WriteFile(path, m.bytes, 0o644)
}

// merged fits the rows of the job as a file that lies elsewhere.
func (c *commandLine) merged(model string) error {
	job, part := filepath.Join(c.folder, "job"), filepath.Join(c.folder, "part")
	if _, err := c.invoke(c.data(rowsName, c.job.Rows), append([]string{"job", "DATA", "-o", job}, c.options()...)); err != nil {
		return err
	}
	parts := []string{part}
	if c.job.From == files {
		parts = []string{part + "0", part + "1", part + "2"}
	}
	for {
		for i, part := range parts {
			if _, err := c.invoke(source{}, append([]string{"partial", job, fmt.Sprint(i), "-o", part}, c.running()...)); err != nil {
				return err
			}
		}
		args := slices.Concat([]string{"merge", job}, parts, []string{"-o", model}, c.running())
		args = slices.Delete(args, len(args)-2, len(args)) // --cache
		if err := c.tell("", source{}, args); err == nil || err.Error() != "" {
			return err
		}
	}
}

// source is where a command has its rows from.
type source struct {
	path  string
	stdin io.Reader
}

// data writes a table as the job has it.
func (c *commandLine) data(name string, t relation.Table) source {
	if c.job.From == files {
		from := 0
		for i, to := range []int{t.Rows() / 3, t.Rows() / 3, t.Rows()} {
			var rows []int
			for ; from < to; from++ {
				rows = append(rows, from)
			}
			if _, err := t.Pick(rows).Write(c.folder, fmt.Sprintf("%s-%d", name, i), relation.File); err != nil {
				panic(err)
			}
		}
		return source{path: filepath.Join(c.folder, name+"-*.csv")}
	}
	path, err := t.Write(c.folder, name, c.job.From)
	if err != nil {
		panic(err)
	}
	if c.job.From != relation.Pipe && (c.job.From != malformed || name != rowsName) {
		return source{path: path}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	if c.job.From == relation.Pipe {
		return source{"-", &slow{text}}
	}
	lines := strings.SplitAfter(string(text), "\n")
	lines = slices.Insert(lines, len(lines)/2, "no row\n")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o644); err != nil {
		panic(err)
	}
	return source{path: path}
}

// rowsName is the file of what is fitted.
const rowsName = "rows"

// files are rows in several files.
const files = "files"

// malformed are files that have a malformed row in the middle.
const malformed = "malformed"

// stopped is the run of a stream that stops before the end, where the job is of one: at the end of what is there so
// far, or at a malformed row. The run after it has some flags more.
func (c *commandLine) stopped(args []string) (stop *source, again []string) {
	j := &c.job
	switch {
	case j.Later > 0:
		first := make([]int, j.Later)
		for i := range first {
			first[i] = i
		}
		from := c.data(rowsName, j.Rows.Pick(first))
		return &from, []string{"--resume"}
	case j.Interrupted && j.From == malformed:
		from := c.data(rowsName, j.Rows)
		return &from, []string{"--resume"}
	}
	return nil, nil
}

// slow is a pipe whose writer writes a little at a time.
type slow struct{ left []byte }

func (s *slow) Read(p []byte) (int, error) {
	if len(s.left) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), 3000)], s.left)
	s.left = s.left[n:]
	return n, nil
}

// options are the flags of what fits.
func (c *commandLine) options() []string {
	o := &c.job.Options
	var args []string
	for _, f := range []struct{ name, value string }{
		{"--formula", o.Formula}, {"--family", o.Family}, {"--prior", o.Prior}, {"--engine", o.Engine}, {"--missing", string(o.Missing)},
		{"--positive", o.Positive}, {"--time", o.Time}, {"--checkpoint", o.Checkpoint},
	} {
		if f.value != "" {
			args = append(args, f.name, f.value)
		}
	}
	// streams scale no column
	if o.Raw && !slices.Contains(c.job.Flags, "--report") && !strings.Contains(o.Formula, "hash(") {
		args = append(args, "--raw")
	}
	if len(o.PriorOdds) > 0 {
		text := ""
		for _, f := range o.PriorOdds {
			text += fmt.Sprintf("%s,%v\n", f.Feature, f.Odds)
		}
		file := filepath.Join(c.folder, "odds.csv")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			panic(err)
		}
		args = append(args, "--prior-odds", file)
	}
	return slices.Concat(args, c.running(), c.job.Flags)
}

// running are the flags of every command.
func (c *commandLine) running() []string {
	return []string{"--json", "--seed", fmt.Sprint(c.job.Options.Seed), "--threads", fmt.Sprint(c.job.Options.Threads), "--cache", c.folder}
}

// invoke runs a command line, with the source in the place of DATA, and returns what it printed. A refusal is an error.
func (c *commandLine) invoke(from source, args []string) (string, error) {
	args = slices.Clone(args)
	if k := slices.Index(args, "DATA"); k >= 0 {
		args[k] = from.path
	}
	for i, a := range args {
		args[i] = strings.Replace(a, "FOLDER", c.folder, 1)
	}
	if args[0] == "inspect" {
		k := slices.Index(args, "--cache")
		args = slices.Delete(args, k, k+2)
	}
	var out, errs bytes.Buffer
	ctx := c.ctx
	var stopped *watch
	if c.job.Interrupted && c.stops < mostStops && slices.Contains(args, "--checkpoint") {
		ctx, stopped = watched(ctx, filepath.Join(c.folder, "checkpoint"))
		defer stopped.end()
	}
	code := run(ctx, args, streams{cmp.Or[io.Reader](from.stdin, strings.NewReader("")), &out, &errs})
	switch {
	case code == exitInterrupted && stopped != nil:
		c.stops++
		return c.invoke(from, args)
	case code != exitDone:
		return out.String(), errors.New(errs.String())
	}
	if stopped != nil && c.stops == 0 {
		return "", errors.New("no checkpoint was written")
	}
	return out.String(), nil
}

// mostStops is how often a job is stopped.
const mostStops = 4

// watch looks for a file to be written anew.
type watch struct{ stop, done chan struct{} }

// watched returns a context that is cancelled once the file is another.
func watched(ctx context.Context, file string) (context.Context, *watch) {
	ctx, cancel := context.WithCancel(ctx)
	w := &watch{make(chan struct{}), make(chan struct{})}
	before, _ := os.Stat(file)
	go func() {
		defer close(w.done)
		defer cancel()
		for {
			select {
			case <-w.stop:
				return
			case <-time.After(100 * time.Microsecond):
			}
			if now, err := os.Stat(file); err == nil && (before == nil || !os.SameFile(before, now)) {
				return
			}
		}
	}()
	return ctx, w
}

func (w *watch) end() {
	close(w.stop)
	<-w.done
}

// tell adds the last JSON object that a command prints.
func (c *commandLine) tell(prefix string, from source, args []string) error {
	out, err := c.invoke(from, args)
	if err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if err := c.answer.JSON(prefix, []byte(lines[len(lines)-1])); err != nil {
		return err
	}
	delete(c.answer, prefix+"rows_per_second")
	return nil
}

// predict adds the predictions of the probe with all that predict tells; the flags of the command predict are its own.
func (c *commandLine) predict(model string) error {
	j := &c.job
	if j.Probe.Rows() == 0 {
		return nil
	}
	args := slices.DeleteFunc(append([]string{"predict", model, "DATA", "--latent", "--density", "--samples", "2"}, c.running()...), func(a string) bool { return a == "--json" })
	if j.Command == "predict" {
		args = append(args, j.Flags...)
	}
	out, err := c.invoke(c.data("probe", j.Probe), args)
	if err != nil {
		return err
	}
	return c.answer.CSV(out, j.Probe)
}

// draws adds f, E y and y of the probe under every draw, as samples of each row.
func (c *commandLine) draws(model string) error {
	args := slices.DeleteFunc(slices.Concat([]string{"draws", model, "DATA"}, c.job.Flags, c.running()), func(a string) bool { return a == "--json" })
	out, err := c.invoke(c.data("probe", c.job.Probe), args)
	if err != nil {
		return err
	}
	names, cells := []string{}, make([][]string, c.job.Probe.Rows())
	for s, line := range strings.Split(strings.TrimSpace(out), "\n")[1:] {
		for k, cell := range strings.Split(line, ",")[3:] {
			if k < 3 {
				names = append(names, fmt.Sprintf("sample_%d", 3*s+k+1))
			}
			cells[k/3] = append(cells[k/3], cell)
		}
	}
	text := strings.Join(names, ",")
	for _, row := range cells {
		text += "\n" + strings.Join(row, ",")
	}
	return c.answer.CSV(text+"\n", c.job.Probe)
}

// rank adds the scores of the probe, which is the pool, and each row's place among those that were picked.
func (c *commandLine) rank(model string) error {
	out, err := c.invoke(c.data("pool", c.job.Probe), slices.Concat([]string{"active", "rank", model, "DATA"}, c.job.Flags, c.running()))
	if err != nil {
		return err
	}
	var told struct{ Candidates []map[string]any }
	if err := json.Unmarshal([]byte(out), &told); err != nil {
		return err
	}
	for place, row := range told.Candidates {
		key := c.job.Probe.Key(int(row["row"].(float64)) - 1)
		row["row"] = place
		if err := c.answer.Value("row"+strconv.Itoa(key)+".", row); err != nil {
			return err
		}
	}
	return nil
}

// commandRelations are the relations of the suite, with what they say of what only commands tell, and those of commands
// alone.
func commandRelations() []relation.Relation {
	all := relation.All()
	for i := range all {
		r := &all[i]
		change, expect := r.Change, r.Expect
		switch r.Name {
		case "weights = copies":
			r.Change = func(j relation.Job) (relation.Job, bool) {
				j, also := change(j)
				if j.Command != "calibrate" {
					return j, also
				}
				var rows []int // that calibrate, of which the first of each is looked at
				for i, w := range j.Probe.Numbers["w"] {
					rows = append(rows, slices.Repeat([]int{i}, int(w))...)
				}
				j.Probe = j.Probe.Pick(rows)
				for i := range rows {
					if i > 0 && rows[i] == rows[i-1] {
						j.Probe.Keys[i] = -1 - i
					}
				}
				return j, also
			}
			r.Expect = func(j relation.Job, place string, v float64) (float64, bool) {
				key := 0
				if n, _ := fmt.Sscanf(place, "row%d.", &key); j.Command == "calibrate" && n == 1 && (key < 0 || j.Probe.Numbers["w"][key] == 0 || strings.Contains(place, ".sample_")) {
					return v, false
				}
				return expect(j, place, v)
			}
		case "precision = copies":
			r.Change = func(j relation.Job) (relation.Job, bool) { // a row of precision 4 is predicted as one row
				scored := j.Gaussian() && (j.Command == "evaluate" || j.Command == "compare")
				j, also := change(j)
				return j, also && !scored
			}
		case "resume":
			r.Change = func(j relation.Job) (relation.Job, bool) {
				j, _ = change(j)
				if j.Interrupted {
					j.Flags = append(slices.Clone(j.Flags), "--checkpoint", "FOLDER/checkpoint")
				}
				return j, slices.Contains([]string{"stream", "fit", "select", "active simulate"}, j.Command)
			}
		case "row alone":
			r.Change = func(j relation.Job) (relation.Job, bool) {
				j, also := change(j)
				return j, also && j.Command != "active rank"
			}
		case "offset":
			r.Expect = func(j relation.Job, place string, v float64) (float64, bool) {
				place = relation.Ungrouped(place)
				// beside the spread of targets, which the offset is in
				if place == "r2" || place == "smse" || place == "msll" || strings.HasPrefix(place, "calibration_") || strings.HasPrefix(place, "reliability.") {
					return v, false
				}
				return expect(j, place, v)
			}
		}
	}
	scores := func(j relation.Job) bool { return j.Command == "predict" || j.Command == "active rank" }
	return append(all,
		relation.Relation{
			Name: "order of scored rows", About: "the order of the rows that are predicted or ranked says nothing, draws apart",
			Change: func(j relation.Job) (relation.Job, bool) {
				j.Probe = j.Probe.Pick(rand.New(rand.NewPCG(7, 8)).Perm(j.Probe.Rows()))
				return j, scores(j)
			},
			Expect: undrawn,
		},
		relation.Relation{
			Name: "place of a scored row", About: "a row is predicted behind 700 others as it is alone, to the bit, draws apart; so is one that lacks a value", Bits: true,
			Change: func(j relation.Job) (relation.Job, bool) {
				j.Probe = behind(relation.Data(700, 9), j.Probe)
				return j, j.Command == "predict"
			},
			Expect: undrawn,
		},
		relation.Relation{
			Name: "dropped rows", About: "rows that lack a number say nothing, whether they fill a block or stand between others",
			Base: func(j relation.Job) (relation.Job, bool) {
				j.Options.Missing = "drop"
				return j.Term("weight(w)"), j.Command != "compare" // of whose models one lacks nothing
			},
			Change: func(j relation.Job) (relation.Job, bool) {
				j.Options.Missing, j.Rows = "drop", among(relation.Data(600, 9), j.Rows)
				return j.Term("weight(w)"), true
			},
			Expect: func(j relation.Job, place string, v float64) (float64, bool) {
				return v, j.Command != "effects" || place != "rows" // of which some have the column in question
			},
		},
		relation.Relation{
			Name: "rows of files", About: "rows of three files, one of them without a row, are those of one, to the bit", Bits: true,
			Base:   func(j relation.Job) (relation.Job, bool) { return j.As(relation.File), j.Command != "merge" },
			Change: func(j relation.Job) (relation.Job, bool) { return j.As(files), true },
		},
		relation.Relation{
			Name: "parts of files", About: "the parts of three files, one of them without a row, are merged to that of one",
			Base: func(j relation.Job) (relation.Job, bool) {
				j.Rows = relation.Data(1100, 5) // fewer are summed up as one
				return j.As(relation.File), j.Command == "merge"
			},
			Change: func(j relation.Job) (relation.Job, bool) {
				j.Rows = relation.Data(1100, 5)
				return j.As(files), true
			},
		},
		relation.Relation{
			Name: "missing = mean", About: "a number that a predicted row lacks is the mean of the rows that have it, by their weights",
			Base: func(j relation.Job) (relation.Job, bool) {
				j.Probe = j.Probe.Map("x", func(float64) float64 { return math.NaN() })
				return j.Term("weight(w)"), j.Options.Missing == "mean" && j.Probe.Rows() > 0
			},
			Change: func(j relation.Job) (relation.Job, bool) {
				sum, total := 0.0, 0.0
				for i, x := range j.Rows.Numbers["x"] {
					if w := j.Rows.Numbers["w"][i]; x == x {
						sum, total = sum+w*x, total+w
					}
				}
				j.Probe = j.Probe.Map("x", func(float64) float64 { return sum / total })
				return j.Term("weight(w)"), true
			},
		},
		relation.Relation{
			Name: "unit of costs", About: "costs that are twice as large halve what a label tells for its cost",
			Change: func(j relation.Job) (relation.Job, bool) {
				j.Probe = j.Probe.Map("cost", func(c float64) float64 { return 2 * c })
				return j, j.Command == "active rank"
			},
			Expect: func(_ relation.Job, place string, v float64) (float64, bool) {
				if strings.HasSuffix(place, ".score") {
					v /= 2
				}
				return v, true
			},
		},
		relation.Relation{
			Name: "resume after a malformed row", About: "a stream that stops at a malformed row goes on, with --max-bad 1, to where one run with it ends, to the bit", Bits: true,
			Base: func(j relation.Job) (relation.Job, bool) {
				j.From, j.Flags = malformed, append(slices.Clone(j.Flags), "--max-bad", "1")
				return j, j.Command == "stream"
			},
			Change: func(j relation.Job) (relation.Job, bool) {
				j.From, j.Flags, j.Interrupted = malformed, append(slices.Clone(j.Flags), "--max-bad", "1"), true
				return j, j.Command == "stream"
			},
		},
		relation.Relation{
			Name: "trials of scored rows", About: "the deviance of k of n is that of k rows of one class and n − k of the other, less that of their share in themselves",
			Base: func(j relation.Job) (relation.Job, bool) {
				return j, strings.Contains(j.Options.Family, "trials=n") && j.Command == "evaluate"
			},
			Change: func(j relation.Job) (relation.Job, bool) {
				var rows []int
				var classes []float64
				for i, n := range j.Rows.Numbers["n"] {
					for k := range int(n) {
						class := 0.0
						if float64(k) < j.Rows.Numbers["hits"][i] {
							class = 1
						}
						rows, classes = append(rows, i), append(classes, class)
					}
				}
				j.Probe = j.Rows.Pick(rows).With("hits", classes).With("n", slices.Repeat([]float64{1}, len(rows)))
				return j, strings.Contains(j.Options.Family, "trials=n") && j.Command == "evaluate"
			},
			Expect: func(j relation.Job, place string, v float64) (float64, bool) {
				for i, n := range j.Rows.Numbers["n"] {
					for _, k := range []float64{j.Rows.Numbers["hits"][i], n - j.Rows.Numbers["hits"][i]} {
						if k > 0 {
							v -= 2 * k * math.Log(k/n)
						}
					}
				}
				return v, place == "deviance"
			},
		},
	)
}

// undrawn says that all rows of the job that have a key stay what they are but for draws.
func undrawn(_ relation.Job, place string, v float64) (float64, bool) {
	return v, !strings.HasPrefix(place, "row-") && !strings.Contains(place, ".sample_")
}

// among is a table behind and between other rows, which lack x.
func among(others, t relation.Table) relation.Table {
	all := behind(others.Map("x", func(float64) float64 { return math.NaN() }), t)
	var rows []int
	for i := range others.Rows() {
		if rows = append(rows, i); i >= others.Rows()-t.Rows() {
			rows = append(rows, i+t.Rows())
		}
	}
	return all.Pick(rows)
}

// behind is a table behind other rows, whose keys are below 0.
func behind(others, t relation.Table) relation.Table {
	all := relation.Table{Names: t.Names, Numbers: map[string][]float64{}, Texts: map[string][]string{}}
	for i := range others.Rows() {
		all.Keys = append(all.Keys, -1-i)
	}
	for i := range t.Rows() {
		all.Keys = append(all.Keys, t.Key(i))
	}
	for name, values := range t.Numbers {
		all.Numbers[name] = slices.Concat(others.Numbers[name], values)
	}
	for name, values := range t.Texts {
		all.Texts[name] = slices.Concat(others.Texts[name], values)
	}
	return all
}

// commandSubjects are jobs of every command.
func commandSubjects() []relation.Subject {
	small, probe := relation.Data(120, 1), relation.Data(5, 2)
	const columns = " ~ x + z + city"
	job := func(command, target, family, prior, engine string, flags ...string) relation.Job {
		j := relation.Job{Command: command, Rows: small, Flags: flags,
			Options: fit.Options{Formula: target + columns, Family: family, Prior: prior, Engine: engine, Seed: 3}}
		if command == "fit" || command == "select" || command == "predict" || command == "draws" || command == "stream" {
			j.Probe = probe
		}
		return j
	}
	const exact, svi = "exact(tolerance=1e-9)", "svi(covariance=full, tolerance=1e-9)"
	list := []relation.Subject{
		{Name: "fit", Job: job("fit", "y", "gaussian", "normal", exact)},
		{Name: "select", Job: job("select", "y", "gaussian", "spikeslab", "ep(tolerance=1e-9)", "--path=always", "--moments")},
		{Name: "select, by draws", Job: job("select", "y", "gaussian", "spikeslab", "ep(tolerance=1e-9)", "--path=never", "--null-check", "2", "--bootstrap", "3", "--check", "3")},
		{Name: "predict", Job: job("predict", "count", "poisson", "normal", svi, "--interval", "0.8", "--mean-interval")},
		{Name: "predict many rows", Job: job("predict", "y", "gaussian", "normal", exact, "--mean-interval")},
		{Name: "predict by a stream", Job: job("predict", "b", "", "", "")},
		{Name: "evaluate", Job: job("evaluate", "y", "gaussian", "normal", exact)},
		{Name: "evaluate by groups", Job: job("evaluate", "y", "gaussian", "normal", exact, "--by", "city", "--reliability")},
		{Name: "evaluate many rows", Job: job("evaluate", "y", "gaussian", "normal", exact)},
		{Name: "evaluate counts", Job: job("evaluate", "count", "poisson", "normal", svi)},
		{Name: "evaluate classes", Job: job("evaluate", "b", "bernoulli", "normal", svi)},
		{Name: "evaluate trials", Job: job("evaluate", "hits", "binomial(trials=n)", "normal", svi)},
		{Name: "evaluate left out", Job: job("evaluate", "count", "negbinomial", "normal", svi, "--loo")},
		{Name: "evaluate by refits", Job: job("evaluate", "y", "gaussian", "normal", exact, "--cv", "3", "--group", "city")},
		{Name: "inspect", Job: job("inspect", "y", "gaussian", "normal", exact, "--base", "city=Bern")},
		{Name: "inspect groups", Job: job("inspect", "y", "gaussian", "normal", exact, "--block", "(1|city)")},
		{Name: "predict without groups", Job: job("predict", "y", "gaussian", "normal", exact, "--groups", "none")},
		{Name: "draws", Job: job("draws", "y", "gaussian", "normal", exact, "-n", "4")},
		{Name: "calibrate", Job: job("calibrate", "y", "gaussian", "normal", exact)},
		{Name: "effects", Job: job("effects", "y", "gaussian", "normal", exact, "--base", "city=Bern")},
		{Name: "effects by quartiles", Job: job("effects", "y", "gaussian", "normal", exact, "--comparisons", "x", "--step", "iqr")},
		{Name: "effects of a balanced grid", Job: job("effects", "y", "gaussian", "normal", exact, "--predictions=", "--grid", "balanced")},
		{Name: "effects by draws", Job: job("effects", "count", "poisson", "normal", svi, "--slopes", "x", "--by", "city")},
		{Name: "effects by a stream", Job: job("effects", "b", "", "", "", "--base", "city=Bern")},
		{Name: "plot", Job: job("plot", "y", "gaussian", "normal", exact, "--kind", "residuals")},
		{Name: "plot calibration", Job: job("plot", "count", "negbinomial", "normal", svi, "--kind", "loo_pit")},
		{Name: "plot effects", Job: job("plot", "count", "poisson", "normal", svi, "--kind", "forest")},
		{Name: "report", Job: job("report", "y", "gaussian", "normal", exact)},
		{Name: "look", Job: job("look", "y", "gaussian", "normal", exact)},
		{Name: "merge", Job: job("merge", "y", "gaussian", "normal", exact)},
		{Name: "merge, in rounds", Job: job("merge", "count", "poisson", "normal", "svi(covariance=full, diagnostics=0)", "--no-rows")},
		{Name: "merge, online", Job: job("merge", "b", "", "", "", "--online")},
		{Name: "select of sums", Job: job("select of sums", "y", "gaussian", "normal", exact)},
		{Name: "compare", Job: job("compare", "y", "gaussian", "normal", exact)},
		{Name: "compare by refits", Job: job("compare", "y", "gaussian", "normal", exact, "--cv", "3", "--group", "city")},
		{Name: "stream", Job: job("stream", "b", "", "", "", "--report", "50")},
		{Name: "simulate", Job: job("active simulate", "b", "bernoulli", "", "", "--pool", "60", "--initial", "20", "--block", "5", "--labels", "40", "--every", "10", "--repeats", "2")},
		{Name: "rank", Job: job("active rank", "b", "bernoulli", "normal", svi, "-n", "8", "--cost", "cost")},
	}
	for i := range list {
		s := &list[i]
		j := &s.Job
		s.Under, s.Within = j.Command, 1e-6
		s.Tolerances = []relation.Tolerance{
			// the mean of 256 draws of f, and quantiles, in the order of the rows
			{Place: "variance_explained.*", Within: 0.05},
			// the lasso and ridge regression end at a tolerance of their own
			{Place: "check.engines.*", Within: 1e-3},
			{Place: "repeats.*", Within: 1e-4}, // so does the engine that a simulation asks
			{Place: "scores.*", Within: 1e-4},
		}
		s.Slow = slices.Contains([]string{"select, by draws", "predict many rows", "evaluate counts", "evaluate classes", "evaluate left out", "compare", "compare by refits", "simulate"}, s.Name)
		switch s.Name {
		case "rank":
			s.Not = []string{"dropped rows"} // of a pool as it is
			j.Probe = relation.Data(1100, 3)
		case "stream", "evaluate counts":
			j.Options.Missing = "mean"
			j.Rows = j.Rows.Missing()
			for i, city := range j.Rows.Texts["city"] { // most weight is not in most rows
				if j.Rows.Numbers["w"][i] = float64(i % 2); city == "Biel" {
					j.Rows.Numbers["w"][i] = 3
				}
			}
		case "effects by quartiles", "effects of a balanced grid": // of numbers of the rows
			s.Not = allBut("weights = copies", "weight 0 = no row", "weight 0 says nothing", "order of rows", "unit of a column", "unit of the target", "constant added to a column")
			s.Tolerances = append(s.Tolerances, relation.Tolerance{Place: "effects.*", Within: 1e-6})
		case "plot": // of whose rows a precision is that of one
			s.Not = []string{"precision = copies", "offset"} // ranks are those of f, in which the offset is
		case "plot effects": // whose marks are in the order of their sizes
			s.Not = []string{"sign of a column", "order of columns"}
		case "look": // at the table as it stands
			s.Not = allBut("order of rows", "order of columns", "threads", "rows of a file", "rows of a pipe", "rows of a parquet")
		case "plot calibration":
			// copies are left out together, and counts drawn
			s.Not = []string{"weights = copies", "weight 0 = no row", "order of rows", "dropped rows", "rows of files"}
		case "evaluate left out":
			s.Not = []string{"weights = copies"} // copies of a row are left out together
		case "evaluate trials":
			s.Not = []string{"trials"} // whose relation is that of scored rows
		case "inspect groups", "predict without groups":
			j.Options.Formula = "y ~ x + z + (1 | city)"
		case "select":
			j.Options.Formula += " + u"
		case "merge", "merge, in rounds", "select of sums":
			s.Not = []string{"rows of a pipe"} // which lies nowhere else
			switch s.Name {
			case "merge, in rounds":
				s.Not = append(s.Not, "parts of files") // the slowest
			case "select of sums":
				s.Not = append(s.Not, "rows of files") // whose merge is that of the others
			}
		case "merge, online":
			s.Not = allBut("threads", "rows of a parquet")
			j.Options.Formula, j.Probe = "b ~ x + z + hash(city)", probe
		case "calibrate":
			j.Probe = relation.Data(60, 4)
			s.Not = []string{"row alone", "place of a scored row"} // which are few to calibrate by, or others
		case "draws":
			s.Not = []string{"row alone"} // whose answers are those without draws
		case "select, by draws":
			s.Not = []string{"resume"} // what is drawn comes after what is fitted
		case "predict many rows":
			j.Probe = relation.Data(1100, 3)
			s.Not = allBut("order of scored rows", "place of a scored row", "threads", "rows of a pipe", "rows of a parquet")
		case "evaluate many rows":
			j.Rows = relation.Data(1100, 3)
			s.Not = allBut("blocks of rows", "threads", "rows of a pipe")
		case "effects by a stream":
			s.Not = []string{"unit of a column", "constant added to a column"} // streams scale no column
			j.Options.Formula = "b ~ x + z + hash(city)"
		case "predict by a stream":
			s.Not = []string{"unit of a column", "constant added to a column"} // streams scale no column
			j.Options.Formula, j.Options.Missing = "b ~ x + z + hash(city)", "drop"
			j.Probe = relation.Data(20, 3)
			j.Probe.Numbers["x"][3], j.Probe.Numbers["z"][11] = math.NaN(), math.NaN()
		}
	}
	return list
}

// allBut names the relations but for some.
func allBut(names ...string) (others []string) {
	for _, r := range commandRelations() {
		if !slices.Contains(names, r.Name) {
			others = append(others, r.Name)
		}
	}
	return others
}

// commandExempt is what does not hold.
var commandExempt = []relation.Exempt{
	{Relation: "weights = copies", Subject: "*stream", Reason: "an online learner takes a row of weight 2 in one step, and its copies in two"},
	{Relation: "order of rows", Subject: "*stream", Reason: "an online learner is where the order of rows has brought it"},
	{Relation: "offset", Subject: "*", Place: "baseline*", Reason: "a prediction without columns has no offset"},
	{Relation: "precision = copies", Subject: "*", Place: "baseline*", Reason: "a prediction without columns takes each row once"},
	{Relation: "weight*", Subject: "inspect groups", Place: "groups.*rows", Reason: "rows are counted as they stand"},
	{Relation: "precision = copies", Subject: "inspect groups", Place: "groups.*rows", Reason: "rows are counted as they stand"},
	{Relation: "unit of precision", Subject: "inspect groups", Place: "groups.*icc", Reason: "the share of groups is that beside the noise of a row of precision 1"},
	{Relation: "unit of precision", Subject: "inspect groups", Place: "r2_*", Reason: "R² is that of rows of precision 1"},
	{Relation: "offset", Subject: "*stream", Reason: "an online learner's intercept has a prior, and a mean of the offset is not taken from it"},
	{Relation: "*column*", Subject: "stream", Place: "weight_coverage", Reason: "the coverage of a stream's weights is by draws"},
	{Relation: "resume*", Subject: "stream", Place: "name_bytes", Reason: "name_bytes is memory that is held, which grows by doubling"},
	{Relation: "weight*", Subject: "simulate", Reason: "pools and tests are drawn from rows, whatever their weights"},
	{Relation: "order of rows", Subject: "simulate", Reason: "pools and tests are drawn from rows by their places"},
	{Relation: "order of columns", Subject: "effects by*", Reason: "weights are drawn in their order"},
	{Relation: "weight*", Subject: "evaluate*", Place: "*pit_p", Reason: "the test that transforms are uniform takes each row once"},
	{Relation: "weights = copies", Subject: "report", Place: "pit_p", Reason: "the test that transforms are uniform takes each row once"},
	{Relation: "dropped rows", Subject: "plot effects", Reason: "the deviation of a column is that of all rows that have it"},
	{Relation: "dropped rows", Subject: "report", Place: "effects.*.sd.*", Reason: "the deviation of a column is that of all rows that have it"},
	{Relation: "rows of a parquet", Subject: "look", Place: "columns.b.*", Reason: "yes and no are truths in CSV, and texts in Parquet"},
	{Relation: "precision = copies", Subject: "report", Reason: "a row of precision 4 is checked as one row"},
	{Relation: "weights = copies", Subject: "evaluate*", Place: "*pit_p", Reason: "the test that transforms are uniform takes each row once"},
	{Relation: "order of rows", Subject: "evaluate*", Place: "*pit_p", Reason: "transforms of discrete targets are drawn in the order of the rows"},
	{Relation: "order of columns", Subject: "draws", Reason: "weights are drawn in their order"},
	{Relation: "weight 0 = no row", Subject: "effects by a stream", Reason: "weights are drawn in their order"},
	{Relation: "sign of a column", Subject: "draws", Reason: "a weight of the other sign is drawn by the same random number"},
	{Relation: "sign of a column", Subject: "effects by*", Reason: "a weight of the other sign is drawn by the same random number"},
	{Relation: "weight[s ]*[ =]*", Subject: "select, by draws", Place: "check.*", Reason: "folds, samples and permutations are of rows"},
	{Relation: "weight 0 = no row", Subject: "select, by draws", Reason: "folds, samples and permutations are of rows"},
	{Relation: "precision = copies", Subject: "select, by draws", Reason: "folds, samples and permutations are of rows"},
	{Relation: "weights = copies", Subject: "select, by draws", Reason: "folds, samples and permutations are of rows"},
	{Relation: "precision = copies", Subject: "select, by draws", Reason: "folds, samples and permutations are of rows"},
	{Relation: "precision = copies", Subject: "select", Place: "variance_explained.*", Reason: "the variance explained is that of a row of a mean precision"},
	{Relation: "order of rows", Subject: "select, by draws", Reason: "folds, samples and permutations are of rows by their places"},
	{Relation: "weight 0 says nothing", Subject: "select, by draws", Place: "null_check.*", Reason: "permutations give targets and weights to the inputs of other rows, those of weight 0 among them"},
}

// TestRelations runs every relation on every command. What it finds is the second table of docs/relations.md.
func TestRelations(t *testing.T) {
	relation.Check(t, fits{}.answered, commandSubjects(), commandRelations(), commandExempt).Verify(t, "../../docs/relations.md", "commands")
}

// TestSeeds: what is drawn follows the seed, and every permutation, sample and row is drawn afresh.
func TestSeeds(t *testing.T) {
	subjects := map[string]relation.Job{}
	for _, s := range commandSubjects() {
		subjects[s.Name] = s.Job
	}
	relation.Differ(t, answered, subjects["predict"], "row*.sample_*")
	drawn := subjects["select, by draws"]
	drawn.Flags = []string{"--path=never", "--bootstrap", "20"}
	relation.Differ(t, answered, drawn, "features.*.frequency", "variance_explained.*")
	// below what noise has, so that some are called
	drawn.Flags = []string{"--path=never", "--null-check", "5", "--threshold", "0.01"}
	relation.Differ(t, answered, drawn, "null_check.called.*")
	relation.Differ(t, answered, subjects["simulate"], "repeats.information.*.log_loss", "repeats.random.*.log_loss")
	random := subjects["rank"]
	random.Flags = []string{"-n", "8", "--score", "random"}
	relation.Differ(t, answered, random, "row*.score")
	distinct := func(j relation.Job, pattern string) {
		answer := sure(answered(t.Context(), j))(t)
		met, count := map[float64]bool{}, 0
		for place, v := range answer {
			if fits, _ := path.Match(pattern, place); fits {
				met[v] = true
				count++
			}
		}
		if count < 2 || len(met) < 2 || strings.HasPrefix(pattern, "row") && len(met) < count {
			t.Errorf("%s: %d numbers at %d places", pattern, len(met), count)
		}
	}
	distinct(drawn, "null_check.called.*")
	same := subjects["predict many rows"]
	same.Probe = same.Probe.Pick(make([]int, 5500)) // more than a MiB, so that a pipe has more than one run of rows
	for i := range same.Probe.Keys {
		same.Probe.Keys[i] = i
	}
	for _, same.From = range []string{relation.File, relation.Pipe} {
		distinct(same, "row*.sample_*")
	}
}

// TestGainError: the standard error of a gain is that of its spread over tables.
func TestGainError(t *testing.T) {
	if testing.Short() {
		t.Skip("many fits")
	}
	j := relation.Job{Command: "compare", Rows: relation.Data(120, 1), Options: fit.Options{Formula: "y ~ x + z + city", Family: "gaussian", Engine: "exact"}}
	relation.Spread(t, func(ctx context.Context, j relation.Job) (relation.Answer, error) {
		j.Probe = relation.Data(120, 100+j.Options.Seed)
		return answered(ctx, j)
	}, j, map[string]string{"models.1.gain_error": "models.1.gain"}, 20)
}

// TestOtherJobs: whatever of a job is another, rows and the role of each among them, it does not go on from the
// checkpoint.
func TestOtherJobs(t *testing.T) {
	subjects := map[string]relation.Job{}
	for _, s := range commandSubjects() {
		subjects[s.Name] = s.Job
	}
	simulate := subjects["simulate"]
	simulate.Options.Formula += " + weight(w) + offset(o)"
	simulate.Options.Raw = true // scaled columns are others where weights are
	simulate.Flags = append(slices.Clone(simulate.Flags), "--checkpoint", "FOLDER/checkpoint")
	stream := subjects["stream"].Term("weight(w)")
	stream.Options.Engine, stream.Options.Time, stream.Probe = "sep(half_life=50)", "cost", relation.Table{}
	column := func(name string) func(*relation.Job) {
		return func(j *relation.Job) { j.Rows = j.Rows.Map(name, func(v float64) float64 { return v + 1 }) }
	}
	label := func(j *relation.Job) {
		texts := slices.Clone(j.Rows.Texts["b"])
		texts[3] = map[string]string{"yes": "no", "no": "yes"}[texts[3]]
		j.Rows.Texts = maps.Clone(j.Rows.Texts)
		j.Rows.Texts["b"] = texts
	}
	for _, c := range []struct {
		job     relation.Job
		again   []string
		changes map[string]func(*relation.Job)
	}{
		{simulate, nil, map[string]func(*relation.Job){
			"x": column("x"), "weight": column("w"), "offset": column("o"), "label": label,
			"formula": func(j *relation.Job) { j.Options.Formula = strings.Replace(j.Options.Formula, " + z", "", 1) },
			"prior":   func(j *relation.Job) { j.Options.Prior = "normal(variance=2)" },
			"seed":    func(j *relation.Job) { j.Options.Seed++ },
			"labels":  func(j *relation.Job) { j.Flags = append(slices.Clone(j.Flags), "--labels", "45") },
		}},
		{stream, []string{"--resume"}, map[string]func(*relation.Job){
			"x": column("x"), "weight": column("w"), "label": label, "rows": func(j *relation.Job) { j.Rows = j.Rows.Pick([]int{1, 0, 2, 3}) },
			"formula":  func(j *relation.Job) { j.Options.Formula = strings.Replace(j.Options.Formula, " + z", "", 1) },
			"prior":    func(j *relation.Job) { j.Options.Prior = "spikeslab(inclusion=0.1)" },
			"engine":   func(j *relation.Job) { j.Options.Engine = "sep(half_life=60)" },
			"time":     func(j *relation.Job) { j.Options.Time = "y" },
			"missing":  func(j *relation.Job) { j.Options.Missing = "drop" },
			"positive": func(j *relation.Job) { j.Options.Positive = "no" },
			"target":   func(j *relation.Job) { j.Options.Formula = "garden" + strings.TrimPrefix(j.Options.Formula, "b") },
			"holdout":  func(j *relation.Job) { j.Flags = append(slices.Clone(j.Flags), "--holdout", "5") },
		}},
	} {
		folder := t.TempDir()
		run := func(job relation.Job) error {
			return (&commandLine{ctx: t.Context(), folder: folder, job: job, answer: relation.Answer{}}).run()
		}
		if err := run(c.job); err != nil {
			t.Fatal(err)
		}
		same := c.job
		same.Flags = append(slices.Clone(c.job.Flags), c.again...)
		if err := run(same); err != nil {
			t.Fatalf("%s: the same job is refused: %v", c.job.Command, err)
		}
		for what, change := range c.changes {
			changed := same
			change(&changed)
			if err := run(changed); err == nil || !strings.Contains(err.Error(), "checkpoint") && !strings.Contains(err.Error(), "begins otherwise") {
				t.Errorf("%s with another %s: %v", c.job.Command, what, err)
			}
		}
	}
}

// TestFiguresAgree: of rows of the fit, r2 and smse are of the same mean, weights and all; compare tells the density
// and the error that evaluate tells.
func TestFiguresAgree(t *testing.T) {
	for _, s := range commandSubjects() {
		// of whose flags compare has none
		if s.Job.Command != "evaluate" || s.Slow && testing.Short() || s.Name == "evaluate by groups" {
			continue
		}
		if s.Name == "evaluate trials" { // grades in its place
			s.Job.Options.Formula, s.Job.Options.Family = "grade ~ x + z + city", "ordinal"
		}
		j := s.Job.Term("weight(w)")
		one := sure(answered(t.Context(), j))(t)
		j.Command = "compare"
		other := sure(answered(t.Context(), j))(t)
		if sum := one["r2"] + one["smse"]; !(math.Abs(sum-1) < 1e-9) {
			t.Errorf("%s: r2 and smse add up to %v", s.Name, sum)
		}
		for _, figure := range []string{"nlpd", "rmse", "crps"} {
			if a, b := one[figure], other["models.0."+figure]; !(math.Abs(a-b) < 1e-12) {
				t.Errorf("%s: %s is %v by evaluate, %v by compare", s.Name, figure, a, b)
			}
		}
	}
}
