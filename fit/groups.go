package fit

import (
	"context"
	"fmt"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/internal/cell"
	"github.com/credence-ml/credence/likelihood"
)

// fewGroups is the number of groups below which the prior of their standard deviation says more of it than they do.
const fewGroups = 5

// grouped is what a pass over the rows finds of a term of groups.
type grouped struct {
	ability.Covariance
	block  credence.Block
	law    []float64 // prior variances of its weights, 0 for all others: of a single column
	z      []float64 // of a row, of several columns
	sum    float64   // of zᵀΣz over the rows
	rows   []int     // of every weight
	value  []float64 // of the column in the first of them
	varies bool      // within some group
}

// tellGroups notes what f varies by over the rows, with and without effects of groups, and says where rows tell little
// of them.
func (p *Prepared) tellGroups(ctx context.Context, fitted *credence.Fitted) error {
	member := &fitted.Members[0]
	features, d := member.Model.Features, member.Model.Features.Weights()
	if p.products != nil || len(ability.Covariances(features)) == 0 { // variances of many weights take their time
		return nil
	}
	law, ok := member.Model.Prior.(credence.UnseenPrior)
	var terms []*grouped
	fixed, variance := make([]float64, d), make([]float64, d)
	member.Posterior.Marginals(fixed, variance)
	for _, c := range ability.Covariances(features) {
		b := features.Blocks()[c.Block]
		g := &grouped{Covariance: c, block: b, law: make([]float64, d), rows: make([]int, b.Count), value: make([]float64, b.Count)}
		for j := b.First; j < b.First+b.Count && ok; j++ {
			g.law[j] = law.UnseenVariance(b)
		}
		if len(c.Columns) > 1 {
			g.z = make([]float64, len(c.Columns))
		}
		clear(fixed[b.First : b.First+b.Count])
		terms = append(terms, g)
	}
	ws, design := credence.NewWorkspace(p.job.options.Threads), credence.Design{}
	weight, mean, square := 0.0, 0.0, 0.0
	for rows, err := range credence.Batches(ctx, p.data) {
		if err != nil {
			return err
		}
		features.Transform(ws, &design, rows)
		for i := range rows.Rows() {
			w, f := rows.WeightOf(i)*rows.PrecisionOf(i), design.RowDot(i, fixed)
			if w == 0 {
				continue
			}
			weight += w
			gap := f - mean
			mean += w / weight * gap
			square += w * gap * (f - mean)
			for _, g := range terms {
				clear(g.z)
			}
			design.Each(i, func(j int, v float64) {
				for _, g := range terms {
					if at := j - g.block.First; at >= 0 && at < g.block.Count && v != 0 {
						g.varies = g.varies || g.rows[at] > 0 && g.value[at] != v
						g.rows[at]++
						g.value[at] = v
						if g.z != nil {
							g.z[at%len(g.z)] = v
						}
					}
				}
			})
			for _, g := range terms {
				if form, ok := law.(ability.UnseenLevels); ok && g.z != nil {
					g.sum += w * form.UnseenForm(g.block, g.z)
				} else {
					g.sum += w * design.RowSquareDot(i, g.law)
				}
			}
		}
	}
	r := &fitted.Report
	r.Latent = &credence.Latent{Fixed: square / weight}
	_, gaussian := member.Model.Likelihood.(likelihood.Gaussian)
	for _, g := range terms {
		r.Latent.Groups = append(r.Latent.Groups, credence.Value{Name: g.block.Name, Value: g.sum / weight})
		if g.Levels < fewGroups && !g.Held {
			r.Warnings = append(r.Warnings, fmt.Sprintf("%s has %d %s, so few that the standard deviation of their effects is mostly its prior: state it where it is known, as sd=…, or take %s for a plain column",
				g.block.Name, g.Levels, cell.Plural(g.Levels, "level", "levels"), g.Key))
		}
		if most := slices.Max(g.rows); gaussian && most <= 1 && !g.Held {
			r.Warnings = append(r.Warnings, fmt.Sprintf("%s has a row for each level at most, so that their effects and the noise cannot be told apart: leave the term out, or state the one as sd=…, or the other as --family 'gaussian(variance=…)'", g.block.Name))
		}
		if !g.varies && g.Columns[0] != "(intercept)" {
			r.Remarks = append(r.Remarks, fmt.Sprintf("%s: %s is the same within every %s, so that slopes are effects of groups by another name", g.block.Name, g.Columns[0], g.Key))
		}
	}
	return nil
}
