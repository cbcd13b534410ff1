package shards

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
)

// refused checks that an error says what is wanted.
func refused(t *testing.T, err error, want ...string) {
	t.Helper()
	for _, text := range want {
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("the error reads %v, want %q", err, text)
		}
	}
}

// part is a part of some files that was written to a file of the name.
func part(t *testing.T, job *Job, name string, files ...int) *Part {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must.Succeed(t, must.Value(job.Partial(ctx, files...))(t).Write(path))
	return must.Value(ReadPart(path))(t)
}

var plainOptions = fit.Options{Formula: "y ~ a + b + g"}

// TestMergeRefuses goes through what is wrong with parts; the job stays as it was, and the right parts end it.
func TestMergeRefuses(t *testing.T) {
	paths := write(t, 300, 200, 100)
	_, err := Read(filepath.Join(t.TempDir(), "gone"))
	refused(t, err, "gone", "make the file by credence job")
	_, err = ReadPart(filepath.Join(t.TempDir(), "gone"))
	refused(t, err, "gone", "make the file by credence partial")
	job := must.Value(New(ctx, paths, plainOptions, dataset.Options{}))(t)
	before := must.Value(job.question())(t)
	merge := func(parts ...*Part) error {
		_, _, err := job.Merge(ctx, parts...)
		return err
	}
	other := must.Value(New(ctx, paths, fit.Options{Formula: "y ~ a"}, dataset.Options{}))(t)
	refused(t, merge(part(t, other, "p0", 0, 1, 2)), "p0 is a part of job "+other.id[:12], "this is job "+job.id[:12])
	seeded := plainOptions
	seeded.Seed = 1
	refused(t, merge(part(t, must.Value(New(ctx, paths, seeded, dataset.Options{}))(t), "p0", 0, 1, 2)), "is a part of job")
	refused(t, merge(part(t, must.Value(New(ctx, paths[:2], plainOptions, dataset.Options{}))(t), "p0", 0, 1)), "is a part of job")
	refused(t, merge(part(t, job, "p0", 1)), "no part answers round 1 for files 0,2")
	if lacking := new(LackingError); !errors.As(merge(part(t, job, "p0", 2)), &lacking) || !slices.Equal(lacking.Files, []int{0, 1}) {
		t.Errorf("lacking are %v", lacking.Files)
	}
	refused(t, merge(nil), "a part is nil")
	damaged := part(t, job, "p1", 1)
	damaged.state.Answers[0].Counts.Kept++
	refused(t, merge(part(t, job, "p0", 0, 1, 2), damaged), "p0", "p1 answer otherwise for file 1", "f01.csv")
	damaged = part(t, job, "p1", 1)
	damaged.vectors["1.first"][0]++
	refused(t, merge(part(t, job, "p0", 0, 1, 2), damaged), "answer otherwise for file 1")
	if after := must.Value(job.question())(t); after != before {
		t.Error("a refused merge has changed the job")
	}
	must.Succeed(t, merge(part(t, job, "p0", 0, 1), part(t, job, "p1", 1, 2)))
	if !slices.Equal(job.Twice(), []int{1}) {
		t.Errorf("twice there are %v", job.Twice())
	}
	old := must.Value(New(ctx, paths, plainOptions, dataset.Options{}))(t)
	refused(t, merge(part(t, old, "p0", 0, 1, 2)), "p0 answers round 1 of the job, which asks round 2")
	_, err = job.Partial(ctx, 3)
	refused(t, err, "no file 3: it has files 0 to 2")
	refused(t, job.KeepRows(), "has begun")
}

