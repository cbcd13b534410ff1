package relation

import (
	"fmt"
	"math"
	"strings"
)

// Units are the relations of the units of targets and columns.
func Units() []Relation {
	const factor, shift = 10.0, 100.0
	const unit = 1e6 // of the target
	return []Relation{
		{
			Name: "unit of the target", About: "of an additive target, or one above 0 with a logarithmic link, in a unit a million times as small, every number in units of it changes by a power of the factor, evidences by its logarithm a row, and nothing else",
			Change: func(j Job) (Job, bool) {
				// in units of an additive target
				if before, stated, found := strings.Cut(j.Options.Engine, "lambda="); found {
					var lambda float64
					if _, err := fmt.Sscanf(stated, "%g)", &lambda); err != nil {
						panic(err)
					}
					j.Options.Engine = fmt.Sprintf("%slambda=%v)", before, unit*lambda)
				}
				return j.Both(func(t Table) Table { return t.Map(j.Target(), func(y float64) float64 { return unit * y }) }), (additive(j) || positive(j)) && free(j)
			},
			Expect: func(j Job, place string, v float64) (float64, bool) {
				_, last := split(place)
				switch {
				case isEvidence(place):
					return v - mass(j)*math.Log(unit), true
				case last == "log_density":
					return v - math.Log(unit), true
				case last == "nlpd":
					return v + math.Log(unit), true
				case additive(j) || strings.HasPrefix(place, "target.") || strings.HasPrefix(place, "baseline.") || row(place) >= 0 && !strings.HasPrefix(last, "f_"):
					return v * math.Pow(unit, power(place)), true
				case last == "f_mean" || strings.HasPrefix(place, "terms.(intercept)") && last != "sd":
					// Weights are of the logarithm.
					return v + math.Log(unit), true
				}
				return v, true
			},
		},
		{
			Name: "constant added to the target", About: "of an additive target, a constant is the intercept's",
			Change: func(j Job) (Job, bool) {
				return j.Both(func(t Table) Table { return t.Map(j.Target(), func(y float64) float64 { return y + shift }) }), additive(j)
			},
			Expect: func(_ Job, place string, v float64) (float64, bool) {
				place = Ungrouped(place)
				_, last := split(place)
				if moves(place) {
					return v + shift, true
				}
				if last == "calibration_intercept" { // unless the slope is 1
					return v, false
				}
				moves := last == "mean" || last == "lower" || last == "upper" || last == "f_mean" || strings.HasPrefix(last, "sample_")
				if moves && (row(place) >= 0 || strings.HasPrefix(place, "terms.(intercept)") || place == "target.mean") {
					return v + shift, true
				}
				return v, true
			},
		},
		{
			Name: "unit of a column", About: "a column in another unit has another weight, and nothing else changes",
			Change: func(j Job) (Job, bool) {
				return j.Both(func(t Table) Table { return t.Map("x", func(x float64) float64 { return x / factor }) }), scaled(j)
			},
			Expect: func(j Job, place string, v float64) (float64, bool) {
				if j.Options.Raw && (place == "hyper.slab" || place == "hyper.spike") {
					return v * factor * factor, true
				}
				if names, last := split(place); strings.HasSuffix(names, "linear.x") && (last == "mean" || last == "sd" || last == "lower" || last == "upper") ||
					strings.HasSuffix(place, "coefficients.x.mean") || strings.HasPrefix(names, "effects.x.") && effects[last] && !strings.HasPrefix(names, "effects.x.sd") && !strings.HasPrefix(names, "effects.x.Q3") {
					// of a step that is stated, and not of one that follows the column
					return v * factor, true
				}
				return v, true
			},
		},
		{
			Name: "sign of a column", About: "a column of the other sign has a weight of the other sign, and nothing else changes, whether columns are scaled or not",
			Change: func(j Job) (Job, bool) {
				return j.Both(func(t Table) Table { return t.Map("x", func(x float64) float64 { return -x }) }), !strings.Contains(j.Options.Formula, "(x")
			},
			Expect: func(j Job, place string, v float64) (float64, bool) {
				names, last := split(place)
				if !strings.HasSuffix(names, ".x") && !strings.HasSuffix(names, "coefficients.x") && names != "x" && !strings.HasPrefix(names, "effects.x.") {
					return v, true
				}
				switch last {
				case "mean", "estimate":
					return -v, true
				case "lower", "upper", "conf_low", "conf_high": // each is the other
					return v, false
				}
				return v, true
			},
		},
		{
			Name: "constant added to a column", About: "a constant added to a column changes the intercept alone",
			Change: func(j Job) (Job, bool) {
				return j.Both(func(t Table) Table { return t.Map("x", func(x float64) float64 { return x + 7 }) }), scaled(j) && !j.Options.Raw
			},
			Expect: func(_ Job, place string, v float64) (float64, bool) {
				return v, !strings.HasPrefix(place, "terms.(intercept)") && !strings.HasPrefix(place, "terms.cutpoints") && !strings.HasPrefix(place, "hyper.cutpoint")
			},
		},
	}
}

