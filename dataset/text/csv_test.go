package text

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/cell"
	"github.com/credence-ml/credence/table"
)

// records reads delimited text by blocks of about the given size. Lines are
// those on which rows begin.
func records(t testing.TB, content string, delimiter byte, size int) (rows [][]string, lines []int, err error) {
	t.Helper()
	splitter := NewSplitter(strings.NewReader(content), "t.csv", 1, 0, delimiter)
	splitter.block = size
	parser := CSV{Delimiter: delimiter}
	block := &Block{}
	for {
		if err := splitter.Next(block); err == io.EOF {
			return rows, lines, nil
		} else if err != nil {
			return rows, lines, err
		}
		block.File = "t.csv"
		err := parser.Records(block, func(line int, fields [][]byte, fault error) error {
			if fault != nil {
				return fault
			}
			row := make([]string, len(fields))
			for i, f := range fields {
				row[i] = string(f)
			}
			rows, lines = append(rows, row), append(lines, line)
			return nil
		})
		if err != nil {
			return rows, lines, err
		}
	}
}

// standard reads with encoding/csv, which is strict.
func standard(content string, delimiter byte) (rows [][]string, lines []int, err error) {
	r := csv.NewReader(strings.NewReader(content))
	r.Comma, r.FieldsPerRecord = rune(delimiter), -1
	for {
		row, err := r.Read()
		if err == io.EOF {
			return rows, lines, nil
		}
		if err != nil {
			return nil, nil, err
		}
		line, _ := r.FieldPos(0)
		rows, lines = append(rows, row), append(lines, line)
	}
}

// requireStandard compares with encoding/csv, wherever that accepts the text. It
// leaves spaces around unquoted fields, so spaces are taken off both.
func requireStandard(t testing.TB, content string, delimiter byte, size int) {
	t.Helper()
	want, wantLines, err := standard(content, delimiter)
	if err != nil {
		return
	}
	got, lines, err := records(t, content, delimiter, size)
	if err != nil {
		t.Fatalf("%q in blocks of %d is refused: %v", content, size, err)
	}
	for _, rows := range [][][]string{got, want} {
		for _, row := range rows {
			for i := range row {
				row[i] = strings.Trim(row[i], " ")
			}
		}
	}
	if len(got) != len(want) || len(want) > 0 && (!reflect.DeepEqual(got, want) || !reflect.DeepEqual(lines, wantLines)) {
		t.Fatalf("%q in blocks of %d is %q on lines %v, want %q on %v", content, size, got, lines, want, wantLines)
	}
}

func TestRecordsEqualEncodingCSV(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"a", "12", " ", ",", ";", "\n", "\r\n", "\r", `"`, `""`, "é", "x y", "\n\n", `","`, "\t"}
	trials := 20_000
	if testing.Short() {
		trials = 4_000
	}
	for range trials {
		var b strings.Builder
		for range rng.IntN(30) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		requireStandard(t, b.String(), []byte{',', ';', '\t'}[rng.IntN(3)], 1+rng.IntN(40))

		// What encoding/csv writes is always well formed.
		var table bytes.Buffer
		w := csv.NewWriter(&table)
		w.UseCRLF = rng.IntN(2) == 0
		columns := 1 + rng.IntN(4)
		for range rng.IntN(6) {
			row := make([]string, columns)
			for j := range row {
				for range rng.IntN(4) {
					row[j] += pieces[rng.IntN(len(pieces))]
				}
			}
			w.Write(row)
		}
		w.Flush()
		requireStandard(t, table.String(), ',', 1+rng.IntN(40))
	}
}

func FuzzCSV(f *testing.F) {
	for _, seed := range []string{"a,b\n1,2\n", "\"x\"\"y\",\"\r\n\"\r\n,", "a\n\"b", " \"q\" ,1\n", "\r\r\n\"\"\"", "a,b\n\"1\n2\",3,\n"} {
		f.Add(seed, uint8(7))
	}
	f.Fuzz(func(t *testing.T, content string, size uint8) {
		requireStandard(t, content, ',', int(size)+1)
		parsed(t, content, int(size)+1, 2)
		requireInPlace(t, content, int(size)+1, ',')
	})
}

// cellTexts returns the cells of two columns of texts as Parse reads them, and what is wrong with rows.
func cellTexts(content string, size int, delimiter byte, inPlace bool) (cells []string) {
	splitter := NewSplitter(strings.NewReader(content), "t.csv", 1, 0, delimiter)
	splitter.block = size
	layout := &Layout{File: "t.csv", Last: 1, Columns: []table.Column{{Name: "a", Kind: credence.Category, Text: true}, {Name: "b", Kind: credence.Category}}}
	layout.Fields = []Field{{Name: "a", Keep: -1, Text: 0, Written: -1}, {Name: "b", Kind: credence.Category, Keep: 1, Text: -1, Written: -1}}
	parser := CSV{Delimiter: delimiter, Rules: Rules{cells: cell.NewRules([]string{"none at all"}), InPlace: inPlace}}
	for block := (&Block{}); splitter.Next(block) == nil; {
		block.Reset(layout)
		parser.Parse(block)
		for i := range block.Count {
			for j, v := range block.Row(i) {
				if v == v {
					cells = append(cells, fmt.Sprintf("%d: %q", block.Rows.Line(i), block.TextOf(j, v)))
				} else {
					cells = append(cells, "missing")
				}
			}
		}
		for _, fault := range block.Faults {
			cells = append(cells, fmt.Sprint(fault.Row, fault.End, fault.Err))
		}
	}
	return cells
}

