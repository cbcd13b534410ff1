// Package chart draws lines over an axis as SVG: panels side by side, with ticks, a legend and marks. The same values
// give the same bytes.
package chart

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/credence-ml/credence/internal/special"
)

// Chart is a picture of panels that share their series' names and colours.
type Chart struct {
	Title  string
	Panels []Panel
}

// Panel is one pair of axes.
type Panel struct {
	X, Y   string // names of the axes
	Series []Series
	Levels []Level // across
	Marks  []Level // upright
}

// Series is a line through points, with fainter lines of the same colour.
type Series struct {
	Name   string
	X, Y   []float64
	Behind []Line
}

// Line is a faint line.
type Line struct{ X, Y []float64 }

// Level is a dashed line at a value of an axis.
type Level struct {
	Name string
	At   float64
}

// The picture's measures, in pixels.
const (
	panelWidth, panelHeight = 420, 320
	left, right, top, under = 62, 16, 44, 48
	legendHeight            = 24
	wantedTicks             = 5
)

// colours tell series apart for readers who do not see all of them, too (Okabe & Ito 2008).
var colours = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00"}

// WriteTo writes the picture.
func (c *Chart) WriteTo(out io.Writer) (int64, error) {
	counted := &counter{out: out}
	w := bufio.NewWriter(counted)
	width, height := panelWidth*max(1, len(c.Panels)), panelHeight+legendHeight
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12" fill="#333">`+"\n", width, height)
	fmt.Fprintf(w, `<rect width="%d" height="%d" fill="white"/>`+"\n", width, height)
	fmt.Fprintf(w, `<text x="%d" y="20" font-size="14">%s</text>`+"\n", left, escaped(c.Title))
	for k := range c.Panels {
		c.Panels[k].draw(w, float64(k*panelWidth))
	}
	if len(c.Panels) > 0 {
		x := left
		for k, s := range c.Panels[0].Series {
			fmt.Fprintf(w, `<path d="M%d %dh20" stroke="%s" stroke-width="2"/><text x="%d" y="%d">%s</text>`+"\n",
				x, panelHeight+8, colours[k%len(colours)], x+26, panelHeight+12, escaped(s.Name))
			x += 44 + 7*len(s.Name)
		}
	}
	fmt.Fprintln(w, "</svg>")
	err := w.Flush()
	return counted.bytes, err
}

func (p *Panel) draw(w io.Writer, at float64) {
	across, up := newAxis(), newAxis()
	for _, s := range p.Series {
		for _, l := range append([]Line{{s.X, s.Y}}, s.Behind...) {
			across.hold(l.X)
			up.hold(l.Y)
		}
	}
	for _, l := range p.Levels {
		up.hold([]float64{l.At})
	}
	for _, l := range p.Marks {
		across.hold([]float64{l.At})
	}
	across.place(at+left, at+panelWidth-right)
	up.place(panelHeight-under, top)
	for _, v := range across.ticks() {
		fmt.Fprintf(w, `<path d="M%s %dV%d" stroke="#e4e4e4"/><text x="%s" y="%d" text-anchor="middle">%s</text>`+"\n",
			pixel(across.at(v)), panelHeight-under, top, pixel(across.at(v)), panelHeight-under+16, number(v))
	}
	for _, v := range up.ticks() {
		fmt.Fprintf(w, `<path d="M%s %sH%s" stroke="#e4e4e4"/><text x="%s" y="%s" text-anchor="end">%s</text>`+"\n",
			pixel(at+left), pixel(up.at(v)), pixel(at+panelWidth-right), pixel(at+left-6), pixel(up.at(v)+4), number(v))
	}
	for k, s := range p.Series {
		colour := colours[k%len(colours)]
		for _, l := range s.Behind {
			line(w, across, up, l, colour, 0.25, 1)
		}
		line(w, across, up, Line{s.X, s.Y}, colour, 1, 2)
	}
	for _, l := range p.Levels {
		fmt.Fprintf(w, `<path d="M%s %sH%s" stroke="#777" stroke-dasharray="5 4"/><text x="%s" y="%s" text-anchor="end" fill="#777">%s</text>`+"\n",
			pixel(at+left), pixel(up.at(l.At)), pixel(at+panelWidth-right), pixel(at+panelWidth-right), pixel(up.at(l.At)-4), escaped(l.Name))
	}
	for _, l := range p.Marks {
		fmt.Fprintf(w, `<path d="M%s %dV%d" stroke="#777" stroke-dasharray="2 3"/><text x="%s" y="%d" fill="#777">%s</text>`+"\n",
			pixel(across.at(l.At)), panelHeight-under, top, pixel(across.at(l.At)+4), top+10, escaped(l.Name))
	}
	fmt.Fprintf(w, `<text x="%s" y="%d" text-anchor="middle">%s</text>`+"\n", pixel(at+(left+panelWidth-right)/2), panelHeight-under+34, escaped(p.X))
	fmt.Fprintf(w, `<text transform="translate(%s %d) rotate(-90)" text-anchor="middle">%s</text>`+"\n", pixel(at+14), (top+panelHeight-under)/2, escaped(p.Y))
}

// line draws one line; points that are no numbers interrupt it.
func line(w io.Writer, across, up *axis, l Line, colour string, opacity float64, width int) {
	var path strings.Builder
	pen := "M"
	for i, x := range l.X {
		if i >= len(l.Y) || !special.Finite(x) || !special.Finite(l.Y[i]) {
			pen = "M"
			continue
		}
		path.WriteString(pen + pixel(across.at(x)) + " " + pixel(up.at(l.Y[i])))
		pen = "L"
	}
	fmt.Fprintf(w, `<path d="%s" fill="none" stroke="%s" stroke-opacity="%g" stroke-width="%d"/>`+"\n", path.String(), colour, opacity, width)
}

// axis maps values to pixels.
type axis struct{ low, high, from, to float64 }

func newAxis() *axis { return &axis{low: math.Inf(1), high: math.Inf(-1)} }

func (a *axis) hold(values []float64) {
	for _, v := range values {
		if special.Finite(v) {
			a.low, a.high = math.Min(a.low, v), math.Max(a.high, v)
		}
	}
}

// place gives the axis its pixels, and some room about values that are all the same.
func (a *axis) place(from, to float64) {
	a.from, a.to = from, to
	switch {
	case a.low > a.high:
		a.low, a.high = 0, 1
	case a.low == a.high:
		room := math.Max(math.Abs(a.low)/10, 1e-3)
		a.low, a.high = a.low-room, a.high+room
	}
}

func (a *axis) at(v float64) float64 { return a.from + (v-a.low)/(a.high-a.low)*(a.to-a.from) }

// ticks are multiples of 1, 2 or 5 times a power of ten.
func (a *axis) ticks() (out []float64) {
	raw := (a.high - a.low) / wantedTicks
	step := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, times := range []float64{1, 2, 5, 10} {
		if step*times >= raw {
			step *= times
			break
		}
	}
	for k := math.Ceil(a.low/step - 1e-9); k <= a.high/step+1e-9; k++ { // ends are multiples but for rounding
		out = append(out, k*step+0) // no −0
	}
	return out
}

func pixel(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }

func number(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

func escaped(text string) string {
	var out strings.Builder
	_ = xml.EscapeText(&out, []byte(text)) // a builder never fails
	return out.String()
}

type counter struct {
	out   io.Writer
	bytes int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.out.Write(p)
	c.bytes += int64(n)
	return n, err
}
