package main

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"syscall"
)

const (
	// largePages is the part of the heap, in bytes, that is of large pages. It takes addresses, not memory.
	largePages = 256 << 20
	// fewBytes is the size of files whose job ends before large pages have paid for themselves: the runtime looks
	// through the heap once for them, which takes some milliseconds.
	fewBytes = 1 << 20
)

// useLargePages makes the first part of the heap one of large pages (madvise(2), MADV_HUGEPAGE) for a job on files that
// are not small, where the system has such pages for programs that ask: memory then comes 2 MB at a time, and not 4 KB,
// which is a third of the time of a short fit on a virtual machine. The runtime cannot be told to ask for its own heap,
// but it keeps the addresses of what it frees, and what was asked for stays with these.
func useLargePages(paths []string) {
	size := int64(0)
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			size += info.Size()
		} else {
			size += fewBytes // a pipe, a folder or a pattern may have much
		}
	}
	var addresses syscall.Rlimit // below a limit, addresses are not free
	if size < fewBytes {
		collectLater()
		return
	}
	if syscall.Getrlimit(syscall.RLIMIT_AS, &addresses) != nil || addresses.Cur < math.MaxInt64 {
		return
	}
	pagesAsked.Do(askForLargePages)
}

// pagesAsked is of the process, as its heap is: the second command of a process has the first one's pages.
var pagesAsked sync.Once

func askForLargePages() {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	func() {
		room := make([]byte, largePages)
		_ = syscall.Madvise(room, syscall.MADV_HUGEPAGE) // a system without them has small ones
		runtime.KeepAlive(room)
	}()
	runtime.GC()
}

// firstCollection makes the first collection of garbage one at a heap of 8 MB: at 4 MB, where the runtime begins, most
// jobs on small files are nearly done, and it is a tenth of their time.
const firstCollection = 200

// collectLater puts the first collection off; those after it are as they were.
func collectLater() {
	before := debug.SetGCPercent(firstCollection)
	if before != 100 { // GOGC has a say
		debug.SetGCPercent(before)
		return
	}
	runtime.AddCleanup(new([64]byte), func(before int) {
		if now := debug.SetGCPercent(before); now != firstCollection { // stated since
			debug.SetGCPercent(now)
		}
	}, before)
}
