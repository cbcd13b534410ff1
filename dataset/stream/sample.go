package stream

import (
	"bytes"
	"context"
	"io"
	"slices"
)

// SampleRows is the number of rows from which the types of columns are inferred.
const SampleRows = 10000

// Sample is the beginning of a table.
type Sample struct {
	Columns []string
	// Numbers are the columns whose values in the sample are all numbers or
	// missing, and not all missing.
	Numbers []string
	Mixed   []Mixed // columns of which most values are numbers, but not all
	// Negative and Positive are the two classes of the target where [Labels] has to
	// be told them: the first two labels, if none is 0, -1 or false. The
	// positive one is the larger number or the later word of the alphabet, as in a fit.
	Negative, Positive string
	// Replay is standard input with what the sample has taken put back in front;
	// nil where the sample did not read it.
	Replay io.Reader
}

// Mixed is a column of numbers with some words in it.
type Mixed struct {
	Column        string
	Values, Words int    // in the sample
	Word          string // the first
}

// mixedShare is the least share of words at which a column is not taken to be meant as numbers.
const mixedShare = 0.1

// ReadSample reads the header and up to SampleRows rows of the first file, or, unless types of
// columns are wanted, as few as tell the classes of the target. Rows
// that are malformed are left for the reader to complain about.
func ReadSample(ctx context.Context, paths []string, stdin io.Reader, format Format, target string, types bool) (*Sample, error) {
	sample := &Sample{}
	r := &Reader{cfg: Config{Parser: newTable(&Plan{Format: format}, Labels{Optional: true}, false)}}
	r.lines.paths = paths[:1]
	if paths[0] == "-" {
		var taken bytes.Buffer
		r.lines.stdin = io.TeeReader(stdin, &taken)
		sample.Replay = io.MultiReader(&taken, stdin)
	}
	defer r.lines.close()
	table := r.cfg.Parser.(*table)
	header, err := r.row(ctx)
	if err == io.EOF {
		return sample, nil
	}
	if err != nil {
		return nil, err
	}
	if err := table.header(header); err != nil {
		return nil, r.at(err)
	}
	sample.Columns = table.columns
	column := slices.Index(sample.Columns, target)
	var found classes
	columns := make([]Mixed, len(sample.Columns))
	for range SampleRows {
		if !types && (column < 0 || found.settled) {
			break
		}
		row, err := r.row(ctx)
		if err != nil {
			break
		}
		if table.split(row) != nil || len(table.fields) != len(columns) {
			continue
		}
		if column >= 0 {
			found.add(table.fields[column])
		}
		for k, field := range table.fields {
			if isMissing(field) {
				continue
			}
			c := &columns[k]
			c.Values++
			if _, ok := number(field); !ok {
				if c.Words == 0 {
					c.Word = string(field)
				}
				c.Words++
			}
		}
	}
	for k, c := range columns {
		c.Column = sample.Columns[k]
		switch {
		case c.Values == 0:
		case c.Words == 0:
			sample.Numbers = append(sample.Numbers, c.Column)
		case float64(c.Words) < mixedShare*float64(c.Values):
			sample.Mixed = append(sample.Mixed, c)
		}
	}
	sample.Negative, sample.Positive = found.names()
	return sample, nil
}
