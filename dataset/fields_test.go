package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/credence-ml/credence/internal/conform/must"
)

// fieldsOf reads all texts of some columns.
func fieldsOf(t *testing.T, options Options, columns []string, paths ...string) [][]string {
	t.Helper()
	options.CacheDir = t.TempDir()
	table, err := Open(context.Background(), paths, options)
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	var rows [][]string
	err = table.Fields(context.Background(), columns, func(f *Fields) error {
		if f.First != len(rows) {
			t.Errorf("a block begins at row %d after %d rows", f.First, len(rows))
		}
		for i := range f.Rows {
			var row []string
			for j := range columns {
				row = append(row, string(f.Text(i, j)))
			}
			rows = append(rows, row)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestFieldsAreAsWritten(t *testing.T) {
	long := strings.Repeat("long ", 20_000) // longer than a category may be
	content := "id,zip,x,note,flag\r\n" +
		"9007199254740993,02139,1e3, spaced ,true\r\n" +
		"NA,00501,1.50,\"a \"\"quoted\"\", text\r\nof two lines\",FALSE\r\n" +
		"\r\n" +
		"9007199254740993,,n/a,\"" + long + "\",\r\n"
	got := fieldsOf(t, Options{MissingTokens: []string{"n/a"}}, []string{"note", "flag", "id", "zip", "x"}, write(t, "t.csv", content))
	want := [][]string{
		{" spaced ", "true", "9007199254740993", "02139", "1e3"},
		{"a \"quoted\", text\r\nof two lines", "FALSE", "NA", "00501", "1.50"},
		{long, "", "9007199254740993", "", "n/a"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("fields %.300q", got)
	}
	table := must.Value(Open(t.Context(), []string{write(t, "w.csv", content)}, Options{MissingTokens: []string{"n/a"}, CacheDir: t.TempDir()}))(t)
	defer table.Close()
	var out strings.Builder
	if err := table.WriteCSV(t.Context(), &out, []string{"zip", "x"}); err != nil || out.String() != "zip,x\n02139,1e3\n00501,1.50\n,n/a\n" {
		t.Errorf("written %q, %v", out.String(), err)
	}
	reader, full := io.Pipe()
	must.Succeed(t, reader.Close())
	if err := table.WriteCSV(t.Context(), full, []string{"zip"}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("written where nothing can be: %v", err)
	}
	got = fieldsOf(t, Options{}, []string{"label"}, write(t, "t.libsvm", "+1.0 1:2 7:1e300\n# comment\n-1 3:1\n007\n"))
	if want := [][]string{{"+1.0"}, {"-1"}, {"007"}}; !reflect.DeepEqual(got, want) {
		t.Errorf("labels %q", got)
	}
}

func TestFieldsOfParquetAreExact(t *testing.T) {
	type row struct {
		ID    int64    `parquet:"id"`
		Bits  uint64   `parquet:"bits"`
		Name  string   `parquet:"name"`
		Flag  bool     `parquet:"flag"`
		Share *float64 `parquet:"share"`
		Short float32  `parquet:"short"`
	}
	tenth, none := 0.1, math.NaN()
	path := writeParquet(t, []row{
		{9007199254740993, math.MaxUint64, "NA", true, &tenth, 0.1},
		{-9007199254740993, 0, " b ", false, nil, 1234567},
		{3, 1, "", false, &none, 1},
		{4, 1, "n/a", false, &none, 1}, // which stands for missing, and is kept as it is
	})
	got := fieldsOf(t, Options{MissingTokens: []string{"n/a"}}, []string{"id", "bits", "name", "flag", "share", "short"}, path)
	want := [][]string{
		{"9007199254740993", "18446744073709551615", "NA", "true", "0.1", "0.1"},
		{"-9007199254740993", "0", " b ", "false", "", "1234567"},
		{"3", "1", "", "false", "", "1"},
		{"4", "1", "n/a", "false", "", "1"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("fields %q", got)
	}
}

// Texts of any number come in file order at any thread count, more of them than a
// category may have levels, and are written in that order.
func TestFieldsInOrder(t *testing.T) {
	const rows = 60_000 // several blocks
	var content strings.Builder
	content.WriteString("x,id\n")
	for i := range rows {
		fmt.Fprintf(&content, "%d,id-%07d\n", i%7, i)
	}
	path, copied := write(t, "t.csv", content.String()), write(t, "t.csv", content.String())
	for _, threads := range []int{1, 3} {
		got := fieldsOf(t, Options{Threads: threads, MaxLevels: 10}, []string{"id"}, path, copied)
		if len(got) != 2*rows {
			t.Fatalf("%d rows", len(got))
		}
		for i, row := range got {
			if want := fmt.Sprintf("id-%07d", i%rows); row[0] != want {
				t.Fatalf("row %d holds %s, want %s", i, row[0], want)
			}
		}
	}
	table := must.Value(Open(t.Context(), []string{path, copied}, Options{CacheDir: t.TempDir()}))(t)
	defer table.Close()
	var out strings.Builder
	must.Succeed(t, table.WriteCSV(t.Context(), &out, []string{"x", "id"}))
	if want := content.String() + strings.TrimPrefix(content.String(), "x,id\n"); out.String() != want {
		t.Errorf("%d bytes are written, want the %d of the files", out.Len(), len(want))
	}
}

func TestFieldsRefusals(t *testing.T) {
	table := must.Value(Open(context.Background(), []string{write(t, "t.csv", "a,b\n1,2\n")}, Options{}))(t)
	defer table.Close()
	for _, c := range []struct {
		columns []string
		want    string
	}{{[]string{"c"}, `the column "c" is not in`}, {[]string{"a", "a"}, `"a" is named twice`}} {
		err := table.Fields(context.Background(), c.columns, func(*Fields) error { return nil })
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.columns, err, c.want)
		}
	}
}