// TestDamagedFiles: parts and jobs that were cut off or changed are refused by their digest, and named.
func TestDamagedFiles(t *testing.T) {
	job := must.Value(New(ctx, write(t, 60), plainOptions, dataset.Options{}))(t)
	folder := t.TempDir()
	jobPath, partPath := filepath.Join(folder, "j"), filepath.Join(folder, "p")
	must.Succeed(t, job.Write(jobPath))
	must.Succeed(t, must.Value(job.Partial(ctx, 0))(t).Write(partPath))
	for _, path := range []string{jobPath, partPath} {
		read := func() (err error) {
			if path == jobPath {
				_, err = Read(path)
			} else {
				_, err = ReadPart(path)
			}
			return err
		}
		text := must.Value(os.ReadFile(path))(t)
		for _, at := range []int{len(text) / 4, len(text) / 2, len(text) - 3} {
			changed := bytes.Clone(text)
			changed[at] ^= 1
			must.Succeed(t, os.WriteFile(path, changed, 0o644))
			refused(t, read(), path)
			must.Succeed(t, os.WriteFile(path, text[:at], 0o644))
			refused(t, read(), path)
		}
		must.Succeed(t, os.WriteFile(path, text, 0o644))
		must.Succeed(t, read())
	}
	_, err := ReadPart(jobPath)
	refused(t, err, `"job", not by part`)
	job.state.Version = "another"
	must.Succeed(t, job.Write(jobPath))
	_, err = Read(jobPath)
	refused(t, err, "version another of credence made the job")
}

// TestChangedFiles: a file is known by its size and beginning, and may have another place; what it holds must be what
// the job says.
func TestChangedFiles(t *testing.T) {
	paths := write(t, 300, 400)
	job := must.Value(New(ctx, paths, plainOptions, dataset.Options{}))(t)
	text := must.Value(os.ReadFile(paths[1]))(t)
	job.Folder = t.TempDir()
	must.Succeed(t, os.WriteFile(filepath.Join(job.Folder, "f01.csv"), text, 0o644))
	moved := part(t, job, "p", 1)
	_, err := job.Partial(ctx, 0)
	refused(t, err, "f00.csv")
	job.Folder = ""
	if _, _, err := job.Merge(ctx, part(t, job, "q", 0, 1), moved); err != nil {
		t.Errorf("a file at another place has another answer: %v", err)
	}
	change := func(from, to string, want ...string) {
		t.Helper()
		job := must.Value(New(ctx, paths, plainOptions, dataset.Options{}))(t)
		changed := bytes.Replace(text, []byte(from), []byte(to), 1)
		must.Succeed(t, os.WriteFile(paths[1], changed, 0o644))
		_, err := job.Partial(ctx, 1)
		refused(t, err, want...)
		must.Succeed(t, os.WriteFile(paths[1], text, 0o644))
	}
	change("\n1", "\n11", "f01.csv: has", "bytes, and had")
	change("a,b,g", "a,b,h", "f01.csv: begins otherwise")

	// A kind that a file contradicts behind what the job has looked at.
	paths = write(t, 10_500, 20)
	text = bytes.Replace(must.Value(os.ReadFile(paths[1]))(t), []byte("\n1"), []byte("\nlot,"), 1)
	text = bytes.Replace(text, []byte("lot,"), []byte("lots,3,l1,true,,k1,1,1,no\n1"), 1)
	must.Succeed(t, os.WriteFile(paths[1], text, 0o644))
	job = must.Value(New(ctx, paths, plainOptions, dataset.Options{}))(t)
	_, err = job.Partial(ctx, 1)
	refused(t, err, "f01.csv:", "lots", "--types")
}

// TestKilledAndSentTwice: of 64 files five are answered for anew after a kill that leaves no file, and five are sent
// twice: the bytes are the same.
func TestKilledAndSentTwice(t *testing.T) {
	rows := make([]int, 64)
	for k := range rows {
		rows[k] = 20 + k
	}
	paths := write(t, rows...)
	want := saved(t, whole(t, paths, plainOptions))
	job := must.Value(New(ctx, paths, plainOptions, dataset.Options{}))(t)
	killed, cancel := context.WithCancel(ctx)
	cancel()
	rng := rand.New(rand.NewPCG(9, 9))
	for round := range 2 {
		var parts []*Part
		for _, k := range rng.Perm(64) {
			if k%13 == 0 {
				if _, err := job.Partial(killed, k); !errors.Is(err, context.Canceled) {
					t.Fatalf("a killed partial ends with %v", err)
				}
			}
			p := must.Value(job.Partial(ctx, k))(t)
			if parts = append(parts, p); k%13 == 1 {
				parts = append(parts, must.Value(job.Partial(ctx, k))(t))
			}
		}
		lacking := new(LackingError)
		if _, _, err := job.Merge(ctx, parts[10:]...); !errors.As(err, &lacking) {
			t.Fatalf("merging some parts ends with %v", err)
		}
		fitted, more, err := job.Merge(ctx, parts...)
		must.Succeed(t, err)
		if !slices.Equal(job.Twice(), []int{1, 14, 27, 40, 53}) {
			t.Errorf("twice there are %v", job.Twice())
		}
		if more != (round == 0) || !more && !bytes.Equal(saved(t, fitted), want) {
			t.Errorf("round %d: more %v, or another model", round+1, more)
		}
	}
}

