package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/modelfile"
	"github.com/credence-ml/credence/shards"
)

// as says as what the binary of the tests runs: as credence-beam, or as the server of Prism, at a port.
const as = "CREDENCE_BEAM_TEST"

func TestMain(m *testing.M) {
	filesystem.Register("hang", func(context.Context) filesystem.Interface { return hanging{} })
	switch role := os.Getenv(as); role {
	case "":
		os.Exit(m.Run())
	case "command":
		main()
	default:
		port, _ := strconv.Atoi(role)
		if _, err := prism.CreateJobServer(context.Background(), prism.Options{Port: port}); err != nil {
			panic(err)
		}
		select {}
	}
}

// hanging are files whose reading ends never, and hears of no context.
type hanging struct{ filesystem.Interface }

func (hanging) OpenRead(context.Context, string) (io.ReadCloser, error) { select {} }
func (hanging) Close() error                                            { return nil }

// must returns a value without an error.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// files writes 8 tables, one of them without rows, with a category whose levels come up file by file.
func files(t *testing.T) (paths []string) {
	folder, rng := t.TempDir(), rand.New(rand.NewPCG(3, 1))
	for k := range 8 {
		text := "a,b,g,y,click\n"
		for range []int{700, 0, 90, 5000, 12, 513, 1024, 1}[k] {
			a, b, g := 10+3*rng.NormFloat64(), rng.NormFloat64(), rng.IntN(2+k)
			y := 1 + a - 2*b + .5*float64(g) + rng.NormFloat64()
			text += fmt.Sprintf("%.6g,%.6g,l%d,%.6g,%v\n", a, b, g, y, y > 11+rng.NormFloat64())
		}
		paths = append(paths, filepath.Join(folder, fmt.Sprintf("f%d.csv", k)))
		if err := os.WriteFile(paths[k], []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return paths
}

// whole is the model file of the fit on one machine.
func whole(t *testing.T, paths []string, options fit.Options) []byte {
	ctx := context.Background()
	job := must(fit.New(options))(t)
	table := must(dataset.Open(ctx, paths, dataset.Options{}))(t)
	defer table.Close()
	prepared := must(job.Prepare(ctx, must(table.Load(ctx, must(job.Columns(table.Schema()))(t)))(t)))(t)
	prepared.Beside(must(table.Load(ctx, must(job.Outside(table.Schema()))(t)))(t))
	return saved(t, must(prepared.Fit(ctx))(t))
}

func saved(t *testing.T, fitted *credence.Fitted) []byte {
	path := filepath.Join(t.TempDir(), "m")
	if err := modelfile.Save(path, fitted); err != nil {
		t.Fatal(err)
	}
	return must(os.ReadFile(path))(t)
}

// trial is a folder with a job, in which credence-beam runs.
type trial struct {
	*testing.T
	folder string
	job    []byte
}

func begin(t *testing.T, job *shards.Job) *trial {
	tr := &trial{T: t, folder: t.TempDir()}
	if err := job.Write(tr.in("job")); err != nil {
		t.Fatal(err)
	}
	tr.job = must(os.ReadFile(tr.in("job")))(t)
	return tr
}

func (t *trial) in(name string) string { return filepath.Join(t.folder, name) }

// command is credence-beam, whose temporary files are in a folder of their own.
func (t *trial) command(flags ...string) *exec.Cmd {
	if err := os.MkdirAll(t.in("tmp"), 0o755); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(os.Args[0], append([]string{t.in("job"), "-o", t.in("model")}, flags...)...)
	c.Env = append(os.Environ(), as+"=command", "TMPDIR="+t.in("tmp"), "HOME="+t.folder)
	return c
}

// succeeds runs to the end, and compares the model with what it should be.
func (t *trial) succeeds(want []byte, flags ...string) {
	t.Helper()
	if out, err := t.command(flags...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v: %s", flags, err, out)
	}
	if !bytes.Equal(must(os.ReadFile(t.in("model")))(t), want) {
		t.Errorf("%v: the model is another", flags)
	}
	t.tidy()
}

// fails runs to an error that says what it should, leaves the job as it was, and no model.
func (t *trial) fails(say string, within time.Duration, flags ...string) {
	t.Helper()
	start := time.Now()
	out, err := t.command(flags...).CombinedOutput()
	if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 1 || !strings.Contains(string(out), say) {
		t.Errorf("%v: %v: %s, want %q", flags, err, out, say)
	}
	if took := time.Since(start); took > within {
		t.Errorf("%v: the error came after %v", flags, took)
	}
	t.asBefore()
}

func (t *trial) asBefore() {
	t.Helper()
	if !bytes.Equal(must(os.ReadFile(t.in("job")))(t), t.job) {
		t.Error("the job is another")
	}
	if _, err := os.Stat(t.in("model")); err == nil {
		t.Error("there is a model")
	}
	t.tidy()
}

// tidy finds nothing left behind.
func (t *trial) tidy() {
	t.Helper()
	left, _ := filepath.Glob(t.in("tmp/*"))
	shared, _ := filepath.Glob(t.in("shared/*"))
	locks, _ := filepath.Glob(t.in("*.lock"))
	if left = append(append(left, shared...), locks...); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}

var exactOptions = fit.Options{Formula: "y ~ center(a):g + b", Family: "gaussian"}

func exactJob(t *testing.T, paths []string) *shards.Job {
	return must(shards.New(context.Background(), paths, exactOptions, dataset.Options{}))(t)
}

// TestEmbedded: 8 files give the bytes of fit on the runners within the process, three rounds of them; the rounds of
// svi and learners of files give those of their merge, the latter with the checkpoint.
func TestEmbedded(t *testing.T) {
	paths := files(t)
	want := whole(t, paths, exactOptions)
	for _, flags := range [][]string{nil, {"--runner", "direct", "--data", filepath.Dir(paths[0])}} {
		begin(t, exactJob(t, paths)).succeeds(want, flags...)
	}
	newton := must(shards.New(context.Background(), paths, fit.Options{Formula: "click ~ a + b + g", Engine: "svi(covariance=full)"}, dataset.Options{}))(t)
	tr, fitted, rounds := begin(t, newton), (*credence.Fitted)(nil), 0
	for more := true; more; rounds++ {
		part := must(newton.Partial(context.Background(), 0, 1, 2, 3, 4, 5, 6, 7))(t)
		var err error
		if fitted, more, err = newton.Merge(context.Background(), part); err != nil {
			t.Fatal(err)
		}
	}
	if tr.succeeds(saved(t, fitted)); rounds < 2 {
		t.Errorf("svi took %d rounds", rounds)
	}
	online := must(shards.NewOnline(context.Background(), paths[3:4], fit.Options{Formula: "click ~ g + b"}, dataset.Options{}))(t)
	part := must(online.Partial(context.Background(), 0))(t)
	fitted, _, err := online.Merge(context.Background(), part)
	tr = begin(t, online)
	tr.succeeds(saved(t, must(fitted, err)(t)), "--results", tr.in("shared"))
	if err := online.Checkpoint(tr.in("checkpoint")); err != nil || !bytes.Equal(must(os.ReadFile(tr.in("checkpoint")))(t), must(os.ReadFile(tr.in("model.checkpoint")))(t)) {
		t.Errorf("the checkpoint is another: %v", err)
	}
}

// TestRefuses: what cannot be run is one line, and a file that has changed fails the run at once.
func TestRefuses(t *testing.T) {
	paths := files(t)
	tr := begin(t, exactJob(t, paths))
	for say, args := range map[string][]string{
		"-o is needed":         {tr.in("job")},
		"there are 0 jobs":     {"-o", tr.in("model")},
		"there are 2 jobs":     {tr.in("job"), "-o", tr.in("model"), tr.in("other")},
		"-nonsense":            {tr.in("job"), "-o", tr.in("model"), "-nonsense"},
		"would be overwritten": {tr.in("job"), "-o", tr.in("job")},
		"give --deadline":      {tr.in("job"), "-o", tr.in("model"), "--deadline", "0s"},
		"leave --async out":    {tr.in("job"), "-o", tr.in("model"), "--async"},
	} {
		c := tr.command()
		c.Args = append(c.Args[:1], args...)
		out, err := c.CombinedOutput()
		if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 2 || !strings.Contains(string(out), say) {
			t.Errorf("%v: %v: %s, want %q", args, err, out, say)
		}
	}
	tr.fails("no such file", time.Minute, "--data", t.TempDir())
	unlock := must(shards.Lock(tr.in("job")))(t)
	c := tr.command()
	if out, err := c.CombinedOutput(); err == nil || !strings.Contains(string(out), "wait for that") {
		t.Errorf("a job that is locked ends with %v: %s", err, out)
	}
	unlock()
	tr.asBefore()
	sql := must(shards.NewSQL("duckdb", "t", nil, fit.Options{Formula: "y ~ a"}))(t)
	begin(t, sql).fails("asks a database", time.Minute)
}

// TestHanging: a worker that hangs is an error by the deadline, in the process of the driver too; the next run ends.
func TestHanging(t *testing.T) {
	paths := files(t)
	tr := begin(t, exactJob(t, paths))
	for _, runner := range []string{"prism", "direct"} {
		tr.fails("has not answered within 3s", 20*time.Second, "--runner", runner, "--data", "hang://x", "--deadline", "3s")
	}
	tr.succeeds(whole(t, paths, exactOptions))
}

// server starts Prism, and returns the flags that have it start processes as workers.
func server(t *testing.T) (*exec.Cmd, []string) {
	listener := must(net.Listen("tcp", "localhost:0"))(t)
	port := listener.Addr().(*net.TCPAddr).Port
	listener.Close()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), fmt.Sprintf("%s=%d", as, port), "TMPDIR="+t.TempDir())
	if testing.Verbose() {
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	for range 100 {
		if conn, err := net.Dial("tcp", fmt.Sprintf("localhost:%d", port)); err == nil {
			conn.Close()
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	return c, []string{"--endpoint", fmt.Sprintf("localhost:%d", port), "--environment_type", "PROCESS", "--worker_binary", "/bin/true",
		"--environment_config", fmt.Sprintf(`{"command":%q,"env":{%q:"command"}}`, os.Args[0], as)}
}

// workers are the processes, of those of this binary, that are workers of the endpoint.
func workers(t *testing.T) (all []*os.Process) {
	names, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range names {
		if text, err := os.ReadFile(name); err == nil && bytes.HasPrefix(text, []byte(os.Args[0]+"\x00--id=")) {
			pid := must(strconv.Atoi(strings.Split(name, "/")[2]))(t)
			all = append(all, must(os.FindProcess(pid))(t))
		}
	}
	return all
}

// TestWorkers: processes that a server of Prism starts give the bytes of fit; where one is killed, or hangs, there is
// an error by the deadline, no worker stays, and the next run ends.
func TestWorkers(t *testing.T) {
	if _, err := os.Stat("/proc/self/cmdline"); err != nil {
		t.Skip("processes are counted in /proc")
	}
	paths := files(t)
	want := whole(t, paths, exactOptions)
	gone := func(when string) {
		t.Helper()
		for range 150 {
			if len(workers(t)) == 0 {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
		t.Errorf("%s: %d workers stay", when, len(workers(t)))
	}
	_, flags := server(t)
	begin(t, exactJob(t, paths)).succeeds(want, flags...)
	gone("after a run")

	tr := begin(t, exactJob(t, paths))
	tr.fails("has not answered within 4s", 30*time.Second, append(flags, "--data", "hang://x", "--deadline", "4s")...)
	gone("after a worker that hung")

	_, flags = server(t) // the one before may have died of it
	killed := make(chan int)
	go func() {
		count := 0
		for range 300 {
			for _, w := range workers(t) {
				time.Sleep(2 * time.Second) // it is at work: killed before, it has Prism wait for ever
				w.Kill()
				count++
			}
			if count > 0 {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		killed <- count
	}()
	tr.fails("round 1: ", 30*time.Second, append(flags, "--data", "hang://x", "--deadline", "20s")...)
	if <-killed == 0 {
		t.Error("no worker was killed")
	}
	gone("after a kill")

	prism, flags := server(t)
	go func() {
		for range 300 {
			if len(workers(t)) > 0 {
				time.Sleep(time.Second)
				prism.Process.Kill()
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
	}()
	tr.fails("round 1: ", 70*time.Second, append(flags, "--data", "hang://x", "--deadline", "1m")...)
	gone("after the server was killed")

	_, flags = server(t)
	tr.succeeds(want, flags...)
	gone("after the next run")
}
