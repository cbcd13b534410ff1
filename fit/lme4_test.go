package fit_test

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/table"
)

// cellsUnder returns the cells of a column below its name.
func cellsUnder(rows [][]string, name string) (cells []string) {
	at := slices.Index(rows[0], name)
	for _, row := range rows[1:] {
		cells = append(cells, row[at])
	}
	return cells
}

// columnsOfFile reads a file of numbers, and of categories that are named.
func columnsOfFile(t *testing.T, file string, categories ...string) (b *table.Builder, numbers map[string][]float64) {
	t.Helper()
	f := must.Value(os.Open(file))(t)
	defer f.Close()
	rows := must.Value(csv.NewReader(f).ReadAll())(t)
	b, numbers = table.New(), map[string][]float64{}
	for _, name := range rows[0] {
		cells := cellsUnder(rows, name)
		if slices.Contains(categories, name) {
			b.Categories(name, cells)
			continue
		}
		for _, cell := range cells {
			numbers[name] = append(numbers[name], must.Value(strconv.ParseFloat(cell, 64))(t))
		}
		b.Numbers(name, numbers[name])
	}
	return b, numbers
}

// TestLikelihoodsOfLme4: at lme4's standard deviations, with fixed effects at lme4's estimates, the evidence is its
// log-likelihood; with a normal prior N(0, v) of wide v on fixed effects b̂ ± s, less Σ log N(b̂ | 0, v + s²), it is
// its restricted log-likelihood. Of five of lme4's sets (R 4.2.2, lme4 1.1-31), REML=FALSE and TRUE:
//
//	m <- lmer(F, D, REML=R, control=lmerControl(optimizer="bobyqa", optCtrl=list(rhoend=1e-10)))
//	logLik(m); VarCorr(m); sigma(m)^2; fixef(m)
func TestLikelihoodsOfLme4(t *testing.T) {
	const wide = 1e8 // times the largest variance of a fixed effect
	for _, c := range []struct {
		file       string
		categories []string
		fixed      []string // columns beside the intercept
		fixef      []float64
		variance   float64 // of the intercept under REML
		groups     [2]string
		noise      [2]float64
		want       [2]float64
	}{
		{"sleepstudy", []string{"Subject"}, []string{"Days"}, []float64{251.405104848484, 10.467285959595536}, 46.57456154349974,
			[2]string{"(1 + Days | Subject, sd=[23.780564985775644, 5.7168345798898281], cor=0.081319974587096541)", "(1 + Days | Subject, sd=[24.740447616699836, 5.9221332595791445], cor=0.065551342853464228)"},
			[2]float64{654.94103758017286, 654.9410406819693}, [2]float64{-875.969672231599, -871.814135979246}},
		{"dyestuff", []string{"Batch"}, nil, []float64{1527.5}, 375.71665857811325,
			[2]string{"(1 | Batch, sd=37.260346156389559)", "(1 | Batch, sd=42.000594629955849)"},
			[2]float64{2451.2499809032511, 2451.2500109940265}, [2]float64{-163.663529940568, -159.827138421129}},
		{"penicillin", []string{"plate", "sample"}, nil, []float64{22.972222222222}, 0.65379087946991832,
			[2]string{"(1 | plate, sd=0.84557219113181648) + (1 | sample, sd=1.7706464446767436)", "(1 | plate, sd=0.84670430302796396) + (1 | sample, sd=1.9315583315928082)"},
			[2]float64{0.30242541762431702, 0.30241546271322262}, [2]float64{-166.094174334250, -165.430294495543}},
		{"pastes", []string{"batch", "sample"}, nil, []float64{60.0533333333333}, 0.45815313206849173,
			[2]string{"(1 | batch, sd=1.0950597238146385) + (1 | sample, sd=2.9040775444533158)", "(1 | batch, sd=1.2873651888688455) + (1 | sample, sd=2.9040775783807637)"},
			[2]float64{0.67800000617135314, 0.67799998453319066}, [2]float64{-123.997232931212, -123.495372926743}},
		{"cake", []string{"replicate"}, []string{"B", "C", "temp"}, []float64{1.51587301587, -1.47777777778, -1.52222222222, 0.15803174603174}, 13.534643728426293,
			[2]string{"(1 | replicate, sd=6.2286728856639764)", "(1 | replicate, sd=6.465107685022371)"},
			[2]float64{20.615384831087816, 20.707417795082417}, [2]float64{-848.078876237669, -846.922156212603}},
	} {
		b, numbers := columnsOfFile(t, "testdata/"+c.file+".csv", c.categories...)
		target := "y"
		if c.file == "sleepstudy" {
			target = "Reaction"
		}
		fixed, ones, eta := "one", make([]float64, len(numbers[target])), make([]float64, len(numbers[target]))
		for i := range eta {
			ones[i], eta[i] = 1, c.fixef[0]
			for k, name := range c.fixed {
				eta[i] += c.fixef[k+1] * numbers[name][i]
			}
		}
		for _, name := range c.fixed {
			fixed += " + " + name
		}
		source := must.Value(b.Numbers("one", ones).Numbers("eta", eta).Source())(t)
		v := wide * c.variance
		for k, formula := range []string{target + " ~ 0 + offset(eta) + ", target + " ~ 0 + " + fixed + " + "} {
			fitted := must.Value(fit.Table(t.Context(), source, fit.Options{
				Formula: formula + c.groups[k], Family: fmt.Sprintf("gaussian(variance=%.17g)", c.noise[k]), Prior: fmt.Sprintf("normal(variance=%.17g)", v), Engine: "exact", Raw: true, Threads: 1,
			}))(t)
			got := *fitted.Report.Evidence
			for _, b := range c.fixef {
				if k == 1 { // what the variance of b̂ adds to v is 1e-8 of it
					got += math.Log(2*math.Pi*v)/2 + b*b/(2*v)
				}
			}
			if !(math.Abs(got-c.want[k]) <= 1e-6) {
				t.Errorf("%s: %.9f, in lme4 %.9f", formula+c.groups[k], got, c.want[k])
			}
		}
	}
}
