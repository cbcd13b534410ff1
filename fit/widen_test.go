package fit_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/table"
)

// A wave that is too short for 30 functions is fitted again with as many as its lengthscale asks for, and found;
// functions that are stated stay, with a warning. Beyond the box a smooth keeps to the value at its edge.
func TestProcessesAreWidened(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var x, y []float64
	for range 500 {
		v := 10 * rng.Float64()
		x, y = append(x, v), append(y, math.Sin(6*v)+.3*rng.NormFloat64())
	}
	source := must.Value(table.New().Numbers("x", x).Numbers("y", y).Source())(t)
	fitted := must.Value(fit.Table(t.Context(), source, fit.Options{Formula: "y ~ hsgp(x)"}))(t)
	term := fitted.Members[0].Model.Features.(*feature.Set).Terms()[1].(*feature.HSGP)
	if term.Functions[0] < 33 || term.Boundary[0] != 1.5 {
		t.Errorf("%d functions, boundary %v, at ℓ = %v", term.Functions[0], term.Boundary, term.Lengthscale.Values)
	}
	at := []float64{1, 3.3, 5, 7.7, 9}
	mean, sd := latents(t, fitted, "x", at)
	for i, v := range at {
		if off := math.Abs(mean[i] - math.Sin(6*v)); off > 4*sd[i] || sd[i] > .15 {
			t.Errorf("f(%g) = %.3f ± %.3f, of %.3f", v, mean[i], sd[i], math.Sin(6*v))
		}
	}
	mean, _ = latents(t, fitted, "x", []float64{500, 1e9})
	if mean[0] != mean[1] {
		t.Errorf("beyond the box f is %v and %v", mean[0], mean[1])
	}
	fitted = must.Value(fit.Table(t.Context(), source, fit.Options{Formula: "y ~ hsgp(x, m=20, boundary=1.1, lengthscale=0.1)"}))(t)
	if !slices.ContainsFunc(fitted.Report.Warnings, func(w string) bool {
		return strings.HasPrefix(w, "hsgp(x): the lengthscale [0.1] asks for m=[34], boundary=1.1")
	}) {
		t.Errorf("warnings %q", fitted.Report.Warnings)
	}
}

// Columns are apart from their deviations while lengthscales are learned, and under exact they stay so: f, and how many
// weights the data settle, are those of the lengthscale stated.
func TestProcessesUnderEngines(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	var x, y []float64
	for range 80 {
		v := 10 * rng.Float64()
		x, y = append(x, v), append(y, math.Sin(v)+.3*rng.NormFloat64())
	}
	source, at := must.Value(table.New().Numbers("x", x).Numbers("y", y).Source())(t), []float64{.5, 2, 5, 9}
	const exact = "exact(hyper=ml, tolerance=1e-9)"
	of := func(engine, stated string) *credence.Fitted {
		return must.Value(fit.Table(t.Context(), source, fit.Options{Formula: "y ~ hsgp(x, m=12, boundary=1.5" + stated + ")", Family: "gaussian", Engine: engine}))(t)
	}
	best := *of(exact, "").Report.Evidence
	for _, engine := range []string{exact, "svi(hyper=ml, covariance=full, tolerance=1e-9)"} {
		learned := of(engine, "")
		held := of(exact, fmt.Sprintf(", lengthscale=%v", learned.Report.Hyper.Of("lengthscale.hsgp(x).x", math.NaN())))
		if evidence := *held.Report.Evidence; best-evidence > 0.01 { // above it by the prior of the lengthscale
			t.Errorf("%s: the evidence is %v at its lengthscale, and at best %v", engine, evidence, best)
		}
		mean, sd := latents(t, learned, "x", at)
		want, deviation := latents(t, held, "x", at)
		for i, v := range at {
			if !(math.Abs(mean[i]-want[i]) <= 1e-3*deviation[i]) || !(math.Abs(sd[i]/deviation[i]-1) <= 1e-3) {
				t.Errorf("%s: f(%g) is %v ± %v, want %v ± %v", engine, v, mean[i], sd[i], want[i], deviation[i])
			}
		}
		got, block := score.Blocks(learned)[0], score.Blocks(held)[0]
		if !(math.Abs(got.DF/block.DF-1) <= 1e-3) || !(math.Abs(got.Wald/block.Wald-1) <= 1e-3) {
			t.Errorf("%s: %+v, want %+v", engine, got, block)
		}
	}
}

