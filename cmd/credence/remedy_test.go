package main

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	flagged  = `--[a-z-]+ (?:'[^']*'(?:\\''[^']*')*|[^\s;:'")]+)`
	remedy   = regexp.MustCompile(flagged + `(?: ` + flagged + `)*`)
	remedial = regexp.MustCompile(flagged)
)

// remediesOf are the flags with values that a message says to add, those of each remedy together, in the order in which
// it has them.
func remediesOf(message string) (found [][]string) {
	for _, text := range remedy.FindAllString(message, -1) {
		var args []string
		for _, one := range remedial.FindAllString(text, -1) {
			flag, value, _ := strings.Cut(one, " ")
			if strings.HasPrefix(value, "'") {
				value = strings.ReplaceAll(value[1:len(value)-1], `'\''`, "'")
			} else if len(value) > 1 {
				value = value[:1] + strings.TrimRight(value[1:], ".,")
			}
			args = append(args, flag, value)
		}
		found = append(found, args)
	}
	return found
}

// Each remedy that an error has is typed: every one of them has another outcome, and for most it is success.
func TestRemediesAreExecuted(t *testing.T) {
	number := func(i int) int { return i * i % 37 }
	csv := func(header string, row func(i int) string) string {
		return repeat(header+"\n", 60, func(i int) string { return row(i) + "\n" })
	}
	for name, c := range map[string]struct {
		content string
		args    []string
		want    int  // remedies in the message
		fails   bool // a remedy leads to another failure, which has a remedy of its own
	}{
		"a text that is no number": {csv("x,y", func(i int) string {
			return []string{"1", "2", "3.5", "7", "n/a", "8", "9", "4", "5", "6"}[i%10] + "," + string(rune('0'+i%7))
		}), nil, 2, true},
		"several texts": {csv("x,y", func(i int) string {
			return []string{"1", "2", "3.5", "7", "low end", "8", "9", "4", "5", "6", "?"}[i%11] + "," + string(rune('0'+i%7))
		}), nil, 2, true},
		"two columns": {csv("x,z,y", func(i int) string {
			return []string{"1", "2", "3", "7", "?", "8", "9"}[i%7] + "," + []string{"1", "2", "3", "7", "b b", "8"}[i%6] + ",1" + string(rune('0'+i%7))
		}), nil, 2, true},
		"commas that may be either": {csv("x;y", func(i int) string { return "1,3" + string(rune('0'+i%10)) + "0;" + string(rune('0'+i%7)) }), nil, 2, false},
		"points that may be either": {csv("x;z;w;y", func(i int) string {
			return "1.3" + string(rune('0'+i%10)) + "0;1,5;2." + string(rune('0'+i%7)) + ";" + string(rune('0'+i%7))
		}), nil, 2, false},
		"dates that may be either": {csv("t,y", func(i int) string { return "1/" + string(rune('1'+i%9)) + "/2024," + string(rune('0'+i%7)) }), nil, 2, false},
		"years of two digits":      {csv("t,y", func(i int) string { return "1/" + string(rune('1'+i%9)) + "/24," + string(rune('0'+i%7)) }), nil, 1, false},
		"a missing input": {csv("x,y", func(i int) string {
			if i%9 == 2 {
				return ",3"
			}
			return string(rune('0'+number(i)%10)) + "," + string(rune('0'+i%7))
		}), nil, 3, false},
		"a missing target": {csv("x,y", func(i int) string {
			if i%9 == 2 {
				return "3,"
			}
			return string(rune('0'+number(i)%10)) + "," + string(rune('0'+i%7))
		}), nil, 1, false},
		"both missing": {csv("x,y", func(i int) string {
			return []string{"", "1", "2", "3", "4", "5", "6"}[i%7] + "," + []string{"", "1", "2", "3", "4", "5", "6", "7"}[i%8]
		}), nil, 2, false},
		"a part of what is no date": {csv("x,y", func(i int) string { return string(rune('0'+i%10)) + "," + string(rune('0'+i%7)) }), []string{"-f", "y ~ month(x)"}, 1, true},
		"texts of marks": {csv("x,z,y", func(i int) string {
			x, z := strconv.Itoa(i), strconv.Itoa(i*i)
			if i%5 == 0 {
				x = []string{`"a;b,c"`, `"1""2"`, "'q", `"it's, or x,y"`}[i/5%4]
			}
			if i%6 == 1 {
				z = []string{"mean", "text=5", "error", "drop-target", "été"}[i/6%5]
			}
			return x + "," + z + ",1" + string(rune('0'+i%7))
		}), nil, 2, true},
		"thousands, or points":      {csv("x;y", func(i int) string { return []string{"2.701;5", "1.533;3", "964;1", "3.100;6"}[i%4] }), nil, 2, false},
		"Windows-1252":              {"x,y\n" + strings.Repeat("ascii,1\nother,2\n", 5000) + "caf\xe9,2\n", nil, 1, false},
		"one column after all":      {"x;y\n1;2\n2;3\n3;5\n", []string{"--delimiter", ",", "--target", "y"}, 1, false},
		"another type of delimiter": {csv("x,y", func(i int) string { return string(rune('0'+i%10)) + "," + string(rune('0'+i%7)) }), []string{"--types", "x=day"}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			command := append([]string{"fit", file(t, "t.csv", c.content)}, c.args...)
			if len(c.args) == 0 {
				command = append(command, "--target", "y")
			}
			first := invoke(t, "", command...)
			found := remediesOf(first.err)
			if first.code == exitDone || len(found) != c.want {
				t.Fatalf("exit %d, remedies %q: %s", first.code, found, first.err)
			}
			for _, remedy := range found {
				again := command
				if remedy[0] == "--delimiter" { // in the place of the one that was stated
					again = []string{"fit", command[1], "--target", "y"}
				}
				o := invoke(t, "", append(again[:len(again):len(again)], remedy...)...)
				// what is declared is missing now
				declared := remedy[0] != "--missing" || strings.Contains(o.err, "missing values in")
				if o.code != exitDone && (!c.fails || o.err == first.err || !declared) {
					t.Errorf("%s: exit %d: %s", remedy, o.code, o.err)
				}
			}
		})
	}
}

// The remedies of a model that is applied to rows which training did not have.
func TestRemediesOfPredictAreExecuted(t *testing.T) {
	train := repeat("x,c,y\n", 60, func(i int) string {
		return strings.Join([]string{string(rune('0' + i%10)), []string{"u", "v"}[i%2], string(rune('0' + i%7))}, ",") + "\n"
	})
	model := filepath.Join(t.TempDir(), "m")
	must(t, "fit", file(t, "t.csv", train), "--target", "y", "-o", model, "-q")
	for content, want := range map[string]int{
		"x,c\n1,w\n":       1, // a level that training did not see
		"x,c\n1,u\n?,v\n":  1, // a text that is no number, then a missing value
		"x,c\n1,u\nNA,v\n": 1,
	} {
		path := file(t, "u.csv", content)
		command := []string{"predict", model, path}
		first := invoke(t, "", command...)
		for step := 0; step < 3 && first.code != exitDone; step++ {
			found := remediesOf(first.err)
			if len(found) != want {
				t.Fatalf("%q: exit %d, remedies %q: %s", content, first.code, found, first.err)
			}
			command = append(command, found[0]...)
			again := invoke(t, "", command...)
			if again.code != exitDone && again.err == first.err {
				t.Fatalf("%q: %v has the same outcome: %s", content, command, again.err)
			}
			first = again
		}
		if first.code != exitDone {
			t.Errorf("%q: no remedy ends it: %s", content, first.err)
		}
	}
}