// TestJobRefuses: what has no sums over files is refused with what to use.
func TestJobRefuses(t *testing.T) {
	paths := write(t, 400, 300)
	for _, c := range []struct {
		options fit.Options
		want    string
		misuse  bool
	}{
		{fit.Options{Target: "y", Engine: "ftrl"}, "use --engine exact", true},
		{fit.Options{Target: "y", Engine: "sgd"}, "use --engine exact", true},
		{fit.Options{Target: "y", Engine: "convex"}, "use --engine exact", true},
		{fit.Options{Target: "y", Engine: "svi"}, "state 'svi(covariance=full)'", true},
		{fit.Options{Target: "y", Engine: "svi(batch=64)"}, "use --engine exact", true},
		{fit.Options{Target: "y", Engine: "laplace"}, "laplace needs all rows in one place", true},
		{fit.Options{Formula: "y ~ a + (1 | g)"}, "write onehot(g)", true},
		{fit.Options{Formula: "y ~ s(a)"}, "fit on one machine", true},
		{fit.Options{Formula: "y ~ radial(a)"}, "chosen by the data", true},
		{fit.Options{Formula: "y ~ nothing"}, "nothing", false},
		{fit.Options{Target: "y", Checkpoint: "c"}, "parts are what is kept", true},
	} {
		_, err := New(ctx, paths, c.options, dataset.Options{})
		refused(t, err, c.want)
		if errors.Is(err, fit.ErrMisuse) != c.misuse {
			t.Errorf("%+v: misuse is %v", c.options, !c.misuse)
		}
	}
	_, err := New(ctx, []string{"-"}, plainOptions, dataset.Options{})
	refused(t, err, "standard input")
	job := must.Value(New(ctx, write(t, 200, 312), plainOptions, dataset.Options{}))(t)
	_, _, err = job.Merge(ctx, must.Value(job.Partial(ctx, 0, 1))(t))
	refused(t, err, "have 512 rows in all", "join the files")
	// What the rows decide is refused before any file is summed up.
	many := "u,v,flag\n"
	for i := range 900 {
		many += fmt.Sprintf("u%d,v%d,%v\n", i%300, i*7%301, i%2 == 0)
	}
	must.Succeed(t, os.WriteFile(filepath.Join(filepath.Dir(paths[0]), "many.csv"), []byte(many), 0o644))
	for _, c := range []struct{ formula, engine, want string }{
		{"flag ~ u + v", "svi(covariance=full)", "one category of many levels"},
		{"flag ~ rbf(a, n=2500, lengthscale=1)", "svi(covariance=full)", "is for up to 2000 weights, and the model has 5001"},
		{"flag ~ rbf(a, n=1500, lengthscale=1)", "", "take more memory than they do"},
		{"flag ~ rbf(a, n=20)", "", "have hyper-parameters to learn"},
		{"y ~ rbf(a)", "", "have hyper-parameters to learn"},
		{"y ~ rbf(a, lengthscale=2)", "", "state it, as n=400"},
		{"y ~ hole", "", "missing values in hole"},
	} {
		of := paths
		if c.formula == "flag ~ u + v" {
			of = []string{filepath.Join(filepath.Dir(paths[0]), "many.csv")}
		}
		job := must.Value(New(ctx, of, fit.Options{Formula: c.formula, Engine: c.engine}, dataset.Options{}))(t)
		_, _, err := job.Merge(ctx, must.Value(job.Partial(ctx, split(len(of), 1)[0]...))(t))
		refused(t, err, c.want)
		if job.Round() != 1 {
			t.Errorf("%s: the job asks round %d", c.formula, job.Round())
		}
	}
}

