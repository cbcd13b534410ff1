// Package study tells tests whether long studies are wanted: exhaustive sizes, every
// hostile value, whole published sets. make study sets CREDENCE_STUDY and runs them; make night sets CREDENCE_NIGHT,
// too, for what takes minutes. Simulations whose figures stand in docs/calibration.md take hours; make calibration sets
// CREDENCE_CALIBRATION.
package study

import (
	"os"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/stat"
)

// Long says whether studies are wanted.
func Long() bool { return os.Getenv("CREDENCE_STUDY") != "" }

// Night says whether there is a night for them: all of a study whose first part make study has.
func Night() bool { return os.Getenv("CREDENCE_NIGHT") != "" }

// Calibration says whether the simulations of docs/calibration.md are wanted.
func Calibration() bool { return os.Getenv("CREDENCE_CALIBRATION") != "" }

// OnlyCalibration skips a test that is such a simulation.
func OnlyCalibration(t testing.TB) {
	t.Helper()
	if !Calibration() {
		t.Skip("a long simulation: make calibration runs it")
	}
}

// Only skips a test that is a study.
func Only(t testing.TB) {
	t.Helper()
	if !Long() {
		t.Skip("a long study: make study runs it")
	}
}

// Write says whether tests are to write the pages that they print, in the place of comparing them.
func Write() bool { return os.Getenv("CREDENCE_WRITE") != "" }

// Seed is what a simulation adds to its seeds so as to draw other sets: CREDENCE_SEED where that is set.
func Seed(otherwise uint64) uint64 {
	if seed, err := strconv.ParseUint(os.Getenv("CREDENCE_SEED"), 10, 64); err == nil {
		return seed
	}
	return otherwise
}

// MeanAndError returns the mean of the figures of several sets, and its standard error.
func MeanAndError(list []float64) (mean, spread float64) {
	mean, spread = stat.MeanStdDev(list, nil)
	return mean, stat.StdErr(spread, float64(len(list)))
}
