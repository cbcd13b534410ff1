package report

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/special"
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
	// Times says that dates have a time of day.
	Times bool `json:"times,omitempty"`
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
	Scores    [][]float64            `json:"scores,omitempty"` // of each value, where grades have probabilities
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

// text returns both in the order of little ends, as text.
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
			end := first + g.Scores
			if c.Classes {
				f.Calibration.Classes = append(f.Calibration.Classes, map[string][]float64{"scores": c.Scores[first:end], "lower": c.Lower[first:end], "upper": c.Upper[first:end]})
			} else {
				f.Calibration.Quantiles = append(f.Calibration.Quantiles, [3]float64{c.Quantile(k, (1-interval)/2), c.Quantile(k, (1+interval)/2), c.Quantile(k, 0.5)})
			}
			if f.Grades != nil {
				f.Calibration.Scores = append(f.Calibration.Scores, c.Scores[first:end])
			}
			first = end
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
			c.Times, c.Text = c.Kind == "date" && (r.low != math.Floor(r.low) || r.high != math.Floor(r.high)), r.text()
		}
	}
	return nil
}

// parts returns the model as JSON, and its numbers as text.
func (f *form) parts() (model []byte, numbers string, err error) {
	model, err = json.Marshal(f)
	return model, f.text(), err
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
	columns, ranges := rows.Schema().Columns, map[string]*columnRange{}
	values := make([][]float64, len(columns))
	err := eachRow(some, func(row []float64) {
		for j, v := range row {
			if columns[j].Kind == credence.Numeric && v == v {
				values[j] = append(values[j], v)
			}
		}
	})
	for j, list := range values {
		if slices.Sort(list); len(list) > 0 {
			ranges[columns[j].Name] = &columnRange{list[0], special.Quantile(list, 0.01), special.Quantile(list, 0.5), special.Quantile(list, 0.99), list[len(list)-1]}
		}
	}
	if err != nil || some.Rows() == rows.Rows() {
		return ranges, err
	}
	return ranges, eachRow(rows, func(row []float64) {
		for j, v := range row {
			if r := ranges[columns[j].Name]; r != nil && v == v {
				r.low, r.high = min(r.low, v), max(r.high, v)
			}
		}
	})
}

// eachRow visits the values of every row of a table.
func eachRow(rows credence.Source, visit func(row []float64)) error {
	for chunk, err := range credence.Chunks(context.Background(), rows) {
		if err != nil {
			return err
		}
		for i := range chunk.Rows() {
			visit(chunk.Values.Row(i))
		}
	}
	return nil
}
