// Package chart draws panels of axes as SVG: lines, bands, points, intervals and bars with ticks, rules and a
// legend. The same values give the same bytes. Colours are presentation attributes with classes beside them, by which a
// style sheet turns them dark; there is no attribute style, which a strict content policy forbids.
package chart

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Chart is a picture of panels that share a legend.
type Chart struct {
	Title       string  `json:"title"`
	Under       string  `json:"under,omitempty"` // the line below the title
	Description string  `json:"description"`     // for those who do not see the picture
	Panels      []Panel `json:"panels"`
	Columns     int     `json:"-"` // panels side by side; 0 means three at most
	Inline      bool    `json:"-"` // the style is that of the page
}

// Panel is one pair of axes.
type Panel struct {
	Title  string `json:"title,omitempty"`
	X      Axis   `json:"x"`
	Y      Axis   `json:"y"`
	Marks  []Mark `json:"marks"`           // what is drawn, each over those before
	Rules  []Rule `json:"rules,omitempty"` // dashed lines across the panel
	Height int    `json:"-"`               // of the axes in pixels; 0 is that of the chart
}

// Shape is what is drawn of the points of a mark.
type Shape uint8

// The shapes.
const (
	Line   Shape = iota // through X, Y
	Band                // between Low and High over X
	Points              // at X, Y: 1,000 at most, evenly spread
	// from Low to High at X, with a point at Y where there is one; Across, from Low to High at Y with a point at X
	Interval
	Bar // from Low, or 0, to Y, of a width about X
	Rug // a short tick at each X on the axis
)

// Mark is a run of points in one colour. What is no number is not drawn, and interrupts a line.
type Mark struct {
	Shape  Shape   `json:"shape"`          // line, band, points, interval, bar or rug
	Name   string  `json:"name,omitempty"` // in the legend, where it stands once
	Colour int     `json:"-"`              // of the series; Grey and Ink are those of no series
	X      Values  `json:"x,omitempty"`
	Y      Values  `json:"y,omitempty"`
	Low    Values  `json:"low,omitempty"`    // lower ends of bands, intervals and bars
	High   Values  `json:"high,omitempty"`   // upper ends of bands and intervals
	Width  float64 `json:"width,omitzero"`   // of bars, in units of X
	Across bool    `json:"across,omitempty"` // intervals go along the axis X, each at its Y
	Faint  bool    `json:"-"`                // one of many, or behind others
	Thick  bool    `json:"-"`
	Dashed bool    `json:"-"`
}

// Values are coordinates. In JSON those that are no finite numbers are null.
type Values []float64

// MarshalJSON writes a list of numbers.
func (v Values) MarshalJSON() ([]byte, error) {
	text := []byte{'['}
	for k, x := range v {
		if k > 0 {
			text = append(text, ',')
		}
		if x-x != 0 {
			text = append(text, "null"...)
		} else {
			text = strconv.AppendFloat(text, x, 'g', -1, 64)
		}
	}
	return append(text, ']'), nil
}

// MarshalText writes the word of a shape.
func (s Shape) MarshalText() ([]byte, error) {
	return []byte([]string{"line", "band", "points", "interval", "bar", "rug"}[s]), nil
}

// Colours beside those of series.
const (
	Grey = -1
	Ink  = -2
)

// Rule is a dashed line across all of a panel at a value of the axis Y, or upright of X.
type Rule struct {
	Name    string  `json:"name,omitempty"`
	At      float64 `json:"at"`
	Upright bool    `json:"upright,omitempty"` // at a value of the axis X
}

// The picture's measures, in pixels.
const (
	edge         = 14 // about the picture, and between panels
	fontSize     = 12
	titleSize    = 15
	underAxis    = 40 // ticks and the name of the axis X
	legendHeight = 22
	mostLabel    = 200 // width of a tick's text
	mostTurned   = 130 // width of one that stands aslant
	mostPoints   = 1000
)

