package chart

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var noNumber = regexp.MustCompile(`NaN|Inf|e\+`)

// drawn returns a picture, which is one of well-formed SVG without attributes style and numbers that are none, whose
// texts and boxes stand within it.
func drawn(t *testing.T, c *Chart) string {
	t.Helper()
	var out bytes.Buffer
	if n, err := c.WriteTo(&out); err != nil || n != int64(out.Len()) {
		t.Fatalf("%d bytes of %d: %v", n, out.Len(), err)
	}
	var size [2]float64
	for d := xml.NewDecoder(bytes.NewReader(out.Bytes())); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, out.String())
		}
		if e, is := token.(xml.StartElement); is {
			for _, a := range e.Attr {
				if k := slices.Index([]string{"width", "height"}, a.Name.Local); k >= 0 && e.Name.Local == "svg" {
					size[k] = value(a.Value)
				}
				if k := slices.Index([]string{"x", "y"}, a.Name.Local); k >= 0 && !(value(a.Value) >= 0 && value(a.Value) <= size[k]) {
					t.Fatalf("%s stands at %s=%s of a picture of %v:\n%s", e.Name.Local, a.Name.Local, a.Value, size, out.String())
				}
				if a.Name.Local == "style" || strings.HasPrefix(a.Name.Local, "on") || noNumber.MatchString(a.Value) && a.Name.Local != "font-family" {
					t.Fatalf("attribute %s=%q in\n%s", a.Name.Local, a.Value, out.String())
				}
			}
		}
	}
	var again bytes.Buffer
	if _, err := c.WriteTo(&again); err != nil || !bytes.Equal(out.Bytes(), again.Bytes()) {
		t.Fatalf("another picture of the same: %v", err)
	}
	return out.String()
}

func value(s string) float64 { v, _ := strconv.ParseFloat(s, 64); return v }

// ticksOf returns the pixels and the numbers of the ticks of the axes of the only panel.
func ticksOf(t *testing.T, text string) (across, up [][2]float64) {
	t.Helper()
	for _, m := range regexp.MustCompile(`d="M([\d.]+) [\d.]+V[\d.]+" class="grid" stroke="[^"]*"/>\n<text class="dim" [^>]*>([^<]+)<`).FindAllStringSubmatch(text, -1) {
		across = append(across, [2]float64{value(m[1]), value(m[2])})
	}
	for _, m := range regexp.MustCompile(`d="M[\d.]+ ([\d.]+)H[\d.]+" class="grid" stroke="[^"]*"/>\n<text class="dim" [^>]*>([^<]+)<`).FindAllStringSubmatch(text, -1) {
		up = append(up, [2]float64{value(m[1]), value(m[2])})
	}
	if len(across) < 2 || len(up) < 2 {
		t.Fatalf("ticks %v and %v in\n%s", across, up, text)
	}
	return across, up
}

// back returns the value at a pixel by the straight line through the first and the last tick.
func back(ticks [][2]float64, pixel float64) float64 {
	a, b := ticks[0], ticks[len(ticks)-1]
	return a[1] + (pixel-a[0])/(b[0]-a[0])*(b[1]-a[1])
}

// numbersOf returns the numbers of the first path with a class and a pattern in its other attributes.
func numbersOf(t *testing.T, text, class, others string) (list []float64) {
	t.Helper()
	m := regexp.MustCompile(`<path d="([^"]*)" class="` + class + `"` + others).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("no path of class %s%s in\n%s", class, others, text)
	}
	for _, number := range regexp.MustCompile(`-?[\d.]+`).FindAllString(m[1], -1) {
		list = append(list, value(number))
	}
	return list
}

