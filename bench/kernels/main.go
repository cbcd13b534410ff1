// Command kernels measures the dense and elementwise kernels of this machine
// and prints one line per kernel, size, instruction set and number of workers.
// Built with -tags openblas (and cgo, and OpenBLAS installed) it measures
// OpenBLAS in the same rounds.
//
// All contenders take turns, for several rounds; a short run is repeated and the last one counts,
// so that caches and threads are where it left them; see measure. The rate is the best per
// processor second, times the workers, so that other load on the machine disturbs it little; a
// problem too small to share runs on one worker whatever their number. Elapsed time is the median
// of the rounds and needs the machine free: the wall rate is by it, and the gain is that rate over
// the one of the same contender's first number of workers.
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
	"text/tabwriter"
	"time"

	"github.com/credence-ml/credence/internal/kernel"
)

// contender is one implementation of a kernel.
type contender struct {
	name    string
	threads int
	run     func()
	after   time.Duration // for which its threads go on waiting for work on the processors
}

// trial is one kernel at one size.
type trial struct {
	name       string
	work       float64 // operations, bytes or values of one run
	unit       string
	contenders []contender
	prepare    func() // before every run, outside its time; or nil
}

// peer is another library that has the same kernels; see openblas.go.
type peer interface {
	gemm(threads, n int, a, b, c []float64)
	gram(threads, n, d int, x, g []float64)
	cholesky(threads, n int, a []float64)
	name() string
}

func normal(n int) []float64 {
	r := rand.New(rand.NewPCG(1, 2))
	x := make([]float64, n)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	return x
}

