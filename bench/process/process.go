//go:build unix

// Package process measures what a computation costs the process it runs in, and what
// a child process cost.
package process

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Clock measures wall and processor time from a moment on.
type Clock struct {
	wall time.Time
	cpu  time.Duration
}

// Start returns a clock that starts now.
func Start() Clock { return Clock{wall: time.Now(), cpu: CPU()} }

// Seconds returns the wall and processor seconds since the clock was started.
func (c Clock) Seconds() (wall, cpu float64) {
	return time.Since(c.wall).Seconds(), (CPU() - c.cpu).Seconds()
}

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
	text, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(text)) {
		if value, found := strings.CutPrefix(line, "VmHWM:"); found {
			if kilobytes, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64); err == nil {
				return kilobytes * 1024
			}
		}
	}
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return bytes(&usage)
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
