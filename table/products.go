package table

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/credence-ml/credence"
)

// Products are sums over rows that stand for the rows themselves in a linear model with normal targets: XᵀX, Xᵀy, yᵀy
// and the number of rows, which is the product of the column of ones with itself.
type Products struct {
	Names []string  // of d columns, inputs and target; one of them is [Ones]
	Gram  []float64 // d×d, row-major: Σ over rows of the product of two columns, each less its centre
	// Centre is what was taken off each column, so that a large mean costs no digits: 0 off [Ones]. nil means 0.
	Centre []float64
	Target string // the name of the target, where it is known
}

// Ones is the name of the column of ones.
const Ones = "(intercept)"

// ReadProducts reads products from CSV: a header of the columns' names and, under each, a row of its products with
// them, in the header's order. As R writes tables, a column of the same names may stand before them. file stands in
// errors.
func ReadProducts(file string, r io.Reader) (*Products, error) {
	if r == nil {
		return nil, errors.New("there is no reader of products")
	}
	in := csv.NewReader(r)
	in.FieldsPerRecord = -1
	records, err := in.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: products are a CSV table of numbers, or a job, named first, and its parts", file, err)
	}
	if len(records) == 0 {
		return nil, fmt.Errorf("%s is empty: it needs a header of names and a row of products for each", file)
	}
	p := &Products{Names: records[0]}
	named := false // rows, by what is no number
	if len(records) > 1 {
		_, err := strconv.ParseFloat(strings.TrimSpace(records[1][0]), 64)
		named = err != nil
	}
	if named {
		p.Names = p.Names[1:]
	}
	d := len(p.Names)
	if len(records)-1 != d {
		return nil, fmt.Errorf("%s has %d names, and rows of products: %d: every column has one", file, d, len(records)-1)
	}
	for i, record := range records[1:] {
		if named && len(record) > 0 {
			if record[0] != p.Names[i] {
				return nil, fmt.Errorf("%s:%d: the row is that of %q, and the header has %q there: name rows and columns in one order", file, i+2, record[0], p.Names[i])
			}
			record = record[1:]
		}
		if len(record) != d {
			return nil, fmt.Errorf("%s:%d: the row has %d numbers for %d names: write one under each", file, i+2, len(record), d)
		}
		for j, text := range record {
			v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("%s:%d: column %q: %q is no finite number: write the sum, such as 12.5", file, i+2, p.Names[j], text)
			}
			p.Gram = append(p.Gram, v)
		}
	}
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return p, nil
}

// check refuses what cannot be products.
func (p *Products) check() error {
	d := len(p.Names)
	if d*d != len(p.Gram) {
		return fmt.Errorf("there are %d products of %d columns: there must be %d", len(p.Gram), d, d*d)
	}
	if p.Centre != nil && len(p.Centre) != d {
		return fmt.Errorf("there are %d centres of %d columns: there must be one for each, or none", len(p.Centre), d)
	}
	for j, name := range p.Names {
		if c := p.centre(j); name == Ones && c != 0 || c-c != 0 {
			return fmt.Errorf("the centre of %q is %v: it must be finite, and 0 for %s", name, c, Ones)
		}
		if slices.Index(p.Names, name) < j {
			return fmt.Errorf("two columns are called %q: rename one", name)
		}
		for k := range j {
			a, b := p.Gram[j*d+k], p.Gram[k*d+j]
			if math.Abs(a-b) > 1e-9*math.Sqrt(math.Abs(p.Gram[j*d+j]*p.Gram[k*d+k])) {
				return fmt.Errorf("the product of %q and %q is %v in one place and %v in the other: write one sum in both", name, p.Names[k], a, b)
			}
		}
	}
	if p.ones() < 0 {
		return fmt.Errorf("no column is called %s: add that of ones, whose products are the number of rows and the sums of the columns, as crossprod(cbind(`%[1]s`=1, X, y=y)) in R does", Ones)
	}
	if n := p.Gram[p.ones()*(d+1)]; !(n >= 2) || n != math.Trunc(n) || n > 1<<53 {
		return fmt.Errorf("%v is no number of rows: the product of %s with itself must be a whole number of at least 2", n, Ones)
	}
	return nil
}

// centre is what was taken off column j.
func (p *Products) centre(j int) float64 {
	if p.Centre == nil {
		return 0
	}
	return p.Centre[j]
}

func (p *Products) ones() int { return slices.Index(p.Names, Ones) }

// Rows returns the number of rows.
func (p *Products) Rows() int { return int(p.Gram[p.ones()*(len(p.Names)+1)]) }

