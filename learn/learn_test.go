package learn_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/learn"
	"github.com/credence-ml/credence/modelfile"
	"github.com/credence-ml/credence/safetensors"
	"github.com/credence-ml/credence/score"
)

// visits are rows of numbers, categories and missing values.
func visits(rows int) string {
	var text strings.Builder
	text.WriteString("y,x,site,ad,w,o\n")
	for i := range rows {
		x := fmt.Sprint(math.Round(100*math.Sin(float64(i))) / 100)
		if i%11 == 3 {
			x = "NA"
		}
		site := fmt.Sprintf("s%d", i*i%5)
		if i%13 == 4 {
			site = ""
		}
		y := 0
		if math.Sin(float64(i))+float64(i*i%5)/4+0.8*math.Sin(float64(i*i)) > 0.6 {
			y = 1
		}
		fmt.Fprintf(&text, "%d,%s,%s,a%d,%d,%g\n", y, x, site, i*7%9, 1+i%3, 0.1*float64(i%4))
	}
	return text.String()
}

func open(t *testing.T, text string) *dataset.Table {
	t.Helper()
	data := must.Value(dataset.Open(context.Background(), []string{"-"}, dataset.Options{Stdin: strings.NewReader(text)}))(t)
	t.Cleanup(func() { data.Close() })
	return data
}

// learned learns all rows, by way of a checkpoint after some of them where stop is positive, and
// returns the bytes of the model.
func learned(t *testing.T, text string, options fit.Options, stop int64) ([]byte, *credence.Fitted) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "checkpoint")
	stopped := errors.New("stopped")
	for stops := 0; ; stops++ {
		data := open(t, text)
		l, at, err := learn.Resume(file, options)
		if err != nil {
			t.Fatal(err)
		}
		columns := must.Value(l.Columns(data.Schema()))(t)
		for more := true; more; {
			err = data.Rows(context.Background(), columns, at, func(run *dataset.Run) error {
				if _, err := l.Learn(run.Rows); err != nil {
					return err
				}
				at = run.Finish()
				if stop > 0 && stops == 0 && l.Rows() >= stop {
					return stopped
				}
				return nil
			})
			if err != nil {
				break
			}
			if more = l.EndPass(); more {
				at = credence.Position{}
			}
		}
		if errors.Is(err, stopped) {
			must.Succeed(t, l.Checkpoint(file, at))
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		l.Finish()
		fitted := must.Value(l.Fitted())(t)
		var model bytes.Buffer
		must.Succeed(t, modelfile.Write(&model, fitted, modelfile.DefaultParts()))
		return model.Bytes(), fitted
	}
}

// Rows that lack a value are counted over all batches, before a checkpoint and after it.
func TestRowsLeftOutAreCounted(t *testing.T) {
	const rows = 3000
	dropped := 0
	for i := range rows {
		if i%11 == 3 || i%13 == 4 {
			dropped++
		}
	}
	for _, stop := range []int64{0, 1500} {
		_, fitted := learned(t, visits(rows), fit.Options{Formula: "y ~ x + site", Missing: frame.Drop}, stop)
		want := fmt.Sprintf("%d of %d rows have missing values and are left out", dropped, rows)
		if !slices.Contains(fitted.Report.Remarks, want) {
			t.Errorf("stopped at %d: %q, want %q", stop, fitted.Report.Remarks, want)
		}
	}
}

