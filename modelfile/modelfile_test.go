package modelfile

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/calibration"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/safetensors"
)

// table is a small table in memory: a number, a category of two levels, a target, and
// three sparse columns.
type table struct{ schema credence.Schema }

func newTable() *table {
	return &table{credence.Schema{Columns: []credence.Column{
		{Name: "x"}, {Name: "zip", Kind: credence.Category, Levels: []string{"a", "b"}}, {Name: "y"},
	}, Sparse: 3}}
}

func (t *table) Schema() *credence.Schema { return &t.schema }
func (t *table) Rows() int                { return 4 }
func (t *table) Read(dst *credence.Chunk, first, count int) error {
	dst.First = first
	dst.Values.Reshape(count, 3)
	dst.Sparse.Reset(3)
	for i := range count {
		r := first + i
		copy(dst.Values.Row(i), []float64{float64(r * r), float64(r % 2), float64(3 - r)})
		dst.Sparse.AppendRow([]int32{int32(r % 2), 2}, []float64{1, float64(r)})
	}
	return nil
}

// example returns a fit with every kind of term and of input, and two members: one
// with the full posterior, one with the dual.
func example(t *testing.T) (*credence.Fitted, *credence.Batch) {
	t.Helper()
	x, zip, y := frame.Column("x"), frame.Column("zip"), frame.Column("y")
	fr, err := frame.Fit(context.Background(), &frame.Plan{
		Target: &y, Sparse: true,
		Inputs: []frame.Expr{x, zip, frame.Column("x2"), frame.Column("x3").With(frame.Square)},
	}, newTable(), frame.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	inputs := fr.ModelInputs()
	random, err := (&feature.RandomFourier{
		Name: "rbf(.)", Kernel: feature.RBF, Inputs: []int{0}, Segment: true, Without: []int32{1},
	}).Draw(&inputs, 3, rng)
	if err != nil {
		t.Fatal(err)
	}
	set, err := feature.New(inputs,
		&feature.Intercept{}, &feature.Linear{Inputs: []int{0, 1, 3}, Segment: true, Without: []int32{2}}, random,
		&feature.Radial{Bumps: feature.Bumps{Name: "radial(x)", Inputs: []int{0}, Centres: []float64{-1, 0.5}}},
		&feature.Sigmoid{Bumps: feature.Bumps{
			Name: "sigmoid(x, x2)", Inputs: []int{0, 2}, Centres: []float64{-1, 0.5}, Lengthscale: feature.Lengthscale{Shared: true},
		}},
		&feature.Polynomial{Name: "poly(x, 3)", Inputs: []int{0}, Degree: 3},
		&feature.OneHot{Name: "onehot(zip)", Input: 1},
		&feature.Interaction{Name: "x:zip", Inputs: []int{0, 1}},
		&feature.Interaction{Name: "x:x2", Inputs: []int{0, 2}})
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]bool{}
	for _, term := range set.Terms() {
		kinds[term.Kind()] = true
	}
	if len(kinds) != 8 {
		t.Fatalf("the terms are of the kinds %v", kinds)
	}
	d := set.Weights()
	draw := func(n int) []float64 {
		values := make([]float64, n)
		for i := range values {
			values[i] = rng.NormFloat64()
		}
		return values
	}
	full := &posterior.Full{Mean: draw(d), Factor: make([]float64, d*d), DF: 7.5}
	for i := range d {
		for j := i; j < d; j++ {
			full.Factor[i*d+j] = rng.NormFloat64()
		}
	}
	variances := make([]float64, d)
	for j := range variances {
		variances[j] = 0.5 + rng.Float64()
	}
	split := set.DenseWeights()
	dense := linop.Dense{Rows: 2, Cols: split, Stride: split, Data: draw(2 * split)}
	sparse := linop.CSR{Rows: 2, Cols: d - split, Start: []int{0, 1, 2}, Index: []int32{0, 1}, Value: []float64{0.5, 2}}
	dual := &posterior.Dual{
		Mean: draw(d), PriorVariance: variances, Scale: 2,
		Design: credence.Design{Dense: dense, Sparse: sparse},
		Factor: []float64{2, 0.1, 0, 3},
	}
	sum := &posterior.DualSum{
		Mean: draw(d), PriorVariance: variances, Design: dual.Design, Blocks: []int{1, d - 1}, Scale: 3, DF: 6.5,
		Forms: []float64{1, 0.5, 2, 3, 0.25, 1}, Shares: []float64{0.5, -0.01}, Differences: draw(2 * d),
	}
	evidence := -12.5
	fitted := &credence.Fitted{
		Recipe: credence.Recipe{Formula: "y ~ .", Family: "gaussian", Prior: "normal", Engine: "exact", Seed: 7, Missing: "mean", DropTarget: true,
			Unseen: "prior", Positive: "yes", Raw: true, Types: "zip=text", PriorOdds: map[string]float64{"b": 0.1, "a": 2}},
		Frame: fr,
		Report: credence.Report{
			Engine: "exact", Status: credence.Converged, Rows: 4, Weights: d, Evidence: &evidence,
			Hyper: []credence.Value{{Name: "noise_variance", Value: 0.25}}, Warnings: []string{"a warning"},
		},
		TargetMean: 1.5, TargetVariance: 1.25,
	}
	var held []calibration.Row
	for i := range 80 {
		held = append(held, calibration.Row{Group: []string{"a", "b"}[i%2], Score: rng.NormFloat64()})
	}
	fitted.Calibration = must.Value(calibration.Fit("city", false, held))(t)
	for k, q := range []credence.Posterior{full, dual, sum} {
		fitted.Members = append(fitted.Members, credence.Member{
			Model: credence.Model{
				Features: set, Likelihood: likelihood.Gaussian{NoiseVariance: param.From(0.25), PredictiveDF: []float64{8.5, 0, 0}[k]},
				Prior: prior.Normal{Variances: variances},
			},
			Posterior: q, Weight: []float64{0.125, 0.375, 0.5}[k],
		})
	}
	var batch credence.Batch
	data := must.Value(fr.Bind(newTable(), frame.RequireTargets))(t)
	must.Succeed(t, data.Read(&batch, 0, 4))
	return fitted, &batch
}

