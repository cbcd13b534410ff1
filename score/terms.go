package score

import (
	"fmt"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/special"
)

// Term is a weight of a model with its posterior, on the data's own scale.
type Term struct {
	Block     string   `json:"block"`
	Name      string   `json:"name"`
	Mean      float64  `json:"mean"`
	SD        float64  `json:"sd"`
	Lower     float64  `json:"lower"`
	Upper     float64  `json:"upper"`
	Inclusion *float64 `json:"inclusion,omitempty"` // P(w ≠ 0), where weights may be 0
}

// Terms returns the weights of the model, of the first member where it has several, with the central
// interval of the given probability.
func Terms(fitted *credence.Fitted, interval float64) []Term {
	member := fitted.Members[0]
	features := member.Model.Features
	d := features.Weights()
	mean, variance := make([]float64, d), make([]float64, d)
	member.Posterior.Marginals(mean, variance)
	named, _ := features.(credence.Named)
	rescaled, _ := features.(credence.Rescaled)
	selector, selects := member.Posterior.(credence.Selector)
	selects = selects && selector.Selects()
	z := special.NormalQuantile((1 + interval) / 2)

	terms := make([]Term, 0, d)
	shift := 0.0
	intercept := -1
	for _, block := range features.Blocks() {
		for k := range block.Count {
			j := block.First + k
			t := Term{Block: block.Name, Name: fmt.Sprint(k + 1), Mean: mean[j], SD: math.Sqrt(variance[j])}
			if named != nil {
				t.Name = named.WeightName(j)
			}
			if rescaled != nil {
				factor, weightShift := rescaled.OwnScale(j)
				shift += weightShift * mean[j]
				t.Mean *= factor
				t.SD *= math.Abs(factor)
			}
			if block.Intercept {
				intercept = len(terms)
			}
			if selects {
				probability := selector.InclusionProbability(j)
				t.Inclusion = &probability
			}
			terms = append(terms, t)
		}
	}
	if intercept >= 0 && rescaled != nil {
		terms[intercept].Mean += shift
		terms[intercept].SD = interceptSD(member, rescaled)
	}
	for i := range terms {
		terms[i].Lower = terms[i].Mean - z*terms[i].SD
		terms[i].Upper = terms[i].Mean + z*terms[i].SD
	}
	return terms
}

// interceptSD returns the posterior standard deviation of the intercept on the
// data's own scale. It is that of f at the row whose columns are 0 on that
// scale, in the blocks that can be expressed there.
func interceptSD(member credence.Member, rescaled credence.Rescaled) float64 {
	features := member.Model.Features
	d := features.Weights()
	row := make([]float64, d)
	for _, block := range features.Blocks() {
		for j := block.First; j < block.First+block.Count; j++ {
			if _, row[j] = rescaled.OwnScale(j); block.Intercept {
				row[j] = 1
			}
		}
	}
	dense := d
	if shape, ok := features.(interface{ DenseWeights() int }); ok {
		dense = shape.DenseWeights()
	}
	var phi credence.Design
	phi.Dense.Reshape(1, dense)
	copy(phi.Dense.Data, row)
	var columns []int32
	var values []float64
	for j, v := range row[dense:] {
		if v != 0 {
			columns, values = append(columns, int32(j)), append(values, v)
		}
	}
	phi.Sparse.Reset(d - dense)
	phi.Sparse.AppendRow(columns, values)
	var mean, variance [1]float64
	member.Posterior.Latent(credence.NewWorkspace(1), mean[:], variance[:], &phi)
	return math.Sqrt(variance[0])
}

// Selected counts the weights, intercepts aside, that are more likely in the model than not; ok says
// whether weights may be 0.
func Selected(fitted *credence.Fitted) (count int, ok bool) {
	selector, ok := fitted.Members[0].Posterior.(credence.Selector)
	if !ok || !selector.Selects() {
		return 0, false
	}
	for _, block := range fitted.Members[0].Model.Features.Blocks() {
		for j := block.First; j < block.First+block.Count && !block.Intercept; j++ {
			if selector.InclusionProbability(j) > 0.5 {
				count++
			}
		}
	}
	return count, true
}
