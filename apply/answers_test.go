package apply_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/apply"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/score"
)

// opened is a text as the file of a scorer.
func opened(t *testing.T, scorer *score.Scorer, text string, o apply.Options) *apply.File {
	t.Helper()
	o.Read.Stdin = strings.NewReader(text)
	file := must.Value(apply.Open(t.Context(), scorer, []string{"-"}, o))(t)
	t.Cleanup(file.Close)
	return file
}

// visits are rows of a class of three grades and one of two, in CSV.
func visits(rows int) string {
	text := "dose,ward,grade,ill\n"
	for i := range rows {
		high := i%7 + i%5/2
		text += fmt.Sprintf("%d,%s,%d,%s\n", i%7, []string{"east", "west"}[i%3%2], 1+high/4, []string{"no", "yes"}[min((i%7+i%4)/5, 1)])
	}
	return text
}

// TestWriteClasses: of a class the probability is written, of a calibrated one its interval, and of grades each has
// one, before the interval of the mean, in every block of rows.
func TestWriteClasses(t *testing.T) {
	text := visits(credence.BlockRows + 9)
	source := loaded(t, visits(400))
	binary := must.Value(fit.Table(t.Context(), source, fit.Options{Formula: "ill ~ dose", Family: "bernoulli", Positive: "yes"}))(t)
	ordinal := must.Value(fit.Table(t.Context(), source, fit.Options{Formula: "grade ~ dose", Family: "ordinal"}))(t)
	calibrated := must.Value(score.Calibrate(t.Context(), binary, loaded(t, visits(999)), ""))(t)
	for want, model := range map[string]*credence.Fitted{
		"probability": binary,
		"probability,probability_lower,probability_upper": calibrated,
		"probability_1,probability_2,probability_3":       ordinal,
	} {
		scorer := must.Value(score.New(model, score.Options{Interval: 0.5}))(t)
		var out strings.Builder
		must.Value(opened(t, scorer, text, apply.Options{}).Write(t.Context(), &out, "", apply.Answers{Mean: true}))(t)
		records := must.Value(csv.NewReader(strings.NewReader(out.String())).ReadAll())(t)
		if got := strings.Join(records[0], ","); got != "mean,sd,lower,upper,"+want+",mean_lower,mean_upper" {
			t.Errorf("%s: columns %s", want, got)
		}
		at := 0
		must.Succeed(t, opened(t, scorer, text, apply.Options{}).Each(t.Context(), func(rows *score.Rows) error {
			lower, upper, err := rows.MeanIntervals()
			for i := range rows.Len() {
				p := rows.Predict(i)
				cells := []float64{p.Mean, p.SD, p.Lower, p.Upper}
				switch model {
				case binary:
					cells = append(cells, p.Probability)
				case calibrated:
					cells = append(cells, p.Probability, p.ProbabilityLower, p.ProbabilityUpper)
				default:
					cells = rows.Probabilities(cells, i)
				}
				cells = append(cells, lower[i], upper[i])
				at++
				for k, x := range cells {
					if got := must.Value(strconv.ParseFloat(records[at][k], 64))(t); got != x {
						t.Fatalf("%s: row %d has %s = %v, and predicts %v", want, at, records[0][k], got, x)
					}
				}
			}
			return err
		}))
		if len(records) != at+1 {
			t.Errorf("%s: %d rows are written of %d", want, len(records)-1, at)
		}
	}
}

