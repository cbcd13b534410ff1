package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/relation"
	"github.com/credence-ml/credence/selection"
)

// warning is a table that fits warn of: rows that are impossible, tails, equal rows, values that are missing. Column y
// is of numbers, b of classes, n of counts.
func warning() relation.Table {
	const rows = 360
	t := relation.Table{Names: []string{"x", "z", "c", "y", "b", "n"}, Numbers: map[string][]float64{}, Texts: map[string][]string{}}
	for _, name := range []string{"x", "z", "y", "b", "n"} {
		t.Numbers[name] = make([]float64, rows)
	}
	t.Texts["c"] = make([]string, rows)
	for i := range rows {
		k := i
		if i%60 > 50 {
			k = i - 1 // a row twice and more
		}
		noise := math.Tan(math.Pi * (math.Mod(float64(k)*0.618034, 1) - 0.5) * 0.9)
		x, z := math.Sin(float64(7*k)), math.Mod(float64(k)*0.7548777, 1)
		y := 2*x - z + 0.2*noise
		b, n := 0.0, math.Floor(3*z+math.Abs(noise))
		if y > 0 {
			b = 1
		}
		switch k {
		case 17, 200:
			y, n = 900, 4000
		case 18: // which each of the classes is impossible for
			x, b = 40, 0
		}
		c := []string{"u", "v", "w"}[k*k%3]
		if k%29 == 3 {
			x = math.NaN()
		}
		if k%31 == 4 {
			c = ""
		}
		t.Numbers["x"][i], t.Numbers["z"][i], t.Numbers["y"][i], t.Numbers["b"][i], t.Numbers["n"][i], t.Texts["c"][i] = x, z, y, b, n, c
	}
	return t
}

// The bytes of a model of any kind are those of its rows, options and seed, however the rows come, and the names of
// files and folders do not stand in it; nor in what a run that is stopped leaves to go on from.
func TestModelsAreBytesOfTheirRows(t *testing.T) {
	const secret = "mueller_clinic" // part of every name
	root, rows := t.TempDir(), warning()
	folder := filepath.Join(root, secret+"_folder")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	written := func(name, from string, t2 relation.Table) string { return sure(t2.Write(folder, secret+name, from))(t) }
	whole := written("", "", rows)
	text := sure(os.ReadFile(whole))(t)
	packed := func(extension string, packer func(io.Writer) io.WriteCloser) string {
		var b bytes.Buffer
		w := packer(&b)
		w.Write(text)
		w.Close()
		path := whole + extension
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	all := make([]int, rows.Rows())
	for i := range all {
		all[i] = i
	}
	t.Chdir(root)
	ways := map[string][]string{
		"relative path": {filepath.Join(secret+"_folder", filepath.Base(whole))},
		"pipe":          {"-"},
		"gzip":          {packed(".gz", func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) })},
		"zstd":          {packed(".zst", func(w io.Writer) io.WriteCloser { return sure(zstd.NewWriter(w))(t) })},
		"parquet":       {written("", relation.Parquet, rows)},
		"split":         {written("_1", "", rows.Pick(all[:100])), written("_2", "", rows.Pick(all[100:]))},
	}
	commands := map[string][]string{
		"select":  {"select", "--target", "y"},
		"counts":  {"fit", "-f", "n ~ x + c", "--family", "poisson"},
		"grades":  {"fit", "-f", "n ~ x + c", "--family", "ordinal"},
		"tails":   {"fit", "-f", "y ~ x + c", "--family", "studentt"},
		"kernel":  {"fit", "-f", "y ~ x + c + rbf(z, n=20)"},
		"classes": {"fit", "-f", "b ~ x + z + c"}, // what active ranks by
		"hashed":  {"stream", "-f", "b ~ hash(c) + x"},
	}
	var stopped []string
	for _, e := range fit.Default().Engines {
		if e.Online != nil {
			commands["stream by "+e.Name] = []string{"stream", "-f", "b ~ x + z + c", "--engine", e.Name}
		}
		if e.Batch == nil {
			continue
		}
		formula := "y ~ x + z + c"
		if e.Family != "" {
			formula = "b ~ x + z + c"
		}
		commands[e.Name] = []string{"fit", "-f", formula, "--engine", e.Name}
		if _, err := fit.NewSelection(fit.Options{Formula: formula, Engine: e.Name}, selection.Options{}); err == nil {
			commands["select by "+e.Name] = []string{"select", "-f", formula, "--engine", e.Name}
		}
		if e.Checkpoints {
			stopped = append(stopped, e.Name)
		}
	}
	named := 0
	for k, name := range slices.Sorted(maps.Keys(commands)) {
		command := commands[name]
		t.Run(name, func(t *testing.T) {
			model := func(paths []string) []byte {
				out := filepath.Join(folder, "model")
				args := slices.Concat(command[:1], paths, command[1:], []string{"--missing", "mean", "--cache", folder, "-q", "-o", out})
				if o := invoke(t, string(text), args...); o.code != exitDone {
					t.Fatalf("%q: exit %d: %s", args, o.code, o.err)
				}
				written := sure(os.ReadFile(out))(t)
				if bytes.Contains(written, []byte(secret)) {
					t.Errorf("%q: the model names its file", args)
				}
				return written
			}
			want := model([]string{whole})
			if bytes.Contains(want, []byte("rows (rows ")) {
				named++
			}
			for i, way := range slices.Sorted(maps.Keys(ways)) {
				if (i+k)%3 != 0 && !hostileEverything() {
					continue // every command by two ways, and every way by a third of the commands
				}
				if !bytes.Equal(model(ways[way]), want) {
					t.Errorf("another model by %s", way)
				}
			}
		})
	}
	if named < 5 {
		t.Errorf("%d kinds of model name rows that are impossible: the rows do not warn", named)
	}

	for _, engine := range stopped {
		path := filepath.Join(folder, engine+".checkpoint")
		var held []byte
		for stop := int64(4); held == nil && stop < 1<<14; stop += stop {
			ctx := &countdown{}
			ctx.Context, ctx.cancel = context.WithCancel(context.Background())
			ctx.left.Store(stop)
			run(ctx, append(append([]string{}, commands[engine][0], whole), append(commands[engine][1:], "--missing", "mean", "--cache", folder, "--checkpoint", path)...), streams{strings.NewReader(""), io.Discard, io.Discard})
			held, _ = os.ReadFile(path)
		}
		if held == nil || bytes.Contains(held, []byte(secret)) {
			t.Errorf("the checkpoint of %s is none, or names the file", engine)
		}
	}
	faulty := filepath.Join(folder, secret+"_faulty.csv")
	if err := os.WriteFile(faulty, append(bytes.Clone(text), "no row\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(folder, "stopped")
	o := invoke(t, "", "stream", faulty, "-f", "b ~ x + z + c", "--missing", "mean", "--cache", folder, "-o", out)
	if held, err := os.ReadFile(out + ".checkpoint"); o.code != exitFailed || err != nil || bytes.Contains(held, []byte(secret)) {
		t.Errorf("a stream that stops leaves no checkpoint, or one that names the file: %v, %s", err, o.err)
	}
}
