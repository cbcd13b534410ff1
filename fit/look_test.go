package fit_test

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/credence-ml/credence/criticism"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/modelfile"
	"github.com/credence-ml/credence/table"
)

// TestTargetLooks: a target of counts under no stated family is said to look like counts, first of all, in the fit and
// in its file; under a stated family, a transform or a prior whose engines fit no counts nothing is said. Checks of the
// gaussian name the families of counts, once, and never studentt.
func TestTargetLooks(t *testing.T) {
	type row struct{ Claims, X, W float64 }
	rng := rand.New(rand.NewPCG(4, 26))
	rows := make([]row, 3000)
	for i := range rows {
		rows[i].X, rows[i].W = rng.NormFloat64(), 1
		rows[i].Claims = likelihood.Poisson{}.Sample(rng, -2.8+.3*rows[i].X)
	}
	rows[17].Claims = math.NaN()
	rows[18].Claims, rows[18].W = 2.5, 0 // what stands in a row of weight 0 says nothing
	source := must.Value(table.Structs(rows))(t)
	for _, c := range []struct {
		options fit.Options
		told    bool
	}{
		{fit.Options{Formula: "Claims ~ X + weight(W)", DropTarget: true}, true},
		{fit.Options{Formula: ". - W + weight(W)", Target: "Claims", DropTarget: true, Engine: "exact"}, true},
		{fit.Options{Formula: "Claims ~ X + weight(W)", DropTarget: true, Family: "gaussian"}, false},

		{fit.Options{Formula: "sqrt(Claims) ~ X + weight(W)", DropTarget: true}, false},
		{fit.Options{Formula: "Claims ~ X + weight(W)", DropTarget: true, Prior: "spikeslab"}, false},
	} {
		job := must.Value(fit.New(c.options))(t)
		run := must.Value(job.Prepare(context.Background(), source))(t)
		fitted := must.Value(run.Fit(context.Background()))(t)
		note, look := run.Explain()[0], fitted.Report.Target
		if told := note.Topic == "target"; told != c.told || told != (look != nil) {
			t.Errorf("%+v: %v, %v", c.options, note, look)
			continue
		}
		if !c.told {
			continue
		}
		if look.Like != criticism.LookCounts || look.Families[0] != "poisson" || note.Text != "column Claims, fitted as gaussian: "+look.String() || !strings.HasPrefix(note.Text, "column Claims, fitted as gaussian: whole numbers from 0 to ") {
			t.Errorf("%+v: %q of %+v", c.options, note.Text, look)
		}
		path := t.TempDir() + "/m.safetensors"
		must.Succeed(t, modelfile.Save(path, fitted))
		if again := must.Value(modelfile.Load(path))(t).Report.Target; again == nil || again.String() != look.String() {
			t.Errorf("%+v: the file has %+v", c.options, again)
		}
		text := strings.Join(fitted.Report.Warnings, "\n")
		if strings.Contains(text, "studentt") || strings.Count(text, look.Remedy) != 1 {
			t.Errorf("%+v: %s", c.options, text)
		}
	}
}

// TestLookOfAllRows: what a finding says of the target is true of all rows, also of those beyond the ones that are
// looked at.
func TestLookOfAllRows(t *testing.T) {
	type row struct{ Visits, X float64 }
	rng := rand.New(rand.NewPCG(5, 26))
	rows := make([]row, 3*criticism.Rows)
	for i := range rows {
		rows[i].X = rng.NormFloat64()
		rows[i].Visits = likelihood.Poisson{}.Sample(rng, -2.5)
	}
	rows[16].Visits = 9 // behind the first run of rows that are looked at
	model := must.Value(fit.Table(context.Background(), must.Value(table.Structs(rows))(t), fit.Options{Formula: "Visits ~ X"}))(t)
	if text := strings.Join(model.Report.Warnings, "\n"); !strings.Contains(text, "column Visits is fitted as gaussian and holds whole numbers from 0 to 9, ") {
		t.Errorf("%s", text)
	}
}

// TestWholeTargets: checks of a gaussian on counts say what they are once, with the families of counts; on whole
// numbers of which nobody knows what they are, they never name studentt, whose scale would shrink to the commonest of
// them.
func TestWholeTargets(t *testing.T) {
	type row struct{ Y, X float64 }
	rng := rand.New(rand.NewPCG(6, 26))
	for name, draw := range map[string]func(x float64) float64{
		"counts": func(x float64) float64 { return likelihood.Poisson{}.Sample(rng, -.7+.2*x) },
		"sizes": func(x float64) float64 {
			return math.Max(0, math.Round(5000+3*x+6*rng.NormFloat64()/math.Sqrt(rng.ExpFloat64())))
		},
	} {
		rows := make([]row, 3000)
		for i := range rows {
			rows[i].X = rng.NormFloat64()
			rows[i].Y = draw(rows[i].X)
		}
		model := must.Value(fit.Table(context.Background(), must.Value(table.Structs(rows))(t), fit.Options{Formula: "Y ~ X"}))(t)
		text := strings.Join(append(model.Report.Warnings, model.Report.Remarks...), "\n")
		if text == "" || strings.Contains(text, "studentt") {
			t.Errorf("%s: %s", name, text)
		}
		if named := strings.Count(text, "--family poisson"); name == "counts" && named != 1 {
			t.Errorf("the families of counts are named %d times: %s", named, text)
		}
	}
}

// TestCensoredTimes: a time beside a column that says whether its end was seen is said to be one, with what to fit,
// which has the rates that the rows were drawn with; a number of that name, or another target, is not.
func TestCensoredTimes(t *testing.T) {
	type row struct{ Time, Died, Dose, Status float64 }
	rng := rand.New(rand.NewPCG(7, 26))
	rows := make([]row, 2000)
	for i := range rows {
		dose := rng.NormFloat64()
		time, end := rng.ExpFloat64()/(.1*math.Exp(-.5*dose)), 5+20*rng.Float64()
		rows[i] = row{Time: math.Min(time, end), Dose: dose, Status: rng.NormFloat64()}
		if time < end {
			rows[i].Died = 1
		}
	}
	source := must.Value(table.Structs(rows))(t)
	for formula, told := range map[string]bool{"Time ~ Died + Dose": true, "Time ~ Dose + Status": false, "Dose ~ Died + Time": false} {
		look := must.Value(fit.Table(t.Context(), source, fit.Options{Formula: formula}))(t).Report.Target
		if is := look != nil && look.Like == criticism.LookTimes; is != told || told && !strings.Contains(look.Remedy, "'Died ~ … + offset(log(Time))' --family poisson") {
			t.Errorf("%s: %+v", formula, look)
		}
	}
	rates := must.Value(fit.Table(t.Context(), source, fit.Options{Formula: "Died ~ Dose + offset(log(Time))", Family: "poisson", Raw: true}))(t)
	mean, variance := make([]float64, 2), make([]float64, 2)
	rates.Members[0].Posterior.Marginals(mean, variance)
	for j, want := range []float64{math.Log(.1), -.5} {
		if !(math.Abs(mean[j]-want) <= 3*math.Sqrt(variance[j])) {
			t.Errorf("weight %d is %v ± %v, want %v", j, mean[j], math.Sqrt(variance[j]), want)
		}
	}
}
