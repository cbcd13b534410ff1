package convex

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/gauss"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/linop"
)

// Variances names how the variances of the sites are found.
type Variances string

// The ways. Auto is exact where the unknowns are few, and sampled elsewhere. Lanczos variances are too small, XDiag's
// are estimated from solves with random signs, Combined ones are those of Lanczos and of draws of what these leave.
// Mode finds none: Mean is then the mode of the posterior (MAP).
const (
	Auto          Variances = "auto"
	Exact         Variances = "exact"
	LanczosMethod Variances = "lanczos"
	Sampled       Variances = "sample"
	XDiag         Variances = "xdiag"
	Combined      Variances = "combined"
	Mode          Variances = "mode"
)

// Problem is a linear model with Gaussian measurements and super-Gaussian sites.
type Problem struct {
	X     linop.Matrix // m×n; nil: there are no measurements
	Y     []float64    // length m
	Noise float64      // σ², positive
	B     linop.Matrix // q×n
	Sites []Group      // q of them together
	// Near returns the inverse of a matrix near A = XᵀX + Bᵀ diag(precision) B, symmetric and positive definite: the
	// preconditioner of conjugate gradients. Nil means that of A's diagonal, by random signs.
	Near func(precision []float64) linop.Matrix
}

// Options say how to solve one. The zero value is the default.
type Options struct {
	Variances Variances
	// of the outer loop at most; 0 means 100 where variances are exact, 2,000 for the mode and 5 elsewhere
	Steps     int
	Tolerance float64 // relative change of φ at which it ends, or of s for the mode; 0 means 1e-9, or 1e-4
	K         int     // Lanczos steps, draws, or vectors of XDiag; 0 means 80, 64, or 32
	Seed      uint64
	Threads   int
	Progress  func(credence.Progress)
	// Start is the solution of a problem with the same B, from where the loops go on: a step or two are then
	// often enough.
	Start *Solution
}

// of returns how variances are found in a problem that is small or not.
func (v Variances) of(small bool) Variances {
	switch {
	case v != "" && v != Auto:
		return v
	case small:
		return Exact
	}
	return Sampled
}

// exactUnknowns is the largest number of unknowns that Auto factors A for.
const exactUnknowns = 4000

// Solution is Q = N(Mean, σ²A⁻¹).
type Solution struct {
	Mean []float64 // u*, length n
	// Sites and Variance are mean and variance of s = Bu, length q: of σ²z.
	Sites, Variance []float64
	Precision       []float64 // 1/γ of every site; nil for the mode
	// Phi is φ at the last outer step, and Bound the lower bound of log P(y) for sites as they are;
	// NaN where log|A| is not known.
	Phi, Bound float64
	Draws      [][]float64 // of N(Mean, σ²A⁻¹), where variances were sampled
	// RelativeError is the standard error of sampled variances over the variances, root mean square.
	RelativeError float64
	// Outer and Newton are steps of the loops, Products those of vectors with A, and Conjugate the steps of conjugate
	// gradients, which several vectors share.
	Outer, Newton, Products, Conjugate int
	Converged                          bool

	noise float64
}

// Marginals returns the variances of u, by the draws; nil where there are none.
func (s *Solution) Marginals() []float64 {
	if len(s.Draws) == 0 {
		return nil
	}
	out := make([]float64, len(s.Mean))
	for _, draw := range s.Draws {
		for j, v := range draw {
			out[j] += (v - s.Mean[j]) * (v - s.Mean[j]) / float64(len(s.Draws))
		}
	}
	return out
}

func singular(pivot int) error {
	return fmt.Errorf("convex: A is not positive definite (unknown %d): X and B together must have full column rank", pivot+1)
}

// Solve minimises φ.
func Solve(ctx context.Context, p Problem, options Options) (*Solution, error) {
	count, err := p.check()
	if err != nil {
		return nil, err
	}
	_, n := p.B.Dims()
	ws := credence.NewWorkspace(options.Threads)
	m := &measured{x: p.X, b: p.B, y: p.Y, noise: p.Noise}
	way := options.Variances.of(n <= exactUnknowns)
	var s system
	var unfactored *free
	steps := cmp.Or(options.Steps, 5)
	switch way {
	case Exact:
		s, steps = newDense(m, ws), cmp.Or(options.Steps, 100)
	case Mode:
		steps = cmp.Or(options.Steps, modeSteps)
		fallthrough
	case Sampled, LanczosMethod, XDiag, Combined:
		unfactored = &free{measured: m, ws: ws, seed: options.Seed, near: p.Near, several: steps > 1 && options.Start == nil}
		s = unfactored.by(way, options.K, 64)
	default:
		return nil, fmt.Errorf("convex: variances=%s: use auto, exact, lanczos, sample, xdiag, combined or mode", way)
	}
	l := newLoop(ws, s, p.Sites, count, p.Noise)
	if o := options.Start; o != nil {
		if len(o.Mean) != n || len(o.Variance) != count {
			return nil, fmt.Errorf("convex: the start has %d unknowns and %d sites, the problem %d and %d", len(o.Mean), len(o.Variance), n, count)
		}
		l.goOn(o)
	}
	each := func(step int) error {
		if options.Progress != nil {
			options.Progress(credence.Progress{Stage: "outer loop", Done: step, Total: steps, Objective: -l.phi / 2})
		}
		return ctx.Err()
	}
	var done int
	var converged bool
	if way == Mode {
		done, converged, err = l.mode(ctx, unfactored, steps, cmp.Or(options.Tolerance, modeTolerance), each)
		l.sites(l.s, l.u)
		clear(l.z)
		l.precision = nil
	} else {
		done, converged, err = l.run(ctx, steps, cmp.Or(options.Tolerance, 1e-9), each)
	}
	if err != nil {
		return nil, err
	}
	out := &Solution{
		Mean: l.u, Sites: l.s, Variance: append([]float64(nil), l.z...), Precision: l.precision, Phi: l.phi,
		Outer: done, Newton: l.newton, Converged: converged, noise: p.Noise,
	}
	kernel.Scale(p.Noise, out.Variance)
	rows := 0
	if p.X != nil {
		rows, _ = p.X.Dims()
	}
	out.Bound = -l.phi/2 + float64(n-rows)/2*math.Log(2*math.Pi*p.Noise)
	if unfactored != nil {
		out.Products, out.Conjugate, out.RelativeError = unfactored.products, unfactored.steps, unfactored.relative
		for _, xi := range unfactored.last { // none of a mode
			draw := append([]float64(nil), l.u...)
			kernel.Axpy(math.Sqrt(p.Noise), xi, draw)
			out.Draws = append(out.Draws, draw)
		}
	}
	return out, nil
}

