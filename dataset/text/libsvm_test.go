package text

import (
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/credence-ml/credence/internal/cell"
	"github.com/credence-ml/credence/table"
)

// sparseRow is a row of sparse text.
type sparseRow struct {
	values  []float64 // of its columns
	keys    []uint64
	value   []float64
	names   []string // of Vowpal Wabbit text
	line    int
	end     int64 // where it ends
	refused bool  // it is malformed
}

// sparseRows reads a text by blocks of about the given size, malformed rows among
// the others.
func sparseRows(t testing.TB, content string, size int, fields []string, parse func(*Block)) (rows []sparseRow, merged int, faults []error) {
	t.Helper()
	splitter := NewSplitter(strings.NewReader(content), "t.svm", 1, 0, 0)
	splitter.block = size
	layout := &Layout{File: "t.svm"}
	for i, name := range fields {
		layout.Fields = append(layout.Fields, Field{Name: name, Keep: i, Text: -1, Written: -1})
		layout.Columns = append(layout.Columns, table.Column{Name: name})
	}
	block := &Block{}
	for {
		if err := splitter.Next(block); err == io.EOF {
			return rows, merged, faults
		} else if err != nil {
			t.Fatal(err)
		}
		block.Reset(layout)
		parse(block)
		if len(block.Values) != block.Count*len(fields) || len(block.Start) != block.Count+1 || len(block.Ends) != block.Count ||
			block.Start[block.Count] != len(block.Keys) || !block.Ones && len(block.Value) != len(block.Keys) {
			t.Fatalf("%q: %d labels, %d starts, %d ends, %d keys and %d values in %d rows", content, len(block.Values), len(block.Start),
				len(block.Ends), len(block.Keys), len(block.Value), block.Count)
		}
		merged += block.Merged
		next := 0
		refused := func(i int) {
			for ; next < len(block.Faults) && block.Faults[next].Row == i; next++ {
				rows = append(rows, sparseRow{end: block.Faults[next].End, line: block.Faults[next].Err.(*Error).Line, refused: true})
				faults = append(faults, block.Faults[next].Err)
			}
		}
		for i := range block.Count {
			refused(i)
			row := sparseRow{values: slices.Clone(block.Row(i)), line: block.Rows.Line(i), end: block.Ends[i]}
			for k := block.Start[i]; k < block.Start[i+1]; k++ {
				v := 1.0
				if !block.Ones {
					v = block.Value[k]
				}
				row.keys, row.value = append(row.keys, block.Keys[k]), append(row.value, v)
				if len(block.Tokens) > 0 {
					row.names = append(row.names, fmt.Sprintf("%s^%s", block.Spaces.List[block.Space[k]].Text, block.Token(k)))
				}
			}
			rows = append(rows, row)
		}
		refused(block.Count)
	}
}

// plainLibSVM is the obvious reader: split, convert, add up in a map.
func plainLibSVM(content string) (rows []sparseRow, merged int) {
	end := 0
	for i, line := range strings.Split(content, "\n") {
		end = min(end+len(line)+1, len(content))
		line, _, _ = strings.Cut(line, "#")
		fields := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' || r == '\r' })
		if len(fields) == 0 {
			continue
		}
		row, disordered := plainLibSVMRow(fields)
		row.line, row.end = i+1, int64(end)
		if row.refused {
			row = sparseRow{line: row.line, end: row.end, refused: true}
		} else if disordered {
			merged++
		}
		rows = append(rows, row)
	}
	return rows, merged
}

func plainLibSVMRow(fields []string) (row sparseRow, disordered bool) {
	row.refused = true
	if fields[0] == "NA" {
		row.values = []float64{math.NaN()}
	} else if v, finite, number := cell.ParseNumber([]byte(fields[0])); number && finite {
		row.values = []float64{v}
	} else {
		return row, false
	}
	sums := map[uint64]float64{}
	least := uint64(0)
	for _, f := range fields[1:] {
		name, text, found := strings.Cut(f, ":")
		if name == "qid" && found && text != "" {
			continue
		}
		index, err := strconv.ParseUint(name, 10, 53)
		value, finite, number := cell.ParseNumber([]byte(text))
		if !found || err != nil || !number || !finite {
			return row, false
		}
		disordered = disordered || index < least
		least = index + 1
		sums[index] += value
	}
	for _, index := range slices.Sorted(maps.Keys(sums)) {
		if math.IsInf(sums[index], 0) {
			return row, false
		}
		row.keys, row.value = append(row.keys, index), append(row.value, sums[index])
	}
	row.refused = false
	return row, disordered
}

