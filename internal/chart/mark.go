package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// colour returns the class and the colour of a mark.
func (m *Mark) colour() (class, colour string) {
	switch m.Colour {
	case Grey:
		return "-1", dim
	case Ink:
		return "-2", ink
	}
	k := m.Colour % len(series)
	return fmt.Sprint(k), series[k]
}

// stroke returns the attributes of a line of a width.
func (m *Mark) stroke(width float64) string {
	class, colour := m.colour()
	text := fmt.Sprintf(`class="s%s" fill="none" stroke="%s" stroke-width="%g"`, class, colour, width)
	if m.Faint {
		text += ` stroke-opacity=".25"`
	}
	if m.Dashed {
		text += ` stroke-dasharray="5 4"`
	}
	return text
}

// fill returns the attributes of an area of an opacity.
func (m *Mark) fill(opacity float64) string {
	class, colour := m.colour()
	if m.Faint {
		opacity /= 2
	}
	return fmt.Sprintf(`class="f%s" fill="%s" fill-opacity="%g"`, class, colour, opacity)
}

// width is that of its lines.
func (m *Mark) width() float64 {
	switch {
	case m.Shape == Interval && m.Thick:
		return 5
	case m.Shape == Interval:
		return 1.8
	case m.Thick:
		return 2.8
	case m.Faint:
		return 1
	}
	return 2
}

// draw draws the mark between axes.
func (m *Mark) draw(w *svg, x, y *Axis) {
	switch m.Shape {
	case Line:
		m.line(w, x, y)
	case Band:
		m.band(w, x, y)
	case Points:
		m.points(w, x, y)
	case Interval:
		m.intervals(w, x, y)
	case Bar:
		m.bars(w, x, y)
	case Rug:
		m.rug(w, x, y)
	}
}

func (m *Mark) line(w *svg, x, y *Axis) {
	var path strings.Builder
	var run [][2]float64
	flush := func() {
		m.trace(&path, run)
		run = run[:0]
	}
	for i := range min(len(m.X), len(m.Y)) {
		a, inX := x.at(m.X[i])
		b, inY := y.at(m.Y[i])
		if !inX || !inY {
			flush()
			continue
		}
		run = append(run, [2]float64{a, b})
	}
	flush()
	w.path(path.String(), m.stroke(m.width())+` stroke-linejoin="round"`)
}

// trace adds the lines through a run of points.
func (m *Mark) trace(path *strings.Builder, run [][2]float64) {
	pen := "M"
	for _, p := range m.thinned(run) {
		path.WriteString(pen + point(p))
		pen = "L"
	}
}

// thinned leaves out points near the lines between those that stay, which go to the right: a tenth of a pixel, or three
// of lines that are one of many.
func (m *Mark) thinned(points [][2]float64) (kept [][2]float64) {
	if len(points) < 3 {
		return points
	}
	near := .1
	if m.Faint {
		near = .3
	}
	from := points[0]
	low, high := math.Inf(-1), math.Inf(1) // slopes from there that are near all points since
	kept = append(kept, from)
	for i, p := range points[1:] {
		if slope := (p[1] - from[1]) / (p[0] - from[0]); !(p[0] > from[0]) || slope < low || slope > high {
			from, low, high = points[i], math.Inf(-1), math.Inf(1)
			kept = append(kept, from)
		}
		if wide := p[0] - from[0]; wide > 0 {
			low, high = max(low, (p[1]-near-from[1])/wide), min(high, (p[1]+near-from[1])/wide)
		} else {
			low, high = math.Inf(1), math.Inf(-1)
		}
	}
	return append(kept, points[len(points)-1])
}

func point(p [2]float64) string { return pixel(p[0]) + " " + pixel(p[1]) }

// band fills each run of numbers between Low and High.
func (m *Mark) band(w *svg, x, y *Axis) {
	var path strings.Builder
	var upper, lower [][2]float64 // edges of the run, of which the lower is drawn backwards
	flush := func() {
		m.trace(&path, upper)
		for _, p := range slices.Backward(m.thinned(lower)) {
			path.WriteString("L" + point(p))
		}
		if len(lower) > 0 {
			path.WriteString("Z")
		}
		upper, lower = upper[:0], lower[:0]
	}
	for i := range min(len(m.X), len(m.Low), len(m.High)) {
		a, ok := x.at(m.X[i])
		low, below := y.within(m.Low[i])
		high, above := y.within(m.High[i])
		if !ok || !below || !above {
			flush()
			continue
		}
		upper, lower = append(upper, [2]float64{a, high}), append(lower, [2]float64{a, low})
	}
	flush()
	w.path(path.String(), m.fill(.2))
}

