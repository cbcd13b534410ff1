package problem

import (
	"context"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
)

// counted is data whose row i has the input i, the sparse entry i in column i mod 3, the target 2i
// and, where asked for, offset 3i and weight i. Even blocks of a Read have sparse ones, not values.
type counted struct {
	rows        int
	roles, ones bool
	reads, read int // calls of Read, and rows read
	change      func(b *credence.Batch)
}

func (d *counted) Rows() int { return d.rows }

func (d *counted) Read(dst *credence.Batch, first, count int) error {
	d.reads++
	d.read += count
	*dst = credence.Batch{First: first, X: linop.NewDense(count, 1)}
	dst.Sparse.Reset(3)
	for i := range count {
		row := float64(first + i)
		dst.X.Row(i)[0] = row
		if d.ones {
			dst.Sparse.AppendRow([]int32{int32((first + i) % 3)}, nil)
		} else {
			dst.Sparse.AppendRow([]int32{int32((first + i) % 3)}, []float64{row})
		}
		dst.Target = append(dst.Target, 2*row)
		if d.roles {
			dst.Offset = append(dst.Offset, 3*row)
			dst.Weight = append(dst.Weight, row)
			dst.Precision = append(dst.Precision, row+1)
		}
	}
	if d.change != nil {
		d.change(dst)
	}
	return nil
}

// open opens data with every role.
func open(t *testing.T, l credence.Likelihood, data credence.Data) *Rows {
	t.Helper()
	return must.Value(Open("test", credence.Model{Likelihood: l}, data, AllRoles))(t)
}

// TestRoles: rows with a role that the engine does not take, or the family has no place for, are refused.
func TestRoles(t *testing.T) {
	rows := &counted{rows: 5, roles: true}
	for _, c := range []struct {
		lik   credence.Likelihood
		data  credence.Data
		takes Roles
		want  string
	}{
		{likelihood.Gaussian{}, rows, Offset | Weight | Precision, ""},
		{likelihood.Gaussian{}, rows, Offset | Precision, "test: the model has weights, which this engine does not use: leave it out"},
		{likelihood.Gaussian{}, rows, 0, "test: the model has offset(…), weights, precision(…), which this engine does not use"},
		{likelihood.Poisson{}, rows, AllRoles, "test: likelihood.Poisson has no dispersion for precisions to divide: give weights"},
		{likelihood.Gaussian{}, &counted{}, AllRoles, "test: there are no rows to fit"},
	} {
		r, err := Open("test", credence.Model{Likelihood: c.lik}, c.data, c.takes)
		if c.want == "" {
			if err != nil || r.Filled() != c.takes {
				t.Errorf("%v: filled %v, want %v", err, r.Filled(), c.takes)
			}
		} else if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("the error reads %v, want %q", err, c.want)
		}
	}
}

// numbers returns the rows of the data in all blocks, checking what stands beside them.
func numbers(t *testing.T, r *Rows, roles, ones bool) []int {
	t.Helper()
	var all []int
	for k := range r.Blocks() {
		b := must.Value(r.Block(context.Background(), k))(t)
		if (b.Offset != nil) != roles || (b.Weight != nil) != roles || b.Sparse.Rows != b.Rows() {
			t.Fatalf("block %d has offsets %v, weights %v and %d sparse rows of %d", k, b.Offset != nil, b.Weight != nil, b.Sparse.Rows, b.Rows())
		}
		for i := range b.Rows() {
			row := b.X.Row(i)[0]
			entry := row
			if ones {
				entry = 1
			}
			for j, v := range b.Sparse.Each(i) {
				if j != int(row)%3 || v != entry {
					t.Errorf("row %v has the entry %v in column %d", row, v, j)
				}
			}
			if b.Target[i] != 2*row || roles && (b.Offset[i] != 3*row || b.Weight[i] != row || b.Precision[i] != row+1) {
				t.Errorf("row %v has the target %v", row, b.Target[i])
			}
			if place := r.Place(k, i); place != int(row) {
				t.Errorf("row %v is called %d", row, place)
			}
			all = append(all, int(row))
		}
	}
	return all
}