func trials(threads []int, rows int, slow bool) []trial {
	var list []trial
	pools := func(f func(p *kernel.Pool)) []contender {
		var c []contender
		for isa := kernel.Detected(); isa >= kernel.PureGo; isa-- {
			if isa == kernel.PureGo && !slow {
				continue
			}
			for _, t := range threads {
				p := kernel.NewISA(t, isa)
				c = append(c, contender{name: isa.String(), threads: t, run: func() { f(p) }})
			}
		}
		return c
	}
	peers := func(f func(q peer, threads int)) []contender {
		var c []contender
		for _, q := range otherLibraries() {
			for _, t := range threads {
				after := time.Duration(0)
				if t > 1 {
					after = 100 * time.Millisecond
				}
				c = append(c, contender{q.name(), t, func() { f(q, t) }, after})
			}
		}
		return c
	}
	for _, n := range []int{100, 500, 1000, 2000} {
		a, b, c := normal(n*n), normal(n*n), make([]float64, n*n)
		list = append(list, trial{fmt.Sprintf("gemm n=%d", n), 2 * float64(n*n) * float64(n), "GF/s", append(
			pools(func(p *kernel.Pool) { p.Gemm(false, false, n, n, n, 1, a, n, b, n, 0, c, n) }),
			peers(func(q peer, t int) { q.gemm(t, n, a, b, c) })...), nil})
	}
	for _, d := range []int{500, 1000} {
		x, w, g := normal(rows*d), normal(rows), make([]float64, d*d)
		work := float64(rows) * float64(d*d)
		list = append(list, trial{fmt.Sprintf("gram %d x %d", rows, d), work, "GF/s", append(
			pools(func(p *kernel.Pool) { p.Gram(rows, d, x, d, nil, g, d) }),
			peers(func(q peer, t int) { q.gram(t, rows, d, x, g) })...), nil},
			trial{fmt.Sprintf("weighted gram %d x %d", rows, d), work, "GF/s",
				pools(func(p *kernel.Pool) { p.Gram(rows, d, x, d, w, g, d) }), nil})
	}
	for _, n := range []int{100, 300, 500, 600, 1000, 2000} {
		x, a, c := normal(n*n), make([]float64, n*n), make([]float64, n*n)
		kernel.New(0).Gram(n, n, x, n, nil, a, n)
		for i := range n {
			a[i*n+i] += float64(n)
		}
		cube := float64(n*n) * float64(n)
		list = append(list, trial{fmt.Sprintf("cholesky n=%d", n), cube / 3, "GF/s", append(
			pools(func(p *kernel.Pool) { p.Cholesky(n, c, n) }),
			peers(func(q peer, t int) { q.cholesky(t, n, c) })...), func() { copy(c, a) }})
		u := append([]float64(nil), a...)
		kernel.New(0).Cholesky(n, u, n)
		list = append(list,
			trial{fmt.Sprintf("inverse n=%d", n), 2 * cube / 3, "GF/s",
				pools(func(p *kernel.Pool) { p.CholeskyInverse(n, u, n, c, n) }), nil},
			trial{fmt.Sprintf("trsm left n=%d", n), cube, "GF/s",
				pools(func(p *kernel.Pool) { p.TrsmLeft(true, n, n, u, n, c, n) }), func() { copy(c, x) }},
			trial{fmt.Sprintf("trsm right n=%d", n), cube, "GF/s",
				pools(func(p *kernel.Pool) { p.TrsmRight(false, n, n, u, n, c, n) }), func() { copy(c, x) }})
	}
	m, n := 20_000, 500
	a, x, y := normal(m*n), normal(m), make([]float64, m)
	list = append(list,
		trial{"memory: sum of 80 MB", float64(8 * m * n), "GB/s", []contender{{name: "-", threads: 1, run: func() { y[0] = kernel.Sum(a) }}}, nil},
		trial{fmt.Sprintf("gemv %d x %d", m, n), float64(8 * m * n), "GB/s", pools(func(p *kernel.Pool) { p.Gemv(false, m, n, 1, a, n, x, 0, y) }), nil},
		trial{fmt.Sprintf("gemv transposed %d x %d", m, n), float64(8 * m * n), "GB/s", pools(func(p *kernel.Pool) { p.Gemv(true, m, n, 1, a, n, x, 0, y) }), nil})
	const values, turns = 4096, 64
	z := make([]float64, values)
	for _, f := range []struct {
		name string
		run  func(dst, x []float64)
	}{
		{"exp", kernel.Exp}, {"sin and cos", func(dst, x []float64) { kernel.SinCos(dst, z, x) }},
		{"logistic", kernel.Logistic}, {"log1p exp", kernel.Log1pExp},
		{"normal cdf", kernel.NormalCDF}, {"mills ratio", kernel.MillsRatio},
	} {
		list = append(list, trial{f.name, values * turns, "Gvalues/s", []contender{{name: kernel.Detected().String(), threads: 1, run: func() {
			for range turns {
				f.run(y[:values], x[:values])
			}
		}}}, nil})
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
	flag.Parse()
	var threads []int
	for _, s := range strings.Split(*workers, ",") {
		t, err := strconv.Atoi(s)
		if err != nil || t < 1 {
			fmt.Fprintf(os.Stderr, "kernels: -threads %q: want numbers separated by commas\n", *workers)
			os.Exit(2)
		}
		threads = append(threads, t)
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "kernel\tby\tworkers\trate\tunit\twall ms\twall rate\tgain")
	list := trials(threads, *rows, *slow)
	runtime.GC() // or the collector would take part of the first rounds
	for _, t := range list {
		if !strings.Contains(t.name, *only) {
			continue
		}
		processor := make([]time.Duration, len(t.contenders))
		wall := make([][]time.Duration, len(t.contenders))
		for r := range *rounds + 1 {
			for i, c := range t.contenders {
				used, elapsed := measure(t, c)
				time.Sleep(c.after)
				if r == 0 { // buffers grow
					continue
				}
				if r == 1 || used < processor[i] {
					processor[i] = used
				}
				wall[i] = append(wall[i], elapsed)
			}
		}
		var first float64
		for i, c := range t.contenders {
			rate := t.work / processor[i].Seconds() * float64(c.threads) / 1e9
			elapsed := median(wall[i]).Seconds()
			if i == 0 || c.name != t.contenders[i-1].name {
				first = elapsed
			}
			fmt.Fprintf(w, "%s\t%s\t%d\t%.2f\t%s\t%.3f\t%.2f\t%.2f\n",
				t.name, c.name, c.threads, rate, t.unit, elapsed*1e3, t.work/elapsed/1e9, first/elapsed)
		}
		w.Flush()
	}
}

// measure repeats a short run and returns processor and elapsed time of one: the last, or for
// several workers their mean processor time. (What the threads beside the caller have used is
// counted at ticks of the clock.)
func measure(t trial, c contender) (used, elapsed time.Duration) {
	var since, between time.Duration
	first, runs := processorTime(), 0
	for since < warm {
		start := time.Now()
		if t.prepare != nil {
			t.prepare()
			between += time.Since(start)
		}
		begin, before := time.Now(), processorTime()
		c.run()
		used, elapsed = processorTime()-before, time.Since(begin)
		since += elapsed
		runs++
	}
	if c.threads > 1 {
		used = (processorTime() - first - between) / time.Duration(runs)
	}
	return used, elapsed
}

func median(x []time.Duration) time.Duration {
	slices.Sort(x)
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}