// spread calls do for the points that are drawn of n.
func spread(n int, do func(i int)) {
	count := min(n, mostPoints)
	for k := range count {
		do(k * n / count)
	}
}

func (m *Mark) points(w *svg, x, y *Axis) {
	var path strings.Builder
	n := min(len(m.X), len(m.Y))
	spread(n, func(i int) {
		a, inX := x.at(m.X[i])
		b, inY := y.at(m.Y[i])
		if inX && inY {
			path.WriteString("M" + pixel(a) + " " + pixel(b) + "h0")
		}
	})
	size := 5.0
	switch {
	case m.Thick:
		size = 8
	case n > 300:
		size = 3.5
	}
	w.path(path.String(), m.stroke(size)+` stroke-linecap="round"`)
}

func (m *Mark) intervals(w *svg, x, y *Axis) {
	along, at, places, values := y, x, m.X, m.Y
	if m.Across {
		along, at, places, values = x, y, m.Y, m.X
	}
	var path strings.Builder
	for i := range min(len(places), len(m.Low), len(m.High)) {
		p, ok := at.at(places[i])
		low, below := along.within(m.Low[i])
		high, above := along.within(m.High[i])
		switch {
		case !ok || !below || !above:
		case m.Across:
			path.WriteString("M" + pixel(low) + " " + pixel(p) + "H" + pixel(high))
		default:
			path.WriteString("M" + pixel(p) + " " + pixel(low) + "V" + pixel(high))
		}
	}
	w.path(path.String(), m.stroke(m.width())+` stroke-linecap="round"`)
	if len(values) > 0 {
		dots := Mark{Shape: Points, Colour: m.Colour, X: m.X, Y: m.Y, Thick: true}
		dots.points(w, x, y)
	}
}

func (m *Mark) bars(w *svg, x, y *Axis) {
	var path strings.Builder
	for i := range min(len(m.X), len(m.Y)) {
		from := 0.0
		if m.Low != nil {
			from = m.Low[i]
		}
		left, okLeft := x.within(m.X[i] - m.Width/2)
		right, okRight := x.within(m.X[i] + m.Width/2)
		low, okLow := y.within(from)
		high, okHigh := y.within(m.Y[i])
		if okLeft && okRight && okLow && okHigh {
			path.WriteString("M" + pixel(left) + " " + pixel(low) + "V" + pixel(high) + "H" + pixel(right) + "V" + pixel(low) + "Z")
		}
	}
	w.path(path.String(), m.fill(.45))
	w.path(path.String(), m.stroke(.8))
}

func (m *Mark) rug(w *svg, x, y *Axis) {
	var path strings.Builder
	spread(len(m.X), func(i int) {
		if a, ok := x.at(m.X[i]); ok {
			path.WriteString("M" + pixel(a) + " " + pixel(y.from) + "v-6")
		}
	})
	w.path(path.String(), m.stroke(1)+` stroke-opacity=".5"`)
}

// sample draws how the mark looks in the legend, 22 pixels wide.
func (m *Mark) sample(w *svg, x, y float64) {
	switch m.Shape {
	case Band, Bar:
		w.printf(`<rect x="%s" y="%s" width="22" height="10" %s/>`+"\n", pixel(x), pixel(y-5), m.fill(.35))
	case Points:
		w.path("M"+pixel(x+11)+" "+pixel(y)+"h0", m.stroke(7)+` stroke-linecap="round"`)
	case Rug:
		w.path("M"+pixel(x+5)+" "+pixel(y+4)+"v-8m5 8v-8m7 8v-8", m.stroke(1.2)+` stroke-opacity=".6"`)
	default:
		w.path("M"+pixel(x)+" "+pixel(y)+"h22", m.stroke(m.width()))
		if m.Shape == Interval && len(m.X) > 0 && len(m.Y) > 0 {
			w.path("M"+pixel(x+11)+" "+pixel(y)+"h0", m.stroke(8)+` stroke-linecap="round"`)
		}
	}
}
