package score

import (
	"math"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
)

// Of three normal coordinates that correlate, in another order than that of the term: mean and ends of the intervals of
// A Σ Aᵀ against sums over a fine grid of the three. A law by its points in the place of the normal changes nothing.
func TestCovarianceOfItsOwnColumns(t *testing.T) {
	const sdA, sdB, sdZ, shift, scale = 0.8, 0.9, 0.3, 1.5, 2.0 // of the log variances, and of the coordinate
	const rAB, rAZ, rBZ = 0.5, -0.4, 0.3
	a, b, z := math.Log(4), math.Log(1), math.Atanh(0.5)
	names := []string{"prior_variance.t.(intercept)", "prior_variance.t.x", "correlation.t.(intercept).x"}
	report := credence.Report{
		Hyper:      credence.Values{{Name: names[0], Value: 4}, {Name: names[1], Value: 1}, {Name: names[2], Value: 0.5}},
		HyperSD:    credence.Values{{Name: names[0], Value: sdA}, {Name: names[1], Value: sdB}, {Name: names[2], Value: sdZ}},
		HyperJoint: &credence.JointLaw{Names: []string{names[2], names[0], names[1]}, Correlations: []float64{rAZ, rBZ, rAB}}, Hyperparameters: "integrate",
	}
	c := ability.Covariance{Columns: []string{"(intercept)", "x"}, Own: []float64{1, -shift, 0, 1 / scale}}
	group := func() Group {
		g := Group{Term: "t", SD: []Deviation{deviation(&report, names[0], 0.05), deviation(&report, names[1], 0.05)}}
		g.together(&report, c, 0.05)
		return g
	}
	own := func(u [3]float64) (sd, correlation float64) {
		s, v, rho := math.Exp((a+sdA*u[0])/2), math.Exp((b+sdB*u[1])/2), math.Tanh(z+sdZ*u[2])
		sd = math.Sqrt(s*s - 2*shift*rho*s*v + shift*shift*v*v)
		return sd, (rho*s - shift*v) / sd
	}
	// The density of three that correlate, by the inverse of their matrix.
	det := 1 - rAB*rAB - rAZ*rAZ - rBZ*rBZ + 2*rAB*rAZ*rBZ
	inverse := [3][3]float64{{1 - rBZ*rBZ, rAZ*rBZ - rAB, rAB*rBZ - rAZ}, {rAZ*rBZ - rAB, 1 - rAZ*rAZ, rAB*rAZ - rBZ}, {rAB*rBZ - rAZ, rAB*rAZ - rBZ, 1 - rAB*rAB}}
	check := func(what string, sd, correlation Deviation) {
		total, means, below := 0.0, [2]float64{}, [2][2]float64{}
		const n, reach = 60, 5.0
		for i := range n * n * n {
			u := [3]float64{}
			for k, at := range []int{i / n / n, i / n % n, i % n} {
				u[k] = reach * (2*(float64(at)+0.5)/n - 1)
			}
			square := 0.0
			for r := range u {
				for s := range u {
					square += u[r] * u[s] * inverse[r][s] / det
				}
			}
			weight := math.Exp(-square / 2)
			total += weight
			x, y := own(u)
			for k, v := range []float64{x, y} {
				means[k] += weight * v
				d := []Deviation{sd, correlation}[k]
				for end, at := range []float64{float64(d.Lower), float64(d.Upper)} {
					if v < at {
						below[k][end] += weight
					}
				}
			}
		}
		for k, d := range []Deviation{sd, correlation} {
			if got := d.Mean; !(math.Abs(got-means[k]/total) <= 0.02*math.Abs(means[k]/total)) {
				t.Errorf("%s: mean %d is %v, want %v", what, k, got, means[k]/total)
			}
			for end, want := range []float64{0.05, 0.95} {
				if got := below[k][end] / total; math.Abs(got-want) > 0.008 { // 10,000 draws: .0022
					t.Errorf("%s: %d has %v below end %d, want %v", what, k, got, end, want)
				}
			}
		}
	}
	g := group()
	check("normal", g.SD[0], g.Correlations[0])
	slope := deviation(&report, names[1], 0.05)
	if g.SD[1] != slope {
		t.Errorf("a column that is not centred has %+v, want %+v", g.SD[1], slope)
	}
	law := credence.Law{Name: names[2]}
	for i := range 29 {
		u := -7 + float64(i)/2
		law.At, law.LogDensity = append(law.At, math.Exp(2*(z+sdZ*u))), append(law.LogDensity, -u*u/2)
	}
	report.HyperJoint.Odds = []credence.Law{law}
	report.Hyper[2].Value, report.HyperSD[2].Value = -0.2, 0.01 // the law says what is, not these
	g = group()
	check("by a law", g.SD[0], g.Correlations[0])
	if again := group(); again.SD[0] != g.SD[0] || again.Correlations[0] != g.Correlations[0] {
		t.Error("a second time says something else")
	}
	report.HyperJoint, report.HyperSD, report.Hyperparameters, report.Hyper[2].Value = nil, nil, "ml", 0.5
	g = group()
	if g.SD[0].Lower.Defined() || g.Correlations[0].Upper.Defined() || !(math.Abs(g.Correlations[0].Mean-(0.5*2-shift)/math.Sqrt(4-2*shift+shift*shift)) <= 1e-9) {
		t.Errorf("without a law %+v", g)
	}
}

