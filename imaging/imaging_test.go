package imaging

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence/infer/convex"
	"github.com/credence-ml/credence/linop"
)

// phantom is an ellipse with a bright spot, size×size.
func phantom(size int) *Image {
	m := &Image{size, size, make([]float64, size*size)}
	for p := range m.Values {
		i, j := 2*float64(p/size)/float64(size)-1, 2*float64(p%size)/float64(size)-1
		if i*i/0.7+j*j/0.4 < 1 {
			m.Values[p] = 0.6
		}
		if (i-0.2)*(i-0.2)+(j+0.1)*(j+0.1) < 0.05 {
			m.Values[p] = 1
		}
	}
	return m
}

// measured is a model of a phantom of which some lines were measured with noise 0.01.
func measured(truth *Image, lines Lines) Model {
	m := Model{Height: truth.Height, Width: truth.Width, X: linop.NewFourier(truth.Height, truth.Width, lines.Places(truth.Width)), Noise: 0.01, Variation: 0.02, Detail: 0.1}
	m.Y = scanner(truth)(lines)
	return m
}

func scanner(truth *Image) Scan {
	rng := rand.New(rand.NewPCG(1, 1))
	return func(lines Lines) []float64 {
		x := linop.NewFourier(truth.Height, truth.Width, lines.Places(truth.Width))
		rows, _ := x.Dims()
		y := make([]float64, rows)
		x.MulVec(y, truth.Values)
		for i := range y {
			y[i] += 0.01 * rng.NormFloat64()
		}
		return y
	}
}

// TestReconstruct compares draws by a preconditioned solver with dense algebra, and mean and mode with the
// image.
func TestReconstruct(t *testing.T) {
	truth := phantom(16)
	m := measured(truth, NewLines(16, 7, 3, 1))
	result, err := m.Reconstruct(context.Background(), convex.Options{K: 600, Variances: convex.Sampled, Steps: 4})
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Problem()
	if err != nil {
		t.Fatal(err)
	}
	exact, err := convex.Solve(context.Background(), p, convex.Options{Variances: convex.Exact, Steps: 4})
	if err != nil {
		t.Fatal(err)
	}
	far, ratio := 0.0, 0.0
	for i, v := range exact.Variance {
		ratio += result.Solution.Variance[i] / v / float64(len(exact.Variance))
	}
	for j, v := range exact.Mean {
		far = math.Max(far, math.Abs(v-result.Mean.Values[j])/result.SD.Values[j])
	}
	// The draws' variances are off by √(2/600) each, and together by less.
	if !(math.Abs(ratio-1) <= 0.02) || far > 0.2 {
		t.Errorf("variances are %.3f of the exact ones, a mean is off by %.2f standard deviations", ratio, far)
	}
	filled := make([]float64, 256)
	m.X.MulVecTrans(filled, m.Y)
	mode, err := m.Reconstruct(context.Background(), convex.Options{Variances: convex.Mode})
	if err != nil {
		t.Fatal(err)
	}
	zero, mean, best := PSNR(filled, truth.Values), PSNR(result.Mean.Values, truth.Values), PSNR(mode.Mean.Values, truth.Values)
	if mean < zero+4 || best < zero+4 {
		t.Errorf("PSNR of the mean %.1f, of the mode %.1f, zero-filled %.1f", mean, best, zero)
	}
	if r := RankCorrelation(result.SD.Values, result.Mean.Values, truth.Values); r < 0.4 {
		t.Errorf("the error map has a rank correlation of %.2f with the error", r)
	}
	if mode.SD != nil {
		t.Error("a mode has an error map")
	}
	if once, err := m.Reconstruct(context.Background(), convex.Options{K: 2, Steps: 1}); err != nil || once.Solution.Outer != 1 {
		t.Errorf("of one step: %+v, %v", once, err)
	}
}

// TestMode: no step lowers −log density, whose corners make the mode sharp.
func TestMode(t *testing.T) {
	truth := phantom(8)
	m := measured(truth, NewLines(8, 5, 3, 1))
	p, err := m.Problem()
	if err != nil {
		t.Fatal(err)
	}
	objective := func(u []float64) float64 {
		fit, s, sum := make([]float64, len(m.Y)), make([]float64, p.Sites[0].Count+p.Sites[1].Count), 0.0
		m.X.MulVec(fit, u)
		for i, v := range fit {
			sum += (v - m.Y[i]) * (v - m.Y[i]) / (2 * m.Noise * m.Noise)
		}
		p.B.MulVec(s, u)
		for i, v := range s {
			scale := m.Variation
			if i >= p.Sites[0].Count {
				scale = m.Detail
			}
			sum += math.Abs(v) / scale
		}
		return sum
	}
	result, err := m.Reconstruct(context.Background(), convex.Options{Variances: convex.Mode})
	if err != nil {
		t.Fatal(err)
	}
	rng, at := rand.New(rand.NewPCG(3, 3)), objective(result.Mean.Values)
	for k := range 300 {
		u := slices.Clone(result.Mean.Values)
		size := math.Pow(10, -1-float64(k%4))
		for j := range u {
			u[j] += size * rng.NormFloat64() * float64(rng.IntN(2))
		}
		if other := objective(u); other < at-0.05 { // corners are rounded by a hundredth of the noise
			t.Errorf("a step of %.0e lowers %.4f to %.4f", size, at, other)
		}
	}
}

