package score_test

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/study"
	"github.com/credence-ml/credence/internal/task"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/table"
)

// columns is a table of n rows and p numbers x1, x2, …, with a target y.
func columns(tb testing.TB, n, p int) credence.Source {
	return columnsOf(tb, n, p, func(y float64) float64 { return y })
}

// columnsOf is that table with targets of(y).
func columnsOf(tb testing.TB, n, p int, of func(y float64) float64) credence.Source {
	b := table.New()
	target := make([]float64, n)
	for j := range p {
		x := make([]float64, n)
		for i := range x {
			x[i] = math.Sin(float64(i*j+3*j+i)) + math.Cos(float64(i*i+j))
			target[i] += x[i] * float64(j%3)
		}
		b.Numbers(fmt.Sprintf("x%d", j+1), x)
	}
	for i := range target {
		target[i] = of(target[i] + math.Sin(float64(17*i)))
	}
	source, err := b.Numbers("y", target).Source()
	if err != nil {
		tb.Fatal(err)
	}
	return source
}

// structOf is a pointer to a struct with the numbers x1, x2, …
func structOf(p int) any {
	var fields []reflect.StructField
	for j := range p {
		fields = append(fields, reflect.StructField{
			Name: fmt.Sprintf("X%d", j+1), Type: reflect.TypeFor[float64](), Tag: reflect.StructTag(fmt.Sprintf(`credence:"x%d"`, j+1)),
		})
	}
	row := reflect.New(reflect.StructOf(fields))
	for j := range p {
		row.Elem().Field(j).SetFloat(math.Sin(float64(j)))
	}
	return row.Interface()
}

// benchmark times one bound row of a struct.
func benchmark(b *testing.B, p int, o fit.Options) {
	benchmarkFitted(b, p, fitted(b, columns(b, 200, p), o))
}

func benchmarkFitted(b *testing.B, p int, fitted *credence.Fitted) {
	scorer, err := score.New(fitted, score.Options{})
	if err != nil {
		b.Fatal(err)
	}
	bound, err := score.Bind[any](scorer)
	if err != nil {
		b.Fatal(err)
	}
	row := structOf(p)
	b.ReportAllocs()
	begin := study.Processor()
	for b.Loop() {
		if _, err := bound.Score(row); err != nil {
			b.Fatal(err)
		}
	}
	reportProcessor(b, begin, 1)
	b.ReportMetric(float64(len(fitted.Members)), "members")
}

// reportProcessor tells the processor time of a row, which other work on the machine stretches less than the time on
// the clock.
func reportProcessor(b *testing.B, begin time.Duration, rows int) {
	b.ReportMetric(float64((study.Processor()-begin).Nanoseconds())/float64(b.N*rows), "cpu-ns/row")
}

// A linear model of 60 weights.
func BenchmarkLinearRow(b *testing.B) {
	benchmark(b, 59, fit.Options{Formula: "y ~ .", Prior: "normal(variance=1)"})
}

// A row of a hundred thousand that eight goroutines score on one bound scorer, in processor time and beside that of one
// goroutine, by turns: on two idle cores the clock shows twice its inverse.
func BenchmarkBoundGoroutines(b *testing.B) {
	const rows = 1e5
	model := fitted(b, columns(b, 200, 59), fit.Options{Formula: "y ~ .", Prior: "normal(variance=1)"})
	bound := must.Value(score.Bind[any](must.Value(score.New(model, score.Options{}))(b)))(b)
	row := structOf(59)
	var clock, processor [2]time.Duration
	for b.Loop() {
		for k, goroutines := range []int{1, 8} {
			begin, begun := time.Now(), study.Processor()
			var tasks []*task.Task
			for range goroutines {
				tasks = append(tasks, task.Go(func() error {
					for range int(rows) / goroutines {
						if _, err := bound.Score(row); err != nil {
							return err
						}
					}
					return nil
				}))
			}
			for _, one := range tasks {
				must.Succeed(b, one.Wait())
			}
			clock[k], processor[k] = clock[k]+time.Since(begin), processor[k]+study.Processor()-begun
		}
	}
	b.ReportMetric(float64(processor[1].Nanoseconds())/rows/float64(b.N), "cpu-ns/row")
	b.ReportMetric(processor[1].Seconds()/processor[0].Seconds(), "times-cpu-of-one")
	b.ReportMetric(clock[0].Seconds()/clock[1].Seconds(), "times-rows-of-one")
}

// A logistic model of 124 weights with its full covariance: at one setting of the prior, and averaged over settings.
func BenchmarkLogisticRow(b *testing.B) {
	sign := func(y float64) float64 {
		if y > 0 {
			return 1
		}
		return 0
	}
	for _, engine := range []string{"svi(covariance=full, hyper=mode)", "svi(covariance=full)"} {
		b.Run(engine, func(b *testing.B) {
			o := fit.Options{Formula: "y ~ .", Family: "bernoulli", Engine: engine}
			benchmarkFitted(b, 123, fitted(b, columnsOf(b, 500, 123, sign), o))
		})
	}
}

