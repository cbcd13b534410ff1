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
	"math"
	"slices"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/effect"
	"github.com/credence-ml/credence/internal/chart"
	"github.com/credence-ml/credence/look"
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
	Models   []Model           // the first has the pictures and the form, others are compared with it
	Rows     credence.Source   // of data with the target
	Data     *dataset.Table    // the same with all its columns; nil leaves out what is in them
	Files    string            // names of the data, for the commands
	Scores   []*score.Scores   // of every model, where there are several
	Interval float64           // probability of intervals; 0 means 0.9
	All      bool              // look at all rows, and not at 10,000 evenly spread ones
	Seed     uint64            // of draws
	Threads  int               // 0 means every processor; the report does not depend on it
	Progress func(part string) // is called before each part of the work
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
	_, err = w.Write(out.Bytes())
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
		return nil, errors.New("the model was learned online, whose columns are keys: evaluate and inspect tell it in numbers")
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
		Under: fmt.Sprintf("%s model by %s, %s, %s; fitted to %s, checked on %s %s%s", model.Family, model.Engine, counted(model.Inputs, "input"), counted(model.Weights, "weight"),
			counted(model.Rows, "row"), counted(r.Rows.Rows(), what+" row"), map[bool]string{true: "of ", false: ""}[r.Files != ""], r.Files),
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
	if err != nil {
		r.summary.NoForm = err.Error()
		v.NoForm = fmt.Sprintf("This report has no form: %v. credence predict predicts rows of a file.", err)
		return nil
	}
	model, numbers, err := f.parts()
	if err != nil {
		return err
	}
	if size := len(model) + len(numbers); size > mostForm {
		r.summary.NoForm = fmt.Sprintf("it would take %.0f MB, and %d at most are held", float64(size)/1e6, mostForm>>20)
		v.NoForm = "This report has no form: " + r.summary.NoForm + ". credence predict predicts rows of a file."
		return nil
	}
	r.summary.Form, r.summary.Rounded = true, f.rounded
	v.Form, v.Model, v.Numbers = true, template.JS(model), template.JS(`"`+numbers+`"`)
	v.FormNote = "The numbers are those of credence predict. Sliders span the middle 98 % of the data, boxes take any value, and an empty box is a missing value."
	if f.rounded {
		v.FormNote += fmt.Sprintf(" Covariances of more than %d weights are rounded to 16 bits, which moves standard deviations by less than a thousandth.", exactWeights)
	}
	return nil
}

// addEffects adds the largest effects, and the section of all.
func (r *writer) addEffects(v *view) error {
	var forest bytes.Buffer
	effects, moved, err := plot.DrawForest(r.ctx, &forest, r.picture())
	if err != nil {
		v.NoEffects = "There are no effects of single columns: " + err.Error() + "."
		return r.ctx.Err()
	}
	r.summary.Effects = effects
	of := "E " + r.scorer.Frame().TargetName()
	if positive := r.scorer.Frame().Target.Positive(); r.scorer.Binary() && positive != "" {
		of = fmt.Sprintf("P(%s = %s)", r.scorer.Frame().TargetName(), positive)
	}
	v.Moved = fmt.Sprintf("What a change moves %s by, on average over the rows, with %g %% intervals; numbers move by %s.", of, 100*r.Interval, moved)
	v.First = effects[0].Term
	low, high := 0.0, 0.0
	top := effects[:min(len(effects), 3)]
	for _, e := range top {
		low, high = min(low, float64(e.Low)), max(high, float64(e.High))
	}
	place := func(x float64) string { return fmt.Sprintf("%.1f", 5+190*(x-low)/max(high-low, 1e-300)) }
	for _, e := range top {
		sd := float64(e.StdError)
		v.Top = append(v.Top, topEffect{e.Term, e.Contrast, spread(float64(e.Estimate), sd), spread(float64(e.Low), sd), spread(float64(e.High), sd),
			place(0), place(float64(e.Low)), place(float64(e.High)), place(float64(e.Estimate))})
	}
	all := grid{Name: "All effects", Closed: true, Head: []string{"column", "change", "estimate", "SD", "from", "to", "P(sign)", "method"}}
	for _, e := range effects {
		sd := float64(e.StdError)
		all.Rows = append(all.Rows, []string{e.Term, e.Contrast, spread(float64(e.Estimate), sd), spread(sd, sd), spread(float64(e.Low), sd), spread(float64(e.High), sd), spread(float64(e.Direction), .1), e.Method})
	}
	s := section{ID: "effects", Title: "Effects", Text: v.Moved, Tables: []grid{all}}
	input := r.picture()
	input.Most = 2000 // nine panels of many values each, and no check
	if s.Figures, err = r.figures(input, plot.Predictions); err != nil {
		return err
	}
	s.Figures = slices.Insert(s.Figures, 0, figureOf(plot.Forest, forest.String()))
	v.Sections = append(v.Sections, s)
	return nil
}

