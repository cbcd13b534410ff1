package imaging

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/convex"
	"github.com/credence-ml/credence/linop"
)

// Lines are rows of the Fourier transform of an image, such as a scanner measures one after another. A real image
// has at frequency −p the conjugate of what it has at p, so that they come in pairs.
type Lines []int

// NewLines draws pairs of lines ±k of an image's height without replacement until there are count lines: the lowest
// frequencies, as many as centre, and others with a density that falls with the frequency.
func NewLines(height, count, centre int, seed uint64) Lines {
	rng := credence.Rand(seed, credence.ImagingLines, 0)
	type key struct {
		pair  int
		order float64
	}
	keys := make([]key, height/2+1)
	for k := range keys {
		// The smallest of exponential times at rates r are a sample by weights r (Efraimidis & Spirakis 2006).
		keys[k] = key{k, rng.ExpFloat64() * math.Pow(1+float64(k), lineDecay)}
		if 2*k <= centre {
			keys[k].order = -1
		}
	}
	slices.SortStableFunc(keys, func(a, b key) int { return cmp.Compare(a.order, b.order) })
	var lines Lines
	for _, k := range keys {
		if len(lines) < count {
			lines = append(lines, Pair(height, k.pair)...)
		}
	}
	slices.Sort(lines)
	return lines
}

// ReadMask reads the lines of an image's height that a .npy file of as many numbers has at other than 0.
func ReadMask(path string, height int) (Lines, error) {
	_, values, err := ReadArray(path)
	if err != nil {
		return nil, err
	}
	if len(values) != height {
		return nil, fmt.Errorf("%s: %d numbers for the %d lines of an image", path, len(values), height)
	}
	var lines Lines
	for k, v := range values {
		if v != 0 {
			lines = append(lines, k)
		}
	}
	if len(lines) == 0 {
		return nil, fmt.Errorf("%s: no line is measured", path)
	}
	return lines, nil
}

// lineDecay is the power of the frequency by which the density of lines falls.
const lineDecay = 1.5

// Pair returns the lines k and −k of an image's height: one where they are the same.
func Pair(height, k int) Lines {
	if opposite := (height - k) % height; opposite != k {
		return Lines{k, opposite}
	}
	return Lines{k}
}

// Places returns the frequencies on the lines, for linop.NewFourier.
func (l Lines) Places(width int) []int {
	var places []int
	for _, line := range l {
		for j := range width {
			places = append(places, line*width+j)
		}
	}
	return places
}

// Scan measures lines of an image; the answer is that of linop.NewFourier at their places.
type Scan func(lines Lines) []float64

// Choose scans lines a few pairs at a time, from those given until there are count: those of which the posterior
// so far says that they would tell most of the image. Between scans the model, whose X and Y it sets, is solved
// anew by the options; one more solve has all lines. The last pairs may exceed the count by one line.
func (m Model) Choose(ctx context.Context, scan Scan, first Lines, count, pairs int, options convex.Options) (Lines, *Reconstruction, error) {
	lines := slices.Clone(first)
	m.Y = scan(lines)
	all := linop.NewFourier(m.Height, m.Width, nil)
	for {
		m.X = linop.NewFourier(m.Height, m.Width, lines.Places(m.Width))
		now, err := m.Reconstruct(ctx, options)
		if err != nil || len(lines) >= count {
			return lines, now, err
		}
		options.Start = now.Solution
		var open []Lines
		var rows [][]int
		for k := range m.Height/2 + 1 {
			if slices.Contains(lines, k) {
				continue
			}
			pair := Pair(m.Height, k)
			open = append(open, pair)
			var of []int
			for _, p := range pair[:1].Places(m.Width) { // −k has the conjugates
				of = append(of, 2*p, 2*p+1)
			}
			rows = append(rows, of)
		}
		picked, _, err := now.Solution.Next(all, rows, min(pairs, (count-len(lines)+1)/2), options.Threads)
		if err != nil {
			return lines, now, err
		}
		for _, c := range picked {
			lines = append(lines, open[c]...)
			m.Y = append(m.Y, scan(open[c])...)
		}
	}
}
