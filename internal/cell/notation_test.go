package cell

import (
	"math"
	"strings"
	"testing"
	"time"
)

// A column of the texts, decided under a setting.
func decided(set Setting, texts ...string) Verdict {
	rules := NewRules(nil)
	var c Census
	for _, text := range texts {
		c.Add([]byte(text), &rules)
	}
	return c.Decide(set)
}

// The notation of a column is the one in which all of its texts are numbers; where two are left that mean
// other numbers, nothing is read unless something else tells which.
func TestNotations(t *testing.T) {
	percents, commas, points, months := &Notation{Sign: "%"}, &Notation{Decimal: ","}, &Notation{Decimal: "."}, &Notation{Date: "mdy"}
	for name, c := range map[string]struct {
		set    Setting
		texts  []string
		kind   Kind
		want   Notation
		refuse bool
	}{
		"plain":                      {Setting{}, []string{"1", "2.5", "-3e2"}, Numeric, Notation{}, false},
		"decimal commas":             {Setting{}, []string{"1", "2,5", "1.234,5"}, Numeric, Notation{Decimal: ","}, false},
		"a comma tells of 1,300":     {Setting{}, []string{"1,300", "2,5"}, Numeric, Notation{Decimal: ","}, false},
		"a zero tells of 0,300":      {Setting{}, []string{"1,300", "0,300"}, Numeric, Notation{Decimal: ","}, false},
		"a point tells of 1,300":     {Setting{}, []string{"1,300", "2.5"}, Numeric, Notation{Decimal: "."}, false},
		"two groups tell of 1,300":   {Setting{}, []string{"1,300", "1,300,000"}, Numeric, Notation{Decimal: "."}, false},
		"nothing tells of 1,300":     {Setting{}, []string{"1,300", "800"}, Numeric, Notation{Decimal: "."}, true},
		"others tell of 1,300":       {Setting{Shown: ","}, []string{"1,300", "800"}, Numeric, Notation{Decimal: ","}, false},
		"others contradict":          {Setting{Shown: "both"}, []string{"1,300", "800"}, Numeric, Notation{Decimal: "."}, true},
		"the user tells of 1,300":    {Setting{Stated: ".", Shown: ","}, []string{"1,300", "800"}, Numeric, Notation{Decimal: "."}, false},
		"training tells of 1,300":    {Setting{Trained: commas}, []string{"1,300", "800"}, Numeric, Notation{Decimal: ","}, false},
		"1.300 is plain":             {Setting{}, []string{"1.300", "8.001"}, Numeric, Notation{}, false},
		"1.300 is plain beside 1000": {Setting{}, []string{"1.300", "800", "1000"}, Numeric, Notation{}, false},
		"1.300 is plain beside 8e1":  {Setting{}, []string{"1.300", "800", "8e1"}, Numeric, Notation{}, false},
		"1.300 and 800":              {Setting{}, []string{"1.300", "-800"}, Numeric, Notation{}, true},
		"1.300 and 800 in euros":     {Setting{}, []string{"1.300 EUR", "800 EUR"}, Numeric, Notation{}, true},
		"1.300 and 800, trained":     {Setting{Trained: &Notation{}}, []string{"1.300", "800"}, Numeric, Notation{}, true},
		"1.300 and 800, others tell": {Setting{Shown: "."}, []string{"1.300", "800"}, Numeric, Notation{}, false},
		"the user tells of 1.300":    {Setting{Stated: ","}, []string{"1.300", "800"}, Numeric, Notation{Decimal: ","}, false},
		"and that points are such":   {Setting{Stated: "."}, []string{"1.300", "800"}, Numeric, Notation{Decimal: "."}, false},
		"others tell of 1.300":       {Setting{Shown: ","}, []string{"1.300", "800"}, Numeric, Notation{Decimal: ","}, false},
		"others, and its own":        {Setting{Shown: ","}, []string{"1.300", "8.5"}, Numeric, Notation{}, false},
		"others contradict of 1.300": {Setting{Shown: "both"}, []string{"1.300", "800"}, Numeric, Notation{}, true},
		"both marks":                 {Setting{}, []string{"1,5", "2.5"}, Category, Notation{}, false},
		"apostrophes and spaces":     {Setting{}, []string{"1'234", "12 345", "1\u202f000.5"}, Numeric, Notation{Decimal: "."}, false},
		"currency":                   {Setting{}, []string{"$12.30", "-$7", "8"}, Numeric, Notation{Sign: "$"}, false},
		"currency behind":            {Setting{}, []string{"1.300,50 €", "7 €"}, Numeric, Notation{Decimal: ",", Sign: "€"}, false},
		"code of a currency":         {Setting{}, []string{"CHF 1'300,50", "CHF 7,20"}, Numeric, Notation{Decimal: ",", Sign: "CHF"}, false},
		"code behind":                {Setting{}, []string{"12.50 EUR", "-7.25EUR", "8"}, Numeric, Notation{Sign: "EUR"}, false},
		"two codes":                  {Setting{}, []string{"EUR 5", "USD 6"}, Category, Notation{}, false},
		"letters that are no code":   {Setting{}, []string{"SKU100", "SKU200"}, Category, Notation{}, false},
		"codes without a number":     {Setting{}, []string{"EUR", "EUR"}, Category, Notation{}, false},
		"two currencies":             {Setting{}, []string{"$12.30", "€7"}, Category, Notation{}, false},
		"per cent":                   {Setting{}, []string{"12 %", "7.5%"}, Numeric, Notation{Sign: "%"}, false},
		"per cent beside shares":     {Setting{}, []string{"12 %", "0.5", "0.1", "0.2", "0.3"}, Numeric, Notation{}, false},
		"per cent in training":       {Setting{Trained: percents}, []string{"12", "0.5"}, Numeric, Notation{Sign: "%"}, false},
		"no per cent in training":    {Setting{Trained: &Notation{}}, []string{"12 %"}, Numeric, Notation{}, false},
		"ISO dates":                  {Setting{}, []string{"2024-02-29", "2024/3/1 12:00"}, Numeric, Notation{Date: "ymd"}, false},
		"the day tells":              {Setting{}, []string{"1/2/2024", "31/1/2024"}, Numeric, Notation{Date: "dmy"}, false},
		"the day tells, American":    {Setting{}, []string{"1/2/2024", "1/31/2024"}, Numeric, Notation{Date: "mdy"}, false},
		"dots are German":            {Setting{}, []string{"1.2.2024", "3.4.2024"}, Numeric, Notation{Date: "dmy"}, false},
		"names of months":            {Setting{}, []string{"1-Feb-2024", "2 March 2024"}, Numeric, Notation{Date: "dmy"}, false},
		"nothing tells the day":      {Setting{}, []string{"1/2/2024", "3/4/2024"}, Numeric, Notation{}, true},
		"the user tells the day":     {Setting{Declared: Numeric, Date: "mdy"}, []string{"1/2/2024", "3/4/2024"}, Numeric, Notation{Date: "mdy"}, false},
		"training tells the day":     {Setting{Trained: &Notation{Date: "mdy"}}, []string{"1/2/2024"}, Numeric, Notation{Date: "mdy"}, false},
		"the days contradict":        {Setting{}, []string{"31/1/2024", "1/31/2024"}, Category, Notation{}, false},
		"years of two digits":        {Setting{}, []string{"31/1/24", "30/1/24"}, Category, Notation{}, true},
		"such years, declared":       {Setting{Declared: Category}, []string{"31/1/24", "30/1/24"}, Category, Notation{}, false},
		"nothing":                    {Setting{Shown: ","}, nil, Unknown, Notation{}, false},
		"no number yet":              {Setting{Declared: Numeric, Stated: ","}, nil, Numeric, Notation{Decimal: ","}, false},
		"none of training yet":       {Setting{Trained: percents}, nil, Numeric, Notation{Sign: "%"}, false},
		"none in groups yet":         {Setting{Trained: points}, []string{"12"}, Numeric, Notation{Decimal: "."}, false},
		"no date yet":                {Setting{Declared: Numeric, Date: "dmy"}, nil, Numeric, Notation{Date: "dmy"}, false},
		"no date of training yet":    {Setting{Trained: months, Date: AnyDate}, nil, Numeric, Notation{Date: "mdy"}, false},
		"words":                      {Setting{}, []string{"1,5 rooms", "a"}, Category, Notation{}, false},
		"numbers of articles":        {Setting{}, []string{"044 123 456", "10,00,000", "1.2.3"}, Category, Notation{}, false},
	} {
		v := decided(c.set, c.texts...)
		if v.Kind != c.kind || (v.Refusal != "") != c.refuse || v.Refusal == "" && v.Notation != c.want {
			t.Errorf("%s: kind %d in %+v, refused %q; want kind %d in %+v", name, v.Kind, v.Notation, v.Refusal, c.kind, c.want)
		}
	}
}

