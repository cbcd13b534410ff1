package data

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Set is a table with its splits.
type Set struct {
	Name   string
	Target string
	// Drop are columns that are neither inputs nor target.
	Drop   []string
	Splits [][]int // test rows of every split; all others are training rows
	table  *Table
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

// LoadSet reads a set from the data folder.
func LoadSet(ctx context.Context, folder, name string) (*Set, error) {
	if !slices.Contains(Names(), name) {
		return nil, fmt.Errorf("data: there is no set %q: take some of %s", name, strings.Join(Names(), ", "))
	}
	set := &Set{Name: name, Target: "y"}
	file := name + ".csv.gz"
	if l, ok := layouts[name]; ok {
		file, set.Target, set.Drop = l.file, l.target, l.drop
	}
	var err error
	if set.table, err = Load(ctx, filepath.Join(folder, name, file), nil, nil); err != nil {
		return nil, err
	}
	set.Splits, err = readSplits(filepath.Join(folder, name, "test_splits.txt.gz"), set.Rows())
	if errors.Is(err, fs.ErrNotExist) {
		set.Splits, err = [][]int{everyFifth(set.Rows())}, nil
	}
	return set, err
}

// Rows returns the number of rows.
func (s *Set) Rows() int { return s.table.Rows() }

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
func (s *Set) Split(k int) (train, test *Table) {
	return s.Divide(s.Splits[k])
}

// Validation divides the training rows of split k in ten random parts and
// returns nine of them and the tenth. Settings are compared by it: it never reads the
// test rows.
func (s *Set) Validation(k int) (train, held *Table) {
	rest, _ := s.Split(k)
	return rest.Divide(among(Folds(rest.Rows(), 10, uint32(k))[0]))
}

// Divide returns the rows that are not in the test, and the test.
func (s *Set) Divide(testRows []int) (train, test *Table) {
	return s.table.Divide(among(testRows))
}

// among tells rows that are listed from others.
func among(rows []int) func(row int) bool {
	listed := make(map[int]bool, len(rows))
	for _, row := range rows {
		listed[row] = true
	}
	return func(row int) bool { return listed[row] }
}
