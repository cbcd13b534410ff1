package report

import (
	"bytes"
	"cmp"
	_ "embed" // for the parts of the page
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/cell"
	"github.com/credence-ml/credence/internal/chart"
	"github.com/credence-ml/credence/look"
	"github.com/credence-ml/credence/metric"
	"github.com/credence-ml/credence/plot"
	"github.com/credence-ml/credence/score"
)

// addEffects adds the largest effects, and the section of all.
func (r *writer) addEffects(v *view) error {
	effects, moved, err := plot.Effects(r.ctx, r.picture())
	if err != nil {
		v.NoEffects = "There are no effects of single columns: " + err.Error() + "."
		return r.ctx.Err()
	}
	r.summary.Effects = effects
	v.Moved = fmt.Sprintf("How far %s moves, on average over the rows, with %.6g %% intervals: of numbers where each is raised by %s; dotted is no change.", plot.Expected(r.scorer), 100*r.Interval, moved)
	v.First = effects[0].Term
	low, high := 0.0, 0.0
	top := effects[:min(len(effects), 3)]
	for _, e := range top {
		low, high = min(low, float64(e.Low)), max(high, float64(e.High))
	}
	place := func(x float64) string { return fmt.Sprintf("%.1f", 5+190*(x-low)/max(high-low, 1e-300)) }
	for _, e := range top {
		sd := float64(e.StdError)
		change, estimate := e.Change(), spread(float64(e.Estimate), sd)
		if by, raised := strings.CutPrefix(change, "+"); raised {
			change = "raised by " + by
		}
		if float64(e.Estimate) > 0 {
			estimate = "+" + estimate
		}
		v.Top = append(v.Top, topEffect{e.Term, change, estimate, spread(float64(e.Low), sd), spread(float64(e.High), sd),
			place(0), place(float64(e.Low)), place(float64(e.High)), place(float64(e.Estimate))})
	}
	all := grid{Name: "All effects", Closed: true, Head: []string{"column", "change", "estimate", "SD", "from", "to", "P(sign)", "method"}}
	for _, e := range effects {
		sd := float64(e.StdError)
		all.Rows = append(all.Rows, []string{e.Term, e.Contrast, spread(float64(e.Estimate), sd), spread(sd, sd), spread(float64(e.Low), sd), spread(float64(e.High), sd), spread(float64(e.Direction), .1), e.Method})
	}
	s := section{ID: "effects", Title: "Effects", Text: v.Moved, Tables: []grid{all}}
	some := r.picture()
	some.Most = 2000 // nine panels of many values each, and no check
	predictions, err := r.figures(some, plot.Predictions)
	if err == nil {
		s.Figures, err = r.figures(r.picture(), plot.Forest)
	}
	if err != nil {
		return err
	}
	s.Figures = append(s.Figures, predictions...)
	v.Sections = append(v.Sections, s)
	return nil
}

// figures are those of some kinds that the model can have, each with the text of its kind.
func (r *writer) figures(input plot.Input, kinds ...plot.Kind) (list []figure, err error) {
	can := plot.Possible(input)
	names, texts := plot.Kinds()
	for _, kind := range kinds {
		if !slices.Contains(can, kind) {
			continue
		}
		var out bytes.Buffer
		err := plot.Draw(r.ctx, &out, kind, input)
		text := texts[slices.Index(names, kind)]
		of := figure{string(kind), sentence(text) + " (credence plot --kind " + string(kind) + ").", template.HTML(out.String())}
		switch {
		case r.ctx.Err() != nil:
			return nil, err
		case err != nil:
			of.Caption = fmt.Sprintf("No picture %s: %v", kind, err)
		}
		list = append(list, of)
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
		figures.Rows = append(figures.Rows, []string{name, spread(float64(value), float64(value)/10)})
	}
	for _, f := range e.Figures() {
		add(f.Name, f.Value)
	}
	for _, level := range metric.Levels() {
		if e.IntervalsResult != nil && len(e.Coverage) > 0 {
			add(fmt.Sprintf("coverage of %.6g %% intervals", 100*level), metric.Score(e.Coverage[fmt.Sprint(level)]))
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
	g := grid{Name: fmt.Sprintf("Models over %s; gain is in log density a row over the first", chart.Counted(c.Rows, "row")), Head: []string{"model", "engine", "nlpd", "rmse", "crps", "gain", "± SE", "evidence"}}
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
	s := section{ID: "data", Title: "Data", Text: fmt.Sprintf("%s of %s.", chart.Counted(found.Rows, "row"), chart.Counted(len(found.Columns), "column"))}
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

// addCommands adds what makes the model and this report again. Models hold no path, so that the training file is TRAIN,
// and that of the prior odds ODDS.
func (r *writer) addCommands(v *view) error {
	q, name, data := r.scorer.Fitted().Recipe, cmp.Or(r.ModelFile, r.Models[0].Name+".safetensors"), cell.Shell(cmp.Or(r.Files, "DATA"))
	fit := "credence fit TRAIN"
	if r.scorer.Fitted().Selection != nil {
		fit = "credence select TRAIN"
	}
	for _, flag := range [][2]string{{"formula", q.Formula}, {"family", q.Family}, {"prior", q.Prior}, {"engine", q.Engine}, {"types", q.Types}, {"missing", q.Missing}, {"unseen", q.Unseen}, {"positive", q.Positive}} {
		if flag[1] != "" {
			fit += " --" + flag[0] + " " + cell.Shell(flag[1])
		}
	}
	if f, ok := r.scorer.Fitted().Frame.(*frame.Frame); ok {
		if flags := cell.Missing(f.Reading.Missing...); flags != "" {
			fit += " " + flags
		}
	}
	if len(q.PriorOdds) > 0 {
		fit += " --prior-odds ODDS"
	}
	if q.DropTarget {
		fit += " --missing drop-target"
	}
	if q.Raw {
		fit += " --raw"
	}
	fit += fmt.Sprintf(" --seed %d -o %s", q.Seed, cell.Shell(name))
	list := []string{fit}
	for _, command := range []string{"evaluate", "effects", "predict", "report"} {
		line := "credence " + command + " " + cell.Shell(name) + " " + data
		if command == "report" {
			line += " -o report.html"
		}
		list = append(list, line)
	}
	v.Sections = append(v.Sections, section{ID: "commands", Title: "Commands", Text: "What fits this model again, from the file that it was fitted to, and tells more of it:", Code: strings.Join(list, "\n")})
	return nil
}

// sentence is a text with a capital.
func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

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
