//go:build unix

package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// syncFolder makes a rename inside the folder survive a power cut. Some network
// file systems answer that a folder cannot be flushed; they have no stronger
// guarantee to give, so that is no error.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if errors.Is(err, os.ErrPermission) {
		return nil // a folder one may write to but not list
	}
	if err != nil {
		return err
	}
	defer folder.Close()
	err = folder.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

// guarded reports whether this process may write in the folder of a file and yet not replace the file: in a folder
// with the sticky bit, such as /tmp, files may be renamed and removed by their owner alone, by the folder's, and by
// root. Path is that of the file itself, links resolved.
func guarded(path string) bool {
	file, err := os.Lstat(path)
	if err != nil {
		return false // nothing to replace
	}
	folder, err := os.Stat(filepath.Dir(path))
	return err == nil && guardedFrom(file, folder, os.Geteuid())
}

// guardedFrom is guarded of a user.
func guardedFrom(file, folder fs.FileInfo, user int) bool {
	if folder.Mode()&fs.ModeSticky == 0 || user == 0 {
		return false
	}
	for _, info := range []fs.FileInfo{file, folder} {
		if owned, ok := info.Sys().(*syscall.Stat_t); !ok || int(owned.Uid) == user {
			return false
		}
	}
	return true
}