// requireInPlace compares texts that stay where they stand with those that are numbered.
func requireInPlace(t testing.TB, content string, size int, delimiter byte) {
	t.Helper()
	got, want := cellTexts(content, size, delimiter, true), cellTexts(content, size, delimiter, false)
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%q in blocks of %d: %q in place, %q numbered", content, size, got, want)
	}
}

// Texts are the same whether they are numbered or not: plain ones of any length, quoted ones, those that mean
// missing, and those that are none.
func TestTextsInPlace(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	texts := []string{"", "NA", "null", "none at all", "a", "1234567", "12345678", "123456789", strings.Repeat("x", 70), " b ", "c d", `"q"`, `"d ""e"""`, "\"g\nh\"",
		"!", "#", "\x7f", "\x80", "z\xa1", "é", "日本", "n\x00l", strings.Repeat("y", cell.MaxLevel), strings.Repeat("y", cell.MaxLevel+1), "q,", "x\"y"}
	for trial := range 2000 {
		delimiter := []byte{',', ';', '\t'}[trial%3]
		var content strings.Builder
		for range rng.IntN(20) {
			for j := range 2 {
				text := texts[rng.IntN(len(texts))]
				if len(text) > 100 && rng.IntN(50) > 0 {
					text = "k"
				}
				content.WriteString(text)
				content.WriteString([]string{string(delimiter), []string{"\n", "\r\n"}[trial%2]}[j])
			}
		}
		requireInPlace(t, content.String(), 1+rng.IntN(400), delimiter)
	}
}

// parsed runs Parse over all blocks, with columns number, category, boolean in
// turn, and returns the rows as texts. It must agree with Records.
func parsed(t testing.TB, content string, size, columns int) (rows []string, err error) {
	t.Helper()
	splitter := NewSplitter(strings.NewReader(content), "t.csv", 1, 0, ',')
	splitter.block = size
	layout := &Layout{File: "t.csv"}
	for j := range columns {
		field := Field{Name: fmt.Sprint("c", j), Keep: -1, Text: -1, Written: -1}
		if j != 1 {
			field.Keep, field.Kind = len(layout.Columns), []credence.Kind{credence.Numeric, 0, credence.Category, credence.Boolean}[j%4]
			layout.Columns = append(layout.Columns, table.Column{Name: field.Name, Kind: field.Kind})
			layout.Last = j
		}
		layout.Fields = append(layout.Fields, field)
	}
	parser := CSV{Delimiter: ',', Rules: Rules{cells: cell.NewRules(nil)}}
	block := &Block{}
	for {
		if err := splitter.Next(block); err == io.EOF {
			return rows, nil
		} else if err != nil {
			return rows, err
		}
		block.Reset(layout)
		parser.Parse(block)
		if len(block.Values) != block.Count*len(layout.Columns) || len(block.Ends) != block.Count {
			t.Fatalf("%d values and %d ends in %d rows", len(block.Values), len(block.Ends), block.Count)
		}
		for i := range block.Count {
			if len(block.Faults) > 0 && block.Faults[0].Row == i {
				break
			}
			row := ""
			for j, f := range layout.Fields {
				if f.Keep < 0 {
					continue
				}
				v := block.Row(i)[f.Keep]
				if f.Kind == credence.Category && !math.IsNaN(v) {
					row += fmt.Sprintf("%d=%q ", j, block.Levels[f.Keep].List[int(v)].Text)
				} else {
					row += fmt.Sprintf("%d=%g ", j, v)
				}
			}
			rows = append(rows, row)
		}
		if len(block.Faults) > 0 {
			return rows, block.Faults[0].Err
		}
	}
}

