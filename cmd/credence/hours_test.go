package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestTimeOfDay: rows that go together by the time of day are answered with it, which ends the warning and predicts
// better; a function of all the time, which does not, is not asked for again.
func TestTimeOfDay(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	var csv strings.Builder
	csv.WriteString("when,x,y\n")
	start := time.Date(2023, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 400 {
		at := start.Add(time.Duration(3*i) * time.Hour)
		y := 10 + 2*math.Sin(2*math.Pi*float64(at.Hour())/24) + rng.NormFloat64()
		fmt.Fprintf(&csv, "%s,%.3f,%.3f\n", at.Format("2006-01-02T15:04:05"), rng.NormFloat64(), y)
	}
	data := file(t, "hours.csv", csv.String())
	const daily = "add s(hour(when), period=24)"
	if out := invoke(t, "", "fit", data, "--target", "y"); out.code != exitDone || !strings.Contains(out.err, daily) {
		t.Errorf("exit %d: %s", out.code, out.err)
	}
	if out := invoke(t, "", "fit", data, "--target", "y", "--raw"); out.code != exitDone || !strings.Contains(out.err, daily) {
		t.Errorf("columns that are not scaled: exit %d: %s", out.code, out.err)
	}
	if out := invoke(t, "", "fit", data, "--formula", "y ~ x"); !strings.Contains(out.err, daily) {
		t.Errorf("a time beside the model: %s", out.err)
	}
	if out := invoke(t, "", "fit", data, "--formula", "y ~ . + s(hour(when), period=24)", "-o", filepath.Join(t.TempDir(), "m")); out.code != exitDone || strings.Contains(out.err, "neighbouring rows") {
		t.Errorf("exit %d: %s", out.code, out.err)
	}
}
