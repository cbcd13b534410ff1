package dataset

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/credence-ml/credence"
)

func TestDelimitersAreFoundOut(t *testing.T) {
	for content, want := range map[string][]string{
		"a,b\n1,2\n":                          {"a", "b"},
		"a;b\n1,5;2,5\n":                      {"a", "b"},
		"a\tb\n1\t2\n":                        {"a", "b"},
		"a|b\n1|2\n":                          {"a", "b"},
		"a\n1\n":                              {"a"},
		"\"a;b\",c\n\"1;2;3\",4\n\"5\",6\n":   {"a;b", "c"},
		"a,b c;d\n1,2;3\n4,5;6\n":             {"a", "b c;d"},
		"name;text\nx;one, two\ny;one,two,\n": {"name", "text"},
	} {
		table, err := Open(context.Background(), []string{write(t, "t", content)}, Options{})
		if err != nil {
			t.Errorf("%q: %v", content, err)
			continue
		}
		var names []string
		for _, c := range table.Schema().Columns {
			names = append(names, c.Name)
		}
		if fmt.Sprint(names) != fmt.Sprint(want) {
			t.Errorf("%q has the columns %q, want %q", content, names, want)
		}
	}
}

// FuzzOpen reads any bytes as a file: an error of one line, or rows that fit the
// schema.
func FuzzOpen(f *testing.F) {
	for _, seed := range []string{"a,b\n1,x\n2,\"y\nz\"\n", "1 1:1 5:0.5\n-1\n", "a\tb\n\n1\t2\n", "\x1f\x8b", "PAR1", "\xef\xbb\xbfx;y\r\n1;NA\r\n", "0,1\n", "a\n\"", "\x28\xb5\x2f\xfd"} {
		f.Add([]byte(seed))
	}
	// One file for all inputs: making folders would take most of the time.
	cache, path := f.TempDir(), filepath.Join(f.TempDir(), "fuzz")
	f.Fuzz(func(t *testing.T, content []byte) {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		table, err := Open(ctx, []string{path}, Options{CacheDir: cache, Threads: 2})
		var source credence.Source
		if err == nil {
			defer table.Close()
			source, err = table.Load(ctx, nil)
		}
		if err != nil {
			if strings.Contains(err.Error(), "\n") || ctx.Err() != nil {
				t.Fatalf("error is %q", err)
			}
			return
		}
		schema := source.Schema()
		for _, row := range rowsOf(t, source, 3) {
			for j, v := range row {
				if c := schema.Columns[j]; v == v && c.Kind == credence.Category && (v < 0 || int(v) >= len(c.Levels)) {
					t.Fatalf("column %d holds code %g of %d levels", j, v, len(c.Levels))
				}
			}
		}
	})
}

// A few bytes of zstd that ask for a window of 128 MB take one, in however many passes they are read.
func TestLargeWindows(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	path := write(t, "w.csv.zst", "\x28\xb5\x2f\xfd\x00\x88\x61\x00\x00a,y\n1,2\n3,5\n")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 3 {
		if source, _, err := load(t, Options{Threads: 1}, nil, path); err != nil || source.Rows() != 2 {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if taken := (after.TotalAlloc - before.TotalAlloc) >> 20; taken < 100 || taken > 250 {
		t.Errorf("%d MB", taken)
	}
}
