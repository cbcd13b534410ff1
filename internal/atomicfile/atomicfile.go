package atomicfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

const (
	// newFileMode is the mode of a file that did not exist, before the umask.
	newFileMode fs.FileMode = 0o644

	// maxLinks bounds a chain of symbolic links; Linux gives up at the same count.
	maxLinks = 40

	// maxNameAttempts bounds the search for a free temporary name. Names are
	// taken only by this process or by crashed ones with the same id.
	maxNameAttempts = 10000

	// maxKeptName is how much of the target's name the temporary one repeats:
	// file systems commonly allow 255 bytes for the whole.
	maxKeptName = 200
)

// Write replaces the file at path with what write sends to its argument.
//
// The old file stays untouched, and the temporary one is removed, when write
// returns an error (returned as it is, unless the file itself refused), panics or ends its goroutine, and when the disk
// refuses. An existing file keeps its permission bits; a new one gets 0644 less
// the umask. If path is a symbolic link, the file it points to is replaced (or
// created) and the link stays.
//
// The writer is buffered and must not be used after write returns. It has a method Rewrite([]byte) error,
// which replaces the first bytes of what was written.
//
// One error comes after the replacement: if the folder cannot be flushed the
// new file is in place and whole, but may not survive a power cut.
func Write(path string, write func(io.Writer) error) error {
	p, err := stage(path, write)
	if err != nil {
		return err
	}
	return p.commit()
}

// A pending replacement: temporary holds the whole new content, flushed.
type pending struct {
	temporary string
	target    string // path with links resolved
}

// stage writes the new content beside the target, up to the point where only
// the rename is missing.
func stage(path string, write func(io.Writer) error) (pending, error) {
	target, mode, exists, err := resolve(path)
	if err != nil {
		return pending{}, err
	}
	file, err := createBeside(target, mode)
	if err != nil {
		return pending{}, fmt.Errorf("atomicfile: cannot write %s: %w", path, err)
	}
	p := pending{temporary: file.Name(), target: target}
	staged := false
	defer func() { // also runs while a panic of write passes through
		if !staged {
			file.Close() // a second Close is harmless
			os.Remove(p.temporary)
		}
	}()

	if exists { // the umask may have taken bits that the old file has
		if err := file.Chmod(mode); err != nil {
			return pending{}, fmt.Errorf("atomicfile: cannot write %s: %w", path, err)
		}
	}
	w := writer{bufio.NewWriterSize(file, 1<<16), file}
	if err = write(w); err == nil {
		err = w.Flush()
	} else if !errors.Is(err, syscall.ENOSPC) && ofTemporary(err) == nil { // the content is what failed, and says where
		return pending{}, err
	}
	if err == nil {
		err = file.Sync()
	}
	if err == nil {
		err = file.Close()
	}
	if err != nil {
		return pending{}, unchanged(path, err)
	}
	staged = true
	return p, nil
}

// writer is what the content is sent to.
type writer struct {
	*bufio.Writer
	file *os.File
}

// Rewrite replaces the first bytes of what has been written, for content that begins with what is known at its end.
func (w writer) Rewrite(beginning []byte) error {
	err := w.Flush()
	if err == nil {
		_, err = w.file.WriteAt(beginning, 0)
	}
	return err
}

// commit puts the new content in the target's place.
func (p pending) commit() error {
	if err := os.Rename(p.temporary, p.target); err != nil {
		os.Remove(p.temporary)
		return unchanged(p.target, err)
	}
	if err := syncFolder(folderOf(p.target)); err != nil {
		return fmt.Errorf("atomicfile: %s is written but may not survive a power cut: %w", p.target, err)
	}
	return nil
}

// ofTemporary returns the error of the temporary file that is behind another, nil where there is none.
func ofTemporary(err error) *fs.PathError {
	var cause *fs.PathError
	if errors.As(err, &cause) && strings.Contains(cause.Path, ".tmp-") {
		return cause
	}
	return nil
}

// unchanged says that a failure left the old file as it was.
func unchanged(path string, err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("atomicfile: cannot write %s: the disk is full; nothing was changed: %w: free some of it, or name a file on another disk", path, syscall.ENOSPC)
	}
	if cause := ofTemporary(err); cause != nil { // whose name tells nothing
		err = cause.Err
	}
	return fmt.Errorf("atomicfile: cannot write %s; nothing was changed: %w", path, err)
}

