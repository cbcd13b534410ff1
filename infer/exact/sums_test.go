package exact

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/prior"
)

// slice is rows [first, end) of a table.
type slice struct {
	*table
	first, end int
}

func (s slice) Rows() int { return s.end - s.first }

func (s slice) Read(dst *credence.Batch, first, count int) error {
	return s.table.Read(dst, s.first+first, count)
}

// filed is a table of files that begin at these rows.
type filed struct {
	*table
	begins []int
}

func (f filed) Files() []int { return f.begins }

// several are some files of a table.
type several struct {
	slice
	begins []int
}

func (s several) Files() []int { return s.begins }

// file is file k of a table.
func (f filed) file(k int) slice {
	files := ability.Files(f)
	return slice{f.table, files[k], files[k+1]}
}

// sumEngine is an engine for features that are the columns, with segments of so many rows.
func sumEngine(t *testing.T, data *table, segment int) *Engine {
	t.Helper()
	features := plain{intercept: true, dense: data.x.Cols, sparse: data.sparse.Cols, sizes: []int{data.x.Cols, data.sparse.Cols}}
	e := must.Value(New(credence.Model{Features: features, Likelihood: likelihood.Gaussian{}, Prior: prior.Normal{}}, Config{Threads: 2}))(t)
	if segment > 0 {
		e.segment = segment
	}
	return e
}

// shardedFit sums up runs of files that begin with the given ones, writes the sums, reads
// them and merges them, last first, and fits.
func shardedFit(t *testing.T, e *Engine, data filed, begins []int) *credence.Fitted {
	t.Helper()
	ctx, folder := context.Background(), t.TempDir()
	units := must.Value(e.Units(ctx, data))(t)
	var all *Sums
	for k := len(begins) - 1; k >= 0; k-- {
		end, rows := len(data.begins), 0
		if k+1 < len(begins) {
			end = begins[k+1]
		}
		shard := must.Value(e.NewSums("frame", units, begins[k]))(t)
		some := several{slice: slice{data.table, data.file(begins[k]).first, data.file(end - 1).end}}
		for f := begins[k]; f < end; f++ {
			some.begins = append(some.begins, data.begins[f]-some.first)
			if k == 0 { // one file after the other
				must.Succeed(t, shard.Add(ctx, data.file(f)))
			}
			rows += data.file(f).Rows()
		}
		if k > 0 { // all at once
			must.Succeed(t, shard.Add(ctx, some))
		}
		if shard.Rows() != rows {
			t.Fatalf("the sums from file %d on have %d rows of %d", begins[k], shard.Rows(), rows)
		}
		path := filepath.Join(folder, fmt.Sprint(k))
		must.Succeed(t, shard.Write(path))
		read := must.Value(e.ReadSums(path, "frame"))(t)
		if all == nil {
			all = read
		} else if err := all.Merge(read); err != nil {
			t.Fatal(err)
		}
	}
	return must.Value(e.FitSums(ctx, all))(t)
}

// TestShards fits files of any length, some of several segments and some without rows, whose sums were written, read
// and merged: every bit is that of the fit of all rows, with weights, offsets, sparse columns, and targets that outgrow
// their units in one file.
func TestShards(t *testing.T) {
	all := randomTable(5, 14*1024+700, 4, 3).withRoles(6, true, true)
	data := filed{all, []int{0, 700, 700, 5000, 5001, 7048, 12000, 12300, 15036, 15036}}
	for _, huge := range []bool{false, true} {
		if huge {
			data.target[5000] = 1e130
		}
		e := sumEngine(t, all, 1024)
		want := must.Value(e.Fit(context.Background(), data))(t)
		for _, begins := range [][]int{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {0}, {0, 3, 9}, {0, 2, 6}} {
			if got := shardedFit(t, e, data, begins); !reflect.DeepEqual(got, want) {
				t.Errorf("huge %v, shards from files %v on: %+v, want %+v", huge, begins, got.Report, want.Report)
			}
		}
		// Another division into segments adds up in another order: only rounding may differ.
		if huge {
			continue
		}
		whole := sumEngine(t, all, 1<<20)
		single := must.Value(whole.Fit(context.Background(), all))(t)
		if a, b := *single.Report.Evidence, *want.Report.Evidence; !(math.Abs(a-b) <= 1e-11*math.Abs(a)) {
			t.Errorf("evidence %v by segments, %v in one", b, a)
		}
	}
}

// TestMergedWithEmptyFiles: a file without rows, merged first or last, leaves everything as the other sums have it.
func TestMergedWithEmptyFiles(t *testing.T) {
	ctx, data := context.Background(), randomTable(8, 60, 3, 2)
	e := sumEngine(t, data, 0)
	units := must.Value(e.Units(ctx, data))(t)
	for _, empty := range []int{0, 1} {
		none := must.Value(e.NewSums("frame", units, empty))(t)
		must.Succeed(t, none.Add(ctx, slice{data, 0, 0}))
		some := must.Value(e.NewSums("frame", units, 1-empty))(t)
		must.Succeed(t, some.Add(ctx, data))
		want := must.Value(e.Fit(ctx, data))(t)
		must.Succeed(t, none.Merge(some))
		if got := must.Value(e.FitSums(ctx, none))(t); !reflect.DeepEqual(got, want) || got.Report.Inputs != 5 {
			t.Errorf("with file %d empty: %+v, want %+v", empty, got.Report, want.Report)
		}
	}
}

