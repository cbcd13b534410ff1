package metric

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

type classRow struct{ y, p, weight float64 }

// classRows draws classes with the predicted probabilities, coarse ones with
// many ties if grid is positive.
func classRows(n, grid int, weighted bool, seed uint64) []classRow {
	rng := generator(seed)
	rows := make([]classRow, n)
	for i := range rows {
		p := 1 / (1 + math.Exp(-1.5*rng.NormFloat64()+0.5))
		if grid > 0 {
			p = math.Round(p*float64(grid)) / float64(grid)
		}
		y, weight := 0.0, 1.0
		if rng.Float64() < p {
			y = 1
		}
		if weighted {
			weight = float64(rng.IntN(4)) / 2
		}
		rows[i] = classRow{y, p, weight}
	}
	return rows
}

func classify(rows []classRow) *Classification {
	c := new(Classification)
	for _, r := range rows {
		c.Add(r.y, r.p, r.weight)
	}
	return c
}

func classifyOnline(rows []classRow) *Progressive {
	s := new(Progressive)
	for _, r := range rows {
		s.Add(r.y, r.p, r.weight)
	}
	return s
}

// pairwiseAUC is the definition: every pair of a positive and a negative row.
func pairwiseAUC(rows []classRow) float64 {
	var won, pairs float64
	for _, a := range rows {
		for _, b := range rows {
			if a.y != 1 || b.y != 0 {
				continue
			}
			pairs += a.weight * b.weight
			switch {
			case a.p > b.p:
				won += a.weight * b.weight
			case a.p == b.p:
				won += a.weight * b.weight / 2
			}
		}
	}
	return won / pairs
}

// pairwiseECE finds the bin of each row by counting the rows below and beside.
func pairwiseECE(rows []classRow) float64 {
	var total float64
	for _, r := range rows {
		total += r.weight
	}
	gaps := make([]float64, 20)
	for _, r := range rows {
		rank := 0.0
		for _, other := range rows {
			if other.p < r.p {
				rank += other.weight
			} else if other.p == r.p {
				rank += other.weight / 2
			}
		}
		gaps[min(int(math.Floor(20*rank/total)), 19)] += r.weight * (r.p - r.y)
	}
	ece := 0.0
	for _, gap := range gaps {
		ece += math.Abs(gap) / total
	}
	return ece
}

// Examples of scikit-learn's documentation for roc_auc_score, brier_score_loss
// and log_loss.
func TestClassificationPublished(t *testing.T) {
	auc := classify([]classRow{{0, 0.1, 1}, {0, 0.4, 1}, {1, 0.35, 1}, {1, 0.8, 1}})
	near(t, "auc", must[ClassificationResult](t)(auc.Result()).AUC, 0.75, 0)
	brier := classify([]classRow{{0, 0.1, 1}, {1, 0.9, 1}, {1, 0.8, 1}, {0, 0.3, 1}})
	near(t, "brier", must[ClassificationResult](t)(brier.Result()).Brier, 0.0375, 1e-15)
	loss := classify([]classRow{{1, 0.9, 1}, {0, 0.1, 1}, {0, 0.2, 1}, {1, 0.65, 1}})
	near(t, "log loss", must[ClassificationResult](t)(loss.Result()).LogLoss, 0.21616187468057912, 1e-15)
}

func TestClassificationByDefinition(t *testing.T) {
	for name, rows := range map[string][]classRow{
		"distinct":          classRows(1000, 0, false, 1),
		"ties":              classRows(1000, 10, false, 2),
		"weighted":          classRows(1000, 0, true, 3),
		"weighted ties":     classRows(1000, 37, true, 4),
		"fewer than bins":   classRows(13, 0, false, 5),
		"not a multiple":    classRows(107, 0, false, 6),
		"weights come late": append(classRows(100, 10, false, 7), classRows(100, 10, true, 8)...),
	} {
		t.Run(name, func(t *testing.T) {
			var total, correct, loss, brier float64
			for _, r := range rows {
				total += r.weight
				if r.y == 1 && r.p > 0.5 || r.y == 0 && r.p <= 0.5 {
					correct += r.weight
				}
				p := min(max(r.p, LogLossClip), 1-LogLossClip)
				loss -= r.weight * (r.y*math.Log(p) + (1-r.y)*math.Log(1-p))
				brier += r.weight * (r.p - r.y) * (r.p - r.y)
			}
			got := must[ClassificationResult](t)(classify(rows).Result())
			near(t, "accuracy", got.Accuracy, correct/total, sumTolerance)
			near(t, "log loss", got.LogLoss, loss/total, sumTolerance)
			near(t, "brier", got.Brier, brier/total, sumTolerance)
			near(t, "auc", got.AUC, pairwiseAUC(rows), sumTolerance)
			near(t, "ece", got.ECE, pairwiseECE(rows), sumTolerance)
			if got.Rows != int64(len(rows)) || got.AUCError.Defined() {
				t.Errorf("%+v", got)
			}
		})
	}
}

