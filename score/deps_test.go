package score_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence/internal/conform/must"
)

// A program that only scores a model file.
const scoringProgram = `package main

import (
	"fmt"
	"os"

	"github.com/credence-ml/credence/modelfile"
	"github.com/credence-ml/credence/score"
)

func main() {
	model, err := modelfile.Load(os.Args[1])
	if err != nil {
		panic(err)
	}
	fmt.Println(score.Row(model, map[string]any{"x": 1.0}))
}
`

// A program that only scores holds no engine, no reader of files and no decompressor, no linear algebra beside the
// kernel, and stays below 6.3 MB: every kind of posterior, term and family that a model file may hold is linked.
func TestScoringIsSmall(t *testing.T) {
	deps := must.Value(exec.Command("go", "list", "-deps", "github.com/credence-ml/credence/score", "github.com/credence-ml/credence/modelfile").Output())(t)
	for _, path := range strings.Fields(string(deps)) {
		if strings.HasSuffix(path, "/infer/problem") { // is no engine: criticism samples rows by it
			continue
		}
		for _, part := range []string{"infer", "dataset", "formula", "parquet-go", "cobra", "klauspost", "compress", "zstd", "progressbar", "mat", "lapack"} {
			if slices.Contains(strings.Split(path, "/"), part) {
				t.Errorf("a program that scores holds %s", path)
			}
		}
	}
	if testing.Short() {
		return
	}
	program := filepath.Join(t.TempDir(), "main.go")
	must.Succeed(t, os.WriteFile(program, []byte(scoringProgram), 0o600))
	binary := program + ".bin"
	if out, err := exec.Command("go", "build", "-trimpath", "-o", binary, program).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	info := must.Value(os.Stat(binary))(t)
	t.Logf("%.1f MB", float64(info.Size())/1e6)
	if info.Size() >= 6.3e6 {
		t.Errorf("a program that only scores has %.1f MB", float64(info.Size())/1e6)
	}
}
