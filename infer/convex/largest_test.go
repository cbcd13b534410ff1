package convex

import (
	"context"
	"math"
	"os"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/internal/study"
	"github.com/credence-ml/credence/linop"
)

// zipfRows is a design of ones: rows of distinct columns, the column of rank r with a weight of 1/(r + 10), and as many
// entries in all as are asked for.
func zipfRows(pool *kernel.Pool, rows, cols, entries int) credence.Design {
	a := linop.CSR{Rows: rows, Cols: cols, Start: make([]int, rows+1), Index: make([]int32, entries)}
	for i := range rows {
		a.Start[i+1] = (i + 1) * entries / rows
	}
	cumulative, total := make([]float64, cols), 0.0
	for r := range cumulative {
		total += 1 / float64(r+10)
		cumulative[r] = total
	}
	const block = 4096
	pool.Run((rows+block-1)/block, func(b, _ int) {
		rng := credence.Rand(1, "zipf", uint64(b))
		seen := make([]int32, cols) // row + 1 that has the column
		for i := b * block; i < min(rows, (b+1)*block); i++ {
			columns := a.Index[a.Start[i]:a.Start[i+1]]
			for k := 0; k < len(columns); {
				j := sort.SearchFloat64s(cumulative, total*rng.Float64())
				if seen[j] != int32(i+1) {
					seen[j], columns[k] = int32(i+1), int32(j)
					k++
				}
			}
			slices.Sort(columns)
		}
	})
	return credence.Design{Dense: linop.Dense{Rows: rows}, Sparse: a}
}

// TestLargest is the double loop on a problem of the size of the paper's largest (Nickisch & Seeger 2009, section 5:
// 677,399 rows, 42,736 columns, 49,556,258 nonzeros): two outer steps, 80 Lanczos vectors. It stays under 4 GB, and
// the labels follow the means. In short it is a thousandth of that.
func TestLargest(t *testing.T) {
	rows, cols, entries := 677, 427, 20_000
	if study.Calibration() {
		rows, cols, entries = 677_399, 42_736, 49_556_258
	}
	ws := credence.NewWorkspace(0)
	design := zipfRows(ws.Pool(), rows, cols, entries)
	table := &columns{ws: ws, phi: &design}
	rng := credence.Rand(2, "zipf", 0)
	truth, s, shift := normals(rng, cols), make([]float64, rows), make([]float64, rows)
	kernel.Scale(0.3, truth)
	table.MulVec(s, truth)
	for i, f := range s {
		if shift[i] = 0.5; rng.Float64() > special.Sigmoid(f) {
			shift[i] = -0.5
		}
	}
	start, processor := time.Now(), study.Processor()
	of := beside{table: table, classes: true, normal: slices.Repeat([]float64{1}, cols)}
	solution, err := Solve(context.Background(), Problem{
		X: linop.Identity(cols), Y: make([]float64, cols), Noise: 1, B: table,
		Sites: []Group{{Count: rows, Potential: Logistic{1}, Shift: shift}},
		Near:  of.preconditioner,
	}, Options{Variances: LanczosMethod, K: min(80, cols), Steps: 2, Progress: func(p credence.Progress) {
		t.Logf("outer step %d: %.1f s, %.1f CPU s", p.Done, time.Since(start).Seconds(), (study.Processor() - processor).Seconds())
	}})
	must.Succeed(t, err)
	agree := 0.0
	for i, f := range solution.Sites {
		if f*shift[i] > 0 {
			agree++
		}
	}
	if agree < 0.6*float64(rows) || solution.Newton < 2 {
		t.Errorf("%.0f of %d labels follow the means after %d Newton steps", agree, rows, solution.Newton)
	}
	const repeats = 5
	began := time.Now()
	for range repeats {
		table.MulVec(s, truth)
		table.MulVecTrans(truth, s)
		kernel.Scale(1/math.Sqrt(kernel.Dot(truth, truth)), truth)
	}
	pair := time.Since(began).Seconds() / repeats
	numbers, sums := make([]float64, max(1, entries/2)), make([]float64, 64)
	began = time.Now()
	for range repeats {
		ws.Pool().Run(len(sums), func(i, _ int) {
			sums[i] += kernel.Sum(numbers[i*len(numbers)/len(sums) : (i+1)*len(numbers)/len(sums)])
		})
	}
	bandwidth := 8 * float64(len(numbers)) * repeats / time.Since(began).Seconds()
	peak := peakMemory()
	t.Logf("%d products, %d Newton steps, %.1f %% of the labels follow; Bv and Bᵀu %.3f s, that is %.2f GB/s of indices, memory is read at %.2f GB/s; peak %.0f MB",
		solution.Products, solution.Newton, 100*agree/float64(rows), pair, 8*float64(entries)/pair/1e9, bandwidth/1e9, peak/1e6)
	if peak > 4e9 {
		t.Errorf("the peak memory is %.0f MB", peak/1e6)
	}
}

// peakMemory is the largest resident set of the process in bytes; 0 where the system does not tell.
func peakMemory() float64 {
	text, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(text)) {
		if value, found := strings.CutPrefix(line, "VmHWM:"); found {
			kilobytes := 0.0
			for _, digit := range value {
				if digit >= '0' && digit <= '9' {
					kilobytes = 10*kilobytes + float64(digit-'0')
				}
			}
			return 1024 * kilobytes
		}
	}
	return 0
}