// figureOf has the text of its kind.
func figureOf(kind plot.Kind, svg string) figure {
	names, texts := plot.Kinds()
	text := texts[slices.Index(names, kind)]
	return figure{string(kind), strings.ToUpper(text[:1]) + text[1:] + " (credence plot --kind " + string(kind) + ").", template.HTML(svg)}
}

// figures are those of some kinds that the model can have.
func (r *writer) figures(input plot.Input, kinds ...plot.Kind) (list []figure, err error) {
	can := plot.Possible(input)
	for _, kind := range kinds {
		if !slices.Contains(can, kind) {
			continue
		}
		var out bytes.Buffer
		if err := plot.Draw(r.ctx, &out, kind, input); err != nil {
			if r.ctx.Err() != nil {
				return nil, err
			}
			list = append(list, figure{Name: string(kind), Caption: fmt.Sprintf("No picture %s: %v", kind, err)})
			continue
		}
		list = append(list, figureOf(kind, out.String()))
	}
	return list, nil
}

// addChecks adds the pictures of the family, and what criticism found.
func (r *writer) addChecks(v *view) (err error) {
	e := r.summary.Scores
	s := section{ID: "checks", Title: "Checks", Findings: append(slices.Clone(e.Warnings), e.Remarks...)}
	s.Text = "Predictions beside the targets of these rows. "
	pit, marginal := plot.PPCPIT, plot.PPCDist
	if r.training {
		pit = plot.LOOPIT
		s.Text += "They are the rows of the fit: the first picture predicts each from all others, and the rest look better than on rows that it has not seen. "
	}
	if !slices.Contains(plot.Possible(r.picture()), pit) {
		pit = plot.PPCPIT
	}
	if slices.Contains(plot.Possible(r.picture()), plot.PPCRootogram) {
		marginal = plot.PPCRootogram
	}
	if s.Figures, err = r.figures(r.picture(), pit, plot.Reliability, marginal, plot.PPCStatistics, plot.Residuals, plot.KHat); err != nil {
		return err
	}
	figures := grid{Name: "Scores, as of credence evaluate", Head: []string{"score", "value"}}
	add := func(name string, value metric.Score) {
		if value.Defined() {
			figures.Rows = append(figures.Rows, []string{name, spread(float64(value), float64(value)/10)})
		}
	}
	if c := e.ClassificationResult; c != nil {
		add("accuracy", c.Accuracy)
		add("log_loss", c.LogLoss)
		add("auc", c.AUC)
		add("brier", c.Brier)
		add("ece", c.ECE)
	} else if c := e.RegressionResult; c != nil {
		add("nlpd", c.NLPD)
		add("rmse", c.RMSE)
		add("mae", c.MAE)
		add("r2", c.R2)
	}
	if e.CRPS != nil {
		add("crps", *e.CRPS)
	}
	for _, level := range metric.Levels() {
		if e.IntervalsResult != nil && len(e.Coverage) > 0 {
			add(fmt.Sprintf("coverage of %g %% intervals", 100*level), metric.Score(e.Coverage[fmt.Sprint(level)]))
		}
	}
	s.Tables = append(s.Tables, figures)
	v.Sections = append(v.Sections, s)
	return nil
}

// mostWeights is the number of weights that are told.
const mostWeights = 300

func (r *writer) addWeights(v *view) error {
	terms, err := score.Terms(r.scorer.Fitted(), score.TermOptions{Interval: r.Interval, Sort: "abs"})
	if err != nil {
		return err
	}
	told, why := score.Intervals(&r.scorer.Fitted().Report)
	g := grid{Head: []string{"weight", "block", "mean", "SD", "from", "to", "inclusion"}}
	included := slices.ContainsFunc(terms, func(t score.Term) bool { return t.Inclusion != nil })
	if !included {
		g.Head = g.Head[:6]
	}
	for _, t := range terms[:min(len(terms), mostWeights)] {
		sd := float64(t.SD)
		row := []string{t.Name, t.Block, spread(t.Mean, sd), spread(sd, sd), spread(float64(t.Lower), sd), spread(float64(t.Upper), sd)}
		if !told {
			row[3], row[4], row[5] = "–", "–", "–"
		}
		if included {
			row = append(row, "–")
			if t.Inclusion != nil {
				row[6] = fmt.Sprintf("%.3f", *t.Inclusion)
			}
		}
		g.Rows = append(g.Rows, row)
	}
	g.Name = fmt.Sprintf("Weights in the units of the data, the %d largest of %d; a heading sorts", len(g.Rows), len(terms))
	s := section{ID: "weights", Title: "Weights", Text: why, Tables: []grid{g}}
	if s.Figures, err = r.figures(r.picture(), plot.PriorPosterior, plot.Path); err != nil {
		return err
	}
	v.Sections = append(v.Sections, s)
	return nil
}

