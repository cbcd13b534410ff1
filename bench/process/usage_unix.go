//go:build unix

package process

import (
	"os"
	"runtime"
	"syscall"
	"time"
)

// CPU returns the user and system time of this process so far.
func CPU() time.Duration {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// PeakMemory returns the largest resident set of this process so far, in bytes.
func PeakMemory() int64 {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return bytes(&usage)
}

// Child returns the same of a process that has ended.
func Child(state *os.ProcessState) (cpu time.Duration, peak int64) {
	if usage, ok := state.SysUsage().(*syscall.Rusage); ok {
		peak = bytes(usage)
	}
	return state.UserTime() + state.SystemTime(), peak
}

// bytes converts the resident set, which Linux and the BSDs give in units of 1,024 bytes.
func bytes(usage *syscall.Rusage) int64 {
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return int64(usage.Maxrss)
	}
	return int64(usage.Maxrss) * 1024
}