// Every shape stands where the ticks say: the straight line through two ticks gives the values back.
func TestShapesAgreeWithTicks(t *testing.T) {
	xs, ys, low, high := []float64{100, 400, 2000}, []float64{0.31, 0.2, 0.15}, []float64{0.25, 0.16, 0.1}, []float64{0.4, 0.3, 0.19}
	for _, c := range []struct {
		mark   Mark
		class  string
		others string
		want   [][2]float64 // x and y of the numbers of the path, NaN of one that is no such
	}{
		{Mark{X: xs, Y: ys}, "s0", ` fill="none"`, [][2]float64{{100, .31}, {400, .2}, {2000, .15}}},
		{Mark{X: xs, Y: ys, Faint: true, Colour: 3}, "s3", ` fill="none" [^>]*stroke-opacity`, [][2]float64{{100, .31}, {400, .2}, {2000, .15}}},
		{Mark{Shape: Band, X: xs, Low: low, High: high}, "f0", ``, [][2]float64{{100, .4}, {400, .3}, {2000, .19}, {2000, .1}, {400, .16}, {100, .25}}},
	} {
		text := drawn(t, &Chart{Title: "a < b & c", Panels: []Panel{{X: Axis{Name: "labels"}, Marks: []Mark{c.mark}, Rules: []Rule{{Name: "all", At: .12}, {Name: "stop", At: 900, Upright: true}}}}})
		across, up := ticksOf(t, text)
		got := numbersOf(t, text, c.class, c.others)
		if len(got) != 2*len(c.want) {
			t.Fatalf("%v: path %v", c.mark, got)
		}
		for i, w := range c.want {
			// a tenth of a pixel
			if x, y := back(across, got[2*i]), back(up, got[2*i+1]); !(math.Abs(x-w[0]) <= 2) || !(math.Abs(y-w[1]) <= 1e-3) {
				t.Errorf("%v: point %d stands at (%g, %g), and is %v", c.mark, i, x, y, w)
			}
		}
		if !strings.Contains(text, "a &lt; b &amp; c") || !strings.Contains(text, ">stop<") || !strings.Contains(text, ">all<") {
			t.Errorf("texts are lost:\n%s", text)
		}
	}
	// Intervals, bars, points and rugs, whose paths have other numbers.
	text := drawn(t, &Chart{Panels: []Panel{{Marks: []Mark{
		{Shape: Interval, X: xs, Low: low, High: high}, {Shape: Bar, X: xs, Y: ys, Width: 100, Colour: 1}, {Shape: Points, X: xs, Y: ys, Colour: 3},
		{Shape: Interval, Across: true, X: xs, Y: ys, Low: []float64{50, 300, 1500}, High: []float64{200, 500, 2500}, Colour: 4}, {Shape: Rug, X: xs, Colour: 5},
	}}}})
	across, up := ticksOf(t, text)
	near := func(what string, ticks [][2]float64, pixel, want float64) {
		t.Helper()
		if got := back(ticks, pixel); !(math.Abs(got-want) <= 3e-3*(ticks[len(ticks)-1][1]-ticks[0][1])) {
			t.Errorf("%s stands at %g, and is %g", what, got, want)
		}
	}
	v := numbersOf(t, text, "s0", "")
	near("interval's x", across, v[3], 400)
	near("interval's low", up, v[4], .16)
	near("interval's high", up, v[5], .3)
	v = numbersOf(t, text, "f1", "") // M left low V high H right V low
	near("bar's left", across, v[0], 50)
	near("bar's foot", up, v[1], 0)
	near("bar's top", up, v[2], .31)
	near("bar's right", across, v[3], 150)
	v = numbersOf(t, text, "s3", "")
	near("point's x", across, v[3], 400)
	near("point's y", up, v[4], .2)
	v = numbersOf(t, text, "s4", "")
	near("lying interval's low", across, v[3], 300)
	near("lying interval's y", up, v[4], .2)
	near("lying interval's high", across, v[5], 500)
	v = numbersOf(t, text, "s5", "")
	near("rug's second", across, v[3], 400)
	if v[1] < up[0][0] || v[2] >= 0 { // pixels grow downwards
		t.Errorf("a stroke of the rug goes from %g by %g, where the first tick is at %g", v[1], v[2], up[0][0])
	}
}

