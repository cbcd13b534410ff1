package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/credence-ml/credence/dataset"
)

// The cache lists what it keeps by the files it was made of, and is empty when cleaned; what a crash left
// goes, too.
func TestCacheCommand(t *testing.T) {
	cache, data := t.TempDir(), file(t, "houses.csv", houses(200))
	table := sure(dataset.Open(t.Context(), []string{data}, dataset.Options{CacheDir: cache, MemoryLimit: -1}))(t)
	if _, err := table.Load(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	table.Close()
	litter := filepath.Join(cache, "rows", "x.rows.tmp-1-0")
	if err := os.WriteFile(litter, []byte("CRDR"), 0o600); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	os.Chtimes(litter, old, old)
	damaged, foreign := filepath.Join(cache, "rows", "y.rows"), filepath.Join(cache, "rows", "z.rows")
	for path, content := range map[string]string{damaged: "CRDROWS\x01 and no more", foreign: "no cache"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list := decode(t, must(t, "cache", "list", "--cache", cache, "--json"))
	tables := list["tables"].([]any)
	if len(tables) != 2 || number(t, list, "bytes") < 1000 {
		t.Fatalf("listed: %v", list)
	}
	if text := must(t, "cache", "list", "--cache", cache); !strings.Contains(text, "houses.csv") || !strings.Contains(text, "y.rows, which is damaged") || !strings.Contains(text, "of 2 tables in") {
		t.Error(text)
	}
	if freed := decode(t, must(t, "cache", "clean", "--cache", cache, "--json")); number(t, freed, "bytes") != number(t, list, "bytes")+4 {
		t.Errorf("freed %v of %v", freed, list)
	}
	if left, _ := os.ReadDir(filepath.Join(cache, "rows")); len(left) != 1 || left[0].Name() != "z.rows" {
		t.Errorf("left: %v", left)
	}
	if text := must(t, "cache", "list", "--cache", cache); !strings.Contains(text, "0 kB of 0 tables in") {
		t.Error(text)
	}
}
