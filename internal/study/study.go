// Package study tells tests whether long studies are wanted: exhaustive sizes, every
// hostile value, whole published sets. make study sets CREDENCE_STUDY and runs them.
package study

import (
	"os"
	"testing"
)

// Long says whether studies are wanted.
func Long() bool { return os.Getenv("CREDENCE_STUDY") != "" }

// Only skips a test that is a study.
func Only(t testing.TB) {
	t.Helper()
	if !Long() {
		t.Skip("a long study: make study runs it")
	}
}