// A weight of 2 is the row twice, and rows of a program are rows of a file: the same model scores
// both alike.
func TestFilesAndPrograms(t *testing.T) {
	type visit struct {
		Y    int     `credence:"y"`
		X    float64 `credence:"x"`
		Site string  `credence:"site"`
		Note string  `credence:"-"`
	}
	l := must.Value(learn.New(fit.Options{Formula: "y ~ x + site + hash(x:site)"}))(t)
	var text strings.Builder
	text.WriteString("y,x,site\n")
	var rows []visit
	for i := range 2000 {
		v := visit{Y: i % 3 % 2, X: float64(i%4) / 2, Site: fmt.Sprint("s", i%5)}
		rows = append(rows, v)
		fmt.Fprintf(&text, "%d,%g,%s\n", v.Y, v.X, v.Site)
		if _, err := l.Row(v); err != nil {
			t.Fatal(err)
		}
	}
	l.Finish()
	program := must.Value(l.Fitted())(t)
	_, file := learned(t, text.String(), fit.Options{Formula: "y ~ x + site + hash(x:site)"}, 0)
	for _, v := range rows[:20] {
		a, errA := score.Row(program, v)
		b, errB := score.Row(file, map[string]any{"x": v.X, "site": v.Site})
		if errA != nil || errB != nil || a.Probability != b.Probability || a.Probability == 0.5 {
			t.Errorf("%+v has probability %v (%v) by the program, %v (%v) by the file", v, a.Probability, errA, b.Probability, errB)
		}
	}
}

// Rows beyond max are an error that says how far learning came, and those before are learned.
func TestMalformedRows(t *testing.T) {
	text := "y,x\n1,1\n0,2\n1,1e200\n0,many\n1,3\n"
	data := open(t, text+strings.Repeat("1,4\n", 20))
	for most, want := range []string{"3: the values, the weight", "5: column \"x\": \"many\" is not a number", ""} {
		l, err := learn.New(fit.Options{Formula: "y ~ x"})
		if err != nil {
			t.Fatal(err)
		}
		l.MaxMalformed = int64(most)
		columns, err := l.Columns(data.Schema())
		if err != nil {
			t.Fatal(err)
		}
		err = data.Rows(context.Background(), columns, credence.Position{}, func(run *dataset.Run) error {
			_, err := l.Learn(run.Rows)
			return err
		})
		if want == "" && (err != nil || l.Rows() != 23) || want != "" && (err == nil || !strings.Contains(err.Error(), ":"+want) && !strings.Contains(err.Error(), want[2:])) {
			t.Errorf("with %d allowed: %v after %d rows, want %q", most, err, l.Rows(), want)
		}
	}
}

// TestMalformedLines: lines that are no rows are skipped where they stand, in whichever batch, and one more than is
// allowed ends the run behind the rows before it.
func TestMalformedLines(t *testing.T) {
	text, bad := "y,x\n", []int{3, 700, 701, 1500} // rows before each
	for i := range 2000 {
		if slices.Contains(bad, i) {
			text += "no row\n"
		}
		text += fmt.Sprintf("%d,%d\n", i%2, i%17)
	}
	for allowed := range len(bad) + 1 {
		l := must.Value(learn.New(fit.Options{Formula: "y ~ x"}))(t)
		l.MaxMalformed = int64(allowed)
		data := must.Value(dataset.Open(t.Context(), []string{"-"}, dataset.Options{Stdin: strings.NewReader(text), SkipMalformed: true}))(t)
		err := data.Rows(t.Context(), must.Value(l.Columns(data.Schema()))(t), credence.Position{}, func(run *dataset.Run) error {
			_, err := l.Learn(run.Rows)
			return err
		})
		data.Close()
		rows, line := 2000, ""
		if allowed < len(bad) {
			rows, line = bad[allowed], fmt.Sprintf(":%d: ", bad[allowed]+allowed+2)
		}
		progress := must.Value(l.Progress())(t)
		if (err != nil) != (line != "") || err != nil && !strings.Contains(err.Error(), line) || progress.Rows != int64(rows) || progress.Malformed != int64(allowed) {
			t.Errorf("of %d allowed %d are skipped, and %d rows learned, want %d: %v", allowed, progress.Malformed, progress.Rows, rows, err)
		}
	}
}

