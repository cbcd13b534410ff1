package shards

import (
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
	"github.com/credence-ml/credence/internal/study"
)

// writeCounts writes files of rows with targets of many families, of which the second lacks a level, and columns for
// every role.
func writeCounts(t *testing.T, rows ...int) (paths []string) {
	t.Helper()
	folder, rng := t.TempDir(), rand.New(rand.NewPCG(31, 5))
	for k, count := range rows {
		var text strings.Builder
		text.WriteString("a,b,g,n,time,exact,class,count,size,heavy,grade,hits,place,sure\n")
		for range count {
			a, b, g := 10+3*rng.NormFloat64(), rng.NormFloat64(), rng.IntN(6-min(k, 1))
			n, time, exact := 1+rng.IntN(4), .5+rng.Float64(), .5+rng.Float64()
			f := .3*(a-10)/3 - .4*b + .2*float64(g) - .5
			poisson := func(mean float64) (y int) {
				for p := rng.Float64(); p > math.Exp(-mean); p *= rng.Float64() {
					y++
				}
				return y
			}
			hits := 0
			for range n {
				if rng.Float64() < 1/(1+math.Exp(-f)) {
					hits++
				}
			}
			class := min(hits, 1)
			shape := 0.
			for range 4 {
				shape -= math.Log(rng.Float64()) / 4
			}
			grade := 1
			for _, cut := range []float64{-.5, .5, 1.5} {
				if f+math.Log(1/rng.Float64()-1) > cut {
					grade++
				}
			}
			heavy := f + rng.NormFloat64()/math.Sqrt(shape*exact)
			fmt.Fprintf(&text, "%.6g,%.6g,l%d,%d,%.4f,%.4f,%d,%d,%.6g,%.6g,%d,%d,p%d,%v\n", a, b, g, n, time, exact, class,
				poisson(time*shape*math.Exp(f)), shape*math.Exp(f), heavy, grade, hits, rng.IntN(300+k), class == 1)
		}
		paths = append(paths, filepath.Join(folder, fmt.Sprintf("f%02d.csv", k)))
		must.Succeed(t, os.WriteFile(paths[k], []byte(text.String()), 0o644))
	}
	return paths
}

// rounds fits by parts, of which each has the files of a group, shuffled, and tells how many rounds it took.
func rounds(t *testing.T, job *Job, groups [][]int, seed uint64) (*credence.Fitted, int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 2))
	for round := 1; ; round++ {
		if round > 60 {
			t.Fatalf("round %d", round)
		}
		job = stored(t, job, Read)
		job.Threads = 1 + int(seed)%3
		var parts []*Part
		for _, k := range rng.Perm(len(groups)) {
			parts = append(parts, stored(t, must.Value(job.Partial(ctx, groups[k]...))(t), ReadPart))
		}
		fitted, more, err := job.Merge(ctx, parts...)
		must.Succeed(t, err)
		if !more {
			return fitted, round
		}
	}
}

// farthest is the largest difference of two posteriors' means and deviations, in deviations.
func farthest(a, b *credence.Fitted) (most float64) {
	for i := range a.Members {
		d := a.Members[i].Posterior.Weights()
		means, variances, others, spreads := make([]float64, d), make([]float64, d), make([]float64, d), make([]float64, d)
		a.Members[i].Posterior.Marginals(means, variances)
		b.Members[i].Posterior.Marginals(others, spreads)
		for j, v := range variances {
			most = math.Max(most, math.Max(math.Abs(means[j]-others[j])/math.Sqrt(v), math.Abs(math.Sqrt(spreads[j]/v)-1)))
		}
	}
	return most
}

