package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func drawn(t *testing.T, c *Chart) string {
	t.Helper()
	var out bytes.Buffer
	if n, err := c.WriteTo(&out); err != nil || n != int64(out.Len()) {
		t.Fatalf("%d bytes of %d: %v", n, out.Len(), err)
	}
	for d := xml.NewDecoder(bytes.NewReader(out.Bytes())); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, out.String())
		}
	}
	return out.String()
}

// Points stand where the ticks say: the straight line through two ticks gives the value back.
func TestPointsAgreeWithTicks(t *testing.T) {
	xs, ys := []float64{100, 400, 2000}, []float64{0.31, 0.2, 0.15}
	text := drawn(t, &Chart{Title: "a < b & c", Panels: []Panel{
		{X: "labels", Y: "error", Series: []Series{{Name: "one", X: xs, Y: ys, Behind: []Line{{xs, []float64{0.33, math.NaN(), 0.14}}}}},
			Levels: []Level{{"all", 0.12}}, Marks: []Level{{"stop", 900}}},
	}})
	if !strings.Contains(text, "a &lt; b &amp; c") || !strings.Contains(text, ">stop<") || !strings.Contains(text, ">all<") {
		t.Errorf("texts are lost:\n%s", text)
	}
	value := func(s string) float64 { v, _ := strconv.ParseFloat(s, 64); return v }
	across := regexp.MustCompile(`V44" stroke="#e4e4e4"/><text x="([\d.]+)" y="288" text-anchor="middle">([\d.]+)<`).FindAllStringSubmatch(text, -1)
	up := regexp.MustCompile(`<path d="M62.0 ([\d.]+)H404.0" stroke="#e4e4e4"/><text [^>]*>([\d.]+)<`).FindAllStringSubmatch(text, -1)
	if len(across) < 3 || len(up) < 3 {
		t.Fatalf("%d and %d ticks in\n%s", len(across), len(up), text)
	}
	back := func(ticks [][]string, pixel float64) float64 {
		a, b := ticks[0], ticks[len(ticks)-1]
		return value(a[2]) + (pixel-value(a[1]))/(value(b[1])-value(a[1]))*(value(b[2])-value(a[2]))
	}
	path := regexp.MustCompile(`<path d="M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)" fill`).FindStringSubmatch(text)
	for i := range xs {
		x, y := back(across, value(path[1+2*i])), back(up, value(path[2+2*i]))
		if math.Abs(x-xs[i]) > 2 || math.Abs(y-ys[i]) > 2e-3 { // a tenth of a pixel, and the rounding of ticks
			t.Errorf("point %d stands at (%g, %g), and is (%g, %g)", i, x, y, xs[i], ys[i])
		}
	}
	if !regexp.MustCompile(`d="M[\d.]+ [\d.]+M[\d.]+ [\d.]+"`).MatchString(text) {
		t.Error("a number that is none does not interrupt its line")
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      []float64
	}{{0, 10, []float64{0, 2, 4, 6, 8, 10}}, {100, 2000, []float64{500, 1000, 1500, 2000}}, {0.12, 0.19, []float64{0.12, 0.14, 0.16, 0.18}}, {-1, 1, []float64{-1, -0.5, 0, 0.5, 1}}, {-10, -2, []float64{-10, -8, -6, -4, -2}}, {-0.7, -0.3, []float64{-0.7, -0.6, -0.5, -0.4, -0.3}}} {
		got := (&axis{low: c.low, high: c.high}).ticks()
		if !slices.EqualFunc(got, c.want, func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }) {
			t.Errorf("from %g to %g: %v, want %v", c.low, c.high, got, c.want)
		}
	}
}

// Levels and marks outside the lines stand within the panel, which reaches them.
func TestLevelsAreHeld(t *testing.T) {
	text := drawn(t, &Chart{Panels: []Panel{{
		Series: []Series{{Name: "one", X: []float64{1, 2}, Y: []float64{0, 1}}},
		Levels: []Level{{"above", 3}}, Marks: []Level{{"behind", 5}},
	}}})
	if !strings.Contains(text, `<path d="M62.0 44.0H404.0" stroke="#777"`) || !strings.Contains(text, `<path d="M404.0 272V44" stroke="#777"`) {
		t.Errorf("they are not at the ends of their axes:\n%s", text)
	}
	if !strings.Contains(text, `d="M62.0 272.0L147.5 196.0"`) { // a quarter of the way, and a third
		t.Errorf("the line is not where the axes say:\n%s", text)
	}
}

// A chart of nothing, and of one value, is a picture all the same.
func TestDegenerate(t *testing.T) {
	for _, c := range []Chart{{}, {Panels: []Panel{{}}}, {Panels: []Panel{{Series: []Series{{Name: "x", X: []float64{1}, Y: []float64{2}}}}}}, {Panels: []Panel{{Series: []Series{{X: []float64{math.Inf(1)}, Y: []float64{math.NaN()}}}}}}} {
		if text := drawn(t, &c); strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
			t.Error(text)
		}
	}
}