// resolve follows symbolic links from path to the file to replace, which need
// not exist, and returns the permission bits the new file shall have.
//
// The links are followed by hand because filepath.EvalSymlinks refuses a link
// to a file that is not there yet.
func resolve(path string) (target string, mode fs.FileMode, exists bool, err error) {
	target = path
	for range maxLinks {
		info, err := os.Lstat(target)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return target, newFileMode, false, nil
		case err != nil:
			return "", 0, false, fmt.Errorf("atomicfile: cannot write %s: %w", path, err)
		case info.Mode().IsRegular():
			return target, info.Mode().Perm(), true, nil
		case info.Mode()&fs.ModeSymlink == 0:
			return "", 0, false, fmt.Errorf("atomicfile: %s is not a regular file (%s): name a file to write", path, info.Mode().Type())
		}
		link, err := os.Readlink(target)
		if err != nil {
			return "", 0, false, fmt.Errorf("atomicfile: cannot write %s: %w", path, err)
		}
		if !filepath.IsAbs(link) {
			// Not filepath.Join: it removes ".." by the spelling, which is
			// wrong when the folder is itself a link.
			folder, _ := filepath.Split(target)
			link = folder + link
		}
		target = link
	}
	return "", 0, false, fmt.Errorf("atomicfile: %s goes through more than %d symbolic links: remove the loop", path, maxLinks)
}

// createBeside opens a new file in the folder of target. It must be that folder:
// rename is atomic only within a file system. The mode is given at creation, so
// that content which only its owner may read is never readable by others.
func createBeside(target string, mode fs.FileMode) (*os.File, error) {
	folder, name := filepath.Split(target)
	if len(name) > maxKeptName {
		name = name[:maxKeptName]
	}
	Sweep(folderOf(target), "."+name+".tmp-", "")
	return Temporary(folder+"."+name, mode)
}

// Temporary makes a file that [Sweep] takes for what a crash left, once this process is gone: its name is that of path
// with .tmp- and numbers behind.
func Temporary(path string, mode fs.FileMode) (*os.File, error) {
	prefix := path + ".tmp-" + strconv.Itoa(os.Getpid()) + "-"
	for attempt := range maxNameAttempts {
		file, err := os.OpenFile(prefix+strconv.Itoa(attempt), os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil {
			lock(file) // in use as long as it is open, so that Sweep leaves it alone
		}
		return file, err
	}
	return nil, fmt.Errorf("%d temporary files named %s* are in the way: delete them", maxNameAttempts, prefix)
}

// folderOf returns the folder part of path in a form that can be opened.
func folderOf(path string) string {
	folder, _ := filepath.Split(path)
	if folder == "" {
		return "."
	}
	return folder
}

// Check refuses a path that Write could not write to, before work is done that could not be saved: it makes a file in
// the folder and takes it away again.
func Check(path string) error {
	switch info, err := os.Stat(path); {
	case err == nil && info.IsDir():
		return fmt.Errorf("cannot write %s: it is a folder: name a file", path)
	case err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("cannot write %s: it is a device or a pipe: name a file", path)
	case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission):
		// A name that is too long, links in a circle.
		return fmt.Errorf("cannot write %s: %w: name another file", path, errors.Unwrap(err))
	}
	place := path
	if target, err := filepath.EvalSymlinks(path); err == nil {
		place = target
	} else if target, _, _, err := resolve(path); err == nil { // a link to a file that is not there yet
		place = target
	}
	folder := filepath.Dir(place)
	switch info, err := os.Stat(folder); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("cannot write %s: there is no folder %s: create it first", path, folder)
	case err == nil && !info.IsDir():
		return fmt.Errorf("cannot write %s: %s is not a folder", path, folder)
	}
	if guarded(place) {
		return fmt.Errorf("cannot write %s: folder %s lets nobody but its owner replace the file that is there: name another file", path, folder)
	}
	trial, err := os.CreateTemp(folder, ".credence-*")
	if err != nil {
		var cause *fs.PathError
		if errors.As(err, &cause) {
			err = cause.Err
		}
		return fmt.Errorf("cannot write %s: no file can be made in folder %s: %w", path, folder, err)
	}
	trial.Close()
	return os.Remove(trial.Name())
}
