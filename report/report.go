// Package report writes one file for people about a fitted model: whether to trust it, what matters, pictures of its
// checks, its weights and data, and a form that predicts.
//
//	summary, err := report.Write(ctx, w, report.Input{Models: []report.Model{{Name: "m", Scorer: scorer}}, Rows: rows})
//
// The file is HTML that needs no network and no other file; its content policy forbids both. The same model and rows
// give the same bytes. The form has the model's posterior as data and gives the numbers of predictions, exactly up to
// 300 weights; beyond, factors of covariances are rounded to 16 bits. Figures are those of packages score, effect and
// plot, by the same functions: checks look at 10,000 evenly spread rows.
package report

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed" // for the parts of the page
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"unicode"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/effect"
	"github.com/credence-ml/credence/internal/chart"
	"github.com/credence-ml/credence/metric"
	"github.com/credence-ml/credence/plot"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/table"
)

var (
	//go:embed page.html
	pageText string
	//go:embed page.css
	pageStyle string
	//go:embed form.js
	formScript string
	//go:embed page.js
	pageScript string
	page       = template.Must(template.New("page").Parse(pageText))
)

// Model is a model of a report.
type Model struct {
	Name   string // as people know it
	Scorer *score.Scorer
}

// Input is what a report is about.
type Input struct {
	Models []Model         // the first has the pictures and the form, others are compared with it
	Rows   credence.Source // of data with the target
	Data   *dataset.Table  // the same with all its columns; nil leaves out what is in them
	Files  string          // names of the data, for the commands
	// ModelFile is the name of the first model's file, for the commands; "" is that of the model with .safetensors.
	ModelFile string
	Scores    []*score.Scores   // of every model, where there are several
	Interval  float64           // probability of intervals; 0 means 0.9
	All       bool              // look at all rows, and not at 10,000 evenly spread ones
	Seed      uint64            // of draws
	Threads   int               // 0 means every processor; the report does not depend on it
	Progress  func(part string) // is called before each part of the work
}

// Summary is what a report says in short.
type Summary struct {
	Verdict Verdict            `json:"verdict"`
	Lights  []Light            `json:"lights"`               // converged, approximation, calibration
	Effects []effect.Effect    `json:"effects"`              // the largest first, of numbers by a standard deviation
	Form    bool               `json:"form"`                 // the report has a form that predicts
	NoForm  string             `json:"no_form,omitempty"`    // why it has none
	Rounded bool               `json:"rounded,omitempty"`    // the form's covariances are rounded to 16 bits
	Model   score.Summary      `json:"model"`                // the object of fit
	Scores  *metric.Evaluation `json:"evaluation"`           // that of evaluate, over the rows that were looked at
	Compare *score.Comparison  `json:"comparison,omitempty"` // where there are several models
}

// view is what the page is made of.
type view struct {
	Title, Under, Policy         string
	Style                        template.CSS
	Script, Model, Numbers, JSON template.JS
	Parts                        [][2]string
	Verdict                      Verdict
	Lights                       []Light
	Moved, NoEffects             string
	Top                          []topEffect
	Form                         bool
	Typical                      string
	NoForm, FormNote, First      string // First is the column that the curve begins with
	Sections                     []section
}

// topEffect is an effect with its interval in a bar of 200 units.
type topEffect struct {
	Term, Contrast, Estimate, Low, High string
	Zero, From, To, At                  string
}

type section struct {
	ID, Title, Text string
	Findings        []string
	Figures         []figure
	Tables          []grid
	Code            string
}

type figure struct {
	Name, Caption string
	SVG           template.HTML
}

type grid struct {
	Name   string
	Closed bool
	Head   []string
	Rows   [][]string
}

