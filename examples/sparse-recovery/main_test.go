package main

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/credence-ml/credence/imaging"
)

// TestRun recovers a vector of its own, and one from files.
func TestRun(t *testing.T) {
	folder := t.TempDir()
	var out strings.Builder
	if err := run(context.Background(), &out, []string{"-numbers", "120", "-nonzero", "6", "-measurements", "60", "-out", folder}); err != nil {
		t.Fatal(err)
	}
	var away, of int
	var relative float64
	if _, err := fmt.Sscanf(out.String(), "%d of %d numbers are more than 3 standard deviations from 0\nrelative error %f", &away, &of, &relative); err != nil {
		t.Fatal(err, &out)
	}
	_, truth, err := imaging.ReadArray(filepath.Join(folder, "truth.npy"))
	if err != nil {
		t.Fatal(err)
	}
	large := 0
	for _, v := range truth {
		if !(math.Abs(v) <= 0.2) {
			large++
		}
	}
	if relative > 0.12 || away < large || away > 8 {
		t.Errorf("%d numbers found, %d are large; relative error %.3f", away, large, relative)
	}
	x, y := filepath.Join(folder, "x.npy"), filepath.Join(folder, "y.npy")
	if err := imaging.WriteArray(x, []int{2, 3}, []float64{1, 0, 0, 0, 1, 0}); err != nil {
		t.Fatal(err)
	}
	if err := imaging.WriteArray(y, []int{2}, []float64{1, 0}); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	if err := run(context.Background(), &out, []string{"-matrix", x, "-measured", y, "-out", folder}); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(out.String(), "1 of 3 numbers") {
		t.Errorf("%s", &out)
	}
	for _, args := range [][]string{{"-matrix", y, "-measured", y}, {"-matrix", x, "-measured", x}, {"-nonzero", "500"}, {"-noise", "0"}} {
		if err := run(context.Background(), &out, append(args, "-out", folder)); err == nil {
			t.Errorf("%v is taken", args)
		}
	}
}
