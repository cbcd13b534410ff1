package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/must"
)

// randomCSV returns rows with numbers, categories, booleans and missing values.
func randomCSV(rng *rand.Rand, rows int) string {
	var b strings.Builder
	b.WriteString("x,city,flag,k\n")
	for i := range rows {
		missing := rng.IntN(10) == 0
		x := fmt.Sprintf("%.3f", rng.NormFloat64())
		if missing {
			x = "NA"
		}
		city := fmt.Sprintf("city %d", rng.IntN(i/50+2))
		if rng.IntN(20) == 0 {
			city = "\"quoted,\n" + city + "\""
		}
		fmt.Fprintf(&b, "%s,%s,%v,%d\n", x, city, rng.IntN(2) == 0, rng.IntN(9))
	}
	return b.String()
}

func packed(t testing.TB, name, content string) string {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	if strings.HasSuffix(name, ".zst") {
		w, _ = zstd.NewWriter(&b)
	} else {
		w = gzip.NewWriter(&b)
	}
	io.WriteString(w, content)
	w.Close()
	return write(t, name, b.String())
}

// TestTheSameRows reads one table in every way that there is: packed, through
// standard input, in pieces, in memory or from the row cache, with any number of
// threads. Rows, levels and places are the same.
func TestTheSameRows(t *testing.T) {
	rows := 30_000
	if testing.Short() {
		rows = 8_000
	}
	content := randomCSV(rand.New(rand.NewPCG(1, 2)), rows)
	path := write(t, "t.csv", content)
	want, _, err := load(t, Options{Threads: 1}, nil, path)
	if err != nil {
		t.Fatal(err)
	}
	wanted := rowsOf(t, want, 512)
	if len(wanted) != rows {
		t.Fatalf("%d rows, want %d", len(wanted), rows)
	}
	lines := strings.Split(content, "\n")
	for i := 0; i < rows; i += 97 { // the place of a row holds its number
		place := want.(*source).Place(i)
		var line int
		if _, err := fmt.Sscanf(strings.TrimPrefix(place, path), ":%d", &line); err != nil {
			t.Fatalf("row %d is at %q", i, place)
		}
		if text := fmt.Sprintf("%.3f,", wanted[i][0]); wanted[i][0] == wanted[i][0] && !strings.HasPrefix(lines[line-1], text) {
			t.Fatalf("row %d is at %s, which holds %q", i, place, lines[line-1])
		}
	}
	stdin := func(live bool) Options {
		return Options{Stdin: strings.NewReader(content), Once: live}
	}
	gz := packed(t, "t.csv.gz", content)
	for name, c := range map[string]struct {
		options Options
		paths   []string
	}{
		"threads":        {Options{Threads: 5}, []string{path}},
		"gzip":           {Options{}, []string{gz}},
		"zstd":           {Options{}, []string{packed(t, "t.csv.zst", content)}},
		"tabs":           {Options{}, []string{write(t, "t.tsv", strings.ReplaceAll(strings.ReplaceAll(content, "quoted,", "quoted;"), ",", "\t"))}},
		"CR LF and BOM":  {Options{}, []string{write(t, "t.csv", "\ufeff"+strings.ReplaceAll(content, "\n", "\r\n"))}},
		"no last LF":     {Options{}, []string{write(t, "t.csv", strings.TrimSuffix(content, "\n"))}},
		"stdin":          {stdin(false), []string{"-"}},
		"live stdin":     {stdin(true), []string{"-"}},
		"cache":          {Options{MemoryLimit: -1}, []string{path}},
		"half in cache":  {Options{MemoryLimit: int64(len(content) / 2)}, []string{path}},
		"stdin in cache": {Options{MemoryLimit: -1, Stdin: strings.NewReader(content)}, []string{"-"}},
		"gzip in cache":  {Options{MemoryLimit: -1, Threads: 3}, []string{gz}},
	} {
		t.Run(name, func(t *testing.T) {
			got, _, err := load(t, c.options, nil, c.paths...)
			if err != nil {
				t.Fatal(err)
			}
			columns := want.Schema().Columns
			if name == "tabs" { // the levels hold the other delimiter
				columns = nil
				for _, c := range want.Schema().Columns {
					c.Levels = strings.Split(strings.ReplaceAll(strings.Join(c.Levels, "|"), "quoted,", "quoted;"), "|")
					if c.Kind != credence.Category {
						c.Levels = nil
					}
					columns = append(columns, c)
				}
			}
			if !reflect.DeepEqual(got.Schema().Columns, columns) {
				t.Errorf("schema differs: %v", got.Schema())
			}
			if (got.(*source).cache != nil) != (c.options.MemoryLimit != 0) {
				t.Errorf("cached: %v", got.(*source).cache != nil)
			}
			for _, step := range []int{512, 1000, rows} {
				if !sameRows(rowsOf(t, got, step), wanted) {
					t.Fatalf("rows differ in steps of %d", step)
				}
			}
			// Out of order, from the end.
			var chunk credence.Chunk
			for first := rows - 10; first > 0; first -= 3777 {
				must.Succeed(t, got.Read(&chunk, first, 10))
				for i := range 10 {
					if !sameRows([][]float64{chunk.Values.Row(i)}, [][]float64{wanted[first+i]}) {
						t.Fatalf("row %d differs", first+i)
					}
				}
			}
			if err := got.Read(&chunk, rows-5, 6); err == nil {
				t.Error("rows beyond the end are read")
			}
			if name != "tabs" && got.(*source).Place(rows - 1)[len(c.paths[0]):] == "" {
				t.Error("the last row has no place")
			}
		})
	}
}

