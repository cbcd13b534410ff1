//go:build unix

package main

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/credence-ml/credence/internal/conform/bombs"
	"github.com/credence-ml/credence/internal/parquet"
)

// parquetMegabytes is what the program may hold of a small Parquet file, whatever the file says.
const parquetMegabytes = 300

// megabytes returns the most memory that a process has held, until it ends, where the system tells; its resource usage
// would tell that of this one, too.
func megabytes(pid int) <-chan int {
	most := make(chan int, 1)
	go func() {
		for kilobytes := 0; ; time.Sleep(5 * time.Millisecond) {
			status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
			_, peak, found := strings.Cut(string(status), "VmHWM:")
			if err != nil || !found { // it has ended
				most <- kilobytes >> 10
				return
			}
			fmt.Sscan(peak, &kilobytes)
		}
	}()
	return most
}

// Parquet files that say they hold much are refused in one line with a remedy, and mutants of what programs wrote are
// refused or read; legal files of 2·10⁹ rows end when they are interrupted. None takes the memory that it asks for.
func TestHostileParquet(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a process for each bomb")
	}
	c, folder := newTally(t), t.TempDir()
	try := func(name string, content []byte, target string, long bool) {
		path := filepath.Join(folder, name+".parquet")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		defer os.Remove(path)
		c.tried++
		cmd, errs := process(t, "fit", path, "--target", target, "--quiet", "--output", filepath.Join(folder, "m"), "--cache", folder)
		held := megabytes(cmd.Process.Pid)
		if long {
			time.Sleep(time.Second)
			cmd.Process.Signal(syscall.SIGINT)
		}
		_, ended := end(cmd, patience)
		o := outcome{cmd.ProcessState.ExitCode(), "", errs.String()}
		var err error
		if most := <-held; !ended {
			err = fmt.Errorf("it goes on")
		} else if most > parquetMegabytes {
			err = fmt.Errorf("it takes %d MB: %s", most, o.err)
		} else if !long {
			err = c.judge(t.Context(), o, "", nil)
		} else if o.code != exitInterrupted || strings.Count(o.err, "\n") != 1 {
			err = fmt.Errorf("interrupted, exit %d: %s", o.code, o.err)
		}
		if err == nil && long {
			c.right++
		} else if err != nil {
			c.failed++
			t.Errorf("%s, target %s: %v", name, target, err)
		}
	}
	for _, b := range bombs.All() {
		if long := b.Rows > 1e6; !long || hostileEverything() || b.Name == "run-2e9" {
			try(b.Name, b.Content, "y", long)
		}
	}
	files, n := bombs.Written(120_000), 5
	if hostileEverything() {
		n = 3000
	}
	names, rng := slices.Sorted(maps.Keys(files)), rand.New(rand.NewPCG(2, 27))
	if len(names) == 0 {
		t.Skip("the test files of parquet-go are not there")
	}
	for i := range n {
		name, target := names[rng.IntN(len(names))], "none"
		if f, err := parquet.Open(bytes.NewReader(files[name]), int64(len(files[name]))); err == nil && len(f.Columns) > 0 {
			target = f.Columns[rng.IntN(len(f.Columns))].Name
		}
		try(fmt.Sprint(i, "-", strings.TrimSuffix(name, ".parquet")), bombs.Mutant(rng, files[name]), target, false)
	}
}