func (p *Problem) check() (sites int, err error) {
	if sites, err = checkGroups(p.Sites); err != nil {
		return 0, err
	}
	if p.B == nil || !(p.Noise > 0) {
		return 0, fmt.Errorf("convex: a problem needs B and a positive noise variance, and has %v", p.Noise)
	}
	q, n := p.B.Dims()
	if q != sites {
		return 0, fmt.Errorf("convex: B has %d rows and there are %d sites", q, sites)
	}
	if p.X == nil {
		return sites, nil
	}
	m, cols := p.X.Dims()
	if cols != n || len(p.Y) != m {
		return 0, fmt.Errorf("convex: X is %d×%d, B %d×%d, and there are %d measurements", m, cols, q, n, len(p.Y))
	}
	return sites, nil
}

// goOn takes means and variances of another solution for a start.
func (l *loop) goOn(from *Solution) {
	copy(l.u, from.Mean)
	copy(l.z, from.Variance)
	kernel.Scale(1/l.noise, l.z)
	l.rough = false
}

// jacobi is the inverse of the diagonal of A, estimated from the products of random signs (Hutchinson 1990, Bekas et
// al. 2007).
func jacobi(a *normal) linop.Matrix {
	n, _ := a.Dims()
	const probes = 8
	// one for all seeds: it decides steps, not answers
	rng := credence.Rand(0, credence.ConvexDraws, credence.ConvexDiagonal)
	signs, product := linop.NewDense(n, probes), linop.NewDense(n, probes)
	for i := range signs.Data {
		signs.Data[i] = float64(2*rng.IntN(2) - 1)
	}
	a.MulBlock(&product, &signs)
	inverse, mean := make(linop.Diagonal, n), kernel.Dot(signs.Data, product.Data)/float64(n*probes)
	for j := range inverse {
		inverse[j] = 1 / math.Max(kernel.Dot(signs.Row(j), product.Row(j))/probes, 0.1*mean)
	}
	return inverse
}

// Next picks what to measure next, one candidate after the other: the one whose measurements are expected to tell
// most of u, given those picked before. A candidate is rows of f, measured with the noise variance of the problem.
// Gains are in nats, ½ log det(I + FCFᵀ/σ²), C being the covariance of the draws: where a candidate has more rows
// than there are draws its gain is too small, as it is for the others.
//
// Gaussian information does not depend on what is measured, so that picks need no measurement between them; where
// sites are far from Gaussian, solve again after a few. It needs a solution with draws.
func (s *Solution) Next(f linop.Matrix, candidates [][]int, count, threads int) (picked []int, gains []float64, err error) {
	rows, cols := f.Dims()
	draws := len(s.Draws)
	if draws == 0 || len(s.Mean) != cols {
		return nil, nil, fmt.Errorf("convex: to rank measurements it takes draws of the %d unknowns of F, and there are %d draws of %d: solve with variances=sample", cols, draws, len(s.Mean))
	}
	away, seen := linop.NewDense(cols, draws), linop.NewDense(rows, draws)
	for k, draw := range s.Draws {
		for j, v := range draw {
			away.Row(j)[k] = (v - s.Mean[j]) / math.Sqrt(s.noise*float64(draws))
		}
	}
	linop.MulBlock(f, &seen, &away)
	pool := credence.NewWorkspace(threads).Pool()
	grams := make([][]float64, len(candidates)) // (FΞ)ᵀFΞ/(sσ²), upper: det(I + FCFᵀ/σ²) is that of I + these
	for c, of := range candidates {
		part := linop.NewDense(len(of), draws)
		for i, row := range of {
			if row < 0 || row >= rows {
				return nil, nil, fmt.Errorf("convex: candidate %d has row %d of %d", c, row, rows)
			}
			copy(part.Row(i), seen.Row(row))
		}
		grams[c] = make([]float64, draws*draws)
		pool.Gram(len(of), draws, part.Data, draws, nil, grams[c], draws)
	}
	known, trial := make([]float64, draws*draws), make([]float64, draws*draws)
	for k := range draws {
		known[k*draws+k] = 1
	}
	before := 0.0
	for range min(count, len(candidates)) {
		best, most := -1, math.Inf(-1)
		for c, gram := range grams {
			if gram == nil { // picked
				continue
			}
			copy(trial, known)
			kernel.Axpy(1, gram, trial)
			if pivot, ok := pool.Cholesky(draws, trial, draws); !ok {
				return nil, nil, singular(pivot)
			}
			if value := gauss.LogDeterminant(draws, trial); value > most {
				best, most = c, value
			}
		}
		kernel.Axpy(1, grams[best], known)
		grams[best] = nil
		picked, gains = append(picked, best), append(gains, (most-before)/2)
		before = most
	}
	return picked, gains, nil
}
