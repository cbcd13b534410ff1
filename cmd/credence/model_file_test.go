package main

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The program of docs/model-file.md gives the f that predict --latent does.
func TestModelFileIsReadByNumpy(t *testing.T) {
	python := ""
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(name, "-c", "import numpy").Run() == nil {
			python = name
			break
		}
	}
	if python == "" {
		t.Skip("there is no python3 with numpy")
	}
	page := sure(os.ReadFile("../../docs/model-file.md"))(t)
	_, code, _ := strings.Cut(string(page), "```python\n")
	code, _, found := strings.Cut(code, "```")
	if !found {
		t.Fatal("the page has no program")
	}
	program := file(t, "read.py", code)
	data := file(t, "houses.csv", houses(200))
	for _, args := range [][]string{
		{"--target", "price"},
		{"-f", "price ~ garden + onehot(zip) + rbf(size, n=20) + matern32(size, n=15)", "--engine", "exact(draws=2)"},
		{"-f", "garden ~ size + zip"},
	} {
		model := filepath.Join(t.TempDir(), "m.safetensors")
		must(t, append([]string{"fit", data, "-o", model}, args...)...)
		out, err := exec.Command(python, program, model, data).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		table := must(t, "predict", model, data, "--latent")
		mean, sd := columnOf(t, table, "f_mean"), columnOf(t, table, "f_sd")
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		if len(lines) != len(mean) {
			t.Fatalf("%v: %d rows of %d", args, len(lines), len(mean))
		}
		for i, line := range lines {
			cells := strings.Fields(line)
			for k, want := range []float64{mean[i], sd[i]} {
				if got := parse(t, cells[k]); !(math.Abs(got-want) <= 1e-9*(1+math.Abs(want))) {
					t.Errorf("%v, row %d: %v is not %v", args, i+1, got, want)
				}
			}
		}
	}
}
