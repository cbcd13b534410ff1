package score_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/score"
)

type weighedRow struct{ One, X, Z, Y, W, P float64 }

// leftRows are rows of weights and precisions with a count for a target, or that and noise.
func leftRows(noise float64) []weighedRow {
	var all []weighedRow
	for i := range 24 {
		f := float64(i)
		x, z := math.Sin(3*f), math.Cos(f*f)
		all = append(all, weighedRow{1, x, z, math.Round(6+2*x-z+2*math.Sin(17*f)) + noise*math.Sin(5*f), float64(1 + i%3), 0.5 + float64(i%4)})
	}
	return all
}

// TestLeaveOneOutIsRefitting: the density of each row given the others is that which a fit to the others
// predicts, where everything is held: to rounding for a Gaussian likelihood, and to 0.02 nats for
// counts, whose posteriors are normal to about as much.
func TestLeaveOneOutIsRefitting(t *testing.T) {
	for _, c := range []struct {
		noise     float64
		options   fit.Options
		tolerance float64
	}{
		{0.3, fit.Options{Formula: "Y ~ 0 + One + X + Z + weight(W) + precision(P)", Family: "gaussian(variance=2)", Engine: "exact"}, 1e-8},
		{0.3, fit.Options{Formula: "Y ~ 0 + One + X + Z + weight(W) + precision(P)", Family: "gaussian(variance=2)", Engine: "svi(covariance=full)"}, 1e-8},
		{0, fit.Options{Formula: "Y ~ 0 + One + X + Z + weight(W)", Family: "poisson"}, 0.02},
	} {
		c.options.Prior, c.options.Raw = "normal(variance=1.5)", true
		all := leftRows(c.noise)
		model := fitted(t, structs(t, all), c.options)
		got := must.Value(score.LeaveOneOut(t.Context(), scorer(t, model), structs(t, all)))(t)
		leaver := score.NewLeaver(model)
		leaver.KeepPIT()
		table := must.Value(scorer(t, model).Table(structs(t, all), score.RequireTargets))(t)
		must.Succeed(t, table.Each(t.Context(), leaver.Add))
		want, total := 0.0, 0.0
		for place, row := range all {
			others := append(append([]weighedRow{}, all[:place]...), all[place+1:]...)
			each(t, fitted(t, structs(t, others), c.options), structs(t, []weighedRow{row}), func(rows *score.Rows, i int) {
				want -= row.W * rows.LogDensity(i, rows.Target(i))
				below, upTo := rows.PIT(i)
				gotBelow, gotUpTo := leaver.PIT(place)
				if !(math.Abs(gotBelow-below) <= c.tolerance) || !(math.Abs(gotUpTo-upTo) <= c.tolerance) {
					t.Errorf("%s, row %d: probabilities %v and %v below the target and up to it, want %v and %v", c.options.Family, place, gotBelow, gotUpTo, below, upTo)
				}
			})
			total += row.W
		}
		want /= total
		if !(math.Abs(float64(got.NLPD)-want) <= c.tolerance) || got.Rows != len(all) || got.Unreliable > 0 || !(got.Error > 0) {
			t.Errorf("%s, %s: %+v, want a density of %v", c.options.Family, c.options.Engine, got, want)
		}
		if gaussian := c.noise > 0; gaussian != (got.ParetoK == 0) {
			t.Errorf("%s: Pareto k %v", c.options.Family, got.ParetoK)
		}
		largest := 0.0
		for i := range all {
			largest = max(largest, leaver.ParetoK(i))
		}
		if largest != got.ParetoK {
			t.Errorf("%s: largest Pareto k %v, want %v", c.options.Family, largest, got.ParetoK)
		}
	}
}