// What a logarithm has no place for interrupts a line, and a bar on it stands on the axis.
func TestInterruptedLogarithm(t *testing.T) {
	text := drawn(t, &Chart{Panels: []Panel{{X: Axis{Scale: Log}, Marks: []Mark{{X: []float64{1, 10, -5, 100, 0, 1000}, Y: []float64{1, 2, 3, 4, 5, 6}}}}}})
	if !regexp.MustCompile(`d="M[\d. ]+L[\d. ]+M[\d. ]+M[\d. ]+" class="s0"`).MatchString(text) {
		t.Errorf("not interrupted:\n%s", text)
	}
}

// A number that is none interrupts lines and bands, and a band without an end is cut at the axis.
func TestInterrupted(t *testing.T) {
	xs := []float64{1, 2, 3, 4, 5}
	text := drawn(t, &Chart{Panels: []Panel{{Marks: []Mark{
		{X: xs, Y: []float64{1, 2, math.NaN(), 4, 5}}, {Shape: Band, X: xs, Low: []float64{0, 0, math.NaN(), 1, 1}, High: []float64{6, 6, 6, 6, math.Inf(1)}, Colour: 1},
	}}}})
	if !regexp.MustCompile(`d="M[\d. ]+L[\d. ]+M[\d. ]+L[\d. ]+" class="s0"`).MatchString(text) || !regexp.MustCompile(`d="M[^ML]+L[^ML]+L[^ML]+L[^ML]+ZM[^ML]+L[^ML]+L[^ML]+L[^ML]+Z" class="f1"`).MatchString(text) {
		t.Errorf("not interrupted:\n%s", text)
	}
}

func TestTicks(t *testing.T) {
	day := func(y, m, d float64) float64 { return math.Floor(365.25*(y-1970)) + 30.4375*(m-1) + d }
	for _, c := range []struct {
		axis  Axis
		count int
		want  string
	}{
		{Axis{low: 0, high: 10}, 5, "0 2 4 6 8 10"},
		{Axis{low: 100, high: 2000}, 5, "500 1000 1500 2000"},
		{Axis{low: 0.12, high: 0.19}, 4, "0.12 0.14 0.16 0.18"},
		{Axis{low: -1, high: 1}, 5, "-1.0 -0.5 0.0 0.5 1.0"},
		{Axis{low: -10, high: -2}, 5, "-10 -8 -6 -4 -2"},
		{Axis{low: 0, high: 4e6}, 4, "0 1e6 2e6 3e6 4e6"},
		{Axis{low: 0, high: 4e-5}, 4, "0 1e-5 2e-5 3e-5 4e-5"},
		{Axis{low: -1e300, high: 1e300}, 4, "-1e300 -5e299 0 5e299 1e300"},
		{Axis{low: 0, high: 5, Scale: Log}, 6, "1 10 100 1000 10000 100000"},
		{Axis{low: 0, high: 12, Scale: Log}, 5, "1 1000 1e6 1e9 1e12"},
		{Axis{low: -1.1, high: 0.6, Scale: Log}, 6, "0.1 0.3 1 3"},
		{Axis{low: math.Log10(15), high: math.Log10(70), Scale: Log}, 6, "20 50"},
		{Axis{low: math.Log10(6), high: math.Log10(8), Scale: Log}, 4, "6.0 6.5 7.0 7.5 8.0"},
		{Axis{low: day(2011, 1, 1), high: day(2014, 1, 1), Scale: Time}, 4, "2012 2013 2014"},
		{Axis{low: 14975, high: 15340, Scale: Time}, 4, "Jan 2011 Apr 2011 Jul 2011 Oct 2011 Jan 2012"},
		{Axis{low: 0, high: 21, Scale: Time}, 4, "5 Jan 1970 12 Jan 1970 19 Jan 1970"}, // Mondays
		{Axis{low: 0, high: 1, Scale: Time}, 4, "1 Jan 00:00 1 Jan 06:00 1 Jan 12:00 1 Jan 18:00 2 Jan 00:00"},
		{Axis{low: 0, high: 0.1, Scale: Time}, 4, "00:00 01:00 02:00"},
		{Axis{Levels: []string{"a", "b"}, high: 1}, 1, "a b"},
		{Axis{low: -.3, high: 4.3, Whole: true}, 8, "0 1 2 3 4"}, {Axis{low: -.3, high: 1.2, Whole: true}, 8, "0 1"}, {Axis{low: 0, high: 100, Whole: true}, 5, "0 20 40 60 80 100"},
	} {
		var got []string
		for k, tick := range c.axis.ticks(c.count) {
			got = append(got, tick.text)
			if v, err := strconv.ParseFloat(tick.text, 64); err == nil && c.axis.Scale != Time && !(math.Abs(v-tick.at) <= 1e-9*math.Abs(v)) {
				t.Errorf("tick %d of %v is called %s and stands at %g", k, c.axis, tick.text, tick.at)
			}
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%+v: %s, want %s", c.axis, text, c.want)
		}
	}
	// A tick of a day stands at that day.
	for _, tick := range timeTicks(15000, 15030, 4) {
		if tick.at != math.Trunc(tick.at) || int(tick.at-4)%7 != 0 {
			t.Errorf("%v is no Monday", tick)
		}
	}
}

