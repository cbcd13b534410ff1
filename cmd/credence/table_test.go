package main

import (
	"encoding/csv"
	"errors"
	"io"
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
	some := file(t, "some.csv", "size,zip,garden,price,code,id,late\n60,north,true,200,007,9007199254740993,\n90,west,false,,8,7,2.5\n")
	args := []string{"predict", model, some, "--keep", "zip,size,code,id,late", "--latent", "--density"}
	records := sure(csv.NewReader(strings.NewReader(must(t, args...))).ReadAll())(t)
	path := filepath.Join(folder, "p.parquet")
	must(t, append(args, "-o", path)...)
	content := sure(os.Open(path))(t)
	defer content.Close()
	reader := parquet.NewReader(content)
	defer reader.Close()
	var names []string
	for _, column := range reader.Schema().Columns() {
		names = append(names, strings.Join(column, "."))
	}
	if want := strings.Join(records[0], ","); strings.Join(names, ",") != want || want != "zip,size,code,id,late,mean,sd,lower,upper,f_mean,f_sd,log_density" {
		t.Fatalf("columns %v, in CSV %s", names, want)
	}
	rows := make([]parquet.Row, 5)
	n, err := reader.ReadRows(rows)
	if n != len(records)-1 || err != nil && !errors.Is(err, io.EOF) {
		t.Fatalf("%d rows and %v, in CSV %d", n, err, len(records)-1)
	}
	// Codes, and digits that no number holds, are texts.
	for j, kind := range []parquet.Kind{parquet.ByteArray, parquet.Double, parquet.ByteArray, parquet.ByteArray, parquet.Double} {
		if got := rows[1][j].Kind(); got != kind {
			t.Errorf("%s is a column of %v, want %v", names[j], got, kind)
		}
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

// A text behind the sample that is no number is refused where the column is one of numbers.
func TestKeptNumbersThatAreNone(t *testing.T) {
	folder := t.TempDir()
	model := filepath.Join(folder, "m.safetensors")
	must(t, "fit", file(t, "data.csv", houses(60)), "--target", "price", "-o", model)
	for _, late := range []string{"n/a", "9007199254740993"} {
		some := file(t, "some.csv", "id,size,zip,garden\n"+strings.Repeat("1,60,north,true\n", 10_000)+late+",60,north,true\n")
		args := []string{"predict", model, some, "--keep", "id", "-o"}
		path := filepath.Join(folder, "p.parquet")
		if o := invoke(t, "", append(args, path)...); o.code != exitFailed || !strings.Contains(o.err, `column "id": "`+late+`"`) || !strings.Contains(o.err, "write a .csv file") {
			t.Errorf("exit %d: %s", o.code, o.err)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s: a part of the table is left", late)
		}
		must(t, append(args, filepath.Join(folder, "p.csv"))...)
	}
}
