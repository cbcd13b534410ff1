package table_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/table"
)

// products are those of n rows from first on, of columns with large means, one constant and one the sum of two others.
func products(first, n int) *table.Products {
	p := &table.Products{Names: []string{"y", table.Ones, "a", "b", "c", "constant", "rows"}}
	d := len(p.Names)
	p.Gram = make([]float64, d*d)
	part := make([]float64, d*d) // of a hundred rows, so that sums of many rows round little
	for i := range n {
		rng := rand.New(rand.NewPCG(uint64(first+i), 5))
		a, b := 100+rng.NormFloat64(), -3+0.1*rng.NormFloat64()
		row := []float64{2*a + rng.NormFloat64(), 1, a, b, a + b, 0.7, rng.NormFloat64()}
		for j, v := range row {
			for k, u := range row {
				part[j*d+k] += v * u
			}
		}
		if i%100 == 99 || i == n-1 {
			for k, v := range part {
				p.Gram[k] += v
			}
			clear(part)
		}
	}
	return p
}

// TestProductsSource: rows that stand for products have them, by weight, be rows more or fewer than columns.
func TestProductsSource(t *testing.T) {
	for _, n := range []int{3, 5, 8, 40, 100_003} {
		p := products(0, n)
		source, weight, err := p.Source()
		if err != nil {
			t.Fatal(err)
		}
		if weight != "rows_" {
			t.Errorf("the weight is called %q", weight)
		}
		got := map[string][]float64{}
		schema := source.Schema()
		if err := readAll(source, func(j int, v float64) { got[schema.Columns[j].Name] = append(got[schema.Columns[j].Name], v) }); err != nil {
			t.Fatal(err)
		}
		got[table.Ones] = slices.Repeat([]float64{1}, len(got["a"]))
		if rows := len(got["a"]); rows > min(n, 6) || rows < min(n, 4) {
			t.Errorf("%d rows stand for %d", rows, n)
		}
		for _, w := range got[weight] {
			if w < 1 || w != math.Trunc(w) {
				t.Errorf("weight %v", w)
			}
		}
		d := len(p.Names)
		spread := func(j int) float64 { return math.Sqrt(p.Gram[j*d+j]) }
		for j, a := range p.Names {
			for k, b := range p.Names {
				sum := 0.0
				for i, w := range got[weight] {
					sum += w * got[a][i] * got[b][i]
				}
				if !(math.Abs(sum-p.Gram[j*d+k]) <= 1e-12*spread(j)*spread(k)) {
					t.Errorf("%d rows: the product of %s and %s is %v, want %v", n, a, b, sum, p.Gram[j*d+k])
				}
			}
		}
	}
}

// TestProductsConstant: a column that is constant but for the rounding of sums row by row stays so.
func TestProductsConstant(t *testing.T) {
	const n = 100_003
	p := &table.Products{Names: []string{table.Ones, "constant", "y"}, Gram: make([]float64, 9)}
	for i := range n {
		row := []float64{1, 0.7, float64(i%7) / 7}
		for j, v := range row {
			for k, u := range row {
				p.Gram[3*j+k] += v * u
			}
		}
	}
	source, _, err := p.Source()
	if err != nil {
		t.Fatal(err)
	}
	var column []float64
	if err := readAll(source, func(j int, v float64) {
		if j == 0 {
			column = append(column, v)
		}
	}); err != nil {
		t.Fatal(err)
	}
	if len(column) != 2 || column[0] != column[1] {
		t.Errorf("a constant column is %v", column)
	}
}

func readAll(source credence.Source, take func(j int, v float64)) error {
	var chunk credence.Chunk
	if err := source.Read(&chunk, 0, source.Rows()); err != nil {
		return err
	}
	for i := range source.Rows() {
		for j, v := range chunk.Values.Row(i) {
			take(j, v)
		}
	}
	return nil
}