func encoded(t *testing.T, fitted *credence.Fitted) []byte {
	t.Helper()
	var out bytes.Buffer
	must.Succeed(t, Write(&out, fitted, DefaultParts()))
	return out.Bytes()
}

// What is read back predicts the same bits, and is written as the same bytes.
func TestRoundTrip(t *testing.T) {
	fitted, batch := example(t)
	path := filepath.Join(t.TempDir(), "m.safetensors")
	must.Succeed(t, Save(path, fitted))
	again := must.Value(Load(path))(t)
	if want, got := encoded(t, fitted), encoded(t, again); !bytes.Equal(want, got) {
		t.Error("writing what was read gives other bytes")
	}
	if !reflect.DeepEqual(fitted.Calibration, again.Calibration) || !reflect.DeepEqual(fitted.Report, again.Report) || !reflect.DeepEqual(fitted.Recipe, again.Recipe) || fitted.TargetVariance != again.TargetVariance {
		t.Errorf("report and recipe became %+v %+v", again.Report, again.Recipe)
	}
	for i := range fitted.Members {
		if !reflect.DeepEqual(fitted.Members[i].Posterior, again.Members[i].Posterior) {
			t.Errorf("posterior of member %d differs", i)
		}
		if !reflect.DeepEqual(fitted.Members[i].Model.Likelihood, again.Members[i].Model.Likelihood) {
			t.Errorf("likelihood of member %d differs", i)
		}
	}
	want := predictions(t, fitted, batch)
	data := must.Value(again.Frame.(*frame.Frame).Bind(newTable(), frame.RequireTargets))(t)
	var rebound credence.Batch
	must.Succeed(t, data.Read(&rebound, 0, 4))
	if got := predictions(t, again, &rebound); !reflect.DeepEqual(want, got) {
		t.Errorf("predictions differ: %v and %v", want, got)
	}
}

// predictions returns the mean, the variance and two quantiles of every row.
func predictions(t *testing.T, fitted *credence.Fitted, rows *credence.Batch) (all []float64) {
	t.Helper()
	dist := must.Value(fitted.Distribution(credence.NewWorkspace(1), rows))(t)
	for i := range dist.Rows() {
		mean, variance := dist.Moments(i)
		all = append(all, mean, variance, dist.Quantile(i, 0.1), dist.Quantile(i, 0.9))
	}
	return all
}

// Every byte of a model file, changed, is noticed.
func TestDamageIsRefused(t *testing.T) {
	fitted, _ := example(t)
	file := encoded(t, fitted)
	for i := range file {
		damaged := bytes.Clone(file)
		damaged[i] ^= 0x10
		if _, err := Read(bytes.NewReader(damaged), int64(len(damaged)), DefaultParts()); err == nil {
			t.Fatalf("byte %d changed and nothing was said", i)
		}
	}
	for _, n := range []int{0, 1, 8, 100, len(file) / 2, len(file) - 1} {
		if _, err := Read(bytes.NewReader(file[:n]), int64(n), DefaultParts()); err == nil {
			t.Errorf("a file cut to %d bytes was read", n)
		}
	}
}