// TestNoRows: without rows the weights are those of the fit but for the units of the target, and the criticism is left
// out and said.
func TestNoRows(t *testing.T) {
	paths := write(t, 300, 200, 100)
	job := must.Value(New(ctx, paths, plainOptions, dataset.Options{}))(t)
	must.Succeed(t, job.KeepRows())
	for {
		p := must.Value(job.Partial(ctx, 0, 1, 2))(t)
		for name := range p.vectors {
			if strings.Contains(name, "rows") || strings.Contains(name, "first") || strings.Contains(name, "beside") {
				t.Errorf("the part has %s", name)
			}
		}
		fitted, more, err := job.Merge(ctx, p)
		must.Succeed(t, err)
		if more {
			continue
		}
		want := whole(t, paths, plainOptions)
		d := want.Members[0].Model.Features.Weights()
		mean, variance, got, gotVariance := make([]float64, d), make([]float64, d), make([]float64, d), make([]float64, d)
		want.Members[0].Posterior.Marginals(mean, variance)
		fitted.Members[0].Posterior.Marginals(got, gotVariance)
		for k := range mean {
			if gap := (got[k] - mean[k]) * (got[k] - mean[k]) / variance[k]; gap > 1e-14 {
				t.Errorf("weight %d is %v, want %v", k, got[k], mean[k])
			}
		}
		if !slices.ContainsFunc(fitted.Report.Remarks, func(text string) bool { return strings.Contains(text, "no row was looked at") }) {
			t.Errorf("the remarks are %q", fitted.Report.Remarks)
		}
		return
	}
}

// TestParseFiles reads the numbers of files, and writes them.
func TestParseFiles(t *testing.T) {
	for text, want := range map[string][]int{"3": {3}, "0-2": {0, 1, 2}, "2/4": {2, 6}, "7,0-1": {0, 1, 7}, "0/1": {0, 1, 2, 3, 4, 5, 6, 7}, "9/64": nil} {
		files, err := ParseFiles(text, 8)
		if !slices.Equal(files, want) || (err != nil) != (want == nil && text != "9/64") {
			t.Errorf("%s is %v, %v", text, files, err)
		}
	}
	for _, text := range []string{"", "8", "-1", "3-1", "1-8", "x", "4/4", "1/0", "1,", "1-2-3"} {
		if files, err := ParseFiles(text, 8); !errors.Is(err, fit.ErrMisuse) {
			t.Errorf("%q is %v, %v", text, files, err)
		}
	}
	if got := Ranges([]int{0, 1, 2, 5, 7, 8}); got != "0-2,5,7-8" {
		t.Errorf("ranges are %s", got)
	}
}

// TestLock: one merge at a time, and a lock that is held names its process; one that was left holds nobody.
func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "job")
	unlock := must.Value(Lock(path))(t)
	_, err := Lock(path)
	refused(t, err, "job.lock: process", "remove the file")
	unlock()
	must.Succeed(t, os.WriteFile(path+".lock", []byte("17 on night, which has ended"), 0o644))
	must.Value(Lock(path))(t)()
	if _, err := os.Stat(path + ".lock"); err == nil {
		t.Error("a lock is left behind")
	}
}

// TestOtherEngine: a job of which the options were changed asks for an engine that its rounds had not, and is refused.
func TestOtherEngine(t *testing.T) {
	job := must.Value(New(ctx, write(t, 400, 300), fit.Options{Formula: "y ~ a + b", Engine: "svi(covariance=full)"}, dataset.Options{}))(t)
	for job.state.Inquiries == nil {
		if _, _, err := job.Merge(ctx, part(t, job, "p", 0, 1)); err != nil {
			t.Fatal(err)
		}
	}
	plain := must.Value(New(ctx, write(t, 400, 300), fit.Options{Formula: "y ~ a + b"}, dataset.Options{}))(t)
	job.fit = plain.fit
	_, err := job.Partial(ctx, 0)
	refused(t, err, "the job's options are damaged", "another engine")
}

// at is a copy of a job, changed.
func at(job *Job, change func(*Job)) *Job {
	c := *job
	c.state.Counts = slices.Clone(c.state.Counts)
	c.vectors = maps.Clone(c.vectors)
	change(&c)
	return &c
}

