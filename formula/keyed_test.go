package formula

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature/keyed"
	"github.com/credence-ml/credence/table"
)

func clicks() []table.Column {
	return []table.Column{
		{Name: "seen", Notation: credence.Notation{Date: "2006-01-02 15:04"}},
		{Name: "click"}, {Name: "price"}, {Name: "site", Kind: credence.Category}, {Name: "ad", Kind: credence.Category},
		{Name: "new", Kind: credence.Boolean}, {Name: "late", Unknown: true}, {Name: "w"},
	}
}

// outline is a plan in a line: its terms by their inputs in the order of crossing.
func outline(p *keyed.Plan) string {
	var terms []string
	if p.NoIntercept {
		terms = append(terms, "0")
	}
	for _, t := range p.Terms {
		var inputs []string
		for _, k := range t.Order {
			in := p.Inputs[t.Inputs[k]]
			text := in.Expr.String()
			if in.Role != keyed.AsValue {
				text += "/" + string(in.Role)
			}
			inputs = append(inputs, text)
		}
		text := strings.Join(inputs, ":")
		if t.Power > 1 {
			text += "^" + string(rune('0'+t.Power))
		}
		if t.Bits > 0 {
			text += " bits"
		}
		terms = append(terms, text)
	}
	for _, bag := range p.Bags {
		text := "." + strings.Join(append([]string{""}, bag.Except...), "-")
		if bag.Bits > 0 {
			text += " bits"
		}
		terms = append(terms, text)
	}
	return strings.Join(terms, " ")
}

func TestKeyedPlans(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"click ~ . - seen", "price site ad new late w"},
		{"click ~ . - w - seen + weight(w)", "price site ad new late"},
		{"click ~ hash(. - seen)", "price/level site/level ad/level new/level late/level w/level"},
		{"click ~ hash(. - seen, bits=22)", "price/level bits site/level bits ad/level bits new/level bits late/level bits w/level bits"},
		{"click ~ site + hash(site:ad) + site:ad", "site ad/level:site/level ad:site"},
		{"click ~ ad:site + site:ad", "ad:site"},
		{"click ~ hash(site * ad)", "site/level ad/level ad/level:site/level"},
		{"click ~ 0 + log(price) + poly(price, 2) + onehot(late)", "0 log(price) price price^2 late/level"},
		{"click ~ . - w - seen + hash(site)", "price ad new late site/level"},
		{"click ~ onehot(hour(seen)) + hash(month(seen)) + hour(seen)", "hour(seen) hour(seen)/level month(seen)/level"},
		{"click ~ price^2 + (price > 3):late + factor(site) + log1p(clip(price, 0, 9))", "square(price) log1p(clip(price, 0, 9)) (price > 3):late site/level"},
		{"click ~ onehot(day(seen)) + yearday(seen)", "yearday(seen) day(seen)/level"},
		{"click ~ hash(site):price", "price:site/level"},
		{"click ~ hash(site)*price + hash(site)", "price site/level price:site/level"},
		{"click ~ hash(site) + hash(site)*price", "price site/level price:site/level"},
		{"click ~ price:hash(site, ad)", "price:site/level ad/level:price"},
		{"click ~ hash(weekday(seen)):onehot(site):price", "price:site:weekday(seen)/level"},
	} {
		_, plan, err := ForRows(c.text, clicks(), false, false, Options{})
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if got := outline(plan); got != c.want {
			t.Errorf("%s is %s, want %s", c.text, got, c.want)
		}
		text, err := json.Marshal(plan)
		var again keyed.Plan
		if err == nil {
			err = json.Unmarshal(text, &again)
		}
		if err != nil || outline(&again) != c.want || again.Validate() != nil {
			t.Errorf("%s: after storing %s, %v, %v", c.text, outline(&again), err, again.Validate())
		}
	}
}

func TestKeyedSparse(t *testing.T) {
	label := []table.Column{{Name: "label"}}
	for _, c := range []struct {
		text       string
		namespaces bool
		want       string
	}{
		{"", false, "."},
		{". - x7", false, ".-x7"},
		{"x7 + log(x9)", false, "x7/index log(x9)/index"},
		{"hash(., bits=20)", false, ". bits"},
		{"", true, "."},
		{". - ads + hash(user:ads)", true, "ads/namespace:user/namespace .-ads"},
		{"ads:ads + hash(user, bits=9)", true, "ads/namespace:ads/namespace user/namespace bits"},
		{". + ads", true, "."},
	} {
		_, plan, err := ForRows(c.text, label, true, c.namespaces, Options{})
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
		} else if got := outline(plan); got != c.want {
			t.Errorf("%s is %s, want %s", c.text, got, c.want)
		}
	}
}

// Online engines see a row once: what needs all rows is refused, with or without a table.
func TestKeyedRefusals(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"click ~ center(price)", "center(price): center does not act on one row alone: use log, sqrt, exp or square: center and scale take the mean of all rows, which nobody knows before the last: use fit, or make the column before"},
		{"click ~ price + rbf(price)", "rbf is of drawn features, which no online engine learns: use fit"},
		{"click ~ s(price)", "s takes its knots from all rows, which nobody has before the last: use fit"},
		{"click ~ hsgp(price)", "hsgp takes what it covers from all rows, which nobody has before the last: use fit"},
		{"click ~ radial(price, centres=3)", "radial takes its centres from all rows, which nobody has before the last: use fit"},
	} {
		_, _, err := ForRows(c.text, clicks(), false, false, Options{})
		plan, open := Check(c.text, Options{})
		if open == nil {
			_, open = plan.Keyed(func(string) (credence.Kind, bool) { return AnyKind, true })
		}
		for _, err := range []error{err, open} {
			if err == nil || !strings.HasSuffix(err.Error(), c.want) {
				t.Errorf("%s: %v, want %s", c.text, err, c.want)
			}
		}
	}
}

// What a formula says twice is one term, and it says so.
func TestTermsWrittenTwice(t *testing.T) {
	for text, want := range map[string]string{
		"price ~ lat + lat":                       "lat stands twice in the formula: it is one term",
		"price ~ lat + zip - zip":                 "zip is written and taken out by a minus sign: it is not in the model",
		"price ~ lat:lon + lon:lat":               "lon:lat stands twice in the formula: it is one term",
		"price ~ rbf(lat, n=3) + rbf(lat, n=3)":   "rbf(lat, n=3) stands twice in the formula: it is one term",
		"price ~ log(lat) + log(lat) + log(lat)":  "log(lat) stands twice in the formula: it is one term",
		"price ~ . + lat":                         "",
		"price ~ lat * lon + lat":                 "",
		"price ~ (lat + lon + rooms):(lat + lon)": "",
	} {
		plan, err := Parse(text, houses(1).Schema(), Options{})
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if got := strings.Join(plan.Warnings, "; "); got != want {
			t.Errorf("%s warns %q, want %q", text, got, want)
		}
	}
}
