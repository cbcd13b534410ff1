package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/credence-ml/credence/imaging"
)

// TestRun reconstructs a small image of rectangles both ways.
func TestRun(t *testing.T) {
	folder := t.TempDir()
	truth := imaging.Image{Height: 32, Width: 16, Values: make([]float64, 512)}
	for i := 8; i < 20; i++ {
		for j := 3; j < 12; j++ {
			truth.Values[i*16+j] = 0.8
		}
	}
	path := filepath.Join(folder, "truth.npy")
	if err := truth.Write(path, 0, 1); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"-image", path, "-out", folder}, {"-image", path, "-out", folder, "-choose"}} {
		var out strings.Builder
		if err := run(context.Background(), &out, args); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), "PSNR") {
			t.Errorf("%s", &out)
		}
	}
	for _, name := range []string{"zero.png", "mode.png", "mean.npy", "sd.png", "chosen.png"} {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			t.Error(err)
		}
	}
	if err := run(context.Background(), &strings.Builder{}, nil); err == nil {
		t.Error("no image is asked for")
	}
}
