package output

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset"
)

// A long table is written in groups of rows, so that memory does not grow with it.
func TestParquetGroupsRows(t *testing.T) {
	var out bytes.Buffer
	w := newParquetWriter(&out, []Column{{Name: "mean"}, {Name: "sd"}})
	const rows = 2<<17 + 5
	for i := range rows {
		if err := w.Write(nil, []float64{float64(i), 1}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := parquet.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if got := len(content.RowGroups()); got != 3 || content.NumRows() != rows {
		t.Errorf("%d rows in %d groups, want %d in 3", content.NumRows(), got, rows)
	}
	if groups := content.Metadata().RowGroups; groups[0].TotalByteSize != groups[1].TotalByteSize {
		t.Errorf("groups of as many numbers have %d and %d bytes", groups[0].TotalByteSize, groups[1].TotalByteSize)
	}
}

// TestNumbersAsSpreadsheetsReadThem: numbers that are neither tiny nor huge have no exponent, and all are read back to
// the bit by their shortest decimals.
func TestNumbersAsSpreadsheetsReadThem(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 1: "1", -1234567: "-1234567", 123456789012345: "123456789012345", 1e15: "1e+15", -2.5e300: "-2.5e+300", 0.25: "0.25", 0.001: "0.001", 1e-5: "1e-05", 3e-300: "3e-300", 1234567.5: "1234567.5",
	} {
		if got := string(appendNumber(nil, v)); got != want {
			t.Errorf("%v is written %s, want %s", v, got, want)
		}
	}
}

// Cells are written as encoding/csv writes them.
func FuzzCSVCells(f *testing.F) {
	for _, text := range []string{"", "a", " a", "a ", "a,b", "a;b\tc", `say "so"`, "two\nlines", "\r", `\.`, `\.x`, "\u00a0x", "\xff", "é"} {
		f.Add(text, "x")
		f.Add("x", text)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, delimiter := range []byte{',', '\t'} {
			var want, got bytes.Buffer
			plain := csv.NewWriter(&want)
			plain.Comma = rune(delimiter)
			if err := plain.WriteAll([][]string{{a, "n", b}, {b, "-0.25", a}, {a, "", b}}); err != nil {
				t.Fatal(err)
			}
			w := newCSVWriter(&got, []Column{{Name: a, Text: true}, {Name: "n"}, {Name: b, Text: true}}, delimiter)
			err := w.Write(nil, []float64{-0.25, math.NaN()}, []byte(b), []byte(a), []byte(a), []byte(b))
			if err == nil {
				err = w.Close()
			}
			if err != nil || got.String() != want.String() {
				t.Fatalf("%q, want %q: %v", got.String(), want.String(), err)
			}
		}
	})
}

// Formats are known by the extension; what they cannot hold is refused before anything is written.
func TestFormats(t *testing.T) {
	if _, err := New(nil, "x.csv", Numbers("a")); err == nil || !strings.Contains(err.Error(), "x.csv has no writer") {
		t.Errorf("without a writer: %v", err)
	}
	mean := Column{Name: "mean"}
	for path, want := range map[string]string{"": "mean,sd\n0.5,2\n", "p.TSV": "mean\tsd\n0.5\t2\n", "p.vw": "0.5\n"} {
		var out bytes.Buffer
		w, err := New(&out, path, Numbers("mean", "sd"))
		if err == nil {
			err = errors.Join(w.Write(nil, []float64{0.5, 2}), w.Close(), Check(path))
		}
		if err != nil || out.String() != want {
			t.Errorf("%q: %q, %v", path, out.String(), err)
		}
	}
	var out bytes.Buffer // of texts that are kept the tag alone, wherever it stands
	w, err := New(&out, "p.vw", append(Texts("site", dataset.TagColumn), mean))
	if err == nil {
		err = errors.Join(w.Write(nil, []float64{0.5, 2}, []byte("a"), []byte("t1"), []byte("b"), nil), w.Close())
	}
	if err != nil || out.String() != "0.5 t1\n2\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
	if got := string(appendCell(nil, []byte("a\rb"), ',')); got != "\"a\rb\"" {
		t.Errorf("an old Mac's end of a line is written %q", got)
	}
	for path, columns := range map[string][]Column{"p.csv": {mean, mean}, "p.vw": {{Name: "sd"}}} {
		var out bytes.Buffer
		if _, err := New(&out, path, columns); err == nil || out.Len() > 0 {
			t.Errorf("%s: %v is written", path, columns)
		}
	}
	if Check("p.xlsx") == nil {
		t.Error("p.xlsx is a format")
	}
}

