package shards

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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