// A fit with columns apart from their deviations is the fit of columns multiplied by them, at the lengthscales that it
// learns, where the evidence and the lengthscales' prior are largest: held there, half and double of it. Few rows and
// more weights than rows are the same.
func TestApartIsTogether(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, rows := range []int{20, 150} {
		var x, z, y []float64
		for range rows {
			v, w := 10*rng.Float64(), 24*rng.Float64()
			x, z, y = append(x, v), append(z, w), append(y, math.Sin(v)+math.Cos(math.Pi*w/12)+.3*rng.NormFloat64())
		}
		source := must.Value(table.New().Numbers("x", x).Numbers("z", z).Numbers("y", y).Source())(t)
		of := func(first, second string) *credence.Fitted {
			return must.Value(fit.Table(t.Context(), source, fit.Options{
				Formula: fmt.Sprintf("y ~ z + hsgp(x, m=25, boundary=2, kernel=matern52%s) + periodic(z, period=24, m=5%s)", first, second), Engine: "exact(hyper=mode, tolerance=1e-12)"}))(t)
		}
		learned := of("", "")
		var scales []float64
		for _, h := range learned.Report.Hyper {
			if strings.HasPrefix(h.Name, "lengthscale.") {
				scales = append(scales, h.Value)
			}
		}
		held := func(first, second float64) *credence.Fitted {
			return of(fmt.Sprintf(", lengthscale=%v", first), fmt.Sprintf(", lengthscale=%v", second))
		}
		penalised := func(first, second float64) float64 {
			return *held(first, second).Report.EvidenceMode - (math.Pow(math.Log(first), 2)+math.Pow(math.Log(second), 2))/2
		}
		same := held(scales[0], scales[1])
		if a, b := *learned.Report.EvidenceMode, *same.Report.EvidenceMode; !(math.Abs(a-b) <= 1e-5) {
			t.Errorf("%d rows: evidence %.8f, of columns with their deviations %.8f", rows, a, b)
		}
		at := []float64{0, 3, 5.5, 10}
		mean, sd := latents(t, learned, "x", at)
		want, wantSD := latents(t, same, "x", at)
		for i := range at {
			if !(math.Abs(mean[i]-want[i]) <= 1e-4) || !(math.Abs(sd[i]-wantSD[i]) <= 1e-4) {
				t.Errorf("%d rows, f(%g) = %.6f ± %.6f, of columns with their deviations %.6f ± %.6f", rows, at[i], mean[i], sd[i], want[i], wantSD[i])
			}
		}
		// Integrated, a lengthscale is told by the mean of its logarithm, within its standard deviation of the mode,
		// and the features have it.
		whole := must.Value(fit.Table(t.Context(), source, fit.Options{Formula: "y ~ z + hsgp(x, m=25, boundary=2, kernel=matern52) + periodic(z, period=24, m=5)"}))(t)
		const name = "lengthscale.hsgp(x).x"
		place := slices.IndexFunc(whole.Report.Hyper, func(v credence.Value) bool { return v.Name == name })
		spread := slices.IndexFunc(whole.Report.HyperSD, func(v credence.Value) bool { return v.Name == name })
		if off := math.Abs(math.Log(whole.Report.Hyper[place].Value / scales[0])); off < 1e-4 || off > whole.Report.HyperSD[spread].Value {
			t.Errorf("%d rows: the lengthscale is %v ± %v, at the mode %v", rows, whole.Report.Hyper[place].Value, whole.Report.HyperSD[spread].Value, scales[0])
		}
		top := penalised(scales[0], scales[1])
		for _, ratio := range []float64{.7, 1.4} {
			if a, b := penalised(scales[0]*ratio, scales[1]), penalised(scales[0], scales[1]*ratio); a > top || b > top {
				t.Errorf("%d rows, ℓ = %v: %.4f, and at %g of either %.4f and %.4f", rows, scales, top, ratio, a, b)
			}
		}
	}
}

// Engines that learn no lengthscales say that they stay where they begin; others, and stated ones, say nothing.
func TestLengthscalesThatStay(t *testing.T) {
	var x, y []float64
	for i := range 60 {
		x = append(x, float64(i)/10)
		y = append(y, math.Sin(x[i])+0.1*math.Cos(float64(i*i)))
	}
	rows := curveRows(t, x, y)
	for _, c := range []struct{ formula, prior, engine, want string }{
		{"y ~ hsgp(x)", "horseshoe", "", "engine gibbs learns no hyper-parameters of features, and lengthscale.hsgp(x).x stays where it begins, at 1: state"},
		{"y ~ rbf(x, n=20)", "spikeslab", "ep", "engine ep learns no hyper-parameters of features, and lengthscale.rbf(x).x stays where it begins, at 1: state"},
		{"y ~ hsgp(x, lengthscale=2)", "horseshoe", "", ""},
		{"y ~ hsgp(x)", "", "", ""},
		{"y ~ rbf(x, n=20)", "", "svi", ""},
		{"y ~ rbf(x, n=20)", "", "svi(batch=20)", ""},
		{"y ~ periodic(x, period=3)", "", "laplace", ""},
	} {
		fitted := must.Value(fit.Table(t.Context(), rows, fit.Options{Formula: c.formula, Prior: c.prior, Engine: c.engine, Threads: 1}))(t)
		text := strings.Join(fitted.Report.Warnings, "\n")
		if c.want == "" && strings.Contains(text, "stays where it begins") || !strings.Contains(text, c.want) {
			t.Errorf("%+v: %s", c, text)
		}
	}
}

