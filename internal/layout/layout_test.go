package layout

import (
	"os/exec"
	"strings"
	"testing"
)

const module = "github.com/credence-ml/credence"

// levels gives every folder its height. A package may import packages of ours
// that are strictly lower, or of its own folder tree at the same height.
var levels = []struct {
	prefix string
	level  int
}{
	{"internal/layout", 0},
	{"internal/diagnose", 4},
	{"safetensors", 0},         // no nouns of ours
	{"internal/arrow", 4},      // matrices of weights by levels
	{"internal/gauss", 5},      // normal posteriors of weights
	{"internal/conform", 11},   // test suites for every noun; imported by tests alone
	{"internal/candidates", 6}, // columns of a selection problem
	{"internal/relation", 11},  // what must hold of every answer; imported by tests alone
	{"internal/", 0},
	{"linop", 1},
	{"param", 0},
	{"spec", 0},
	{"selection", 0}, // plain data
	{"selection/refit", 8},
	{"calibration", 1},
	{"likelihood", 1}, // of ours, only param and spec outside internal
	{"metric", 1},
	{"", 2},        // the root package
	{"ability", 3}, // what parts may be able to do beside what the root asks
	{"prior", 4},
	{"feature", 4},
	{"frame", 4},
	{"table", 4},
	{"feature/keyed", 5},
	{"criticism", 6},
	{"dataset", 5},
	{"posterior", 5},
	{"formula", 6},
	{"modelfile", 6},
	{"infer/problem", 5}, // what every engine stands on
	{"infer/", 7},
	{"active", 8},
	{"active/rank", 10}, // rows of files
	{"imaging", 8},
	{"examples/", 12},
	{"score", 7},
	{"effect", 8},
	{"plot", 9},
	{"look", 7},
	{"report", 10},
	{"fit", 9},
	{"learn", 10},
	{"stream", 11}, // rows of files
	{"shards", 11}, // files, row by row too
	{"apply", 9},
	{"cmd/", 12},
}

// forbidden lists arrows that heights alone would allow.
var forbidden = []struct{ from, to, why string }{
	{"likelihood", "", "a likelihood is a function of y and f alone"},
	{"likelihood", "linop", "a likelihood is a function of y and f alone"},
	{"modelfile", "dataset", "scoring does not need file readers"},
	{"infer/", "dataset", "engines read credence.Data"},
	{"infer/", "frame", "engines read credence.Data"},
	{"infer/", "formula", "engines take models, not texts"},
	{"fit", "dataset", "a table may come from anywhere"},
	{"learn", "dataset", "rows may come from anywhere"},
	{"score", "dataset", "a service that scores reads no files"},
	{"selection/refit", "dataset", "a table may come from anywhere"},
	{"selection/refit", "infer/", "engines are made by fit"},
	{"apply", "fit", "files are scored without an engine"},
	{"effect", "dataset", "rows may come from anywhere"},
	{"effect", "infer/", "effects are of fitted models"},
	{"plot", "dataset", "rows may come from anywhere"},
	{"look", "infer/", "a look is before any fit"},
	{"report", "infer/", "reports are of fitted models"},
	{"plot", "infer/", "pictures are of fitted models"},
	{"score", "formula", "a fitted model holds what the formula meant"},
	{"table", "frame", "rows stand before any model"},
}

func TestImportsPointDownwards(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`, module+"/...").CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		fields := strings.Fields(line)
		from := folder(fields[0])
		fromLevel, known := level(from)
		if !known {
			t.Errorf("%s has no place in the layout: give it one here", from)
			continue
		}
		for _, path := range fields[1:] {
			if path != module && !strings.HasPrefix(path, module+"/") {
				continue
			}
			to := folder(path)
			toLevel, _ := level(to)
			if sameTree(from, to) {
				continue
			}
			if toLevel >= fromLevel && fromLevel > 0 || fromLevel == 0 && toLevel > 0 {
				t.Errorf("%s imports %s, which is not below it", from, to)
			}
			for _, rule := range forbidden {
				if under(from, rule.from) && to == rule.to {
					t.Errorf("%s imports %q: %s", from, to, rule.why)
				}
			}
			if strings.HasPrefix(from, "infer/") && strings.HasPrefix(to, "infer/") && to != "infer/problem" {
				t.Errorf("%s imports %s: engines never import each other", from, to)
			}
		}
	}
}

// folder returns the path of a package inside the module; "" is the root.
func folder(path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path, module), "/")
}

// level returns the height of a folder by the longest prefix that names it.
func level(folder string) (height int, known bool) {
	longest := -1
	for _, l := range levels {
		if under(folder, l.prefix) && len(l.prefix) > longest {
			longest, height = len(l.prefix), l.level
		}
	}
	return height, longest >= 0
}

// under says whether folder is the one that prefix names or inside it; the empty
// prefix names the root package alone.
func under(folder, prefix string) bool {
	if prefix == "" {
		return folder == ""
	}
	prefix = strings.TrimSuffix(prefix, "/")
	return folder == prefix || strings.HasPrefix(folder, prefix+"/")
}

// sameTree says whether two folders share their first element, outside internal
// and infer, whose members are packages of their own.
func sameTree(a, b string) bool {
	first := func(s string) string {
		parts := strings.SplitN(s, "/", 3)
		if (parts[0] == "internal" || parts[0] == "infer" || parts[0] == "cmd") && len(parts) > 1 {
			return parts[0] + "/" + parts[1]
		}
		return parts[0]
	}
	return first(a) == first(b)
}