// What no data could mend is misuse, and another run's checkpoint is refused.
func TestRefusals(t *testing.T) {
	for want, o := range map[string]fit.Options{
		"rbf is of drawn features":                 {Formula: "y ~ rbf(x)"},
		"no one opens it":                          {Formula: "y ~ rbf(x, frequencies=@/etc/passwd)"},
		"center and scale take the mean":           {Formula: "y ~ scale(x)"},
		"engine ftrl keeps its intercept":          {Formula: "y ~ 0 + x", Engine: "ftrl"},
		`engine "exact" needs a table`:             {Formula: "y ~ x", Engine: "exact"},
		`family: column 1: there is no family "x"`: {Formula: "y ~ x", Family: "x"},
		"engine sep learns bernoulli(link=pro":     {Formula: "y ~ x", Family: "gaussian"},
		"probit), not bernoulli: leave it out":     {Formula: "y ~ x", Family: "bernoulli"},
		"missing values cannot be treated by \"":   {Formula: "y ~ x", Missing: "guess"},
	} {
		if _, err := learn.New(o); !errors.Is(err, fit.ErrMisuse) || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", o, err, want)
		}
	}
	l := must.Value(learn.New(fit.Options{Formula: "y ~ x"}))(t)
	if _, err := l.Fitted(); err == nil {
		t.Error("a model of no rows")
	}
	if _, err := l.Row(map[string]any{"y": 1, "x": 2.5}); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "checkpoint")
	must.Succeed(t, l.Checkpoint(file, credence.Position{}))
	for want, o := range map[string]fit.Options{
		"the checkpoint has formula y ~ x, not y ~ .": {Formula: "y ~ ."},
		"the checkpoint has engine sep, not sgd":      {Formula: "y ~ x", Engine: "sgd"},
		"positive class left open, not yes":           {Formula: "y ~ x", Positive: "yes"},
	} {
		if _, _, err := learn.Resume(file, o); !errors.Is(err, fit.ErrMisuse) || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", o, err, want)
		}
	}
	all := fit.Options{
		Formula: "x", Target: "y", Engine: "sep(half_life=7)", Positive: "yes", Missing: "drop", DropTarget: true, Time: "day", HoldOut: 7,
	}
	l = must.Value(learn.New(all))(t)
	row := map[string]any{"y": "yes", "x": 2.5, "day": 3.0}
	if _, err := l.Row(row); err != nil {
		t.Fatal(err)
	}
	must.Succeed(t, l.Checkpoint(file, credence.Position{Rows: 1}))
	// What is left out is the checkpoint's, one by one and all together.
	for what, change := range map[string]func(o *fit.Options, otherwise bool){
		"formula":                   func(o *fit.Options, b bool) { o.Formula = map[bool]string{true: "1"}[b] },
		"target":                    func(o *fit.Options, b bool) { o.Target = map[bool]string{true: "z"}[b] },
		"engine":                    func(o *fit.Options, b bool) { o.Engine = map[bool]string{true: "sep(half_life=8)"}[b] },
		"positive class":            func(o *fit.Options, b bool) { o.Positive = map[bool]string{true: "no"}[b] },
		"policy for missing values": func(o *fit.Options, b bool) { o.Missing = map[bool]frame.Policy{true: "mean"}[b] },
		"column of times":           func(o *fit.Options, b bool) { o.Time = map[bool]string{true: "week"}[b] },
		"hold-out of one row in":    func(o *fit.Options, b bool) { o.HoldOut = map[bool]int64{true: 8}[b] },
		"everything":                func(o *fit.Options, b bool) { *o = fit.Options{Formula: map[bool]string{true: "1"}[b]} },
	} {
		left, other := all, all
		change(&left, false)
		change(&other, true)
		again, at, err := learn.Resume(file, left)
		if err != nil || at.Rows != 1 || again.Engine() != l.Engine() {
			t.Errorf("%s is left out: %v", what, err)
			continue
		}
		reference, _, err := learn.Resume(file, all)
		must.Succeed(t, err)
		a, errA := again.Row(row)
		b, errB := reference.Row(row)
		if errA != nil || errB != nil || a != b {
			t.Errorf("%s is left out: probability %v (%v), want %v (%v)", what, a, errA, b, errB)
		}
		if what == "everything" {
			what = "formula"
		}
		if _, _, err := learn.Resume(file, other); !errors.Is(err, fit.ErrMisuse) || !strings.Contains(err.Error(), "the checkpoint has "+what) {
			t.Errorf("another %s: %v", what, err)
		}
	}
	must.Succeed(t, os.WriteFile(file, []byte("no checkpoint"), 0o600))
	if _, _, err := learn.Resume(file, fit.Options{Formula: "y ~ x"}); err == nil || errors.Is(err, fit.ErrMisuse) {
		t.Errorf("garbage: %v", err)
	}
}

