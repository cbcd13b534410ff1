//go:build !unix

package process

import (
	"os"
	"time"
)

// CPU returns 0: it is not known here.
func CPU() time.Duration { return 0 }

// PeakMemory returns 0: it is not known here.
func PeakMemory() int64 { return 0 }

// Child returns the processor time of a process that has ended.
func Child(state *os.ProcessState) (cpu time.Duration, peak int64) {
	return state.UserTime() + state.SystemTime(), 0
}
