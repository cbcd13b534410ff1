// Command kernels measures matrix products, Gram matrices and Cholesky factors on
// this machine, in every instruction set and for several numbers of workers. Built with
// -tags openblas (and cgo, and OpenBLAS installed) it measures OpenBLAS in the same
// rounds. Other kernels have benchmarks in internal/kernel.
//
// All contenders take turns, for several rounds; a short run is repeated and the last one counts,
// so that caches and threads are where it left them. Time is elapsed time, the median of the rounds,
// and needs the machine free; the gain is that of the same contender's first number of workers over it. With -cpu it is
// processor time, the least of the rounds, of one worker: what else the machine does only adds to it.
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/credence-ml/credence/internal/kernel"
)

// implementation has the kernels that are compared.
type implementation interface {
	name() string
	gemm(n int, a, b, c []float64)
	gram(n, d int, x, weight, g []float64) bool // false if the implementation has no weights
	cholesky(n int, a []float64)
}

// others returns other libraries for a number of workers; see openblas.go.
var others = func(threads int) []implementation { return nil }

// ours is this machine's kernels in one instruction set.
type ours struct {
	*kernel.Pool
	isa kernel.ISA
}

func (o ours) name() string                  { return o.isa.String() }
func (o ours) gemm(n int, a, b, c []float64) { o.Gemm(false, false, n, n, n, 1, a, n, b, n, 0, c, n) }
func (o ours) cholesky(n int, a []float64)   { o.Cholesky(n, a, n) }
func (o ours) gram(n, d int, x, weight, g []float64) bool {
	o.Gram(n, d, x, d, weight, g, d)
	return true
}

// contender is an implementation with a number of workers.
type contender struct {
	implementation
	threads int
	after   time.Duration // for which its threads go on waiting for work on the processors
}

// trial is one kernel at one size.
type trial struct {
	name    string
	work    float64 // operations of one run
	run     func(l implementation) bool
	prepare func() // before every run, outside its time; or nil
}

func normal(n int) []float64 {
	r := rand.New(rand.NewPCG(1, 2))
	x := make([]float64, n)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	return x
}

func trials(rows int) []trial {
	var list []trial
	for _, n := range []int{100, 500, 1000, 2000} {
		a, b, c := normal(n*n), normal(n*n), make([]float64, n*n)
		list = append(list, trial{fmt.Sprintf("gemm n=%d", n), 2 * float64(n*n) * float64(n), func(l implementation) bool { l.gemm(n, a, b, c); return true }, nil})
	}
	for _, d := range []int{500, 1000} {
		x, w, g := normal(rows*d), normal(rows), make([]float64, d*d)
		work := float64(rows) * float64(d*d)
		list = append(list, trial{fmt.Sprintf("gram %d x %d", rows, d), work, func(l implementation) bool { return l.gram(rows, d, x, nil, g) }, nil},
			trial{fmt.Sprintf("weighted gram %d x %d", rows, d), work, func(l implementation) bool { return l.gram(rows, d, x, w, g) }, nil})
	}
	for _, n := range []int{100, 300, 500, 600, 1000, 2000} {
		x, a, c := normal(n*n), make([]float64, n*n), make([]float64, n*n)
		kernel.New(0).Gram(n, n, x, n, nil, a, n)
		for i := range n {
			a[i*n+i] += float64(n)
		}
		list = append(list, trial{fmt.Sprintf("cholesky n=%d", n), float64(n*n) * float64(n) / 3, func(l implementation) bool { l.cholesky(n, c); return true }, func() { copy(c, a) }})
	}
	return list
}

// warm is how long a short run is repeated.
const warm = 50 * time.Millisecond

func main() {
	rounds := flag.Int("rounds", 5, "rounds")
	only := flag.String("only", "", "measure kernels whose name contains this")
	rows := flag.Int("rows", 100_000, "rows of the tall matrices")
	slow := flag.Bool("go", false, "also measure the plain Go kernels")
	workers := flag.String("threads", "1,2", "numbers of workers")
	flag.BoolVar(&processor, "cpu", false, "measure processor time of one worker, the least of the rounds")
	flag.Parse()
	if processor {
		*workers = "1"
	}
	var contenders []contender
	for isa := kernel.Detected(); isa >= kernel.PureGo; isa-- {
		for _, s := range strings.Split(*workers, ",") {
			t, err := strconv.Atoi(s)
			if err != nil || t < 1 {
				fmt.Fprintf(os.Stderr, "kernels: -threads %q: want numbers separated by commas\n", *workers)
				os.Exit(2)
			}
			if isa > kernel.PureGo || *slow {
				contenders = append(contenders, contender{ours{kernel.NewISA(t, isa), isa}, t, 0})
			}
			if isa == kernel.PureGo {
				for _, l := range others(t) {
					contenders = append(contenders, contender{l, t, 100 * time.Millisecond})
				}
			}
		}
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "kernel\tby\tworkers\tGF/s\twall ms\tgain")
	list := trials(*rows)
	runtime.GC() // or the collector would take part of the first rounds
	for _, t := range list {
		if strings.Contains(t.name, *only) {
			t.measure(w, contenders, *rounds)
			w.Flush()
		}
	}
}

// measure prints a trial's line of every contender.
func (t *trial) measure(w *tabwriter.Writer, contenders []contender, rounds int) {
	wall := make([][]time.Duration, len(contenders))
	for r := range rounds + 1 {
		for i, c := range contenders {
			elapsed, ok := t.once(c)
			if !ok {
				continue
			}
			if c.threads > 1 {
				time.Sleep(c.after)
			}
			if r > 0 { // buffers grow in the first
				wall[i] = append(wall[i], elapsed)
			}
		}
	}
	var first float64
	for i, c := range contenders {
		if len(wall[i]) == 0 {
			continue
		}
		slices.Sort(wall[i])
		elapsed := wall[i][len(wall[i])/2].Seconds()
		if processor {
			elapsed = wall[i][0].Seconds()
		}
		if i == 0 || c.name() != contenders[i-1].name() {
			first = elapsed
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%.2f\t%.3f\t%.2f\n", t.name, c.name(), c.threads, t.work/elapsed/1e9, elapsed*1e3, first/elapsed)
	}
}

// once repeats a short run and returns the time of the last.
func (t *trial) once(c contender) (elapsed time.Duration, ok bool) {
	since, runs := time.Duration(0), 0
	for ; since < warm; since += elapsed {
		runs++
		if t.prepare != nil {
			t.prepare()
		}
		begin := now()
		if !t.run(c.implementation) {
			return 0, false
		}
		elapsed = now() - begin
	}
	if processor { // whose clock tells microseconds
		elapsed = since / time.Duration(runs)
	}
	return elapsed, true
}

// processor says that time is that of the processors.
var processor bool

// start is when the program began.
var start = time.Now()

// now is the time since then, or the processor time of the process.
func now() time.Duration {
	if !processor {
		return time.Since(start)
	}
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