// Without an intercept its weight is none, after a checkpoint too.
func TestNoIntercept(t *testing.T) {
	options := fit.Options{Formula: "y ~ 0 + x + site", Missing: "mean"}
	whole, fitted := learned(t, visits(100_000), options, 0)
	if fitted.Members[0].Model.Features.(credence.Named).WeightName(0) == "(intercept)" {
		t.Error("the first weight is the intercept's")
	}
	if pieces, _ := learned(t, visits(100_000), options, 1); !bytes.Equal(whole, pieces) {
		t.Error("stopped it ends in another model")
	}
}

// The loss as it goes is that of every row before it was learned, as often as its weight says, in the
// first pass alone, and no checkpoint changes it.
func TestProgressiveLoss(t *testing.T) {
	options := fit.Options{Formula: "y ~ x + weight(w)", Engine: "sgd(passes=2)"}
	l, err := learn.New(options)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "checkpoint")
	const rows = 60
	loss, weights, positives := 0.0, 0.0, 0.0
	var told []int64
	l.Every, l.OnProgress = 20, func(p learn.Progress) { told = append(told, p.Rows) }
	for i := range 2 * rows {
		if i == rows && !l.EndPass() {
			t.Fatal("one pass only")
		}
		if i == rows/2 {
			must.Succeed(t, l.Checkpoint(file, credence.Position{}))
			hear := l.OnProgress
			if l, _, err = learn.Resume(file, options); err != nil {
				t.Fatal(err)
			}
			l.Every, l.OnProgress = 20, hear
		}
		y, w := i%3%2, float64(1+i*i%7)
		p, err := l.Row(map[string]any{"y": y, "x": math.Sin(float64(i)), "w": w})
		if err != nil {
			t.Fatal(err)
		}
		if y == 0 {
			p = 1 - p
		}
		if i < rows {
			loss, weights, positives = loss-w*math.Log(p), weights+w, positives+w*float64(y)
		}
	}
	got, err := l.Progress()
	if want := loss / weights; err != nil || !(math.Abs(float64(got.LogLoss)-want) <= 1e-12*want) || got.Rows != 2*rows {
		t.Errorf("loss %v over %d rows (%v), want %v", got.LogLoss, got.Rows, err, want)
	}
	if !slices.Equal(told, []int64{20, 40, 60, 80, 100, 120}) {
		t.Errorf("progress is told at rows %v", told)
	}
	share := positives / weights
	if f := must.Value(l.Fitted())(t); !(math.Abs(f.TargetMean-share) <= 1e-12) || !(math.Abs(f.TargetVariance-share*(1-share)) <= 1e-12) {
		t.Errorf("the target has mean %v and variance %v, want the mean %v of the weights", f.TargetMean, f.TargetVariance, share)
	}
}

// TestOneClass: a model of labels of one class warns of it by the name of the positive one.
func TestOneClass(t *testing.T) {
	for label, want := range map[string]string{"won": "every label is won: ", "lost": "no label is won: "} {
		l := must.Value(learn.New(fit.Options{Formula: "y ~ x", Positive: "won"}))(t)
		for i := range 5 {
			must.Value(l.Row(map[string]any{"y": label, "x": float64(i)}))(t)
		}
		if w := must.Value(l.Fitted())(t).Report.Warnings; len(w) != 1 || !strings.HasPrefix(w[0], want) {
			t.Errorf("labels %s warn %q, want %q", label, w, want)
		}
	}
}