// WriteTo writes the picture.
func (c *Chart) WriteTo(out io.Writer) (int64, error) {
	w := &svg{}
	n := max(1, len(c.Panels))
	columns := c.Columns
	if columns == 0 {
		columns = min(n, 3)
	}
	size := [2]int{560, 340} // of axes that stand alone
	if columns == 2 {
		size = [2]int{340, 260}
	} else if columns > 2 {
		size = [2]int{230, 170}
	}
	// Of each panel: the texts of ticks, a title, the height of turned texts and how far these reach to the left.
	left, titled, turned, over := 0.0, 0, 0.0, 0.0
	for k := range c.Panels {
		p := &c.Panels[k]
		p.prepare()
		for _, t := range p.Y.ticks(p.height(size[1]) / 45) {
			left = max(left, min(mostLabel, textWidth(t.text)))
		}
		if p.Title != "" {
			titled = 20
		}
		higher, reach := p.turned(float64(size[0]))
		turned, over = max(turned, higher), max(over, reach)
	}
	left = max(left+34, over)
	cell := float64(size[0]) + left + edge
	// A title that is wider than the panels has the picture its width.
	width := edge + max(float64(columns)*cell, 20+max(textWidth(c.Title)*titleSize/fontSize, textWidth(c.Under)))
	y := edge + 20.0
	if c.Under != "" {
		y += 20
	}
	heads := y
	var tops []float64
	for first := 0; first < len(c.Panels); first += columns {
		tallest := 0
		for k := first; k < min(first+columns, len(c.Panels)); k++ {
			tallest = max(tallest, c.Panels[k].height(size[1]))
		}
		tops = append(tops, y+float64(titled)+8)
		y += float64(titled+tallest) + 8 + turned + underAxis + edge
	}
	entries := c.legend()
	rows := arrange(entries, width-2*edge)
	height := y + float64(len(rows)*legendHeight) + edge/2
	w.printf(`<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" role="img" class="chart" font-family="system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif" font-size="%d">`+"\n",
		width, height, width, height, fontSize)
	w.printf("<title>%s</title>\n<desc>%s</desc>\n", escaped(c.Title), escaped(c.Description))
	if !c.Inline {
		w.printf("<style>%s</style>\n", Dark)
	}
	w.printf(`<rect class="paper" width="%.0f" height="%.0f" fill="#fff"/>`+"\n", width, height)
	w.printf(`<text class="ink" x="%d" y="%d" font-size="%d" font-weight="600" fill="%s">%s</text>`+"\n", edge, edge+14, titleSize, ink, escaped(c.Title))
	w.text("dim", edge, heads-8, "start", c.Under, math.Inf(1))
	for k := range c.Panels {
		p := &c.Panels[k]
		x0 := edge + float64(k%columns)*cell + left
		p.draw(w, x0, tops[k/columns], float64(size[0]), float64(p.height(size[1])))
	}
	for _, row := range rows {
		x := float64(edge)
		for _, m := range row {
			m.sample(w, x, y+4)
			w.text("ink", x+28, y+8, "start", m.Name, math.Inf(1))
			x += entryWidth(m)
		}
		y += legendHeight
	}
	w.printf("</svg>\n")
	return w.Buffer.WriteTo(out)
}

// legend returns the first mark of each name.
func (c *Chart) legend() (entries []*Mark) {
	for k := range c.Panels {
		for j := range c.Panels[k].Marks {
			m := &c.Panels[k].Marks[j]
			drawn := len(m.X)+len(m.Y) > 0
			if drawn && m.Name != "" && !slices.ContainsFunc(entries, func(e *Mark) bool { return e.Name == m.Name }) {
				entries = append(entries, m)
			}
		}
	}
	return entries
}

func entryWidth(m *Mark) float64 { return 28 + textWidth(m.Name) + 22 }

// arrange breaks entries of a legend into rows of a width.
func arrange(entries []*Mark, width float64) (rows [][]*Mark) {
	x := math.Inf(1)
	for _, m := range entries {
		if x+entryWidth(m) > width {
			rows, x = append(rows, nil), 0
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], m)
		x += entryWidth(m)
	}
	return rows
}

// turned returns how much higher texts are that stand aslant below the axis X, which they do where they are wider than
// their places, and how far they reach to the left of the panel.
func (p *Panel) turned(width float64) (higher, reach float64) {
	slot := width / max(1, float64(len(p.X.Levels)))
	for k, name := range p.X.Levels {
		if wide := textWidth(name); wide > slot-8 {
			wide = min(wide, mostTurned)
			higher, reach = max(higher, .6*wide), max(reach, .82*wide-(float64(k)+.6)*slot)
		}
	}
	return higher, reach
}

func (p *Panel) height(usual int) int {
	if p.Height > 0 {
		return p.Height
	}
	return usual
}

// prepare finds the ends of the axes.
func (p *Panel) prepare() {
	p.X.begin()
	p.Y.begin()
	for k := range p.Marks {
		m := &p.Marks[k]
		ends := &p.Y
		if m.Across {
			ends = &p.X
		}
		ends.hold(m.Low...)
		ends.hold(m.High...)
		if m.Shape != Band {
			p.Y.hold(m.Y...)
		}
		p.X.hold(m.X...)
		if m.Shape == Bar {
			if m.Low == nil {
				p.Y.hold(0)
			}
			for _, x := range m.X {
				p.X.hold(x-m.Width/2, x+m.Width/2)
			}
		}
	}
	for _, r := range p.Rules {
		if r.Upright {
			p.X.hold(r.At)
		} else {
			p.Y.hold(r.At)
		}
	}
	p.X.end()
	p.Y.end()
}