func (r *writer) addComparison(v *view) error {
	c := r.summary.Compare
	if c == nil {
		return nil
	}
	g := grid{Name: fmt.Sprintf("Models over %s; gain is in log density a row over the first", counted(c.Rows, "row")), Head: []string{"model", "engine", "nlpd", "rmse", "crps", "gain", "± SE", "evidence"}}
	for _, m := range c.Models {
		evidence := "–"
		if m.Evidence != nil {
			evidence = fmt.Sprintf("%.2f", *m.Evidence)
		} else if m.ELBO != nil {
			evidence = fmt.Sprintf("≥ %.2f", *m.ELBO)
		}
		tell := func(s metric.Score) string { return spread(float64(s), float64(s)/100) }
		g.Rows = append(g.Rows, []string{m.Model, m.Engine, tell(m.NLPD), tell(m.RMSE), tell(m.CRPS), spread(float64(m.Gain), float64(m.GainError)), spread(float64(m.GainError), float64(m.GainError)), evidence})
	}
	v.Sections = append(v.Sections, section{ID: "comparison", Title: "Comparison", Findings: c.Warnings, Tables: []grid{g}})
	return nil
}

// addData adds what is in the table.
func (r *writer) addData(v *view) error {
	if r.Data == nil {
		return nil
	}
	found, err := look.At(r.ctx, r.Data, look.Options{Target: r.scorer.Target()})
	if err != nil {
		return err
	}
	s := section{ID: "data", Title: "Data", Text: fmt.Sprintf("%s of %s.", counted(found.Rows, "row"), counted(len(found.Columns), "column"))}
	for _, f := range found.Findings {
		text := strings.TrimSpace(f.Column + " " + f.Text)
		if f.Remedy != "" {
			text += ": " + f.Remedy
		}
		s.Findings = append(s.Findings, text)
	}
	g := grid{Name: "Columns", Head: []string{"column", "kind", "missing", "least", "mean", "largest", "levels"}}
	for _, c := range found.Columns {
		tell := func(s metric.Score) string { return spread(float64(s), float64(c.High-c.Low)/100) }
		levels := "–"
		if c.Levels > 0 {
			levels = fmt.Sprint(c.Levels)
		}
		g.Rows = append(g.Rows, []string{c.Name, c.Kind, fmt.Sprint(c.Missing), tell(c.Low), tell(c.Mean), tell(c.High), levels})
	}
	s.Tables = []grid{g}
	v.Sections = append(v.Sections, s)
	return nil
}

// addCommands adds what makes the model and this report again. Models hold no path, so that the training file is TRAIN.
func (r *writer) addCommands(v *view) error {
	q, name, data := r.scorer.Fitted().Recipe, r.Models[0].Name, quoted(cmp.Or(r.Files, "DATA"))
	if !strings.Contains(name, ".") {
		name += ".safetensors"
	}
	fit := "credence fit TRAIN"
	if r.scorer.Fitted().Selection != nil {
		fit = "credence select TRAIN"
	}
	for _, flag := range [][2]string{{"formula", q.Formula}, {"family", q.Family}, {"prior", q.Prior}, {"engine", q.Engine}, {"types", q.Types}, {"missing", q.Missing}, {"unseen", q.Unseen}, {"positive", q.Positive}} {
		if flag[1] != "" {
			fit += " --" + flag[0] + " " + quoted(flag[1])
		}
	}
	if q.Raw {
		fit += " --raw"
	}
	fit += fmt.Sprintf(" --seed %d -o %s", q.Seed, quoted(name))
	list := []string{fit}
	for _, command := range []string{"evaluate", "effects", "predict", "report"} {
		line := "credence " + command + " " + quoted(name) + " " + data
		if command == "report" {
			line += " -o report.html"
		}
		list = append(list, line)
	}
	v.Sections = append(v.Sections, section{ID: "commands", Title: "Commands", Text: "What fits this model again, from the file that it was fitted to, and tells more of it:", Code: strings.Join(list, "\n")})
	return nil
}

// quoted is a word of a shell.
func quoted(text string) string {
	if strings.ContainsFunc(text, func(c rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/=,:", c)
	}) {
		return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	}
	return text
}

// spread writes a number to the digits that its spread leaves it, "–" of none.
func spread(v, sd float64) string {
	if v != v || math.IsInf(v, 0) {
		return "–"
	}
	if sd = math.Abs(sd); !(sd > 0) || math.IsInf(sd, 0) {
		sd = math.Abs(v) / 10
	}
	if size := max(math.Abs(v), sd); size >= 1e7 || size > 0 && size < 1e-4 {
		return fmt.Sprintf("%.3g", v)
	}
	digits := 0
	if sd > 0 {
		digits = int(max(0, min(6, 1-math.Floor(math.Log10(sd)))))
	}
	return strings.Replace(fmt.Sprintf("%.*f", digits, v), "-", "−", 1)
}

func counted(n int, what string) string {
	text := fmt.Sprint(n)
	for k := len(text) - 3; k > 0 && n >= 10_000; k -= 3 {
		text = text[:k] + "," + text[k:]
	}
	if n == 1 {
		return text + " " + what
	}
	return text + " " + what + "s"
}