func TestSeveralFiles(t *testing.T) {
	folder := t.TempDir()
	for name, content := range map[string]string{
		"b.csv": "y,x\nq,2\n", "a.csv": "x,y\n1,p\n", "c.csv": "x;y\n3;p\n",
		"notes.txt": "not data", ".hidden.csv": "z\n1\n", "_done.csv": "z\n1\n",
	} {
		must.Succeed(t, os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600))
	}
	in := func(names ...string) (paths []string) {
		for _, name := range names {
			paths = append(paths, filepath.Join(folder, name))
		}
		return paths
	}
	for name, paths := range map[string][]string{
		"folder": {folder}, "pattern": in("[abc].csv"), "names": in("a.csv", "b.csv", "c.csv"),
	} {
		source, table, err := load(t, Options{}, nil, paths...)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := rowsOf(t, source, 2); !sameRows(got, [][]float64{{1, 0}, {2, 1}, {3, 0}}) {
			t.Errorf("%s: rows are %v", name, got)
		}
		if got := table.Files(); !reflect.DeepEqual(got, in("a.csv", "b.csv", "c.csv")) {
			t.Errorf("%s: files are %v", name, got)
		}
	}
	os.WriteFile(filepath.Join(folder, "d.csv"), []byte("x,z\n1,2\n"), 0o600)
	os.WriteFile(filepath.Join(folder, "e.csv"), []byte("x\n1\n"), 0o600)
	os.WriteFile(filepath.Join(folder, "f.csv"), []byte("y,x\nq,1\nq,v\n"), 0o600)
	os.WriteFile(filepath.Join(folder, "g.svm"), []byte("1 1:1\n"), 0o600)
	link := filepath.Join(folder, "link.csv")
	must.Succeed(t, os.Link(filepath.Join(folder, "a.csv"), link))
	for want, paths := range map[string][]string{
		`a.csv: the file is named twice, and its rows would count twice`: in("a.csv", "b.csv", "a.csv"),
		`/./a.csv: is the same file as `:                                 append(in("a.csv"), folder+"/./a.csv"),
		`link.csv: is the same file as `:                                 append(in("a.csv"), link),
		`b.csv: the file is named twice`:                                 in("[ab].csv", "b.csv"),
		`d.csv:1: column "z": the column is not in`:                      in("a.csv", "d.csv"),
		`e.csv:1: column "y": the column is missing, but`:                in("a.csv", "e.csv"),
		`f.csv:3: column "x": "v" is not a number`:                       in("a.csv", "b.csv", "f.csv"),
		`g.svm: is libsvm, but `:                                         in("a.csv", "g.svm"),
		`nowhere.csv: there is no such file`:                             in("nowhere.csv"),
		`a formula is stated by --formula 'y ~ x'`:                       {in("a.csv")[0], "y ~ x"},
		`: no file matches`:                                              in("z*.csv"),
		`dataset: no data named`:                                         nil,
		`dataset: standard input is named twice`:                         {"-", "-"},
		`the folder holds no .csv, .tsv, .libsvm, .svm or .parquet file`: {t.TempDir()},
	} {
		if _, _, err := load(t, Options{}, nil, paths...); err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), "dataset: no file", ": no file"), want) {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
}

func TestTruncatedGzip(t *testing.T) {
	content := randomCSV(rand.New(rand.NewPCG(3, 4)), 60_000)
	path := packed(t, "t.csv.gz", content)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	os.WriteFile(path, whole[:len(whole)*9/10], 0o600)
	_, _, err = load(t, Options{}, nil, path)
	if err == nil || !strings.Contains(err.Error(), "the compressed data end early: is the file complete? Fetch or write it again") || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("error is %v", err)
	}
	whole[len(whole)/2] ^= 0x55
	os.WriteFile(path, whole, 0o600)
	if _, _, err = load(t, Options{}, nil, path); err == nil {
		t.Error("a damaged file is read")
	}
}

// A file that shrinks or grows while it is read is said to have changed, whatever else is wrong by then.
func TestChangedInTheMiddle(t *testing.T) {
	content := randomCSV(rand.New(rand.NewPCG(5, 6)), 100_000)
	for name, size := range map[string]int{"cut in a row": len(content)*3/5 + 3, "cut at a line": strings.LastIndex(content[:len(content)*3/5], "\n") + 1, "longer": len(content) + 9} {
		path := write(t, "t.csv", content)
		ctx, once := context.Background(), false
		table, err := Open(ctx, []string{path}, Options{Progress: func(Progress) {
			if !once {
				once = true
				if err := os.Truncate(path, int64(size)); err != nil {
					t.Error(err)
				}
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := table.Load(ctx, nil); err == nil || !strings.Contains(err.Error(), "the file changed while it was being read: start again") {
			t.Errorf("%s: %v", name, err)
		}
		table.Close()
	}
}

func TestCancelledInTheMiddle(t *testing.T) {
	path := write(t, "t.csv", randomCSV(rand.New(rand.NewPCG(5, 6)), 50_000))
	for _, limit := range []int64{0, -1} {
		ctx, cancel := context.WithCancel(context.Background())
		calls := 0
		cache := t.TempDir()
		table, err := Open(ctx, []string{path}, Options{CacheDir: cache, MemoryLimit: limit, Progress: func(p Progress) {
			if calls++; calls == 2 {
				cancel()
			}
			if p.Bytes <= 0 || p.Bytes > p.Total {
				t.Errorf("progress is %+v", p)
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := table.Load(ctx, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("error is %v", err)
		}
		if calls > 3 {
			t.Errorf("%d blocks were read after the cancellation", calls-2)
		}
		if left, _ := filepath.Glob(filepath.Join(cache, "rows", "*")); len(left) != 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}
