package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset/output"
)

// Every command reads any number of files of every format: more than there are blocks for the threads,
// and a thousand. All give the rows of one file that holds them together; sums of rows end with their file, so that the
// numbers of a batch fit of more than a block of rows are those of one file but for rounding.
func TestManyFiles(t *testing.T) {
	const threads, rows = 2, 3 // rows of a file
	count := newTally(t)
	number := func(i int) (y, x, z int) { return i * i % 7 % 2, i % 9, (i * 5) % 11 }
	formats := map[string]func(first, n int) []byte{
		"csv": func(first, n int) []byte {
			return []byte(repeat("y,x1,x2\n", n, func(i int) string { y, x, z := number(first + i); return fmt.Sprintf("%d,%d,%d\n", y, x, z) }))
		},
		"tsv": func(first, n int) []byte {
			return []byte(repeat("y\tx1\tx2\n", n, func(i int) string { y, x, z := number(first + i); return fmt.Sprintf("%d\t%d\t%d\n", y, x, z) }))
		},
		"libsvm": func(first, n int) []byte {
			return []byte(repeat("", n, func(i int) string { y, x, z := number(first + i); return fmt.Sprintf("%d 1:%d 2:%d\n", y, x, z) }))
		},
		"vw": func(first, n int) []byte {
			return []byte(repeat("", n, func(i int) string { y, x, z := number(first + i); return fmt.Sprintf("%d |a x1:%d x2:%d\n", y, x, z) }))
		},
		"parquet": func(first, n int) []byte {
			var out bytes.Buffer
			w, err := output.New(&out, "t.parquet", []output.Column{{Name: "y"}, {Name: "x1"}, {Name: "x2"}})
			for i := 0; err == nil && i < n; i++ {
				y, x, z := number(first + i)
				err = w.Write(nil, []float64{float64(y), float64(x), float64(z)})
			}
			if err == nil {
				err = w.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
			return out.Bytes()
		},
		"csv.gz": nil,
	}
	formats["csv.gz"] = func(first, n int) []byte {
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		w.Write(formats["csv"](first, n))
		w.Close()
		return out.Bytes()
	}
	counts := []int{1, 2*threads + 3}
	switch {
	case hostileEverything():
		counts = append(counts, 2*threads+2, 1000)
	case testing.Short():
		counts = counts[1:]
	}
	for format, content := range formats {
		target := "y"
		if format == "libsvm" || format == "vw" {
			target = "label"
		}
		formula := []string{"-f", target + " ~ .", "--threads", fmt.Sprint(threads), "-q"}
		for _, files := range counts {
			folder := t.TempDir()
			for k := range files {
				if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%04d.%s", k, format)), content(100+k*rows, rows), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			all := filepath.Join(folder, "*")
			train, whole := filepath.Join(t.TempDir(), "train."+format), filepath.Join(t.TempDir(), "all."+format)
			if os.WriteFile(train, content(0, 100), 0o600) != nil || os.WriteFile(whole, content(100, files*rows), 0o600) != nil {
				t.Fatal("no files")
			}
			models := t.TempDir()
			batch, online := filepath.Join(models, "b"), filepath.Join(models, "o")
			must(t, append([]string{"fit", train, "-o", batch}, formula...)...)
			must(t, append([]string{"stream", train, "-o", online}, formula...)...)
			commands := map[string][]string{
				"fit": append([]string{"fit", "--family", "gaussian", "--json"}, formula...), "select": append([]string{"select", "--family", "gaussian", "--engine", "ep", "--json"}, formula...),
				"stream": append([]string{"stream", "--json"}, formula...), "stream predict": {"predict", online}, "predict": {"predict", batch},
				"evaluate": {"evaluate", batch, "--json"}, "compare": {"compare", batch, batch, "--json"}, "rank": {"active", "rank", batch, "-n", "3"},
			}
			for name, args := range commands {
				title := fmt.Sprintf("%s of %d %s files", name, files, format)
				reference := invoke(t, "", append(args, whole)...)
				same := func(o outcome) error {
					a, b := timeless(o.out), timeless(reference.out)
					if rounds := name == "fit" || name == "select"; rounds && files*rows > credence.BlockRows {
						return rounded(a, b)
					}
					if a != b {
						return fmt.Errorf("%.300s\nand of one file\n%.300s", a, b)
					}
					return nil
				}
				o := count.check(title, "", "", same, append(args, all)...)
				if o.code != reference.code {
					t.Errorf("%s: exit %d, and %d of one file: %s%s", title, o.code, reference.code, o.err, reference.err)
				}
				if files == 1 {
					stdin := invoke(t, string(content(100, rows)), append(args, "-", "--format", strings.TrimSuffix(format, ".gz"))...)
					if stdin.code != o.code || timeless(stdin.out) != timeless(o.out) {
						t.Errorf("%s from standard input: exit %d: %s%s", title, stdin.code, stdin.out, stdin.err)
					}
				}
			}
		}
	}
}

// rounding is what sums of the same rows in another order may move an answer by, relative to it: 3,000 terms of a sum
// move it by 1e-13, and a search that settles to its tolerance by the root of that.
const rounding = 1e-6

var numbersIn = regexp.MustCompile(`-?[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?`)

// rounded compares two outputs of the same words, whose numbers may differ by rounding.
func rounded(a, b string) error {
	if x, y := numbersIn.ReplaceAllString(a, "#"), numbersIn.ReplaceAllString(b, "#"); x != y {
		return fmt.Errorf("%.300s\nand of one file\n%.300s", x, y)
	}
	x, y := numbersIn.FindAllString(a, -1), numbersIn.FindAllString(b, -1)
	for k := range x {
		v, _ := strconv.ParseFloat(x[k], 64)
		w, _ := strconv.ParseFloat(y[k], 64)
		if !(math.Abs(v-w) <= rounding*math.Max(math.Abs(v), math.Abs(w))) {
			return fmt.Errorf("%s, and of one file %s, in %.2000s", x[k], y[k], a)
		}
	}
	return nil
}

// timeless is an output without what differs from run to run.
func timeless(text string) string {
	var out []string
	for _, part := range strings.Split(text, ",") {
		if !strings.Contains(part, "seconds") && !strings.Contains(part, "per_second") {
			out = append(out, part)
		}
	}
	return strings.Join(out, ",")
}
