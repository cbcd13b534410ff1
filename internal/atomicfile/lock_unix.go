//go:build linux || darwin || freebsd || netbsd || openbsd

package atomicfile

import (
	"errors"
	"os"
	"syscall"
)

// locks says that lock knows.
const locks = true

// lock marks a file as that of a living process, until the file is closed; it
// reports whether no other process had it.
func lock(file *os.File) bool {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

// gone says whether there is no process of that number.
func gone(pid int) bool { return pid > 0 && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// alone makes opening neither follow a link nor wait for a pipe's other end.
const alone = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
