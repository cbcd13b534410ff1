package layout_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/active"
	"github.com/credence-ml/credence/active/rank"
	"github.com/credence-ml/credence/apply"
	"github.com/credence-ml/credence/calibration"
	"github.com/credence-ml/credence/criticism"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/dataset/rowcache"
	"github.com/credence-ml/credence/effect"
	"github.com/credence-ml/credence/feature/keyed"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/formula"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/imaging"
	"github.com/credence-ml/credence/infer/convex"
	"github.com/credence-ml/credence/infer/laplace"
	"github.com/credence-ml/credence/infer/penalised"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/learn"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/look"
	"github.com/credence-ml/credence/metric"
	"github.com/credence-ml/credence/modelfile"
	"github.com/credence-ml/credence/plot"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/report"
	"github.com/credence-ml/credence/safetensors"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/selection/refit"
	"github.com/credence-ml/credence/shards"
	"github.com/credence-ml/credence/spec"
	"github.com/credence-ml/credence/stream"
	"github.com/credence-ml/credence/table"
)

// doors are the functions that a program calls and that return an error, by package and name. Those whose zero
// arguments mean something, as an option left out, say so.
var doors = map[string]any{
	"apply.Load": apply.Load, "apply.WriteDraws": apply.WriteDraws, "calibration.Fit": calibration.Fit, "score.NewCalibration": score.NewCalibration, "score.Calibrate": score.Calibrate, "effect.Of": effect.Of, "effect.Columns": effect.Columns, "effect.Widest": effect.Widest, "plot.Draw": plot.Draw, "plot.Of": plot.Of, "plot.Effects": plot.Effects, "plot.Check": plot.Check, "report.Write": report.Write, "score.Training": score.Training, "posterior.NewSampler": posterior.NewSampler, "posterior.Root": posterior.Root, "score.DrawFamily": score.DrawFamily,
	"look.At": look.At, "dataset.WriteSchema": dataset.WriteSchema, "dataset.ReadSchema": dataset.ReadSchema,
	"criticism.Of": criticism.Of, "rowcache.NewReader": rowcache.NewReader,
	"active.NewScorer": active.NewScorer, "active.Simulate": active.Simulate, "rank.File": rank.File,
	"apply.Open":      apply.Open,
	"dataset.Open":    dataset.Open,
	"keyed.NewBinder": keyed.NewBinder, "keyed.NewLearning": keyed.NewLearning,
	"fit.Again": fit.Again, "fit.Table": fit.Table, "fit.Select": fit.Select, "fit.SelectProducts": fit.SelectProducts, "fit.ReadOdds": fit.ReadOdds,
	"formula.ForRows": formula.ForRows, "problem.GroupsTogether": problem.GroupsTogether, "problem.TogetherOf": problem.TogetherOf,
	"frame.Fit": frame.Fit, "frame.NewCensus": frame.NewCensus,
	"laplace.New": laplace.New, "laplace.Supports": laplace.Supports, "penalised.New": penalised.New, "penalised.Supports": penalised.Supports,
	"convex.Solve":    convex.Solve,
	"linop.Conjugate": linop.Conjugate, "problem.Merge": problem.Merge,
	"modelfile.Read": modelfile.Read, "modelfile.Save": modelfile.Save, "modelfile.SaveWith": modelfile.SaveWith, "modelfile.Write": modelfile.Write,
	"score.Bind": score.Bind[any], "score.Compare": score.Compare, "score.Evaluate": score.Evaluate, "score.LeaveOneOut": score.LeaveOneOut, "score.New": score.New, "score.Row": score.Row, "score.SelectedColumns": score.SelectedColumns, "score.Terms": score.Terms,
	"refit.Features": refit.Features, "learn.Decode": learn.Decode, "shards.New": shards.New, "shards.NewOnline": shards.NewOnline, "shards.NewSQL": shards.NewSQL, "shards.SQL": shards.SQL, "table.ColumnsOf": table.ColumnsOf, "table.ReadProducts": table.ReadProducts, "table.SQL": table.SQL, "table.Structs": table.Structs,
	"safetensors.NewReader": safetensors.NewReader, "safetensors.Read": safetensors.Read[float64], "safetensors.Load": safetensors.Load[float64], "safetensors.ReadTo": safetensors.ReadTo[float64], "safetensors.ReadRows": safetensors.ReadRows[float64],
	"metric.ProgressiveOf": metric.ProgressiveOf, "credence.Require": credence.Require[credence.Likelihood],
}

