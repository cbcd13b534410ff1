package main

import (
	"encoding/csv"
	"math"
	"path/filepath"
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
		variance := 0.0
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
		mean, sd, _ := latent(t, model, known)
		gotMean, gotSD, warnings := latent(t, model, unseen)
		for i, square := range squares {
			want := math.Sqrt(sd[i]*sd[i] + variance*square)
			if gotMean[i] != mean[i] || math.Abs(gotSD[i]-want) > 1e-12*want {
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
