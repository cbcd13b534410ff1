package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset"
)

// cellsOf reads a table of numbers by its columns, whatever its format.
func cellsOf(t *testing.T, path string) (names []string, columns [][]float64) {
	t.Helper()
	table := sure(dataset.Open(t.Context(), []string{path}, dataset.Options{}))(t)
	defer table.Close()
	rows := sure(table.Load(t.Context(), nil))(t)
	var chunk credence.Chunk
	if err := rows.Read(&chunk, 0, rows.Rows()); err != nil {
		t.Fatal(err)
	}
	for j, c := range rows.Schema().Columns {
		names, columns = append(names, c.Name), append(columns, nil)
		for i := range rows.Rows() {
			columns[j] = append(columns[j], chunk.Values.Row(i)[j])
		}
	}
	return names, columns
}

// TestDrawsCommand: files hold what R's posterior asks of draws: .chain, .iteration and .draw, each pair of the first
// two once, and a column of numbers for each variable; and CSV and Parquet hold the same.
func TestDrawsCommand(t *testing.T) {
	data := file(t, "claims.csv", claims())
	few := file(t, "few.csv", "region,age,expo\nnorth,25,1\nsouth,,1\neast,45,0.5\n")
	folder := t.TempDir()
	model, stream := filepath.Join(folder, "m.safetensors"), filepath.Join(folder, "s.safetensors")
	must(t, "fit", data, "--formula", "claims ~ age + region + offset(log(expo))", "--family", "poisson", "--missing", "drop", "-o", model)
	must(t, "stream", data, "--formula", "region ~ age + hash(claims)", "--positive", "north", "-o", stream)
	rows := []string{"f[1]", "mean[1]", "y[1]", "f[2]", "mean[2]", "y[2]", "f[3]", "mean[3]", "y[3]"}
	for _, c := range []struct {
		args  []string
		names []string
	}{
		{[]string{model}, []string{"(intercept)", "age", "region=east", "region=north", "region=south"}},
		{[]string{model, few}, rows},
		{[]string{stream}, nil},
		{[]string{stream, data, "-n", "20"}, nil},
	} {
		var tables [2][][]float64
		for k, name := range []string{"d.csv", "d.parquet"} {
			path := filepath.Join(folder, name)
			args := append(append([]string{"draws"}, c.args...), "-o", path, "--json")
			if !slices.Contains(args, "-n") {
				args = append(args, "-n", "50")
			}
			told := decode(t, must(t, args...))
			names, columns := cellsOf(t, path)
			tables[k] = columns
			if !slices.Equal(names[:3], []string{".chain", ".iteration", ".draw"}) || c.names != nil && !slices.Equal(names[3:], c.names) {
				t.Errorf("%v: columns %q", c.args, names)
			}
			if n := number(t, told, "draws"); int(n) != len(columns[0]) || int(number(t, told, "columns")) != len(names)-3 || told["output"] != path {
				t.Errorf("%v: %v", c.args, told)
			}
			for s := range columns[0] {
				if columns[0][s] != 1 || columns[1][s] != float64(s+1) || columns[2][s] != float64(s+1) {
					t.Fatalf("draw %d is chain %v, iteration %v, draw %v", s+1, columns[0][s], columns[1][s], columns[2][s])
				}
			}
			first := string(sure(os.ReadFile(path))(t))
			if must(t, args...); string(sure(os.ReadFile(path))(t)) != first {
				t.Error("the same seed gives other bytes")
			}
			if must(t, append(args, "--seed", "2")...); string(sure(os.ReadFile(path))(t)) == first {
				t.Error("another seed gives the same bytes")
			}
			must(t, append(args, "--threads", "1")...)
		}
		for j, column := range tables[0] {
			if fmt.Sprint(column) != fmt.Sprint(tables[1][j]) { // NaN of a row that lacks a value
				t.Errorf("%v: column %d differs between CSV and Parquet", c.args, j)
			}
		}
		if len(c.args) == 2 && c.args[1] == few {
			if lacking := tables[0][7][0]; lacking == lacking || tables[0][3][0] != tables[0][3][0] {
				t.Errorf("the row that lacks its age has mean %v, and the first f %v", lacking, tables[0][3][0])
			}
		}
	}
	if out := must(t, "draws", model, "-n", "3"); strings.Count(out, "\n") != 4 || !strings.HasPrefix(out, ".chain,.iteration,.draw,(intercept),") {
		t.Errorf("%q", out)
	}
	out := must(t, "predict", model, few, "--mean-interval", "--latent")
	if !strings.HasPrefix(out, "mean,sd,lower,upper,mean_lower,mean_upper,f_mean,f_sd\n") || !strings.Contains(out, "\n,,,,,,,\n") {
		t.Errorf("%q", out)
	}
	for want, args := range map[string][]string{
		"-n 0 is not between 1 and 1000000":                 {model, "-n", "0"},
		"draws --json tells about the run and needs a file": {model, "--json"},
		"predict --samples writes draws of y of any number": {model, data, "-n", "100000"},
		"there is no column \"age\", which the model needs": {model, file(t, "other.csv", "a,b\n1,2\n")},
		"draws takes a model: write credence draws MODEL":   {},
		"is read, and would be overwritten":                 {model, data, "-o", data},
	} {
		if o := invoke(t, "", append([]string{"draws"}, args...)...); o.code == exitDone || !strings.Contains(o.err, want) {
			t.Errorf("%v: %d, %q, want %q", args, o.code, o.err, want)
		}
	}
}

// TestDrawsOfMembers: draws of members with random features of their own leave out their weights, and say so; those of
// a sampler are as many as there are.
func TestDrawsOfMembers(t *testing.T) {
	data := file(t, "houses.csv", houses(60))
	folder := t.TempDir()
	model, sampled := filepath.Join(folder, "m.safetensors"), filepath.Join(folder, "g.safetensors")
	must(t, "fit", data, "--formula", "price ~ garden + rbf(size, n=5)", "--engine", "exact(draws=2, starts=2)", "-o", model)
	o := invoke(t, "", "draws", model, "-n", "7")
	if !strings.Contains(o.err, "rbf(size): each member of the fit has features of its own there") || strings.Contains(o.out, "rbf") || strings.Count(o.out, "\n") != 8 {
		t.Errorf("%q, %q", o.out, o.err)
	}
	must(t, "fit", data, "--formula", "price ~ garden + size", "--prior", "spikeslab", "--engine", "gibbs(draws=100)", "-o", sampled)
	o = invoke(t, "", "draws", sampled, "-n", "100000")
	if !strings.Contains(o.err, "the posterior is") || !strings.Contains(o.err, "of a sampler, all of which are written") {
		t.Errorf("%q", o.err)
	}
	if !strings.Contains(o.err, "noise_variance left out: the fit does not tell how uncertain") || strings.Contains(o.out, "noise_variance") {
		t.Errorf("%q, %q", o.out[:100], o.err)
	}
}
