package score

import (
	"strconv"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/likelihood"
)

// cutpointsOf returns the cutpoints of an ordinal family, nil for others.
func cutpointsOf(l credence.Likelihood) []float64 {
	if ordinal, ok := l.(likelihood.Ordinal); ok {
		return ordinal.Cutpoints.Values
	}
	return nil
}

// addCutpoints adds the cutpoints of an ordinal model to its own columns, and returns their number. A cutpoint at
// the origin of the data is that of the family less the intercept there, with whose weights it varies.
func addCutpoints(fitted *credence.Fitted, own *credence.OwnUnits) int {
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
		own.Columns = append(own.Columns, credence.OwnColumn{Block: "cutpoints", Name: grade(k) + "|" + grade(k+1)})
		own.Map.AppendRow(columns, values)
	}
	return len(cutpoints)
}