// draw draws the panel with its axes from (x0, y0) on.
func (p *Panel) draw(w *svg, x0, y0, width, height float64) {
	right, bottom := x0+width, y0+height
	p.X.place(x0, right)
	p.Y.place(bottom, y0)
	w.text("ink", x0, y0-9, "start", p.Title, width)
	turned, _ := p.turned(width)
	for _, t := range p.X.ticks(int(width) / 75) {
		x, ok := p.X.at(t.at)
		if !ok {
			continue
		}
		w.path("M"+pixel(x)+" "+pixel(bottom)+"V"+pixel(y0), `class="grid" stroke="`+grid+`"`)
		if turned > 0 {
			w.turnedText("dim", x+4, bottom+14, -35, "end", t.text, mostTurned)
		} else {
			w.text("dim", x, bottom+16, "middle", t.text, mostLabel)
		}
	}
	left := x0 - 12
	for _, t := range p.Y.ticks(int(height) / 45) {
		left = min(left, x0-12-min(mostLabel, textWidth(t.text)))
		if y, ok := p.Y.at(t.at); ok {
			w.path("M"+pixel(x0)+" "+pixel(y)+"H"+pixel(right), `class="grid" stroke="`+grid+`"`)
			w.text("dim", x0-7, y+4, "end", t.text, mostLabel)
		}
	}
	for k := range p.Marks {
		p.Marks[k].draw(w, &p.X, &p.Y)
	}
	w.path("M"+pixel(x0)+" "+pixel(y0)+"V"+pixel(bottom)+"H"+pixel(right), `class="axis" fill="none" stroke="`+axisColour+`"`)
	for _, r := range p.Rules {
		if at, ok := p.X.at(r.At); r.Upright && ok {
			w.path("M"+pixel(at)+" "+pixel(bottom)+"V"+pixel(y0), ruled)
			side, anchor := 5.0, "start"
			if at > (x0+right)/2 {
				side, anchor = -5, "end"
			}
			w.text("dim rim", at+side, y0+10, anchor, r.Name, width)
		} else if at, ok := p.Y.at(r.At); !r.Upright && ok {
			w.path("M"+pixel(x0)+" "+pixel(at)+"H"+pixel(right), ruled)
			w.text("dim rim", right, at-4, "end", r.Name, width)
		}
	}
	w.text("ink", (x0+right)/2, bottom+33+turned, "middle", p.X.Name, width)
	w.turnedText("ink", left-4, (y0+bottom)/2, -90, "middle", p.Y.Name, max(height, 120))
}

const ruled = `class="rule" stroke="` + dim + `" stroke-width="1.2" stroke-dasharray="5 4"`

// svg is what pictures are written to.
type svg struct{ bytes.Buffer }

func (w *svg) printf(format string, args ...any) { fmt.Fprintf(w, format, args...) }

// path writes a path, if there is one.
func (w *svg) path(d, attributes string) {
	if d != "" {
		w.printf(`<path d="%s" %s/>`+"\n", d, attributes)
	}
}

// text writes a text, of what is wider than most the ends, with the whole of it as a title. One of class rim stands
// over what is drawn, with a rim of the paper about it.
func (w *svg) text(class string, x, y float64, anchor, text string, most float64) {
	w.placed(class, `x="`+pixel(x)+`" y="`+pixel(y)+`"`, anchor, text, most)
}

// turnedText writes a text that stands aslant by some degrees.
func (w *svg) turnedText(class string, x, y float64, degrees int, anchor, text string, most float64) {
	w.placed(class, fmt.Sprintf(`transform="translate(%s %s) rotate(%d)"`, pixel(x), pixel(y), degrees), anchor, text, most)
}

func (w *svg) placed(class, place, anchor, text string, most float64) {
	if text == "" {
		return
	}
	title, colour := "", ink
	if short := shortened(text, most); short != text {
		title, text = "<title>"+escaped(text)+"</title>", short
	}
	if class != "ink" {
		colour = dim
	}
	if class == "dim rim" {
		colour += `" stroke="#fff" stroke-width="3" paint-order="stroke`
	}
	w.printf(`<text class="%s" %s text-anchor="%s" fill="%s">%s%s</text>`+"\n", class, place, anchor, colour, title, escaped(text))
}

// The colours of light pictures. Those of series are told apart by readers who do not see all of them (Okabe & Ito
// 2008), darkened until each is three times as dark or light as the paper.
const (
	ink, dim, grid, axisColour = "#22252a", "#5b6168", "#e6e8eb", "#8b9199"
)

var series = []string{"#0072b2", "#d55e00", "#00805f", "#b0508c", "#5b57c4", "#8a6d00"}

// Dark is a style sheet that turns pictures dark.
var Dark = func() string {
	var css strings.Builder
	css.WriteString("@media (prefers-color-scheme:dark){.chart .paper{fill:#15181d}.chart .ink{fill:#e8eaed}.chart .dim{fill:#a9b0b8}" +
		".chart .grid{stroke:#2b3038}.chart .rim{stroke:#15181d}.chart .axis{stroke:#6d747d}.chart .rule,.chart .s-1{stroke:#a9b0b8}.chart .f-1{fill:#a9b0b8}.chart .s-2{stroke:#e8eaed}.chart .f-2{fill:#e8eaed}")
	for k, colour := range []string{"#5ab4f0", "#ff9a57", "#3ecf9f", "#e79ac9", "#aaa7ff", "#e3c04a"} {
		fmt.Fprintf(&css, ".chart .s%d{stroke:%s}.chart .f%d{fill:%[2]s}", k, colour, k)
	}
	return css.String() + "}"
}()