// Texts that are numbers stand in Parquet as such, and every cell stays in its own row and column.
func TestParquetNumbersBesideTexts(t *testing.T) {
	columns := append(Texts("first", "amount", "last"), Column{Name: "mean"})
	columns[1].Number = func(text []byte) (float64, error) { return strconv.ParseFloat(string(text), 64) }
	var out bytes.Buffer
	w := newParquetWriter(&out, columns)
	var texts [][]byte
	for _, text := range strings.Fields("a 1.5 b c -2 d") {
		texts = append(texts, []byte(text))
	}
	if err := errors.Join(w.Write(nil, []float64{7, 8}, texts...), w.Close()); err != nil {
		t.Fatal(err)
	}
	type row struct {
		First  string  `parquet:"first,optional"`
		Amount float64 `parquet:"amount,optional"`
		Last   string  `parquet:"last,optional"`
		Mean   float64 `parquet:"mean,optional"`
	}
	got, err := parquet.Read[row](bytes.NewReader(out.Bytes()), int64(out.Len()))
	if want := []row{{"a", 1.5, "b", 7}, {"c", -2, "d", 8}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
}

// TestTablesOfTextsAlone: rows without a number are written in each format, all of them, and by many hands as by one.
func TestTablesOfTextsAlone(t *testing.T) {
	columns := append(Texts("site", "amount"), Texts("note")...)
	columns[1].Number = func(text []byte) (float64, error) { return strconv.ParseFloat(string(text), 64) }
	texts := [][]byte{[]byte("a"), []byte("1.5"), []byte("x,y"), []byte("b"), []byte("-2"), nil, nil, []byte("1e3"), []byte("z")}
	each := func(do func(i int)) {
		for _, i := range []int{2, 0, 1} {
			do(i)
		}
	}
	for path, want := range map[string]string{"p.csv": "site,amount,note\na,1.5,\"x,y\"\nb,-2,\n,1e3,z\n", "p.tsv": "site\tamount\tnote\na\t1.5\tx,y\nb\t-2\t\n\t1e3\tz\n"} {
		for _, each := range []func(func(int)){nil, each} {
			var out bytes.Buffer
			w, err := New(&out, path, columns)
			if err = errors.Join(err, w.Write(each, nil, texts...), w.Close()); err != nil || out.String() != want {
				t.Errorf("%s: %q, %v", path, out.String(), err)
			}
		}
	}
	var out bytes.Buffer
	w, err := New(&out, "p.parquet", columns)
	if err = errors.Join(err, w.Write(nil, nil, texts[:3]...), w.Flush(), w.Write(nil, nil, texts[3:]...), w.Close()); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "p.parquet")
	if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	data, err := dataset.Open(t.Context(), []string{file}, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	source, err := data.Load(t.Context(), nil)
	var chunk credence.Chunk
	if err == nil {
		err = source.Read(&chunk, 0, source.Rows())
	}
	if err != nil || source.Rows() != 3 {
		t.Fatalf("%d rows, %v", source.Rows(), err)
	}
	k := source.Schema().Index("amount")
	for i, want := range []float64{1.5, -2, 1000} {
		if got := chunk.Values.Row(i)[k]; got != want {
			t.Errorf("amount %d is %v, want %v", i, got, want)
		}
	}
	columns[1].Number = func([]byte) (float64, error) { return 0, errors.New("no number stands there") }
	if w, err = New(io.Discard, "p.parquet", columns); err != nil {
		t.Fatal(err)
	}
	if err := w.Write(nil, nil, texts...); err == nil || !strings.Contains(err.Error(), "no number stands there") {
		t.Errorf("a text that is no number: %v", err)
	}
}