// TestRounds: svi by rounds is svi on one machine, in means, deviations, hyper-parameters, warnings and remarks, and
// its bytes do not depend on the parts.
func TestRounds(t *testing.T) {
	paths := writeCounts(t, 6000, 700, 0, 5000, 2500, 2500, 2000, 1000)
	const full, mode = "svi(covariance=full)", "svi(covariance=full, hyper=mode)"
	for _, c := range []struct {
		name    string
		options fit.Options
		long    bool
		rounds  int // 0 for as many as were told, but for three
	}{
		{"auto", fit.Options{Formula: "count ~ a + b + g + offset(log(time))", Family: "poisson"}, false, 7},
		{"weights", fit.Options{Formula: "class ~ a*b + g + weight(n)", Family: "bernoulli", Engine: full}, false, 8},
		{"studentt by mode", fit.Options{Formula: "heavy ~ a + b + g + precision(exact)", Family: "studentt", Engine: mode}, false, 7},
		{"ordinal by mode", fit.Options{Formula: "grade ~ a + b + g", Family: "ordinal", Engine: mode}, false, 8},
		{"gaussian", fit.Options{Formula: "heavy ~ a + b + g", Family: "gaussian", Engine: full}, false, 3},
		{"levels", fit.Options{Formula: "count ~ a + b + place", Family: "poisson", Engine: mode}, true, 0},
		{"poisson by mode", fit.Options{Formula: "count ~ a + b + g", Family: "poisson", Engine: mode}, true, 0},
		{"maximum likelihood", fit.Options{Formula: "count ~ a + b + g", Family: "poisson", Engine: "svi(covariance=full, hyper=ml)"}, true, 0},
		{"bernoulli", fit.Options{Formula: "class ~ a + b + g", Family: "bernoulli", Engine: full}, true, 0},
		{"trials", fit.Options{Formula: "hits ~ a + b + g", Family: "binomial(trials=n)", Engine: full}, true, 0},
		{"negbinomial", fit.Options{Formula: "count ~ a + b + g + offset(log(time))", Family: "negbinomial", Engine: full}, true, 0},
		{"studentt", fit.Options{Formula: "heavy ~ a + b + g + precision(exact)", Family: "studentt", Engine: full}, true, 0},
		{"gamma", fit.Options{Formula: "size ~ a + b + g", Family: "gamma", Engine: full}, true, 0},
		{"ordinal", fit.Options{Formula: "grade ~ a + b + g", Family: "ordinal", Engine: full}, true, 0},
		{"ard", fit.Options{Formula: "count ~ a + b + g", Family: "poisson", Engine: full, Prior: "normal(ard=true)"}, true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.long {
				study.Only(t)
			} else if testing.Short() && c.name != "auto" {
				t.Skip("fits to 19,700 rows")
			}
			want := whole(t, paths, c.options)
			var first []byte
			for i, groups := range []int{len(paths), 4, 1} {
				if i > 0 && !c.long && c.name != "auto" {
					break
				}
				job := must.Value(New(ctx, paths, c.options, dataset.Options{}))(t)
				guess := 1 + job.Left()
				got, count := rounds(t, job, split(len(paths), groups), uint64(i))
				far := c.name == "ordinal" // is the mode
				if count < guess-3 || count > guess+3 && !far || c.rounds > 0 && count != c.rounds {
					t.Errorf("%d rounds, of which about %d were told, and %d wanted", count, guess, c.rounds)
				}
				if gap := farthest(want, got); !(gap < 1e-8) {
					t.Errorf("%d parts: means and deviations differ by %.2g", groups, gap)
				} else if i == 0 {
					t.Logf("%d rounds, %.2g SD", count, gap)
				}
				for k, v := range want.Report.Hyper {
					if g := got.Report.Hyper[k]; g.Name != v.Name || !(math.Abs(g.Value-v.Value) <= 1e-8*math.Abs(v.Value)) {
						t.Errorf("%s is %v, want %v", g.Name, g.Value, v.Value)
					}
				}
				for _, told := range [][2]*float64{{want.Report.ELBO, got.Report.ELBO}, {want.Report.EvidenceGap, got.Report.EvidenceGap}} {
					if (told[0] == nil) != (told[1] == nil) || told[0] != nil && !(math.Abs(*told[0]-*told[1]) <= 1e-6*(1+math.Abs(*told[0]))) {
						t.Errorf("the report is %+v, want %+v", got.Report, want.Report)
					}
				}
				if a, b := fmt.Sprint(want.Report.Warnings, want.Report.Remarks), fmt.Sprint(got.Report.Warnings, got.Report.Remarks); a != b {
					t.Errorf("the report says %s, want %s", b, a)
				}
				if bytes := saved(t, got); first == nil {
					first = bytes
				} else if string(bytes) != string(first) {
					t.Errorf("%d parts on %d threads give other bytes than %d on one", groups, 1+i, len(paths))
				}
			}
		})
	}
}

