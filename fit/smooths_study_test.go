package fit_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/study"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/table"
)

// smoothTruths are curves over [0, 1] and surfaces over its square, of about unit size: waves, a bump, a step with an
// edge, a line, and the frequency of claims by age.
var smoothTruths = []struct {
	name    string
	curve   func(x float64) float64
	surface func(x, z float64) float64
}{
	{"wave", func(x float64) float64 { return math.Sin(10 * x) }, func(x, z float64) float64 { return math.Sin(7*x) * math.Cos(4*z) }},
	{"bump", func(x float64) float64 { return 1.5 * bell(x, 0.6, 0.08) }, func(x, z float64) float64 { return 1.8 * bell(x, 0.4, 0.15) * bell(z, 0.6, 0.2) }},
	{"step", func(x float64) float64 { return math.Tanh((x - 0.4) / 0.05) }, func(x, z float64) float64 { return math.Tanh((x + z - 0.8) / 0.1) }},
	{"line", func(x float64) float64 { return 2*x - 1 }, func(x, z float64) float64 { return 1.5*x - z }},
	{"age", ageCurve, func(x, z float64) float64 { return ageCurve(x) * (0.5 + z) }},
}

func bell(x, centre, width float64) float64 {
	return math.Exp(-(x - centre) * (x - centre) / (2 * width * width))
}

// ageCurve falls steeply from 18 to 35 and rises from 60 to 89.
func ageCurve(x float64) float64 {
	return 1.6*math.Exp(-x/0.12) + 1.2*math.Pow(math.Max(0, x-0.55), 2)/0.2 - 0.5
}

// smoothFamilies are those of the study, with mgcv's words for them.
var smoothFamilies = []struct {
	name, peer string
	family     likelihood.Sampler
}{
	{"gaussian", "gaussian()", likelihood.Gaussian{NoiseVariance: param.Hold(1)}},
	{"bernoulli", "binomial()", likelihood.Bernoulli{}},
	{"poisson", "poisson()", likelihood.Poisson{}},
	{"negbinomial", "nb()", likelihood.NegativeBinomial{Size: param.Hold(2)}},
	{"gamma", "Gamma(link='log')", likelihood.Gamma{Shape: param.Hold(2)}},
	{"studentt", "scat()", likelihood.StudentT{DegreesOfFreedom: param.Hold(4), Scale: param.Hold(1)}},
}

// smoothSet is a drawn set: columns x and z of uneven density, with their truth, and fresh rows behind those to be
// fitted.
type smoothSet struct {
	x, z, f, y []float64
	rows       int
}

const freshRows = 500

func newSmoothSet(truth, columns, rows int, family likelihood.Sampler, seed uint64) *smoothSet {
	rng := rand.New(rand.NewPCG(seed, 26))
	s := &smoothSet{rows: rows}
	uneven := func() float64 { // half of the rows are in the lower third
		if rng.Float64() < 0.4 {
			return rng.Float64()
		}
		return math.Pow(rng.Float64(), 1.7)
	}
	for range rows + freshRows {
		x, z := uneven(), uneven()
		f := smoothTruths[truth].curve(x)
		if columns == 2 {
			f = smoothTruths[truth].surface(x, z)
		}
		s.x, s.z, s.f, s.y = append(s.x, x), append(s.z, z), append(s.f, f), append(s.y, family.Sample(rng, f))
	}
	return s
}

func (s *smoothSet) source(t *testing.T, first, end int) credence.Source {
	return must.Value(table.New().Numbers("y", s.y[first:end]).Numbers("x", s.x[first:end]).Numbers("z", s.z[first:end]).Source())(t)
}

// smoothFit is how well a fit found f at fresh rows.
type smoothFit struct{ rmse, held, seconds, frequencies float64 }

// fit fits the default.
func (s *smoothSet) fit(t *testing.T, formula, family string) smoothFit {
	before := study.Processor()
	fitted := must.Value(fit.Table(t.Context(), s.source(t, 0, s.rows), fit.Options{Formula: formula, Family: family, Threads: 1}))(t)
	out := smoothFit{seconds: (study.Processor() - before).Seconds(), frequencies: fitted.Report.Frequencies[0].Value}
	fresh := s.source(t, s.rows, s.rows+freshRows)
	rows := must.Value(fitted.Frame.(*frame.Frame).Bind(fresh, frame.RequireTargets))(t)
	var b credence.Batch
	must.Succeed(t, rows.Read(&b, 0, freshRows))
	var d credence.Distribution
	must.Succeed(t, fitted.DistributionTo(credence.NewWorkspace(1), &d, &b))
	for i := range freshRows {
		mean, variance := d.Latent(i)
		off := mean - s.f[s.rows+i]
		out.rmse += off * off / freshRows
		if math.Abs(off) < 1.6449*math.Sqrt(variance) {
			out.held += 1. / freshRows
		}
	}
	out.rmse = math.Sqrt(out.rmse)
	return out
}