// AddProducts returns the products of all rows of several tables. It does not depend on their order.
func AddProducts(parts ...*Products) (*Products, error) {
	if len(parts) == 0 || slices.Contains(parts, nil) {
		return nil, fmt.Errorf("table: there are no products to add up: each part needs them")
	}
	out := &Products{Names: parts[0].Names, Centre: parts[0].Centre, Target: parts[0].Target, Gram: make([]float64, len(parts[0].Gram))}
	places := make([][]int, len(parts)) // of out's columns
	for k, p := range parts {
		for j, name := range out.Names {
			at := slices.Index(p.Names, name)
			if at < 0 || len(p.Names) != len(out.Names) {
				return nil, fmt.Errorf("table: products of the columns %q and of %q cannot be added: all tables need the same", parts[0].Names, p.Names)
			}
			if p.centre(at) != out.centre(j) {
				return nil, fmt.Errorf("table: products of %q about %v and about %v cannot be added: all tables need the same centre", name, out.centre(j), p.centre(at))
			}
			places[k] = append(places[k], at)
		}
	}
	d, cells := len(out.Names), make([]float64, len(parts))
	for i := range d {
		for j := range d {
			for k, p := range parts {
				cells[k] = p.Gram[places[k][i]*d+places[k][j]]
			}
			slices.Sort(cells)
			for _, v := range cells {
				out.Gram[i*d+j] += v
			}
		}
	}
	return out, nil
}

// leastPivot is the share of a column's variance below which what others leave of it is rounding.
const leastPivot = 1e-11

// Source returns a table of few rows whose number, means and products are the given ones: at most one more than there
// are columns. weight names the column of how often each row counts, a whole number. Means of powers and other
// functions of the columns are not those of the rows that the products are of.
//
// With C = LᵀL the products about the means, by a Cholesky factorisation with pivots in units of each column, row i is
// the mean and Σ_k q_k(i) L_k, where q_k compares row k with those before it (Helmert): v_k(i) = −w_k for i < k, and
// Σ_{i<k} w_i for i = k.
func (p *Products) Source() (source credence.Source, weight string, err error) {
	if err := p.check(); err != nil {
		return nil, "", fmt.Errorf("table: %w", err)
	}
	d, n := len(p.Names), float64(p.Rows())
	var names []string
	var places []int
	for j, name := range p.Names {
		if name != Ones {
			names, places = append(names, name), append(places, j)
		}
	}
	m, ones := len(places), p.ones()
	mean, sd := make([]float64, m), make([]float64, m)
	for a, j := range places {
		mean[a] = p.Gram[ones*d+j] / n
		square := p.Gram[j*d+j] - n*mean[a]*mean[a]
		if !(square >= -1e-9*p.Gram[j*d+j]) || p.Gram[j*d+j] < 0 {
			return nil, "", fmt.Errorf("table: the products of %q are those of no rows: its squares add up to %v, and its sum is %v: add both up over the same rows", names[a], p.Gram[j*d+j], p.Gram[ones*d+j])
		}
		if square > math.Max(1e-13, 1e-16*n)*p.Gram[j*d+j] { // else it is constant, but for the rounding of sums
			sd[a] = math.Sqrt(square)
		}
	}
	left := make([]float64, m*m) // C in units of sd
	for a, j := range places {
		for b, k := range places {
			if sd[a] > 0 && sd[b] > 0 {
				left[a*m+b] = ((p.Gram[j*d+k]+p.Gram[k*d+j])/2 - n*mean[a]*mean[b]) / sd[a] / sd[b]
			}
		}
	}
	factor := pivoted(left, m, p.Rows()-1)
	for a := range m {
		for b := range m {
			if !(math.Abs(left[a*m+b]) <= 1e-6) { // no number where products are beyond all
				return nil, "", fmt.Errorf("table: the product of %q and %q is that of no %d rows of such squares and sums: add all of them up over the same rows", names[a], names[b], p.Rows())
			}
		}
	}
	rows := len(factor) + 1
	weights, columns := make([]float64, rows), make([][]float64, m)
	for i := range weights {
		weights[i] = math.Floor(n*float64(i+1)/float64(rows)) - math.Floor(n*float64(i)/float64(rows))
	}
	for a := range columns {
		column := make([]float64, rows)
		before, tail := n, 0.0 // Σ w of the rows before and of row i, and what the comparisons behind give row i
		for i := rows - 1; i >= 0; i-- {
			before -= weights[i]
			column[i] = tail
			if i > 0 {
				size := math.Sqrt(weights[i] * before * (weights[i] + before))
				column[i] += before / size * factor[i-1][a]
				tail -= weights[i] / size * factor[i-1][a]
			}
			column[i] = p.centre(places[a]) + (mean[a] + sd[a]*column[i])
		}
		columns[a] = column
	}
	for weight = "rows"; slices.Contains(names, weight); weight += "_" {
	}
	b := New()
	for a, name := range names {
		b.Numbers(name, columns[a])
	}
	source, err = b.Numbers(weight, weights).Source()
	return source, weight, err
}

// pivoted returns the rows of L, at most limit of them, with C = LᵀL, and leaves in c what is not in them.
func pivoted(c []float64, m, limit int) (factor [][]float64) {
	for len(factor) < limit {
		best := 0
		for j := range m {
			if c[j*m+j] > c[best*m+best] {
				best = j
			}
		}
		pivot := c[best*m+best]
		if !(pivot > leastPivot) {
			break
		}
		row := make([]float64, m)
		for j := range row {
			row[j] = c[best*m+j] / math.Sqrt(pivot)
		}
		for i, v := range row {
			for j, u := range row {
				c[i*m+j] -= v * u
			}
		}
		for j := range m { // which are 0 but for rounding
			c[best*m+j], c[j*m+best] = 0, 0
		}
		factor = append(factor, row)
	}
	return factor
}
