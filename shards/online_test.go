package shards

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/learn"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/safetensors"
)

// clicks writes files of so many rows each: two categories, of which one has levels of each file's own where apart, and
// a target in words.
func clicks(t *testing.T, apart bool, rows ...int) (paths []string) {
	t.Helper()
	folder, rng := t.TempDir(), rand.New(rand.NewPCG(3, 8))
	effect := func(field, level int) float64 { return 1.5 * math.Sin(float64(3*field+level*level)) }
	for k, count := range rows {
		var text strings.Builder
		text.WriteString("click,site,ad\n")
		for range count {
			site, ad, of := rng.IntN(9), rng.IntN(6+k), 0
			if apart {
				of = k + 1
			}
			word := "no"
			if rng.Float64() < 1/(1+math.Exp(0.5-effect(1, site)-effect(2, ad))) {
				word = "yes"
			}
			fmt.Fprintf(&text, "%s,s%d_%d,a%d_%d\n", word, of, site, of, ad)
		}
		paths = append(paths, filepath.Join(folder, fmt.Sprintf("f%d.csv", k)))
		must.Succeed(t, os.WriteFile(paths[k], []byte(text.String()), 0o644))
	}
	return paths
}

// learned learns files in turn by one learner, as stream does, and returns it with its model.
func learned(t *testing.T, paths []string, options fit.Options) (*learn.Learner, *credence.Fitted) {
	t.Helper()
	l := must.Value(learn.New(options))(t)
	table := must.Value(dataset.Open(ctx, paths, dataset.Options{Keyed: true}))(t)
	defer table.Close()
	columns := must.Value(l.Columns(table.Schema()))(t)
	if classes := table.Classes("click"); classes != nil {
		l.SetClasses(classes[0], classes[1])
	}
	must.Succeed(t, table.Rows(ctx, columns, credence.Position{}, func(run *dataset.Run) error {
		_, err := l.Learn(run.Rows)
		return err
	}))
	l.Finish()
	return l, must.Value(l.Fitted())(t)
}

// weights are the posteriors of a model's weights, by their names.
func weights(f *credence.Fitted) map[string]credence.Marginal {
	q, all := f.Members[0].Posterior.(*posterior.SpikeSlab), map[string]credence.Marginal{}
	for j := range q.Mean {
		all[f.Members[0].Model.Features.(credence.Named).WeightName(j)] = credence.Marginal{Mean: q.Mean[j], Variance: q.Variance[j], Inclusion: q.Probability[j]}
	}
	return all
}

// TestOnlineApart: where no two files have a feature in common and there is no intercept, what files say is what one
// learner of each says: the united model has its weights, under its names.
func TestOnlineApart(t *testing.T) {
	paths := clicks(t, true, 700, 900, 5000)
	for _, engine := range []string{"sep", "sep(batch=50)"} {
		options := fit.Options{Formula: "click ~ 0 + hash(site) + hash(ad)", Engine: engine, Prior: "spikeslab(inclusion=0.5, slab=1)"}
		job := must.Value(NewOnline(ctx, paths, options, dataset.Options{}))(t)
		got, rounds := apart(t, job, split(3, 2), 1)
		count := 0
		for k := range paths {
			_, alone := learned(t, paths[k:k+1], options)
			for name, want := range weights(alone) {
				count++
				w, found := weights(got)[name]
				if engine != "sep" { // where a prior factor would be negative, a mini-batch leaves the one before
					w.Mean, w.Variance = want.Mean, want.Variance
				}
				if !found || !(math.Abs(w.Inclusion-want.Inclusion) <= 1e-9) || !(math.Abs(w.Mean-want.Mean) <= 1e-6*math.Sqrt(want.Variance)) || !(math.Abs(w.Variance/want.Variance-1) <= 1e-6) {
					t.Errorf("%s, file %d: weight %s is %+v, want %+v", engine, k, name, w, want)
				}
			}
		}
		if len(weights(got)) != count || rounds != 1 || got.Report.Rows != 6600 {
			t.Errorf("%s: %d weights of %d, %d rounds, %d rows", engine, len(weights(got)), count, rounds, got.Report.Rows)
		}
	}
}

