package fit_test

import (
	"strings"
	"testing"

	"github.com/credence-ml/credence/fit"
)

// TestOptionsAreExplained: every option of every engine says what it is for, what it takes, and what holds without it.
func TestOptionsAreExplained(t *testing.T) {
	for _, e := range fit.Default().Engines {
		for _, o := range e.Options() {
			if len(o.Means) < 4 || strings.Count(o.Takes, "(default ") != 1 {
				t.Errorf("%s(%s=): %q, %q", e.Name, o.Key, o.Means, o.Takes)
			}
			// A number that is stated where the argument is read is told by its reader.
			if strings.Contains(o.Takes, "(default )") || strings.HasSuffix(o.Means, ".") {
				t.Errorf("%s(%s=): %q, %q", e.Name, o.Key, o.Means, o.Takes)
			}
		}
	}
}
