package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"
	"unsafe"
)

// What is allocated after the heap was given large pages lies where they were asked for.
func TestHeapHasLargePages(t *testing.T) {
	const fresh = "CREDENCE_TEST_FRESH" // a process whose heap is new, as that of a command is
	if os.Getenv(fresh) == "" {
		again := exec.Command(os.Args[0], "-test.run=^TestHeapHasLargePages$")
		again.Env = append(os.Environ(), fresh+"=1")
		if out, err := again.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	askForLargePages()
	room := make([]byte, largePages/4)
	at := uintptr(unsafe.Pointer(&room[len(room)/2]))
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	within := false
	for line := range strings.Lines(string(maps)) {
		var from, to uintptr
		if n, _ := fmt.Sscanf(line, "%x-%x ", &from, &to); n == 2 {
			within = from <= at && at < to
		}
		if flags, ok := strings.CutPrefix(line, "VmFlags:"); ok && within {
			if !strings.Contains(flags, " hg") {
				t.Errorf("the mapping of new memory has flags%s, without hg", strings.TrimRight(flags, "\n"))
			}
			return
		}
	}
	t.Error("no mapping has what was allocated")
}

// The first collection of garbage comes later where files are small, others and those under a percentage that somebody
// states as ever.
func TestCollectLater(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	percent := func() int {
		now := debug.SetGCPercent(100)
		debug.SetGCPercent(now)
		return now
	}
	useLargePages(nil)
	if now := percent(); now != firstCollection {
		t.Fatalf("the percentage is %d before the first collection", now)
	}
	for range 1000 { // a cleanup is queued after the collection
		if runtime.GC(); percent() == 100 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if now := percent(); now != 100 {
		t.Errorf("the percentage is %d after it", now)
	}
	debug.SetGCPercent(50)
	if useLargePages(nil); percent() != 50 {
		t.Errorf("a stated percentage of 50 is %d", percent())
	}
}
