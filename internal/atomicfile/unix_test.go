//go:build unix

package atomicfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// In a folder with the sticky bit a file is replaced by its owner, the folder's owner and root alone.
func TestStickyFoldersProtectFiles(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "model")
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	owner := os.Geteuid()
	if owner == 0 { // whom nothing stops: let another own the file
		if err := os.Chown(path, 12345, -1); err != nil {
			t.Skip(err)
		}
	}
	file, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	for mode, sticky := range map[os.FileMode]bool{0o777: false, 0o777 | os.ModeSticky: true} {
		if err := os.Chmod(folder, mode); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(folder)
		if err != nil {
			t.Fatal(err)
		}
		for user, want := range map[int]bool{0: false, owner: false, int(file.Sys().(*syscall.Stat_t).Uid): false, 54321: sticky} {
			if got := guardedFrom(file, info, user); got != want {
				t.Errorf("mode %v, user %d: protected %v, want %v", mode, user, got, want)
			}
		}
		if guarded(path) || guarded(filepath.Join(folder, "none")) {
			t.Error("an owner, or a file that is not there, is refused")
		}
	}
}

func requireMode(t *testing.T, path string, want fs.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != want {
		t.Errorf("mode of %s is %o, want %o", path, info.Mode().Perm(), want)
	}
}

// Not parallel: the umask belongs to the process.
func TestPermissions(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o027))
	path := filepath.Join(t.TempDir(), "model")
	if err := Write(path, content("new")); err != nil {
		t.Fatal(err)
	}
	requireMode(t, path, 0o640) // 0644 less 0027

	for _, mode := range []fs.FileMode{0o600, 0o666, 0o755, 0o444} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		err := Write(path, func(io.Writer) error {
			temporary, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".model.tmp-*"))
			if len(temporary) != 1 {
				return fmt.Errorf("%d temporary files", len(temporary))
			}
			requireMode(t, temporary[0], mode) // private content is private from the start
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		requireMode(t, path, mode)
	}
}

func TestUnwritableFolder(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "model")
	if os.Geteuid() == 0 {
		// Permission bits do not bind root; in /proc nobody can create a file.
		if _, err := os.Stat("/proc/self/stat"); err != nil {
			t.Skip("running as root and there is no /proc")
		}
		path = "/proc/self/model"
	} else {
		if err := Write(path, content("old")); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(folder, 0o555); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(folder, 0o755)
	}
	called := false
	err := Write(path, func(io.Writer) error { called = true; return nil })
	if err == nil || !strings.Contains(err.Error(), "cannot write "+path) {
		t.Errorf("error is %v", err)
	}
	if called {
		t.Error("content was produced although it had nowhere to go")
	}
	if os.Geteuid() != 0 {
		requireContent(t, path, "old", "model")
	}
}

func TestSymbolicLinks(t *testing.T) {
	root := t.TempDir()
	inside := filepath.Join(root, "deep", "inside")
	if err := os.MkdirAll(inside, 0o755); err != nil {
		t.Fatal(err)
	}
	link := func(text, name string) string {
		path := filepath.Join(root, name)
		if err := os.Symlink(text, path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	link("deep/inside", "folder")
	cases := map[string]struct{ path, target string }{
		"relative":          {link("deep/inside/a", "a"), inside + "/a"},
		"absolute":          {link(inside+"/b", "b"), inside + "/b"},
		"chain":             {link("b", "c"), inside + "/b"},
		"in linked folder":  {root + "/folder/d", inside + "/d"},
		"above, physically": {link("folder/../e", "e"), root + "/deep/e"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			before, _ := os.Readlink(c.path)
			for _, text := range []string{"created", "replaced"} {
				if err := Write(c.path, content(text)); err != nil {
					t.Fatal(err)
				}
				got, err := os.ReadFile(c.target)
				if err != nil || string(got) != text {
					t.Errorf("target holds %q, %v; want %q", got, err, text)
				}
				if after, _ := os.Readlink(c.path); after != before {
					t.Errorf("link %q became %q", before, after)
				}
			}
		})
	}

	loop := link("loop", "loop")
	err := Write(loop, content("x"))
	if err == nil || !strings.Contains(err.Error(), "symbolic links: remove the loop") {
		t.Errorf("error is %v", err)
	}
}

func TestRefusesSpecialFiles(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o644); err != nil {
		t.Skip("no named pipes here: ", err)
	}
	for _, path := range []string{pipe, os.DevNull} {
		err := Write(path, content("x"))
		if err == nil || !strings.Contains(err.Error(), "is not a regular file") {
			t.Errorf("%s: error is %v", path, err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().IsRegular() {
			t.Errorf("%s was replaced", path)
		}
	}
}

// A full disk shows at Flush or Sync, not in the caller's function.
func TestFullDisk(t *testing.T) {
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Skip("no file size limit here: ", err)
	}
	path := filepath.Join(t.TempDir(), "model")
	if err := Write(path, content("old")); err != nil {
		t.Fatal(err)
	}
	small := old
	small.Cur = 40_000 // above what the test's own log may come to meanwhile
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &small); err != nil {
		t.Skip("cannot set the file size limit: ", err)
	}
	err := Write(path, func(w io.Writer) error {
		_, err := w.Write(make([]byte, 60_000)) // fits the buffer, not the disk
		return err
	})
	if restore := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); restore != nil {
		t.Fatal(restore)
	}
	if !errors.Is(err, syscall.EFBIG) {
		t.Errorf("error is %v, want %v", err, syscall.EFBIG)
	}
	requireContent(t, path, "old", "model")
}

const crashVariable = "ATOMICFILE_TEST_CRASH"

// TestCrash kills a child process at three points. Before the rename the old
// file must be whole, after it the new one.
func TestCrash(t *testing.T) {
	old, fresh := strings.Repeat("old ", 100), strings.Repeat("fresh ", 50_000)
	if spec := os.Getenv(crashVariable); spec != "" {
		crashChild(spec, fresh)
		return
	}
	for point, want := range map[string]string{"writing": old, "staged": old, "committed": fresh} {
		t.Run(point, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "model")
			if err := Write(path, content(old)); err != nil {
				t.Fatal(err)
			}
			child := exec.Command(os.Args[0], "-test.run=^TestCrash$")
			child.Env = append(os.Environ(), crashVariable+"="+point+":"+path)
			out, err := child.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := child.Start(); err != nil {
				t.Fatal(err)
			}
			line, err := bufio.NewReader(out).ReadString('\n')
			if killErr := child.Process.Kill(); killErr != nil {
				t.Error(killErr)
			}
			child.Wait()
			if line != point+"\n" {
				t.Fatalf("child said %q, %v", line, err)
			}
			got, err := os.ReadFile(path)
			if err != nil || string(got) != want {
				t.Errorf("after the crash the file has %d bytes (%v), want %d", len(got), err, len(want))
			}
			if err := Write(path, content("next")); err != nil {
				t.Errorf("the next write fails: %v", err)
			}
		})
	}
}

func crashChild(spec, text string) {
	point, path, _ := strings.Cut(spec, ":")
	die := func() {
		fmt.Println(point)
		time.Sleep(time.Minute) // until killed
	}
	p, err := stage(path, func(w io.Writer) error {
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
		if point == "writing" {
			die()
		}
		return nil
	})
	if err == nil && point == "staged" {
		die()
	}
	if err == nil {
		err = p.commit()
	}
	if err == nil {
		die()
	}
	fmt.Println(err)
}
