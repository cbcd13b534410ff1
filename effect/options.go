package effect

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// What is a kind of quantity.
type What string

// The kinds of quantities.
const (
	Comparisons What = "comparisons" // what a change of a column changes
	Slopes      What = "slopes"      // derivatives in numbers
	Predictions What = "predictions" // averages of predictions
)

// Steps by which comparisons change a number, beside numbers.
const (
	SD     = "sd"     // from half a standard deviation below to half above
	TwoSD  = "2sd"    // from a standard deviation below to one above
	IQR    = "iqr"    // from the first quartile to the third
	MinMax = "minmax" // from the least value to the largest
)

// Options say what is estimated. The zero value compares every column.
type Options struct {
	What What `json:"what,omitempty"` // "": comparisons
	// Columns are those that change; none is every one that suits, of more than 500 the 60 that move f most.
	// Predictions are made at each level of theirs.
	Columns []string `json:"columns,omitempty"`
	Link    bool     `json:"link,omitempty"`  // of f, and not of E y
	Ratio   bool     `json:"ratio,omitempty"` // comparisons are ratios of E y
	Rows    bool     `json:"rows,omitempty"`  // of each row, and not of their average
	By      []string `json:"by,omitempty"`    // columns by whose values rows are averaged
	// At replaces columns in every row, "age=30"; with several values of a column, each in turn.
	At   []string `json:"at,omitempty"`
	Step string   `json:"step,omitempty"` // a number, or SD, TwoSD, IQR, MinMax; "" is 1
	// Bases are the levels that others are compared with, "city=Basel"; "city=mean" is the mean of all. The others have
	// the most frequent level of training.
	Bases    []string `json:"base,omitempty"`
	Balanced bool     `json:"balanced,omitempty"` // every combination of levels is a row, with numbers at their means
	// Hypotheses are linear combinations of the effects, "b2 - b1 = 0"; "pairwise", "reference" or "sequential" stand
	// for differences.
	Hypotheses   []string `json:"hypothesis,omitempty"`
	Simultaneous bool     `json:"simultaneous,omitempty"` // all intervals hold together with the probability
	Interval     float64  `json:"interval,omitempty"`     // probability from Low to High; 0 means 0.9
	Draws        int      `json:"draws,omitempty"`        // of the weights; 0 means 1,000
	// Work is the number of rows times draws above which the delta method answers, but of ordinal targets; 0 means
	// 2·10⁸.
	Work    int    `json:"work,omitempty"`
	Seed    uint64 `json:"seed,omitempty"`    // of the draws
	Threads int    `json:"threads,omitempty"` // 0 means every processor; the result does not depend on it
	// Progress is called before some rows, with the number of those before them and of all.
	Progress func(before, all int) `json:"-"`
}

// MostDraws is the largest number of draws of the weights.
const MostDraws = 100_000

// Validate fills in what is left out, and refuses what contradicts itself.
func (o Options) Validate() (Options, error) {
	o.What, o.Interval, o.Draws, o.Work = cmp.Or(o.What, Comparisons), cmp.Or(o.Interval, 0.9), cmp.Or(o.Draws, 1000), cmp.Or(o.Work, mostWork)
	step, err := strconv.ParseFloat(cmp.Or(o.Step, "1"), 64)
	switch {
	case o.What != Comparisons && o.What != Slopes && o.What != Predictions:
		return o, fmt.Errorf("there are no %q: choose %s, %s or %s", string(o.What), Comparisons, Slopes, Predictions)
	case !(o.Interval > 0 && o.Interval < 1):
		return o, fmt.Errorf("interval %v is not a probability between 0 and 1", o.Interval)
	case o.Draws < fewestDraws || o.Draws > MostDraws:
		return o, fmt.Errorf("%d draws are not between %d and %d", o.Draws, fewestDraws, MostDraws)
	case o.Work < 0:
		return o, fmt.Errorf("the work %d is below 0: leave it out for %d rows times draws", o.Work, mostWork)
	case o.Ratio && o.What != Comparisons:
		return o, fmt.Errorf("%s have no ratio: leave --ratio out, or ask for --comparisons", o.What)
	case o.Ratio && o.Link:
		return o, fmt.Errorf("f may be 0 or less, so that it has no ratio: leave --link out for the ratio of E y, or --ratio for the difference of f")
	case o.Step != "" && o.What != Comparisons:
		return o, fmt.Errorf("--step is of comparisons, and %s have none: leave it out", o.What)
	case o.Step == SD || o.Step == TwoSD || o.Step == IQR || o.Step == MinMax:
	case err != nil || !(step*step > 0) || step-step != 0:
		return o, fmt.Errorf("--step %s is neither a number other than 0 nor %s, %s, %s or %s", o.Step, SD, TwoSD, IQR, MinMax)
	case len(o.Hypotheses) > 0 && o.Rows:
		return o, fmt.Errorf("hypotheses are of averages: leave --rows out")
	case len(o.By) > 0 && (o.Rows || o.Balanced):
		return o, fmt.Errorf("--by averages over the rows of the data: leave --rows and --grid out")
	}
	for _, pair := range append(append([]string(nil), o.At...), o.Bases...) {
		column, value, ok := strings.Cut(pair, "=")
		if !ok || column == "" {
			return o, fmt.Errorf("%q names no value: write COLUMN=VALUE", pair)
		}
		if v, err := strconv.ParseFloat(value, 64); err == nil && v != v {
			return o, fmt.Errorf("%q is no value: write a number or a level", pair)
		}
	}
	return o, nil
}
