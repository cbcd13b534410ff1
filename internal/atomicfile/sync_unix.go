//go:build unix

package atomicfile

import (
	"errors"
	"os"
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