// Codes such as zip codes are digits, and some begin with 0. A column of them is a number, since most of its
// values are, but nobody adds codes up: the verdict says so unless the user has declared the column.
func TestCodesAreDoubted(t *testing.T) {
	for name, c := range map[string]struct {
		set   Setting
		texts []string
		want  bool
	}{
		"zip codes":     {Setting{Name: "zip"}, []string{"94110", "01234"}, true},
		"declared":      {Setting{Name: "zip", Declared: Numeric}, []string{"94110", "01234"}, false},
		"in training":   {Setting{Name: "zip", Trained: &Notation{}}, []string{"94110", "01234"}, false},
		"months":        {Setting{Name: "month"}, []string{"01", "12"}, false},
		"shares":        {Setting{Name: "share"}, []string{"0.25", "00.5"}, false},
		"plain numbers": {Setting{Name: "n"}, []string{"0", "1000", "-012"}, false},
	} {
		v := decided(c.set, c.texts...)
		if v.Kind != Numeric || strings.Contains(v.Doubt, "such as 01234: declare it with --types zip=category") != c.want {
			t.Errorf("%s: kind %d, doubt %q", name, v.Kind, v.Doubt)
		}
	}
}

// A decimal point that nothing tells of, and numbers that look like dates, are told with what to type.
func TestReadingsAreTold(t *testing.T) {
	point, date := `"1.234" is read with a decimal point, which nothing in the data tells: --decimal . says so, and --thousands . that`, "is read as numbers, though all look like dates, such as 20231231: declare it with --types d=ymd, or with --types d=number if"
	for name, c := range map[string]struct {
		set         Setting
		texts       []string
		note, doubt string
	}{
		"points":           {Setting{}, []string{"1.234", "2.345"}, point, ""},
		"others tell":      {Setting{Shown: "."}, []string{"1.234", "2.345"}, "", ""},
		"the user tells":   {Setting{Stated: "."}, []string{"1.234", "2.345"}, "", ""},
		"training tells":   {Setting{Trained: &Notation{}}, []string{"1.234", "2.345"}, "", ""},
		"its own":          {Setting{}, []string{"1.234", "2.34"}, "", ""},
		"dates":            {Setting{}, []string{"20231231", "20240229"}, "", date},
		"a day too many":   {Setting{}, []string{"20231231", "20230229"}, "", ""},
		"another century":  {Setting{}, []string{"20231231", "18991231"}, "", ""},
		"a number":         {Setting{}, []string{"20231231", "7"}, "", ""},
		"one after a text": {Setting{}, []string{"n/a", "20231231", "20231231", "20231231", "20231231", "20231231"}, "is a number in 5 of 6", ""},
		"declared numbers": {Setting{Declared: Numeric}, []string{"20231231"}, "", ""},
		"declared dates":   {Setting{Declared: Numeric, Date: "ymd"}, []string{"20231231"}, "", "holds dates"},
		"trained":          {Setting{Trained: &Notation{}}, []string{"20231231"}, "", ""},
	} {
		c.set.Name = "d"
		v := decided(c.set, c.texts...)
		if v.Kind != Numeric || v.Refusal != "" || !strings.HasPrefix(v.Note, c.note) || (v.Note == "") != (c.note == "") || !strings.HasPrefix(v.Doubt, c.doubt) || (v.Doubt == "") != (c.doubt == "") {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// A text in a notation is the number that it spells, or none.
func TestNumbersInNotations(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		n    Notation
		text string
		want float64
	}{
		{Notation{Decimal: ","}, "1.234,5", 1234.5}, {Notation{Decimal: ","}, "-,5", -0.5}, {Notation{Decimal: ","}, "1,5e3", 1500}, {Notation{Decimal: ","}, "1 234", 1234},
		{Notation{Decimal: ","}, "1.5", nan}, {Notation{Decimal: ","}, "1,234,567", nan}, {Notation{Decimal: ","}, "12.34", nan},
		{Notation{Decimal: "."}, "1,234.5", 1234.5}, {Notation{Decimal: "."}, "1,5", nan}, {Notation{Decimal: "."}, "0,300", nan}, {Notation{Decimal: "."}, "1''234", nan},
		{Notation{Sign: "€"}, "€ 5", 5}, {Notation{Sign: "€"}, "-5 €", -5}, {Notation{Sign: "€"}, "5", 5}, {Notation{Sign: "€"}, "$5", nan}, {Notation{Sign: "€"}, "--5", nan},
		{Notation{Sign: "CHF"}, "CHF 5", 5}, {Notation{Sign: "CHF"}, "-5 CHF", -5}, {Notation{Sign: "CHF"}, "EUR 5", nan}, {Notation{Sign: "CHF"}, "CHF", nan}, {Notation{Sign: "CHF"}, "CHFX5", nan},
		{Notation{Sign: "%"}, "5 %", 5}, {Notation{Sign: "%"}, "5", nan}, {Notation{}, "5 %", nan}, {Notation{}, "1,5", nan},
		{Notation{Date: "ymd"}, "1970-01-02", 1}, {Notation{Date: "ymd"}, "1969-12-31T12:00:00Z", -0.5}, {Notation{Date: "ymd"}, "1970-01-02 06:00:00+06:00", 1},
		{Notation{Date: "dmy"}, "2/1/1970", 1}, {Notation{Date: "mdy"}, "1/2/1970 12:00 pm", 1.5}, {Notation{Date: "mdy"}, "Jan 2, 1970", 1}, {Notation{Date: "mdy"}, "1.2.1970", nan},
		{Notation{Date: "ymd"}, "2023-02-29", nan}, {Notation{Date: "ymd"}, "2023-02", nan}, {Notation{Date: "ymd"}, "19700102", 1}, {Notation{Date: "ymd"}, "20230229", nan}, {Notation{Date: "dmy"}, "19700102", nan}, {Notation{Date: "ymd"}, "2023020", nan}, {Notation{Date: "ymd"}, "1970-01-02 25:00", nan},
	} {
		rules := NewRules(nil)
		v, fault := rules.Number([]byte(c.text), &c.n)
		if fault != "" {
			v = nan
		}
		if v != c.want && !(v != v && c.want != c.want) || (fault == "") == (c.want != c.want) {
			t.Errorf("%q in %+v is %v (%s), want %v", c.text, c.n, v, fault, c.want)
		}
	}
}

// Every day of four years is read alike in all orders and forms, and as package time counts.
func TestDates(t *testing.T) {
	for day := range 1462 {
		at := time.Date(2023, 1, 1+day, 0, 0, 0, 0, time.UTC)
		want := float64(at.Unix() / 86400)
		for order, forms := range map[string][]string{
			"ymd": {"2006-01-02", "2006/1/2", "2006-01-02T00:00:00Z", "2006-01-02 00:00:00.000", "2006.01.02"},
			"dmy": {"02.01.2006", "2/1/2006", "2-Jan-2006", "2 January 2006", "02-01-2006 00:00"},
			"mdy": {"01/02/2006", "1-2-2006", "Jan 2, 2006", "January 2 2006", "1/2/2006 3:04 PM"},
		} {
			for _, form := range forms {
				if got, ok := parseDate([]byte(at.Format(form)), order); !ok || got != want {
					t.Fatalf("%s as %s is day %v, %v; want %v", at.Format(form), order, got, ok, want)
				}
			}
		}
	}
}

// The refusal of a text says what would read it.
func TestFaultsInNotations(t *testing.T) {
	for _, c := range []struct {
		n          Notation
		text, want string
	}{
		{Notation{}, "3,14", `"3,14" is not a number with a decimal point: say --decimal ',' if commas are decimal`},
		{Notation{}, "1,300", `"1,300" is not a number with a decimal point: say --thousands ',' if commas separate thousands, or --decimal ',' if they are decimal`},
		{Notation{}, "$12.30", `"$12.30" is in $, as the other numbers are not: write them alike`},
		{Notation{Sign: "%"}, "12", `"12" is not in per cent, as the other numbers are: write them alike`},
		{Notation{Decimal: ","}, "1.5", `"1.5" is not a number with a decimal comma: write them alike`},
		{Notation{Decimal: "."}, "1,5", `"1,5" is not a number with a decimal point: write them alike`},
		{Notation{}, "n/a", `"n/a" is not a number; declare it with --missing n/a`},
		{Notation{Date: "dmy"}, "n/a", `"n/a" is not a date written as day-month-year; declare it with --missing n/a`},
	} {
		if got := c.n.fault([]byte(c.text)); got != c.want {
			t.Errorf("the refusal reads %s, want %s", got, c.want)
		}
	}
}

// FuzzSpellPlain: a finite number as ParseNumber reads it is spelled as the general way spells it.
func FuzzSpellPlain(f *testing.F) {
	for _, text := range []string{
		"0", "-7", "+12", "007", "1.5", "-0.25", ".5", "5.", "1.234", "12.345", "123.456", "1234.567", "0.123", "-1.234", "+123.456", "01.234", "1.23e", "1.2e5", "1.e12", "1.234e5",
		"1e5", "1E-7", "12e3", "123e456", "100000000000000000000.5", "1.0000", "1.000", "00.000", "1234567890123456789012345678901234567890", "1.34567890123456789012345678901234567890123",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, finite, ok := ParseNumber([]byte(text)); !ok || !finite {
			return
		}
		if got, want := spellPlain([]byte(text)), spell([]byte(text)); got != want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	})
}

// TestPartsOfDates: the hour is a part of dates that have a time of day alone.
func TestPartsOfDates(t *testing.T) {
	for text, timed := range map[string]bool{"2024-02-29": false, "2024-02-29 12:30": true, "2024-02-29 00:00": false} {
		v := decided(Setting{Name: "a day"}, "2023-12-31", text)
		if strings.Contains(v.Doubt, "hour(") != timed || !strings.Contains(v.Doubt, "onehot(") {
			t.Errorf("%s: %s", text, v.Doubt)
		}
	}
}