// TestProductsFile reads what R writes, with the names of rows and without, and refuses what are no products, by place.
func TestProductsFile(t *testing.T) {
	text := "\"\",\"(intercept)\",\"x\",\"y\"\n(intercept),4,2,1\nx,2,6,3\ny,1,3,5\n"
	p, err := table.ReadProducts("p.csv", strings.NewReader(text))
	if err != nil || !slices.Equal(p.Gram, []float64{4, 2, 1, 2, 6, 3, 1, 3, 5}) || p.Rows() != 4 {
		t.Fatal(p, err)
	}
	bare, err := table.ReadProducts("p.csv", strings.NewReader("(intercept),x,y\n4,2,1\n2,6,3\n1,3,5\n"))
	if err != nil || !slices.Equal(p.Gram, bare.Gram) || !slices.Equal(p.Names, bare.Names) {
		t.Fatal(bare, err)
	}
	for _, c := range []struct{ text, want string }{
		{"", "p.csv is empty"},
		{"x,\"y\n1,2\n", "p.csv: record on line 1; parse error on line 2"},
		{strings.Replace(text, "6", "NaN", 1), `p.csv:3: column "x": "NaN" is no finite number`},
		{strings.Replace(text, "5", "-Inf", 1), `p.csv:4: column "y": "-Inf" is no finite number`},
		{strings.Replace(text, "\nx,", "\nz,", 1), `p.csv:3: the row is that of "z"`},
		{strings.Replace(text, "6", "six", 1), `p.csv:3: column "x": "six" is no finite number`},
		{strings.Replace(text, "1,3,5", "1,3", 1), "p.csv:4: the row has 2 numbers for 3 names"},
		{strings.Replace(text, "y,1,3,5\n", "", 1), "p.csv has 3 names, and rows of products: 2"},
		{strings.Replace(text, "1,3,5", "1,4,5", 1), `the product of "y" and "x" is 4 in one place and 3 in the other`},
		{strings.Replace(text, "1,3,5", "1,3.0000001,5", 1), `is 3.0000001 in one place and 3 in the other`},
		{strings.ReplaceAll(text, "(intercept)", "one"), "no column is called (intercept)"},
		{strings.Replace(text, "4,2,1", "4.5,2,1", 1), "4.5 is no number of rows"},
		{strings.ReplaceAll(text, "y", "x"), `two columns are called "x"`},
	} {
		if _, err := table.ReadProducts("p.csv", strings.NewReader(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.text, err, c.want)
		}
	}
	if _, err := table.ReadProducts("p.csv", nil); err == nil || !strings.Contains(err.Error(), "no reader") {
		t.Errorf("no reader: %v", err)
	}
	for _, c := range []struct {
		gram []float64
		want string
	}{
		{[]float64{4, 8, 1, 8, 6, 3, 1, 3}, `there are 8 products of 3 columns: there must be 9`},
		{[]float64{1, 0, 0, 0, 6, 0, 0, 0, 5}, `1 is no number of rows`},
		{[]float64{1<<53 + 2, 0, 0, 0, 6, 0, 0, 0, 5}, `9.007199254740994e+15 is no number of rows`},
		{[]float64{4, 8, 1, 8, 6, 3, 1, 3, 5}, `the products of "x" are those of no rows`},
		{[]float64{4, 0, 0, 0, 6, 9, 0, 9, 5}, `is that of no 4 rows`},
		{[]float64{2, 0, 0, 0, 6, 0, 0, 0, 5}, `is that of no 2 rows`},
		{[]float64{4, 0, 0, 0, 6, 1e308, 0, 1e308, 5}, `is that of no 4 rows`},
	} {
		if _, _, err := (&table.Products{Names: p.Names, Gram: c.gram}).Source(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %s", c.gram, err, c.want)
		}
	}
}

// TestAddProducts: products of shards add up to the same bytes in any order, and to those of all rows but for rounding.
func TestAddProducts(t *testing.T) {
	if _, err := table.AddProducts(nil, nil); err == nil || !strings.Contains(err.Error(), "no products to add up") {
		t.Errorf("nothing is added up: %v", err)
	}
	all := products(0, 60)
	parts := []*table.Products{products(0, 7), products(7, 30), products(37, 23)}
	// with two columns in other places
	other := &table.Products{Names: slices.Clone(parts[1].Names), Gram: slices.Clone(parts[1].Gram)}
	other.Names[0], other.Names[4] = other.Names[4], other.Names[0]
	d := len(other.Names)
	for i := range d {
		other.Gram[i*d], other.Gram[i*d+4] = other.Gram[i*d+4], other.Gram[i*d]
	}
	for j := range d {
		other.Gram[j], other.Gram[4*d+j] = other.Gram[4*d+j], other.Gram[j]
	}
	first, err := table.AddProducts(parts...)
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range all.Gram {
		if !(math.Abs(first.Gram[k]-v) <= 1e-13*math.Abs(v)+1e-9) {
			t.Errorf("product %d is %v, want %v", k, first.Gram[k], v)
		}
	}
	for _, order := range [][]*table.Products{{parts[0], other, parts[2]}, {parts[2], parts[0], other}} {
		again, err := table.AddProducts(order...)
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(again.Gram) != fmt.Sprint(first.Gram) {
			t.Error("another order has other bytes")
		}
	}
	if _, err := table.AddProducts(parts[0], &table.Products{Names: []string{table.Ones}, Gram: []float64{3}}); err == nil {
		t.Error("products of other columns were added")
	}
	about := func(centre ...float64) *table.Products {
		return &table.Products{Names: []string{table.Ones, "x"}, Gram: []float64{4, 0, 0, 6}, Centre: centre}
	}
	if sum, err := table.AddProducts(about(0, 9), about(0, 9)); err != nil || sum.Rows() != 8 || sum.Centre[1] != 9 {
		t.Errorf("products about 9 add up to %+v, %v", sum, err)
	}
	if _, err := table.AddProducts(about(0, 9), about()); err == nil || !strings.Contains(err.Error(), `"x" about 9 and about 0`) {
		t.Errorf("products about 9 and 0 were added: %v", err)
	}
	for _, centre := range [][]float64{{0}, {1, 0}, {0, math.NaN()}} {
		if _, _, err := about(centre...).Source(); err == nil || !strings.Contains(err.Error(), "centre") {
			t.Errorf("centres %v: %v", centre, err)
		}
	}
}

