package sep

import (
	"math"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
)

// timed are rows with two features in turn, whose effect changes sign half-way, at the times given.
func timed(times []float64) *credence.Batch {
	b := &credence.Batch{Sparse: linop.CSR{Cols: 5}, Time: times}
	for i := range times {
		b.Sparse.AppendRow([]int32{int32(i % 5)}, nil)
		b.Target = append(b.Target, float64((i%5%2+i*2/len(times)+i%11/10)%2))
	}
	b.X = linop.Dense{Rows: len(times)}
	return b
}

func learnTimed(t *testing.T, cfg Config, hyper Hyper, b *credence.Batch) (*Learner, []float64) {
	t.Helper()
	l := must.Value(NewLearner(cfg, hyper))(t)
	probability := make([]float64, b.Rows())
	if refused := l.Learn(b, probability); refused != nil {
		t.Fatal(refused)
	}
	return l, probability
}

// Rows that come at equal times are forgotten as by their number; a pause forgets as much as the rows that
// would have come; late rows are counted and let no time pass.
func TestHalfLife(t *testing.T) {
	const rows, apart, half = 600, 0.25, 40
	held := Hyper{Inclusion: param.Hold(0.5), Slab: param.Hold(1)}
	times := make([]float64, rows)
	for i := range times {
		times[i] = -7 + apart*float64(i)
	}
	_, byRows := learnTimed(t, Config{Forget: half}, held, timed(times))
	_, byTime := learnTimed(t, Config{HalfLife: half * apart}, held, timed(times))
	_, never := learnTimed(t, Config{Forget: 1e9}, held, timed(times))
	distance := 0.0
	for i := range byRows {
		if math.Abs(byRows[i]-byTime[i]) > 1e-12 { // times are exact, and so are their differences
			t.Fatalf("row %d: %v by time, %v by rows", i, byTime[i], byRows[i])
		}
		distance = max(distance, math.Abs(never[i]-byTime[i]))
	}
	if distance < 0.1 {
		t.Errorf("forgetting changes predictions by %v", distance)
	}

	// After a pause of ten thousand half-lives nothing is left but the prior.
	long := append([]float64(nil), times...)
	for i := rows / 2; i < rows; i++ {
		long[i] += 10_000 * half * apart
	}
	_, paused := learnTimed(t, Config{HalfLife: half * apart}, held, timed(long))
	fresh := timed(long[rows/2:])
	fresh.Target = timed(times).Target[rows/2:]
	_, anew := learnTimed(t, Config{HalfLife: half * apart}, held, fresh)
	for i := range anew[:20] { // then ρ0 and τ0 are due in one of them, by the number of rows
		if math.Abs(anew[i]-paused[rows/2+i]) > 1e-6 { // factors of the prior are kept as float32
			t.Fatalf("row %d after the pause: %v, and %v without what was before", i, paused[rows/2+i], anew[i])
		}
	}

	// Late rows.
	late := append([]float64(nil), times...)
	clamped := append([]float64(nil), times...)
	for i := 7; i < rows; i += 50 {
		late[i] -= 100
		clamped[i] = times[i-1]
	}
	l, got := learnTimed(t, Config{HalfLife: half * apart}, held, timed(late))
	_, want := learnTimed(t, Config{HalfLife: half * apart}, held, timed(clamped))
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("row %d: %v, and %v where no time passes", i, got[i], want[i])
		}
	}
	if again := restored(t, stateOf(t, l)); again.aged != l.aged || again.ageRows != l.ageRows || l.ageRows == 0 {
		t.Errorf("a state has aged by %v, %d rows ago, and its learner by %v and %d", again.aged, again.ageRows, l.aged, l.ageRows)
	}
	if l.events.LateRows != 12 || len(l.warnings()) != 1 {
		t.Errorf("%d late rows, warnings %q", l.events.LateRows, l.warnings())
	}
}

// Forgetting by time goes without what would count rows in full.
func TestHalfLifeIsRefused(t *testing.T) {
	for _, cfg := range []Config{{HalfLife: -1}, {HalfLife: math.Inf(1)}, {HalfLife: 1, Forget: 5}, {HalfLife: 1, Passes: 2}, {HalfLife: 1, KnownCounts: true}} {
		if cfg.Validate() == nil {
			t.Errorf("%+v is taken", cfg)
		}
	}
	if _, err := New(credence.Model{}, Config{HalfLife: 1}); err == nil {
		t.Error("a fit takes a half-life")
	}
}

// Prior factors are all made anew when half of the evidence is forgotten, and not again before rows have come.
func TestAgedFactorsAreMadeAnewOnce(t *testing.T) {
	l, _ := learnTimed(t, Config{HalfLife: 1e9}, Hyper{}, timed(make([]float64, 30)))
	for k, want := range []float64{0.6, 1, 0.4, 0.16} {
		left := 0.4
		if k == 0 {
			left = 0.6
		}
		if l.forget(left); !(math.Abs(l.aged-want) <= 1e-15) {
			t.Errorf("after %d times %v of the evidence is left since factors were made, want %v", k+1, l.aged, want)
		}
	}
}

// Rows that come one half-life apart weigh 1 + ½ + ¼ + … = 2 together, those that a mini-batch keeps back too.
func TestHalfLifeOfMiniBatches(t *testing.T) {
	for _, batch := range []int{0, 1, 100} {
		l := must.Value(NewLearner(Config{Batch: batch, HalfLife: 1}, Hyper{}))(t)
		weight := func() float64 { return (l.biasSums.count[0] + l.biasSums.count[1]) * l.scale }
		most := 0.0
		for i := range 2000 {
			l.Learn(timed([]float64{float64(i)}), make([]float64, 1))
			most = max(most, weight())
		}
		l.endBatch()
		of := float64(l.at(0).count) * l.scale // in single precision
		if !(most <= 2+1e-12) || !(math.Abs(weight()-2) <= 1e-12) || !(math.Abs(of-2) <= 1e-6) {
			t.Errorf("batch=%d: rows weigh %v at most and %v in the end, those of a feature %v; want 2", batch, most, weight(), of)
		}
	}
}

// After a pause that leaves nothing of the evidence a state says so.
func TestStateOfAllForgotten(t *testing.T) {
	l, _ := learnTimed(t, Config{HalfLife: 1}, Hyper{}, timed([]float64{0, 0, 0}))
	l.aged = 0
	if again := restored(t, stateOf(t, l)); again.aged != 0 {
		t.Errorf("%v of the evidence is left, and was 0", again.aged)
	}
}