// TestNear: with the preconditioner solutions take fewer products than with the diagonal.
func TestNear(t *testing.T) {
	truth := phantom(32)
	p, err := measured(truth, NewLines(32, 13, 3, 1)).Problem()
	if err != nil {
		t.Fatal(err)
	}
	n := 32 * 32
	precision := make([]float64, p.Sites[0].Count+p.Sites[1].Count)
	rng := rand.New(rand.NewPCG(5, 5))
	for i := range precision {
		precision[i] = math.Exp(rng.NormFloat64())
	}
	inverse, x, y, mx, my := p.Near(precision), make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i] = rng.NormFloat64(), rng.NormFloat64()
	}
	inverse.MulVec(mx, x)
	inverse.MulVec(my, y)
	xy, yx, xx := 0.0, 0.0, 0.0
	for i := range x {
		xy += x[i] * my[i]
		yx += y[i] * mx[i]
		xx += x[i] * mx[i]
	}
	if !(math.Abs(xy-yx) <= 1e-9*xx) || !(xx > 0) {
		t.Errorf("xᵀMy = %g, yᵀMx = %g, xᵀMx = %g", xy, yx, xx)
	}
	options := convex.Options{Variances: convex.Sampled, K: 16, Steps: 2}
	near, err := convex.Solve(context.Background(), p, options)
	if err != nil {
		t.Fatal(err)
	}
	p.Near = nil
	diagonal, err := convex.Solve(context.Background(), p, options)
	if err != nil {
		t.Fatal(err)
	}
	if float64(near.Products) > 0.8*float64(diagonal.Products) {
		t.Errorf("%d products, with the diagonal alone %d", near.Products, diagonal.Products)
	}
}

// TestNext compares gains with determinants by dense algebra, one pick after the other.
func TestNext(t *testing.T) {
	truth := phantom(8)
	m := measured(truth, NewLines(8, 3, 3, 1))
	result, err := m.Reconstruct(context.Background(), convex.Options{K: 40, Variances: convex.Sampled})
	if err != nil {
		t.Fatal(err)
	}
	f := linop.NewFourier(8, 8, nil)
	candidates := [][]int{{0, 1, 2, 3}, {20, 21}, {40, 41, 42, 43}, {60, 61}}
	picked, gains, err := result.Solution.Next(f, candidates, 3, 1)
	if err != nil || len(picked) != 3 {
		t.Fatal(picked, err)
	}
	information := func(rows []int) float64 {
		w := mat.NewSymDense(len(rows), nil)
		for i := range rows {
			w.SetSym(i, i, 1)
		}
		all := make([]float64, 128)
		for _, draw := range result.Solution.Draws {
			away := slices.Clone(draw)
			for j, v := range result.Mean.Values {
				away[j] -= v
			}
			f.MulVec(all, away)
			for i, a := range rows {
				for j, b := range rows[:i+1] {
					w.SetSym(i, j, w.At(i, j)+all[a]*all[b]/40/(m.Noise*m.Noise))
				}
			}
		}
		var c mat.Cholesky
		if !c.Factorize(w) {
			t.Fatal("not positive definite")
		}
		return c.LogDet() / 2
	}
	var known []int
	for k, c := range picked {
		before := 0.0
		if len(known) > 0 {
			before = information(known)
		}
		for other, rows := range candidates {
			gain := information(append(slices.Clone(known), rows...)) - before
			if other == c && !(math.Abs(gain-gains[k]) <= 1e-9*(1+gain)) {
				t.Errorf("pick %d: gain %g, by the determinant %g", k, gains[k], gain)
			}
			if !slices.Contains(picked[:k], other) && gain > gains[k]+1e-9 {
				t.Errorf("pick %d: candidate %d gains %g, %d gains %g", k, other, gain, c, gains[k])
			}
		}
		known = append(known, candidates[c]...)
	}
	if _, _, err := (&convex.Solution{}).Next(f, candidates, 1, 1); err == nil || !strings.Contains(err.Error(), "variances=sample") {
		t.Errorf("no draws: %v", err)
	}
	if _, _, err := result.Solution.Next(f, [][]int{{128}}, 1, 1); err == nil {
		t.Error("a row that F has not is taken")
	}
}

