package fit

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/spec"
)

// assumedMemory is what a machine is taken to have that does not say.
const assumedMemory = 64 << 30

// memory returns how many bytes a fit may take: those stated, or what the machine has free, the
// limit of its container and GOMEMLIMIT, whichever is least.
func (j *Job) memory() float64 {
	if j.options.Memory > 0 {
		return float64(j.options.Memory)
	}
	memory := float64(assumedMemory)
	if file, err := os.Open("/proc/meminfo"); err == nil {
		defer file.Close()
		for lines := bufio.NewScanner(file); lines.Scan(); {
			if fields := strings.Fields(lines.Text()); len(fields) > 1 && fields[0] == "MemAvailable:" {
				if kilobytes, err := strconv.ParseFloat(fields[1], 64); err == nil {
					memory = kilobytes * 1024
				}
			}
		}
	}
	for _, path := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		if text, err := os.ReadFile(path); err == nil {
			if limit, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64); err == nil { // not "max"
				memory = min(memory, limit)
			}
		}
	}
	return min(memory, float64(debug.SetMemoryLimit(-1)))
}

// bytesPerWeight is what a model takes for each weight whatever its engine: mean,
// variance and prior variance, once in the fit and once in the file to be written.
const bytesPerWeight = 64

// levelNumbers is how many numbers an engine that eliminates levels keeps for each of their weights: the values of the
// matrix, its factor and its inverse, and a dozen vectors.
const levelNumbers = 15

// refuseSize refuses a fit that would not fit into memory of so many bytes, before
// anything is allocated; rest of the weights belong to no level that is eliminated. The numbers are those of the
// largest arrays, so that what is refused is sure to fail.
func refuseSize(entry *Engine, call spec.Call, prior credence.Prior, rows, weights, rest int, memory float64) error {
	need := bytesPerWeight * float64(weights)
	of := weights
	if entry.Eliminates != nil && entry.Eliminates(call) {
		of = rest
		need += 8 * levelNumbers * float64(weights-rest)
	}
	if entry.Memory != nil {
		need += entry.Memory(call, prior, float64(rows), float64(of))
	}
	if need <= memory {
		return nil
	}
	remedy := "use indices without gaps, or fewer features"
	if spec.NewArguments(call, "").Int("components", 1) > 1 {
		remedy = "use fewer components, or fewer features"
	}
	if memory == float64(debug.SetMemoryLimit(-1)) {
		remedy = "raise GOMEMLIMIT, or use fewer features"
	}
	return fmt.Errorf("the model has %d weights, for which engine %s needs %s of memory, and %s are available: %s",
		weights, entry.Name, gigabytes(need), gigabytes(memory), remedy)
}

// gigabytes is a number of bytes for people.
func gigabytes(bytes float64) string {
	switch {
	case bytes < 1<<20:
		return fmt.Sprintf("%.0f bytes", bytes)
	case bytes < 1<<30:
		return fmt.Sprintf("%.0f MB", math.Ceil(bytes/(1<<20)))
	}
	return fmt.Sprintf("%.4g GB", math.Ceil(10*bytes/(1<<30))/10)
}
