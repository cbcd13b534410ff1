package formula

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/special"
)

const (
	// usualCentres is the number of centres when the formula does not say.
	usualCentres = 50
	mostCentres  = 100_000
	// leastSample is how many rows centres are chosen from at least, and
	// sampleFactor how many for each centre.
	leastSample  = 2000
	sampleFactor = 4
)

// centres chooses rows of the data that lie far from each other, k×d: the first
// at random, each other with probability proportional to the squared distance
// from the nearest one before it (k-means++, Arthur & Vassilvitskii 2007), out
// of a sample that takes one row at random from each of equal runs of rows.
func (f *function) centres(data credence.Data, rng *rand.Rand) ([]float64, error) {
	k := cmp.Or(f.count, usualCentres)
	d := len(f.inputs)
	points, err := sample(data, f.inputs, max(leastSample, sampleFactor*k), rng)
	if err != nil {
		return nil, err
	}
	n := len(points) / d
	distance := make([]float64, n) // squared, from the nearest centre
	var centres []float64
	next := rng.IntN(n)
	for {
		centre := points[next*d : (next+1)*d]
		centres = append(centres, centre...)
		if len(centres) == k*d {
			return centres, nil
		}
		total := 0.0
		for i := range distance {
			sum := 0.0
			for j, c := range centre {
				sum += (points[i*d+j] - c) * (points[i*d+j] - c)
			}
			if len(centres) == d || sum < distance[i] {
				distance[i] = sum
			}
			total += distance[i]
		}
		if !special.Finite(total) {
			return nil, fmt.Errorf("formula: %s: its columns hold values too large for squared distances between rows: scale them, or use a larger unit", f.label)
		}
		if total == 0 {
			if f.count == 0 {
				return centres, nil // every different row is a centre
			}
			return nil, fmt.Errorf("formula: %s: only %d different rows were found for %d centres: ask for fewer", f.label, len(centres)/d, k)
		}
		mark := rng.Float64() * total
		next = -1
		for i, w := range distance {
			if w == 0 {
				continue
			}
			next = i // the last one, should rounding leave a rest
			if mark -= w; mark < 0 {
				break
			}
		}
	}
}

// sample reads the inputs of at most count rows, one from each of equal runs, in
// the order of the rows. Rows of weight 0 are none.
func sample(data credence.Data, inputs []int, count int, rng *rand.Rand) ([]float64, error) {
	rows := data.Rows()
	count = min(count, rows)
	if count == 0 {
		return nil, fmt.Errorf("formula: there are no rows to choose centres from")
	}
	chosen := make([]int, count)
	for i := range chosen {
		first, end := i*rows/count, (i+1)*rows/count
		chosen[i] = first + rng.IntN(end-first)
	}
	points := make([]float64, 0, count*len(inputs))
	var batch credence.Batch
	for len(chosen) > 0 {
		first := chosen[0] / credence.BlockRows * credence.BlockRows
		end := min(first+credence.BlockRows, rows)
		if err := data.Read(&batch, first, end-first); err != nil {
			return nil, err
		}
		inside, _ := slices.BinarySearch(chosen, end)
		for _, row := range chosen[:inside] {
			if batch.WeightOf(row-first) == 0 {
				continue
			}
			x := batch.X.Row(row - first)
			for _, j := range inputs {
				points = append(points, x[j])
			}
		}
		chosen = chosen[inside:]
	}
	if len(points) == 0 {
		return nil, fmt.Errorf("formula: every row that centres may be chosen from has a weight of 0")
	}
	return points, nil
}
