package cell

import "testing"

// A comma is not taken for a decimal one where digits are grouped by threes: that would make
// 1,300 a thousand times smaller without a word.
func TestDisguised(t *testing.T) {
	for _, c := range []struct {
		text  string
		way   Disguise
		plain string
	}{
		{"1,5", DecimalComma, "1.5"}, {"-2,25", DecimalComma, "-2.25"}, {",5", DecimalComma, ".5"}, {"1,2345", DecimalComma, "1.2345"},
		{"0,125", DecimalComma, "0.125"}, {"1234,567", DecimalComma, "1234.567"}, {"1,5e3", DecimalComma, "1.5e3"},
		{"1,300", Grouped, "1300"}, {"-12,345", Grouped, "-12345"}, {"999,000", Grouped, "999000"},
		{"1,234,567", Thousands, "1234567"}, {"1,300.50", Thousands, "1300.50"}, {"1'234'567", Thousands, "1234567"}, {"1’234.5", Thousands, "1234.5"},
		{"12 345", Thousands, "12345"}, {"12\u00a0345", Thousands, "12345"}, {"1.234.567", Thousands, "1234567"}, {"1.300,50", Thousands, "1300.50"},
		{"$12.30", Sign, "12.30"}, {"12.30 €", Sign, "12.30"}, {"-$1,300", Sign, "-1300"}, {"£ 5", Sign, "5"}, {"12 %", Sign, "12"}, {"1,5€", Sign, "1.5"},
		{"1.300", NoNumber, ""}, {"1300", NoNumber, ""}, {"", NoNumber, ""}, {"$", NoNumber, ""}, {"%", NoNumber, ""}, {"1,2,3", NoNumber, ""}, {"1,2345,678", NoNumber, ""},
		{"10,00,000", NoNumber, ""}, {"x,5", NoNumber, ""}, {"a", NoNumber, ""}, {"12,", DecimalComma, "12."}, {"1''234", NoNumber, ""}, {"--1,300", NoNumber, ""},
		{"12 rooms", NoNumber, ""}, {"1 2 3", NoNumber, ""},
	} {
		way, plain := Disguised([]byte(c.text))
		if way != c.way || plain != c.plain {
			t.Errorf("%q is %d, %q, want %d, %q", c.text, way, plain, c.way, c.plain)
		}
	}
	for text, want := range map[string]string{
		"3,14":      `"3,14" is not a number: write decimals with a point (3.14)`,
		"1,300":     `"1,300" is not a number: leave out commas that separate thousands (1300), or write decimals with a point (1.300)`,
		"1'234'567": `"1'234'567" is not a number: leave out what separates thousands (1234567)`,
		"$12.30":    `"$12.30" is not a number: leave out signs of currency or per cent and what separates thousands (12.30)`,
		"n/a":       `"n/a" is not a number; declare it with --missing n/a`,
	} {
		if got := notNumberFault([]byte(text)); got != want {
			t.Errorf("the refusal reads %s, want %s", got, want)
		}
	}
}
