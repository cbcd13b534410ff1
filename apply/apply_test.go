package apply_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/apply"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/dataset/output"
	"github.com/credence-ml/credence/effect"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/learn"
	"github.com/credence-ml/credence/metric"
	"github.com/credence-ml/credence/score"
)

// prices are houses of two sizes and places, in CSV.
func prices(rows int) string {
	text := "id,size,place,price\n"
	for i := range rows {
		text += fmt.Sprintf("h%03d,%d,%s,%d\n", i, 50+i%7*10, []string{"north", "west"}[i%2], 100+i%7*20+i%2*5+i%3)
	}
	return text
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// fitted fits a model to the rows of a CSV text.
func fitted(text, formula string) *credence.Fitted {
	ctx := context.Background()
	data, err := dataset.Open(ctx, []string{"-"}, dataset.Options{Stdin: strings.NewReader(text)})
	check(err)
	defer data.Close()
	rows, err := data.Load(ctx, nil)
	check(err)
	model, err := fit.Table(ctx, rows, fit.Options{Formula: formula})
	check(err)
	return model
}

// learned learns a model of dear houses online from the rows of a CSV text.
func learned(text string) *credence.Fitted {
	return learnedBy(text, fit.Options{Formula: "place ~ hash(price)", Positive: "west"})
}

func learnedBy(text string, options fit.Options) *credence.Fitted {
	ctx := context.Background()
	data, err := dataset.Open(ctx, []string{"-"}, dataset.Options{Stdin: strings.NewReader(text), Once: true})
	check(err)
	defer data.Close()
	learner, err := learn.New(options)
	check(err)
	columns, err := learner.Columns(data.Schema())
	check(err)
	check(data.Rows(ctx, columns, credence.Position{}, func(run *dataset.Run) error {
		_, err := learner.Learn(run.Rows)
		return err
	}))
	learner.Finish()
	model, err := learner.Fitted()
	check(err)
	return model
}

// A file is evaluated: how far predictions are from the targets, and whether intervals hold them.
func Example() {
	folder, err := os.MkdirTemp("", "")
	check(err)
	defer os.RemoveAll(folder)
	test := filepath.Join(folder, "test.csv")
	check(os.WriteFile(test, []byte(prices(70)), 0o600))

	ctx := context.Background()
	scorer, err := score.New(fitted(prices(200), "price ~ size + place"), score.Options{})
	check(err)
	file, err := apply.Open(ctx, scorer, []string{test}, apply.Options{Targets: score.RequireTargets})
	check(err)
	defer file.Close()
	result, err := file.Evaluate(ctx, apply.Measures{})
	check(err)
	fmt.Printf("%d rows, RMSE %.2f, %.0f %% inside 90 %% intervals\n", result.Rows, float64(result.RMSE), 100*result.Coverage["0.9"])
	// Output: 70 rows, RMSE 0.82, 100 % inside 90 % intervals
}

// answers are the means and kept texts of all rows of a text.
func answers(t *testing.T, model *credence.Fitted, text string, options apply.Options) (means []float64, ids []string, file *apply.File) {
	t.Helper()
	scorer, err := score.New(model, score.Options{})
	if err != nil {
		t.Fatal(err)
	}
	options.Read.Stdin = strings.NewReader(text)
	if file, err = apply.Open(t.Context(), scorer, []string{"-"}, options); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(file.Close)
	err = file.Each(t.Context(), func(rows *score.Rows) error {
		for i := range rows.Len() {
			means = append(means, rows.Predict(i).Mean)
			texts, err := file.Kept(nil, rows, i)
			if err != nil {
				return err
			}
			for _, text := range texts {
				ids = append(ids, string(text))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return means, ids, file
}

// However a model reads its rows, they are the same rows in the same order, beside the same texts.
func TestRowsAreThoseOfTheFile(t *testing.T) {
	text := prices(3*credence.BlockRows + 5)
	for name, model := range map[string]*credence.Fitted{"fit": fitted(prices(200), "price ~ size + place"), "learn": learned(prices(200))} {
		steps := 0
		last := [2]int{}
		means, ids, file := answers(t, model, text, apply.Options{Keep: []string{"id"}, Again: true, Progress: func(before, all int) { steps++; last = [2]int{before, all} }})
		for _, options := range []apply.Options{{Live: true, Keep: []string{"id"}}, {Keep: []string{"id"}}} {
			once, beside, as := answers(t, model, text, options)
			if !slices.Equal(means, once) || !slices.Equal(ids, beside) || as.Lasting() {
				t.Errorf("%s: rows as they come have other means", name)
			}
		}
		counts, rows := file.Counts()
		if n := strings.Count(text, "\n") - 1; len(means) != n || len(ids) != n || rows != n || counts.Dropped != 0 {
			t.Errorf("%s: %d means, %d texts and %d rows of %d", name, len(means), len(ids), rows, n)
		}
		for i, id := range ids {
			if id != fmt.Sprintf("h%03d", i) {
				t.Fatalf("%s: row %d is beside %s", name, i, id)
			}
		}
		if file.Lasting() != (name == "fit") || file.Lasting() && (steps < 2 || last != [2]int{len(means), len(means)}) {
			t.Errorf("%s: read again %v, %d steps up to %v", name, file.Lasting(), steps, last)
		}
		if means[0] >= means[1] { // north before west, which is dearer
			t.Errorf("%s: means %v", name, means[:2])
		}
	}
	scorer, err := score.New(fitted(prices(200), "price ~ size + place"), score.Options{Missing: "drop"})
	check(err)
	options := apply.Options{Keep: []string{"id"}, Targets: score.RequireTargets}
	options.Read.Stdin = strings.NewReader("id,size,place,price\na,,north,90\nb,50,west,95\nc,,west,80\nd,60,north,85\n")
	file, err := apply.Open(t.Context(), scorer, []string{"-"}, options)
	check(err)
	defer file.Close()
	kept := ""
	check(file.Each(t.Context(), func(rows *score.Rows) error {
		for i := range rows.Len() {
			texts, err := file.Kept(nil, rows, i)
			check(err)
			kept += string(texts[0])
		}
		return nil
	}))
	if kept != "bd" { // rows that are left out have none
		t.Errorf("the texts kept are %s", kept)
	}
}

// Levels of training stay levels in a file that by itself would be read as booleans or numbers.
func TestKindsAreThoseOfTraining(t *testing.T) {
	text := "click,answer,code\n"
	for i := range 600 {
		text += fmt.Sprintf("%d,%s,%s\n", i%3%2, []string{"yes", "no", "maybe"}[i%3], []string{"007", "x8", "x9"}[i/3%3])
	}
	model := learnedBy(text, fit.Options{Formula: "click ~ ."})
	means, _, file := answers(t, model, "answer,code\nyes,007\nno,007\n", apply.Options{})
	for i, answer := range []string{"yes", "no"} {
		if want := must.Value(score.Row(model, map[string]any{"answer": answer, "code": "007"}))(t).Probability; means[i] != want {
			t.Errorf("%s has probability %v in a file, and %v as a row", answer, means[i], want)
		}
	}
	if counts, _ := file.Counts(); counts.UnseenFeatures != 0 {
		t.Errorf("%d features are unseen", counts.UnseenFeatures)
	}
}

// counter counts what is read.
type counter struct {
	io.Reader
	read int
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.read += n
	return n, err
}

// Rows that are not kept are answered while they are read, and are not held first.
func TestRowsAreReadOnce(t *testing.T) {
	text := strings.Repeat("h,50,north,1\n", 1_000_000)
	for name, model := range map[string]*credence.Fitted{"fit": fitted(prices(200), "price ~ size + place"), "learn": learned(prices(200))} {
		scorer, err := score.New(model, score.Options{})
		check(err)
		in := &counter{Reader: strings.NewReader("id,size,place,price\n" + text)}
		options := apply.Options{Keep: []string{"id"}}
		options.Read.Stdin = in
		file, err := apply.Open(t.Context(), scorer, []string{"-"}, options)
		check(err)
		stop := errors.New("stop")
		if err := file.Each(t.Context(), func(*score.Rows) error { return stop }); !errors.Is(err, stop) {
			t.Errorf("%s: %v", name, err)
		}
		if file.Close(); in.read > len(text)/2 {
			t.Errorf("%s: %d of %d bytes are read before the first answer", name, in.read, len(text))
		}
	}
	path := filepath.Join(t.TempDir(), "t.csv") // a file may be read again, from its first row on
	check(os.WriteFile(path, []byte(prices(700)), 0o600))
	scorer, err := score.New(fitted(prices(200), "price ~ size + place"), score.Options{})
	check(err)
	file, err := apply.Open(t.Context(), scorer, []string{path}, apply.Options{})
	check(err)
	defer file.Close()
	for range 2 {
		next := 0
		check(file.Each(t.Context(), func(rows *score.Rows) error {
			for i := range rows.Len() {
				if rows.First()+i != next || rows.SourceRow(i) != next || rows.Place(i) != fmt.Sprintf("%s:%d", path, next+2) {
					t.Fatalf("row %d is row %d, at %s", next, rows.SourceRow(i), rows.Place(i))
				}
				next++
			}
			return nil
		}))
		if _, n := file.Counts(); n != 700 || next != n {
			t.Errorf("%d rows of 700, counted %d", next, n)
		}
	}
}

// A group of a file has the figures of a file with its rows alone, in every block; a reliability table is made where it
// is asked for; and of many rows whose score has no closed form some are scored.
func TestEvaluateGroups(t *testing.T) {
	data, err := dataset.Open(t.Context(), []string{"-"}, dataset.Options{Stdin: strings.NewReader(prices(200))})
	check(err)
	defer data.Close()
	rows, err := data.Load(t.Context(), nil)
	check(err)
	model, err := fit.Table(t.Context(), rows, fit.Options{Formula: "price ~ size", Family: "poisson"})
	check(err)
	scorer, err := score.New(model, score.Options{})
	check(err)
	evaluate := func(text string, measures apply.Measures) *metric.Evaluation {
		o := apply.Options{Targets: score.RequireTargets, Keep: []string{"place"}}
		o.Read.Stdin = strings.NewReader(text)
		file, err := apply.Open(t.Context(), scorer, []string{"-"}, o)
		check(err)
		defer file.Close()
		e, err := file.Evaluate(t.Context(), measures)
		check(err)
		return e
	}
	if many := evaluate(prices(10_002), apply.Measures{}); many.CRPSRows != 5001 {
		t.Errorf("the score is of %d rows of 5001", many.CRPSRows)
	}
	text := prices(credence.BlockRows + 40)
	all := evaluate(text, apply.Measures{Groups: true, Reliability: true})
	if all.Reliability == nil || len(all.Groups) != 2 {
		t.Fatalf("reliability %v, %d groups", all.Reliability, len(all.Groups))
	}
	for k, place := range []string{"north", "west"} {
		alone := "id,size,place,price\n"
		for line := range strings.Lines(text) {
			if strings.Contains(line, place) {
				alone += line
			}
		}
		own := evaluate(alone, apply.Measures{})
		g := all.Groups[k]
		if own.Reliability != nil || own.Groups != nil || g.By[0].Value != place || g.Rows != own.Rows || g.NLPD != own.NLPD || g.RMSE != own.RMSE {
			t.Errorf("%v: %d rows, nlpd %v, rmse %v; alone %d, %v, %v", g.By, g.Rows, g.NLPD, g.RMSE, own.Rows, own.NLPD, own.RMSE)
		}
	}
}

// A file that lacks the target has none where it may, and is refused where it must not; names that are no column,
// and levels that training did not have, are refused too.
func TestRefusals(t *testing.T) {
	bare := "id,size,place\na,50,north\n"
	model := fitted(prices(200), "price ~ size + place")
	for _, live := range []bool{false, true} {
		means, _, file := answers(t, model, bare, apply.Options{Targets: score.UseTargets, Live: live})
		if len(means) != 1 || file.HasTargets() {
			t.Errorf("live %v: %d means, targets %v", live, len(means), file.HasTargets())
		}
	}
	scorer, err := score.New(model, score.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for want, o := range map[string]struct {
		text string
		apply.Options
	}{
		`no column "price"`:           {bare, apply.Options{Targets: score.RequireTargets}},
		`no column "nosuch"`:          {bare, apply.Options{Keep: []string{"nosuch"}}},
		`"south" at standard input:2`: {"size,place\n50,south\n", apply.Options{}},
		`no column "place"`:           {"size\n50\n", apply.Options{Live: true}},
	} {
		o.Read.Stdin = strings.NewReader(o.text)
		file, err := apply.Open(t.Context(), scorer, []string{"-"}, o.Options)
		if err == nil {
			err = file.Each(t.Context(), func(*score.Rows) error { return nil })
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	stop := errors.New("stop")
	_, _, file := answers(t, model, bare, apply.Options{Again: true})
	if err := file.Each(t.Context(), func(*score.Rows) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("stopped: %v", err)
	}
}

// What is written of a row is what is predicted of it, beside its own texts; a row that lacks a value has empty cells.
func TestWrite(t *testing.T) {
	// the last rows are of another block
	text := "id,size,place,price\na,50,north,120\nb,,west,1\nc,70,west,\n" + strings.Repeat("d,60,north,100\n", credence.BlockRows)
	for _, live := range []bool{false, true} {
		scorer, err := score.New(fitted(prices(200), "log(price) ~ size + place"), score.Options{Original: true, Lacking: true, Missing: "drop"})
		if err != nil {
			t.Fatal(err)
		}
		o := apply.Options{Targets: score.UseTargets, Live: live}
		if !live {
			o.Keep = []string{"id"}
		}
		open := func() *apply.File {
			o.Read.Stdin = strings.NewReader(text)
			file, err := apply.Open(t.Context(), scorer, []string{"-"}, o)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(file.Close)
			return file
		}
		var out strings.Builder
		rows, err := open().Write(t.Context(), &out, "", apply.Answers{Latent: true, Density: true, Samples: 2, Seed: 7})
		if err != nil || rows != 3+credence.BlockRows {
			t.Fatalf("live %v: %d rows, %v", live, rows, err)
		}
		for _, samples := range []int{-1, apply.MostSamples + 1} {
			if _, err := open().Write(t.Context(), io.Discard, "", apply.Answers{Samples: samples}); err == nil || !strings.Contains(err.Error(), "is not between 0 and 10000") {
				t.Errorf("%d draws: %v", samples, err)
			}
		}
		want := "mean,sd,lower,upper,median,f_mean,f_sd,log_density,sample_1,sample_2\n"
		if !live {
			want = "id," + want
		}
		at := 0
		err = open().Each(t.Context(), func(rows *score.Rows) error {
			for i := range rows.Len() {
				cells := make([]string, 10)
				if !rows.Lacks(i) {
					p, rng := rows.Predict(i), credence.Rand(7, credence.PredictSamples, uint64(at))
					mean, variance := rows.Latent(i)
					density := rows.LogDensity(i, rows.Target(i))
					first, err1 := rows.Sample(i, rng)
					second, err2 := rows.Sample(i, rng)
					if err := errors.Join(err1, err2); err != nil {
						return err
					}
					for k, x := range []float64{p.Mean, p.SD, p.Lower, p.Upper, p.Median, mean, math.Sqrt(variance), density, first, second} {
						if x == x {
							cells[k] = strconv.FormatFloat(x, 'g', -1, 64)
						}
					}
				}
				if !live {
					cells = slices.Insert(cells, 0, string(text[strings.Index(text, []string{"a,", "b,", "c,", "d,"}[min(at, 3)])]))
				}
				want += strings.Join(cells, ",") + "\n"
				at++
			}
			return nil
		})
		if err != nil || out.String() != want {
			t.Errorf("live %v: %v\n%s, want\n%s", live, err, out.String(), want)
		}
	}
	var bare strings.Builder
	_, _, without := answers(t, fitted(prices(200), "price ~ size + place"), "size,place\n50,north\n", apply.Options{Targets: score.UseTargets, Again: true})
	if _, err := without.Write(t.Context(), &bare, "", apply.Answers{Density: true}); err != nil || !strings.HasPrefix(bare.String(), "mean,sd,lower,upper\n") {
		t.Errorf("of a file without targets %q, %v", bare.String(), err)
	}
	_, _, file := answers(t, fitted(prices(200), "price ~ size + place"), "id,mean,size,place\na,1,50,north\n", apply.Options{Keep: []string{"mean"}, Again: true})
	if _, err := file.Write(t.Context(), io.Discard, "", apply.Answers{}); !errors.As(err, new(output.ColumnError)) {
		t.Errorf("two columns of one name: %v", err)
	}
}

// TestWriteCountsImpossibleTargets: targets without a density have empty cells in every block of rows, and are counted.
func TestWriteCountsImpossibleTargets(t *testing.T) {
	text, impossible := "size,place,price\n", []int{0, 3, credence.BlockRows, 2*credence.BlockRows + 1}
	for i := range 2*credence.BlockRows + 2 {
		price := "120"
		if slices.Contains(impossible, i) {
			price = "1e200"
		}
		text += "50,north," + price + "\n"
	}
	_, _, file := answers(t, fitted(prices(200), "price ~ size + place"), text, apply.Options{Targets: score.UseTargets, Again: true})
	var out strings.Builder
	must.Value(file.Write(t.Context(), &out, "", apply.Answers{Density: true}))(t)
	var empty []int
	for i, line := range strings.Split(strings.TrimSpace(out.String()), "\n")[1:] {
		if strings.HasSuffix(line, ",") {
			empty = append(empty, i)
		}
	}
	if counts, rows := file.Counts(); !slices.Equal(empty, impossible) || counts.Impossible != len(impossible) {
		t.Errorf("%d of %d rows are told, and %v are empty, want %v", counts.Impossible, rows, empty, impossible)
	}
}

// TestWriteEffects: effects are written in the order of their columns, with those that they are told by.
func TestWriteEffects(t *testing.T) {
	nan := metric.Score(math.NaN())
	list := []effect.Effect{
		{Term: "x", Contrast: "+1", By: effect.Group{{Column: "city", Value: "Bern"}}, Row: 3, Estimate: 1, StdError: 2, Low: -3, High: 4, Direction: 0.5, Method: "draws", MCSE: 0.25},
		{Term: "z", Contrast: "dY/dX", By: effect.Group{{Column: "city", Value: "Chur"}}, Row: 4, Estimate: 5, StdError: nan, Low: 6, High: 7, Direction: 1, Method: "exact", MCSE: nan},
	}
	var out strings.Builder
	if err := apply.WriteEffects(&out, "effects.csv", list); err != nil {
		t.Fatal(err)
	}
	want := "term,contrast,city,row,estimate,std_error,conf_low,conf_high,p_direction,mcse,method\nx,+1,Bern,3,1,2,-3,4,0.5,0.25,draws\nz,dY/dX,Chur,4,5,,6,7,1,,exact\n"
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

// Draws of a file of more than a block of rows have a column for f, the mean and y of each row, in the order of rows,
// and the mean of draws of f is f.
func TestDrawsOfManyRows(t *testing.T) {
	const rows, count = credence.BlockRows + 60, 200
	scorer := must.Value(score.New(fitted(prices(200), "price ~ size + place"), score.Options{}))(t)
	file := must.Value(apply.Open(t.Context(), scorer, []string{"-"}, apply.Options{Read: dataset.Options{Stdin: strings.NewReader(prices(rows))}}))(t)
	defer file.Close()
	var text bytes.Buffer
	if columns, _, err := apply.WriteDraws(t.Context(), &text, "draws.csv", must.Value(scorer.Draw(count, 1))(t), file); err != nil || columns != 3*rows {
		t.Fatal(columns, err)
	}
	records := must.Value(csv.NewReader(&text).ReadAll())(t)
	var want []string
	for i := range rows {
		want = append(want, fmt.Sprintf("f[%d]", i+1), fmt.Sprintf("mean[%d]", i+1), fmt.Sprintf("y[%d]", i+1))
	}
	if !slices.Equal(records[0][3:], want) || len(records) != count+1 {
		t.Errorf("%d draws of %v", len(records)-1, records[0][3:12])
	}
	means, _, _ := answers(t, scorer.Fitted(), prices(rows), apply.Options{})
	for i, mean := range means {
		sum := 0.0
		for _, record := range records[1:] {
			sum += must.Value(strconv.ParseFloat(record[3+3*i], 64))(t) / count
		}
		if math.Abs(sum-mean) > 1 { // of an SD of about .1
			t.Fatalf("row %d: f is %v on average, and its mean %v", i+1, sum, mean)
		}
	}
}

// Relativities are the exponentials of the weights and of their ends, from low to high.
func TestWrittenRelativities(t *testing.T) {
	half, inclusion := metric.Score(0.5), 0.25
	terms := []score.Term{{Block: "linear", Name: "x", Mean: -1, SD: half, Lower: -2, Upper: 0.5, Inclusion: &inclusion, Exp: &score.Factor{Estimate: 0.4, Lower: 0.1, Upper: 1.6}}}
	var text bytes.Buffer
	must.Succeed(t, apply.WriteTerms(&text, "terms.csv", terms))
	if want := "block,name,mean,sd,lower,upper,exp,exp_lower,exp_upper,inclusion\nlinear,x,-1,0.5,-2,0.5,0.4,0.1,1.6,0.25\n"; text.String() != want {
		t.Errorf("terms are written as\n%s, want\n%s", text.String(), want)
	}
}
