package problem

import (
	"fmt"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

// Together is a term such as (1 + x | g), of k columns whose weights vary together over the levels of a key: weight
// First + level·k + c is that of a column. Each column is a group with a prior variance of its own.
type Together struct {
	Name             string
	Columns          []string
	First, Levels, K int
	Group            int       // of the first column, among the groups
	Correlations     []float64 // by the rows of the lower triangle, k(k−1)/2 of them: stated, or 0
	Learned          bool      // nothing is stated of them
}

// TogetherOf returns the terms of features with several columns, and the odds of their partial correlations, of all
// terms one after the other, as they begin; engine stands before errors.
func TogetherOf(engine string, features credence.Features, groups []Group) (list []Together, odds []float64, err error) {
	if features == nil {
		return nil, nil, fmt.Errorf("%s: the model has no features", engine)
	}
	blocks := features.Blocks()
	for _, c := range ability.Covariances(features) {
		k := len(c.Columns)
		if k < 2 {
			continue
		}
		t := Together{Name: blocks[c.Block].Name, Columns: c.Columns, First: blocks[c.Block].First, Levels: c.Levels, K: k, Learned: c.Correlations == nil}
		for groups[t.Group].Block != c.Block {
			t.Group++
		}
		t.Correlations = make([]float64, k*(k-1)/2)
		if n := len(c.Correlations); n > 1 && n != len(t.Correlations) {
			return nil, nil, fmt.Errorf("%s: %s: %d correlations are given for %d columns, which have %d: give the lower triangle by rows, or a single one for all", engine, t.Name, n, k, len(t.Correlations))
		}
		for i := range t.Correlations {
			if n := len(c.Correlations); n > 0 {
				t.Correlations[i] = c.Correlations[min(i, n-1)]
			}
		}
		of, err := special.Odds(k, t.Correlations)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %s: %w", engine, t.Name, err)
		}
		list, odds = append(list, t), append(odds, of...)
	}
	return list, odds, nil
}

// PairName names the correlation of columns r and c < r.
func (t *Together) PairName(r, c int) string {
	return "correlation." + t.Name + "." + t.Columns[c] + "." + t.Columns[r]
}

// columnsOf splits the group of a term into those of its columns.
func columnsOf(g Group, c ability.Covariance) (list []Group) {
	k := len(c.Columns)
	for j, name := range c.Columns {
		of := g
		of.Name, of.First, of.Count, of.Of, of.Stride = g.Name+"."+name, g.First+j, c.Levels, c.Levels, k
		if n := len(c.SD); n > 0 {
			sd := c.SD[min(j, n-1)]
			of.Stated = param.Parameter{Value: sd * sd, State: of.Stated.State}
		}
		list = append(list, of)
	}
	return list
}

// CorrelationsAt returns what members of a fit and its report say of the correlations of terms at odds that follow each
// other.
func CorrelationsAt(terms []Together, odds []float64) (members []prior.Correlation, report []credence.Value) {
	for i := range terms {
		t := &terms[i]
		n := special.Pairs(t.K)
		of := special.Correlations(t.K, odds[:n])
		members, odds = append(members, prior.Correlation{First: t.First, Values: of}), odds[n:]
		for r := range t.K {
			for c := range r {
				report = append(report, credence.Value{Name: t.PairName(r, c), Value: of[special.Pairs(r)+c]})
			}
		}
	}
	return members, report
}

// LongestOdds bounds the logarithms of odds: partial correlations to ±.999.
var LongestOdds = math.Log(1.999 / 0.001)
