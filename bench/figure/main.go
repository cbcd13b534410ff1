// Command figure draws the picture of the README: predictions of held-out rows
// with their intervals against what was measured.
//
//	credence predict gp.safetensors test.csv --keep strength | go run -C bench ./figure > docs/intervals.svg
//
// The table on standard input has the measured value in its first column, and
// mean, lower and upper by name.
package main

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
)

// point is one held-out row.
type point struct{ measured, mean, lower, upper float64 }

func main() {
	if err := draw(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "figure:", err)
		os.Exit(1)
	}
}

func draw(in io.Reader, out io.Writer) error {
	points, label, err := read(in)
	if err != nil {
		return err
	}
	const width, height, margin = 760, 420, 56
	low, high := points[0].lower, points[0].upper
	inside := 0
	for _, p := range points {
		low, high = min(low, p.lower, p.measured), max(high, p.upper, p.measured)
		if p.lower <= p.measured && p.measured <= p.upper {
			inside++
		}
	}
	low, high = min(low, 0), high*1.03
	x := func(v float64) float64 { return margin + (v-low)/(high-low)*(width-2*margin) }
	y := func(v float64) float64 { return height - margin - (v-low)/(high-low)*(height-2*margin) }

	w := bufio.NewWriter(out)
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="13" fill="#333">`+"\n", width, height)
	fmt.Fprintf(w, `<rect width="%d" height="%d" fill="white"/>`+"\n", width, height)
	for tick := 0.0; tick <= high; tick += 20 {
		fmt.Fprintf(w, `<path d="M%.1f %.1fH%.1f M%.1f %.1fV%.1f" stroke="#e4e4e4"/>`+"\n", x(low), y(tick), x(high), x(tick), y(low), y(high))
		fmt.Fprintf(w, `<text x="%.1f" y="%.1f" text-anchor="end">%g</text><text x="%.1f" y="%.1f" text-anchor="middle">%g</text>`+"\n",
			x(low)-8, y(tick)+4, tick, x(tick), y(low)+18, tick)
	}
	fmt.Fprintf(w, `<path d="M%.1f %.1fL%.1f %.1f" stroke="#999" stroke-dasharray="5 4"/>`+"\n", x(low), y(low), x(high), y(high))
	for _, p := range points {
		colour := "#2f6db5"
		if p.measured < p.lower || p.measured > p.upper {
			colour = "#d1495b"
		}
		fmt.Fprintf(w, `<path d="M%.1f %.1fV%.1f" stroke="%s" stroke-opacity="0.45" stroke-width="1.6"/><circle cx="%.1f" cy="%.1f" r="2.4" fill="%s"/>`+"\n",
			x(p.measured), y(p.lower), y(p.upper), colour, x(p.measured), y(p.mean), colour)
	}
	fmt.Fprintf(w, `<text x="%.1f" y="%d" text-anchor="middle">measured %s</text>`+"\n", x((low+high)/2), height-14, label)
	fmt.Fprintf(w, `<text transform="translate(16 %.1f) rotate(-90)" text-anchor="middle">predicted, with 90 %% intervals</text>`+"\n", y((low+high)/2))
	fmt.Fprintf(w, `<text x="%.1f" y="30">%d of %d held-out rows lie inside their 90 %% interval; the others are red</text>`+"\n", x(low), inside, len(points))
	fmt.Fprintln(w, "</svg>")
	return w.Flush()
}

// read returns the rows and the name of the measured column.
func read(in io.Reader) ([]point, string, error) {
	records, err := csv.NewReader(in).ReadAll()
	if err != nil {
		return nil, "", err
	}
	if len(records) < 2 {
		return nil, "", fmt.Errorf("the table has no rows")
	}
	header := records[0]
	columns := []int{0}
	for _, name := range []string{"mean", "lower", "upper"} {
		k := slices.Index(header, name)
		if k < 0 {
			return nil, "", fmt.Errorf("the table has no column %s", name)
		}
		columns = append(columns, k)
	}
	var points []point
	for _, record := range records[1:] {
		var v [4]float64
		for i, k := range columns {
			if v[i], err = strconv.ParseFloat(record[k], 64); err != nil {
				return nil, "", err
			}
		}
		points = append(points, point{v[0], v[1], v[2], v[3]})
	}
	return points, header[0], nil
}