// requireRows compares rows; NaN equals NaN.
func requireRows(t testing.TB, content string, got, want []sparseRow) {
	t.Helper()
	for _, rows := range [][]sparseRow{got, want} {
		for _, row := range rows {
			for j, v := range row.values {
				if math.IsNaN(v) {
					row.values[j] = -99
				}
			}
		}
	}
	if !reflect.DeepEqual(got, want) && len(got)+len(want) > 0 {
		t.Fatalf("%q is\n%+v, want\n%+v", content, got, want)
	}
}

func requirePlainLibSVM(t testing.TB, content string, size int) {
	t.Helper()
	want, wantMerged := plainLibSVM(content)
	parser := LibSVM{Rules: Rules{cells: cell.NewRules(nil)}}
	got, merged, _ := sparseRows(t, content, size, []string{"label"}, parser.Parse)
	requireRows(t, content, got, want)
	if merged != wantMerged {
		t.Fatalf("%q: entries of %d rows were merged or sorted, want %d", content, merged, wantMerged)
	}
}

func TestLibSVMEqualsPlainReader(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		var b strings.Builder
		for range rng.IntN(6) {
			b.WriteString([]string{"+1", "-1", "0", "2.5", "NA", "1e3", ""}[rng.IntN(7)])
			index := 0
			for range rng.IntN(6) {
				index += rng.IntN(9)
				if rng.IntN(10) == 0 {
					index = rng.IntN(20) // out of order
				}
				fmt.Fprintf(&b, " %d:%s", index, []string{"1", "0.5", "-3", "1.0", "1e-3", "x", "inf", "1e308", "10"}[min(rng.IntN(60), 8)])
			}
			b.WriteString([]string{"\n", "\r\n", " \n", "# c:1\n", " qid:3\n", "\n\n", "", "#"}[rng.IntN(8)])
		}
		requirePlainLibSVM(t, b.String(), 1+rng.IntN(50))
	}
}

// Entries of ones with indices of all lengths, few of which repeat one or come out of order: what most rows have.
func TestLibSVMOfPlainEntries(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		var b strings.Builder
		for range 3 {
			b.WriteString("1")
			index := uint64(0)
			for range rng.IntN(40) {
				switch rng.IntN(30) {
				case 0:
				case 1:
					index /= 2
				default:
					index += 1 + rng.Uint64N(index*uint64(rng.IntN(2))+9)
				}
				fmt.Fprintf(&b, " %d%s", index, []string{":2", ":1.5", ":1 ", ":1"}[min(rng.IntN(60), 3)])
			}
			b.WriteByte('\n')
		}
		requirePlainLibSVM(t, b.String(), 1+rng.IntN(400))
	}
}

func FuzzLibSVM(f *testing.F) {
	for _, seed := range []string{"1 1:1 2:0.5\n", "-1 qid:3 5:1#x\n\n", "+1", "0 3:1 2:1 3:-1\n1 1", "1 1:", "1 0:1\n", "1 9007199254740991:1 9007199254740992:1\n", "NA\t7:1e5\r\n"} {
		f.Add(seed, uint8(9))
	}
	f.Fuzz(func(t *testing.T, content string, size uint8) {
		requirePlainLibSVM(t, content, int(size)+1)
	})
}

func TestLibSVMFaults(t *testing.T) {
	parser := LibSVM{Rules: Rules{cells: cell.NewRules(nil)}}
	for content, want := range map[string]string{
		"1 1:2\n1:2 3:4\n":           `t.svm:2: the row begins with "1:2", not with a label: put one in front`,
		"1 3:a\n":                    `t.svm:1: "3:a" has no finite number as its value`,
		"1 3:nan\n":                  `t.svm:1: "3:nan" has no finite number`,
		"1 3\n":                      `t.svm:1: "3" is not index:value`,
		"1 9007199254740992:1\n":     `t.svm:1: "9007199254740992:1" has an index of 2⁵³ or more`,
		"1 3:1e308 3:1e308\n":        `t.svm:1: the values of one feature add up to infinity`,
		"1,2 1:1\n":                  `t.svm:1: column "label": "1,2" is not a number`,
		"1 ,2 1:1\n":                 `t.svm:1: ",2" is not index:value: only one label a row is read`,
		"1 1:1\n\nspam 1:1\n1 1:1\n": `t.svm:3: column "label": "spam" is not a number`,
	} {
		_, _, faults := sparseRows(t, content, 100, []string{"label"}, parser.Parse)
		if len(faults) != 1 || !strings.HasPrefix(faults[0].Error(), want) {
			t.Errorf("%q: error is %v, want %s", content, faults, want)
		}
	}
}
