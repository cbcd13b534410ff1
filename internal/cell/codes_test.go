package cell

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestCodes: what whole numbers look like goes by their values, how often each comes, gaps between them, and their
// name.
func TestCodes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	channels := make([]int, 150) // with gaps
	for k := range channels {
		channels[k] = 7*k + rng.IntN(7)
	}
	for name, c := range map[string]struct {
		draw func(i int) string
		want string
	}{
		"yr":        {func(i int) string { return fmt.Sprint(1998 + i%9) }, "years"},
		"century":   {func(i int) string { return fmt.Sprint(1900 + i%201) }, "years"},
		"one year":  {func(int) string { return "2024" }, ""},
		"hour":      {func(i int) string { return fmt.Sprint(i % 24) }, "codes"},
		"flag":      {func(i int) string { return fmt.Sprint(i % 2) }, ""},
		"share":     {func(i int) string { return fmt.Sprintf("%g", float64(i%8)/4) }, ""},
		"below":     {func(i int) string { return fmt.Sprint(i%9 - 4) }, ""},
		"rare":      {func(i int) string { return fmt.Sprint(i / 4 % 400) }, ""},
		"age":       {func(i int) string { return fmt.Sprint(18 + i%80) }, ""},
		"channel":   {func(i int) string { return fmt.Sprint(channels[i%len(channels)]) }, "codes"},
		"rounded":   {func(i int) string { return fmt.Sprint(500 * (i % 90)) }, ""},
		"userId":    {func(i int) string { return fmt.Sprint(1000 + 3*i) }, "identifiers"},
		"post code": {func(i int) string { return fmt.Sprint(10000 + i*i%70000) }, "identifiers"},
		"paid":      {func(i int) string { return fmt.Sprint(1000 + 3*i) }, ""},
		"words":     {func(i int) string { return []string{"1", "2", "3", "x"}[i%4] }, ""},
		"gaps":      {func(i int) string { return []string{"1", "2", "3", ""}[i%4] }, "codes"},
	} {
		var census Census
		rules := NewRules(nil)
		for i := range 2000 {
			census.Add([]byte(c.draw(i)), &rules)
		}
		if got := census.Codes(name); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
