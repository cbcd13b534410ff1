package report

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/internal/quad"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/posterior"
)

func (f *form) addMember(fitted *credence.Fitted, i int) error {
	m := &fitted.Members[i]
	set, ok := m.Model.Features.(*feature.Set)
	if !ok {
		return fmt.Errorf("its features %T are not told as data", m.Model.Features)
	}
	plain, err := set.Plain()
	if err != nil {
		return err
	}
	out := formMember{Share: fitted.Share(i), Features: slices.Index(f.sets, m.Model.Features), Scales: [][2]float64{{1, 1}}}
	law := fitted.UnseenPrior(i)
	for _, t := range plain {
		if len(t.Keys) > mostKeys {
			return fmt.Errorf("it has %d keys, more than %d", len(t.Keys), mostKeys)
		}
		out.Unseen = append(out.Unseen, unseenOf(law, &t))
	}
	if law == nil {
		out.Unseen = nil
	}
	if out.Features < 0 {
		var terms []formTerm
		for _, t := range plain {
			of := formTerm{Plain: t, Numbers: map[string]any{}}
			for name, values := range t.Numbers {
				of.Numbers[name] = f.add(values)
			}
			terms = append(terms, of)
		}
		out.Features = len(f.sets)
		f.sets, f.Features = append(f.sets, m.Model.Features), append(f.Features, terms)
	}
	if out.Family, err = familyOf(m.Model.Likelihood); err != nil {
		return err
	}
	own, _ := m.Model.Likelihood.(likelihood.Gaussian)
	if t, is := m.Posterior.(credence.LatentDF); is && t.LatentDF() > 0 && !math.IsInf(t.LatentDF(), 1) {
		scales := []quad.Scale{{Factor: 1, Weight: 1}}
		if !own.StudentPredictive() {
			scales = quad.Scales(t.LatentDF())
		}
		if out.Scales = nil; len(scales) == 1 {
			out.DF = t.LatentDF()
		}
		for _, s := range scales {
			out.Scales = append(out.Scales, [2]float64{s.Factor, s.Weight})
		}
	}
	if out.Posterior, err = f.posteriorOf(m, set); err != nil {
		return err
	}
	f.Members = append(f.Members, out)
	return nil
}

// unseenOf is the covariance of the weights of a further group of a term, nil where it has none.
func unseenOf(law credence.UnseenPrior, t *feature.Plain) []float64 {
	if law == nil || t.Kind != "levels" && t.Kind != "keys" || t.Kind == "levels" && len(t.Key) == 0 {
		return nil
	}
	levels, ok := law.(ability.UnseenLevels)
	k := max(1, t.Width)
	list := make([]float64, k*k)
	if k == 1 || !ok {
		for i := range k {
			list[i*k+i] = law.UnseenVariance(t.Unseen)
		}
		return list
	}
	of := func(i, j int) float64 {
		z := make([]float64, k)
		z[i]++
		z[j]++
		return levels.UnseenForm(t.Unseen, z)
	}
	for i := range k {
		for j := range k { // zᵀGz at e_i + e_j
			list[i*k+j] = (of(i, j) - of(i, i)/4 - of(j, j)/4) / 2
		}
	}
	return list
}

// familyOf is a likelihood by its name, link and parameters, of the families that form.js computes.
func familyOf(l credence.Likelihood) (map[string]any, error) {
	named, ok := l.(likelihood.Named)
	if !ok || !strings.Contains(formScript, "\n    "+named.Name()+": p => ") {
		return nil, fmt.Errorf("its family %T is not told as data", l)
	}
	f := map[string]any{"name": named.Name()}
	if link, _ := likelihood.Describe(l); link != "" {
		f["link"] = link
	}
	switch l := l.(type) {
	case likelihood.Binomial:
		f["trials"] = max(1, l.Trials)
	case likelihood.Ordinal:
		f["cuts"] = slices.Concat(l.Cutpoints.Values)
	case likelihood.Parametric:
		for _, p := range l.Parameters() {
			f[p.Name] = p.Value
		}
	}
	if l, is := l.(likelihood.Gaussian); is && l.StudentPredictive() {
		f["df"] = l.PredictiveDF
	}
	return f, nil
}

