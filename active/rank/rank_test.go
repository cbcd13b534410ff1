package rank_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/active"
	"github.com/credence-ml/credence/active/rank"
	"github.com/credence-ml/credence/apply"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/score"
)

// TestFile: of numbers the row of the widest f comes first, with its texts; labelled rows are left out on demand, and
// scores are divided by costs.
func TestFile(t *testing.T) {
	ctx := context.Background()
	text := "id,size,price,minutes,fee,free\n"
	const n = 40 + credence.BlockRows // the last rows are of another block
	for i := range n {
		price := fmt.Sprint(100 + i%7*20 + i%3)
		if i%4 == 1 {
			price = ""
		}
		fee := 1000
		if i == n-3 {
			fee = 1
		}
		text += fmt.Sprintf("h%02d,%d,%s,%d,%d,%d\n", i, 50+(i*i)%97, price, 1+i%5, fee, i)
	}
	data, err := dataset.Open(ctx, []string{"-"}, dataset.Options{Stdin: strings.NewReader(text)})
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	rows, err := data.Load(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	model, err := fit.Table(ctx, rows, fit.Options{Formula: "price ~ size", DropTarget: true})
	if err != nil {
		t.Fatal(err)
	}
	scorer, err := score.New(model, score.Options{})
	if err != nil {
		t.Fatal(err)
	}
	by, err := active.NewScorer(model, active.Information, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "pool.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var means []float64
	ranked := func(options rank.Options) ([]rank.Row, []float64, error) {
		file, err := apply.Open(ctx, scorer, []string{path}, apply.Options{Targets: score.UseTargets, Again: true})
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		var variances []float64
		means = means[:0]
		if err := file.Each(ctx, func(rows *score.Rows) error {
			for i := range rows.Len() {
				m, v := rows.Latent(i)
				means, variances = append(means, m), append(variances, v)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		out, err := rank.File(ctx, file, by, options)
		return out, variances, err
	}
	all, variances, err := ranked(rank.Options{N: 3, Keep: []string{"id", "minutes"}})
	if err != nil {
		t.Fatal(err)
	}
	widest := slices.Index(variances, slices.Max(variances))
	first := all[0]
	if len(all) != 3 || variances[first.Row-1] != variances[widest] || first.Probability != nil || first.Score <= all[1].Score {
		t.Errorf("ranked %+v, where row %d is the widest", all, widest+1)
	}
	var written strings.Builder // without an audit there is no column of it
	if err := rank.Write(&written, all[:1], rank.Options{Keep: []string{"id"}}); err != nil ||
		written.String() != fmt.Sprintf("id,row,score,mean,probability\n%s,%d,%v,%v,\n", first.Keep["id"], first.Row, first.Score, first.Mean) {
		t.Errorf("%s, %v", written.String(), err)
	}
	for _, row := range all {
		if row.Mean != means[row.Row-1] {
			t.Errorf("row %d has a mean of %v, want %v", row.Row, row.Mean, means[row.Row-1])
		}
		if row.Keep["id"] != fmt.Sprintf("h%02d", row.Row-1) || row.Keep["minutes"] != fmt.Sprint(1+(row.Row-1)%5) {
			t.Errorf("row %d comes with %v", row.Row, row.Keep)
		}
	}
	unlabelled, _, err := ranked(rank.Options{N: n, SkipLabelled: true})
	if err != nil || len(unlabelled) != n/4 || unlabelled[0].Keep != nil {
		t.Errorf("%d of a quarter of the rows without label: %v", len(unlabelled), err)
	}
	for _, row := range unlabelled {
		if (row.Row-1)%4 != 1 {
			t.Errorf("row %d has a label", row.Row)
		}
	}
	costly, _, err := ranked(rank.Options{N: 1, Cost: "minutes"})
	if err != nil {
		t.Fatal(err)
	}
	best, noise := 0.0, variances[first.Row-1]/math.Expm1(2*first.Score) // of ½ log(1 + ρ/σ²)
	for i, v := range variances {
		best = math.Max(best, math.Log1p(v/noise)/2/float64(1+i%5))
	}
	if !(math.Abs(costly[0].Score-best) <= 1e-9*best) {
		t.Errorf("row %d tells %v by its cost, and the best %v", costly[0].Row, costly[0].Score, best)
	}
	if cheap, _, err := ranked(rank.Options{N: 1, Cost: "fee"}); err != nil || cheap[0].Row != n-2 {
		t.Errorf("the one row of a small fee is %d, ranked first is %+v, %v", n-2, cheap, err)
	}
	for _, wrong := range []string{"id", "free"} { // texts, and a cost of 0
		if _, _, err := ranked(rank.Options{N: 1, Cost: wrong}); err == nil || !strings.Contains(err.Error(), "pool.csv:2: the cost") {
			t.Errorf("costs in column %s are told as %v", wrong, err)
		}
	}
	for _, wrong := range []rank.Options{{}, {N: 1, Audit: 1}, {N: 1, Audit: math.NaN()}, {N: 1, Keep: []string{"nothing"}}} {
		if _, _, err := ranked(wrong); err == nil {
			t.Errorf("%+v is taken", wrong)
		}
	}
	if (rank.Options{N: 1, Cost: "minutes"}).Validate(active.Random) == nil || (rank.Options{N: 1}).Validate("best") == nil {
		t.Error("costs of random rows, or an unknown score, are taken")
	}
}

// ExampleWrite writes rows beside a column of the data.
func ExampleWrite() {
	half := 0.5
	rows := []rank.Row{{Row: 3, Score: 0.25, Mean: -1, Probability: &half, Keep: map[string]string{"id": "c,d"}}, {Row: 1, Score: 0.125, Mean: 2, Audit: true}}
	if err := rank.Write(os.Stdout, rows, rank.Options{Audit: 0.1, Keep: []string{"id"}}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// id,row,score,mean,probability,audit
	// "c,d",3,0.25,-1,0.5,0
	// ,1,0.125,2,,1
}
