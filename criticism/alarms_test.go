package criticism_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/criticism"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/study"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/table"
)

// mixed draws rows of a normal column a, one that goes with it b, a 0/1 column c and an exponential one d, a
// key g of 12 groups beside the model, and f, which is linear in the columns.
type mixed struct {
	rng           *rand.Rand
	a, b, c, d, g []float64
	f, y          []float64
	formula       string
}

func newMixed(n int, seed uint64) *mixed {
	m := &mixed{rng: rand.New(rand.NewPCG(seed, 99)), formula: "y ~ a + b + c + d"}
	for _, v := range []*[]float64{&m.a, &m.b, &m.c, &m.d, &m.g, &m.f, &m.y} {
		*v = make([]float64, n)
	}
	for i := range n {
		m.a[i] = m.rng.NormFloat64()
		m.b[i] = 0.5*m.a[i] + math.Sqrt(0.75)*m.rng.NormFloat64()
		m.c[i] = float64(m.rng.IntN(2))
		m.d[i] = m.rng.ExpFloat64()
		m.g[i] = float64(m.rng.IntN(12))
		m.f[i] = 0.5 + 0.4*m.a[i] - 0.3*m.b[i] + 0.3*m.c[i]
	}
	return m
}

// draw draws the targets of a family.
func (m *mixed) draw(family likelihood.Sampler) *mixed {
	for i := range m.y {
		m.y[i] = family.Sample(m.rng, m.f[i])
	}
	return m
}

func (m *mixed) source(t testing.TB) credence.Source {
	t.Helper()
	source, err := table.New().Numbers("a", m.a).Numbers("b", m.b).Numbers("c", m.c).Numbers("d", m.d).Numbers("g", m.g).Numbers("y", m.y).Source()
	if err != nil {
		t.Fatal(err)
	}
	return source
}

// findings fits the rows and criticises the fit.
func (m *mixed) findings(t testing.TB, family string) []criticism.Finding {
	t.Helper()
	source := m.source(t)
	model, err := fit.Table(context.Background(), source, fit.Options{Formula: m.formula, Family: family, Seed: 1})
	if err != nil {
		t.Fatalf("%s: %v", family, err)
	}
	data, err := model.Frame.(*frame.Frame).Bind(source, frame.RequireTargets)
	if err != nil {
		t.Fatal(err)
	}
	found, err := criticism.Of(context.Background(), model, data, criticism.Options{Fitted: true, Beside: source})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// sets is the number of sets of a study: CREDENCE_SETS where that is set.
func sets(otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv("CREDENCE_SETS")); err == nil {
		return n
	}
	return otherwise
}

// TestAlarms: of fits of right models at most five in a thousand are spoken against by all checks together.
func TestAlarms(t *testing.T) {
	study.OnlyCalibration(t)
	const limit = 0.005
	count := sets(1000)
	fits, alarms, details := 0, 0, 0
	for _, family := range families {
		if strings.HasPrefix(family.text, "binomial") {
			continue
		}
		line := family.text
		for _, n := range []int{50, 100, 400} {
			spoken := map[string]int{}
			told, small := 0, 0
			for k := range count {
				found := newMixed(n, firstSeed()+uint64(k)).draw(family.draw).findings(t, family.text)
				here, less := 0, 0
				for _, f := range found {
					if f.Tone == criticism.Detail {
						less = 1
						continue
					}
					here = 1
					spoken[fmt.Sprintf("%s %.2g", f.Check, f.P)]++
				}
				told, small = told+here, small+less
			}
			fits, alarms, details = fits+count, alarms+told, details+small
			line += fmt.Sprintf(" | %d of %d (%d details) %v", told, count, small, spoken)
		}
		t.Log(line)
	}
	t.Logf("%d of %d fits of right models are spoken against, and %d of them have details", alarms, fits, details)
	if expected := limit * float64(fits); float64(alarms) > expected+2*math.Sqrt(expected) {
		t.Errorf("%d of %d", alarms, fits)
	}
}

// TestAlarmsOfCounts: whatever counts and successes vary by, a right line for their means is not taken for a curve, a
// product or another link, by the second test of such families either.
func TestAlarmsOfCounts(t *testing.T) {
	study.OnlyCalibration(t)
	count := sets(400)
	fits, told := 0, map[string]int{}
	for _, c := range []struct {
		family string
		draw   likelihood.Sampler
	}{
		{"poisson", likelihood.Poisson{}}, {"poisson", likelihood.NegativeBinomial{Size: param.Hold(2)}},
		{"poisson", likelihood.NegativeBinomial{Size: param.Hold(0.5)}}, {"binomial(trials=8)", likelihood.Binomial{Trials: 8}},
	} {
		for _, n := range []int{50, 100, 400} {
			for k := range count {
				fits++
				for _, f := range newMixed(n, 7000+firstSeed()+uint64(k)).draw(c.draw).findings(t, c.family) {
					if slices.Contains([]string{"trend", "interaction", "link"}, f.Check) {
						told[fmt.Sprint(c.family, " ", n, " ", f.Check)]++
					}
				}
			}
		}
	}
	alarms := 0
	for _, n := range told {
		alarms += n
	}
	t.Logf("%d of %d fits are spoken against: %v", alarms, fits, told)
	if expected := 0.005 * float64(fits); float64(alarms) > expected+2*math.Sqrt(expected) {
		t.Errorf("%d of %d", alarms, fits)
	}
}

// TestAlarmsOfManyColumns: of more columns than rows a prediction is next to its own row, and the residual next to
// nothing. Neither is held against the other, nor sizes that are not known against the family.
func TestAlarmsOfManyColumns(t *testing.T) {
	const rows, columns, sets = 60, 300, 5
	for _, c := range []struct {
		family string
		strong int
	}{{"gaussian", 0}, {"gaussian", 4}, {"gamma", 0}} {
		told := map[string]int{}
		for seed := range uint64(sets) {
			rng := rand.New(rand.NewPCG(seed, 7))
			b, y := table.New(), make([]float64, rows)
			for j := range columns {
				x, weight := make([]float64, rows), 0.0
				if j < c.strong {
					weight = rng.NormFloat64()
				}
				for i := range x {
					x[i] = rng.NormFloat64()
					y[i] += weight * x[i]
				}
				b.Numbers(fmt.Sprint("x", j), x)
			}
			for i := range y {
				if y[i] += 0.7 * rng.NormFloat64(); c.family == "gamma" {
					y[i] = math.Exp(y[i]/5) * (rng.ExpFloat64() + rng.ExpFloat64())
				}
			}
			source, err := b.Numbers("y", y).Source()
			if err != nil {
				t.Fatal(err)
			}
			model, err := fit.Table(t.Context(), source, fit.Options{Formula: "y ~ .", Family: c.family, Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range findings(t, model, source, criticism.Options{Fitted: true}) {
				told[f.Check]++
			}
		}
		if len(told) > 0 {
			t.Errorf("%s, %d strong columns: %v in %d sets", c.family, c.strong, told, sets)
		}
	}
}