// Rules outside the lines stand within the panel, which reaches them.
func TestRulesAreHeld(t *testing.T) {
	text := drawn(t, &Chart{Panels: []Panel{{
		Marks: []Mark{{X: []float64{1, 2}, Y: []float64{0, 1}}}, Rules: []Rule{{Name: "above", At: 3}, {Name: "behind", At: 5, Upright: true}},
	}}})
	across, up := ticksOf(t, text)
	m := regexp.MustCompile(`d="M[\d.]+ ([\d.]+)H[\d.]+" class="rule"`).FindStringSubmatch(text)
	if m == nil || !(math.Abs(back(up, value(m[1]))-3) <= .02) {
		t.Errorf("the rule across stands at %v:\n%s", m, text)
	}
	m = regexp.MustCompile(`d="M([\d.]+) [\d.]+V[\d.]+" class="rule"`).FindStringSubmatch(text)
	if m == nil || !(math.Abs(back(across, value(m[1]))-5) <= .02) {
		t.Errorf("the rule upright stands at %v:\n%s", m, text)
	}
}

// Charts of nothing, of one value, and of values beyond all axes are pictures all the same.
func TestDegenerate(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	values := [][]float64{nil, {1}, {nan}, {inf, 1}, {-inf, inf}, {1e308, -1e308}, {5e-324, 0}, {1e16, 1e16 + 2}, {0, 0, 0}, {-1, 0, 1}, {1e-310, 1e308}}
	for k, xs := range values {
		for _, shift := range []int{0, 3, 7} {
			ys := values[(k+shift)%len(values)]
			for shape := Line; shape <= Rug; shape++ {
				for scale := Linear; scale <= Time; scale++ {
					drawn(t, &Chart{Panels: []Panel{{X: Axis{Scale: scale}, Y: Axis{Scale: scale}, Marks: []Mark{{Shape: shape, Name: "m", X: xs, Y: ys, Low: ys, High: ys, Width: 1}}, Rules: []Rule{{At: nan}, {At: inf, Upright: true}}}}})
				}
			}
		}
	}
	for _, c := range []*Chart{{}, {Panels: []Panel{{}}}, {Panels: make([]Panel, 7)}, {Panels: []Panel{{X: Axis{From: 1, To: inf}, Y: Axis{Levels: []string{""}}}}}} {
		drawn(t, c)
	}
}