// TestHeldCovarianceOfThree: of three columns whose standard deviations and correlations are held, those of effects of
// the data's own columns are those of A Σ Aᵀ, each by its names, however large or small its unit is.
func TestHeldCovarianceOfThree(t *testing.T) {
	columns, variances, correlations := []string{"(intercept)", "x", "z"}, []float64{4, 1, 9}, []float64{0.5, -0.3, 0.2}
	report := credence.Report{Hyperparameters: "ml"}
	for i, c := range columns {
		report.Hyper = append(report.Hyper, credence.Value{Name: "prior_variance.t." + c, Value: variances[i]})
	}
	g := Group{Term: "t"}
	at := 0
	var sigma [3][3]float64
	for i := range columns {
		sigma[i][i] = variances[i]
		for j := range i {
			report.Hyper = append(report.Hyper, credence.Value{Name: "correlation.t." + columns[j] + "." + columns[i], Value: correlations[at]})
			sigma[i][j] = correlations[at] * math.Sqrt(variances[i]*variances[j])
			sigma[j][i], at = sigma[i][j], at+1
		}
		g.SD = append(g.SD, deviation(&report, "prior_variance.t."+columns[i], 0.05))
	}
	own := []float64{1, -1.5, 0.25, 0, 3e5, 0, 0, 2e-4, 1e-4}
	var want [3][3]float64
	for i := range 3 {
		for j := range 3 {
			for r := range 3 {
				for s := range 3 {
					want[i][j] += own[3*i+r] * sigma[r][s] * own[3*j+s]
				}
			}
		}
	}
	alone := g.SD[1]
	g.together(&report, ability.Covariance{Columns: columns, Own: own}, 0.05)
	same := func(got, want float64) bool { return math.Abs(got-want) <= 1e-9*math.Abs(want) }
	at = 0
	for i := range columns {
		if sd := math.Sqrt(want[i][i]); i != 1 && (!same(g.SD[i].Mean, sd) || g.SD[i].Name != columns[i]) {
			t.Errorf("%s: %+v, want %v", columns[i], g.SD[i], sd)
		}
		for j := range i {
			if c := g.Correlations[at]; !same(c.Mean, want[i][j]/math.Sqrt(want[i][i]*want[j][j])) || c.Name != columns[j]+", "+columns[i] || c.Lower.Defined() {
				t.Errorf("%+v, want %v of %s and %s", c, want[i][j]/math.Sqrt(want[i][i]*want[j][j]), columns[j], columns[i])
			}
			at++
		}
	}
	if g.SD[1].Mean != alone.Mean || g.SD[1].Lower.Defined() || len(g.Correlations) != 3 {
		t.Errorf("a column that is its own has %+v, want %+v; %d correlations", g.SD[1], alone, len(g.Correlations))
	}
}