// open are those in whose place nothing is an answer: no rows, no keys, no columns, what is written of nothing.
var open = []string{"apply.WriteEffects", "apply.WriteTerms", "dataset.RefuseTwice", "imaging.WriteArray", "keyed.IndexOf", "keyed.NamesOf", "rank.Write",
	"spec.Choose", "spec.Check", "frame.TooManyClasses", "table.Sparse", "text.Ordered", "output.New", "linop.XDiag", "formula.ParsePrior", "formula.ParseFamily", "formula.Parse", "formula.Compile", "feature.New", "table.AddProducts", "table.Records", "problem.Open", "problem.Groups", "problem.Odds", "problem.NormalPrior", "online.RestoreFTRL",
	"online.RestoreAdPredictor", "online.RestoreSGD", "online.RestoreTrial", "sep.Restore", "sep.RestoreOnline", "safetensors.Encode", "safetensors.Write"}

// TestNilArguments: an exported function that returns an error returns one where all that it is given is nil or zero,
// and does not panic; and each of them stands in one of the lists.
func TestNilArguments(t *testing.T) {
	for _, e := range fit.Default().Engines { // a folder of its own has them by these names
		if _, ok := doors[e.Name+".New"]; ok || e.Batch == nil {
			continue
		}
		doors[e.Name+".New"] = func(model credence.Model) (credence.Engine, error) {
			maker, err := e.Batch(fit.Settings{}, spec.NewArguments(spec.Call{Name: e.Name}, ""))
			if err != nil {
				t.Fatal(err)
			}
			return maker(model)
		}
		doors[e.Name+".Supports"] = func(l credence.Likelihood, p credence.Prior) (err error) {
			if why := e.Refuses(l, p); why != "" {
				err = errors.New(why)
			}
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(doors)) {
		call := reflect.ValueOf(doors[name])
		var arguments []reflect.Value
		for k := range call.Type().NumIn() {
			of := call.Type().In(k)
			switch {
			case of == reflect.TypeOf(t.Context) || of.String() == "context.Context":
				arguments = append(arguments, reflect.ValueOf(t.Context()))
			case of == reflect.TypeFor[io.Writer]():
				arguments = append(arguments, reflect.ValueOf(io.Discard))
			case call.Type().IsVariadic() && k == call.Type().NumIn()-1:
				if of.Elem().Kind() == reflect.Pointer {
					arguments = append(arguments, reflect.Zero(of.Elem()))
				}
			default:
				arguments = append(arguments, reflect.Zero(of))
			}
		}
		err, panicked := func() (err, panicked any) {
			defer func() { panicked = recover() }()
			results := call.Call(arguments)
			return results[len(results)-1].Interface(), nil
		}()
		if panicked != nil || err == nil || strings.Contains(fmt.Sprint(err), "nil pointer") || strings.Contains(fmt.Sprint(err), "fault of the program") {
			t.Errorf("%s of nothing: error %v, panic %v", name, err, panicked)
		}
	}
	if v := imaging.PSNR([]float64{1, 2}, []float64{1}); v == v {
		t.Errorf("PSNR of unequal lengths is %v", v)
	}
	if v := imaging.RankCorrelation(nil, []float64{1, 2}, []float64{1}); v == v {
		t.Errorf("the correlation of unequal lengths is %v", v)
	}
	_, _ = learn.New, stream.New // of options alone, as fit.New: zero options mean what they say
	for _, name := range exported(t) {
		if _, ok := doors[name]; !ok && !slices.Contains(open, name) {
			t.Errorf("%s takes what may be nil and returns an error: refuse nil there and add it to doors, or to open where nothing is an answer", name)
		}
	}
}

// exported names the exported functions of public packages that return an error and take a pointer, an interface, a
// slice, a function or what is written in another package's words.
func exported(t *testing.T) (names []string) {
	files, err := filepath.Glob("../../*/*.go")
	for _, pattern := range []string{"../../*.go", "../../*/*/*.go"} {
		more, _ := filepath.Glob(pattern)
		files = append(files, more...)
	}
	if err != nil || len(files) < 100 {
		t.Fatal(len(files), err)
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") || strings.Contains(path, "/internal/") || strings.Contains(path, "/cmd/") || strings.Contains(path, "/bench/") || strings.Contains(path, "/examples/") || strings.Contains(path, "/conform") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !f.Name.IsExported() || f.Type.Results == nil {
				continue
			}
			last := f.Type.Results.List[len(f.Type.Results.List)-1]
			if id, ok := last.Type.(*ast.Ident); !ok || id.Name != "error" {
				continue
			}
			for _, p := range f.Type.Params.List {
				nilable := false
				switch of := p.Type.(type) {
				case *ast.StarExpr, *ast.ArrayType, *ast.FuncType, *ast.InterfaceType, *ast.MapType:
					nilable = true
				case *ast.SelectorExpr:
					nilable = slices.Contains([]string{"Source", "Data", "Likelihood", "Prior", "Features", "Posterior", "Model", "Reader", "Writer", "ReaderAt"}, of.Sel.Name)
				}
				if nilable {
					names = append(names, file.Name.Name+"."+f.Name.Name)
					break
				}
			}
		}
	}
	return names
}
