package credence

import "testing"

// TestRandomStreamsAreThoseOfEarlierVersions pins the first number of four streams. They were
// written down from commit 6e8288d: another number means that every model changes under the same seed.
func TestRandomStreamsAreThoseOfEarlierVersions(t *testing.T) {
	for _, c := range []struct {
		seed    uint64
		purpose Purpose
		block   uint64
		want    uint64
	}{
		{0, DrawFrequencies, 0, 0x35cf96881d974a86},
		{1, RedrawFeatures, 3, 0x2b449c68e06aa521},
		{7, SVIDraws, 1<<40 | 5, 0xea89b75eeeeee625},
		{1 << 63, PredictSamples, 42, 0xde2799f1171f2265},
	} {
		if got := Rand(c.seed, c.purpose, c.block).Uint64(); got != c.want {
			t.Errorf("seed %d, purpose %q, block %d: %#x, and %#x before", c.seed, c.purpose, c.block, got, c.want)
		}
	}
}

// TestPurposesKeepTheirNames pins the names, which are part of the key.
func TestPurposesKeepTheirNames(t *testing.T) {
	for purpose, name := range map[Purpose]string{
		DrawFrequencies: "frequencies", DrawCentres: "centres", RedrawFeatures: "exact.draw", ExactStarts: "exact.starts",
		SVIStarts: "svi start", SVIDraws: "svi draws", SVIOrder: "svi order", SVIEntropy: "svi entropy",
		SVICurvature: "svi curvature", SVIDiagnostics: "svi diagnostics", SEPOrder: "sep", PredictSamples: "predict",
	} {
		if string(purpose) != name {
			t.Errorf("purpose %q was named %q", purpose, name)
		}
	}
}
