package plot

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/credence-ml/credence/internal/chart"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/score"
)

func drawLOOPIT(ctx context.Context, p *picture) (*chart.Chart, error) {
	c, err := p.check(ctx, true)
	if err != nil {
		return nil, err
	}
	return c.ecdf(p, fmt.Sprintf("Calibration: where %s lies when predicted from the other rows", p.Scorer.Frame().TargetName()),
		"The share of rows whose P(Y ≤ y | all other rows) is up to each value, less that value: flat at 0 where predictions are calibrated.")
}

// refuseLeft says why rows cannot be left out.
func refuseLeft(p *picture) string {
	fitted := p.Scorer.Fitted()
	if why := score.NewLeaver(fitted).NotMade(); why != "" {
		return why
	}
	bound, err := p.Scorer.Table(p.Rows, score.RequireTargets)
	if err != nil {
		return "" // which drawing says better
	}
	if n := bound.Rows(); n != fitted.Report.Rows {
		return fmt.Sprintf("rows are left out that the model was fitted to, which are %d, and these are %d: give the training rows", fitted.Report.Rows, n)
	}
	return ""
}

func refuseKHat(p *picture) string {
	fitted := p.Scorer.Fitted()
	if _, gaussian := fitted.Members[0].Model.Likelihood.(likelihood.Gaussian); gaussian && fitted.Family == nil {
		return "rows of a gaussian family are left out in closed form, which needs no Pareto-k̂"
	}
	return refuseLeft(p)
}

func drawKHat(ctx context.Context, p *picture) (*chart.Chart, error) {
	c, err := p.check(ctx, true)
	if err != nil {
		return nil, err
	}
	good, bad := chart.Mark{Shape: chart.Points, Name: "reliable"}, chart.Mark{Shape: chart.Points, Colour: 1, Thick: true, Name: "left out badly"}
	var rows []string
	for i, k := range c.k {
		if to := &good; k > c.goodK {
			to, rows = &bad, append(rows, fmt.Sprint(c.row[i]))
			to.X, to.Y = append(to.X, float64(c.row[i])), append(to.Y, k)
		} else {
			to.X, to.Y = append(to.X, float64(c.row[i])), append(to.Y, k)
		}
	}
	verdict := "every row can be left out"
	if len(rows) > 0 {
		verdict = fmt.Sprintf("%d of %s are above %.2g: row %s", len(rows), p.looked(len(c.k)), c.goodK, strings.Join(rows[:min(len(rows), 6)], ", "))
		if len(rows) > 6 {
			verdict += ", …"
		}
	}
	return &chart.Chart{
		Title: "Leaving out each row: Pareto-k̂", Under: fmt.Sprintf("%s; %s", p.looked(len(c.k)), verdict),
		Description: fmt.Sprintf("One point for each training row. Up to %.2g the row can be left out without another fit; above, the row changes the model so much that what the others predict of it is not known so. The largest is %.2f; %s.", c.goodK, slices.Max(c.k), verdict),
		Panels: []chart.Panel{{X: chart.Axis{Name: "row", Whole: true}, Y: chart.Axis{Name: "Pareto-k̂"}, Marks: []chart.Mark{good, bad},
			Rules: []chart.Rule{{At: 0}, {Name: fmt.Sprintf("%.2g", c.goodK), At: c.goodK}, {Name: "1", At: 1}}}},
	}, nil
}
