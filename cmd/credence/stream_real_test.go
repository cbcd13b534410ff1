package main

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/credence-ml/credence/internal/conform/published"
	"github.com/credence-ml/credence/internal/study"
)

// unzipped returns the text of a file of the data folder, which need not be there.
func unzipped(t *testing.T, parts ...string) string {
	t.Helper()
	text := sure(io.ReadAll(published.Open(t, parts...)))(t)
	return string(text)
}

// On click and access logs the log loss of sep on rows held out is no more than 0.5 % above that of the best
// baseline, each of which finds its own rate or variance, with few features. So is the progressive one, but on two
// logs: it is of rows before the first ones are learned again, which baselines do not need.
func TestStreamOnRealLogs(t *testing.T) {
	for _, c := range []struct {
		folder, formula string
		progressive     float64
	}{
		{"talkingdata_sample", "is_attributed ~ hash(.) - ip - click_time", 1.04},
		{"avazu_sample", "click ~ hash(.) - id", 1.005},
		{"criteo_sample", "label ~ hash(.)", 1.005},
		{"amazon_access", "ACTION ~ hash(.)", 1.006},
		{"ipinyou_sample", "", 1.005},
	} {
		if !study.Long() && c.folder != "criteo_sample" {
			continue
		}
		var train, test string
		if c.formula == "" {
			train, test = file(t, "train.svm", unzipped(t, c.folder, "ipinyou.gz")), file(t, "test.svm", unzipped(t, c.folder, "ipinyou.t.gz"))
		} else {
			lines := strings.Split(strings.TrimSpace(unzipped(t, c.folder, c.folder+".csv.gz")), "\n")
			parts := [2][]string{{lines[0]}, {lines[0]}}
			for i, line := range lines[1:] {
				part := 0
				if i%5 == 4 {
					part = 1
				}
				parts[part] = append(parts[part], line)
			}
			train, test = file(t, "train.csv", strings.Join(parts[0], "\n")), file(t, "test.csv", strings.Join(parts[1], "\n"))
		}
		model := filepath.Join(t.TempDir(), "m")
		progressive, held, selected := map[string]float64{}, map[string]float64{}, 0.0
		for _, engine := range []string{"sep", "ftrl", "adpredictor", "sgd"} {
			fit, _ := lastLine(t, must(t, "stream", train, "--formula", c.formula, "--engine", engine, "-o", model, "--json", "--report", "0"))
			progressive[engine] = number(t, fit, "log_loss")
			held[engine] = number(t, decode(t, must(t, "evaluate", model, test, "--json")), "log_loss")
			if engine == "sep" {
				selected = number(t, fit, "selected") / number(t, fit, "features")
			}
		}
		for what, losses := range map[string]map[string]float64{"progressive": progressive, "held out": held} {
			best := min(losses["ftrl"], losses["adpredictor"], losses["sgd"])
			t.Logf("%s, %s: %.5v", c.folder, what, losses)
			limit := 1.005
			if what == "progressive" {
				limit = c.progressive
			}
			if losses["sep"] > limit*best {
				t.Errorf("%s: %s log loss %.5f, the best baseline has %.5f", c.folder, what, losses["sep"], best)
			}
		}
		if selected > 0.1 {
			t.Errorf("%s: %.1f %% of the features are selected", c.folder, 100*selected)
		}
	}
}
