package learn_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/learn"
	"github.com/credence-ml/credence/score"
)

// clicks are rows of two sites, one of which is clicked on more often.
func clicks(rows int) string {
	var text strings.Builder
	text.WriteString("click,site,user\n")
	for i := range rows {
		click := i%10 == 0 || i%2 == 0 && i%3 > 0
		fmt.Fprintf(&text, "%t,%s,u%d\n", click, []string{"good", "bad"}[i%2], i%7)
	}
	return text.String()
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// A pipe is learned in two runs: the second goes on where the first ended.
func ExampleResume() {
	ctx, folder := context.Background(), os.TempDir()
	file := filepath.Join(folder, "clicks.checkpoint")
	defer os.Remove(file)
	for _, pipe := range []string{clicks(600), clicks(1000)} {
		data, err := dataset.Open(ctx, []string{"-"}, dataset.Options{Stdin: strings.NewReader(pipe), Once: true})
		check(err)
		learner, at, err := learn.Resume(file, fit.Options{Formula: "click ~ hash(.)"})
		check(err)
		columns, err := learner.Columns(data.Schema())
		check(err)
		check(data.Rows(ctx, columns, at, func(run *dataset.Run) error {
			_, err := learner.Learn(run.Rows)
			at = run.Finish()
			return err
		}))
		check(learner.Checkpoint(file, at))
		fmt.Println(learner.Rows(), "rows learned")
	}
	// Output:
	// 600 rows learned
	// 1000 rows learned
}

// Visit is a row of a service.
type Visit struct {
	Click bool
	Site  string
	User  int
}

// A service learns from values of its own, and scores others.
func ExampleLearner_Row() {
	learner, err := learn.New(fit.Options{Formula: "Click ~ hash(.)"})
	check(err)
	for i := range 1000 {
		_, err := learner.Row(Visit{Click: i%2 == 0, Site: []string{"good", "bad"}[i%2], User: i % 7})
		check(err)
	}
	learner.Finish()
	model, err := learner.Fitted()
	check(err)
	good, err := score.Row(model, Visit{Site: "good", User: 3})
	check(err)
	bad, err := score.Row(model, map[string]any{"Site": "bad", "User": 3})
	check(err)
	fmt.Println(good.Probability > 0.9, bad.Probability < 0.1)
	// Output: true true
}
