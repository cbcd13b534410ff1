// Command credence-beam answers and merges a job of files that lie apart on an Apache Beam runner:
//
//	credence job data/*.csv --target y -o y.job
//	credence-beam y.job -o y.safetensors --runner prism
//
// An element is the number of a file; a function, on any worker, answers for it what the job asks, as the command
// partial does; a combiner gathers the names of the answers; and this process, the driver, merges these. A round is a
// pipeline. The model has the bytes of that of credence merge.
package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/task"
	"github.com/credence-ml/credence/modelfile"
	"github.com/credence-ml/credence/shards"
	"github.com/credence-ml/credence/stream"
)

// driver is what the command line says.
type driver struct {
	output, data, results string
	deadline              time.Duration
}

// run asks until there is a model, and writes it.
func (d *driver) run(ctx context.Context, path string) error {
	unlock, err := shards.Lock(path)
	if err != nil {
		return err
	}
	defer unlock()
	job, err := shards.Read(path)
	if err != nil {
		return err
	}
	here, err := os.MkdirTemp("", "credence-beam-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(here)
	os.Setenv("TMPDIR", here) // runners leave files behind
	var fitted *credence.Fitted
	for more := true; more; {
		start := time.Now()
		parts, err := d.ask(ctx, job, path, here)
		if err != nil {
			return fmt.Errorf("round %d: %w", job.Round(), err)
		}
		fmt.Printf("round %d: %d files answered in %.1f s\n", job.Round(), len(parts), time.Since(start).Seconds())
		if fitted, more, err = job.Merge(ctx, parts...); err == nil && more {
			err = job.Write(path)
		}
		if err != nil {
			return err
		}
	}
	if err := modelfile.Save(d.output, fitted); err != nil || !job.Online() {
		return err
	}
	return job.Checkpoint(stream.Checkpoint(d.output))
}

// ask runs one pipeline, and reads what it answers for all files into a folder of this machine.
func (d *driver) ask(ctx context.Context, job *shards.Job, path, here string) (parts []*shards.Part, err error) {
	r := round{Data: strings.TrimSuffix(d.data, "/"), Results: strings.TrimSuffix(cmp.Or(d.results, filepath.ToSlash(here)), "/") + "/" + rand.Text(), Deadline: time.Now().Add(d.deadline)}
	if r.Job, err = os.ReadFile(path); err != nil {
		return nil, err
	}
	defer remove(context.WithoutCancel(ctx), r.Results)
	ctx, cancel := context.WithCancel(ctx) // at a deadline that it knew Prism would panic
	defer cancel()
	numbers, _ := shards.ParseFiles("0/1", len(job.Files())) // all
	p, s := beam.NewPipelineWithRoot()
	told := beam.SideInput{Input: beam.Create(s, r)}
	answers := beam.ParDo(s, answer, beam.Reshuffle(s, beam.CreateList(s, numbers)), told)
	beam.ParDo0(s, keep, beam.Combine(s, &gather{}, answers), told)
	run := task.Go(func() error { return beamx.Run(ctx, p) }) // which need not come back
	select {
	case <-run.Done():
		err = run.Wait()
	case <-ctx.Done():
		err = ctx.Err()
	case <-time.After(d.deadline):
		err = fmt.Errorf("the runner has not answered within %v: its log tells of workers that hang or do not start; --deadline gives it longer", d.deadline)
	}
	if err != nil {
		return nil, err
	}
	at := filepath.Join(here, "names")
	if err := transfer(ctx, r.Results+"/names", at); err != nil {
		return nil, fmt.Errorf("the pipeline has ended, and its results are not there: give driver and workers one folder by --results: %w", err)
	}
	names, err := os.ReadFile(at)
	for i, name := range strings.Split(string(names), "\n") {
		var part *shards.Part
		at := filepath.Join(here, fmt.Sprint("part-", i)) // where learners wait for the merge
		if err == nil {
			err = transfer(ctx, name, at)
		}
		if err == nil {
			part, err = shards.ReadPart(at)
		}
		parts = append(parts, part)
	}
	return parts, err
}

// remove removes a folder of results, as far as it can be.
func remove(ctx context.Context, folder string) {
	if files, err := filesystem.New(ctx, folder); err == nil {
		names, _ := files.List(ctx, folder+"/*")
		if remover, can := files.(filesystem.Remover); can {
			for _, name := range append(names, folder) { // a bucket has no folders
				remover.Remove(ctx, name)
			}
		}
		files.Close()
	}
}

// start reads the command line. As a worker it does not return.
func start(args []string) (d driver, job string, err error) {
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") { // JOB comes first, and flags end where others begin
		args = append(slices.Clone(args[1:]), args[0])
	}
	if len(args) == 2 && strings.HasPrefix(args[1], "--provision_endpoint=") { // Prism, quoting for a shell
		_, name, _ := strings.Cut(args[0], "=")
		_, at, _ := strings.Cut(args[1], "=")
		args = []string{"--worker", "--id=" + strings.Trim(name, "'"), "--logging_endpoint=" + at, "--control_endpoint=" + at}
	}
	flag.StringVar(&d.output, "o", "", "model file to write (needed)")
	flag.StringVar(&d.data, "data", "", "folder where workers find the files, by the same names (default: the job's paths)")
	flag.StringVar(&d.results, "results", "", "folder that driver and workers share (default: a temporary one of this machine)")
	flag.DurationVar(&d.deadline, "deadline", 5*time.Minute, "most that a round may take")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "credence-beam JOB -o MODEL [--runner RUNNER] [--data DIR] [--results DIR] [--deadline 5m], where credence job wrote JOB. Flags, most of them of Apache Beam:")
		flag.PrintDefaults()
	}
	flag.CommandLine.Parse(args)
	log.SetupLogging("error", "text")
	beam.Init()
	drives = true
	switch {
	case flag.NArg() != 1:
		err = fmt.Errorf("there are %d jobs: name one", flag.NArg())
	case d.output == "":
		err = errors.New("-o is needed: name the model file to be written")
	case filepath.Clean(d.output) == filepath.Clean(flag.Arg(0)):
		err = fmt.Errorf("-o %s is the job, and would be overwritten: name another file", d.output)
	case *jobopts.Async || d.deadline <= 0:
		err = errors.New("this process waits for the answers: give --deadline some time, and leave --async out")
	}
	return d, flag.Arg(0), err
}

