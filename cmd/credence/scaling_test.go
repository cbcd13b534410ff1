//go:build unix

package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/credence-ml/credence/internal/study"
)

// The CPU time of every command is linear in rows, columns, levels, names, files and terms: from n to 4n
// it grows by a power of 1.2 at most, where n is so large that what does not grow is a small part. The
// least of several measurements counts, which other load of the machine disturbs little. make hostile, on a machine of
// its own, asks for that; by day, where caches are shared with whatever else runs and .98 to 1.27 were measured of
// one case, 1.4 tells what grows with the square.
func TestCostIsLinear(t *testing.T) {
	study.Only(t)
	most := 1.4
	if hostileEverything() {
		most = 1.2
	}
	sep := []string{"--raw", "--engine", "sep(passes=1)", "--family", "bernoulli(link=probit)", "--prior", "spikeslab"}
	table := func(rows, columns int, cell func(i, j int) string) string {
		text := []byte("y")
		for j := range columns {
			text = strconv.AppendInt(append(text, ",x"...), int64(j), 10)
		}
		for i := range rows {
			text = strconv.AppendInt(append(text, '\n'), int64(label(i)), 10)
			for j := range columns {
				text = append(append(text, ','), cell(i, j)...)
			}
		}
		return file(t, "t.csv", string(append(text, '\n')))
	}
	digit := func(i, j int) string { return strconv.Itoa((i*7 + j*j) % 10) }
	for _, c := range []struct {
		name string
		n    int
		make func(n int) []string // the command
	}{
		{"rows under exact", 20000, func(n int) []string { return []string{"fit", table(n, 5, digit), "--target", "y"} }},
		{"rows under stream", 20000, func(n int) []string { return []string{"stream", table(n, 5, digit), "-f", "y ~ . + hash(x1:x2)"} }},
		{"columns under fit", 4000, func(n int) []string { return append([]string{"fit", table(8, n, digit), "--target", "y"}, sep...) }},
		{"columns under stream", 16000, func(n int) []string { return []string{"stream", table(8, n, digit), "--target", "y"} }},
		{"columns that are not read", 80000, func(n int) []string {
			return []string{"fit", table(8, n, digit), "-f", "y ~ x1 + x2", "--family", "gaussian"}
		}},
		{"levels under fit", 20000, func(n int) []string {
			return append([]string{"fit", table(2*n, 1, func(i, _ int) string { return fmt.Sprintf("u%d", i/2) }), "-f", "y ~ x0"}, sep...)
		}},
		{"levels under stream", 20000, func(n int) []string {
			return []string{"stream", table(2*n, 1, func(i, _ int) string { return fmt.Sprintf("u%d", i/2) }), "-f", "y ~ x0", "-o", filepath.Join(t.TempDir(), "m")}
		}},
		{"names in inspect", 20000, func(n int) []string {
			model := filepath.Join(t.TempDir(), "m")
			must(t, "stream", table(n, 1, func(i, _ int) string { return fmt.Sprintf("u%d", i) }), "-f", "y ~ hash(x0)", "-o", model, "-q")
			return []string{"inspect", model, "--json"}
		}},
		{"files", 200, func(n int) []string {
			folder := t.TempDir()
			for k := range n {
				text := "y,x\n" + repeat("", 20, func(i int) string { return fmt.Sprintf("%d,%d\n", label(i+k), i%7) })
				if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%05d.csv", k)), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			return append([]string{"fit", filepath.Join(folder, "*.csv"), "--target", "y"}, sep...)
		}},
		{"terms", 2000, func(n int) []string {
			terms := strings.TrimPrefix(repeat("", n, func(j int) string { return fmt.Sprintf(" + x%d:x%d", j, j+1) }), " + ")
			return append([]string{"fit", table(10, n+1, digit), "-f", "y ~ " + terms}, sep...)
		}},
		{"terms under stream", 2000, func(n int) []string {
			terms := strings.TrimPrefix(repeat("", n, func(j int) string { return fmt.Sprintf(" + log(x%d) - x%d", j, j+1) }), " + ")
			return []string{"stream", table(10, n+1, func(i, j int) string { return "1" + digit(i, j) }), "-f", "y ~ " + terms}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			commands := [][]string{append(c.make(c.n), "--threads", "1"), append(c.make(4*c.n), "--threads", "1")}
			// Garbage that is collected within one command and not within another would tell them apart.
			defer debug.SetGCPercent(debug.SetGCPercent(-1))
			least := []time.Duration{time.Hour, time.Hour}
			for range 30 { // no more than it takes
				for k, args := range commands {
					runtime.GC()
					before := study.Processor()
					must(t, args...)
					least[k] = min(least[k], study.Processor()-before)
				}
				if power := math.Log(least[1].Seconds()/least[0].Seconds()) / math.Log(4); power <= most {
					t.Logf("%v and %v: power %.2f", least[0], least[1], power)
					return
				}
			}
			t.Errorf("%v for %d, %v for %d: power %.2f", least[0], c.n, least[1], 4*c.n, math.Log(least[1].Seconds()/least[0].Seconds())/math.Log(4))
		})
	}
}