// TestCalibrateByFile: a file calibrates a model as its rows do, of each value of a column by its own.
func TestCalibrateByFile(t *testing.T) {
	model := fitted(prices(200), "price ~ size")
	held := prices(3000)
	for _, by := range []string{"", "place"} {
		scorer := must.Value(score.New(model, score.Options{Calibrating: true, By: by}))(t)
		got := must.Value(opened(t, scorer, held, apply.Options{Targets: score.RequireTargets}).Calibrate(t.Context()))(t)
		want := must.Value(score.Calibrate(t.Context(), model, loaded(t, held), by))(t)
		var written [3]strings.Builder
		for k, m := range []*credence.Fitted{got, want, model} {
			must.Value(opened(t, must.Value(score.New(m, score.Options{}))(t), prices(20), apply.Options{}).Write(t.Context(), &written[k], "", apply.Answers{}))(t)
		}
		if a, b, plain := written[0].String(), written[1].String(), written[2].String(); a != b || a == plain {
			t.Errorf("by %q:\n%s, by rows\n%s, uncalibrated\n%s", by, a, b, plain)
		}
	}
	if _, err := opened(t, must.Value(score.New(model, score.Options{}))(t), held, apply.Options{Targets: score.RequireTargets}).Calibrate(t.Context()); err == nil {
		t.Error("a scorer that does not calibrate calibrates")
	}
}

// TestEvaluateLeftOut: rows of training that are left out one at a time are farther from their predictions.
func TestEvaluateLeftOut(t *testing.T) {
	text := prices(30)
	scorer := must.Value(score.New(fitted(text, "price ~ size + place"), score.Options{}))(t)
	evaluate := func(measures apply.Measures) float64 {
		file := opened(t, scorer, text, apply.Options{Targets: score.RequireTargets})
		e := must.Value(file.Evaluate(t.Context(), measures))(t)
		if e.Rows != 30 {
			t.Errorf("%d rows", e.Rows)
		}
		if (e.LOO != nil) != measures.LeaveOneOut {
			t.Fatalf("%+v has %v", measures, e.LOO)
		}
		if e.LOO != nil {
			return float64(e.LOO.NLPD)
		}
		return float64(e.NLPD)
	}
	within, out := evaluate(apply.Measures{}), evaluate(apply.Measures{LeaveOneOut: true})
	if !(out > within+0.01 && out < within+1) {
		t.Errorf("a row left out has %v nats, one of training %v", out, within)
	}
}