// posteriorOf is a posterior as data.
func (f *form) posteriorOf(m *credence.Member, set *feature.Set) (map[string]any, error) {
	d := m.Posterior.Weights()
	out := map[string]any{"weights": d}
	mean, variance := make([]float64, d), make([]float64, d)
	switch q := m.Posterior.(type) {
	case *posterior.Diagonal:
		mean, variance = q.Mean, q.Variance
	case *posterior.SpikeSlab:
		if mean, variance = q.Mean, q.Variance; q.Centre != nil {
			out["centre"] = f.add(q.Centre)
		}
	case *posterior.Mixture:
		mean, variance = q.Means, q.Variances
	case *posterior.Draws:
		if mean, variance = q.Mean, nil; mean == nil {
			for k := range q.Components() {
				s := k * q.Count / q.Components()
				mean = append(mean, q.Values[s*d:(s+1)*d]...)
			}
			break
		}
		rows := make([]float64, 0, q.Count*d)
		for _, v := range q.Values {
			rows = append(rows, v/math.Sqrt(float64(q.Count)))
		}
		f.addFactor(out, "full", d, rows)
	case *posterior.Full:
		mean, variance = q.Mean, nil
		if known, ok := f.known[&q.Factor[0]]; ok { // members may share it
			maps.Copy(out, known.(map[string]any))
			break
		}
		var rows []float64
		for j := range d {
			for i := range j + 1 {
				rows = append(rows, q.Factor[i*d+j])
			}
		}
		f.addFactor(out, "lower", d, rows)
		f.known[&q.Factor[0]] = map[string]any{"shape": out["shape"], "factor": out["factor"], "units": out["units"]}
	case *posterior.Arrow:
		q.Marginals(mean, variance)
		f.addSparse(out, q, set, variance)
		variance = nil
	case credence.Joint:
		q.Marginals(mean, variance)
		variance = nil
		root, err := posterior.Root(credence.NewWorkspace(0), q, set.DenseWeights())
		if err != nil {
			return nil, err
		}
		var rows []float64
		for i := range d {
			rows = append(rows, root[i*d+i:(i+1)*d]...)
		}
		f.addFactor(out, "upper", d, rows)
	default:
		return nil, fmt.Errorf("its posterior %s is not told as data", reflect.TypeOf(q))
	}
	out["mean"] = f.add(mean)
	if variance != nil {
		out["variance"] = f.add(variance)
	}
	return out, nil
}

// addFactor adds the rows of a factor of the covariance: of many weights each rounded to 16 bits of its largest number.
func (f *form) addFactor(out map[string]any, shape string, d int, rows []float64) {
	if out["shape"] = shape; d <= exactWeights {
		out["factor"] = f.add(rows)
		return
	}
	f.rounded = true
	var units []float64
	first := len(f.short)
	for k := 0; len(rows) > 0; k++ {
		n := map[string]int{"full": d, "lower": k + 1, "upper": d - k}[shape]
		largest := floats.Norm(rows[:n], math.Inf(1))
		unit := max(largest/math.MaxInt16, math.SmallestNonzeroFloat64)
		for _, v := range rows[:n] {
			f.short = append(f.short, int16(math.Round(v/unit)))
		}
		units, rows = append(units, unit), rows[n:]
	}
	out["factor"], out["units"] = map[string][2]int{"h": {first, len(f.short) - first}}, f.add(units)
}

// addSparse adds the covariances of weights that a row may have together, as predictions count them: none of two groups
// of the same term.
func (f *form) addSparse(out map[string]any, q *posterior.Arrow, set *feature.Set, variance []float64) {
	d, dense := len(q.Mean), set.DenseWeights()
	own := make([][2]int, d) // the weights of a weight's run before its own group
	for _, run := range set.LevelRuns() {
		for j := range run.Levels * run.Columns {
			own[run.First+j] = [2]int{run.First, run.First + j - j%run.Columns}
		}
	}
	var pairs [][2]int
	start, index, value := []float64{0}, []float64{}, []float64{}
	for i := range d {
		for j := 0; j <= i; j++ {
			if j == own[i][0] {
				j = own[i][1]
			}
			pairs, index = append(pairs, [2]int{i, j}), append(index, float64(j))
		}
		start = append(start, float64(len(pairs)))
	}
	ws := credence.NewWorkspace(0)
	for chunk := range slices.Chunk(pairs, credence.BlockRows) {
		phi := &credence.Design{Dense: linop.NewDense(len(chunk), dense)}
		phi.Sparse.Reset(d - dense)
		for r, pair := range chunk {
			var at []int32
			var values []float64
			for _, w := range []int{pair[1], pair[0]} {
				if w < dense {
					phi.Dense.Row(r)[w]++
				} else if len(at) == 0 || at[len(at)-1] != int32(w-dense) {
					at, values = append(at, int32(w-dense)), append(values, 1)
				}
			}
			phi.Sparse.AppendRow(at, values)
		}
		mean, of := make([]float64, len(chunk)), make([]float64, len(chunk))
		q.Latent(ws, mean, of, phi)
		for r, pair := range chunk {
			if i, j := pair[0], pair[1]; i == j {
				value = append(value, variance[i])
			} else {
				value = append(value, (of[r]-variance[i]-variance[j])/2)
			}
		}
	}
	out["start"], out["index"], out["value"] = f.add(start), f.add(index), f.add(value)
}
