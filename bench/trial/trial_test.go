package trial

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/linop"
)

// table is rows of x and y in memory.
type table struct{ values linop.Dense }

func (t table) Schema() *credence.Schema {
	return &credence.Schema{Columns: []credence.Column{{Name: "x"}, {Name: "y"}}}
}

func (t table) Rows() int { return t.values.Rows }

func (t table) Read(dst *credence.Chunk, first, count int) error {
	dst.First = first
	dst.Values.Reshape(count, 2)
	dst.Sparse.Reset(0)
	dst.Sparse.Rows = count
	for i := range count {
		copy(dst.Values.Row(i), t.values.Row(first+i))
	}
	return nil
}

// line returns rows of y = 3 + 2x + noise of standard deviation 0.5.
func line(n int, block uint64) table {
	rng := credence.Rand(1, "trial.test", block)
	t := table{linop.NewDense(n, 2)}
	for i := range n {
		x := rng.NormFloat64()
		t.values.Row(i)[0], t.values.Row(i)[1] = x, 3+2*x+0.5*rng.NormFloat64()
	}
	return t
}

// On a straight line the scores are those of the noise: RMSE 0.5, log density
// −½ log(2πe·0.25), and nine tenths of the targets in their 90 % intervals.
func TestScoresAreThoseOfTheNoise(t *testing.T) {
	const n = 4000
	r, err := Run(t.Context(), line(n, 0), line(n, 1), Options{Formula: ".", Target: "y", Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	// Five standard errors: of the root mean square σ/√2n, of the mean log density √½/√n.
	within := func(name string, got, want, standardError float64) {
		if math.Abs(got-want) > 5*standardError {
			t.Errorf("%s %v, want %v ± %v", name, got, want, standardError)
		}
	}
	within("RMSE", r.RMSE, 0.5, 0.5/math.Sqrt(2*n))
	within("log density", r.LogDensity, -0.5*math.Log(2*math.Pi*math.E*0.25), math.Sqrt(0.5/n))
	within("coverage", r.Coverage90, 0.9, math.Sqrt(0.9*0.1/n))
	// Var y = 4.25, so R² = 1 − 0.25/4.25; the relative spread is that of two variances.
	within("R²", r.R2, 1-0.25/4.25, 0.25/4.25*math.Sqrt(4.0/n))
	if math.Abs(r.SMSE-(1-r.R2)) > 1e-12 || r.TrainRows != n || r.TestRows != n {
		t.Errorf("result %+v", r)
	}
}

func TestTrialsRepeatThemselves(t *testing.T) {
	var results []*Result
	for _, threads := range []int{1, 2} {
		r, err := Run(t.Context(), line(150, 0), line(50, 1), Options{Formula: ". + rbf(., n=20)", Target: "y", Engine: "exact(starts=2, iterations=5)", Seed: 3, Threads: threads})
		if err != nil {
			t.Fatal(err)
		}
		r.WallSeconds, r.CPUSeconds = 0, 0
		results = append(results, r)
	}
	if !reflect.DeepEqual(results[0], results[1]) {
		t.Errorf("one thread %+v\ntwo threads %+v", results[0], results[1])
	}
}

func TestEnginesThatAreNotMeasured(t *testing.T) {
	for engine, want := range map[string]string{"svi": "use exact", "exact(start=3)": "start"} {
		_, err := Run(t.Context(), line(10, 0), line(10, 1), Options{Formula: ".", Target: "y", Engine: engine})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v does not contain %q", engine, err, want)
		}
	}
}
