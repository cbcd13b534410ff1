package apply

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset/output"
	"github.com/credence-ml/credence/effect"
	"github.com/credence-ml/credence/metric"
	"github.com/credence-ml/credence/score"
)

// MostSamples is the largest number of draws of a row.
const MostSamples = 10_000

// Answers say what is written of a row: the texts of the columns to keep, the mean and sd of its target, the lower and
// upper end of the interval, the probability of the positive class or of each grade, the median under
// [score.Options].Original, and what is asked for here.
type Answers struct {
	Mean    bool   // mean_lower and mean_upper, the interval of E y
	Latent  bool   // f_mean and f_sd, of the value before the link
	Density bool   // log_density of the target, where the files have targets
	Samples int    // draws of the target, up to MostSamples
	Seed    uint64 // of the draws
}

// Validate refuses a number of draws that there cannot be.
func (a Answers) Validate() error {
	if a.Samples < 0 || a.Samples > MostSamples {
		return fmt.Errorf("--samples %d is not between 0 and %d", a.Samples, MostSamples)
	}
	return nil
}

// columns names what is written of a row, behind the texts.
func (a Answers) columns(f *File) []string {
	names := []string{"mean", "sd", "lower", "upper"}
	switch classes := f.scorer.Classes(); {
	case len(classes) == 0:
	case f.scorer.Binary():
		if names = append(names, "probability"); f.scorer.Fitted().Calibration != nil {
			names = append(names, "probability_lower", "probability_upper")
		}
	default:
		for _, grade := range classes {
			names = append(names, "probability_"+grade)
		}
	}
	if f.scorer.Original() {
		names = append(names, "median")
	}
	if a.Mean {
		names = append(names, "mean_lower", "mean_upper")
	}
	if a.Latent {
		names = append(names, "f_mean", "f_sd")
	}
	if a.Density {
		names = append(names, "log_density")
	}
	for k := range a.Samples {
		names = append(names, fmt.Sprintf("sample_%d", k+1))
	}
	return names
}

// appendTo appends what is written of row i, in the order of the columns.
func (a Answers) appendTo(row []float64, rows *score.Rows, i int, means [2][]float64) ([]float64, error) {
	p := rows.Predict(i)
	row = append(row, p.Mean, p.SD, p.Lower, p.Upper)
	if rows.Scorer().Binary() {
		if row = append(row, p.Probability); rows.Scorer().Fitted().Calibration != nil {
			row = append(row, p.ProbabilityLower, p.ProbabilityUpper)
		}
	} else {
		row = rows.Probabilities(row, i)
	}
	if rows.Scorer().Original() {
		row = append(row, p.Median)
	}
	if a.Mean {
		row = append(row, means[0][i], means[1][i])
	}
	if a.Latent {
		mean, variance := rows.Latent(i)
		row = append(row, mean, math.Sqrt(variance))
	}
	if a.Density {
		density := math.NaN() // an empty cell, where the row has no target
		if y := rows.Target(i); y == y {
			density = rows.LogDensity(i, y)
		}
		row = append(row, density)
	}
	if a.Samples > 0 {
		rng := credence.Rand(a.Seed, credence.PredictSamples, uint64(rows.First()+i))
		for range a.Samples {
			draw, err := rows.Sample(i, rng)
			if err != nil {
				return nil, err
			}
			row = append(row, draw)
		}
	}
	return row, nil
}

// Write writes what is predicted of every row, in their order, to w, as a table of the format that the extension of
// path names, see [output.New]; kept columns of plain numbers are numbers in Parquet, and rows that lack a value have
// empty cells, as the log density of a target that the model holds impossible. It returns how many rows there were.
func (f *File) Write(ctx context.Context, w io.Writer, path string, a Answers) (total int, err error) {
	if err := a.Validate(); err != nil {
		return 0, err
	}
	a.Density = a.Density && f.HasTargets()
	names := a.columns(f)
	density := slices.Index(names, "log_density")
	columns := append(output.Texts(f.options.Keep...), output.Numbers(names...)...)
	for j, name := range f.options.Keep {
		columns[j].Number = f.table.NumberOf(name)
	}
	out, err := output.New(w, path, columns)
	if err != nil {
		return 0, err
	}
	err = f.Each(ctx, func(rows *score.Rows) error {
		n, width := rows.Len(), len(names)
		total += n
		var means [2][]float64
		if a.Mean {
			if means[0], means[1], err = rows.MeanIntervals(); err != nil {
				return err
			}
		}
		cells, failed := make([]float64, n*width), make([]error, n)
		rows.Each(func(i int) {
			row := cells[i*width : i*width : (i+1)*width]
			if !rows.Lacks(i) {
				_, failed[i] = a.appendTo(row, rows, i, means)
				return
			}
			for range width {
				row = append(row, math.NaN())
			}
		})
		for k := density; density >= 0 && k < len(cells); k += width {
			if math.IsInf(cells[k], -1) { // a file has no infinity
				cells[k] = math.NaN()
				f.impossible++
			}
		}
		var texts [][]byte
		for i, err := range failed {
			if err == nil && len(f.options.Keep) > 0 {
				texts, err = f.Kept(texts, rows, i)
			}
			if err != nil {
				return err
			}
		}
		err := out.Write(rows.Each, cells, texts...)
		if err == nil && f.options.Live {
			err = out.Flush()
		}
		return err
	})
	if err == nil {
		err = out.Close()
	} else {
		out.Flush() // the rows before the one at fault
	}
	return total, err
}

