package plot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/chart"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/spec"
	"github.com/credence-ml/credence/table"
)

// Kind is a kind of picture.
type Kind string

// The kinds of pictures.
const (
	Predictions    Kind = "predictions"
	Slopes         Kind = "slopes"
	Forest         Kind = "forest"
	PPCDist        Kind = "ppc_dist"
	PPCStatistics  Kind = "ppc_tstat"
	PPCRootogram   Kind = "ppc_rootogram"
	PPCPIT         Kind = "ppc_pit"
	LOOPIT         Kind = "loo_pit"
	Reliability    Kind = "pava_calibration"
	Residuals      Kind = "residuals"
	KHat           Kind = "khat"
	PriorPosterior Kind = "prior_posterior"
	Path           Kind = "path"
)

// Input is what a picture is drawn of.
type Input struct {
	Scorer *score.Scorer
	// Rows are those of data; nil without. Those with targets are compared with what the model predicts.
	Rows     credence.Source
	Columns  []string // of predictions and slopes; none is those that move the predictions most
	Interval float64  // probability of intervals; 0 means 0.9
	All      bool     // look at all rows, and not at 10,000 evenly spread ones
	Seed     uint64   // of draws
	Most     int      // rows that are looked at; 0 means 10,000
	Inline   bool     // of a page that has the style of pictures itself
	Threads  int      // 0 means every processor; the picture does not depend on it
	// Shared keeps what several pictures of this input have in common, as new(Shared); nil keeps nothing.
	Shared *Shared
}

// Shared is what pictures of one scorer and one table have in common, drawn one after another.
type Shared struct {
	checked [2]*checked // rows with their transforms, as they are and left out
	forest  *forest
}

// kinds are all kinds, in the order in which they are told.
var kinds = []struct {
	kind Kind
	text string // what it shows
	data bool   // needs rows with targets
	// refuse says why a model has no such picture; nil where every model has it.
	refuse func(p *picture) string
	draw   func(ctx context.Context, p *picture) (*chart.Chart, error)
}{
	{Predictions, "average predictions over the values of each column", false, refuseColumns, drawCurves},
	{Slopes, "how steeply predictions rise over the values of each number", false, refuseColumns, drawCurves},
	{Forest, "how far a change of each column moves what is expected, with intervals", false, refuseColumns, drawForest},
	{PPCDist, "the distribution of the targets among those that the model draws", true, nil, drawDist},
	{PPCStatistics, "mean, standard deviation and largest target, and zeros of counts, among those of what it draws", true, nil, drawStatistics},
	{PPCRootogram, "how often each count is observed and expected", true, refuseRootogram, drawRootogram},
	{PPCPIT, "whether the targets lie where predictions say, with an envelope", true, nil, drawPIT},
	{LOOPIT, "the same of training rows, each predicted from the others", true, refuseLeft, drawPIT},
	{Reliability, "the observed mean where each mean or probability is predicted", true, nil, drawReliability},
	{Residuals, "quantile residuals against predictions", true, nil, drawResiduals},
	{KHat, "how far leaving out each training row can be relied on", true, refuseKHat, drawKHat},
	{PriorPosterior, "densities of weights before and after the data", false, refuseWeights, drawWeights},
	{Path, "weights of a selection against how many features its prior expects", false, refusePath, drawPath},
}

// Kinds returns all kinds with what they show, in the order in which they are told.
func Kinds() (names []Kind, texts []string) {
	for _, k := range kinds {
		names, texts = append(names, k.kind), append(texts, k.text)
	}
	return names, texts
}

// place is that of a kind among all, -1 of what is none.
func (k Kind) place() int {
	names, _ := Kinds()
	return slices.Index(names, k)
}

// Validate refuses what is no kind.
func (k Kind) Validate() error {
	if k.place() >= 0 {
		return nil
	}
	var words []string
	for _, of := range kinds {
		words = append(words, string(of.kind))
	}
	if near := spec.Suggest(string(k), words); near != "" {
		return fmt.Errorf("there is no picture of kind %s: did you mean %s?", k, near)
	}
	return fmt.Errorf("there is no picture of kind %q: choose %s", string(k), strings.Join(words, ", "))
}

