package main

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// TestEvaluateByGroups: a column beside the model makes groups whose figures are those of files with their rows alone,
// of models of fit and of stream; refusals say what to name.
func TestEvaluateByGroups(t *testing.T) {
	var all strings.Builder
	alone := map[string]*strings.Builder{"north": {}, "south": {}}
	all.WriteString("y,x,b,region\n")
	for _, b := range alone {
		b.WriteString("y,x,b,region\n")
	}
	for i := range 90 {
		x := math.Sin(float64(i) * 1.3)
		region := []string{"north", "south"}[i%3%2]
		line := fmt.Sprintf("%.4f,%.4f,%d,%s\n", x+math.Cos(float64(i)*2.7), x, i*7%11%2, region)
		all.WriteString(line)
		alone[region].WriteString(line)
	}
	data := file(t, "all.csv", all.String())
	model, stream := file(t, "m.safetensors", ""), file(t, "s.safetensors", "")
	must(t, "fit", data, "--formula", "y ~ x", "-o", model, "-q")
	must(t, "stream", data, "--formula", "b ~ x", "-o", stream, "-q")
	for _, path := range []string{model, stream} {
		groups := decode(t, must(t, "evaluate", path, data, "--by", "region", "--json"))["groups"].([]any)
		for k, region := range []string{"north", "south"} {
			g := groups[k].(map[string]any)
			own := decode(t, must(t, "evaluate", path, file(t, region+".csv", alone[region].String()), "--json"))
			if got := g["by"].(map[string]any)["region"]; got != region || len(groups) != 2 {
				t.Fatalf("group %d is %v", k, got)
			}
			delete(g, "by")
			for key, value := range g {
				if fmt.Sprint(value) != fmt.Sprint(own[key]) {
					t.Errorf("%s: %s is %v, and of the rows alone %v", region, key, value, own[key])
				}
			}
			if len(g) < 10 {
				t.Errorf("%s has %v", region, g)
			}
		}
	}
	shown := must(t, "evaluate", model, data, "--by", "region", "--reliability")
	for _, want := range []string{"\nregion  rows  nlpd", "\nnorth   60 ", "\nsouth   30 ", "observed  rows", "\ncrps      ", "\nwis       ", "\ncalibration_slope ", "\npit_p     "} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is missing in\n%s", want, shown)
		}
	}
	// What is shown of groups and bins are the figures of JSON.
	result := decode(t, must(t, "evaluate", model, data, "--by", "region", "--reliability", "--json"))
	spaced := strings.Join(strings.Fields(shown), " ")
	for _, each := range result["groups"].([]any) {
		g := each.(map[string]any)
		want := fmt.Sprintf("%v %v %.5g %.4g %.4g %.3g %.1f %.2g ", g["by"].(map[string]any)["region"], g["rows"], g["nlpd"], g["rmse"], g["crps"], g["calibration_slope"],
			100*g["coverage"].(map[string]any)["0.9"].(float64), g["pit_p"])
		if !strings.Contains(spaced+" ", want) {
			t.Errorf("%q is missing in\n%s", want, shown)
		}
	}
	for _, each := range result["reliability"].(map[string]any)["bins"].([]any) {
		b := each.(map[string]any)
		if want := fmt.Sprintf(" %.4g to %.4g %.4g %.4g %v ", b["from"], b["to"], b["predicted"], b["observed"], b["weight"]); !strings.Contains(spaced, want) {
			t.Errorf("%q is missing in\n%s", want, shown)
		}
	}
	if o := invoke(t, "", "evaluate", model, data, "--by", "nowhere"); o.code != exitFailed || !strings.Contains(o.err, `has no column "nowhere": its columns are y, x, b, region`) {
		t.Errorf("code %d, %s", o.code, o.err)
	}
}
