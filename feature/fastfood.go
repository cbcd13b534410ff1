package feature

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
)

// fast multiplies rows by frequencies that stand in blocks of size, the next power of two above the d inputs, beyond
// which rows are 0:
//
//	V = S H G Π H B
//
// with H the Hadamard matrix, B random signs, Π a permutation, G normal numbers, and S = χ/(‖g‖ √size) so that lengths
// are those of independent normal rows (Le, Sarlós & Smola 2013). Every row of V alone is N(0, I) exactly. Cosines add
// H B' of signs of their own: each row of it has independent random signs.
type fast struct {
	d, size, n int
	cosines    bool
	numbersOf  int       // of a block
	numbers64  []float64 // of every block: B, Π, G, S, and the signs of the cosines
}

// numbersOfFrequency are B, Π, G and S.
const numbersOfFrequency = 4

func newShape(n, d int, cosines bool) fast {
	f := fast{d: d, size: 1 << bits.Len(uint(d-1)), n: n, cosines: cosines}
	f.numbersOf = numbersOfFrequency * f.size
	if cosines {
		f.numbersOf += f.size
	}
	return f
}

// numbers are how many n frequencies have, the last block of which is whole.
func (f *fast) numbers(n int) int { return (n + f.size - 1) / f.size * f.numbersOf }

// drawFast draws the numbers of n frequencies.
func (k Kernel) drawFast(n, d int, cosines bool, rng *rand.Rand) ([]float64, error) {
	if n < 1 || d < 1 {
		return nil, fmt.Errorf("feature: %d frequencies in %d dimensions: give at least one of both", n, d)
	}
	if err := k.check(Fastfood, d); err != nil {
		return nil, err
	}
	f := newShape(n, d, cosines)
	all := make([]float64, f.numbers(n))
	for from := 0; from < len(all); from += f.numbersOf {
		signs, places, normal, scales, others := f.block(all[from:])
		square := 0.0
		for i, place := range rng.Perm(f.size) {
			signs[i], places[i], normal[i] = sign(rng), float64(place), rng.NormFloat64()
			square += normal[i] * normal[i]
		}
		for i := range scales {
			scales[i] = limit(math.Sqrt(chiSquare(f.size, rng)/square/float64(f.size)) * k.stretch(rng))
		}
		for i := range others {
			others[i] = 2 * math.Pi * sign(rng)
		}
	}
	return all, nil
}

// block are the numbers of the block that all begins with.
func (f *fast) block(all []float64) (signs, places, normal, scales, others []float64) {
	part := func(k int) []float64 { return all[k*f.size : (k+1)*f.size] }
	if f.cosines {
		others = part(numbersOfFrequency)
	}
	return part(0), part(1), part(2), part(3), others
}

// newFast checks the numbers of a term of d inputs, those of cosines among them.
func newFast(t *RandomFourier, d int) (*fast, error) {
	if t.spectral() {
		d /= 2
	}
	f := newShape(t.Count, d, t.spectral())
	if t.Count < 1 || len(t.Fastfood) != f.numbers(t.Count) {
		return nil, fmt.Errorf("feature: %s has %d numbers for %d fastfood frequencies: draw them", t.Name, len(t.Fastfood), t.Count)
	}
	f.numbers64 = t.Fastfood
	for from := 0; from < len(t.Fastfood); from += f.numbersOf {
		_, places, _, _, _ := f.block(t.Fastfood[from:])
		seen := make([]bool, f.size)
		for _, v := range places {
			if !(v >= 0 && v < float64(f.size)) || v != math.Floor(v) || seen[int(v)] {
				return nil, fmt.Errorf("feature: %s: the places of its fastfood frequencies are no permutation: draw them", t.Name)
			}
			seen[int(v)] = true
		}
	}
	for _, v := range t.Fastfood {
		if !(math.Abs(v) <= farthest) {
			return nil, fmt.Errorf("feature: %s: a number of its fastfood frequencies is %g: give finite numbers", t.Name, v)
		}
	}
	return &f, nil
}

// scratch is the memory that all workers take: three blocks of taskRows rows each, and one more for cosines, as
// columns.
func (f *fast) scratch(ws *credence.Workspace) int {
	if f == nil {
		return 0
	}
	return ws.Pool().Threads() * buffers * f.size * taskRows
}

const buffers = 4

