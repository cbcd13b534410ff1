package score

import (
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/special"
)

// Smooth is what a smooth term adds to f: rbf(age) or radial(lat, lon). Its weights mean nothing one by one, and
// [Terms] has them.
type Smooth struct {
	Block   string `json:"block"`   // the term
	Weights int    `json:"weights"` // of it
	Columns int    `json:"columns"` // that it is a function of, those of the sparse segment aside
	// Column is the one along which the term varies most between the ends of the training rows, all other columns
	// at their means; "" where the term is of sparse columns, or the model file does not have the ends.
	Column string  `json:"column,omitempty"`
	From   float64 `json:"from,omitzero"` // the end of the column that is less
	To     float64 `json:"to,omitzero"`   // the other end
	// Lowest and Highest are where the term adds least and most to f, against what it adds at the means.
	Lowest  *Effect `json:"lowest,omitempty"`
	Highest *Effect `json:"highest,omitempty"`
	// Straight says that the term is s(x), whose straight part, the weight of the plain column, counts in them.
	Straight bool `json:"-"`
}

// Effect is what a term adds to f at a value of a column, beyond what it adds at the mean of the column.
type Effect struct {
	At   float64 `json:"at"`   // value of the column
	Mean float64 `json:"mean"` // of the posterior
	SD   float64 `json:"sd"`   // of the posterior
}

const (
	// smoothPoints are the values at which a term of one column is taken, both ends among them, and manyPoints those
	// along each of several columns.
	smoothPoints, manyPoints = 65, 17
	// mostSmoothed is the largest number of columns of a term that is followed along each.
	mostSmoothed = 32
)

// Smooths returns the smooth terms of a model, in the order of their weights. Members of a fit are averaged over, for
// the function is theirs together. A term of k columns costs 17 k predictions, of one column 65.
func Smooths(fitted *credence.Fitted) []Smooth {
	set, ok := fitted.Members[0].Model.Features.(*feature.Set)
	if !ok {
		return nil
	}
	fr, _ := fitted.Frame.(*frame.Frame)
	var out []Smooth
	for k, term := range set.Smooths() {
		s := Smooth{Block: term.Block, Weights: term.Count, Columns: len(term.Inputs), Straight: term.Straight}
		if fr != nil && !term.Segment && len(term.Inputs) <= mostSmoothed {
			s.follow(fitted, fr, k)
		}
		out = append(out, s)
	}
	return out
}

// follow takes the k-th smooth term along each of its columns, and stores its lowest and highest values along the one
// where they are farthest apart.
func (s *Smooth) follow(fitted *credence.Fitted, fr *frame.Frame, k int) {
	inputs := fitted.Members[0].Model.Features.(*feature.Set).Smooths()[k].Inputs
	points := smoothPoints
	if len(inputs) > 1 {
		points = manyPoints
	}
	for _, j := range inputs {
		in := &fr.Inputs[j]
		if in.Ends == nil || !(in.Ends[1] > in.Ends[0]) {
			continue
		}
		at, values := make([]float64, points), make([]float64, points)
		for i := range at {
			share := float64(i) / float64(points-1)
			at[i] = in.Ends[0]*(1-share) + in.Ends[1]*share
			values[i] = (at[i] - in.Center) / in.Scale
		}
		mean, sd := smoothEffect(fitted, fr, k, j, values)
		if slices.ContainsFunc(slices.Concat(mean, sd), func(v float64) bool { return !special.Finite(v) }) {
			continue
		}
		low, high := 0, 0
		for i, v := range mean {
			if v < mean[low] {
				low = i
			}
			if v > mean[high] {
				high = i
			}
		}
		if s.Column == "" || mean[high]-mean[low] > s.Highest.Mean-s.Lowest.Mean {
			s.Column, s.From, s.To = in.Name, in.Ends[0], in.Ends[1]
			s.Lowest, s.Highest = &Effect{at[low], mean[low], sd[low]}, &Effect{at[high], mean[high], sd[high]}
		}
	}
}

// smoothEffect returns mean and standard deviation of what the k-th smooth term adds to f where input j has the values,
// as the model reads them, beyond what it adds where all inputs are at their means.
func smoothEffect(fitted *credence.Fitted, fr *frame.Frame, k, j int, values []float64) (mean, sd []float64) {
	n := len(values)
	var rows credence.Batch
	rows.X.Reshape(n+1, len(fr.Inputs))
	clear(rows.X.Data)
	rows.Sparse.Reset(fr.Sparse)
	for i := range n + 1 {
		for c := range fr.Inputs { // the mean, 0 where the column is centred
			if in := &fr.Inputs[c]; in.Kind != credence.Category {
				rows.X.Row(i)[c] = (in.Fill - in.Center) / in.Scale
			}
		}
		if i < n {
			rows.X.Row(i)[j] = values[i]
		}
		rows.Sparse.AppendRow(nil, nil)
	}
	ws := credence.NewWorkspace(0)
	mean, sd = make([]float64, n), make([]float64, n)
	squares, part, variance := make([]float64, n), make([]float64, n), make([]float64, n)
	for m := range fitted.Members {
		member := &fitted.Members[m]
		term := member.Model.Features.(*feature.Set).Smooths()[k]
		var phi, effect credence.Design
		member.Model.Features.Transform(ws, &phi, &rows)
		effect.Dense.Reshape(n, phi.Dense.Cols)
		clear(effect.Dense.Data)
		effect.Sparse.Reset(phi.Sparse.Cols)
		for i := range n {
			for c := term.First; c < term.First+term.Count; c++ {
				effect.Dense.Row(i)[c] = phi.Dense.Row(i)[c] - phi.Dense.Row(n)[c]
			}
			effect.Sparse.AppendRow(nil, nil)
		}
		if term.Straight {
			addLine(&effect, &phi, member.Model.Features.(*feature.Set), fr.Inputs[j].Name)
		}
		member.Posterior.Latent(ws, part, variance, &effect)
		for i, share := 0, fitted.Share(m); i < n; i++ {
			mean[i] += share * part[i]
			squares[i] += share * (variance[i] + part[i]*part[i])
		}
	}
	for i := range sd {
		sd[i] = math.Sqrt(max(0, squares[i]-mean[i]*mean[i]))
	}
	return mean, sd
}

// addLine adds to the effects, beyond those of the last row, what the plain column of this name has.
func addLine(effect, phi *credence.Design, set *feature.Set, name string) {
	n := effect.Dense.Rows
	for c := range phi.Dense.Cols {
		if set.WeightName(c) == name {
			for i := range n {
				effect.Dense.Row(i)[c] = phi.Dense.Row(i)[c] - phi.Dense.Row(n)[c]
			}
		}
	}
}