// TestNoWeightNoWarning: rows that count nothing are of no class, and nothing is said of how many there are of each.
func TestNoWeightNoWarning(t *testing.T) {
	l := must.Value(learn.New(fit.Options{Formula: "y ~ x + weight(w)"}))(t)
	for i := range 5 {
		must.Value(l.Row(map[string]any{"y": 1, "x": float64(i), "w": 0}))(t)
	}
	for _, w := range must.Value(l.Fitted())(t).Report.Warnings {
		if strings.Contains(w, "every label") || strings.Contains(w, "no label") {
			t.Error(w)
		}
	}
}

// TestRowsOfAProgramAreRefused: what is no row, a row that lacks a column and one that is left out are errors that say
// so, and the rows behind them are learned as if they had not been.
func TestRowsOfAProgramAreRefused(t *testing.T) {
	options := fit.Options{Formula: "y ~ x", Missing: "drop"}
	l, clean := must.Value(learn.New(options))(t), must.Value(learn.New(options))(t)
	refused := func(row any, want string) {
		t.Helper()
		if p, err := l.Row(row); err == nil || p != 0 || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, %v, want %s", row, p, err, want)
		}
	}
	refused(3, "a int is no row")
	refused(nil, "is no row")
	for i := range 20 {
		row := map[string]any{"y": i % 2, "x": float64(i % 5)}
		if a, b := must.Value(l.Row(row))(t), must.Value(clean.Row(row))(t); a != b {
			t.Errorf("row %d has probability %v, and %v without the others", i, a, b)
		}
		refused(map[string]any{"y": 1, "x": nil}, "the row was skipped")
		refused(map[string]any{"y": 1}, `the map lacks the column "x"`)
		refused("text", "a string is no row")
	}
	if l.Rows() != 20 || clean.Rows() != 20 {
		t.Errorf("%d and %d rows, want 20", l.Rows(), clean.Rows())
	}
}

// TestFormulaMeetsColumns: what a formula asks of columns is refused when they are known, as a fault of the formula; a
// target that nothing names is misuse. The column of times is none of the model.
func TestFormulaMeetsColumns(t *testing.T) {
	row := map[string]any{"y": 1, "x": 2.5, "day": 3.0}
	l := must.Value(learn.New(fit.Options{Formula: "y ~ x + z"}))(t)
	if _, err := l.Row(row); err == nil || errors.Is(err, fit.ErrMisuse) || !strings.HasPrefix(err.Error(), "formula: ") || !strings.Contains(err.Error(), `"z"`) {
		t.Errorf("a column that there is not: %v", err)
	}
	l = must.Value(learn.New(fit.Options{Formula: "x"}))(t)
	if _, err := l.Row(row); !errors.Is(err, fit.ErrMisuse) || !strings.Contains(err.Error(), "name one with --target") {
		t.Errorf("no target: %v", err)
	}
	l = must.Value(learn.New(fit.Options{Formula: "y ~ x", Time: "day", Engine: "sep(half_life=7)"}))(t)
	must.Value(l.Columns(open(t, "y,x,day,other\n1,2,3,4\n").Schema()))(t)
	for column, want := range map[string]bool{"x": true, "y": true, "day": false, "other": false} {
		if got := l.Takes(column); got != want {
			t.Errorf("the model takes %s: %t, want %t", column, got, want)
		}
	}
}