// TestRoundsWithoutRows: with no row carried a fit is the same to its tolerance, and asks for the densities of draws.
func TestRoundsWithoutRows(t *testing.T) {
	paths := writeCounts(t, 900, 300, 0, 500)
	for _, options := range []fit.Options{
		{Formula: "count ~ a + b + g + offset(log(time))", Family: "poisson"},
		{Formula: "class ~ a + b + g"},
		{Formula: "size ~ a + b + g", Family: "gamma", Engine: "svi(covariance=full, hyper=mode)"},
	} {
		want := whole(t, paths, options)
		job := must.Value(New(ctx, paths, options, dataset.Options{}))(t)
		must.Succeed(t, job.KeepRows())
		got, count := rounds(t, job, split(len(paths), 2), 1)
		if gap := farthest(want, got); !(gap < 1e-3) {
			t.Errorf("%s: means and deviations differ by %.2g", options.Formula, gap)
		} else {
			t.Logf("%d rounds, %.2g SD", count, gap)
		}
		if a, b := *want.Report.ParetoK, *got.Report.ParetoK; !(math.Abs(a-b) <= 1e-3) {
			t.Errorf("%s: Pareto k is %v, want %v", options.Formula, b, a)
		}
		if text := fmt.Sprint(got.Report.Remarks); !strings.Contains(text, "no row was looked at") {
			t.Errorf("%s: the remarks are %s", options.Formula, text)
		}
	}
	for _, options := range []fit.Options{{Formula: "heavy ~ a", Family: "studentt"}} {
		job := must.Value(New(ctx, paths, options, dataset.Options{}))(t)
		must.Succeed(t, job.KeepRows())
		_, _, err := job.Merge(ctx, part(t, job, "p", 0, 1, 2, 3))
		refused(t, err, "leave --no-rows out")
	}
}

// TestSeparatedInRounds: classes that a plane separates in all files are told as one machine tells them, and those that
// are separated in each file alone are not.
func TestSeparatedInRounds(t *testing.T) {
	paths := writeCounts(t, 400, 300, 200)
	for _, formula := range []string{"sure ~ class + b", "class ~ a + b + g"} {
		options := fit.Options{Formula: formula, Engine: "svi(covariance=full, hyper=mode)"}
		want := whole(t, paths, options)
		got, _ := rounds(t, must.Value(New(ctx, paths, options, dataset.Options{}))(t), split(len(paths), 2), 1)
		separated := strings.Contains(fmt.Sprint(want.Report.Warnings), "separable")
		if a, b := fmt.Sprint(want.Report.Warnings), fmt.Sprint(got.Report.Warnings); a != b || separated != (formula[0] == 's') {
			t.Errorf("%s: the warnings are %s, want %s", formula, b, a)
		}
	}
}

// TestRoundsRefuse: answers that are none of the round's leave the job as it was.
func TestRoundsRefuse(t *testing.T) {
	paths := writeCounts(t, 600, 300)
	options := fit.Options{Formula: "count ~ a + b + g", Family: "poisson"}
	job := must.Value(New(ctx, paths, options, dataset.Options{}))(t)
	must.Succeed(t, job.KeepRows())
	var before []*Part
	for job.Round() < 4 {
		before = []*Part{part(t, job, "p0", 0, 1)}
		_, more, err := job.Merge(ctx, before...)
		if must.Succeed(t, err); !more {
			t.Fatal("it ends early")
		}
	}
	asks := must.Value(job.question())(t)
	merge := func(parts ...*Part) error {
		_, _, err := job.Merge(ctx, parts...)
		return err
	}
	refused(t, merge(before...), "p0 answers round 3 of the job, which asks round 4")
	short := part(t, job, "p1", 0, 1)
	short.vectors["1.answer.0"] = short.vectors["1.answer.0"][1:]
	refused(t, merge(short), "p1: file 1", "numbers answer what", "run credence partial again")
	wild := part(t, job, "p1", 1)
	wild.vectors["1.answer.0"][0]++
	refused(t, merge(part(t, job, "p0", 0, 1), wild), "answer otherwise for file 1")
	refused(t, merge(part(t, job, "p0", 0)), "no part answers round 4 for files 1")
	if after := must.Value(job.question())(t); after != asks || job.Round() != 4 {
		t.Error("a refused merge has changed the job")
	}
	other := must.Value(New(ctx, paths, options, dataset.Options{}))(t)
	refused(t, merge(part(t, other, "p2", 0, 1)), "p2 is a part of job")
	// Answers of a fit that went another way are not taken for this one's.
	for name, of := range job.vectors {
		if strings.HasPrefix(name, "of.") && len(of) > 0 {
			of[0]++
		}
	}
	refused(t, merge(part(t, job, "p3", 0, 1)), "goes another way")
}