// A file whose digest is right can still be wrong: an adversary computes it too.
func TestInconsistentFilesAreRefused(t *testing.T) {
	fitted, _ := example(t)
	metadata, tensors, err := encode(fitted, DefaultParts())
	if err != nil {
		t.Fatal(err)
	}
	rewrite := func(change func(doc map[string]any), skip string) error {
		var doc map[string]any
		must.Succeed(t, json.Unmarshal([]byte(metadata[metadataKey]), &doc))
		change(doc)
		text := must.Value(json.Marshal(doc))(t)
		var kept []safetensors.Tensor
		for _, tensor := range tensors {
			if tensor.Name != skip {
				kept = append(kept, tensor)
			}
		}
		var out bytes.Buffer
		must.Succeed(t, safetensors.Write(&out, map[string]string{metadataKey: string(text)}, kept))
		_, err = Read(bytes.NewReader(out.Bytes()), int64(out.Len()), DefaultParts())
		return err
	}
	nothing := func(map[string]any) {}
	if err := rewrite(nothing, ""); err != nil {
		t.Fatalf("the file rewritten as it was is refused: %v", err)
	}
	member := func(doc map[string]any) map[string]any { return doc["members"].([]any)[0].(map[string]any) }
	cases := []struct {
		name, skip, want string
		change           func(doc map[string]any)
	}{
		{"no format", "", "format 0 and this version reads formats 4 to 5: fit again", func(doc map[string]any) { delete(doc, "format") }},
		{"older format", "", "format 3 and this version reads formats 4 to 5: fit again", func(doc map[string]any) { doc["format"] = 3 }},
		{"later format", "", "format 9 and this version reads formats 4 to 5: use a newer version", func(doc map[string]any) { doc["format"] = 9 }},
		{"no members", "", "no fit", func(doc map[string]any) { doc["members"] = []any{} }},
		{"missing tensor", "member.0.posterior.mean", "member.0.posterior.mean is missing", nothing},
		{"missing frequencies", "member.0.features.1.frequencies", "modelfile: feature: rbf(.) has 0 frequency values for 3 inputs", nothing},
		{"unknown likelihood", "", `"weird" is unknown`, func(doc map[string]any) {
			member(doc)["likelihood"].(map[string]any)["kind"] = "weird"
		}},
		{"invalid likelihood", "", "variance", func(doc map[string]any) {
			member(doc)["likelihood"].(map[string]any)["data"] = map[string]any{"noise_variance": -1}
		}},
		{"a negative weight", "", "member 1 has weight -0.125", func(doc map[string]any) { member(doc)["weight"] = -0.125 }},
		{"weights of another sum", "", "sum to 1.375", func(doc map[string]any) { member(doc)["weight"] = 0.5 }},
		{"no variance", "", "2 degrees of freedom: a variance needs more than 2", func(doc map[string]any) {
			member(doc)["posterior"].(map[string]any)["data"] = map[string]any{"df": 2}
		}},
		{"no predictive variance", "", "-1 predictive degrees of freedom", func(doc map[string]any) {
			member(doc)["likelihood"].(map[string]any)["data"] = map[string]any{"predictive_df": -1}
		}},
		{"input out of range", "", "input 17", func(doc map[string]any) {
			terms := member(doc)["terms"].([]any)
			terms[3].(map[string]any)["data"] = map[string]any{"inputs": []int{0, 17}}
		}},
		{"another number of weights", "", "elements, not", func(doc map[string]any) {
			m := member(doc)
			m["terms"] = m["terms"].([]any)[:4]
		}},
		{"frame of other inputs", "", "input 2 of 1", func(doc map[string]any) {
			f := doc["frame"].(map[string]any)
			f["inputs"] = f["inputs"].([]any)[:1]
		}},
		{"frame of a sparse column that there is not", "", "none of the 3 sparse columns", func(doc map[string]any) {
			doc["frame"].(map[string]any)["inputs"].([]any)[0].(map[string]any)["segment"] = true
		}},
		{"a polynomial of too many columns", "", "degree 4611686018427387904", func(doc map[string]any) {
			for _, term := range member(doc)["terms"].([]any) {
				if term := term.(map[string]any); term["kind"] == "polynomial" {
					term["data"].(map[string]any)["degree"] = json.Number("4611686018427387904")
				}
			}
		}},
		{"no scores", "calibration.scores", "calibration.scores is missing", nothing},
		{"calibration of fewer rows", "", "calibration: group 2 has 40 scores of 39 rows", func(doc map[string]any) {
			doc["calibration"].(map[string]any)["groups"].([]any)[1].(map[string]any)["rows"] = 39
		}},
		{"calibration of classes", "", "calibration: 160 scores have 0 probabilities", func(doc map[string]any) { doc["calibration"].(map[string]any)["classes"] = true }},
		{"two frames", "", "it has two frames", func(doc map[string]any) { doc["keyed_frame"] = map[string]any{"target": "y"} }},
		{"frame dividing by zero", "", "divided by 0", func(doc map[string]any) {
			doc["frame"].(map[string]any)["inputs"].([]any)[0].(map[string]any)["scale"] = 0
		}},
	}
	for _, c := range cases {
		err := rewrite(c.change, c.skip)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one about %q", c.name, err, c.want)
		}
	}
}

func TestLoadNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes.txt")
	must.Succeed(t, os.WriteFile(path, []byte("these are not the weights you are looking for"), 0o644))
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), "notes.txt is not a model file") {
		t.Errorf("error %v", err)
	}
	if _, err := Load(path + ".gone"); err == nil || !strings.Contains(err.Error(), "notes.txt.gone") {
		t.Errorf("error %v", err)
	}
	must.Succeed(t, os.WriteFile(path, append(binary.LittleEndian.AppendUint64(nil, 100), "        "...), 0o644))
	if _, err := Load(path); err == nil || err.Error() != path+" is not a model file that can be read: truncated: header says 100 bytes, file has 16: restore it from a copy or fit again" {
		t.Errorf("error %v", err)
	}
}

// TestSparseRowsAreChecked: the sparse rows of a posterior are read as they were written, entries of ones as ones, and
// what no such rows have is refused by the row and the tensor.
func TestSparseRowsAreChecked(t *testing.T) {
	const name = "member.1.posterior.design"
	fitted, batch := example(t)
	for _, k := range []int{1, 2} { // entries that are all 1 have no values
		switch q := fitted.Members[k].Posterior.(type) {
		case *posterior.Dual:
			q.Design.Sparse.Value = nil
		case *posterior.DualSum:
			q.Design.Sparse.Value = nil
		}
	}
	file := encoded(t, fitted)
	read := must.Value(Read(bytes.NewReader(file), int64(len(file)), DefaultParts()))(t)
	if bytes.Contains(file, []byte(name+".value")) || !reflect.DeepEqual(predictions(t, fitted, batch), predictions(t, read, batch)) {
		t.Error("entries of ones are stored, or predict otherwise")
	}
	fitted, _ = example(t)
	d := fitted.Members[0].Model.Features.Weights()
	metadata, tensors, err := encode(fitted, DefaultParts())
	must.Succeed(t, err)
	cols := fitted.Members[1].Posterior.(*posterior.Dual).Design.Sparse.Cols
	for _, c := range []struct {
		tensor safetensors.Tensor
		want   string
	}{
		{safetensors.Of(name+".start", []int64{0, 1, 2}), ""},
		{safetensors.Of(name+".start", []int64{0, 0, 2}), ""}, // a row without entries
		{safetensors.Of(name+".start", []int64{0, 2}), "the row starts of " + name + " do not cover its 2 entries"},
		{safetensors.Of(name+".start", []int64{1, 1, 2}), "do not cover its 2 entries"},
		{safetensors.Of(name+".start", []int64{0, 1, 3}), "do not cover its 2 entries"},
		{safetensors.Of(name+".start", []int64{0, 3, 2}), "row 0 of " + name + " ends before it starts"},
		{safetensors.Of(name+".start", []int64{0, -1, 2}), "row 0 of " + name + " ends before it starts"},
		{safetensors.Of(name+".start", []float64{0, 1, 2}), "is F64, not I64"},
		{safetensors.Of(name+".index", []int32{0, int32(cols - 1)}), ""},
		{safetensors.Of(name+".index", []int32{0, int32(cols)}), fmt.Sprintf("column %d in row 1 of %s is out of order or range", cols, name)},
		{safetensors.Of(name+".index", []int32{-1, 0}), "column -1 in row 0 of " + name},
		{safetensors.Of(name+".index", []int64{0, 1}), "is I64, not I32"},
		{safetensors.Of(name+".value", []float64{1}), "elements"},
		{safetensors.Of(name, []float64{}, math.MaxInt>>16, 0), "do not cover its 2 entries"}, // of no bytes
		{safetensors.Of(name, make([]float64, 2*d+2), 2, d+1), fmt.Sprintf("tensor %s has %d columns for %d weights", name, d+1, d)},
	} {
		changed := slices.Clone(tensors)
		k := slices.IndexFunc(changed, func(t safetensors.Tensor) bool { return t.Name == c.tensor.Name })
		if k < 0 {
			t.Fatalf("there is no tensor %s", c.tensor.Name)
		}
		changed[k] = c.tensor
		var file bytes.Buffer
		must.Succeed(t, safetensors.Write(&file, metadata, changed))
		_, err := Read(bytes.NewReader(file.Bytes()), int64(file.Len()), DefaultParts())
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.tensor.Name, err, c.want)
		}
	}
	doubled := slices.Clone(tensors)
	for k := range doubled {
		if doubled[k].Name == name+".index" {
			doubled[k] = safetensors.Of(name+".index", []int32{1, 1})
		}
		if doubled[k].Name == name+".start" {
			doubled[k] = safetensors.Of(name+".start", []int64{0, 2, 2})
		}
	}
	var twice bytes.Buffer
	must.Succeed(t, safetensors.Write(&twice, metadata, doubled))
	if _, err := Read(bytes.NewReader(twice.Bytes()), int64(twice.Len()), DefaultParts()); err == nil || !strings.Contains(err.Error(), "column 1 in row 0 of "+name+" is out of order") {
		t.Errorf("a column that stands twice in a row: %v", err)
	}
}