// mostCells is the largest number of numbers that draws of rows are held in before they are written: half a gigabyte.
const mostCells = 1 << 26

// WriteDraws writes draws of a posterior to w, one a row, as a table of the format that the extension of path names,
// see [output.New]: behind .chain, .iteration and .draw, which R's posterior and ArviZ know, the weights and parameters
// of [score.Draws.Parameters] or, with a file, f[1], mean[1] and y[1] of its first row, and so on. It returns the
// number of columns behind those three, and the blocks that are left out.
func WriteDraws(ctx context.Context, w io.Writer, path string, draws *score.Draws, f *File) (columns int, left []string, err error) {
	if draws == nil {
		return 0, nil, errors.New("there are no draws: make them by score.Scorer.Draw")
	}
	var names []string
	var values []float64 // draws × names
	if f == nil {
		names, values, left, err = draws.Parameters()
	} else {
		names, values, err = f.draw(ctx, draws)
	}
	if err != nil {
		return 0, nil, err
	}
	out, err := output.New(w, path, append(output.Numbers(".chain", ".iteration", ".draw"), output.Numbers(names...)...))
	if err != nil {
		return 0, nil, err
	}
	var cells []float64
	for s := range draws.Count {
		cells = append(append(cells[:0], 1, float64(s+1), float64(s+1)), values[s*len(names):(s+1)*len(names)]...)
		if err := out.Write(nil, cells); err != nil {
			return 0, nil, err
		}
	}
	return len(names), left, out.Close()
}

// draw returns draws of all rows, and the names of their columns.
func (f *File) draw(ctx context.Context, draws *score.Draws) (names []string, values []float64, err error) {
	var parts [3][]float64 // rows × draws
	total := 0
	err = f.Each(ctx, func(rows *score.Rows) error {
		if total += rows.Len(); 3*total*draws.Count > mostCells {
			return fmt.Errorf("%d draws of more than %d rows are more than memory should hold: give fewer rows or ask for fewer draws; predict --samples writes draws of y of any number of rows", draws.Count, mostCells/3/draws.Count)
		}
		f, mean, y, err := draws.Rows(rows)
		for k, part := range [3][]float64{f, mean, y} {
			parts[k] = append(parts[k], part...)
		}
		for i := rows.First(); err == nil && i < total; i++ {
			for _, name := range [3]string{"f", "mean", "y"} {
				names = append(names, fmt.Sprintf("%s[%d]", name, i+1))
			}
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	values = make([]float64, 0, 3*total*draws.Count)
	for s := range draws.Count {
		for i := range total {
			for _, part := range parts {
				values = append(values, part[i*draws.Count+s])
			}
		}
	}
	return names, values, nil
}

// WriteTerms writes weights to w, with exponentials and inclusions where there are any, as a table of the format that
// the extension of path names, see [output.New].
func WriteTerms(w io.Writer, path string, terms []score.Term) error {
	columns := append(output.Texts("block", "name"), output.Numbers("mean", "sd", "lower", "upper")...)
	if len(terms) > 0 && terms[0].Exp != nil {
		columns = append(columns, output.Numbers("exp", "exp_lower", "exp_upper")...)
	}
	inclusions := slices.ContainsFunc(terms, func(t score.Term) bool { return t.Inclusion != nil })
	if inclusions {
		columns = append(columns, output.Numbers("inclusion")...)
	}
	out, err := output.New(w, path, columns)
	if err != nil {
		return err
	}
	for _, t := range terms {
		cells := []float64{t.Mean, float64(t.SD), float64(t.Lower), float64(t.Upper)}
		if t.Exp != nil {
			cells = append(cells, t.Exp.Estimate, float64(t.Exp.Lower), float64(t.Exp.Upper))
		}
		if t.Inclusion != nil {
			cells = append(cells, *t.Inclusion)
		} else if inclusions {
			cells = append(cells, math.NaN())
		}
		if err := out.Write(nil, cells, []byte(t.Block), []byte(t.Name)); err != nil {
			return err
		}
	}
	return out.Close()
}

// WriteEffects writes effects to w, with a column for each that they are told by, as a table of the format that the
// extension of path names, see [output.New].
func WriteEffects(w io.Writer, path string, effects []effect.Effect) error {
	columns := output.Texts("term", "contrast")
	if len(effects) > 0 {
		for _, by := range effects[0].By {
			columns = append(columns, output.Texts(by.Column)...)
		}
	}
	rows := len(effects) > 0 && effects[0].Row > 0
	if rows {
		columns = append(columns, output.Numbers("row")...)
	}
	columns = append(columns, output.Numbers("estimate", "std_error", "conf_low", "conf_high", "p_direction", "mcse")...)
	out, err := output.New(w, path, append(columns, output.Texts("method")...))
	if err != nil {
		return err
	}
	for _, e := range effects {
		texts := [][]byte{[]byte(e.Term), []byte(e.Contrast)}
		for _, by := range e.By {
			texts = append(texts, []byte(by.Value))
		}
		var cells []float64
		if rows {
			cells = append(cells, float64(e.Row))
		}
		for _, v := range []metric.Score{e.Estimate, e.StdError, e.Low, e.High, e.Direction, e.MCSE} {
			if !v.Defined() {
				v = metric.Score(math.NaN())
			}
			cells = append(cells, float64(v))
		}
		if err := out.Write(nil, cells, append(texts, []byte(e.Method))...); err != nil {
			return err
		}
	}
	return out.Close()
}
