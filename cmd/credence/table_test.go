package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// Parquet holds what CSV does: the same columns in the same order, and the same
// numbers, levels and empty cells.
func TestParquetEqualsCSV(t *testing.T) {
	data := file(t, "data.csv", houses(60))
	folder := t.TempDir()
	model := filepath.Join(folder, "m.safetensors")
	must(t, "fit", data, "--target", "price", "-o", model)
	some := file(t, "some.csv", "size,zip,garden,price\n60,north,true,200\n90,west,false,\n")
	args := []string{"predict", model, some, "--keep", "zip,size", "--latent", "--density"}
	records, err := csv.NewReader(strings.NewReader(must(t, args...))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "p.parquet")
	must(t, append(args, "-o", path)...)
	content, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer content.Close()
	reader := parquet.NewReader(content)
	defer reader.Close()
	var names []string
	for _, column := range reader.Schema().Columns() {
		names = append(names, strings.Join(column, "."))
	}
	if want := strings.Join(records[0], ","); strings.Join(names, ",") != want || want != "zip,size,mean,sd,lower,upper,f_mean,f_sd,log_density" {
		t.Fatalf("columns %v, in CSV %s", names, want)
	}
	rows := make([]parquet.Row, 5)
	n, err := reader.ReadRows(rows)
	if n != len(records)-1 || err != nil && !errors.Is(err, io.EOF) {
		t.Fatalf("%d rows and %v, in CSV %d", n, err, len(records)-1)
	}
	for i, row := range rows[:n] {
		for _, v := range row {
			cell := ""
			switch {
			case v.IsNull():
			case v.Kind() == parquet.ByteArray:
				cell = string(v.ByteArray())
			default:
				cell = strconv.FormatFloat(v.Double(), 'g', -1, 64)
			}
			if want := records[i+1][v.Column()]; cell != want {
				t.Errorf("row %d, %s: %q, in CSV %q", i+1, names[v.Column()], cell, want)
			}
		}
	}
}

// A long table is written in groups of rows, so that memory does not grow with it.
func TestParquetGroupsRows(t *testing.T) {
	var out bytes.Buffer
	w := newParquetWriter(&out, []outputColumn{{name: "mean"}, {name: "sd"}})
	const rows = 2*rowsPerGroup + 5
	for i := range rows {
		if err := w.write(nil, []float64{float64(i), 1}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.close(); err != nil {
		t.Fatal(err)
	}
	content, err := parquet.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if got := len(content.RowGroups()); got != 3 || content.NumRows() != rows {
		t.Errorf("%d rows in %d groups, want %d in 3", content.NumRows(), got, rows)
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
			w, err := newCSVWriter(&got, []outputColumn{{name: a, text: true}, {name: "n"}, {name: b, text: true}}, delimiter)
			if err == nil {
				err = w.write(nil, []float64{-0.25, math.NaN()}, []byte(b), []byte(a), []byte(a), []byte(b))
			}
			if err == nil {
				err = w.close()
			}
			if err != nil || got.String() != want.String() {
				t.Fatalf("%q, want %q: %v", got.String(), want.String(), err)
			}
		}
	})
}
