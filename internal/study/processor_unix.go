//go:build unix

package study

import (
	"syscall"
	"time"
)

// Processor is the CPU time of this process so far, on all threads; 0 where the system does not tell.
func Processor() time.Duration {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