// Write writes a report, and returns what it says.
func Write(ctx context.Context, w io.Writer, input Input) (*Summary, error) {
	r, err := newWriter(ctx, input)
	if err != nil {
		return nil, err
	}
	v, err := r.view()
	if err != nil {
		return nil, err
	}
	script := "\n" + formScript + pageScript
	style := "\n" + pageStyle + chart.Dark + "\n"
	v.Style, v.Script = template.CSS(style), template.JS(script)
	v.Policy = fmt.Sprintf("default-src 'none'; script-src '%s'; style-src '%s'; base-uri 'none'; form-action 'none'", hash(script), hash(style))
	var out bytes.Buffer
	if err := page.Execute(&out, v); err != nil {
		return nil, err
	}
	// Names that turn the direction of the lines about them, or have what no page may hold, are shown without that; the
	// data of the form keep them.
	shown, data := out.Bytes(), bytes.Index(out.Bytes(), []byte("<script"))
	shown = bytes.Map(func(c rune) rune {
		if unicode.Is(unicode.Bidi_Control, c) || unicode.IsControl(c) && c != '\n' && c != '\t' {
			return unicode.ReplacementChar
		}
		return c
	}, shown[:data])
	_, err = w.Write(append(shown, out.Bytes()[data:]...))
	return &r.summary, err
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// writer makes a report.
type writer struct {
	Input
	ctx      context.Context
	scorer   *score.Scorer
	looked   credence.Source // rows that checks look at
	training bool            // rows are those of the fit
	summary  Summary
	shared   plot.Shared
}

func newWriter(ctx context.Context, input Input) (*writer, error) {
	if len(input.Models) == 0 || input.Models[0].Scorer == nil {
		return nil, errors.New("there is no scorer: make one by score.New")
	}
	r := &writer{Input: input, ctx: ctx, scorer: input.Models[0].Scorer, looked: input.Rows}
	r.Interval = cmp.Or(r.Interval, 0.9)
	switch target := r.scorer.Target(); {
	case r.scorer.Frame() == nil:
		return nil, errors.New("the model was learned online, whose columns are keys: use credence evaluate and inspect, which tell it in numbers")
	case target == "":
		return nil, errors.New("the model has no target: name one in the formula")
	case r.Rows == nil:
		return nil, errors.New("a report compares predictions with targets: give data")
	case r.Rows.Schema().Index(target) < 0:
		return nil, fmt.Errorf("the data lack the target %s, with which predictions are compared: give rows that have it, best such as the model was not fitted to", target)
	}
	if !r.All {
		r.looked = table.SpreadOf(r.Rows, 10_000)
	}
	var err error
	if r.training, err = score.Training(ctx, r.scorer, r.Rows); err != nil {
		return nil, err
	}
	r.summary.Model = score.Summarise(r.scorer.Fitted())
	r.begin("evaluation")
	if r.summary.Scores, err = score.Evaluate(ctx, r.scorer, r.looked); err != nil {
		return nil, err
	}
	if len(r.Scores) > 1 {
		if r.summary.Compare, err = score.Compare(r.Scores...); err != nil {
			return nil, err
		}
		for k := range r.summary.Compare.Models { // pages are shared: they show no folder
			r.summary.Compare.Models[k].Model = r.Models[k].Name
		}
	}
	r.begin("calibration")
	return r, r.judge()
}

// begin tells which part of the work begins.
func (r *writer) begin(part string) {
	if r.Progress != nil {
		r.Progress(part)
	}
}

// picture is the input of pictures.
func (r *writer) picture() plot.Input {
	return plot.Input{Scorer: r.scorer, Rows: r.Rows, Interval: r.Interval, All: r.All, Seed: r.Seed, Threads: r.Threads, Inline: true, Shared: &r.shared}
}

func (r *writer) view() (*view, error) {
	model := &r.summary.Model
	what := "held-out"
	if r.training {
		what = "training"
	}
	v := &view{
		Title: r.scorer.Frame().TargetName() + " · " + r.Models[0].Name, Verdict: r.summary.Verdict, Lights: r.summary.Lights,
		Under: fmt.Sprintf("%s model by %s, %s, %s; fitted to %s, checked on %s %s%s", model.Family, model.Engine, chart.Counted(model.Inputs, "input"), chart.Counted(model.Weights, "weight"),
			chart.Counted(model.Rows, "row"), chart.Counted(r.Rows.Rows(), what+" row"), map[bool]string{true: "of ", false: ""}[r.Files != ""], r.Files),
	}
	ranges, err := rangesOf(r.looked, r.Rows)
	if err != nil {
		return nil, err
	}
	if err := r.addForm(v, ranges); err != nil {
		return nil, err
	}
	for _, part := range []struct {
		name string
		add  func(*view) error
	}{{"effects", r.addEffects}, {"checks", r.addChecks}, {"weights", r.addWeights}, {"comparison", r.addComparison}, {"data", r.addData}, {"commands", r.addCommands}} {
		r.begin(part.name)
		if err := part.add(v); err != nil {
			return nil, err
		}
	}
	if v.Parts = append(v.Parts, [2]string{"trust", "Trust"}); v.Form {
		v.Parts = append(v.Parts, [2]string{"predict", "Predict"})
	}
	for _, s := range v.Sections {
		v.Parts = append(v.Parts, [2]string{s.ID, s.Title})
	}
	figures, err := json.MarshalIndent(r.summary, "", " ")
	v.JSON = template.JS(figures)
	return v, err
}

// addForm adds the form, or says why there is none.
func (r *writer) addForm(v *view, ranges map[string]*columnRange) error {
	f, err := newForm(r.scorer, r.Interval, ranges)
	if err == nil {
		var model []byte
		var numbers string
		if model, numbers, err = f.parts(); err != nil {
			return err
		}
		v.Model, v.Numbers = template.JS(model), template.JS(`"`+numbers+`"`)
		if size := len(model) + len(numbers); size > mostForm {
			err = fmt.Errorf("it would take %.0f MB, and %d at most are held", float64(size)/1e6, mostForm>>20)
		}
	}
	if err != nil {
		r.summary.NoForm = err.Error()
		v.NoForm = fmt.Sprintf("This report has no form: %v. credence predict predicts rows of a file.", err)
		return nil
	}
	v.Form, r.summary.Form, r.summary.Rounded = true, true, f.rounded
	v.FormNote = "The answer follows what is filled in, and is that of credence predict. Sliders span the middle 98 % of the data, boxes take any value, and an empty box is a missing value."
	if f.rounded {
		v.FormNote += fmt.Sprintf(" Covariances of more than %d weights are rounded to 16 bits, which moves standard deviations by less than a thousandth.", exactWeights)
	}
	return nil
}
