package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// mail is a table of two classes with an id, a cost, and labels in the first rows only, or in all.
func mail(rows, labelled int) string {
	var b strings.Builder
	b.WriteString("id,x,z,minutes,spam\n")
	for i := range rows {
		x, z := float64(i*37%101)/25-2, float64(i*53%89)/22-2
		label := ""
		if i < labelled {
			label = map[bool]string{true: "yes", false: "no"}[x+0.5*z+float64(i*29%13-6)/4 > 0]
		}
		fmt.Fprintf(&b, "m%d,%g,%g,%d,%s\n", i, x, z, 1+i%4, label)
	}
	return b.String()
}

// TestActiveRank: the first pick is the row that predict's own f makes the best, rows count from 1,
// kept columns are those of the rows, labelled ones are skipped, costs divide, and CSV says the same
// as JSON.
func TestActiveRank(t *testing.T) {
	model := filepath.Join(t.TempDir(), "m.safetensors")
	must(t, "fit", file(t, "train.csv", mail(60, 60)), "--formula", "spam ~ x + z", "--engine", "convex", "-o", model)
	pool := file(t, "pool.csv", mail(300, 60))
	rank := func(args ...string) []any {
		return decode(t, must(t, append([]string{"active", "rank", model, pool, "-n", "5", "--json"}, args...)...))["candidates"].([]any)
	}
	all := rank("--keep", "id,minutes", "--skip-labelled")
	if len(all) != 5 {
		t.Fatalf("%d candidates", len(all))
	}
	seen := map[int]bool{}
	for k, c := range all {
		c := c.(map[string]any)
		row := int(c["row"].(float64))
		if seen[row] || row <= 60 {
			t.Errorf("row %d is picked twice, or is labelled", row)
		}
		seen[row] = true
		if id := c["keep"].(map[string]any)["id"]; id != fmt.Sprintf("m%d", row-1) {
			t.Errorf("row %d has id %v", row, id)
		}
		if p := c["probability"].(float64); !(p > 0 && p < 1) || (p > 0.5) != (c["mean"].(float64) > 0) {
			t.Errorf("candidate %d: %v", k, c)
		}
	}
	// Uncertainty by itself: the first pick has the probability nearest to one half of all.
	first := rank("--score", "uncertainty")[0].(map[string]any)
	lines := sure(csv.NewReader(strings.NewReader(must(t, "predict", model, pool))).ReadAll())(t)
	nearest := 1.0
	for _, line := range lines[1:] {
		p := sure(strconv.ParseFloat(line[len(line)-1], 64))(t)
		nearest = min(nearest, max(p-0.5, 0.5-p))
	}
	if got := -first["score"].(float64); got > nearest+1e-6 || got < nearest-1e-6 {
		t.Errorf("the first pick is %v off one half, the nearest row %v", got, nearest)
	}
	// Costs: the best by score over cost is at least a quarter of the best score.
	priced := rank("--cost", "minutes", "--keep", "minutes")[0].(map[string]any)
	best := rank("--keep", "minutes")[0].(map[string]any)
	minutes, _ := strconv.ParseFloat(best["keep"].(map[string]any)["minutes"].(string), 64)
	if !(priced["score"].(float64) >= best["score"].(float64)/minutes-1e-12) || priced["score"].(float64) > best["score"].(float64) {
		t.Errorf("by cost %v, without %v", priced, best)
	}
	text, err := csv.NewReader(strings.NewReader(must(t, "active", "rank", model, pool, "-n", "5", "--skip-labelled", "--keep", "id,minutes"))).ReadAll()
	if err != nil || len(text) != 6 || strings.Join(text[0], ",") != "id,minutes,row,score,mean,probability" {
		t.Fatalf("%v: %v", text, err)
	}
	for k, c := range all {
		if want := fmt.Sprint(c.(map[string]any)["row"]); text[k+1][2] != want {
			t.Errorf("pick %d of CSV is row %s, of JSON %s", k, text[k+1][2], want)
		}
	}
	// Every fifth row by chance, said in both forms; by expected reduction of loss as well.
	audited := rank("--audit", "0.2", "--score", "error_reduction")
	for k, c := range audited {
		if by := c.(map[string]any)["audit"]; (by == true) != (k == 4) {
			t.Errorf("pick %d: audit %v", k, by)
		}
	}
	text, err = csv.NewReader(strings.NewReader(must(t, "active", "rank", model, pool, "-n", "5", "--audit", "0.2"))).ReadAll()
	if err != nil || text[0][4] != "audit" || text[1][4] != "0" || text[5][4] != "1" {
		t.Errorf("%v: %v", err, text)
	}
	// Before any label: a pool without the target, and no model.
	var cold strings.Builder
	for _, line := range strings.Split(strings.TrimSpace(mail(200, 0)), "\n") {
		cold.WriteString(line[:strings.LastIndex(line, ",")] + "\n")
	}
	start := decode(t, must(t, "active", "rank", "--cold", file(t, "cold.csv", cold.String()), "--formula", "spam ~ x + z", "-n", "4", "--json"))["candidates"].([]any)
	if len(start) != 4 || start[0].(map[string]any)["score"].(float64) < start[3].(map[string]any)["score"].(float64) {
		t.Errorf("first rows to label: %v", start)
	}
	if o := invoke(t, cold.String(), "active", "rank", "--cold", "-", "--formula", "spam ~ x + z", "-n", "4", "--json", "--keep", "id"); o.code != exitDone || fmt.Sprint(decode(t, o.out)["candidates"].([]any)[0].(map[string]any)["row"]) != fmt.Sprint(start[0].(map[string]any)["row"]) {
		t.Errorf("a pool from a pipe: exit %d: %s%s", o.code, o.out, o.err)
	}
	if o := invoke(t, "", "active", "rank", model, file(t, "train.csv", mail(60, 60)), "--skip-labelled"); o.code != exitDone || !strings.Contains(o.err, "every row has a target") {
		t.Errorf("a pool without an unlabelled row: exit %d: %s", o.code, o.err)
	}
	for _, args := range [][]string{
		{"active", "rank", "--cold", pool, "--skip-labelled", "--target", "spam"}, {"active", "rank", model, pool, "--prior", "normal(variance=1)"},
		{"active", "rank", "--cold", pool, "--target", "spam", "--prior", "normal"}, {"active", "rank", "--cold"},
		{"active", "rank", "--cold", pool, "--target", "spam", "--prior", "normal(variance=1e300)"}, {"active", "rank", "--cold", pool, "--target", "spam", "--family", "gaussian(variance=1e-300)"},
		{"active", "rank", model, pool, "--audit", "1"}, {"active", "simulate", pool, "--audit", "-1", "--target", "spam"},
		{"active", "rank", model, pool, "--score", "best"}, {"active", "rank", model, pool, "-n", "0"}, {"active", "rank", model},
		{"active", "rank", model, pool, "--cost", "minutes", "--score", "random"}, {"active", "guess"},
		{"active", "simulate", pool, "--engine", "exact", "--target", "spam"}, {"active", "simulate", pool, "--plot", "curves.png", "--target", "spam"}, {"active", "simulate", pool, "--scores", "best", "--target", "spam"},
	} {
		if o := invoke(t, "", args...); o.code != exitMisuse {
			t.Errorf("%v: exit %d, want %d: %s", args, o.code, exitMisuse, o.err)
		}
	}
	if o := invoke(t, "", "active", "rank", model, pool, "--cost", "id"); o.code != exitFailed || !strings.Contains(o.err, "cost") {
		t.Errorf("a cost that is no number: exit %d: %s", o.code, o.err)
	}
}

