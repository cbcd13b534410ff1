package shards

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/frame"
)

// worded is a source that knows the words of boolean columns in all files.
type worded struct {
	credence.Source
	words map[string][]string
}

func (w worded) Words(column string) []string { return w.words[column] }

func (w worded) Place(row int) string { return w.Source.(frame.Placer).Place(row) }

// count counts file k.
func (j *Job) count(ctx context.Context, k int, vectors map[string][]float64) (*answer, error) {
	table, source, err := j.load(ctx, k, j.state.Columns, nil)
	if err != nil {
		return nil, err
	}
	schema := j.schema()
	if source != nil {
		defer table.Close()
		schema = source.Schema()
	}
	c, err := j.fit.NewCensus(j.schema(), schema, k)
	if err == nil && j.state.Census != nil {
		var before frame.Census
		if err = json.Unmarshal(j.state.Census, &before); err == nil {
			err = c.Continue(&before)
		}
		if err != nil {
			err = fmt.Errorf("the job's counts are damaged: %w: %s", err, jobKind.Anew)
		}
	}
	if err != nil {
		return nil, err
	}
	a := &answer{File: k}
	if source == nil {
		err = c.EndFile()
	} else {
		err = c.AddAll(ctx, worded{source, j.state.Reading.Words})
	}
	if err == nil {
		var left int
		a.Counts.Kept, left, err = c.Rows()
		a.Counts.Source = a.Counts.Kept + left
	}
	if err == nil && source != nil && j.state.Round == 0 && !j.state.NoRows {
		first, err := c.First(source, credence.BlockRows)
		if err != nil {
			return nil, err
		}
		a.Schema, vectors[prefix(k)+"first"] = &credence.Schema{Columns: schema.Columns}, first.Values.Data
	}
	if err == nil {
		a.Census, err = json.Marshal(c)
	}
	return a, err
}

// mergeCounts ends a round of counting.
func (j *Job) mergeCounts(ctx context.Context, answers []given) error {
	var all *frame.Census
	next := j.state
	next.Counts = nil
	for i := range answers {
		c := new(frame.Census)
		if err := json.Unmarshal(answers[i].Census, c); err != nil {
			return answers[i].damaged(err)
		}
		if all == nil {
			all = c
		} else if err := all.Merge(c); err != nil {
			return answers[i].damaged(err)
		}
		next.Counts = append(next.Counts, answers[i].Counts)
	}
	more, err := all.Next()
	if err != nil {
		return err
	}
	if kept := next.begins(len(next.Counts)).Kept; !more && len(next.Counts) > 1 && kept <= credence.BlockRows {
		return fmt.Errorf("the files have %d rows in all, and up to %d are summed up as one: fit on one machine, or join the files", kept, credence.BlockRows)
	}
	if next.Census = nil; more {
		next.Census, err = json.Marshal(all)
	} else {
		next.Frame, err = all.Frame()
	}
	if err != nil {
		return err
	}
	vectors := j.vectors
	if next.Round == 0 {
		var parts []some
		rows := 0
		for i := range answers {
			if a := &answers[i]; a.Schema != nil && rows < credence.BlockRows {
				take := min(a.Counts.Kept, credence.BlockRows-rows)
				parts = append(parts, some{schema: a.Schema, values: a.vector("first")[:take*len(a.Schema.Columns)]})
				rows += take
			}
		}
		first, err := unite(parts)
		if err != nil {
			return err
		}
		next.First, vectors = first.schema, map[string][]float64{"first": first.values}
	}
	next.Round++
	before, held := j.state, j.vectors
	if j.state, j.vectors = next, vectors; next.Frame != nil {
		if err := j.begin(ctx); err != nil { // before anything is summed up
			j.state, j.vectors = before, held
			return err
		}
	}
	return nil
}

// begin asks the first question about the rows of a model that is known now.
func (j *Job) begin(ctx context.Context) error {
	fr := j.state.Frame
	_, adds, asks, err := j.prepared(&carried{rows: fr.Rows})
	if err != nil {
		return err
	}
	if adds != nil {
		first := &carried{}
		if j.state.First == nil { // rows stay where they are: the target's moments tell its units as well
			first.All.X.Reshape(2, len(fr.Inputs))
			sd := math.Sqrt(fr.Target.Variance)
			first.All.Target = []float64{fr.Target.Mean - sd, fr.Target.Mean + sd}
		} else {
			from := &some{schema: j.state.First, values: j.vectors["first"]}
			if err := first.add(fr, from, make([]int, from.Rows()), make([]int, from.Rows())); err != nil {
				return fmt.Errorf("the first rows are damaged: %w: %s", err, jobKind.Anew)
			}
		}
		units, err := adds.Units(ctx, &first.Memory)
		if err != nil {
			return err
		}
		j.state.Units = &units
	} else {
		j.state.Inquiries = []inquiry{{Key: "0", Question: *asks.First()}}
	}
	j.state.First, j.vectors = nil, map[string][]float64{}
	if j.Asks() {
		_, err = j.ask()
	}
	return err
}
