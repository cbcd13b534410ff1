package report

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/quad"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/score"
)

const (
	exactWeights = 300     // up to which covariances are held exactly; beyond, factors are rounded to 16 bits by rows
	mostForm     = 8 << 20 // bytes of a form
	mostKeys     = 20_000
	mostInputs   = 200 // columns that a person may be asked for
)

// form is a model as data that the page predicts by: see form.js, which says what each field means by what it does with
// it.
type form struct {
	Target      string           `json:"target"`
	Interval    float64          `json:"interval"`
	Binary      bool             `json:"binary,omitempty"`
	Classes     []string         `json:"classes,omitempty"`
	Grades      []float64        `json:"grades,omitempty"`
	Columns     []formColumn     `json:"columns"`
	Missing     frame.Policy     `json:"missing,omitempty"`
	Inputs      []formInput      `json:"inputs"`
	Offset      []frame.Expr     `json:"offset,omitempty"`
	Precision   *frame.Expr      `json:"precision,omitempty"`
	Trials      *frame.Expr      `json:"trials,omitempty"`
	Original    *frame.Expr      `json:"original,omitempty"` // of log(price), for price
	Features    [][]formTerm     `json:"features"`
	Members     []formMember     `json:"members"`
	Calibration *formCalibration `json:"calibration,omitempty"`
	Wide        int              `json:"wide"` // numbers of 8 bytes, before those of 2
	numbers                      // that refs point into
	rounded     bool
	sets        []credence.Features
}

// formColumn is a column of the data that a person fills in.
type formColumn struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"`            // number, category, boolean or date
	Input *int   `json:"input,omitempty"` // that has the levels
	// Of a number over the data: the ends, between which sliders move, and the farthest values.
	From *float64 `json:"from,omitempty"`
	To   *float64 `json:"to,omitempty"`
	Low  *float64 `json:"low,omitempty"`
	High *float64 `json:"high,omitempty"`
	Text string   `json:"text"` // that the form begins with
}

type formInput struct {
	frame.Input
	Lacks   *float64 `json:"lacks,omitempty"`   // code of a missing value
	Lenient bool     `json:"lenient,omitempty"` // other levels than those of training are scored
}

type formTerm struct {
	feature.Plain
	Numbers map[string]any `json:"numbers,omitempty"`
}

type formMember struct {
	Share     float64        `json:"share"`
	Features  int            `json:"features"`
	Family    map[string]any `json:"family"`
	Scales    [][2]float64   `json:"scales"`       // factor and weight of the normals that f is a mixture of
	DF        float64        `json:"df,omitempty"` // of f where it is one Student-t
	Posterior map[string]any `json:"posterior"`    // mean, and variance, factor or a sparse covariance
	// of each term, the covariance of the weights of a group that training did not have
	Unseen [][]float64 `json:"unseen,omitempty"`
}

type formCalibration struct {
	By        string                 `json:"by,omitempty"`
	Values    []string               `json:"values"` // of By; the first, "", is all rows
	Quantiles [][3]float64           `json:"quantiles,omitempty"`
	Classes   []map[string][]float64 `json:"classes,omitempty"`
}

// numbers are packed as bytes: those of 8 first.
type numbers struct {
	wide  []float64
	short []int16
	known map[*float64]any
}

// add returns the place of values, which are stored once, or the few themselves.
func (n *numbers) add(values []float64) any {
	if len(values) <= 4 {
		return slices.Concat([]float64{}, values)
	}
	if ref, ok := n.known[&values[0]]; ok {
		return ref
	}
	ref := map[string][2]int{"f": {len(n.wide), len(values)}}
	n.wide, n.known[&values[0]] = append(n.wide, values...), ref
	return ref
}

// bytes returns both in the order of little ends, as text.
func (n *numbers) text() string {
	data := make([]byte, 0, 8*len(n.wide)+2*len(n.short))
	for _, v := range n.wide {
		data = binary.LittleEndian.AppendUint64(data, math.Float64bits(v))
	}
	for _, v := range n.short {
		data = binary.LittleEndian.AppendUint16(data, uint16(v))
	}
	return base64.StdEncoding.EncodeToString(data)
}

