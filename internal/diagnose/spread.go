package diagnose

import (
	"fmt"
	"slices"

	"github.com/credence-ml/credence"
)

// Standard deviations below leastRatio of what they should be, or half of them below middleRatio, are warned of.
const (
	leastRatio  = 0.8
	middleRatio = 0.9
)

// Narrow reports how much too narrow the standard deviations of the weights from a first one on are: ratios are theirs
// over what they should be. A warning says why, and a remedy; name names a weight, and is nil where single ratios are
// estimates too rough to be told.
func Narrow(report *credence.Report, ratios []float64, first int, name func(j int) string, why, remedy string) {
	if len(ratios) == 0 {
		return
	}
	least := 0
	for j, v := range ratios {
		if v < ratios[least] {
			least = j
		}
	}
	smallest, sorted := ratios[least], slices.Sorted(slices.Values(ratios))
	median := sorted[len(sorted)/2]
	report.SDRatio = &median
	which := ""
	if name != nil {
		which = fmt.Sprintf(" (least: %s, %.2f)", name(first+least), smallest)
	}
	if which != "" && smallest < leastRatio || median < middleRatio {
		report.Warnings = append(report.Warnings, fmt.Sprintf("%s: standard deviations of weights are about %.2f of what they should be%s; %s", why, median, which, remedy))
	}
}
