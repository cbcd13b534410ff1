//go:build unix

package rowcache

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
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

// A file that cannot be opened, here for the length of its path, hides none of the others: they are listed, and the
// limit holds of them.
func TestFilesThatDoNotOpen(t *testing.T) {
	store := &Store{Folder: t.TempDir(), Limit: 18_000} // two caches
	foreign := strings.Repeat("0", 250) + extension     // before all others
	for {
		path := filepath.Join(store.Folder, foreign)
		err := os.WriteFile(path, nil, 0o600)
		if errors.Is(err, syscall.ENAMETOOLONG) {
			break
		}
		must.Succeed(t, err)
		must.Succeed(t, os.Remove(path))
		store.Folder = filepath.Join(store.Folder, strings.Repeat("d", 100))
		must.Succeed(t, os.Mkdir(store.Folder, 0o700))
	}
	t.Chdir(store.Folder)
	if err := os.WriteFile(foreign, []byte(magic), 0o600); err != nil {
		t.Skip(err)
	}
	chunks := []*credence.Chunk{randomChunk(rand.New(rand.NewPCG(1, 1)), 100, 10, 0, true)}
	for i, key := range []string{"a", "b", "c"} {
		fill(t, store, key, 10, false, chunks)
		when := time.Now().Add(time.Duration(i-10) * time.Minute)
		must.Succeed(t, os.Chtimes(store.path(key), when, when))
	}
	list := store.List()
	if len(list) != 2 || list[0].Name != filepath.Base(store.path("c")) || list[1].Name != filepath.Base(store.path("b")) {
		t.Errorf("the store lists %v, want the two that were written last", list)
	}
}