// TestActiveSimulate: the curves have the form that JSON promises.
func TestActiveSimulate(t *testing.T) {
	args := []string{"active", "simulate", file(t, "mail.csv", mail(300, 300)), "--formula", "spam ~ x + z", "--pool", "150", "--initial", "20", "--labels", "60", "--every", "20", "--repeats", "2", "--json"}
	saved, picture := filepath.Join(t.TempDir(), "runs"), filepath.Join(t.TempDir(), "curves.svg")
	one := must(t, append(args, "--checkpoint", saved)...)
	if again := must(t, append(args, "--checkpoint", saved)...); one != again {
		t.Error("from the checkpoint come other bytes")
	}
	found := decode(t, one)
	for _, score := range []string{"information", "random"} {
		curve := found["scores"].(map[string]any)[score].([]any)
		if last := curve[len(curve)-1].(map[string]any); len(curve) != 3 || last["labels"].(float64) != 60 || !(last["error"].(float64) < 0.3) || !(last["log_loss"].(float64) < 0.6) {
			t.Errorf("%s: %v", score, curve)
		}
	}
	if stop := found["stop"].(map[string]any); stop["reason"] == "" {
		t.Errorf("stop %v", stop)
	}
	if text := must(t, append(args[:len(args)-1:len(args)-1], "--plot", picture, "--checkpoint", saved)...); !strings.Contains(text, "drawn   "+picture) {
		t.Errorf("the picture is not told of:\n%s", text)
	}
	if drawn, err := os.ReadFile(picture); err != nil || !strings.HasPrefix(string(drawn), "<svg ") || !strings.Contains(string(drawn), "all 150 labels") {
		t.Errorf("picture %.200s: %v", drawn, err)
	}
	if text := must(t, args[:len(args)-1]...); !strings.Contains(text, "information") || !strings.Contains(text, "\n  all 150") {
		t.Errorf("the table lacks its head or the line of the whole pool:\n%s", text)
	}
}