// Names of columns and levels may be anything: they stay texts, are shortened with the whole as a title, and turn no
// line round.
func TestHostileNames(t *testing.T) {
	for _, name := range []string{`</text><script>alert(1)</script>`, `" onload="x`, "a\x00b\nc", "\u202eevil", "]]>&amp;", strings.Repeat("long ", 400), strings.Repeat("中", 300), "\xff\xfe", ""} {
		text := drawn(t, &Chart{Title: name, Under: name, Description: name, Panels: []Panel{
			{Title: name, X: Axis{Name: name, Levels: []string{name, name + "2"}}, Y: Axis{Name: name, Levels: []string{name}}, Marks: []Mark{{Name: name, X: []float64{0, 1}, Y: []float64{0, 0}}}, Rules: []Rule{{Name: name}}},
		}})
		if strings.Contains(text, "<script") || strings.Contains(text, "\u202e") || strings.ContainsRune(text, 0) {
			t.Errorf("%q stands in the picture as it is", name)
		}
		if len(name) > 1000 && !(strings.Contains(text, "<title>"+name+"</title>") && strings.Contains(text, "…")) {
			t.Errorf("%.20q… is not shortened, or its whole is lost", name)
		}
	}
}

// Names of levels that stand aslant do not leave the picture on its left.
func TestAslantNamesStay(t *testing.T) {
	long := strings.Repeat("name ", 8)
	text := drawn(t, &Chart{Panels: make([]Panel, 3)})
	narrow := numbersOf(t, text, "axis", "")[0]
	levels := Axis{Levels: []string{long, "b" + long, "c"}}
	text = drawn(t, &Chart{Panels: []Panel{{X: levels, Marks: []Mark{{Shape: Points, X: []float64{0, 1}, Y: []float64{0, 1}}}}, {}, {}}})
	m := regexp.MustCompile(`translate\(([\d.]+) [\d.]+\) rotate\(-35\)`).FindStringSubmatch(text)
	if end := value(m[1]); end < .82*mostTurned || end > .82*mostTurned+60 || narrow > .82*mostTurned {
		t.Errorf("the first name ends at %g, and is %d wide", end, mostTurned)
	}
}

// Colours are told from the paper: 3 : 1 of lines, 4.5 : 1 of texts (WCAG 2.2), light and dark.
func TestContrast(t *testing.T) {
	luminance := func(colour string) float64 {
		if len(colour) == 4 {
			colour = "#" + strings.Repeat(colour[1:2], 2) + strings.Repeat(colour[2:3], 2) + strings.Repeat(colour[3:4], 2)
		}
		sum := 0.0
		for k, share := range []float64{.2126, .7152, .0722} {
			v, err := strconv.ParseUint(colour[1+2*k:3+2*k], 16, 8)
			if err != nil {
				t.Fatal(colour, err)
			}
			if c := float64(v) / 255; c <= .04045 {
				sum += share * c / 12.92
			} else {
				sum += share * math.Pow((c+.055)/1.055, 2.4)
			}
		}
		return sum
	}
	contrast := func(a, b string) float64 {
		x, y := luminance(a), luminance(b)
		return (max(x, y) + .05) / (min(x, y) + .05)
	}
	css := map[string]string{}
	for _, m := range regexp.MustCompile(`\.chart \.([\w-]+)[{,][^}]*?(#\w+)`).FindAllStringSubmatch(Dark, -1) {
		css[m[1]] = m[2]
	}
	if len(css) < 12 {
		t.Fatal(css)
	}
	check := func(what, colour, paper string, least float64) {
		if got := contrast(colour, paper); got < least {
			t.Errorf("%s %s on %s: contrast %.2f, want %g", what, colour, paper, got, least)
		}
	}
	for k, colour := range series {
		check("line", colour, "#fff", 3)
		check("dark line", css[fmt.Sprintf("s%d", k)], css["paper"], 3)
		if css[fmt.Sprintf("s%d", k)] != css[fmt.Sprintf("f%d", k)] {
			t.Errorf("series %d has two colours in the dark", k)
		}
	}
	for _, text := range []string{"ink", "dim"} {
		check("dark "+text, css[text], css["paper"], 4.5)
	}
	check("ink", ink, "#fff", 4.5)
	check("dim", dim, "#fff", 4.5)
}

