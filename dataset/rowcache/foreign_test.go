//go:build unix

package rowcache

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/must"
)

// What stands in the place of a cache and is none is not opened, waited for, followed or removed, but by the cache that
// is written there; Clean and the limit remove caches alone.
func TestForeignFiles(t *testing.T) {
	chunks := []*credence.Chunk{randomChunk(rand.New(rand.NewPCG(1, 1)), 100, 10, 0, true)}
	for name, place := range map[string]func(path, other string) error{
		"pipe": func(path, _ string) error { return syscall.Mkfifo(path, 0o600) },
		"link": func(path, other string) error { return os.Symlink(other, path) },
	} {
		elsewhere, store := &Store{Folder: t.TempDir()}, &Store{Folder: t.TempDir(), Limit: 9_000}
		fill(t, elsewhere, "key", 10, false, chunks)
		must.Succeed(t, place(store.path("key"), elsewhere.path("key")))
		must.Succeed(t, place(store.path("other"), elsewhere.path("key")))
		foreign, litter := filepath.Join(store.Folder, "mine.rows"), filepath.Join(store.Folder, "mine.tmp-1-0")
		for _, path := range []string{foreign, litter} {
			must.Succeed(t, os.WriteFile(path, make([]byte, 20_000), 0o600))
			old := time.Now().Add(-time.Hour)
			must.Succeed(t, os.Chtimes(path, old, old))
		}
		done := make(chan *Reader)
		go func() { done <- store.Open("key") }()
		select {
		case r := <-done:
			if r != nil {
				t.Errorf("a %s opens", name)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("a %s is waited for", name)
		}
		if list := store.List(); len(list) != 0 {
			t.Errorf("%s: listed %v", name, list)
		}
		if freed, err := store.Clean(); freed != 0 || err != nil {
			t.Errorf("%s: freed %d: %v", name, freed, err)
		}
		for _, path := range []string{store.path("key"), foreign, litter, elsewhere.path("key")} {
			if _, err := os.Lstat(path); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		requireChunks(t, fill(t, store, "key", 10, false, chunks), chunks, false) // in its place, within the limit
		if r := store.Open("key"); r == nil {
			t.Errorf("%s: the cache that was written does not open", name)
		} else {
			r.Close()
		}
		if freed, err := store.Clean(); freed < 8_000 || err != nil {
			t.Errorf("%s: freed %d: %v", name, freed, err)
		}
		if left, _ := os.ReadDir(store.Folder); len(left) != 3 {
			t.Errorf("%s: %v stay", name, left)
		}
		if r := elsewhere.Open("key"); r == nil {
			t.Errorf("%s: what it led to is gone", name)
		} else {
			r.Close()
		}
	}
}

// A folder that is a link is not followed.
func TestLinkedFolder(t *testing.T) {
	chunks := []*credence.Chunk{randomChunk(rand.New(rand.NewPCG(1, 1)), 100, 10, 0, true)}
	real := &Store{Folder: t.TempDir()}
	fill(t, real, "key", 10, false, chunks)
	linked := &Store{Folder: filepath.Join(t.TempDir(), "rows")}
	must.Succeed(t, os.Symlink(real.Folder, linked.Folder))
	if _, err := linked.Create("key", 10, false); err == nil {
		t.Error("a cache is written through a link")
	}
	if _, err := linked.Clean(); err == nil || linked.Open("key") != nil || len(linked.List()) != 0 {
		t.Errorf("a link is followed: %v", err)
	}
	if r := real.Open("key"); r == nil {
		t.Error("the cache is gone")
	} else {
		r.Close()
	}
}
