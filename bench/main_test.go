package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestSplitRange(t *testing.T) {
	for text, want := range map[string][2]int{"5": {0, 5}, "all": {0, 20}, "3-7": {3, 8}, "18-30": {18, 20}, "4-4": {4, 5}} {
		first, end, err := splitRange(text, 20)
		if err != nil || first != want[0] || end != want[1] {
			t.Errorf("%s: %d to %d, %v; want %v", text, first, end, err, want)
		}
	}
	for _, text := range []string{"0", "-1", "7-3", "x", ""} {
		if _, _, err := splitRange(text, 20); err == nil {
			t.Errorf("%q was taken for a range of splits", text)
		}
	}
}

func TestMeanAndError(t *testing.T) {
	mean, standardError := meanAndError([]float64{1, 2, 3, 6})
	// Variance 14/3 with divisor n−1; the standard error is √(14/3/4).
	if mean != 3 || !(math.Abs(standardError-math.Sqrt(14.0/12)) <= 1e-15) {
		t.Errorf("mean %v ± %v", mean, standardError)
	}
	if _, standardError := meanAndError([]float64{1}); !math.IsNaN(standardError) {
		t.Errorf("one value has the standard error %v", standardError)
	}
}

func TestDigits(t *testing.T) {
	for x, want := range map[float64]int{4.8: 2, 12.3: 1, 1234: 0, 0.0806: 4, 0: 3, 1e-5: 7} {
		if got := digits(x); got != want {
			t.Errorf("%v: %d digits, want %d", x, got, want)
		}
	}
}

func TestMissingDataAreSkipped(t *testing.T) {
	for _, name := range []string{"uci", "peers"} {
		var out, progress bytes.Buffer
		if err := run(t.Context(), []string{name, "-data", t.TempDir(), "-sets", "boston"}, &out, &progress); err != nil {
			t.Fatal(err)
		}
		if out.Len() > 0 || !strings.Contains(progress.String(), "boston is not in") {
			t.Errorf("%s: printed %q, told %q", name, out.String(), progress.String())
		}
	}
	if err := run(t.Context(), []string{"nothing"}, nil, nil); err == nil {
		t.Error("an unknown benchmark ran")
	}
}

// What a file of results has is not measured again, and a broken one is refused by its line.
func TestResultsAreKept(t *testing.T) {
	folder := t.TempDir()
	table := "x,y\n"
	for i := range 40 {
		table += fmt.Sprintf("%d,%d\n", i, (i*i)%11)
	}
	writeGzip(t, filepath.Join(folder, "boston", "boston.csv.gz"), table)
	writeGzip(t, filepath.Join(folder, "boston", "test_splits.txt.gz"), "0 3 8\n5 1 2\n")
	path := filepath.Join(folder, "results.jsonl")
	score := func(splits string) string {
		t.Helper()
		var out, progress bytes.Buffer
		args := []string{"uci", "-data", folder, "-sets", "boston,energy", "-splits", splits, "-formula", ".", "-results", path}
		if err := run(t.Context(), args, &out, &progress); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	first := score("1")
	content, err := os.ReadFile(path)
	if err != nil || bytes.Count(content, []byte("\n")) != 1 {
		t.Fatalf("file of results %q, %v", content, err)
	}
	// Another figure on file shows in the table: it was read, not measured.
	changed := regexp.MustCompile(`"rmse":[0-9.]+`).ReplaceAll(content, []byte(`"rmse":123`))
	if err := os.WriteFile(path, changed, 0o644); err != nil {
		t.Fatal(err)
	}
	if again := score(recorded); !strings.Contains(again, "123") || strings.Contains(first, "123") {
		t.Errorf("the table does not show what is on file:\n%s", again)
	}
	score("all")
	if content, err = os.ReadFile(path); err != nil || bytes.Count(content, []byte("\n")) != 2 {
		t.Errorf("after the second split the file is %q, %v", content, err)
	}
	if err := os.WriteFile(path, append(content, "{}\n"...), 0o644); err != nil {
		t.Fatal(err)
	}
	err = run(t.Context(), []string{"uci", "-data", folder, "-sets", "boston", "-results", path}, &bytes.Buffer{}, &bytes.Buffer{})
	if err == nil || !strings.Contains(err.Error(), "results.jsonl:3") {
		t.Errorf("error %v does not name line 3", err)
	}
}

func writeGzip(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, packed.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// One evaluation of a tiny problem is seen from its first to its last block.
func TestCell(t *testing.T) {
	var out bytes.Buffer
	if err := runCell(t.Context(), []string{"-rows", "1200", "-weights", "40", "-threads", "1"}, &out, nil); err != nil {
		t.Fatal(err)
	}
	var c map[string]float64
	if err := json.Unmarshal(out.Bytes(), &c); err != nil {
		t.Fatal(err)
	}
	if c["rows"] != 1200 || c["weights"] != 40 || c["threads"] != 1 || !(c["seconds"] > 0) || !(c["gram_gflops"] > 0) || !(c["pullback_seconds"] <= c["cpu_seconds"]) {
		t.Errorf("cell %v", c)
	}
}
