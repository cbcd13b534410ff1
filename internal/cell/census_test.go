package cell

import (
	"slices"
	"strconv"
	"testing"
)

// A column is what the shares of its values say, at each limit and one value beyond it; missing values
// count for nothing.
func TestCensusKind(t *testing.T) {
	type given struct {
		numbers int
		texts   []string
	}
	for name, c := range map[string]struct {
		given
		want Kind
		note string
	}{
		"nothing":                  {given{0, []string{"", "NA"}}, Unknown, ""},
		"numbers":                  {given{3, []string{""}}, Numeric, ""},
		"four in five":             {given{8, []string{"low", "high"}}, Numeric, `is a number in 8 of 10 values, else for example "high"`},
		"fewer than four in five":  {given{7, []string{"low", "high"}}, Category, "is a category; 7 of 9 values are numbers"},
		"half beside one text":     {given{2, []string{"low", "low", "NA"}}, Numeric, `is a number in 2 of 4 values, else for example "low"`},
		"less than half":           {given{2, []string{"low", "low", "low"}}, Category, "is a category; 2 of 5 values are numbers"},
		"half beside two texts":    {given{2, []string{"low", "high"}}, Category, "is a category; 2 of 4 values are numbers"},
		"one word of a pair":       {given{0, []string{"yes", "Yes"}}, Boolean, ""},
		"both letters of a pair":   {given{0, []string{"t", "F", ""}}, Boolean, ""},
		"one letter of a pair":     {given{0, []string{"t", "t"}}, Category, ""},
		"words of different pairs": {given{0, []string{"yes", "false"}}, Category, ""},
	} {
		rules := NewRules(nil)
		var census Census
		for i := range c.numbers {
			census.Add([]byte(strconv.Itoa(i)), &rules)
		}
		for _, text := range c.texts {
			census.Add([]byte(text), &rules)
		}
		if kind, note := census.Kind(); kind != c.want || note != c.note {
			t.Errorf("%s: kind %d, note %q; want %d, %q", name, kind, note, c.want, c.note)
		}
	}
}

// Levels of one value have an order too, whatever order they came in.
func TestSortLevels(t *testing.T) {
	for _, levels := range [][]string{{"2", "1.0", "01", "1"}, {"1", "01", "1.0", "2"}} {
		if SortLevels(levels); !slices.Equal(levels, []string{"01", "1", "1.0", "2"}) {
			t.Errorf("sorted: %q", levels)
		}
	}
}

// Cells are compared without the spaces around them, so those around a declared text count for nothing
// either. Standard texts stay missing beside declared ones, as they are written.
func TestMissingTexts(t *testing.T) {
	rules := NewRules([]string{" not known\t", "-1"})
	for _, text := range append(StandardMissing(), "", "not known", "-1") {
		if !rules.IsMissing([]byte(text)) {
			t.Errorf("%q is not missing", text)
		}
		if v, fault := rules.Number([]byte(text), &Notation{}); v == v || fault != "" {
			t.Errorf("%q as a number: %v, %q", text, v, fault)
		}
		if v, fault := rules.Boolean([]byte(text)); v == v || fault != "" {
			t.Errorf("%q as a boolean: %v, %q", text, v, fault)
		}
	}
	for _, text := range []string{"na", "Not known", "-1.0", "0"} {
		if rules.IsMissing([]byte(text)) {
			t.Errorf("%q is missing", text)
		}
	}
}
