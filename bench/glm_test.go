package main

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/credence-ml/credence/bench/data"
	"github.com/credence-ml/credence/internal/special"
)

func TestGLMSkipsMissingData(t *testing.T) {
	var out, progress bytes.Buffer
	if err := run(t.Context(), []string{"glm", "-data", t.TempDir(), "-parts", "classes,exact,counts,bike"}, &out, &progress); err != nil {
		t.Fatal(err)
	}
	if out.Len() > 0 {
		t.Errorf("printed %q", out.String())
	}
	for _, name := range []string{"a9a", "boston", "nmes1988", "bike_hour"} {
		if !strings.Contains(progress.String(), "glm: "+name+" is not in") {
			t.Errorf("%s is not reported: %q", name, progress.String())
		}
	}
	if err := run(t.Context(), []string{"glm", "-parts", "words"}, &out, &progress); err == nil || !strings.Contains(err.Error(), "take some of peers, classes") {
		t.Errorf("an unknown part: %v", err)
	}
}

// The mode has no slope: Σ (σ(f) − y) φ + w = 0, to the square root of the 1e-9 nats that the
// search leaves, times the largest curvature (2 of these rows each).
func TestLogisticIsTheMode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.svm")
	text := strings.Repeat("+1 1:1 3:0.5\n-1 2:1 3:1\n+1 2:1 3:-2\n-1 1:1 2:1\n+1 1:1 2:1 3:1\n", 8)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	table, err := data.Load(t.Context(), path, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	yes := make([]bool, table.Rows())
	for i, label := range table.Column("label") {
		yes[i] = label > 0
	}
	mode, err := fitLogistic(table)
	if err != nil {
		t.Fatal(err)
	}
	slope := append([]float64{}, mode.weights...)
	for i := range yes {
		residual := mode.probability(table, i)
		if yes[i] {
			residual--
		}
		columns, values := table.SparseRow(i)
		for k, j := range columns {
			slope[j] += residual * values[k]
		}
		slope[len(slope)-1] += residual
	}
	for j, v := range slope {
		if !(math.Abs(v) <= 1e-3) {
			t.Errorf("slope %d is %g", j, v)
		}
	}
}

func TestLogInterval(t *testing.T) {
	for _, c := range [][2]float64{{-1, 1}, {0.5, 0.6}, {-8, -7.9}, {7.9, 8}, {30, 30.1}} {
		got := logInterval(c[0], c[1])
		want := special.LogNormalCDF(c[1]) + math.Log1p(-special.NormalCDF(c[0])/special.NormalCDF(c[1]))
		if c[0] > 0 { // by symmetry
			want = logInterval(-c[1], -c[0])
		}
		if math.IsNaN(got) || !(math.Abs(got-want) <= 1e-10*(1+math.Abs(want))) {
			t.Errorf("(%g, %g): %v, want %v", c[0], c[1], got, want)
		}
	}
	// φ(z)·width, to the square of the width
	if got, want := logInterval(30, 30.0001), -30*30.0/2-special.LogSqrt2Pi+math.Log(0.0001); !(math.Abs(got-want) <= 0.01) {
		t.Errorf("far out %v, density times width %v", got, want)
	}
}

// One task from the text of its flags to a line of JSON, better than its peer.
func TestGLMPeers(t *testing.T) {
	if testing.Short() {
		t.Skip("three fits to 10,000 rows")
	}
	var out, progress bytes.Buffer
	if err := run(t.Context(), []string{"glm", "-data", t.TempDir(), "-parts", "peers", "-json"}, &out, &progress); err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(&out)
	for _, p := range peerFigures[:3] {
		var r result
		if err := decoder.Decode(&r); err != nil {
			t.Fatal(err)
		}
		if r.Set != p.name || r.TrainRows != 10000 || !(-float64(r.LogDensity) < p.mixed-0.04) {
			t.Errorf("%s: %+v, peer %v", p.name, r, p.mixed)
		}
	}
}
