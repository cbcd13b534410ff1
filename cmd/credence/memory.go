package main

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/credence-ml/credence/spec"
)

// assumedMemory is what a machine is taken to have that does not say.
const assumedMemory = 64 << 30

// availableMemory returns how many bytes a fit may take: what the machine has free,
// the limit of its container and GOMEMLIMIT, whichever is least.
func availableMemory() float64 {
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

// refuseSize refuses a fit that would not fit into memory of so many bytes, before
// anything is allocated. The numbers are those of the largest arrays, so that what
// is refused is sure to fail.
func refuseSize(entry *engineEntry, call spec.Call, rows, weights int, memory float64) error {
	need := bytesPerWeight * float64(weights)
	if entry.memory != nil {
		need += entry.memory(call, float64(rows), float64(weights))
	}
	if need <= memory {
		return nil
	}
	remedy := "use indices without gaps, or fewer features"
	if spec.NewArguments(call, "").Int("components", 1) > 1 {
		remedy = "use fewer components, or fewer features"
	}
	return fmt.Errorf("the model has %d weights, for which engine %s needs %s of memory, and %s are available: %s",
		weights, entry.name, gigabytes(need), gigabytes(memory), remedy)
}

// gigabytes is a number of bytes for people.
func gigabytes(bytes float64) string {
	if bytes < 1<<30 {
		return fmt.Sprintf("%.0f MB", math.Ceil(bytes/(1<<20)))
	}
	return fmt.Sprintf("%.4g GB", math.Ceil(10*bytes/(1<<30))/10)
}

// exactMemory is that of the smaller of the two forms, with the factor of the
// posterior: four D×D matrices, or three N×N and a dozen vectors.
func exactMemory(_ spec.Call, rows, weights float64) float64 {
	if rows < weights {
		return 8 * (3*rows*rows + 12*weights)
	}
	return 8 * 4 * weights * weights
}

// sviMemory is that of a covariance and its curvature, or of the means, variances and
// steps of every component and of what every two of them have in common, and of the
// draws that diagnose the fit.
func sviMemory(call spec.Call, _, weights float64) float64 {
	const draws = 200 // at the least
	a := spec.NewArguments(call, "")
	if a.Word("covariance", "") == "full" {
		return 8 * weights * (4*weights + draws)
	}
	components := float64(a.Int("components", 1))
	pairs := 0.0
	if components > 1 {
		pairs = components * components
	}
	return 8*weights*(draws+8*components) + 8*2*pairs
}