// TestSample takes samples of rows sorted by an input: every part of them must have its share.
func TestSample(t *testing.T) {
	for _, c := range []struct{ rows, limit, run, count int }{
		{1300, 0, 1, 1300}, {1300, 1300, 1, 1300}, {1300, 2000, 64, 1300}, {7, 3, 1, 3},
		{1300, 700, 1, 700}, {1300, 100, 1, 100}, {100_000, 600, 1, 600}, {100_000, 600, 64, 640}, {10_000, 3000, 512, 3072}, {130, 129, 64, 128},
	} {
		for _, keep := range []bool{false, true} {
			for _, roles := range []bool{false, true} {
				data := &counted{rows: c.rows, roles: roles, ones: roles}
				r := open(t, likelihood.Gaussian{}, data).Sample(c.limit, c.run)
				if keep {
					if err := r.Keep(context.Background(), math.MaxInt); err != nil || !r.Kept() {
						t.Fatal(err)
					}
				}
				all := numbers(t, r, roles, roles)
				if len(all) != c.count || r.Count() != c.count || r.Total() != c.rows || r.Sampled() != (c.count < c.rows) {
					t.Fatalf("%+v: %d rows, Count %d of %d", c, len(all), r.Count(), r.Total())
				}
				if data.read > 9*c.count+credence.BlockRows {
					t.Errorf("%+v: %d rows were read", c, data.read)
				}
				// Run k of M begins near row kN/M: never more than two shares of a run away.
				for k, row := range all {
					if k > 0 && row <= all[k-1] {
						t.Fatalf("%+v: row %d after row %d", c, row, all[k-1])
					}
					share := float64(c.rows) / float64(c.count)
					if even := float64(k-k%c.run)*share + float64(k%c.run); !(math.Abs(float64(row)-even) <= 2*float64(c.run)*share) {
						t.Fatalf("%+v: sample %d is row %d, want about %v", c, k, row, even)
					}
				}
			}
		}
	}
}

// A dense sample is read in few calls: a reader that decodes rows by the block does so once.
func TestSampleIsReadInSpans(t *testing.T) {
	data := &counted{rows: 2560}
	numbers(t, open(t, likelihood.Gaussian{}, data).Sample(512, 1), false, false)
	if data.reads > 6 {
		t.Errorf("%d calls of Read for 512 rows of 2560", data.reads)
	}
}

// TestSampleRows pins which rows a sample of single rows has: row ⌊iN/M⌋.
func TestSampleRows(t *testing.T) {
	want := []int{0, 1, 2, 4, 5, 7, 8}
	if got := numbers(t, open(t, likelihood.Gaussian{}, &counted{rows: 10}).Sample(7, 1), false, false); !reflect.DeepEqual(got, want) {
		t.Errorf("rows %v, want %v", got, want)
	}
	want = nil
	for _, start := range []int{0, 192, 384} { // 64 ⌊i 10/3⌋
		for i := range 64 {
			want = append(want, start+i)
		}
	}
	if got := numbers(t, open(t, likelihood.Gaussian{}, &counted{rows: 650}).Sample(150, 64), false, false); !reflect.DeepEqual(got, want) {
		t.Errorf("runs %v, want %v", got, want)
	}
}

// TestKeep keeps blocks within the budget alone, and reads kept ones once.
func TestKeep(t *testing.T) {
	for budget, want := range map[int]int{0: 2, 1 << 20: 1} {
		data := &counted{rows: 1000}
		r := open(t, likelihood.Gaussian{}, data)
		must.Succeed(t, r.Keep(context.Background(), budget))
		if r.Kept() != (want == 1) {
			t.Errorf("budget %d: kept is %v", budget, r.Kept())
		}
		numbers(t, r, false, false)
		numbers(t, r, false, false)
		if passes := math.Round(float64(data.read) / 1000); passes != float64(want) {
			t.Errorf("budget %d: %v passes over the data, want %d", budget, passes, want)
		}
	}
}

// TestRefusals names the row of the data, in a sample too.
func TestRefusals(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		lik    credence.Likelihood
		change func(b *credence.Batch)
		want   string
	}{
		{likelihood.Gaussian{}, func(b *credence.Batch) { b.Target = nil }, "test: rows from 1 on have no target: fit needs one in every row"},
		{likelihood.Gaussian{}, func(b *credence.Batch) { b.Target[2] = math.NaN() }, "test: row 3: target NaN is not a number: gaussian needs finite targets"},
		{likelihood.Poisson{}, func(b *credence.Batch) { b.Target[2] = -1 }, "test: row 3: "},
		{likelihood.Gaussian{}, func(b *credence.Batch) { b.Offset[1] = inf }, "test: row 2: offset +Inf is not a finite number: an exposure of zero"},
		{likelihood.Gaussian{}, func(b *credence.Batch) { b.Target[0], b.Offset[0] = 1e308, -1e308 }, "test: row 1: target 1e+308 less offset -1e+308 is beyond all numbers"},
		{likelihood.Poisson{}, func(b *credence.Batch) { b.Offset[0] = 800 }, "test: row 1: offset 800 multiplies the mean by e to that power"},
		{likelihood.Gaussian{}, func(b *credence.Batch) { b.Weight[3] = -1 }, "test: row 4: weight -1 is not a number from 0 up: correct it, or drop the row"},
		{likelihood.Gaussian{}, func(b *credence.Batch) { b.Weight[3] = inf }, "test: row 4: weight +Inf is not"},
		{likelihood.Gaussian{}, func(b *credence.Batch) { b.Precision[3] = 0 }, "test: row 4: precision 0 is not a number above 0: correct it, or drop the row"},
		{likelihood.StudentT{}, func(b *credence.Batch) { b.Precision[3] = inf }, "test: row 4: precision +Inf is not"},
	} {
		_, err := Open("test", credence.Model{Likelihood: c.lik}, &counted{rows: 5, roles: true, change: c.change}, AllRoles)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("the error reads %v, want %q", err, c.want)
		}
	}
	r := open(t, likelihood.Gaussian{}, &counted{rows: 1000, roles: true, change: func(b *credence.Batch) {
		for i := range b.Target {
			if b.X.Row(i)[0] == 800 {
				b.Weight[i] = -1
			}
		}
	}}).Sample(10, 1)
	if _, err := r.Block(context.Background(), 0); err == nil || !strings.HasPrefix(err.Error(), "test: row 801: weight") {
		t.Errorf("the error reads %v, want row 801", err)
	}
}