// 40 rows, bins of two: by hand, each bin is off by |0.5 − mean p|.
func TestECEByHand(t *testing.T) {
	var c Classification
	want := 0.0
	for bin := range 20 {
		p := (float64(bin) + 0.5) / 20
		c.Add(0, p-0.01, 1)
		c.Add(1, p+0.01, 1)
		want += math.Abs(p-0.5) / 20
	}
	near(t, "ece", must[ClassificationResult](t)(c.Result()).ECE, want, sumTolerance)
}

// Order of rows and repeated results change no bit of AUC and ECE.
func TestClassificationIgnoresOrder(t *testing.T) {
	for _, weighted := range []bool{false, true} {
		rows := classRows(2000, 50, weighted, 9)
		want := must[ClassificationResult](t)(classify(rows).Result())
		shuffled := append([]classRow(nil), rows...)
		rand.New(rand.NewPCG(10, 0)).Shuffle(len(rows), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		growing := new(Classification)
		for i, r := range shuffled {
			growing.Add(r.y, r.p, r.weight)
			if i%500 == 0 {
				must[ClassificationResult](t)(growing.Result())
			}
		}
		got := must[ClassificationResult](t)(growing.Result())
		if got.AUC != want.AUC || got.ECE != want.ECE {
			t.Errorf("weighted %v: auc %v ece %v, want %v %v", weighted, got.AUC, got.ECE, want.AUC, want.ECE)
		}
		near(t, "log loss", got.LogLoss, float64(want.LogLoss), sumTolerance)
		near(t, "brier", got.Brier, float64(want.Brier), sumTolerance)
		near(t, "accuracy", got.Accuracy, float64(want.Accuracy), sumTolerance)
	}
}

// AUC depends on the ranks alone, and swapping the classes reflects it.
func TestAUCInvariances(t *testing.T) {
	rows := classRows(1500, 64, false, 13) // p³ and p/2 keep the ties of 64ths
	var cube, half, swapped Classification
	for _, r := range rows {
		cube.Add(r.y, r.p*r.p*r.p, 1)
		half.Add(r.y, r.p/2, 1)
		swapped.Add(1-r.y, r.p, 1)
	}
	want := must[ClassificationResult](t)(classify(rows).Result()).AUC
	for name, c := range map[string]*Classification{"cube": &cube, "half": &half} {
		if got := must[ClassificationResult](t)(c.Result()).AUC; got != want {
			t.Errorf("%s: auc %v, want %v", name, got, want)
		}
	}
	near(t, "swapped", must[ClassificationResult](t)(swapped.Result()).AUC, 1-float64(want), 1e-15)
	perfect := classify([]classRow{{0, 0, 1}, {0, 0.2, 1}, {1, 0.3, 1}, {1, 1, 1}})
	near(t, "perfect", must[ClassificationResult](t)(perfect.Result()).AUC, 1, 0)
	inverse := classify([]classRow{{1, 0, 1}, {0, 0.2, 1}})
	near(t, "inverse", must[ClassificationResult](t)(inverse.Result()).AUC, 0, 0)
}

func TestLogLossClip(t *testing.T) {
	for _, r := range []classRow{{1, 0, 1}, {0, 1, 1}, {1, 1e-300, 1}} {
		got := must[ClassificationResult](t)(classify([]classRow{r}).Result())
		near(t, "log loss", got.LogLoss, 52*math.Ln2, 1e-15)
		if got.ClippedRows != 1 {
			t.Errorf("%v: %d clipped rows", r, got.ClippedRows)
		}
	}
	// Small probabilities that turn out right keep their digits: −log(1−p) = p + p²/2.
	got := must[ClassificationResult](t)(classify([]classRow{{0, 1e-10, 1}}).Result())
	if !(math.Abs(float64(got.LogLoss)/(1e-10+0.5e-20)-1) <= 1e-15) || got.ClippedRows != 0 {
		t.Errorf("log loss %g, %d clipped", got.LogLoss, got.ClippedRows)
	}
}

func TestProgressive(t *testing.T) {
	for name, rows := range map[string][]classRow{
		"distinct": classRows(20000, 0, false, 14),
		"ties":     classRows(5000, 100, false, 15),
		"weighted": classRows(5000, 0, true, 16),
		"bound":    {{1, 0.5, 1}, {0, math.Nextafter(0.5, 1), 1}},
		"certain":  {{0, 0, 1}, {0, 1e-300, 1}, {1, 1e-200, 1}, {1, 1, 1}, {0, 1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			exact := must[ClassificationResult](t)(classify(rows).Result())
			online := classifyOnline(rows)
			got := must[ClassificationResult](t)(online.Result())
			if got.Accuracy != exact.Accuracy || got.LogLoss != exact.LogLoss || got.Brier != exact.Brier || got.Rows != exact.Rows {
				t.Errorf("%+v, exact %+v", got, exact)
			}
			// 1e-15: rounding of values in [0, 1]
			if !(math.Abs(float64(got.AUC-exact.AUC)) <= float64(got.AUCError)+1e-15) {
				t.Errorf("auc %v ± %v, exact %v", got.AUC, got.AUCError, exact.AUC)
			}
			if gap := math.Abs(float64(got.AUC - exact.AUC)); name == "bound" && float64(got.AUCError) != gap {
				t.Errorf("two rows of one cell: auc is off by %v, told as ± %v", gap, got.AUCError)
			}
			if name != "certain" && name != "bound" {
				if name == "distinct" && got.AUCError > 2e-4 { // the promise of the comment
					t.Errorf("auc error is %v", got.AUCError)
				}
				// Rows within a cell of a bin border: 20 borders, a cell has
				// less than 1 row in 1000 here.
				near(t, "ece", got.ECE, float64(exact.ECE), 20*1e-3)
			}
			t.Logf("auc %v ± %v, off by %.2g; ece off by %.2g", got.AUC, got.AUCError, got.AUC-exact.AUC, got.ECE-exact.ECE)
		})
	}
}

// A row of either class is in the cell of its probability, at bounds of the loss, too.
func TestCellsAreOrdered(t *testing.T) {
	cell := func(p, y float64) int {
		var s Progressive
		if got := s.Add(y, p, 1); got != LogLoss(y, p) {
			t.Errorf("probability %g of class %g has loss %v", p, y, got)
		}
		return slices.IndexFunc(s.cells, func(c group) bool { return c.positive+c.negative > 0 })
	}
	last := -1
	for _, p := range []float64{0, math.SmallestNonzeroFloat64, 1e-14, LogLossClip, 1e-13, 0.1, 0.5, 0.5005, 0.9, 1 - 1e-10, 1 - LogLossClip, 1 - 0x1p-53, 1} {
		positive, negative := cell(p, 1), cell(p, 0)
		if positive != negative || positive != cellOf(math.Log(p)-math.Log1p(-p)) || positive < last || positive >= cellCount {
			t.Errorf("probability %g is in cells %d, %d after %d", p, positive, negative, last)
		}
		last = positive
	}
	if cell(0, 1) != 0 || cell(1, 1) != cellCount-1 || cell(0.5, 1) != cellCount/2 {
		t.Error(cell(0, 1), cell(1, 1), cell(0.5, 1))
	}
}

func BenchmarkClassification(b *testing.B) {
	rows := classRows(100_000, 0, false, 17)
	b.ReportAllocs()
	for b.Loop() {
		classify(rows).Result()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(rows)), "ns/row")
}

func BenchmarkProgressive(b *testing.B) {
	rows := classRows(100_000, 0, false, 18)
	s := new(Progressive)
	b.ReportAllocs()
	for b.Loop() {
		for _, r := range rows {
			s.Add(r.y, r.p, r.weight)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(rows)), "ns/row")
}

func BenchmarkProgressiveResult(b *testing.B) {
	s := classifyOnline(classRows(100_000, 0, false, 19))
	for b.Loop() {
		s.Result()
	}
}

// TestShare: the share of class 1 counts rows by their weights.
func TestShare(t *testing.T) {
	for want, rows := range map[float64][]classRow{
		0.25: {{0, 0.1, 1}, {1, 0.9, 1}, {0, 0.3, 1}, {0, 0.3, 1}},
		0.75: {{0, 0.1, 1}, {1, 0.9, 3}, {1, 0.9, 0}},
		0:    {{0, 0.1, 2}},
	} {
		if got := must[ClassificationResult](t)(classify(rows).Result()).Share; got != want {
			t.Errorf("the share is %g, want %g", got, want)
		}
	}
}