// TestLoadColumns: what a model needs is read, the weights that a file has, and others once each, of models of fit and
// of learn.
func TestLoadColumns(t *testing.T) {
	ctx := context.Background()
	text := "id,size,place,price,w\na,50,north,100,2\nb,60,west,110,1\n"
	weighted := fitted("size,place,price,w\n50,north,100,2\n60,west,110,1\n70,north,130,1\n80,west,155,2\n90,north,160,1\n", "price ~ size + weight(w)")
	for name, c := range map[string]struct {
		model  *credence.Fitted
		text   string
		others []string
		want   string
	}{
		"weights":              {weighted, text, []string{"id", "size"}, "size price w id"},
		"others once":          {weighted, text, []string{"id", "id", "w"}, "size price w id"},
		"learned":              {learned(prices(200)), text, []string{"id", "place"}, "text(price) place id"},
		"learned, none beside": {learned(prices(200)), text, nil, "text(price) place"},
	} {
		scorer := must.Value(score.New(c.model, score.Options{}))(t)
		table, source, err := apply.Load(ctx, scorer, []string{"-"}, dataset.Options{Stdin: strings.NewReader(c.text)}, score.RequireTargets, c.others)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		defer table.Close()
		var got []string
		for _, column := range source.Schema().Columns {
			got = append(got, column.Name)
		}
		want := strings.Fields(c.want)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) || source.Rows() != strings.Count(c.text, "\n")-1 {
			t.Errorf("%s: columns %v of %d rows, want %v", name, got, source.Rows(), want)
		}
	}
	scorer := must.Value(score.New(weighted, score.Options{}))(t)
	for want, c := range map[string]struct {
		scorer *score.Scorer
		text   string
		others []string
	}{
		"there is no scorer":        {nil, text, nil},
		`there is no column "city"`: {scorer, text, []string{"city"}},
		`no column "price"`:         {scorer, "size,w\n50,1\n", nil},
	} {
		if _, _, err := apply.Load(ctx, c.scorer, []string{"-"}, dataset.Options{Stdin: strings.NewReader(c.text)}, score.RequireTargets, c.others); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// TestUnseenLevelsAreNamed: levels that training did not see are told together, five at most with where they stand, the
// rows of a known one counted, and columns that may have others are not named.
func TestUnseenLevelsAreNamed(t *testing.T) {
	scorer := must.Value(score.New(fitted(prices(200), "price ~ size + place"), score.Options{}))(t)
	text := func(places string) string {
		lines := "size,place\n50,north\n"
		for _, place := range strings.Split(places, "") {
			lines += "50," + strings.ReplaceAll(place, "n", "north") + "\n"
		}
		return lines
	}
	for places, want := range map[string]string{
		"nabanb":     `categories of 4 rows were not seen in training ("a" at standard input:4, "b" at standard input:5)`,
		"a":          `categories of 1 row were not seen in training ("a" at standard input:3)`,
		"abcdea":     `categories of 6 rows were not seen in training ("a" at standard input:3, "b" at standard input:4, "c" at standard input:5, "d" at standard input:6, "e" at standard input:7)`,
		"abcdefghij": `categories of 5 rows or more were not seen in training`,
	} {
		for _, again := range []bool{false, true} {
			o := apply.Options{Again: again}
			o.Read.Stdin = strings.NewReader(text(places))
			file, err := apply.Open(t.Context(), scorer, []string{"-"}, o)
			if err == nil {
				_, err = file.Write(t.Context(), io.Discard, "", apply.Answers{})
				file.Close()
			}
			if again {
				want = strings.Replace(want, "5 rows or more", "10 rows", 1)
			}
			if err == nil || !strings.Contains(err.Error(), `column "place"`) || !strings.Contains(err.Error(), want) {
				t.Errorf("again %v, %s: %v, want %s", again, places, err, want)
			}
		}
	}
}

// TestWriteTermsInclusions: a term without an inclusion has an empty cell beside those that have one, and where none
// has there is no column.
func TestWriteTermsInclusions(t *testing.T) {
	inclusion := 0.25
	for want, terms := range map[string][]score.Term{
		"block,name,mean,sd,lower,upper,inclusion\nb,x,1,2,3,4,\nb,y,1,2,3,4,0.25\n": {{Block: "b", Name: "x", Mean: 1, SD: 2, Lower: 3, Upper: 4}, {Block: "b", Name: "y", Mean: 1, SD: 2, Lower: 3, Upper: 4, Inclusion: &inclusion}},
		"block,name,mean,sd,lower,upper\nb,x,1,2,3,4\n":                              {{Block: "b", Name: "x", Mean: 1, SD: 2, Lower: 3, Upper: 4}},
		"block,name,mean,sd,lower,upper\n":                                           nil,
	} {
		var out strings.Builder
		must.Succeed(t, apply.WriteTerms(&out, "", terms))
		if out.String() != want {
			t.Errorf("%q, want %q", out.String(), want)
		}
	}
}

// TestWrittenKinds: in Parquet kept columns of numbers are numbers, and of texts are texts.
func TestWrittenKinds(t *testing.T) {
	scorer := must.Value(score.New(fitted(prices(200), "price ~ size + place"), score.Options{}))(t)
	file := opened(t, scorer, "id,size,place,rank\na,50,north,1.5\nb,60,west,\n", apply.Options{Keep: []string{"rank", "id"}, Again: true})
	var out strings.Builder
	must.Value(file.Write(t.Context(), &out, "out.parquet", apply.Answers{}))(t)
	read := must.Value(dataset.Open(t.Context(), []string{"-"}, dataset.Options{Stdin: strings.NewReader(out.String())}))(t)
	defer read.Close()
	schema := read.Schema()
	if rank, id := schema.Columns[schema.Index("rank")].Kind, schema.Columns[schema.Index("id")].Kind; rank != credence.Numeric || id == credence.Numeric {
		t.Errorf("rank is %v and id %v", rank, id)
	}
	if rank, id := file.Data().NumberOf("rank"), file.Data().NumberOf("id"); rank == nil || id != nil {
		t.Error("the wrong column is of numbers")
	} else if x, err := rank([]byte("1.5")); x != 1.5 || err != nil {
		t.Error(x, err)
	}
}