// TestOnlineParts: the model and its checkpoint have the same bytes whatever the parts, one of an empty file too,
// and are close to those of one pass over all; learning goes on from the checkpoint, and not with the next row.
func TestOnlineParts(t *testing.T) {
	paths := clicks(t, false, 4500, 0, 6000, 5000, 5500)
	folder := t.TempDir()
	for _, options := range []fit.Options{{Formula: "click ~ hash(.)"}, {Formula: "click ~ site + ad", Engine: "adpredictor(variance=1)"}} {
		var models, checkpoints [][]byte
		path := filepath.Join(folder, "m.checkpoint")
		for groups := range 3 {
			job := must.Value(NewOnline(ctx, paths, options, dataset.Options{}))(t)
			if job.Left() != 0 || !job.Online() || job.Checkpoint(path) == nil {
				t.Error("a job that is not merged has a checkpoint, or asks more than one round")
			}
			job = stored(t, job, Read)
			job.Threads = 1 + groups%2
			var parts []*Part
			for _, group := range split(5, groups+1) {
				parts = append([]*Part{stored(t, must.Value(job.Partial(ctx, group...))(t), ReadPart)}, parts...)
			}
			parts = append(parts, must.Value(job.Partial(ctx, 3))(t)) // again
			fitted, more, err := job.Merge(ctx, parts...)
			if must.Succeed(t, err); more || fmt.Sprint(job.Twice()) != "[3]" {
				t.Error("there is another round, or a file is taken twice")
			}
			must.Succeed(t, job.Checkpoint(path))
			models, checkpoints = append(models, saved(t, fitted)), append(checkpoints, must.Value(os.ReadFile(path))(t))
			if !bytes.Equal(models[groups], models[0]) || !bytes.Equal(checkpoints[groups], checkpoints[0]) {
				t.Errorf("%s: %d parts give another model", options.Engine, groups+1)
			}
			if groups > 0 {
				continue
			}
			_, want := learned(t, []string{paths[0], paths[2], paths[3], paths[4]}, options)
			united, once := weights(fitted), weights(want)
			for site := range 9 { // weights of a field can be exchanged for the intercept, sums cannot
				for ad := range 6 {
					names := []string{"(intercept)", fmt.Sprintf("site=s0_%d", site), fmt.Sprintf("ad=a0_%d", ad)}
					a, b := 0.0, 0.0
					for _, name := range names {
						a, b = a+united[name].Mean, b+once[name].Mean
					}
					if pa, pb := special.NormalCDF(a), special.NormalCDF(b); !(math.Abs(pa-pb) <= 0.03) || pa == 0.5 {
						t.Errorf("%s, %v: probability %v, and %v in one pass", options.Engine, names[1:], pa, pb)
					}
				}
			}
			if r := fitted.Report; r.Rows != 21000 || !strings.Contains(strings.Join(r.Remarks, ";"), "4 files were learned apart") || !(math.Abs(fitted.TargetMean-want.TargetMean) <= 1e-12) {
				t.Errorf("%s: %d rows, mean %v, %q", options.Engine, r.Rows, fitted.TargetMean, r.Remarks)
			}
			if coverage := fitted.Report.WeightCoverage; options.Engine == "" && (coverage == nil || !(*coverage > 0)) {
				t.Errorf("the spread of the weights is not judged: %v", coverage)
			}
		}
		rows := map[string]any{"click": "yes", "site": "s0_1", "ad": "a0_1"}
		next := must.Value(learn.From(path, options, 1))(t)
		if must.Value(next.Row(rows))(t); next.Rows() != 21001 {
			t.Errorf("%d rows after the next", next.Rows())
		}
		resumed, _, err := learn.Resume(path, options)
		must.Succeed(t, err)
		_, err = resumed.Row(rows)
		refused(t, err, "4 files that were learned apart", "--from")
	}
	// Rows leave the first file alone.
	job := must.Value(NewOnline(ctx, paths, fit.Options{Formula: "click ~ hash(.)"}, dataset.Options{}))(t)
	for k, want := range map[int]int{0: 4096, 2: 0} {
		state := must.Value(job.Partial(ctx, k))(t).states[k]
		r := must.Value(safetensors.NewReader(bytes.NewReader(state), int64(len(state))))(t)
		if lengths := must.Value(safetensors.Read[int32](r, "sep.early.lengths"))(t); len(lengths) != want {
			t.Errorf("%d rows of file %d leave it, want %d", len(lengths), k, want)
		}
	}
	kept := must.Value(NewOnline(ctx, paths, fit.Options{Formula: "click ~ hash(.)"}, dataset.Options{}))(t)
	must.Succeed(t, kept.KeepRows())
	fitted, _ := apart(t, kept, split(5, 2), 4)
	if fitted.Report.WeightCoverage != nil {
		t.Error("rows were kept where they lie, and the spread of the weights is judged by them")
	}
}