// round is what a worker is told.
type round struct {
	Job      []byte // its file
	Data     string
	Results  string // folder of this round alone
	Deadline time.Time
}

// drives says that this process is the driver, within which some runners have their workers.
var drives bool

func init() {
	register.Function4x1(answer)
	register.Function3x1(keep)
	register.Combiner2[[]string, string](&gather{})
	register.Emitter1[string]()
}

// answer answers for a file, and emits the name of the answer. A runner may try it again: an answer is read where its
// name came through, and has the same bytes.
func answer(ctx context.Context, file int, r round, emit func(string)) error {
	ctx, cancel := context.WithDeadline(ctx, r.Deadline)
	defer cancel()
	task.Go(func() error { // what hangs in the kernel hears of no context
		if <-ctx.Done(); ctx.Err() == context.DeadlineExceeded && !drives {
			time.Sleep(5 * time.Second) // the driver tells of it first
			os.Exit(1)
		}
		return nil
	})
	folder, err := os.MkdirTemp("", "credence-beam-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	at := filepath.Join(folder, "job")
	if err := os.WriteFile(at, r.Job, 0o600); err != nil {
		return err
	}
	job, err := shards.Read(at)
	if err != nil {
		return err
	}
	if job.Folder = r.Data; strings.Contains(r.Data, "://") {
		job.Folder, job.Cache.CacheDir = folder, folder
		name := filepath.Base(job.Files()[file].Path)
		if err := transfer(ctx, r.Data+"/"+name, filepath.Join(folder, name)); err != nil {
			return err
		}
	}
	part, err := job.Partial(ctx, file)
	if err == nil {
		err = part.Write(at)
	}
	name := fmt.Sprintf("%s/part-%d-%s", r.Results, file, rand.Text())
	if err == nil {
		err = transfer(ctx, at, name)
	}
	if err == nil {
		emit(name)
	}
	return err
}

// gather keeps names together, in any order: sums are added by the driver, in the order of files.
type gather struct{}

func (*gather) AddInput(all []string, name string) []string { return append(all, name) }
func (*gather) MergeAccumulators(a, b []string) []string    { return append(a, b...) }

// keep writes the names where the driver looks: results do not come back to it by themselves.
func keep(ctx context.Context, names []string, r round) error {
	files, err := filesystem.New(ctx, r.Results)
	if err != nil {
		return err
	}
	defer files.Close()
	return filesystem.Write(ctx, files, r.Results+"/names", []byte(strings.Join(names, "\n")))
}

// transfer copies a file; one of the two may be in a bucket.
func transfer(ctx context.Context, from, to string) error {
	source, err := filesystem.New(ctx, from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := filesystem.New(ctx, to)
	if err != nil {
		return err
	}
	defer target.Close()
	in, err := source.OpenRead(ctx, from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := target.OpenWrite(ctx, to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	d, job, err := start(os.Args[1:])
	code := 2
	if err == nil {
		code, err = 1, d.run(ctx, job)
	}
	if ctx.Err() != nil {
		code = 130
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "credence-beam: %v\n", err)
		os.Exit(code)
	}
}