// The default random-feature model, four draws of 1,000 features each: of 200 rows, whose posterior stands on the
// rows, and of 1,500, whose posterior holds the covariance of the weights.
func BenchmarkRandomFeaturesRow(b *testing.B) {
	for _, rows := range []int{200, 1500} {
		b.Run(fmt.Sprintf("n=%d", rows), func(b *testing.B) {
			benchmarkFitted(b, 8, fitted(b, columns(b, rows, 8), fit.Options{Formula: "y ~ rbf(.)"}))
		})
	}
}

// averaged is a model of 60 weights that is averaged over five values of a parameter of its likelihood, under
// each of which f is normal or Student-t: 5 to 25 parts.
func averaged(b *testing.B, family likelihood.Family, df float64) *credence.Fitted {
	small := func(y float64) float64 { return y / 20 } // f that all links take
	f := fitted(b, columnsOf(b, 200, 59, small), fit.Options{Formula: "y ~ .", Family: "gaussian(variance=1)", Prior: "normal(variance=1)", Engine: "svi(covariance=full)"})
	member := f.Members[0]
	q := *member.Posterior.(*posterior.Full)
	q.DF = df
	f.Members = nil
	for k := range 5 {
		m := member
		shifted := q
		shifted.Mean = slices.Clone(q.Mean)
		shifted.Mean[0] += 0.1 * float64(k)
		m.Posterior, m.Weight, m.Model.Likelihood = &shifted, 0.2, family
		if p, ok := family.(likelihood.Parametric); ok {
			var values []float64
			for _, parameter := range p.Parameters() {
				values = append(values, parameter.Value*math.Exp(0.2*float64(k-2)))
			}
			m.Model.Likelihood = p.WithParameters(values)
		}
		f.Members = append(f.Members, m)
	}
	return f
}

func eachAveraged(b *testing.B, do func(b *testing.B, family likelihood.Family, df float64)) {
	for _, family := range []likelihood.Family{
		likelihood.NegativeBinomial{Size: param.From(2)}, likelihood.Gamma{Shape: param.From(3)},
		likelihood.StudentT{DegreesOfFreedom: param.From(5), Scale: param.From(0.5)}, likelihood.Gaussian{NoiseVariance: param.From(0.3)},
		likelihood.Poisson{}, likelihood.Ordinal{Cutpoints: param.List{Values: []float64{-2, -0.5, 0.5, 2}}},
	} {
		for _, df := range []float64{0, 8, 40} {
			b.Run(fmt.Sprintf("%s/df=%v", family.(likelihood.Named).Name(), df), func(b *testing.B) { do(b, family, df) })
		}
	}
}

// One row under such a model, and what a row costs to evaluate.
func BenchmarkAveragedRow(b *testing.B) {
	eachAveraged(b, func(b *testing.B, family likelihood.Family, df float64) {
		benchmarkFitted(b, 59, averaged(b, family, df))
	})
}

func BenchmarkAveragedEvaluation(b *testing.B) {
	grade := func(y float64) float64 { return math.Max(1, math.Min(4, math.Round(y))) } // that every family has
	eachAveraged(b, func(b *testing.B, family likelihood.Family, df float64) {
		benchmarkEvaluation(b, averaged(b, family, df), columnsOf(b, 200, 59, grade), 200)
	})
}

// What a row costs to evaluate under the draws of 500 random features.
func BenchmarkRandomFeaturesEvaluation(b *testing.B) {
	for _, draws := range []int{2, 4} {
		b.Run(fmt.Sprintf("draws=%d", draws), func(b *testing.B) {
			f := fitted(b, columns(b, 1500, 8), fit.Options{Formula: "y ~ . + rbf(., n=500)", Engine: fmt.Sprintf("exact(draws=%d)", draws)})
			benchmarkEvaluation(b, f, columns(b, 4096, 8), 4096)
		})
	}
}

func benchmarkEvaluation(b *testing.B, f *credence.Fitted, source credence.Source, rows int) {
	scorer, err := score.New(f, score.Options{Threads: 1})
	if err != nil {
		b.Fatal(err)
	}
	table, err := scorer.Table(source, score.RequireTargets)
	if err != nil {
		b.Fatal(err)
	}
	begin := study.Processor()
	for b.Loop() {
		e := score.NewEvaluation(f)
		if err := table.Each(context.Background(), e.Add); err != nil {
			b.Fatal(err)
		}
	}
	reportProcessor(b, begin, rows)
	b.ReportMetric(float64(len(f.Members)), "members")
}
