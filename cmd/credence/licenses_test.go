package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Every module that the program is linked from has its licence in it, as the module has it today.
func TestLicenses(t *testing.T) {
	out := sure(exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Dir}}{{end}}{{end}}", ".").Output())(t)
	printed, modules := must(t, "licenses"), 0
	for line := range strings.Lines(string(out)) {
		path, folder, found := strings.Cut(strings.TrimSpace(line), " ")
		if !found {
			continue
		}
		modules++
		for _, name := range []string{"LICENSE", "LICENSE.txt", "NOTICE", "PATENTS", "THIRD_PARTY_LICENSES/Cephes-LICENSE"} {
			text, err := os.ReadFile(filepath.Join(folder, name))
			if err != nil {
				continue
			}
			if !strings.Contains(printed, "== "+path+"\n") || !strings.Contains(printed, strings.TrimSpace(string(text))) {
				t.Errorf("the %s of %s is not printed: go generate ./cmd/credence", name, path)
			}
		}
	}
	if modules < 8 || !strings.Contains(printed, "== go\n\nCopyright 2009 The Go Authors.") {
		t.Errorf("%d modules in\n%.300s", modules, printed)
	}
	if texts := decode(t, must(t, "licenses", "--json")); len(texts) < 8 {
		t.Errorf("%d texts as JSON", len(texts))
	}
}
