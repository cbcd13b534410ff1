package fit_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/credence-ml/credence/internal/conform/must"
)

// around is what stands around the Go of a page: its imports, and the values that its words name.
const around = `package snippets

import (
	"context"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/imaging"
	"github.com/credence-ml/credence/infer/convex"
	"github.com/credence-ml/credence/infer/svi"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/modelfile"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/table"
)

type House struct{ Price, Lat, Lon float64 }

var (
	ctx      context.Context
	house    House
	houses   []House
	features credence.Features
	model    *credence.Fitted
	rows     credence.Source
	scores, others *score.Scores
	lines    imaging.Lines
	measured []float64
)
`

// TestSnippetsCompile: every piece of Go in README and docs compiles. What a piece makes and leaves to the reader is no
// error.
func TestSnippetsCompile(t *testing.T) {
	root := must.Value(filepath.Abs(".."))(t)
	var text strings.Builder
	text.WriteString(around)
	pages, found := append(must.Value(filepath.Glob(filepath.Join(root, "docs", "*.md")))(t), filepath.Join(root, "README.md")), 0
	for _, page := range pages {
		_, rest, more := strings.Cut(string(must.Value(os.ReadFile(page))(t)), "\n```go\n")
		for more {
			var snippet string
			snippet, rest, _ = strings.Cut(rest, "\n```\n")
			if end := strings.LastIndex(snippet, "\n}\n"); strings.Contains(snippet, "\nfunc ") { // declarations first
				fmt.Fprintln(&text, snippet[:end+3])
				snippet = snippet[end+3:]
			}
			fmt.Fprintf(&text, "\nfunc snippet%d() {\n//line %s:1\n%s\n}\n", found, filepath.Base(page), snippet)
			found++
			_, rest, more = strings.Cut("\n"+rest, "\n```go\n")
		}
	}
	folder := t.TempDir()
	source, overlay := filepath.Join(folder, "snippets.go"), filepath.Join(folder, "overlay.json")
	must.Succeed(t, os.WriteFile(source, []byte(text.String()), 0o600))
	replace := map[string]map[string]string{"Replace": {filepath.Join(root, "internal", "snippets", "snippets.go"): source}}
	must.Succeed(t, os.WriteFile(overlay, must.Value(json.Marshal(replace))(t), 0o600))
	cmd := exec.Command("go", "build", "-gcflags=-e", "-overlay", overlay, "./internal/snippets")
	cmd.Dir = root
	out, _ := cmd.CombinedOutput()
	unused := 0
	for line := range strings.Lines(string(out)) {
		switch {
		case strings.Contains(line, "declared and not used"):
			unused++
		case !strings.HasPrefix(line, "#") && !strings.Contains(line, "imported and not used"):
			t.Error(strings.TrimSpace(line))
		}
	}
	if found < 5 || unused == 0 {
		t.Errorf("%d pieces of Go, of which %d values are not used: they were not compiled\n%s", found, unused, out)
	}
}