// TestOnlineRefuses: what cannot be learned apart is refused with what can, before a file is learned if options tell.
func TestOnlineRefuses(t *testing.T) {
	paths := clicks(t, false, 400, 60)
	for want, options := range map[string]fit.Options{
		"has no posterior":                   {Engine: "ftrl"},
		"sgd: it has no posterior":           {Engine: "sgd(rate=0.1)"},
		"state it, as adpredictor(variance=": {Engine: "adpredictor"},
		"forget and half_life":               {Engine: "sep(forget=100)"},
		"prune and features":                 {Engine: "sep(features=100)"},
		"leave passes out":                   {Engine: "sep(passes=2)"},
		"use sep, ftrl, adpredictor":         {Engine: "exact"},
		"leave such rows out by drop":        {Missing: "mean"},
		"evaluate the model by it":           {HoldOut: 10},
	} {
		options.Formula = "click ~ hash(.)"
		_, err := NewOnline(ctx, paths, options, dataset.Options{})
		refused(t, err, want)
	}
	_, err := NewOnline(ctx, paths, fit.Options{Formula: "site ~ hash(ad)"}, dataset.Options{})
	refused(t, err, "site")
	_, err = NewOnline(ctx, []string{"-"}, fit.Options{Formula: "site ~ hash(ad)"}, dataset.Options{})
	refused(t, err, "standard input")
	_, err = New(ctx, paths, fit.Options{Formula: "click ~ .", Engine: "sep"}, dataset.Options{})
	refused(t, err, "add --online")
	job := must.Value(NewOnline(ctx, paths, fit.Options{Formula: "click ~ hash(.)"}, dataset.Options{}))(t)
	_, err = job.Partial(ctx, 1)
	refused(t, err, "f1.csv: its 60 rows", "join files")
	single := must.Value(NewOnline(ctx, paths[1:], fit.Options{Formula: "click ~ hash(.)"}, dataset.Options{}))(t)
	must.Value(single.Partial(ctx, 0))(t)
	other := must.Value(NewOnline(ctx, paths, fit.Options{Formula: "click ~ hash(., bits=20)"}, dataset.Options{}))(t)
	_, _, err = job.Merge(ctx, part(t, other, "p", 0))
	refused(t, err, "p is a part of job")
	empty := clicks(t, false, 0, 0)
	must.Succeed(t, os.WriteFile(empty[0], []byte("click,site,ad\nyes,s1,a1\nno,s2,a2\n"), 0o644))
	whole := must.Value(NewOnline(ctx, empty, fit.Options{Formula: "click ~ hash(.)"}, dataset.Options{}))(t)
	_, err = whole.Partial(ctx, 0, 1)
	refused(t, err, "its 2 rows")
	nothing := part(t, whole, "q", 1)
	nothing.state.Answers = append(nothing.state.Answers, answer{File: 0})
	_, _, err = whole.Merge(ctx, nothing)
	refused(t, err, "no file has a row")

	// A part that changes between being read and merged.
	one := part(t, single, "p", 0)
	must.Succeed(t, must.Value(job.Partial(ctx, 0))(t).Write(one.name))
	_, _, err = single.Merge(ctx, one)
	refused(t, err, "changed while it was merged")
}