// TestCheckpointsThatLack: a checkpoint whose digest is right and that lacks any of its tensors, or has one of another
// length, is refused by its path; it comes from elsewhere.
func TestCheckpointsThatLack(t *testing.T) {
	l := must.Value(learn.New(fit.Options{Formula: "y ~ x + hash(site)", Engine: "sep", Missing: "mean"}))(t)
	take(t, l, visits(300))
	path := filepath.Join(t.TempDir(), "checkpoint")
	must.Succeed(t, l.Checkpoint(path, credence.Position{}))
	whole := must.Value(safetensors.Open(path))(t)
	defer whole.Close()
	metadata := whole.Metadata()
	delete(metadata, safetensors.DigestKey)
	copied := func(name string, shorter int) safetensors.Tensor {
		switch info, _ := whole.Tensor(name); info.DType {
		case safetensors.F64:
			return shortened[float64](t, whole, name, shorter)
		case safetensors.I64:
			return shortened[int64](t, whole, name, shorter)
		case safetensors.F32:
			return shortened[float32](t, whole, name, shorter)
		case safetensors.I32:
			return shortened[int32](t, whole, name, shorter)
		case safetensors.U8:
			return shortened[uint8](t, whole, name, shorter)
		default:
			t.Fatalf("%s is of %s", name, info.DType)
		}
		return safetensors.Tensor{}
	}
	resume := func(change string, shorter int) error {
		var tensors []safetensors.Tensor
		for _, info := range whole.Tensors() {
			switch {
			case info.Name != change:
				tensors = append(tensors, copied(info.Name, 0))
			case shorter > 0:
				tensors = append(tensors, copied(info.Name, shorter))
			}
		}
		other := filepath.Join(t.TempDir(), "other")
		var file bytes.Buffer
		must.Succeed(t, safetensors.Write(&file, metadata, tensors))
		must.Succeed(t, os.WriteFile(other, file.Bytes(), 0o600))
		_, _, err := learn.Resume(other, fit.Options{})
		if err != nil && !strings.Contains(err.Error(), other) {
			t.Errorf("%s: %v does not name the file", change, err)
		}
		if _, from := learn.From(other, fit.Options{}, 1); (from == nil) != (err == nil) {
			t.Errorf("%s: resumed %v, and from it %v", change, err, from)
		}
		return err
	}
	must.Succeed(t, resume("", 0))
	names := 0
	for _, info := range whole.Tensors() {
		names++
		if err := resume(info.Name, 0); err == nil || errors.Is(err, fit.ErrMisuse) {
			t.Errorf("without %s: %v", info.Name, err)
		}
		if info.Len() > 1 {
			if err := resume(info.Name, 1); err == nil || errors.Is(err, fit.ErrMisuse) {
				t.Errorf("with one number fewer in %s: %v", info.Name, err)
			}
		}
	}
	if names < 4 {
		t.Errorf("%d tensors", names)
	}
}

// shortened is a tensor of a file, with so many elements fewer.
func shortened[T safetensors.Element](t *testing.T, r *safetensors.Reader, name string, fewer int) safetensors.Tensor {
	t.Helper()
	values := must.Value(safetensors.Read[T](r, name))(t)
	if fewer > 0 {
		return safetensors.Of(name, values[:len(values)-fewer])
	}
	info, _ := r.Tensor(name)
	return safetensors.Of(name, values, info.Shape...)
}

// A row that is too large to learn from counts as malformed though it ends the run: going on leaves it out.
func TestTooLargeRowIsCounted(t *testing.T) {
	type row struct {
		Click  bool
		X, One float64
	}
	for formula, want := range map[string]string{
		"Click ~ X":                       "X is 1e+300: the values, the weight or the offset of the row are too large to learn from",
		"Click ~ 1 + offset(X)":           "X is 1e+300: ",
		"Click ~ One + weight(square(X))": "square(X) is 1e+300: ",
	} {
		learner := must.Value(learn.New(fit.Options{Formula: formula}))(t)
		large := 1e300
		if strings.Contains(formula, "square") {
			large = 1e150
		}
		for i := range 20 {
			_, err := learner.Row(row{i%2 == 0, map[bool]float64{true: large, false: float64(i)}[i == 10], 1})
			if (err != nil) != (i == 10) || err != nil && !(strings.HasPrefix(err.Error(), want) && strings.Contains(err.Error(), "to go on is to leave it out")) {
				t.Fatalf("%s, row %d: %v", formula, i, err)
			}
		}
		if p, err := learner.Progress(); err != nil || p.Malformed != 1 || p.Rows != 19 {
			t.Errorf("%+v, %v", p, err)
		}
		scorer := must.Value(score.New(must.Value(learner.Fitted())(t), score.Options{}))(t)
		if _, err := must.Value(score.Bind[row](scorer))(t).Score(row{false, math.Copysign(1e308, -1), 1}); strings.Contains(formula, "~ X") && (err == nil || !strings.Contains(err.Error(), "X is -1e+308, so far from the rows of training")) {
			t.Errorf("%s: %v", formula, err)
		}
	}
}