// firstOf gives a job first rows of so many columns.
func firstOf(columns int, values ...float64) func(*Job) {
	return func(j *Job) {
		if j.vectors == nil {
			j.vectors = map[string][]float64{}
		}
		j.state.First, j.vectors["first"] = &credence.Schema{Columns: make([]credence.Column, columns)}, values
	}
}

// TestJobsThatContradictThemselves: a job whose document has a right digest, and parts that do not fit together, is
// refused with what is wrong; it comes from elsewhere.
func TestJobsThatContradictThemselves(t *testing.T) {
	begun := must.Value(New(ctx, write(t, 300, 200), plainOptions, dataset.Options{}))(t)
	counted := must.Value(New(ctx, write(t, 300, 400), plainOptions, dataset.Options{}))(t)
	_, more, err := counted.Merge(ctx, part(t, counted, "p", 0, 1))
	if must.Succeed(t, err); !more {
		t.Fatal("the job asks nothing more")
	}
	path := filepath.Join(t.TempDir(), "job")
	if IsJob(path) {
		t.Error("no file is a job")
	}
	for _, c := range []struct {
		job    *Job
		change func(*Job)
		want   string
	}{
		{begun, func(*Job) {}, ""},
		{counted, func(*Job) {}, ""},
		{counted, func(j *Job) { j.state.Counts = j.state.Counts[:1] }, "it counts 1 files of 2"},
		{counted, func(j *Job) { f := *j.state.Frame; f.Target = nil; j.state.Frame = &f }, "its frame has no target"},
		{counted, func(j *Job) { j.state.Units = nil }, "its sums have no units"},
		{begun, func(j *Job) { j.state.Classes = []string{"a", "b", "c"} }, "its target has 3 classes"},
		{begun, func(j *Job) { j.state.Classes = []string{"a", "b"} }, ""},
		{begun, func(j *Job) { j.state.Round = -1 }, "its round is below 0"},
		{begun, func(j *Job) { j.state.Columns = []string{"a", ""} }, "a column has no name"},
		{counted, func(j *Job) { j.state.Counts[1].Kept = -1 }, "a file has fewer rows than are learned"},
		{counted, func(j *Job) { j.state.Counts[1].Kept = j.state.Counts[1].Source + 1 }, "a file has fewer rows than are learned"},
		{counted, func(j *Job) { j.state.Counts[1].Kept = 0 }, ""},
		{counted, firstOf(2, 1, 2, 3, 4), ""},
		{counted, firstOf(2, 1, 2, 3), "its first rows are no rows"},
		{counted, firstOf(2), "its first rows are no rows"},
		{counted, firstOf(0, 1, 2), "its first rows are no rows"},
	} {
		must.Succeed(t, at(c.job, c.change).Write(path))
		_, err := Read(path)
		if c.want == "" {
			must.Succeed(t, err)
		} else {
			refused(t, err, path+": its document is damaged: "+c.want, "make the job anew")
		}
		if !IsJob(path) {
			t.Error("a job is none")
		}
	}
	must.Succeed(t, os.WriteFile(path, []byte("a,b\n1,2\n"), 0o644))
	if IsJob(path) {
		t.Error("a table is a job")
	}
}