// Neighbours in different units are added in the wider ones.
func TestSumOfUnits(t *testing.T) {
	left := &partial{rows: 3, summary: summary{units: Units{1, 4}, weight: 2, precise: 5, logPrecision: 7, sum: 8, square: 16, targetSum: 24, targetSquare: 32},
		gram: []float64{1}, cross: []float64{8}}
	right := &partial{rows: 5, summary: summary{units: Units{1, 16}, weight: 1, precise: 2, logPrecision: 1, sum: 1, square: 1, targetSum: 1, targetSquare: 1},
		gram: []float64{2}, cross: []float64{3}}
	want := &partial{rows: 8, summary: summary{units: Units{1, 16}, weight: 3, precise: 7, logPrecision: 8, sum: 3, square: 2, targetSum: 7, targetSquare: 3},
		gram: []float64{3}, cross: []float64{5}}
	if got := left.Plus(right); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := right.Plus(left); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestSegments is a file of more than two segments of the product's own size, and one behind it.
func TestSegments(t *testing.T) {
	all := randomTable(7, 2*credence.SegmentRows+5000, 2, 0)
	data := filed{all, []int{0, 2*credence.SegmentRows + 300}}
	e := sumEngine(t, all, 0)
	want := must.Value(e.Fit(context.Background(), data))(t)
	if got := shardedFit(t, e, data, []int{0, 1}); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got.Report, want.Report)
	}
}

// TestTree compares the sums of n segments with the recursive definition: a node is the sum of its
// halves, which lie at multiples of their size.
func TestTree(t *testing.T) {
	const segment = credence.BlockRows
	ctx := context.Background()
	for n := 1; n <= 9; n++ {
		data := randomTable(uint64(n), n*segment-100, 3, 0)
		e := sumEngine(t, data, segment)
		units := must.Value(e.Units(ctx, data))(t)
		var node func(first, size int) linop.Dense
		node = func(first, size int) linop.Dense {
			if size > 1 {
				left := node(first, size/2)
				if first+size/2 < n {
					right := node(first+size/2, size/2)
					for i, v := range right.Data {
						left.Data[i] += v
					}
				}
				return left
			}
			s := must.Value(e.NewSums("", units, 0))(t)
			must.Succeed(t, s.Add(ctx, slice{data, first * segment, min(data.Rows(), (first+1)*segment)}))
			var all partial
			must.Succeed(t, s.total(&all))
			return linop.Dense{Rows: 4, Cols: 4, Stride: 4, Data: all.gram}
		}
		want := node(0, 16)
		s := must.Value(e.NewSums("", units, 0))(t)
		must.Succeed(t, s.Add(ctx, data))
		var got partial
		must.Succeed(t, s.total(&got))
		for i := range 4 {
			for j := i; j < 4; j++ {
				if got.gram[i*4+j] != want.Row(i)[j] {
					t.Errorf("%d segments: element (%d, %d) is %v, want %v", n, i, j, got.gram[i*4+j], want.Row(i)[j])
				}
			}
		}
	}
}

// TestSumsRefuse refuses what would give a fit of other rows than those of one table.
func TestSumsRefuse(t *testing.T) {
	const segment = 1024
	ctx := context.Background()
	data := randomTable(9, 3*segment+10, 2, 0)
	e := sumEngine(t, data, segment)
	units, err := e.Units(ctx, data)
	must.Succeed(t, err)
	shard := func(frame string, u Units, file, rows int) *Sums {
		s, err := e.NewSums(frame, u, file)
		if err == nil {
			err = s.Add(ctx, slice{data, 0, rows})
		}
		must.Succeed(t, err)
		return s
	}
	check := func(err error, want string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error reads %v, want %q", err, want)
		}
	}
	first := func() *Sums { return shard("f", units, 0, segment) }
	check(first().Merge(shard("g", units, 1, segment)), "different frames or features")
	check(first().Merge(shard("f", Units{1, 2}, 1, segment)), "different units")
	check(first().Merge(first()), "both sums have file 1")
	late := shard("f", units, 2, segment)
	_, err = e.FitSums(ctx, late)
	check(err, "the sums lack files 1 to 2: merge the sums that have them")
	_, err = e.FitSums(ctx, shard("f", units, 0, 1))
	check(err, "1 rows for 3 weights")
	_, err = e.NewSums("f", units, -1)
	check(err, "there is no file -1")
	_, err = e.NewSums("f", Units{0, 3}, 0)
	check(err, "is not a power of two")
	tuned, err := New(credence.Model{Features: newBent(2, 0), Likelihood: likelihood.Gaussian{}, Prior: prior.Normal{}}, Config{})
	must.Succeed(t, err)
	_, err = tuned.NewSums("f", units, 0)
	check(err, "have hyper-parameters to learn")

	path := filepath.Join(t.TempDir(), "sums")
	must.Succeed(t, late.Write(path))
	_, err = e.ReadSums(path, "g")
	check(err, "it is of other data, another model or other options: sum up the files again under the frame of the others")
	_, err = sumEngine(t, randomTable(9, 30, 3, 0), segment).ReadSums(path, "f")
	check(err, "it is of other data, another model")
	_, err = sumEngine(t, data, 512).ReadSums(path, "f")
	check(err, "by segments of 1024 rows")
	content, err := os.ReadFile(path)
	must.Succeed(t, err)
	content[len(content)-3] ^= 1
	must.Succeed(t, os.WriteFile(path, content, 0o600))
	_, err = e.ReadSums(path, "f")
	check(err, "the file is damaged")
}