// TestParseEqualsRecords compares the fast parser with the plain one, at block
// sizes that cut everywhere.
func TestParseEqualsRecords(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	numbers := []string{"1", "-2.5", "1e3", "NA", "", " 7 ", `"8"`, "123456789.123456789", "-0.0001"}
	texts := []string{"a", `"b,c"`, `"d ""e"""`, "", "NA", " f ", "\"g\nh\"", "日本"}
	booleans := []string{"true", "no", "1", "", `"F"`, "NA"}
	for trial := range 400 {
		columns := 1 + rng.IntN(4)
		var content strings.Builder
		rules := cell.NewRules(nil)
		for range rng.IntN(30) {
			for j := range columns {
				if j > 0 {
					content.WriteByte(',')
				}
				choices := [][]string{numbers, {"skipped", `"skip,ped"`, "", "x\"y"}, texts, booleans}[j]
				if trial%2 == 0 { // without quotes, the other way of splitting
					choices = choices[:1]
				}
				content.WriteString(choices[rng.IntN(len(choices))])
			}
			content.WriteString([]string{"\n", "\r\n"}[trial/2%2])
		}
		plain, _, err := records(t, content.String(), ',', 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, record := range plain {
			row := ""
			for j, f := range record {
				if j == 1 {
					continue
				}
				if rules.IsMissing([]byte(f)) {
					row += fmt.Sprintf("%d=NaN ", j)
					continue
				}
				switch j {
				case 0:
					v, _, ok := cell.ParseNumber([]byte(f))
					if !ok {
						t.Fatalf("test data: %q", f)
					}
					row += fmt.Sprintf("%d=%g ", j, v)
				case 2:
					row += fmt.Sprintf("%d=%q ", j, f)
				case 3:
					v, _ := cell.ParseBoolean([]byte(f))
					row += fmt.Sprintf("%d=%g ", j, v)
				}
			}
			want = append(want, row)
		}
		for _, size := range []int{1, 2, 3, 5, 8, 13, 50, 1000} {
			got, err := parsed(t, content.String(), size, columns)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("%q in blocks of %d is %q (%v), want %q", content.String(), size, got, err, want)
			}
		}
	}
}

func TestFaultsAndTheirLines(t *testing.T) {
	for content, want := range map[string]string{
		"1,2\n3\n":                         `t.csv:2: the row has 1 field, the header 2: correct the row, or quote the fields that hold a delimiter`,
		"1,2\n\n3,\"\n\"\n4,5,6,7\n":       `t.csv:5: the row has 4 fields, the header 2`,
		"1,2,3\n":                          `t.csv:1: the row has 3 fields, the header 2: if every row begins with a row name`,
		"1,x\n\"2\"z,y\n":                  `t.csv:2: column "c0": text follows the closing double quote`,
		"1,x\n2,\"y\n3,4\n":                `t.csv:2: a field opens with a double quote that is never closed`,
		"1,x\nabc,y\n":                     `t.csv:2: column "c0": "abc" is not a number; declare it with --missing abc`,
		"a b,y\n":                          `t.csv:1: column "c0": "a b" is not a number; declare it with --missing 'text=a b'`,
		"\"3,14\",y\n":                     `t.csv:1: column "c0": "3,14" is not a number with a decimal point: say --decimal ',' if commas are decimal`,
		"1,x\n-inf,y\n":                    `t.csv:2: column "c0": "-inf" is not a finite number; declare it with --missing -inf`,
		"1e999,y\n":                        `t.csv:1: column "c0": "1e999" is not a finite number`,
		strings.Repeat("z", 1000) + ",y\n": `t.csv:1: column "c0": "` + strings.Repeat("z", 40) + `…" (1000 bytes) is not a number; correct it`,
	} {
		_, err := parsed(t, content, 10, 2)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.40q: error is %v, want %s", content, err, want)
		}
	}
	if _, err := parsed(t, "1,x,"+strings.Repeat("y", cell.MaxLevel+1)+"\n", 10, 3); err == nil || !strings.Contains(err.Error(), `column "c2": a value of 65537 bytes is too long for a category`) {
		t.Errorf("a long level: %v", err)
	}
}

// endless repeats one byte for ever.
type endless struct{ c byte }

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = e.c
	}
	return len(p), nil
}

// The longest row is the same whatever stands before it.
func TestLongestRow(t *testing.T) {
	const longest = 1 << 12
	for before := range 40 {
		for _, excess := range []int{-40, 40} {
			row := strings.Repeat("y", longest+excess)
			splitter := NewSplitter(strings.NewReader(strings.Repeat("1,2\n", before*13)+row+"\n3,4\n"), "t.csv", 1, 0, ',')
			splitter.block, splitter.longest = 1<<8, longest
			block, err := &Block{}, error(nil)
			for err == nil {
				err = splitter.Next(block)
			}
			if (err == io.EOF) != (excess < 0) {
				t.Errorf("%d rows before a row of %d bytes: %v", before*13, len(row), err)
			}
		}
	}
}

func TestRowsWithoutEnd(t *testing.T) {
	for prefix, want := range map[string]string{
		"1,2\nx":   "t.csv:2: the row is longer than 1 MB",
		"1,2\n\"x": "t.csv:2: a field is longer than 1 MB: is a double quote left open?",
		"1,2\r3":   "t.csv:1: lines end in bare carriage returns",
	} {
		splitter := NewSplitter(io.MultiReader(strings.NewReader(prefix), endless{'y'}), "t.csv", 1, 0, ',')
		splitter.longest = 1 << 20
		block := &Block{}
		var err error
		for err == nil {
			err = splitter.Next(block)
		}
		if !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q and then for ever: error is %v, want %s", prefix, err, want)
		}
	}
}