// mgcv fits mgcv's default to the sets of a folder and prints rmse, share held and CPU seconds of each.
const mgcv = `suppressMessages(library(mgcv)); a <- commandArgs(TRUE); for (file in list.files(a[1], full.names=TRUE)) { ` +
	`d <- read.csv(file); n <- nrow(d) - 500; train <- d[1:n,]; fresh <- d[n + 1:500,]; family <- eval(parse(text=a[3])); ` +
	`t <- system.time(m <- if (n > 5000) bam(as.formula(a[2]), family=family, data=train, discrete=TRUE) else gam(as.formula(a[2]), family=family, data=train, method="REML")); ` +
	`p <- predict(m, fresh, se.fit=TRUE); e <- p$fit - fresh$f; cat(sqrt(mean(e^2)), mean(abs(e) < 1.6449 * p$se.fit), t[1] + t[2], "\n") }`

// peers runs mgcv on sets.
func peers(t *testing.T, sets []*smoothSet, formula, family string) (fits []smoothFit) {
	folder := t.TempDir()
	for k, s := range sets {
		var text bytes.Buffer
		w := csv.NewWriter(&text)
		must.Succeed(t, w.Write([]string{"x", "z", "f", "y"}))
		for i := range s.x {
			var cells []string
			for _, v := range []float64{s.x[i], s.z[i], s.f[i], s.y[i]} {
				cells = append(cells, strconv.FormatFloat(v, 'g', -1, 64))
			}
			must.Succeed(t, w.Write(cells))
		}
		w.Flush()
		must.Succeed(t, os.WriteFile(filepath.Join(folder, fmt.Sprintf("%04d.csv", k)), text.Bytes(), 0o600))
	}
	command := exec.CommandContext(context.Background(), "Rscript", "-e", mgcv, folder, formula, family)
	command.Env = append(os.Environ(), "OPENBLAS_NUM_THREADS=1")
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		var f smoothFit
		if _, err := fmt.Sscan(line, &f.rmse, &f.held, &f.seconds); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		fits = append(fits, f)
	}
	return fits
}

// TestSmoothsBesideMgcv: rmse of f and the share of 90 % bands that hold it, at fresh rows, of rbf by default beside
// s(x) and s(x, z) by default.
func TestSmoothsBesideMgcv(t *testing.T) {
	study.OnlyCalibration(t)
	if _, err := exec.Command("Rscript", "-e", "library(mgcv)").Output(); err != nil {
		t.Skip("there is no mgcv: apt-get install r-cran-mgcv")
	}
	for _, rows := range []int{2000, 20000} {
		const sets = 10 // equally many of every shape
		for columns, call := range []string{"", "(x)", "(x, z)"} {
			for _, family := range smoothFamilies {
				if columns == 0 {
					continue
				}
				t.Run(fmt.Sprintf("%d/%d/%s", rows, columns, family.name), func(t *testing.T) {
					var drawn []*smoothSet
					var own []smoothFit
					for k := range sets {
						s := newSmoothSet(k%len(smoothTruths), columns, rows, family.family, study.Seed(2600)+uint64(k))
						drawn, own = append(drawn, s), append(own, s.fit(t, "y ~ rbf"+call, family.name))
					}
					other := peers(t, drawn, "y ~ s"+call, family.peer)
					for truth := range len(smoothTruths) + 1 {
						name := "all"
						if truth < len(smoothTruths) {
							name = smoothTruths[truth].name
						}
						var a, b smoothFit
						most, count := 0.0, 0.0
						var ratios []float64
						for k := range own {
							if name != "all" && k%len(smoothTruths) != truth {
								continue
							}
							count++
							a.rmse, b.rmse = a.rmse+own[k].rmse, b.rmse+other[k].rmse
							a.held, b.held = a.held+own[k].held, b.held+other[k].held
							a.seconds, b.seconds = a.seconds+own[k].seconds, b.seconds+other[k].seconds
							a.frequencies += own[k].frequencies
							most = max(most, own[k].seconds)
							ratios = append(ratios, math.Log(own[k].rmse/other[k].rmse))
						}
						ratio, spread := study.MeanAndError(ratios)
						t.Logf("%-5s rmse %.4f, mgcv %.4f, ratio %.3f (geometric %.3f ± %.3f); bands hold %.3f, %.3f; CPU s %.2f (most %.2f), %.2f; n %.0f",
							name, a.rmse/count, b.rmse/count, a.rmse/b.rmse, math.Exp(ratio), math.Exp(ratio)*spread, a.held/count, b.held/count,
							a.seconds/count, most, b.seconds/count, a.frequencies/count)
						if name == "all" && (a.rmse > 1.1*b.rmse || a.held/count < 0.84 || a.held/count > 0.94) {
							t.Errorf("%s of %d rows: rmse is %.3f of mgcv's, bands hold %.3f", family.name, rows, a.rmse/b.rmse, a.held/count)
						}
					}
				})
			}
		}
	}
}
