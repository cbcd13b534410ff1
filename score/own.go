package score

import (
	"fmt"
	"math"
	"strconv"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
)

// ownUnits returns the weights of features in the data's own units, or as they were fitted where the
// features know of no others.
func ownUnits(features credence.Features, bases []string) (*ability.OwnUnits, error) {
	if rescaled, ok := features.(ability.Rescaled); ok {
		return rescaled.OwnUnits(bases...)
	}
	if len(bases) > 0 {
		return nil, fmt.Errorf("base %s: the model has no categories whose levels could be told against it: leave the base out", bases[0])
	}
	named, _ := features.(credence.Named)
	own := &ability.OwnUnits{}
	own.Map.Reset(features.Weights())
	for _, block := range features.Blocks() {
		for j := block.First; j < block.First+block.Count; j++ {
			name := fmt.Sprint(j - block.First + 1)
			if named != nil {
				name = named.WeightName(j)
			}
			own.Columns = append(own.Columns, ability.OwnColumn{Block: block.Name, Name: name, Intercept: block.Intercept})
			own.Map.AppendRow([]int32{int32(j)}, nil)
		}
	}
	return own, nil
}

// ownMoments returns the means and standard deviations of own weights, of which the last are cutpoints.
func ownMoments(fitted *credence.Fitted, own *ability.OwnUnits, cutpoints int) (mean, sd []float64, err error) {
	units := ownExponents(&own.Map)
	mean, sd = sumMoments(fitted, own, units)
	first := len(mean) - cutpoints
	for k := range fitted.Members {
		for i, c := range cutpointsOf(fitted.Members[k].Model.Likelihood) {
			mean[first+i] += fitted.Share(k) * c
		}
	}
	f, l := fitted.Family, fitted.Members[0].Model.Likelihood
	switch {
	case cutpoints == 0 || learnedParameters(l) == 0:
		return mean, sd, nil
	case f == nil:
		for i := first; i < len(sd); i++ {
			sd[i] = math.NaN()
		}
		return mean, sd, nil
	}
	axes := axesOf(f)
	_, along, err := uncertainCutpoints(f, l, axes)
	if err != nil {
		return nil, nil, err
	}
	for i := range cutpoints {
		variance := sd[first+i] * sd[first+i]
		for k, a := range axes {
			cross := 0.0 // of the sum of weights
			for j, v := range own.Map.Each(first + i) {
				cross += v * f.Slopes[j*len(axes)+k]
			}
			c := along[i*len(axes)+k]
			variance += c * (c + 2*a.sd*math.Ldexp(cross, units[first+i]))
		}
		sd[first+i] = math.Sqrt(max(0, variance))
	}
	return mean, sd, nil
}

// sumMoments returns the means and standard deviations of own sums of weights under the mixture of all members; of
// the first alone for columns that differ between members. Rows of the map are 2^−units of what they stand for.
func sumMoments(fitted *credence.Fitted, own *ability.OwnUnits, units []int) (mean, sd []float64) {
	n := len(own.Columns)
	mean, variance := make([]float64, n), make([]float64, n)
	part, spread := make([]float64, n), make([]float64, n)
	first := make([]float64, n) // means of the first member, about which squares are added up
	for k := range fitted.Members {
		share := fitted.Share(k)
		memberMoments(&fitted.Members[k], &own.Map, part, spread)
		if k == 0 {
			copy(first, part)
		}
		for i := range own.Columns {
			gap := part[i] - first[i]
			switch {
			case !own.Columns[i].Varies:
				mean[i] += share * gap
				variance[i] += share * (spread[i] + gap*gap)
			case k == 0:
				variance[i] = spread[i]
			}
		}
	}
	for i, gap := range mean {
		mean[i] = math.Ldexp(first[i]+gap, units[i])
		variance[i] = math.Ldexp(math.Sqrt(max(0, variance[i]-gap*gap)), units[i])
	}
	return mean, variance
}