// newForm returns the form of a scorer's model, or says why there is none. ranges are those of the columns in the data.
func newForm(s *score.Scorer, interval float64, ranges map[string]*columnRange) (*form, error) {
	fitted, fr := s.Fitted(), s.Frame()
	if fr == nil {
		return nil, errors.New("the model was learned online, and its columns are keys")
	}
	f := &form{Target: fr.TargetName(), Interval: interval, Binary: s.Binary(), Classes: s.Classes(), Grades: s.Grades(), Missing: fr.Missing, numbers: numbers{known: map[*float64]any{}}}
	if fr.Target != nil && len(fr.Target.Expr.Steps) > 0 && fr.Target.Expr.Invertible() && !s.Discrete() {
		f.Original = &fr.Target.Expr
	}
	if err := f.addColumns(fr, ranges); err != nil {
		return nil, err
	}
	for i := range fitted.Members {
		if fitted.Share(i) == 0 {
			continue
		}
		if err := f.addMember(fitted, i); err != nil {
			return nil, err
		}
		if size := 8*len(f.wide) + 2*len(f.short); size/3*4 > mostForm {
			return nil, fmt.Errorf("its numbers take more than %d MB", mostForm>>20)
		}
	}
	if c := fitted.Calibration; c != nil {
		f.Calibration = &formCalibration{By: credence.TextOf(c.By)}
		if f.Calibration.By, _ = credence.CutText(c.By); c.By != "" && !slices.ContainsFunc(f.Columns, func(o formColumn) bool { return o.Name == f.Calibration.By }) {
			f.Columns = append(f.Columns, formColumn{Name: f.Calibration.By, Kind: "text"})
		}
		first := 0
		for k, g := range c.Groups {
			f.Calibration.Values = append(f.Calibration.Values, g.Value)
			if end := first + g.Scores; c.Classes {
				f.Calibration.Classes = append(f.Calibration.Classes, map[string][]float64{"scores": c.Scores[first:end], "lower": c.Lower[first:end], "upper": c.Upper[first:end]})
				first = end
			} else {
				f.Calibration.Quantiles = append(f.Calibration.Quantiles, [3]float64{c.Quantile(k, (1-interval)/2), c.Quantile(k, (1+interval)/2), c.Quantile(k, 0.5)})
			}
		}
	}
	f.Wide = len(f.wide)
	return f, nil
}

// addColumns adds the frame, and the columns that it reads.
func (f *form) addColumns(fr *frame.Frame, ranges map[string]*columnRange) error {
	if fr.Sparse > 0 {
		return errors.New("rows are sparse, and their columns have no names of their own")
	}
	at := map[string]int{}
	plain := func(e frame.Expr, kind string) frame.Expr {
		e.Column, _ = credence.CutText(e.Column)
		k, known := at[e.Column]
		if !known && e.Column != "" {
			k, at[e.Column] = len(f.Columns), len(f.Columns)
			f.Columns = append(f.Columns, formColumn{Name: e.Column, Kind: kind})
		}
		if e.Column != "" && kind != "category" && f.Columns[k].Kind == "category" { // what is a number too is typed
			f.Columns[k] = formColumn{Name: e.Column, Kind: kind}
		}
		return e
	}
	for i := range fr.Inputs {
		in := formInput{Input: fr.Inputs[i], Lenient: fr.Lenient(&fr.Inputs[i].Expr)}
		kind := "number"
		switch plainly := len(in.Expr.Steps) == 0 && !in.Indicates; {
		case in.Segment:
			return errors.New("rows are sparse, and their columns have no names of their own")
		case plainly && in.Kind == credence.Category:
			kind = "category"
		case plainly && in.Kind == credence.Boolean:
			kind = "boolean"
		}
		if _, known := at[in.Expr.Column]; in.Indicates && known {
			kind = "category" // which leaves the column as it is
		}
		in.Expr = plain(in.Expr, kind)
		if in.Kind == credence.Category && (in.Expr.Keyed || in.Expr.Grouped && (slices.Contains(in.Levels, "(missing)") || in.Lenient)) {
			in.Lacks = new(float64(slices.Index(in.Levels, "(missing)")))
		}
		if c := &f.Columns[at[in.Expr.Column]]; kind == "category" && c.Kind == kind && c.Input == nil && !in.Indicates {
			c.Input = new(len(f.Inputs))
			c.Text = in.Levels[int(in.Fill)]
		} else if kind == "boolean" {
			c.Text = fmt.Sprint(in.Fill >= 0.5)
		}
		f.Inputs = append(f.Inputs, in)
	}
	for _, e := range fr.Offset {
		f.Offset = append(f.Offset, plain(e, "number"))
	}
	if fr.Precision != nil {
		f.Precision = new(plain(*fr.Precision, "number"))
	}
	if fr.Trials != nil {
		f.Trials = new(plain(*fr.Trials, "number"))
	}
	if len(f.Columns) > mostInputs {
		return fmt.Errorf("its %d columns are more than %d that a person fills in", len(f.Columns), mostInputs)
	}
	for k := range f.Columns {
		c := &f.Columns[k]
		if fr.Reading.Notations[c.Name].Date != "" {
			c.Kind = "date"
		}
		if r := ranges[c.Name]; r != nil && (c.Kind == "number" || c.Kind == "date") {
			c.From, c.To, c.Low, c.High = &r.from, &r.to, &r.low, &r.high
			c.Text = r.text()
		}
	}
	return nil
}

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
	levels, ok := law.(credence.UnseenLevels)
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