// strangeFrame and strangeFeatures are those of a program.
type strangeFrame struct{}

func (strangeFrame) TargetName() string { return "y" }

type strangeFeatures struct{ *feature.Set }

// TestWhatCannotBeStored: a fit that could not be read again is not written, the reason says what of it, and the file
// that stood at the path stays.
func TestWhatCannotBeStored(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.safetensors")
	fitted, _ := example(t)
	must.Succeed(t, Save(path, fitted))
	before := must.Value(os.ReadFile(path))(t)
	other := func(f *credence.Fitted) *feature.Set {
		inputs := f.Frame.(*frame.Frame).ModelInputs()
		inputs.Dense = slices.Clone(inputs.Dense)
		inputs.Dense[0].Name = "another"
		return must.Value(feature.New(inputs, f.Members[0].Model.Features.(*feature.Set).Terms()...))(t)
	}
	for want, change := range map[string]func(f *credence.Fitted){
		"frame modelfile.strangeFrame cannot be stored: model files hold those of packages frame and keyed": func(f *credence.Fitted) { f.Frame = strangeFrame{} },
		"features modelfile.strangeFeatures cannot be stored: model files hold those of packages feature and keyed": func(f *credence.Fitted) {
			f.Members[1].Model.Features = strangeFeatures{f.Members[1].Model.Features.(*feature.Set)}
		},
		"the features are of other inputs than the frame: make them of the frame's ModelInputs": func(f *credence.Fitted) { f.Members[0].Model.Features = other(f) },
		"the members of the fit have different inputs":                                          func(f *credence.Fitted) { f.Members[1].Model.Features = other(f) },
		"element 0 of tensor calibration.scores is NaN: fit again":                              func(f *credence.Fitted) { f.Calibration.Scores[0] = math.NaN() },
		"calibration: group 1 has 80 scores of 39 rows":                                         func(f *credence.Fitted) { f.Calibration.Groups[0].Rows = 39 },
		"sum to 1.375": func(f *credence.Fitted) { f.Members[0].Weight = 0.5 },
	} {
		fitted, _ := example(t)
		change(fitted)
		err := Save(path, fitted)
		if err == nil || !strings.HasPrefix(err.Error(), "modelfile: "+path+" is not written: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		if now := must.Value(os.ReadFile(path))(t); !bytes.Equal(now, before) {
			t.Errorf("%s: the old file is gone", want)
		}
	}
	if err := Save(path, nil); err == nil || !strings.Contains(err.Error(), "there is no fit to write") {
		t.Errorf("no fit: %v", err)
	}
}

// FuzzDocument changes the JSON of a valid file, digest and all. Reading must
// refuse it or give a fit that predicts without a panic.
func FuzzDocument(f *testing.F) {
	t := &testing.T{}
	fitted, batch := example(t)
	metadata, tensors, err := encode(fitted, DefaultParts())
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(metadata[metadataKey]))
	f.Fuzz(func(t *testing.T, text []byte) {
		var out bytes.Buffer
		if err := safetensors.Write(&out, map[string]string{metadataKey: string(text)}, tensors); err != nil {
			t.Skip()
		}
		predicts(out.Bytes(), batch)
	})
}
