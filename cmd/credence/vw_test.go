package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// Vowpal Wabbit text under fit: importance is weight, base is offset, a namespace is a bag of
// features that a formula takes or leaves out, and features go by their names.
func TestFitVW(t *testing.T) {
	rows := strings.Repeat("1 2 |a u |b x\n-1 |a v |b x y\n1 |a u:2 |b y\n-1 1 0.5 |a v |b y\n", 20)
	path := file(t, "t.vw", rows)
	twice := file(t, "twice.vw", strings.Repeat("1 |a u |b x\n1 |a u |b x\n-1 |a v |b x y\n1 |a u:2 |b y\n-1 1 0.5 |a v |b y\n", 20))
	engine := []string{"--family", "bernoulli", "--prior", "normal(variance=1)", "--engine", "svi"}
	names := func(formula, path string) (string, string) {
		model := filepath.Join(t.TempDir(), "m")
		must(t, append([]string{"fit", path, "--formula", formula, "-o", model, "-q"}, engine...)...)
		inspected := decode(t, must(t, "inspect", model, "--json", "--sort", "name"))
		all := ""
		for _, term := range inspected["terms"].([]any) {
			all += term.(map[string]any)["name"].(string) + " "
		}
		return all, must(t, "predict", model, path, "-q")
	}
	for formula, want := range map[string]string{
		"label ~ .":         "(intercept) a^u a^v b^x b^y ",
		"label ~ . - b":     "(intercept) a^u a^v ",
		"label ~ b":         "(intercept) b^x b^y ",
		"label ~ a + b - b": "(intercept) a^u a^v ",
	} {
		got, predicted := names(formula, path)
		if got != want {
			t.Errorf("%s: weights %s, want %s", formula, got, want)
		}
		// An importance of 2 is the row twice.
		_, again := names(formula, twice)
		a, b := strings.Split(predicted, "\n"), strings.Split(again, "\n")
		if a[1][:8] != b[1][:8] || a[2][:8] != b[3][:8] {
			t.Errorf("%s: predictions %s and %s, the rows written twice %s and %s", formula, a[1], a[2], b[1], b[3])
		}
	}
	for _, formula := range []string{"label ~ a:b", "label ~ hash(a:b)"} { // only stream crosses namespaces
		o := invoke(t, "", "fit", path, "--formula", formula)
		if o.code != exitFailed || !strings.Contains(o.err, "a is a namespace, and a table has no products of namespaces: use stream, which forms a:b row by row") {
			t.Errorf("%s: exit %d: %s", formula, o.code, o.err)
		}
		must(t, "stream", path, "--formula", formula, "-o", filepath.Join(t.TempDir(), "m"))
	}
}

// TestNamedFeaturesInAnyOrder: features that a formula names are read whatever the order in which a row has them.
func TestNamedFeaturesInAnyOrder(t *testing.T) {
	rows := func(turned bool) string {
		return repeat("", 200, func(i int) string {
			size, rooms := 1+i*37%23, 1+i%4
			line := fmt.Sprintf("size:%d rooms:%d", size, rooms)
			if turned && i > 0 {
				line = fmt.Sprintf("rooms:%d size:%d", rooms, size)
			}
			return fmt.Sprintf("%d | %s\n", 3*size-2*rooms+i*29%13, line)
		})
	}
	one, other := file(t, "one.vw", rows(false)), file(t, "other.vw", rows(true))
	model := filepath.Join(t.TempDir(), "m")
	must(t, "fit", one, "--formula", "label ~ size + rooms", "-o", model, "-q")
	if a, b := must(t, "predict", model, one, "-q"), must(t, "predict", model, other, "-q"); a != b {
		t.Errorf("the same rows, with their features turned round, are predicted otherwise:\n%.200s\n%.200s", a, b)
	}
}