// familyOf is a likelihood by its name and parameters.
func familyOf(l credence.Likelihood) (map[string]any, error) {
	named, ok := l.(likelihood.Named)
	if !ok {
		return nil, fmt.Errorf("its family %T is not told as data", l)
	}
	f := map[string]any{"name": named.Name()}
	if link, _ := likelihood.Describe(l); link != "" {
		f["link"] = link
	}
	switch l := l.(type) {
	case likelihood.Gaussian:
		f["noise"] = l.Variance(0)
		if l.StudentPredictive() {
			f["df"] = l.PredictiveDF
		}
	case likelihood.StudentT:
		f["df"], f["scale"] = l.DegreesOfFreedom.Or(4), l.Scale.Or(1)
	case likelihood.Gamma:
		f["shape"] = l.Shape.Or(1)
	case likelihood.NegativeBinomial:
		f["size"] = l.Size.Or(1)
	case likelihood.Binomial:
		f["trials"] = max(1, l.Trials)
	case likelihood.Ordinal:
		f["cuts"] = slices.Concat(l.Cutpoints.Values)
	case likelihood.Bernoulli, likelihood.Poisson:
	default:
		return nil, fmt.Errorf("its family %s is not told as data", named.Name())
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
		mean, variance = q.Mean, q.Variance
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
			for name, of := range known.(map[string]any) {
				out[name] = of
			}
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
		largest := 0.0
		for _, v := range rows[:n] {
			largest = max(largest, math.Abs(v))
		}
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
	level := make([][2]int, d) // the run of a weight, from 1, and the group
	for k, run := range set.LevelRuns() {
		for j := range run.Levels * run.Columns {
			level[run.First+j] = [2]int{k + 1, j / run.Columns}
		}
	}
	var pairs [][2]int
	start, index, value := []float64{0}, []float64{}, []float64{}
	for i := range d {
		for j := range i + 1 {
			if a, b := level[i], level[j]; a[0] == 0 || a[0] != b[0] || a[1] == b[1] {
				pairs, index = append(pairs, [2]int{i, j}), append(index, float64(j))
			}
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

// columnRange is what the data have of a number: the 1st and 99th percentile, the middle, and the ends.
type columnRange struct{ low, from, middle, to, high float64 }

func (r *columnRange) text() string {
	digits := 3 - math.Ceil(math.Log10(max(r.to-r.from, 1e-300)))
	if unit := math.Pow(10, -digits); digits <= 0 {
		return strconv.FormatFloat(math.Round(r.middle/unit)*unit, 'f', 0, 64)
	}
	return strconv.FormatFloat(r.middle, 'f', int(min(digits, 300)), 64)
}

// rangesOf returns those of the numbers of a table: the ends of all rows, and percentiles of some.
func rangesOf(some, rows credence.Source) (map[string]*columnRange, error) {
	columns := rows.Schema().Columns
	values, ends := make([][]float64, len(columns)), make([][2]float64, len(columns))
	err := eachRow(some, func(row []float64) {
		for j, v := range row {
			if columns[j].Kind == credence.Numeric && v == v {
				values[j] = append(values[j], v)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	ranges := map[string]*columnRange{}
	for j, list := range values {
		if slices.Sort(list); len(list) > 0 {
			ranges[columns[j].Name], ends[j] = &columnRange{from: special.Quantile(list, 0.01), middle: special.Quantile(list, 0.5), to: special.Quantile(list, 0.99)}, [2]float64{list[0], list[0]}
		}
	}
	err = eachRow(rows, func(row []float64) {
		for j, v := range row {
			if v == v && len(values[j]) > 0 {
				ends[j] = [2]float64{min(ends[j][0], v), max(ends[j][1], v)}
			}
		}
	})
	for j, c := range columns {
		if r := ranges[c.Name]; r != nil {
			r.low, r.high = ends[j][0], ends[j][1]
		}
	}
	return ranges, err
}

// eachRow visits the values of every row of a table.
func eachRow(rows credence.Source, visit func(row []float64)) error {
	var chunk credence.Chunk
	for first, count := range credence.Blocks(rows.Rows()) {
		if err := rows.Read(&chunk, first, count); err != nil {
			return err
		}
		for i := range count {
			visit(chunk.Values.Row(i))
		}
	}
	return nil
}

// parts returns the model as JSON, and its numbers as text.
func (f *form) parts() (model []byte, numbers string, err error) {
	model, err = json.Marshal(f)
	return model, f.text(), err
}