// free says that no number of the model is stated in units of the target.
func free(j Job) bool {
	stated := func(text, name string) bool { return strings.Contains(text, name+"=") }
	return !stated(j.Options.Family, "variance") && !stated(j.Options.Prior, "variance") && !stated(j.Options.Prior, "spike")
}

// positive says that the target is above 0, and its logarithm linear.
func positive(j Job) bool { return strings.HasPrefix(j.Options.Family, "gamma") }

// scaled says that columns are brought to units of their own before weights have a prior, or that there is one alone,
// whose size the prior follows.
func scaled(j Job) bool {
	return j.Command != "stream" && (!j.Options.Raw || strings.HasSuffix(j.Options.Formula, "~ x"))
}

// power is that of the target's unit in a number at a place.
func power(place string) float64 {
	place = Ungrouped(place)
	names, last := split(place)
	switch {
	case scores[last] || moves(place) || strings.HasPrefix(place, "interval_width.") || strings.HasPrefix(place, "interval_score."):
		return 1
	case place == "target.variance" || strings.HasPrefix(place, "latent.") || strings.HasPrefix(place, "hyper_laws.") && strings.HasSuffix(names, ".at"):
		return 2
	case effects[last] || strings.HasPrefix(place, "groups.") && strings.Contains(names, ".sd."):
		return 1
	case strings.HasPrefix(place, "hyper.") || strings.HasPrefix(place, "hyper_prior."):
		_, name, _ := strings.Cut(place, ".")
		name, _, _ = strings.Cut(name, ".")
		return hyperPowers[name]
	case strings.HasPrefix(place, "terms.") || row(place) >= 0 || place == "target.mean" || strings.HasPrefix(strings.TrimPrefix(names, "selection."), "features.") || strings.Contains(names, ".coefficients."):
		switch last {
		case "mean", "sd", "lower", "upper", "f_mean", "f_sd", "median":
			return 1
		}
		if strings.HasPrefix(last, "sample_") {
			return 1
		}
	}
	return 0
}

// scores are figures of an evaluation in units of the target.
var scores = map[string]bool{"rmse": true, "mae": true, "mean_difference": true, "crps": true, "wis": true, "calibration_intercept": true}

// moves says that a place of a reliability table has a mean or a bound of the target.
func moves(place string) bool {
	_, last := split(place)
	return strings.HasPrefix(place, "reliability.") && last != "weight"
}

// Ungrouped is the place in an evaluation of a place in that of a group.
func Ungrouped(place string) string {
	if rest, is := strings.CutPrefix(place, "groups."); is {
		if number, rest, _ := strings.Cut(rest, "."); strings.Trim(number, "0123456789") == "" {
			return rest
		}
	}
	return place
}

// effects are the numbers of an effect in units of the target.
var effects = map[string]bool{"estimate": true, "std_error": true, "conf_low": true, "conf_high": true, "mcse": true}

// hyperPowers are the powers of the target's unit in hyper-parameters.
var hyperPowers = map[string]float64{"noise_variance": 2, "prior_variance": 2, "slab": 2, "spike": 2, "scale": 1, "prior_scale": 1, "lambda": 1, "cross_validated_loss": 2, "cross_validated_loss_se": 2}

// mass is how many rows the rows of a job count for.
func mass(j Job) float64 {
	if !j.Has("weight") {
		return float64(j.Rows.Rows())
	}
	sum := 0.0
	for _, w := range j.Rows.Numbers["w"] {
		sum += w
	}
	return sum
}

// isEvidence says that a place has a log evidence, a bound or an estimate of it.
func isEvidence(place string) bool {
	_, last := split(place)
	switch last {
	case "evidence", "evidence_penalised", "evidence_mode", "elbo", "elbo_mode", "evidence_estimate", "evidence_bound", "evidence_bound_mode", "elbo_bound":
		return true
	}
	return false
}

// split is a place without its last part, and that part.
func split(place string) (names, last string) {
	i := strings.LastIndexByte(place, '.')
	return place[:max(i, 0)], place[i+1:]
}

// row is the key of the row that a place is of, -1 of another place.
func row(place string) int {
	key, count := 0, 0
	if count, _ = fmt.Sscanf(place, "row%d.", &key); count != 1 {
		return -1
	}
	return key
}
