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
	some := file(t, "some.csv", "size,zip,garden,price\n60,north,true,200\n90,west,false,\n")
	args := []string{"predict", model, some, "--keep", "zip,size", "--latent", "--density"}
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