// identity has the inputs as features, sparse ones behind the dense.
type identity struct{ credence.Features }

func (identity) Transform(_ *credence.Workspace, phi *credence.Design, rows *credence.Batch) {
	phi.Dense, phi.Sparse = rows.X, rows.Sparse
}

// counting is identity that knows how many columns it makes.
type counting struct{ identity }

func (counting) Weights() int { return 4 }

// TestTransform has every row at its place.
func TestTransform(t *testing.T) {
	r := open(t, likelihood.Gaussian{}, &counted{rows: 1100, roles: true})
	var phi credence.Design
	var target, offset, weight []float64
	err := r.Transform(context.Background(), credence.NewWorkspace(1), &phi, new(credence.Design), identity{}, func(first int, b *credence.Batch) {
		if first != len(target) {
			t.Errorf("a block begins with row %d after %d", first, len(target))
		}
		target, offset, weight = append(target, b.Target...), append(offset, b.Offset...), append(weight, b.Weight...)
	})
	must.Succeed(t, err)
	if n, d := phi.Dims(); n != 1100 || d != 4 || len(target) != n || len(offset) != n || len(weight) != n {
		t.Fatalf("%d×%d, %d targets", n, d, len(target))
	}
	squares, total := make([]float64, 4), 0.0
	for i := range 1100 { // by weight times precision
		row := float64(i)
		w := row * (row + 1)
		squares[0], squares[1+i%3], total = squares[0]+w*row*row, squares[1+i%3]+w*row*row, total+w
	}
	for j, got := range must.Value(r.MeanSquares(context.Background(), credence.NewWorkspace(1), counting{}))(t) {
		if !(math.Abs(got/squares[j]*total-1) <= 1e-12) {
			t.Errorf("the mean square of column %d is %v, want %v", j, got, squares[j]/total)
		}
	}
	for i := range 1100 {
		row := float64(i)
		if phi.Dense.Row(i)[0] != row || target[i] != 2*row || offset[i] != 3*row || weight[i] != row {
			t.Fatalf("row %d: %v, %v", i, phi.Dense.Row(i), target[i])
		}
		if got := phi.Sparse.AddRowDot(0, i, []float64{1, 10, 100}); got != row*math.Pow(10, float64(i%3)) {
			t.Fatalf("row %d: sparse product %v", i, got)
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := open(t, likelihood.Gaussian{}, &counted{rows: 5}).Block(ctx, 0); err != context.Canceled {
		t.Errorf("the error is %v", err)
	}
}

// TestGather: runs come in the order of their starts, the last of the data shorter, and a refusal
// names the row of the data.
func TestGather(t *testing.T) {
	data := &counted{rows: 10, roles: true}
	r := open(t, likelihood.Gaussian{}, data)
	var b credence.Batch
	for range 2 { // the memory of a batch is used again
		must.Succeed(t, r.Gather(&b, []int{8, 0, 4}, 4))
		want := []float64{8, 9, 0, 1, 2, 3, 4, 5, 6, 7}
		if !reflect.DeepEqual(b.X.Data, want) || !reflect.DeepEqual(b.Weight, want) || !reflect.DeepEqual(b.Sparse.Value, want) {
			t.Errorf("rows %v, weights %v, entries %v, want %v", b.X.Data, b.Weight, b.Sparse.Value, want)
		}
	}
	data.change = func(b *credence.Batch) {
		for i := range b.Target {
			if b.First+i == 5 {
				b.Target[i] = math.NaN()
			}
		}
	}
	if err := r.Gather(&b, []int{8, 0, 4}, 4); err == nil || !strings.Contains(err.Error(), "test: row 6:") {
		t.Errorf("error %v, want one of row 6", err)
	}
}