// Rows outside the box of a process are counted, once each, whatever their number of terms.
func TestRowsBeyondTheBox(t *testing.T) {
	var x, z, y []float64
	for i := range 50 {
		x, z = append(x, float64(i)/49), append(z, float64(i*7%50))
		y = append(y, math.Sin(6*x[i])+0.01*z[i])
	}
	rows := must.Value(table.New().Numbers("x", x).Numbers("z", z).Numbers("y", y).Source())(t)
	fitted := must.Value(fit.Table(t.Context(), rows, fit.Options{Formula: "y ~ hsgp(x, boundary=2, m=10) + hsgp(z, boundary=1.5, m=10, lengthscale=1)", Threads: 1}))(t)
	// The boxes end at 0.5 ± 1 and 24.5 ± 36.75.
	fresh := must.Value(table.New().Numbers("x", []float64{1.49, 1.51, -0.51, 0.5, 0.5, 9}).Numbers("z", []float64{0, 0, 0, 61.2, 61.3, 99}).Source())(t)
	scored := must.Value(must.Value(score.New(fitted, score.Options{}))(t).Table(fresh, score.IgnoreTargets))(t)
	must.Succeed(t, scored.Each(t.Context(), func(*score.Rows) error { return nil }))
	if got := scored.Counts().Beyond; got != 4 {
		t.Errorf("%d rows are beyond the boxes, want 4", got)
	}
}

// TestProcessesAreExact: at a stated lengthscale, variance and noise the mean and the standard deviation of f inside
// the data go to those of the exact Gaussian process as functions are added, of one input and of two.
func TestProcessesAreExact(t *testing.T) {
	const n, l, noise = 60, 0.4, 0.05
	rng := rand.New(rand.NewPCG(34, 1))
	var x, z, y []float64
	for range n {
		x, z = append(x, 2*rng.Float64()-1), append(z, 2*rng.Float64()-1)
		y = append(y, math.Sin(4*x[len(x)-1])+x[len(x)-1]*z[len(z)-1]+0.2*rng.NormFloat64())
	}
	x[0], x[1], z[0], z[1] = -1, 1, -1, 1
	source := must.Value(table.New().Numbers("x", x).Numbers("z", z).Numbers("y", y).Source())(t)
	fresh := must.Value(table.New().Numbers("x", []float64{-0.9, -0.3, 0, 0.5, 0.8}).Numbers("z", []float64{0.7, -0.2, 0.1, -0.8, 0.4}).Source())(t)
	for inputs := 1; inputs <= 2; inputs++ {
		kernel := func(a, c, b, d float64) float64 {
			square := (a - b) * (a - b)
			if inputs == 2 {
				square += (c - d) * (c - d)
			}
			return math.Exp(-square / (2 * l * l))
		}
		gram, chol := mat.NewSymDense(n, nil), new(mat.Cholesky)
		for i := range n {
			for j := range i + 1 {
				gram.SetSym(i, j, kernel(x[i], z[i], x[j], z[j]))
			}
			gram.SetSym(i, i, 1+noise)
		}
		chol.Factorize(gram)
		last := math.Inf(1)
		for _, m := range []int{4, 6, 8, 12, 16} {
			call := fmt.Sprintf("hsgp(x, m=%d, boundary=2.5, lengthscale=%g)", m, l)
			if inputs == 2 {
				call = fmt.Sprintf("hsgp(x, z, m=[%d, %d], boundary=2.5, lengthscale=%g)", m, m, l)
			}
			fitted := must.Value(fit.Table(t.Context(), source, fit.Options{
				Formula: "y ~ 0 + " + call, Family: fmt.Sprintf("gaussian(variance=%g)", noise), Prior: "normal(variance=1)", Engine: "exact", Raw: true, Threads: 1,
			}))(t)
			worst := 0.0
			scored := must.Value(must.Value(score.New(fitted, score.Options{}))(t).Table(fresh, score.IgnoreTargets))(t)
			must.Succeed(t, scored.Each(t.Context(), func(rows *score.Rows) error {
				var chunk credence.Chunk
				must.Succeed(t, fresh.Read(&chunk, 0, rows.Len()))
				for i := range rows.Len() {
					mean, variance := rows.Latent(i)
					side, solved := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
					for j := range n {
						side.SetVec(j, kernel(chunk.Values.Row(i)[0], chunk.Values.Row(i)[1], x[j], z[j]))
					}
					must.Succeed(t, chol.SolveVecTo(solved, side))
					worst = max(worst, math.Abs(mean-mat.Dot(solved, mat.NewVecDense(n, y))), math.Abs(math.Sqrt(variance)-math.Sqrt(1-mat.Dot(solved, side))))
				}
				return nil
			}))
			if t.Logf("%d inputs, m = %d: off by %.2g", inputs, m, worst); !(worst < last) {
				t.Errorf("%d inputs: %d functions are off by %g, fewer by %g", inputs, m, worst, last)
			}
			last = worst
		}
		if last > 5e-3 {
			t.Errorf("%d inputs: 16 functions are off by %g", inputs, last)
		}
	}
}
