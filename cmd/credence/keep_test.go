package main

import (
	"encoding/csv"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
)

// keptColumns returns the first columns of predictions in CSV, without the header.
func keptColumns(t *testing.T, text string, width int) [][]string {
	t.Helper()
	records := sure(csv.NewReader(strings.NewReader(text)).ReadAll())(t)
	var kept [][]string
	for _, record := range records[1:] {
		kept = append(kept, record[:width])
	}
	return kept
}

// What --keep copies is what the file says, to the letter, also in rows that a
// number could not hold, and whether or not the model uses the column.
func TestKeptColumnsAreVerbatim(t *testing.T) {
	train := file(t, "train.csv", "x,flag,y\n1,true,2\n2,false,3\n3,true,5\n4,false,4\n")
	model := filepath.Join(t.TempDir(), "m.safetensors")
	must(t, "fit", train, "--target", "y", "-o", model)
	some := file(t, "some.csv", "id,zip,x,flag\n9007199254740993,02139,1.50,true\n9007199254740995,NA,2,no\n1e2,\"a,\"\"b\"\"\",003,false\n")
	got := keptColumns(t, must(t, "predict", model, some, "--keep", "id,zip,x,flag"), 4)
	want := [][]string{
		{"9007199254740993", "02139", "1.50", "true"},
		{"9007199254740995", "NA", "2", "no"},
		{"1e2", `a,"b"`, "003", "false"},
	}
	if !slices.EqualFunc(got, want, slices.Equal[[]string]) {
		t.Errorf("kept %q", got)
	}
	if o := invoke(t, "x,flag,mean\n1,true,2\n", "predict", model, "-", "--keep", "mean"); o.code != exitMisuse || !strings.Contains(o.err, `two columns "mean"`) {
		t.Errorf("two columns of one name: exit %d: %s", o.code, o.err)
	}
	online := filepath.Join(t.TempDir(), "n.safetensors")
	must(t, "stream", train, "-f", "flag ~ hash(x)", "-o", online)
	if got := keptColumns(t, must(t, "predict", online, some, "--keep", "id,zip,x,flag"), 4); !slices.EqualFunc(got, want, slices.Equal[[]string]) {
		t.Errorf("of a model of stream, kept %q", got)
	}
	// The same through standard input, which can be read once.
	piped := invoke(t, "id,x,flag\n01,1,true\n02,2,false\n", "predict", model, "-", "--keep", "id")
	if got := keptColumns(t, piped.out, 1); piped.code != 0 || len(got) != 2 || got[0][0] != "01" || got[1][0] != "02" {
		t.Errorf("kept of standard input %q: %s", got, piped.err)
	}
}

// Rows stay beside their own texts over many batches and blocks.
func TestKeptRowsStayAligned(t *testing.T) {
	train := file(t, "train.csv", "x,y\n1,1\n2,2\n3,3\n4,4.5\n")
	model := filepath.Join(t.TempDir(), "m.safetensors")
	must(t, "fit", train, "--target", "y", "-o", model)
	var content strings.Builder
	content.WriteString("id,x\n")
	const rows = 3*credence.BlockRows + 17
	for i := range rows {
		fmt.Fprintf(&content, "%s%d,%d\n", strings.Repeat("0", i%50), i, i)
	}
	path := file(t, "many.csv", content.String())
	got := keptColumns(t, must(t, "predict", model, path, "--keep", "x,id"), 3)
	if len(got) != rows {
		t.Fatalf("%d rows", len(got))
	}
	previous := -1e300
	for i, row := range got {
		if row[0] != fmt.Sprint(i) || row[1] != strings.Repeat("0", i%50)+fmt.Sprint(i) {
			t.Fatalf("row %d holds %q", i, row)
		}
		mean := parse(t, row[2])
		if mean <= previous { // the line rises
			t.Fatalf("row %d predicts %g after %g", i, mean, previous)
		}
		previous = mean
	}
}