// A program learns of the user that it scores, and of the one that files and JSON have.
func TestLargeIntegersAreLevels(t *testing.T) {
	type visit struct {
		Click bool
		User  int
	}
	const user = 1_234_566
	l := must.Value(learn.New(fit.Options{Formula: "Click ~ hash(User)"}))(t)
	text := "Click,User\n"
	for i := range 1000 {
		must.Value(l.Row(visit{i%2 == 0, user + i%2}))(t)
		text += fmt.Sprintf("%t,%d\n", i%2 == 0, user+i%2)
	}
	l.Finish()
	_, file := learned(t, text, fit.Options{Formula: "Click ~ hash(User)"}, 0)
	for name, model := range map[string]*credence.Fitted{"program": must.Value(l.Fitted())(t), "file": file} {
		for _, row := range []any{visit{User: user}, map[string]any{"User": float64(user)}, map[string]any{"User": fmt.Sprint(user)}} {
			if p := must.Value(score.Row(model, row))(t).Probability; !(p > 0.9) {
				t.Errorf("learned by a %s, %v has probability %v", name, row, p)
			}
		}
	}
}

// Levels of the rows before a checkpoint stay levels in a row that by itself tells otherwise.
func TestRowsKeepKinds(t *testing.T) {
	options := fit.Options{Formula: "y ~ answer"}
	l := must.Value(learn.New(options))(t)
	answers := []string{"maybe", "yes", "no"}
	for i := range 60 {
		must.Value(l.Row(map[string]any{"y": i % 2, "answer": answers[i%3]}))(t)
	}
	l = resumed(t, l, options)
	must.Value(l.Row(map[string]any{"y": 1, "answer": "yes"}))(t)
	if p := must.Value(l.Progress())(t); p.Features != len(answers) {
		t.Errorf("%d features, want those of %q", p.Features, answers)
	}
}

// A run that goes on with fewer malformed rows allowed than were skipped stops before the next.
func TestFewerMalformedAllowed(t *testing.T) {
	first := must.Value(learn.New(fit.Options{Formula: "y ~ x"}))(t)
	first.MaxMalformed = 1
	take(t, first, "y,x\n1,1\n0,NA\n1,2\n0,3\n")
	second := resumed(t, first, fit.Options{})
	taken, err := attempt(t, second, "y,x\n1,1\n0,2\n1,NA\n0,3\n1,4\n") // MaxMalformed is 0
	if err == nil || taken != 2 || second.Rows() != 3+2 {
		t.Errorf("%d rows are taken and %d learned, want 2 and 5: %v", taken, second.Rows(), err)
	}
}

// A checkpoint before the first row goes on without the intercept that the formula does not have.
func TestNoInterceptBeforeTheFirstRow(t *testing.T) {
	options := fit.Options{Formula: "y ~ 0 + x", Engine: "sep"}
	whole := must.Value(learn.New(options))(t)
	begun := resumed(t, must.Value(learn.New(options))(t), options)
	for i := range 50 {
		row := map[string]any{"y": 1 - i%5/4, "x": math.Sin(float64(i))}
		if a, b := must.Value(whole.Row(row))(t), must.Value(begun.Row(row))(t); a != b {
			t.Fatalf("row %d has probability %v, behind a checkpoint without rows %v", i, a, b)
		}
	}
}