// TestPartsThatContradictTheirFiles: numbers of rows and rows that a part cannot have of its file are refused by the
// part and the file, in both rounds, and the job stays.
func TestPartsThatContradictTheirFiles(t *testing.T) {
	job := must.Value(New(ctx, write(t, 300, 700), plainOptions, dataset.Options{}))(t)
	check := func(want string, change func(p *Part)) {
		t.Helper()
		p := part(t, job, "part", 0, 1)
		change(p)
		before := job.Round()
		_, _, err := job.Merge(ctx, p)
		refused(t, err, want, "run credence partial again")
		if job.Round() != before {
			t.Errorf("the job asks round %d", job.Round())
		}
	}
	const counts, first, rows = "part: file 1: it has another number of rows than were counted", "part: file 1: its first rows are no rows of the file", "part: file 1: the rows that it carries are no rows of the file"
	check("part answers for file 2, and the job has 2", func(p *Part) { p.state.Answers[1].File = 2 })
	check("part answers for file -1, and the job has 2", func(p *Part) { p.state.Answers[1].File = -1 })
	check(counts, func(p *Part) { p.state.Answers[1].Counts.Kept = -1 })
	check(counts, func(p *Part) { p.state.Answers[1].Counts.Source = p.state.Answers[1].Counts.Kept - 1 })
	check(first, func(p *Part) { p.state.Answers[1].Schema.Columns = nil })
	check(first, func(p *Part) { p.vectors["1.first"] = p.vectors["1.first"][1:] })
	check("part: file 1: ", func(p *Part) { p.state.Answers[1].Census = []byte(`"none"`) })
	_, _, err := job.Merge(ctx, part(t, job, "part", 0, 1))
	must.Succeed(t, err)
	check(counts, func(p *Part) { p.state.Answers[1].Counts.Kept-- })
	for _, name := range []string{"places", "source", "rows"} {
		check(rows, func(p *Part) { p.vectors["1."+name] = p.vectors["1."+name][1:] })
	}
	for _, name := range []string{"places", "source"} {
		check(rows, func(p *Part) { p.vectors["1."+name][0] = p.vectors["1."+name][1] })
		check(rows, func(p *Part) { p.vectors["1."+name][0] = 299 })
		check(rows, func(p *Part) { v := p.vectors["1."+name]; v[len(v)-1] = 1000 })
	}
	check("rows that parts carry have other columns in another part", func(p *Part) { p.vectors["1.beside"] = p.vectors["1.beside"][1:] })
	check("part: file 0: ", func(p *Part) { p.state.Answers[0].Sums = []byte(`"none"`) })
	_, more, err := job.Merge(ctx, part(t, job, "part", 0, 1))
	if must.Succeed(t, err); more {
		t.Error("there is more")
	}
}

// TestPipesAreNoFiles: each round reads anew, which neither a folder nor a pipe can be; a pipe is refused before
// anything waits for its writer.
func TestPipesAreNoFiles(t *testing.T) {
	job := must.Value(New(ctx, write(t, 100), plainOptions, dataset.Options{}))(t)
	job.Folder = t.TempDir()
	path := filepath.Join(job.Folder, "f00.csv")
	must.Succeed(t, os.Mkdir(path, 0o755))
	_, err := job.Partial(ctx, 0)
	refused(t, err, path+": is a folder, and each round reads a file anew: give files")
	must.Succeed(t, os.Remove(path))
	if err := exec.Command("mkfifo", path).Run(); err != nil {
		t.Skip("there are no pipes here: ", err)
	}
	_, err = job.Partial(ctx, 0)
	refused(t, err, path+": is a pipe, and each round reads a file anew: give files")
}

// TestLinksAreFiles: a file may be a link to another.
func TestLinksAreFiles(t *testing.T) {
	paths := write(t, 100)
	link := filepath.Join(t.TempDir(), "link.csv")
	must.Succeed(t, os.Symlink(paths[0], link))
	job := must.Value(New(ctx, []string{link}, plainOptions, dataset.Options{}))(t)
	if got := job.Files()[0]; got.Path != link || got.Size != must.Value(os.Stat(paths[0]))(t).Size() {
		t.Errorf("the file is %+v", got)
	}
}

// TestRowsAreNamedByTheirFiles: a row that the model cannot take is told by its file and line while files are counted.
func TestRowsAreNamedByTheirFiles(t *testing.T) {
	paths := write(t, 20, 300)
	text := string(must.Value(os.ReadFile(paths[1]))(t))
	lines := strings.Split(text, "\n")
	lines[7] = "0," + strings.SplitN(lines[7], ",", 2)[1]
	must.Succeed(t, os.WriteFile(paths[1], []byte(strings.Join(lines, "\n")), 0o644))
	job := must.Value(New(ctx, paths, fit.Options{Formula: "y ~ log(square(a))"}, dataset.Options{}))(t)
	must.Value(job.Partial(ctx, 0))(t)
	_, err := job.Partial(ctx, 1)
	refused(t, err, paths[1]+":8: log(square(a)): square(a) is 0, and log needs a number above 0")
}
