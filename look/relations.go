package look

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/order"
)

const (
	// summedRows and summedColumns bound the numbers of which some are looked for that are sums of others; a third of
	// the rows does, too, since any column is a sum of as many as there are rows.
	summedRows, summedColumns = 2000, 100
	// mostSums is how many such columns are told, and mostTerms how many columns of a sum are named.
	mostSums, mostTerms = 5, 6
	// exactly is how far from a sum a column is at most, of its standard deviation: text and sums round.
	exactly = 1e-9
)

// sums looks for numbers that are sums of others, by Gram–Schmidt: the targets last, so that they are what is told.
func (l *looking) sums(targets []int, odd []bool) {
	var basis, kept [][]float64
	var names []string
	found, room := 0, min(summedColumns, l.Compared/3)
	for _, target := range [...]bool{false, true} {
		for j, c := range l.Columns {
			copied := slices.ContainsFunc(l.Findings, func(f Finding) bool { return f.Column == c.Name && f.What == Copy })
			if c.Kind != credence.Numeric.String() || slices.Contains(targets, j) != target || odd[j] || copied || len(names) >= room || found == mostSums {
				continue
			}
			x := l.someOf(j)
			mean, sd := stat.MeanStdDev(x, nil)
			if !(sd > 0) || math.IsInf(sd, 0) { // as of a column with missing values
				continue
			}
			floats.AddConst(-mean, x)
			floats.Scale(1/sd, x)
			rest := slices.Clone(x)
			for range 2 { // the second time for what rounding left
				for _, b := range basis {
					floats.AddScaled(rest, -floats.Dot(b, rest), b)
				}
			}
			norm := floats.Norm(rest, 2)
			if norm > exactly*math.Sqrt(float64(len(x))) {
				floats.Scale(1/norm, rest)
				basis, kept, names = append(basis, rest), append(kept, x), append(names, c.Name)
				continue
			}
			found++
			text := l.sum(j, x, kept, names)
			if target {
				l.find(c.Name, NearCopy, "leave out what is not known before "+c.Name+" is", "%s", text)
			} else {
				l.find(c.Name, Copy, "leave one of them out: the rest tells it, and none of their weights can be read alone", "%s", text)
			}
		}
	}
}

// someOf returns evenly spread values of a column.
func (l *looking) someOf(j int) []float64 {
	n := min(len(l.values[j]), summedRows)
	x := make([]float64, n)
	for i := range x {
		x[i] = l.values[j][i*len(l.values[j])/n]
	}
	return x
}

// sum writes a column, standardised, as the sum that it is of others.
func (l *looking) sum(j int, x []float64, others [][]float64, names []string) string {
	a := mat.NewDense(len(x), len(others), nil)
	for k, other := range others {
		a.SetCol(k, other)
	}
	var by mat.VecDense
	if err := by.SolveVec(a, mat.NewVecDense(len(x), x)); err != nil {
		return fmt.Sprintf("is told exactly by %d other columns", len(others))
	}
	constant, sd := stat.MeanStdDev(l.someOf(j), nil)
	var text strings.Builder
	terms := 0
	add := func(factor float64, name string) {
		sign, size := " + ", strconv.FormatFloat(math.Abs(factor), 'g', 6, 64)
		switch {
		case factor < 0:
			sign = " − "
		case terms == 0:
			sign = " "
		}
		if name != "" {
			size = strings.TrimPrefix(size+"·"+name, "1·")
		}
		terms++
		text.WriteString(sign + size)
	}
	for k, name := range names {
		if math.Abs(by.AtVec(k)) < 1e3*exactly {
			continue
		}
		mean, own := stat.MeanStdDev(l.someOf(l.schema.Index(name)), nil)
		factor := by.AtVec(k) * sd / own
		constant -= factor * mean
		add(factor, name)
	}
	if terms > mostTerms {
		return fmt.Sprintf("is told exactly by %d other columns", terms)
	}
	if math.Abs(constant) > 1e3*exactly*sd {
		add(constant, "")
	}
	return "is" + text.String()
}

const (
	// farOut is by how much farther from the median than all others the values are that may be slips, and mostSlips of
	// how many rows one of them is at most, beside three.
	farOut, mostSlips = 50, 1000
	// nearlyAll is the share of rows from which on one value is nearly all of a column, of fewestRare rows or more.
	nearlyAll, fewestRare = 0.995, 200
)

// slip returns by how much farther a few numbers are from the median than all others, as ones in another unit are; 0 of
// a column without them.
func (l *looking) slip(j int) float64 {
	c := &l.Columns[j]
	values := l.sorted[j]
	if c.Kind != credence.Numeric.String() || c.Date || len(values) < fewestNamed {
		return 0
	}
	median := values[len(values)/2]
	away := make([]float64, 0, len(values)+2)
	for _, v := range append(slices.Clip(values), l.ends[j][:]...) { // some rows, and the ends of all
		away = append(away, math.Abs(v-median))
	}
	slices.Sort(away)
	first := len(away) - max(3, len(values)/mostSlips) - 2 // the ends are there twice
	for k := len(away) - 1; k > first; k-- {
		// Columns of few values, and of tails, have gaps by nature.
		if away[k-1] > 0 && away[k] > farOut*away[k-1] && away[len(away)/2] > away[k-1]/farOut {
			return away[k] / away[k-1]
		}
	}
	return 0
}

// most returns in how many rows compared a column has its most frequent value.
func (l *looking) most(j int) (most int) {
	sorted := l.sorted[j]
	for from, to := range order.Runs(len(sorted), func(a, b int) bool { return sorted[a] == sorted[b] }) {
		most = max(most, to-from)
	}
	return most
}

// few names the columns of which a few rows are far from all others, and those of which all but a few rows are one
// value: in a line each, since wide tables have many.
func (l *looking) few(targets []int, odd []bool) {
	var slips, rare []string
	for j, c := range l.Columns {
		stoodFor := slices.ContainsFunc(l.Findings, func(f Finding) bool { return f.Column == c.Name && strings.HasPrefix(f.Remedy, "--missing") })
		if factor := l.slip(j); factor > 0 && !stoodFor {
			slips = append(slips, fmt.Sprintf("%s (from %.6g to %.6g, %.0f times as far)", c.Name, l.ends[j][0], l.ends[j][1], factor))
		}
		if odd[j] || slices.Contains(targets, j) {
			continue
		}
		if n, most := len(l.values[j]), l.most(j); n >= fewestRare && float64(most) >= nearlyAll*float64(n) {
			rare = append(rare, fmt.Sprintf("%s (all but %d of %d rows)", c.Name, n-most, n))
		}
	}
	tell := func(names []string, format, remedy string) {
		if all := len(names); all > mostCommon {
			names = append(names[:mostCommon], fmt.Sprintf("… %d in all", all))
		}
		if len(names) > 0 {
			l.find("", Reading, remedy, format, strings.Join(names, ", "))
		}
	}
	tell(slips, "a few values are far beyond all others of %s", "correct them, or their unit, if they are wrong")
	tell(rare, "one value is nearly all of %s", "leave out what so few rows tell nothing about")
}
