package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// latent returns f_mean and f_sd of every row of the data.
func latent(t *testing.T, model, data string) (mean, sd []float64, warnings string) {
	t.Helper()
	o := invoke(t, "", "predict", model, data, "--latent")
	if o.code != exitDone {
		t.Fatal(o.err)
	}
	records := sure(csv.NewReader(strings.NewReader(o.out)).ReadAll())(t)
	last := len(records[0])
	for _, record := range records[1:] {
		mean, sd = append(mean, parse(t, record[last-2])), append(sd, parse(t, record[last-1]))
	}
	return mean, sd, o.err
}

// A feature that training did not have is scored at its prior: the mean stays, and
// the variance of f grows by the prior variance λ times x², for every engine.
func TestUnseenFeaturesAreScoredAtTheirPrior(t *testing.T) {
	train := file(t, "train.libsvm", strings.Repeat("1 1:1 2:0.5\n-1 2:1 3:2\n1 1:2\n-1 3:1\n1 1:1 3:0.2\n-1 2:0.7\n", 5))
	known := file(t, "known.libsvm", "1 1:1\n0 2:3\n0\n")
	unseen := file(t, "unseen.libsvm", "1 1:1 4:2\n0 2:3\n0 9:1 2000000000:-3\n")
	one := file(t, "one.libsvm", "1 1:1 3:1 4:1\n")
	squares := []float64{4, 0, 10}
	single := file(t, "single.libsvm", "1 1:1 2000000000:1\n")
	for _, engine := range []string{"--family=gaussian", "--engine=svi", "--engine=sep(passes=3)", "--prior=normal(variance=0.25)", "--prior=normal(ard=true)", "--engine=sep", "--engine=adpredictor"} {
		model := filepath.Join(t.TempDir(), "m.safetensors")
		args := []string{"fit", train, engine, "-o", model, "--json"}
		switch engine {
		case "--engine=sep(passes=3)":
			args = append(args, "--family=bernoulli(link=probit)", "--prior=spikeslab")
		case "--engine=sep", "--engine=adpredictor":
			args[0] = "stream"
		}
		line, _ := lastLine(t, must(t, args...))
		hyper := line["hyper"].(map[string]any)
		mean, sd, _ := latent(t, model, known)
		_, further, _ := latent(t, model, single)
		variance, median := 0.0, further[0]*further[0]-sd[0]*sd[0]
		switch engine {
		case "--engine=sep(passes=3)", "--engine=sep":
			variance = number(t, hyper, "inclusion") * number(t, hyper, "slab")
		case "--engine=adpredictor":
			variance = number(t, hyper, "variance")
		case "--prior=normal(ard=true)":
			count := 0.0
			for name, v := range hyper {
				if strings.HasPrefix(name, "prior_variance.") && !strings.Contains(name, "(") {
					variance += v.(float64)
					count++
				}
			}
			variance /= count
		default:
			variance = number(t, hyper, "prior_variance.linear")
		}
		// the report has the median, and the law its mean
		if line["hyper_treatment"] == "integrate" && engine != "--prior=normal(ard=true)" {
			if median < variance || median > 4*variance {
				t.Errorf("%s: a further weight has variance %g, and the prior the median %g", engine, median, variance)
			}
			variance = median
		}
		gotMean, gotSD, warnings := latent(t, model, unseen)
		for i, square := range squares {
			want := math.Sqrt(sd[i]*sd[i] + variance*square)
			if gotMean[i] != mean[i] || !(math.Abs(gotSD[i]-want) <= 1e-12*want) {
				t.Errorf("%s, row %d: f is %g ± %g, want %g ± %g", engine, i+1, gotMean[i], gotSD[i], mean[i], want)
			}
		}
		if !strings.Contains(warnings, "3 values of features unseen in training were scored at their prior") {
			t.Errorf("%s: warnings %q", engine, warnings)
		}
		if _, _, warnings = latent(t, model, one); !strings.Contains(warnings, "warning: 1 value of a feature unseen in training was scored at its prior") {
			t.Errorf("%s: warnings %q", engine, warnings)
		}
	}
}

