package protocol

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/linop"
)

// Set is a table with its splits.
type Set struct {
	Name   string
	Target string
	// Drop are columns that are neither inputs nor target.
	Drop   []string
	Splits [][]int // test rows of every split; all others are training rows
	schema credence.Schema
	values linop.Dense
}

// layouts lists the sets whose file or columns depart from NAME/NAME.csv.gz and y.
var layouts = map[string]struct {
	file, target string
	drop         []string
}{
	"sarcos_test": {"sarcos_inv_test.csv.gz", "y1", []string{"y2", "y3", "y4", "y5", "y6", "y7"}},
}

// Names lists the sets in the order in which tables show them.
func Names() []string {
	return []string{"boston", "concrete", "energy", "kin8nm", "naval", "power", "protein",
		"kin40k", "pol", "keggundirected", "calhousing", "sarcos_test"}
}

// Missing says whether the data folder does not hold a set.
func Missing(folder, name string) bool {
	_, err := os.Stat(filepath.Join(folder, name))
	return errors.Is(err, fs.ErrNotExist)
}

// Load reads a set from the data folder.
func Load(ctx context.Context, folder, name string) (*Set, error) {
	known := false
	for _, n := range Names() {
		known = known || n == name
	}
	if !known {
		return nil, fmt.Errorf("protocol: there is no set %q: take some of %s", name, strings.Join(Names(), ", "))
	}
	set := &Set{Name: name, Target: "y"}
	file := name + ".csv.gz"
	if l, ok := layouts[name]; ok {
		file, set.Target, set.Drop = l.file, l.target, l.drop
	}
	table, err := dataset.Open(ctx, []string{filepath.Join(folder, name, file)}, dataset.Options{})
	if err != nil {
		return nil, err
	}
	defer table.Close()
	source, err := table.Load(ctx, nil)
	if err != nil {
		return nil, err
	}
	set.schema = *source.Schema()
	var chunk credence.Chunk
	if err := source.Read(&chunk, 0, source.Rows()); err != nil {
		return nil, err
	}
	set.values = linop.NewDense(chunk.Values.Rows, chunk.Values.Cols)
	for i := range chunk.Values.Rows {
		copy(set.values.Row(i), chunk.Values.Row(i))
	}
	set.Splits, err = readSplits(filepath.Join(folder, name, "test_splits.txt.gz"), set.Rows())
	if errors.Is(err, fs.ErrNotExist) {
		set.Splits, err = [][]int{everyFifth(set.Rows())}, nil
	}
	return set, err
}

// Rows returns the number of rows.
func (s *Set) Rows() int { return s.values.Rows }

// Formula returns the formula with the columns that are not inputs left out.
func (s *Set) Formula(text string) string {
	for _, column := range s.Drop {
		text += " - " + column
	}
	return text
}

// everyFifth returns the rows i with i mod 5 = 4.
func everyFifth(rows int) []int {
	var test []int
	for i := 4; i < rows; i += 5 {
		test = append(test, i)
	}
	return test
}

// readSplits reads a file with one line a split, which lists its test rows.
func readSplits(path string, rows int) ([][]int, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	plain, err := gzip.NewReader(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var splits [][]int
	lines := bufio.NewScanner(plain)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var test []int
		seen := make(map[int]bool)
		for _, field := range strings.Fields(lines.Text()) {
			row, err := strconv.Atoi(field)
			if err != nil || row < 0 || row >= rows || seen[row] {
				return nil, fmt.Errorf("%s:%d: %q is not a row from 0 to %d that is listed once", path, len(splits)+1, field, rows-1)
			}
			seen[row] = true
			test = append(test, row)
		}
		splits = append(splits, test)
	}
	return splits, lines.Err()
}

// Split returns the training and the test rows of a split as tables.
func (s *Set) Split(k int) (train, test credence.Source) {
	return s.Divide(s.Splits[k])
}

// Validation divides the training rows of split k in ten random parts and
// returns nine of them and the tenth. Settings are compared by it: it never reads the
// test rows.
func (s *Set) Validation(k int) (train, held credence.Source) {
	rows := s.without(s.Splits[k])
	isHeld := make([]bool, len(rows))
	for _, i := range Folds(len(rows), 10, uint32(k))[0] {
		isHeld[i] = true
	}
	var trainRows, heldRows []int
	for i, row := range rows {
		if isHeld[i] {
			heldRows = append(heldRows, row)
		} else {
			trainRows = append(trainRows, row)
		}
	}
	return &part{s, trainRows}, &part{s, heldRows}
}

// Divide returns the rows that are not in the test, and the test.
func (s *Set) Divide(testRows []int) (train, test credence.Source) {
	return &part{s, s.without(testRows)}, &part{s, testRows}
}

// without returns the other rows, in their order.
func (s *Set) without(rows []int) []int {
	is := make([]bool, s.Rows())
	for _, row := range rows {
		is[row] = true
	}
	var others []int
	for row, leave := range is {
		if !leave {
			others = append(others, row)
		}
	}
	return others
}

// part is some rows of a set as a table of their own.
type part struct {
	set  *Set
	rows []int
}

// Schema implements [credence.Source].
func (p *part) Schema() *credence.Schema { return &p.set.schema }

// Rows implements [credence.Source].
func (p *part) Rows() int { return len(p.rows) }

// Read implements [credence.Source].
func (p *part) Read(dst *credence.Chunk, first, count int) error {
	dst.First = first
	dst.Values.Reshape(count, p.set.values.Cols)
	dst.Sparse.Reset(0)
	dst.Sparse.Rows = count
	for i := range count {
		copy(dst.Values.Row(i), p.set.values.Row(p.rows[first+i]))
	}
	return nil
}