// TestProductsAboutCentres: rows that stand for products about centres have these products about them, and the means
// that their sums say, wherever the column of ones stands and whatever the signs.
func TestProductsAboutCentres(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 9))
	for round := range 12 {
		const d, n = 4, 60
		p := &table.Products{Names: []string{"a", "b", "y"}, Gram: make([]float64, d*d)}
		ones := round % d
		p.Names = slices.Insert(p.Names, ones, table.Ones)
		for j := range d {
			p.Centre = append(p.Centre, 0)
			if j != ones {
				p.Centre[j] = float64(rng.IntN(41) - 20)
			}
		}
		for range n {
			row := make([]float64, d)
			for j := range row {
				row[j] = 3*float64(j-1) + float64(1+j)*rng.NormFloat64()
			}
			row[ones] = 1
			for j, v := range row {
				for k, u := range row {
					p.Gram[j*d+k] += v * u
				}
			}
		}
		source, weight, err := p.Source()
		if err != nil {
			t.Fatal(err)
		}
		columns := make([][]float64, d)
		if err := readAll(source, func(j int, v float64) { columns[j] = append(columns[j], v) }); err != nil {
			t.Fatal(err)
		}
		weights := columns[d-1]
		columns = slices.Insert(columns[:d-1:d-1], ones, slices.Repeat([]float64{1}, len(weights)))
		if weight != "rows" || source.Schema().Columns[d-1].Name != weight {
			t.Errorf("the weight is called %q", weight)
		}
		for j := range d {
			for k := range d {
				sum := 0.0
				for i, w := range weights {
					sum += w * (columns[j][i] - p.Centre[j]) * (columns[k][i] - p.Centre[k])
				}
				if want := p.Gram[j*d+k]; !(math.Abs(sum-want) <= 1e-10*math.Sqrt(p.Gram[j*d+j]*p.Gram[k*d+k])) {
					t.Errorf("ones at %d, centres %v: the product of %s and %s is %v, want %v", ones, p.Centre, p.Names[j], p.Names[k], sum, want)
				}
			}
		}
		// What is wrong of the last column is told, and what is within rounding is not.
		last := d - 1
		if ones == last {
			last--
		}
		of := func(change float64) error {
			q := &table.Products{Names: p.Names, Gram: slices.Clone(p.Gram), Centre: p.Centre}
			other := (ones + 1) % d
			if other == last {
				other = (ones + 2) % d
			}
			if other == ones {
				other = (other + 1) % d
			}
			q.Gram[last*d+other] += change * math.Sqrt(p.Gram[last*d+last]*p.Gram[other*d+other])
			_, _, err := q.Source()
			return err
		}
		if err := of(1e-10); err != nil {
			t.Error(err)
		}
		if err := of(1e-7); err == nil || !strings.Contains(err.Error(), "in one place and") {
			t.Errorf("two sums that differ by 1e-7: %v", err)
		}
		p.Gram[last*d+last] = p.Gram[ones*d+last] * p.Gram[ones*d+last] / n / 2
		if _, _, err := p.Source(); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("the products of %q are those of no rows", p.Names[last])) {
			t.Errorf("squares of %s that are too small: %v", p.Names[last], err)
		}
	}
}