// TestLeaveOneOutOfMembers: members count by their share over their density of the row.
func TestLeaveOneOutOfMembers(t *testing.T) {
	all := leftRows(0.3)[1:2]
	var members []credence.Member
	var density, below []float64
	pit := func(model *credence.Fitted) float64 {
		leaver := score.NewLeaver(model)
		leaver.KeepPIT()
		table := must.Value(scorer(t, model).Table(structs(t, all), score.RequireTargets))(t)
		must.Succeed(t, table.Each(t.Context(), leaver.Add))
		from, upTo := leaver.PIT(0)
		if from != upTo {
			t.Errorf("probabilities %v below a continuous target and %v up to it", from, upTo)
		}
		return upTo
	}
	for _, variance := range []string{"0.5", "4"} {
		one := fitted(t, structs(t, all), fit.Options{Formula: "Y ~ 0 + X", Family: "gaussian(variance=2)", Prior: "normal(variance=" + variance + ")", Raw: true})
		left := must.Value(score.LeaveOneOut(t.Context(), scorer(t, one), structs(t, all)))(t)
		members, density, below = append(members, one.Members[0]), append(density, math.Exp(-float64(left.NLPD))), append(below, pit(one))
	}
	both := fitted(t, structs(t, all), fit.Options{Formula: "Y ~ 0 + X", Family: "gaussian(variance=2)", Prior: "normal(variance=1)", Raw: true})
	members[0].Weight, members[1].Weight = 0.3, 0.7
	both.Members = members
	left, err := score.LeaveOneOut(t.Context(), scorer(t, both), structs(t, all))
	if want := 1 / (0.3/density[0] + 0.7/density[1]); err != nil || !near(math.Exp(-float64(left.NLPD)), want) {
		t.Errorf("density %v, want %v: %v", math.Exp(-float64(left.NLPD)), want, err)
	}
	if got, want := pit(both), (0.3/density[0]*below[0]+0.7/density[1]*below[1])/(0.3/density[0]+0.7/density[1]); !near(got, want) || near(below[0], below[1]) {
		t.Errorf("probability %v up to the target, want %v", got, want)
	}
	if _, err := score.LeaveOneOut(t.Context(), scorer(t, both), structs(t, leftRows(0.3))); err == nil || !strings.Contains(err.Error(), "these are 24, and it saw 1") {
		t.Errorf("other rows: %v", err)
	}
}

// TestCompareLeftOut: compared models have their leave-one-out densities beside those of the rows, across
// transforms in the units of the column, and a gain with the standard error of its mean over rows.
func TestCompareLeftOut(t *testing.T) {
	all := houses(50)
	source := structs(t, all)
	plain, log := fitted(t, all, fit.Options{Formula: "Price ~ Size"}), fitted(t, all, fit.Options{Formula: "log(Price) ~ Size + Zip"})
	var scores []*score.Scores
	for _, model := range []*credence.Fitted{plain, log} {
		s := score.NewScores("m", model)
		s.LeaveOneOut()
		table, err := scorer(t, model).Table(source, score.RequireTargets)
		if err == nil {
			err = table.Each(t.Context(), s.Add)
		}
		if err != nil {
			t.Fatal(err)
		}
		scores = append(scores, s)
	}
	if err := errors.Join(scores[1].Beside(scores[0]), scores[0].Beside(nil)); err != nil {
		t.Error(err)
	}
	other := score.NewScores("size", fitted(t, all, fit.Options{Formula: "Size ~ Zip"}))
	if err := other.Beside(scores[0]); err == nil || !strings.Contains(err.Error(), "different targets") {
		t.Errorf("another target before rows are scored: %v", err)
	}
	c := must.Value(score.Compare(scores...))(t)
	slope := 0.0
	for _, h := range all {
		slope += math.Log(h.Price) / float64(len(all))
	}
	for k, model := range []*credence.Fitted{plain, log} {
		want := must.Value(score.LeaveOneOut(t.Context(), scorer(t, model), source))(t)
		if got := c.Models[k]; !near(float64(got.LOO.NLPD), float64(want.NLPD)+float64(k)*slope) || got.LOO.NLPD <= got.NLPD || got.LOO.Rows != 50 {
			t.Errorf("model %d: %+v, want %v", k, got.LOO, want)
		}
	}
	gaps, mean, square := make([]float64, len(all)), 0.0, 0.0
	for k, model := range []*credence.Fitted{plain, log} {
		leaver := score.NewLeaver(model)
		each(t, model, source, func(rows *score.Rows, i int) {
			if i == 0 {
				must.Succeed(t, leaver.Add(rows))
			}
		})
		for i, h := range all {
			gaps[i] += float64(2*k-1)*leaver.LogDensity(i) - float64(k)*math.Log(h.Price)
		}
	}
	for _, gap := range gaps {
		mean, square = mean+gap/50, square+gap*gap/50
	}
	if other := c.Models[1]; !near(float64(other.LOOGain), mean) || !near(float64(other.LOOGainError), math.Sqrt((square-mean*mean)/50)) || c.Models[0].LOOGain != 0 {
		t.Errorf("gains %+v", c.Models)
	}
	if all := strings.Join(c.Warnings, "\n"); strings.Contains(all, "--loo") {
		t.Errorf("warnings %q", all)
	}
}