// blocks are those of a worker, of which the first has the rows of a task, and the last those of its cosines.
func (f *fast) blocks(job *job, task, worker int) (x, a, b, others []float64) {
	part := func(k int) []float64 { return job.scratch[(worker*buffers+k)*f.size*taskRows:][:f.size*taskRows] }
	x, a, b, others = part(0), part(1), part(2), part(3)
	first, inputs := task*taskRows, f.inputs()
	rows := job.x[first*inputs : min(first+taskRows, job.rows)*inputs]
	columns(x, rows, inputs, f.d)
	if f.cosines {
		columns(others, rows[f.d:], inputs, f.d)
	}
	return x, a, b, others
}

// inputs is the length of a row of inputs.
func (f *fast) inputs() int {
	if f.cosines {
		return 2 * f.d
	}
	return f.d
}

// turned is how many columns of a row are copied at a time, whose taskRows places stay in the processor's nearest
// memory.
const turned = 16

// columns stores the first count columns of rows, of which the last may be short of stride, as rows of taskRows values;
// what is beyond is 0.
func columns(dst, rows []float64, stride, count int) {
	clear(dst)
	for from := 0; from < count; from += turned {
		to := dst[from*taskRows:]
		for r := 0; r*stride < len(rows); r++ {
			for j, v := range rows[r*stride+from : r*stride+min(from+turned, count)] {
				to[j*taskRows+r] = v
			}
		}
	}
}

// multiply stores rows times factors, those of places where they are given, and adds them up by the Hadamard matrix.
func (f *fast) multiply(dst, rows, factors []float64, places []float64) {
	for i, factor := range factors {
		from := i
		if places != nil {
			from = int(places[i])
		}
		to := dst[i*taskRows : (i+1)*taskRows]
		for r, v := range rows[from*taskRows : (from+1)*taskRows] {
			to[r] = factor * v
		}
	}
	kernel.Hadamard(dst, f.size, taskRows)
}

// forward stores the products of a task's rows with every frequency where their cosines will stand.
func (f *fast) forward(job *job, task, worker int) {
	x, a, b, cosines := f.blocks(job, task, worker)
	first := task * taskRows
	rows := min(taskRows, job.rows-first)
	for block := 0; block*f.size < f.n; block++ {
		signs, places, normal, scales, others := f.block(f.numbers64[block*f.numbersOf:])
		f.multiply(a, x, signs, nil)
		f.multiply(b, a, normal, places)
		for i, s := range scales {
			kernel.Scale(s, b[i*taskRows:(i+1)*taskRows])
		}
		if others != nil {
			f.multiply(a, cosines, others, nil)
			kernel.Axpy(1, a, b)
		}
		count := min(f.size, f.n-block*f.size)
		for from := 0; from < count; from += turned {
			for r := range rows {
				row := job.phi[(first+r)*job.stride+block*f.size+from:][:min(turned, count-from)]
				for i := range row {
					row[i] = b[(from+i)*taskRows+r]
				}
			}
		}
	}
}

// backward stores Σ x_j (dZ V)_j over a task's rows in its sums, for every input j.
func (f *fast) backward(job *job, task, worker int) {
	x, a, b, cosines := f.blocks(job, task, worker)
	first, inputs := task*taskRows, f.inputs()
	sums := job.sums[task*inputs : (task+1)*inputs]
	clear(sums)
	add := func(sums, x, z, factors []float64) {
		for j := range sums {
			sums[j] += factors[j] * kernel.Dot(z[j*taskRows:(j+1)*taskRows], x[j*taskRows:(j+1)*taskRows])
		}
	}
	for block := 0; block*f.size < f.n; block++ {
		signs, places, normal, scales, others := f.block(f.numbers64[block*f.numbersOf:])
		from, count := block*f.size, min(f.size, f.n-block*f.size)
		columns(b, job.z[first*f.n+from:min((first+taskRows)*f.n, job.rows*f.n)], f.n, count)
		if others != nil {
			copy(a, b)
			kernel.Hadamard(a, f.size, taskRows)
			add(sums[f.d:], cosines, a, others)
		}
		f.multiply(a, b, scales, nil)
		for i, place := range places {
			to := b[int(place)*taskRows:][:taskRows]
			for r, v := range a[i*taskRows : (i+1)*taskRows] {
				to[r] = normal[i] * v
			}
		}
		kernel.Hadamard(b, f.size, taskRows)
		add(sums[:f.d], x, b, signs)
	}
}