// The legend has each name once, in the order of the marks, without those of which nothing is drawn; points are 1,000
// at most, from all of them.
func TestLegendAndPoints(t *testing.T) {
	var xs []float64
	for i := range 5000 {
		xs = append(xs, float64(i))
	}
	p := Panel{Marks: []Mark{{Shape: Points, Name: "first", X: xs, Y: xs}, {Name: "second", X: xs[:2], Y: xs[:2], Colour: 1}, {Name: "none"}}}
	text := drawn(t, &Chart{Panels: []Panel{p, p}})
	if a, b := strings.Index(text, ">first<"), strings.Index(text, ">second<"); a < 0 || b < a || strings.Count(text, ">first<") != 1 || strings.Contains(text, ">none<") {
		t.Errorf("the legend is wrong:\n%.3000s", text)
	}
	text = drawn(t, &Chart{Panels: []Panel{p}})
	v := numbersOf(t, text, "s0", "")
	across, _ := ticksOf(t, text)
	if n := len(v) / 3; n != 1000 || back(across, v[0]) > 30 || back(across, v[len(v)-3]) < 4900 {
		t.Errorf("%d points from %g to %g", n, back(across, v[0]), back(across, v[len(v)-3]))
	}
	if widths := []float64{textWidth("iiii"), textWidth("aaaa"), textWidth("MMMM"), textWidth("中中中中")}; !slices.IsSorted(widths) {
		t.Errorf("widths %v", widths)
	}
}

// TestData: in JSON shapes and scales are words, and what is no number is null.
func TestData(t *testing.T) {
	c := Chart{Title: "T", Description: "D", Panels: []Panel{{X: Axis{Scale: Time}, Y: Axis{Scale: Log, Levels: []string{"a"}}, Rules: []Rule{{At: 2, Upright: true}},
		Marks: []Mark{{Shape: Line, X: Values{1, math.NaN(), math.Inf(1)}, Y: Values{-.5, 1e-300, 3}, Faint: true}, {Shape: Rug, X: Values{}}}}}}
	for k, word := range []string{"line", "band", "points", "interval", "bar", "rug"} {
		if text, err := Shape(k).MarshalText(); err != nil || string(text) != word {
			t.Errorf("shape %d is %s, %v", k, text, err)
		}
	}
	text, err := json.Marshal(&c)
	const want = `{"title":"T","description":"D","panels":[{"x":{"scale":"time"},"y":{"scale":"log","levels":["a"]},"marks":[{"shape":"line","x":[1,null,null],"y":[-0.5,1e-300,3]},{"shape":"rug"}],"rules":[{"at":2,"upright":true}]}]}`
	if err != nil || string(text) != want {
		t.Errorf("%s, %v; want %s", text, err, want)
	}
}

// TestThinned: a line stays within a tenth of a pixel of all its points, one of many within three, by fewer points.
func TestThinned(t *testing.T) {
	var points [][2]float64
	for k := range 500 {
		points = append(points, [2]float64{float64(k), 100 * math.Sin(float64(k)/40)})
	}
	var count [2]int
	for k, within := range []float64{.1, .3} {
		kept := (&Mark{Faint: k == 1}).thinned(points)
		at := 0
		for _, p := range points {
			for at+2 < len(kept) && kept[at+1][0] < p[0] {
				at++
			}
			a, b := kept[at], kept[at+1]
			if gap := math.Abs(a[1] + (p[0]-a[0])/(b[0]-a[0])*(b[1]-a[1]) - p[1]); gap > 1.01*within {
				t.Fatalf("%.3f from the point at %g, want %g", gap, p[0], within)
			}
		}
		count[k] = len(kept)
	}
	if 3*count[1] > 2*count[0] {
		t.Errorf("%d points, and %d of one of many", count[0], count[1])
	}
}

// Counts have commas from five digits on, and agree with what is counted.
func TestCounted(t *testing.T) {
	for n, want := range map[int]string{1: "1 row", 2: "2 rows", 9_999: "9999 rows", 10_000: "10,000 rows", 123_456: "123,456 rows", 1_234_567: "1,234,567 rows"} {
		if got := Counted(n, "row"); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}