// Validate fills in what is left out, and refuses what no picture of a kind can have, whatever the model.
func (i Input) Validate(kind Kind) (Input, error) {
	if err := kind.Validate(); err != nil {
		return i, err
	}
	if i.Interval = cmp.Or(i.Interval, 0.9); !(i.Interval > 0 && i.Interval < 1) {
		return i, fmt.Errorf("--interval %v is not a probability between 0 and 1", i.Interval)
	}
	if len(i.Columns) > 0 && kind != Predictions && kind != Slopes {
		return i, fmt.Errorf("--columns are of predictions and slopes, and %s has none: leave it out", kind)
	}
	return i, nil
}

// Possible returns the kinds that a model and its rows can have.
func Possible(input Input) (names []Kind) {
	for _, k := range kinds {
		if p := (&picture{input, k.kind}); input.Scorer != nil && p.refusal() == "" {
			names = append(names, k.kind)
		}
	}
	return names
}

// picture is a picture that is being drawn.
type picture struct {
	Input
	kind Kind
}

// open returns a picture to be drawn; with an error, one that the model or the rows cannot have.
func open(kind Kind, input Input) (*picture, error) {
	if input.Scorer == nil {
		return nil, errors.New("there is no scorer: make one by score.New")
	}
	input, err := input.Validate(kind)
	if err != nil {
		return nil, err
	}
	if input.Shared == nil {
		input.Shared = new(Shared)
	}
	p := &picture{input, kind}
	if why := p.refusal(); why != "" {
		err = errors.New(why)
	}
	return p, err
}

// refusal says why the model or the rows cannot have a kind.
func (p *picture) refusal() string {
	k := &kinds[p.kind.place()]
	switch {
	case p.Scorer.Frame() == nil:
		return "the model was learned online, of which nothing is drawn: use credence evaluate and inspect, which tell it in numbers"
	case k.data && p.Rows == nil:
		return "it compares predictions with targets: give data"
	case k.data && p.Rows.Schema().Index(p.Scorer.Target()) < 0:
		return fmt.Sprintf("it compares predictions with targets, and the data lack the target %s", p.Scorer.Target())
	case k.data && p.Rows.Rows() == 0:
		return "it compares predictions with targets, and the data have no rows"
	case k.refuse != nil:
		return k.refuse(p)
	}
	return ""
}

// Picture is a picture as data: what stands over and below it, and the marks of each panel with their coordinates. Its
// JSON is that of credence plot --json, and WriteTo draws it.
type Picture = chart.Chart

// Draw writes a picture as SVG, or says why the model cannot have it and which it can.
func Draw(ctx context.Context, w io.Writer, kind Kind, input Input) error {
	picture, err := Of(ctx, kind, input)
	if err != nil {
		return err
	}
	_, err = picture.WriteTo(w)
	return err
}

// Of returns a picture, or says why the model cannot have it and which it can.
func Of(ctx context.Context, kind Kind, input Input) (*Picture, error) {
	p, err := open(kind, input)
	if p != nil && err != nil {
		err = fmt.Errorf("no picture %s: %w", kind, err)
		if can := Possible(input); len(can) > 0 {
			err = fmt.Errorf("%w; there can be %s", err, strings.ReplaceAll(strings.Trim(fmt.Sprint(can), "[]"), " ", ", "))
		}
	}
	if err != nil {
		return nil, err
	}
	drawn, err := kinds[kind.place()].draw(ctx, p)
	if err == nil {
		drawn.Inline = input.Inline
	}
	return drawn, err
}

// most is the number of rows that are looked at.
const most = 10_000

// rows returns the rows that are looked at.
func (p *picture) rows() credence.Source {
	if p.Rows == nil || p.All {
		return p.Rows
	}
	return table.SpreadOf(p.Rows, cmp.Or(p.Most, most))
}

// looked says how many rows were looked at: "2,000 rows", "10,000 of 50,000 rows".
func (p *picture) looked(count int) string {
	if all := p.Rows.Rows(); all > count {
		return chart.Counted(count, "") + " of " + chart.Counted(all, "row")
	}
	return chart.Counted(count, "row")
}

// number writes a number in a few digits.
func number(v float64) string { return chart.Number(v, 3) }