// TestChoose: lines that are chosen tell more than the highest ones, none twice, and the model is what was scanned.
func TestChoose(t *testing.T) {
	truth := phantom(16)
	lines, result, err := measured(truth, nil).Choose(context.Background(), scanner(truth), Lines{0}, 7, 2, convex.Options{K: 64, Steps: 2, Variances: convex.Sampled})
	if err != nil {
		t.Fatal(err)
	}
	sorted := slices.Compact(slices.Sorted(slices.Values(lines)))
	if len(lines) != 7 || len(sorted) != 7 {
		t.Fatalf("lines %v", lines)
	}
	other, err := measured(truth, Lines{0, 5, 11, 6, 10, 7, 9}).Reconstruct(context.Background(), convex.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := PSNR(result.Mean.Values, truth.Values), PSNR(other.Mean.Values, truth.Values); a < b+3 {
		t.Errorf("lines %v: PSNR %.1f, of high lines %.1f", lines, a, b)
	}
}

func TestLines(t *testing.T) {
	for _, height := range []int{1, 2, 7, 16, 256} {
		for _, count := range []int{1, height / 3, height} {
			lines := NewLines(height, count, height/8, 3)
			if len(lines) < count || len(lines) > count+1 && height > 1 || len(slices.Compact(slices.Clone(lines))) != len(lines) {
				t.Fatalf("%d lines of %d asked for: %v", count, height, lines)
			}
			for _, k := range lines {
				if !slices.Contains(lines, (height-k)%height) {
					t.Errorf("line %d of %d has no pair", k, height)
				}
			}
			if count > 0 && !slices.Contains(lines, 0) {
				t.Errorf("the mean of %d rows is not measured", height)
			}
		}
	}
	low, high, often := 0, 0, [64]int{}
	for seed := range uint64(200) { // of lines 3 to 10 and 23 to 30, which are as many
		for _, k := range NewLines(64, 20, 4, seed) {
			often[k]++
			if k >= 3 && k <= 10 {
				low++
			} else if k >= 23 && k <= 30 {
				high++
			}
		}
	}
	if often[2] < 200 || often[62] < 200 || often[3] == 200 {
		t.Errorf("of the four lines around the centre those beside it are taken %v times of 200", often[:5])
	}
	if low < 2*high {
		t.Errorf("%d low lines and %d high ones: the density does not fall with the frequency", low, high)
	}
	if a, b := NewLines(64, 20, 4, 1), NewLines(64, 20, 4, 2); slices.Equal(a, b) || !slices.Equal(a, NewLines(64, 20, 4, 1)) {
		t.Error("lines do not follow the seed")
	}
}

func TestMask(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mask.npy")
	if err := WriteArray(path, []int{4}, []float64{1, 0, 0, 2}); err != nil {
		t.Fatal(err)
	}
	if lines, err := ReadMask(path, 4); err != nil || !slices.Equal(lines, Lines{0, 3}) {
		t.Errorf("lines %v, %v", lines, err)
	}
	if _, err := ReadMask(path, 5); err == nil || !strings.Contains(err.Error(), "4 numbers for the 5 lines") {
		t.Error(err)
	}
	if err := WriteArray(path, []int{2}, []float64{0, 0}); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadMask(path, 2); err == nil {
		t.Error("a mask of no lines is taken")
	}
}

func TestRefusals(t *testing.T) {
	good := measured(phantom(8), Lines{0, 1, 7})
	for want, change := range map[string]func(m *Model){
		"cannot be held non-negative": func(m *Model) { m.NonNegative = true },
		"Noise is 0":                  func(m *Model) { m.Noise = 0 },
		"Noise is NaN":                func(m *Model) { m.Noise = math.NaN() },
		"at least one positive scale": func(m *Model) { m.Variation, m.Detail = 0, 0 },
		"Detail -1":                   func(m *Model) { m.Detail = -1 },
		"X is missing":                func(m *Model) { m.X = nil },
		"64 columns for an image":     func(m *Model) { m.Width = 9 },
		"0×8":                         func(m *Model) { m.Height = 0 },
		"measurements":                func(m *Model) { m.Y = m.Y[1:] },
	} {
		m := good
		change(&m)
		if _, err := m.Reconstruct(context.Background(), convex.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestFiles(t *testing.T) {
	folder := t.TempDir()
	truth := phantom(9)
	for name, within := range map[string]float64{"a.npy": 0, "a.png": 1.0 / 65535} {
		path := filepath.Join(folder, name)
		if err := truth.Write(path, 0, 1); err != nil {
			t.Fatal(err)
		}
		back, err := Read(path)
		if err != nil || back.Height != 9 || back.Width != 9 {
			t.Fatal(back, err)
		}
		for i, v := range truth.Values {
			if !(math.Abs(v-back.Values[i]) <= within) {
				t.Fatalf("%s: number %d is %v, was %v", name, i, back.Values[i], v)
			}
		}
	}
	if err := truth.Write(filepath.Join(folder, "a.jpg"), 0, 1); err == nil {
		t.Error("a .jpg is written")
	}
	if err := truth.Write(filepath.Join(folder, "b.png"), 1, 1); err == nil {
		t.Error("black is white")
	}
	if _, err := Read(filepath.Join(folder, "none.png")); err == nil || strings.Count(err.Error(), "none.png") != 1 {
		t.Errorf("a missing file: %v", err)
	}
}

// npy is what NumPy 1.24 writes for numpy.save of a type, order and shape.
func npy(header string, data ...byte) []byte {
	header += strings.Repeat(" ", 117-len(header)) + "\n"
	return append([]byte("\x93NUMPY\x01\x00\x76\x00"+header), data...)
}

func TestArrays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.npy")
	for _, c := range []struct {
		content []byte
		shape   []int
		first   float64
		err     string
	}{
		{npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", 0, 0, 0x80, 0x3f, 0, 0, 0, 0), []int{2}, 1, ""},
		{npy("{'descr': '|u1', 'fortran_order': False, 'shape': (1, 3), }", 7, 8, 9), []int{1, 3}, 7, ""},
		{npy("{'descr': '<u2', 'fortran_order': False, 'shape': (), }", 1, 1), nil, 257, ""},
		{npy("{'descr': '<c16', 'fortran_order': False, 'shape': (1,), }", make([]byte, 16)...), nil, 0, "<c16"},
		{npy("{'descr': '|u1', 'fortran_order': True, 'shape': (1, 1), }", 1), nil, 0, "ascontiguousarray"},
		{npy("{'descr': '|u1', 'fortran_order': False, 'shape': (99999999999999999999, 1), }", 1), nil, 0, "shape"},
		{npy("{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296), }"), nil, 0, "shape"},
		{npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1000, 1000), }", make([]byte, 80)...), nil, 0, "shape"},
		{npy("{'descr': '|u1', 'fortran_order': False, 'shape': (2, 2), }", 1, 2, 3), nil, 0, "shape"},
		{npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", 0, 0, 0, 0, 0, 0, 0xf8, 0x7f), nil, 0, "NaN"},
		{npy("{'descr': '<f8'}", 1), nil, 0, "header"},
		{[]byte("\x93NUMPY\x02\x00\xff\xff\xff\xff{}"), nil, 0, "header"},
		{[]byte("PK"), nil, 0, "no .npy"},
	} {
		if err := os.WriteFile(path, c.content, 0o600); err != nil {
			t.Fatal(err)
		}
		open, _ := os.ReadDir("/proc/self/fd") // where there are such
		shape, values, err := ReadArray(path)
		if now, _ := os.ReadDir("/proc/self/fd"); len(now) > len(open) {
			t.Errorf("%.60q: %d files are open, of %d before", c.content, len(now), len(open))
		}
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) || !strings.Contains(err.Error(), "a.npy") {
				t.Errorf("%.60q: %v, want %q", c.content[10:], err, c.err)
			}
			continue
		}
		if err != nil || !slices.Equal(shape, c.shape) || values[0] != c.first {
			t.Errorf("%.60q: %v %v %v", c.content[10:], shape, values, err)
		}
	}
}

// What is read is written again, and nothing makes the reader fail otherwise than by an error.
func FuzzArrays(f *testing.F) {
	var seed bytes.Buffer
	encodeNPY(&seed, []int{2, 1}, []float64{1, -2})
	f.Add(seed.Bytes())
	f.Add(npy("{'descr': '|u1', 'fortran_order': False, 'shape': (1, 3), }", 7, 8, 9))
	f.Fuzz(func(t *testing.T, content []byte) {
		shape, values, err := decodeNPY(content)
		if err != nil {
			return
		}
		var out bytes.Buffer
		encodeNPY(&out, shape, values)
		if _, back, err := decodeNPY(out.Bytes()); err != nil || !slices.Equal(back, values) {
			t.Errorf("%v comes back as %v, %v", values, back, err)
		}
	})
}