// Rows of a level that training does not have are refused by name, and under --unseen prior answered alike through
// every door: no effect, give or take the spread of the levels.
func TestUnseenLevelsAtEveryDoor(t *testing.T) {
	var rows strings.Builder
	rows.WriteString("g,x,y\n")
	for i := range 120 {
		fmt.Fprintf(&rows, "l%d,%g,%g\n", i%12, math.Sin(float64(i)), 2*math.Cos(float64(i%12*5))+math.Sin(float64(i))+0.3*math.Cos(float64(i*i)))
	}
	train, fresh := file(t, "train.csv", rows.String()), "g,x,y\nl3,0.5,-1\nnew,0.5,1\nother,-1,-1\n"
	data, model := file(t, "new.csv", fresh), filepath.Join(t.TempDir(), "m.safetensors")
	must(t, "fit", train, "-f", "y ~ x + onehot(g) + g:x", "-o", model, "-q")
	for _, command := range [][]string{{"predict", model, data}, {"evaluate", model, data}, {"active", "rank", model, data}, {"compare", model, model, data}} {
		if o := invoke(t, "", command...); o.code != exitFailed || !strings.Contains(o.err, `"new"`) || !strings.Contains(o.err, "--unseen prior") {
			t.Errorf("%s: exit %d, %s", command[0], o.code, o.err)
		}
		o := invoke(t, "", append(command, "--unseen", "zero")...)
		if o.code != exitMisuse || !strings.Contains(o.err, "use prior") {
			t.Errorf("%s --unseen zero: exit %d, %s", command[0], o.code, o.err)
		}
		if o := invoke(t, "", append(command, "--unseen", "prior")...); o.code != exitDone || !strings.Contains(o.err, "2 category values not seen in training, scored at the prior") {
			t.Errorf("%s --unseen prior: exit %d, %s", command[0], o.code, o.err)
		}
	}
	columns := func(o outcome, names ...string) (list [][]float64) {
		t.Helper()
		records := sure(csv.NewReader(strings.NewReader(o.out)).ReadAll())(t)
		for _, record := range records[1:] {
			var row []float64
			for _, name := range names {
				row = append(row, parse(t, record[slices.Index(records[0], name)]))
			}
			list = append(list, row)
		}
		return list
	}
	of := invoke(t, "", "predict", model, data, "--unseen", "prior", "--latent")
	answers := columns(of, "mean", "sd", "f_sd", "lower", "upper")
	if live := invoke(t, fresh, "predict", model, "-", "--unseen", "prior", "--latent"); live.out != of.out {
		t.Errorf("rows of a pipe have other answers:\n%s%s", live.out, of.out)
	}
	if answers[1][2] < 2*answers[0][2] || answers[2][2] < 2*answers[0][2] {
		t.Errorf("standard deviations of f are %v", answers)
	}
	nlpd := 0.0
	for i, y := range []float64{-1, 1, -1} {
		gap := (y - answers[i][0]) / answers[i][1]
		nlpd += (math.Log(2*math.Pi*answers[i][1]*answers[i][1]) + gap*gap) / 6
	}
	line, _ := lastLine(t, must(t, "evaluate", model, data, "--unseen", "prior", "--json"))
	// The predictive distribution is a Student t, which differs from a normal one by little.
	if got := number(t, line, "nlpd"); !(math.Abs(got-nlpd) <= 0.02) {
		t.Errorf("nlpd %v, want %v", got, nlpd)
	}
	const draws = 4000
	sampled := invoke(t, "", "predict", model, data, "--unseen", "prior", "--samples", fmt.Sprint(draws))
	for i, record := range sure(csv.NewReader(strings.NewReader(sampled.out)).ReadAll())(t)[1:] {
		squares := 0.0
		for _, cell := range record[len(record)-draws:] {
			gap := parse(t, cell) - answers[i][0]
			squares += gap * gap / draws
		}
		// Five standard errors of the variance of so many draws of a kurtosis of 5 at the most.
		if want := answers[i][1] * answers[i][1]; !(math.Abs(squares/want-1) <= 5*math.Sqrt(4.0/draws)) {
			t.Errorf("row %d: draws have variance %v, want %v", i+1, squares, want)
		}
	}
	// What the model was fitted with holds where nothing is said.
	must(t, "fit", train, "-f", "y ~ x + onehot(g) + g:x", "-o", model, "-q", "--unseen", "prior")
	if o := invoke(t, "", "predict", model, data, "--latent"); o.out != of.out {
		t.Errorf("a model fitted with --unseen prior answers\n%swant\n%s", o.out, of.out)
	}
	if o := invoke(t, "", "predict", model, data, "--unseen", "error"); o.code != exitFailed {
		t.Errorf("exit %d, %s", o.code, o.err)
	}
	must(t, "fit", train, "-f", "y ~ x + g", "--engine", "lasso", "-o", model, "-q")
	if o := invoke(t, "", "predict", model, data, "--unseen", "prior", "--latent"); o.code != exitDone || !strings.Contains(o.err, "engine lasso tells no spread of the levels") {
		t.Errorf("exit %d, %s", o.code, o.err)
	}
}
