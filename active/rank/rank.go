// Package rank lists rows of files to label next, under a model of fit.
//
//	file, err := apply.Open(ctx, scorer, []string{"pool.csv"}, apply.Options{Again: true})
//	by, err := active.NewScorer(scorer.Fitted(), active.Information, 0, 0)
//	rows, err := rank.File(ctx, file, by, rank.Options{N: 50, Keep: []string{"id"}})
package rank

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/credence-ml/credence/active"
	"github.com/credence-ml/credence/apply"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/dataset/output"
	"github.com/credence-ml/credence/score"
)

// Options say which rows of files are to be labelled next.
type Options struct {
	N     int     `json:"n"`               // how many, from 1 up
	Audit float64 `json:"audit,omitempty"` // share of the rows to take by chance, below 1
	// leave out rows with a target, for files opened to use targets
	SkipLabelled bool `json:"skip_labelled,omitempty"`
	// column with the cost of a label, by which scores are divided; "" means none
	Cost string   `json:"cost,omitempty"`
	Keep []string `json:"keep,omitempty"` // columns whose texts come with every row
}

// Validate refuses options that make no sense whatever the data.
func (o Options) Validate(by active.Score) error {
	if err := by.Validate(); err != nil {
		return err
	}
	switch {
	case o.N < 1:
		return fmt.Errorf("n %d is not a number of rows from 1 up", o.N)
	case !(o.Audit >= 0 && o.Audit < 1):
		return fmt.Errorf("audit %v is no share from 0 to below 1", o.Audit)
	case o.Cost != "" && (by == active.Uncertainty || by == active.Random):
		return fmt.Errorf("cost divides what a label tells, and score %s is no amount: use score information, bald or error_reduction", by)
	}
	return nil
}

// Row is one to have labelled.
type Row struct {
	Row         int               `json:"row"`                   // from 1
	Score       float64           `json:"score"`                 // what the label is expected to tell, over its cost
	Mean        float64           `json:"mean"`                  // of f
	Probability *float64          `json:"probability,omitempty"` // of the positive class; absent for numbers
	Audit       bool              `json:"audit,omitempty"`       // taken by chance
	Keep        map[string]string `json:"keep,omitempty"`        // columns of the data, as text
}

// File lists rows to label next, the most useful first: one pass keeps the best by themselves, as [active.Shortlist]
// says, from which each is chosen given those before it.
func File(ctx context.Context, file *apply.File, scorer *active.Scorer, how Options) ([]Row, error) {
	if file == nil || scorer == nil {
		return nil, errors.New("there is no file or no scorer: open one by apply.Open, and make the other by active.NewScorer")
	}
	if err := how.Validate(scorer.By()); err != nil {
		return nil, err
	}
	texts, err := file.Data().Texts(ctx, how.Keep)
	if err != nil {
		return nil, err
	}
	defer texts.Close()
	var costs *dataset.Texts
	if how.Cost != "" {
		if costs, err = file.Data().Texts(ctx, []string{how.Cost}); err != nil {
			return nil, err
		}
		defer costs.Close()
	}
	pool := scorer.NewPool(how.N, how.Audit)
	err = file.Each(ctx, func(rows *score.Rows) error {
		for i := range rows.Len() {
			if y := rows.Target(i); how.SkipLabelled && y == y {
				continue
			}
			cost := 1.0
			if costs != nil {
				text, err := costs.Row(nil, rows.SourceRow(i))
				if err != nil {
					return err
				}
				cost, err = strconv.ParseFloat(string(bytes.TrimSpace(text[0])), 64)
				if err != nil || !(cost > 0) || math.IsInf(cost, 1) {
					return fmt.Errorf("%s: the cost %q in column %s is no number above 0: correct it", rows.Place(i), text[0], how.Cost)
				}
			}
			mean, variance := rows.Latent(i)
			pool.Add(rows.Batch(), i, rows.SourceRow(i), mean, variance, cost)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	picks, err := pool.Picks(how.N)
	if err != nil {
		return nil, err
	}
	out, order := make([]Row, len(picks)), make([]int, len(picks))
	for k, c := range picks {
		order[k], out[k] = k, Row{Row: c.Place + 1, Score: c.Score, Mean: c.Mean, Audit: c.Audit}
		if p := c.Probability; p == p {
			out[k].Probability = &p
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(out[a].Row, out[b].Row) }) // as texts are read
	for _, k := range order {
		if len(how.Keep) == 0 {
			break
		}
		row, err := texts.Row(nil, out[k].Row-1)
		if err != nil {
			return nil, err
		}
		out[k].Keep = map[string]string{}
		for j, text := range row {
			out[k].Keep[how.Keep[j]] = string(text)
		}
	}
	return out, nil
}

// Write writes rows that [File] lists under these options to w as CSV: the columns to keep in front, and under an audit
// a column that is 1 in rows taken by chance.
func Write(w io.Writer, rows []Row, how Options) error {
	names := []string{"row", "score", "mean", "probability", "audit"}
	if how.Audit == 0 {
		names = names[:4]
	}
	out, err := output.New(w, "", append(output.Texts(how.Keep...), output.Numbers(names...)...))
	if err != nil {
		return err
	}
	for _, row := range rows {
		cells := []float64{float64(row.Row), row.Score, row.Mean, math.NaN(), 0}
		if row.Probability != nil {
			cells[3] = *row.Probability
		}
		if row.Audit {
			cells[4] = 1
		}
		var kept [][]byte
		for _, name := range how.Keep {
			kept = append(kept, []byte(row.Keep[name]))
		}
		if err := out.Write(nil, cells[:len(names)], kept...); err != nil {
			return err
		}
	}
	return out.Close()
}
