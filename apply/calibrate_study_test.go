package apply_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"compress/gzip"
	"io"
	"sort"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/conform/published"
	"github.com/credence-ml/credence/internal/study"
	"github.com/credence-ml/credence/score"
)

// loaded is the table of a text.
func loaded(t *testing.T, text string) credence.Source {
	t.Helper()
	data := must.Value(dataset.Open(t.Context(), []string{"-"}, dataset.Options{Stdin: strings.NewReader(text)}))(t)
	defer data.Close()
	return must.Value(data.Load(t.Context(), nil))(t)
}

// figures are the share of targets that 90 % intervals hold, of discrete ones by their randomised transform, and the
// mean width.
func figures(t *testing.T, model *credence.Fitted, rows credence.Source) (held, width float64) {
	t.Helper()
	table := must.Value(must.Value(score.New(model, score.Options{}))(t).Table(rows, score.RequireTargets))(t)
	e := score.NewEvaluation(model)
	must.Succeed(t, table.Each(t.Context(), e.Add))
	found := must.Value(e.Result())(t)
	return found.Coverage["0.9"], found.Width["0.9"]
}

// TestCalibratedSets is the study of docs/calibrate.md: 20 splits into 1,000 training, calibration and test rows, of
// which ten groups have predictions between the deciles of those of the training rows. The two sets that are drawn are
// of the model.
func TestCalibratedSets(t *testing.T) {
	study.OnlyCalibration(t)
	const n, splits = 1000, 20
	for _, c := range []struct{ set, formula, family string }{
		{"kin8nm", "y ~ .", ""}, {"naval", "y ~ .", ""}, {"power", "y ~ .", ""}, {"protein", "y ~ .", ""}, {"kin40k", "y ~ .", ""}, {"pol", "y ~ .", ""},
		{"keggundirected", "y ~ .", ""}, {"calhousing", "y ~ .", "gamma"}, {"sarcos_test", "y1 ~ . - y2 - y3 - y4 - y5 - y6 - y7", "studentt"},
		{"bike_hour", "count ~ . - dateday", "negbinomial"}, {"nmes1988", "visits ~ hospital + health + chronic + gender + school + insurance", "poisson"},
		{"bemtpl97", "nclaims ~ bm + ageph + coverage + fuel + sex + use + offset(log(expo))", "poisson"},
		{"drawn normal", "y ~ .", "gaussian(variance=1)"}, {"drawn counts", "y ~ .", "poisson"},
	} {
		t.Run(c.set, func(t *testing.T) {
			var lines []string
			rng := rand.New(rand.NewPCG(study.Seed(5), 1))
			if name, drawn := strings.CutPrefix(c.set, "drawn "); drawn {
				lines = []string{"x,z,y"}
				for range 10 * n {
					x, z := rng.NormFloat64(), rng.NormFloat64()
					y := 1 + x - z/2
					if name == "normal" {
						y += rng.NormFloat64()
					} else {
						mean, sum := math.Exp(y), rng.ExpFloat64()
						for y = 0; sum < mean; y++ {
							sum += rng.ExpFloat64()
						}
					}
					lines = append(lines, fmt.Sprintf("%g,%g,%g", x, z, y))
				}
			} else {
				file := must.Value(os.Open(published.Path(t, c.set, map[bool]string{true: "sarcos_inv_test.csv.gz", false: c.set + ".csv.gz"}[c.set == "sarcos_test"])))(t)
				text := must.Value(io.ReadAll(must.Value(gzip.NewReader(file))(t)))(t)
				lines = strings.Split(strings.TrimSpace(string(text)), "\n")
			}
			var before, after, wider []float64
			groups := make([][]float64, 10)
			for range splits {
				rng.Shuffle(len(lines)-1, func(a, b int) { lines[a+1], lines[b+1] = lines[b+1], lines[a+1] })
				part := func(k int) string {
					return lines[0] + "\n" + strings.Join(lines[1+k*n:1+(k+1)*n], "\n") + "\n"
				}
				model, err := fit.Table(t.Context(), loaded(t, part(0)), fit.Options{Formula: c.formula, Family: c.family})
				if err != nil {
					t.Fatalf("%s: %v", c.set, err)
				}
				means := func(k int) (list []float64) {
					table := must.Value(must.Value(score.New(model, score.Options{}))(t).Table(loaded(t, part(k)), score.IgnoreTargets))(t)
					must.Succeed(t, table.Each(t.Context(), func(rows *score.Rows) error {
						for i := range rows.Len() {
							mean, _ := rows.Moments(i)
							list = append(list, mean)
						}
						return nil
					}))
					return list
				}
				cuts := means(0)
				sort.Float64s(cuts)
				// the rows with their groups, and those of each group
				grouped := func(k int) (text string, of [10]string) {
					header := lines[0] + ",decile\n"
					text = header
					for g := range of {
						of[g] = header
					}
					for i, mean := range means(k) {
						g := min(9, 10*sort.SearchFloat64s(cuts, mean)/n)
						row := fmt.Sprintf("%s,d%d\n", lines[1+k*n+i], g)
						text, of[g] = text+row, of[g]+row
					}
					return text, of
				}
				held, _ := grouped(1)
				test, of := grouped(2)
				calibrated := must.Value(score.Calibrate(t.Context(), model, loaded(t, held), ""))(t)
				b, narrow := figures(t, model, loaded(t, test))
				a, wide := figures(t, calibrated, loaded(t, test))
				before, after, wider = append(before, b), append(after, a), append(wider, wide/narrow)
				by, err := score.Calibrate(t.Context(), model, loaded(t, held), "decile")
				if err != nil {
					t.Logf("%s: %v", c.set, err)
					continue
				}
				for g := range of {
					if strings.Count(of[g], "\n") > 1 {
						a, _ := figures(t, by, loaded(t, of[g]))
						groups[g] = append(groups[g], a)
					}
				}
			}
			mean, spread := study.MeanAndError(after)
			was, _ := study.MeanAndError(before)
			ratio, _ := study.MeanAndError(wider)
			least, most, count := 1.0, 0.0, 0
			for _, list := range groups {
				if len(list) > 1 {
					m, _ := study.MeanAndError(list)
					least, most, count = min(least, m), max(most, m), count+1
				}
			}
			t.Logf("| %s | %s | %.3f | %.3f ± %.3f | %.3f | %d: %.3f–%.3f |", c.set, c.family, was, mean, spread, ratio, count, least, most)
			if mean < 0.89 || mean > 0.91 || least < 0.87 {
				t.Errorf("%s: intervals hold %v, in the groups from %v on", c.set, mean, least)
			}
			if strings.HasPrefix(c.set, "drawn") && ratio > 1.03 {
				t.Errorf("%s: honest intervals become %v times as wide", c.set, ratio)
			}
		})
	}
}