// ownExponents divides every row of t by a power of 2, whose exponent it returns, so that squares of its
// numbers are numbers: those of x²⁰ have 300 decimal places where x is a time in nanoseconds.
func ownExponents(t *linop.CSR) []int {
	const most = 300 // binary exponents that a square can have, and be summed
	exponents := make([]int, t.Rows)
	for i := range exponents {
		_, values := t.Row(i)
		largest := 0.0
		for _, v := range values {
			largest = max(largest, math.Abs(v))
		}
		if _, e := math.Frexp(largest); e > most || e < -most {
			exponents[i] = e
			for k := range values {
				values[k] = math.Ldexp(values[k], -e)
			}
		}
	}
	return exponents
}

// ownRows is how many sums of weights are taken at a time.
const ownRows = 256

// memberMoments stores the means and variances of the sums T w of a member's weights. Sums of one weight come from its
// marginal. The others are latent values of rows that T makes.
func memberMoments(member *credence.Member, t *linop.CSR, mean, variance []float64) {
	features := member.Model.Features
	d := features.Weights()
	m, v := make([]float64, d), make([]float64, d)
	member.Posterior.Marginals(m, v)
	var sums []int
	for i := range t.Rows {
		columns, values := t.Row(i)
		mean[i], variance[i] = 0, 0
		if len(columns) > 1 {
			sums = append(sums, i)
		} else if len(columns) == 1 {
			j, factor := columns[0], linop.At(values, 0)
			mean[i], variance[i] = factor*m[j], factor*factor*v[j]
		}
	}
	ws := credence.NewWorkspace(0)
	for len(sums) > 0 {
		some := sums[:min(ownRows, len(sums))]
		sums = sums[len(some):]
		phi := design(features, t, some)
		latent, spread := make([]float64, len(some)), make([]float64, len(some))
		member.Posterior.Latent(ws, latent, spread, phi)
		for k, i := range some {
			mean[i], variance[i] = latent[k], spread[k]
		}
	}
}

// design returns rows of t as the rows of a design with the columns of features.
func design(features credence.Features, t *linop.CSR, rows []int) *credence.Design {
	dense := denseWeights(features)
	phi := new(credence.Design)
	phi.Dense.Reshape(len(rows), dense)
	clear(phi.Dense.Data)
	phi.Sparse.Reset(t.Cols - dense)
	var columns []int32
	var values []float64
	for k, i := range rows {
		columns, values = columns[:0], values[:0]
		for j, v := range t.Each(i) {
			if j < dense {
				phi.Dense.Row(k)[j] = v
			} else {
				columns, values = append(columns, int32(j-dense)), append(values, v)
			}
		}
		phi.Sparse.AppendRow(columns, values)
	}
	return phi
}

// cutpointsOf returns the cutpoints of an ordinal family, nil for others.
func cutpointsOf(l credence.Likelihood) []float64 {
	if ordinal, ok := l.(likelihood.Ordinal); ok {
		return ordinal.Cutpoints.Values
	}
	return nil
}

// addCutpoints adds the cutpoints of an ordinal model to its own columns, and returns their number. A cutpoint at
// the origin of the data is that of the family less the intercept there, with whose weights it varies.
func addCutpoints(fitted *credence.Fitted, own *ability.OwnUnits) int {
	cutpoints := cutpointsOf(fitted.Members[0].Model.Likelihood)
	if len(cutpoints) == 0 {
		return 0
	}
	var columns []int32
	var values []float64
	for i := range own.Columns {
		if own.Columns[i].Intercept {
			for j, v := range own.Map.Each(i) {
				columns, values = append(columns, int32(j)), append(values, -v)
			}
		}
	}
	grade := func(k int) string { return strconv.Itoa(k) }
	if fr, ok := fitted.Frame.(*frame.Frame); ok && fr.Target != nil && len(fr.Target.Levels) == len(cutpoints)+1 {
		grade = func(k int) string { return fr.Target.Levels[k] }
	}
	for k := range cutpoints {
		own.Columns = append(own.Columns, ability.OwnColumn{Block: "cutpoints", Name: grade(k) + "|" + grade(k+1)})
		own.Map.AppendRow(columns, values)
	}
	return len(cutpoints)
}
