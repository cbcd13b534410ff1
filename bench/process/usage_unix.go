//go:build unix

package process

import (
	"os"
	"runtime"
	"strconv"
	"strings"
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
// Linux keeps it for the program that runs; elsewhere, and in Child, it is at least that of
// the process which started this one.
func PeakMemory() int64 {
	if peak, ok := highWater(); ok {
		return peak
	}
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return bytes(&usage)
}

// highWater reads the peak from Linux's account of the process.
func highWater() (peak int64, ok bool) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		if value, found := strings.CutPrefix(line, "VmHWM:"); found {
			kilobytes, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			return kilobytes * 1024, err == nil
		}
	}
	return 0, false
}

// Child returns processor time and peak memory of a process that has ended.
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
