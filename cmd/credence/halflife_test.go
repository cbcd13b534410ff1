package main

import (
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The half-life is by dates or by numbers, goes on after an interruption, and is refused where its unit is not known.
func TestStreamHalfLife(t *testing.T) {
	day := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	log := func(stamp func(i int) string) string {
		return file(t, "log.csv", repeat("ts,site,y\n", 2000, func(i int) string {
			return fmt.Sprintf("%s,s%d,%d\n", stamp(i), i%9, label(i*(1+i/1000)))
		}))
	}
	dates := log(func(i int) string { return day.Add(time.Duration(i) * time.Hour).Format("2006-01-02 15:04") })
	hours := log(func(i int) string { return fmt.Sprint(i) })
	open := log(func(int) string { return "03/04/2024" })
	folder := t.TempDir()
	losses := map[string]float64{}
	for name, args := range map[string][]string{
		"dates": {dates, "--half-life", "4d", "--time", "ts"},
		"hours": {hours, "--half-life", "96", "--time", "ts"},
		"rows":  {dates, "-f", "y ~ site", "--engine", "sep(forget=96)"},
		"never": {dates, "-f", "y ~ site"},
	} {
		out := must(t, append([]string{"stream", "--target", "y", "--prior", "spikeslab(inclusion=0.5, slab=1)", "--json", "-o", filepath.Join(folder, name)}, args...)...)
		_, loss, _ := strings.Cut(out, `"log_loss":`)
		number, _, _ := strings.Cut(loss, ",")
		var err error
		if losses[name], err = strconv.ParseFloat(number, 64); err != nil {
			t.Fatal(err)
		}
	}
	// An hour is no round part of a day in floating point, by which evidence may halve a row later.
	if losses["hours"] != losses["rows"] || !(math.Abs(losses["dates"]-losses["rows"]) <= 1e-4) || math.Abs(losses["dates"]-losses["never"]) < 1e-3 {
		t.Errorf("log losses %v", losses)
	}
	if o := invoke(t, "", "predict", filepath.Join(folder, "dates"), file(t, "new.csv", "site\ns1\n")); o.code != exitDone {
		t.Errorf("a model that forgot by time wants times: %s", o.err)
	}
	for _, c := range []struct {
		want string
		code int
		args []string
	}{
		{"state both", exitMisuse, []string{dates, "--half-life", "7d"}},
		{"state both", exitMisuse, []string{dates, "--time", "ts"}},
		{"is no time: write for example 7d", exitMisuse, []string{dates, "--half-life", "-7d", "--time", "ts"}},
		{"whose unit is not known", exitFailed, []string{hours, "--half-life", "7d", "--time", "ts"}},
		{"the column holds texts, which are no times: name a column of dates, as ts", exitFailed, []string{dates, "--half-life", "7d", "--time", "site"}},
		{"name a column of numbers, or of dates", exitFailed, []string{hours, "--half-life", "7", "--time", "site"}},
		{"say --types ts=dmy or --types ts=mdy", exitFailed, []string{open, "--half-life", "7d", "--time", "ts"}},
		{"there is no such column", exitFailed, []string{dates, "--half-life", "7d", "--time", "when"}},
		{"say the same", exitMisuse, []string{dates, "--half-life", "7d", "--time", "ts", "--engine", "sep(half_life=7)"}},
		{"say the same", exitMisuse, []string{dates, "--prune", "3", "--engine", "sep(features=7)"}},
		{`no argument "half_life"`, exitMisuse, []string{dates, "--half-life", "7d", "--time", "ts", "--engine", "ftrl"}},
	} {
		if o := invoke(t, "", append([]string{"stream", "--target", "y"}, c.args...)...); o.code != c.code || !strings.Contains(o.err, c.want) {
			t.Errorf("%v: exit %d: %s", c.args, o.code, o.err)
		}
	}
	const warning = "holds dates, and is read as days"
	for formula, told := range map[string]bool{"y ~ site": false, "y ~ site + ts": true, "y ~ .": false} {
		if o := invoke(t, "", "stream", dates, "-f", formula, "--half-life", "7d", "--time", "ts"); o.code != exitDone || strings.Contains(o.err, warning) != told {
			t.Errorf("%s: exit %d: %s", formula, o.code, o.err)
		}
	}
	monday := filepath.Join(folder, "monday")
	must(t, "stream", dates, "--target", "y", "--half-life", "7d", "--time", "ts", "-o", monday)
	if o := invoke(t, "", "stream", dates, "--from", monday); o.code != exitDone || strings.Contains(o.out, "numbers") || strings.Contains(o.err, "column ts") {
		t.Errorf("exit %d: %s%s", o.code, o.out, o.err)
	}
	must(t, "stream", open, "--target", "y", "--half-life", "7d", "--time", "ts", "--types", "ts=dmy")
	if out := must(t, "stream", dates, "--target", "y", "--prune", "5"); !strings.Contains(out, "engine sep(features=5)") {
		t.Errorf("--prune: %s", out)
	}
	late := log(func(i int) string { return fmt.Sprint(i - i%7*3) })
	if o := invoke(t, "", "stream", late, "--target", "y", "--half-life", "50", "--time", "ts"); o.code != exitDone || !strings.Contains(o.err, "times of rows that lie before the row ahead of them: 1714") {
		t.Errorf("exit %d: %s", o.code, o.err)
	}
}
