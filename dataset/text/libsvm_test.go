package text

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// sparseRow is a row of libsvm text.
type sparseRow struct {
	label float64
	index []int32
	value []float64
}

// libsvm reads a text by blocks of about the given size.
func libsvm(t testing.TB, content string, size, limit int) (rows []sparseRow, dropped int, err error) {
	t.Helper()
	splitter := NewSplitter(strings.NewReader(content), "t.svm", 1, 0)
	splitter.block = size
	parser := LibSVM{Rules: Rules{Missing: map[string]struct{}{"?": {}}}, SparseLimit: limit}
	layout := &Layout{File: "t.svm", Width: 1, Fields: []Field{{Name: "label"}}}
	block := &Block{}
	for {
		if err := splitter.Next(block); err == io.EOF {
			return rows, dropped, nil
		} else if err != nil {
			return rows, dropped, err
		}
		block.Reset(layout)
		parser.Parse(block)
		if block.Err != nil {
			return rows, dropped, block.Err
		}
		if len(block.Values) != block.Rows || len(block.Start) != block.Rows+1 || !block.Ones && len(block.Value) != len(block.Index) {
			t.Fatalf("%d labels, %d starts, %d indices and %d values in %d rows", len(block.Values), len(block.Start), len(block.Index), len(block.Value), block.Rows)
		}
		for i := range block.Rows {
			row := sparseRow{label: block.Values[i]}
			for k := block.Start[i]; k < block.Start[i+1]; k++ {
				v := 1.0
				if !block.Ones {
					v = block.Value[k]
				}
				row.index, row.value = append(row.index, block.Index[k]), append(row.value, v)
			}
			rows = append(rows, row)
		}
		dropped += block.Dropped
	}
}

// plainLibSVM is the obvious reader: split and convert. ok is false where the
// text is not well formed.
func plainLibSVM(content string, limit int) (rows []sparseRow, dropped int, ok bool) {
	for _, line := range strings.Split(content, "\n") {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' || r == '\r' })
		if len(fields) == 0 {
			continue
		}
		row := sparseRow{}
		if fields[0] == "?" {
			row.label = math.NaN()
		} else if v, finite, number := ParseNumber([]byte(fields[0])); number && finite {
			row.label = v
		} else {
			return nil, 0, false
		}
		previous := 0
		for _, f := range fields[1:] {
			name, text, found := strings.Cut(f, ":")
			if name == "qid" && found {
				continue
			}
			index, err := strconv.ParseUint(name, 10, 31)
			value, finite, number := ParseNumber([]byte(text))
			if !found || err != nil || int(index) <= previous || !number || !finite {
				return nil, 0, false
			}
			if previous = int(index); previous > limit {
				dropped++
				continue
			}
			row.index, row.value = append(row.index, int32(index-1)), append(row.value, value)
		}
		rows = append(rows, row)
	}
	return rows, dropped, true
}

func requirePlainLibSVM(t testing.TB, content string, size, limit int) {
	t.Helper()
	want, wantDropped, ok := plainLibSVM(content, limit)
	got, dropped, err := libsvm(t, content, size, limit)
	if ok != (err == nil) {
		t.Fatalf("%q in blocks of %d: error is %v, the plain reader says %v", content, size, err, ok)
	}
	if !ok {
		return
	}
	for i := range got {
		if math.IsNaN(got[i].label) && math.IsNaN(want[i].label) {
			got[i].label, want[i].label = 0, 0
		}
	}
	if !reflect.DeepEqual(got, want) || dropped != wantDropped {
		t.Fatalf("%q in blocks of %d is %v (%d dropped), want %v (%d)", content, size, got, dropped, want, wantDropped)
	}
}

func TestLibSVMEqualsPlainReader(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		var b strings.Builder
		for range rng.IntN(6) {
			b.WriteString([]string{"+1", "-1", "0", "2.5", "?", "1e3", ""}[rng.IntN(7)])
			index := 0
			for range rng.IntN(6) {
				index += rng.IntN(9)
				fmt.Fprintf(&b, " %d:%s", index, []string{"1", "0.5", "-3", "1.0", "1e-3", "x", "inf", "10"}[min(rng.IntN(60), 7)])
			}
			b.WriteString([]string{"\n", "\r\n", " \n", "# c:1\n", " qid:3\n", "\n\n", "", "#"}[rng.IntN(8)])
		}
		requirePlainLibSVM(t, b.String(), 1+rng.IntN(50), 1+rng.IntN(60))
	}
}

func FuzzLibSVM(f *testing.F) {
	for _, seed := range []string{"1 1:1 2:0.5\n", "-1 qid:3 5:1#x\n\n", "+1", "0 3:1 2:1", "1 1:", "1 0:1\n", "1 99999999999:1\n", "?\t7:1e5\r\n"} {
		f.Add(seed, uint8(9))
	}
	f.Fuzz(func(t *testing.T, content string, size uint8) {
		requirePlainLibSVM(t, content, int(size)+1, 1000)
	})
}

func TestLibSVMFaults(t *testing.T) {
	for content, want := range map[string]string{
		"1 1:2\n1:2 3:4\n": `t.svm:2: the row begins with "1:2", not with a label: put one in front`,
		"1 0:2\n":          `t.svm:1: "0:2" has the index 0: indices begin with 1 (write the file with zero_based=False, or add 1)`,
		"\n#\n1 2:1 2:3\n": `t.svm:3: "2:3" repeats the index`,
		"1 5:1 2:3\n":      `t.svm:1: "2:3" follows index 5: sort the entries`,
		"1 3:a\n":          `t.svm:1: "3:a" has no finite number as its value`,
		"1 3:nan\n":        `t.svm:1: "3:nan" has no finite number`,
		"1 3\n":            `t.svm:1: "3" is not index:value`,
		"1 4294967299:1\n": `t.svm:1: "4294967299:1" has an index above 2147483647`,
		"1,2 1:1\n":        `t.svm:1: column "label": "1,2" is not a number`,
		"1 ,2 1:1\n":       `t.svm:1: ",2" is not index:value: only one label a row is read`,
		"spam 1:1\n":       `t.svm:1: column "label": "spam" is not a number`,
	} {
		_, _, err := libsvm(t, content, 100, 1000)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: error is %v, want %s", content, err, want)
		}
	}
}
