package shards

import (
	"context"
	"database/sql"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/cell"
)

// Answer reads what the database answered, as CSV with or without headers, and returns the part of the table.
func (j *Job) Answer(from io.Reader) (*Part, error) {
	if from == nil {
		return nil, errors.New("there is no answer: give what the database printed as CSV")
	}
	r := csv.NewReader(from)
	r.FieldsPerRecord = -1
	records, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("the answer of the database is no CSV: %w", err)
	}
	return j.answerRecords(records)
}

// row is a row of an answer: levels, the number of rows, and sums.
type row struct {
	levels []string
	rows   int
	sums   []float64
}

func (j *Job) answerRecords(records [][]string) (*Part, error) {
	if !j.Asks() {
		return nil, errors.New("the job is one of files, and no database answers it")
	}
	q, err := j.ask()
	if err != nil {
		return nil, err
	}
	mark, err := j.mark()
	if err != nil {
		return nil, err
	}
	answers, others := make([][]row, len(q.all)), ""
	for _, record := range records {
		number, ours := strings.CutPrefix(record[0], mark)
		if !ours {
			if strings.HasPrefix(record[0], "credence:") {
				others = record[0]
			}
			continue // a header
		}
		k, err := strconv.Atoi(number)
		if err != nil || k < 0 || k >= len(q.all) || len(record) != 2+len(q.all[k].groups)+len(q.all[k].sums) {
			return nil, fmt.Errorf("the answer has a row %.60q of %d fields, which answers no statement: run the query again", record[0], len(record))
		}
		a := row{levels: record[1 : 1+len(q.all[k].groups)]}
		for i, text := range record[1+len(a.levels):] {
			v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			if err != nil {
				v = math.NaN() // NULL, of which counts tell
			}
			if i == 0 {
				a.rows = int(v)
			} else {
				a.sums = append(a.sums, v)
			}
		}
		answers[k] = append(answers[k], a)
	}
	for k := range answers {
		switch {
		case j.state.Frame == nil && answers[0] != nil && answers[0][0].rows == 0:
			return nil, fmt.Errorf("%s has no rows", j.state.SQL.Table)
		case answers[k] == nil && others != "":
			return nil, fmt.Errorf("the answer is one to another query (%s), and this job asks %s0: run what credence partial JOB --print prints", others, mark)
		case answers[k] == nil:
			return nil, fmt.Errorf("the answer lacks statement %d of %d: run the whole query again", k+1, len(answers))
		}
	}
	question, err := j.question()
	if err != nil {
		return nil, err
	}
	p := &Part{state: partState{Job: j.id, Round: j.Round(), Question: question, Answers: make([]answer, 1)}, vectors: map[string][]float64{}}
	a := &p.state.Answers[0]
	if j.state.Frame != nil {
		return p, j.takeProducts(q, answers, a, p.vectors)
	}
	a.Counts, err = j.takeMoments(q, answers)
	if err == nil {
		a.Census, err = json.Marshal(q.census)
	}
	return p, err
}

// takeMoments makes the census of what the first query told.
func (j *Job) takeMoments(q *asked, answers [][]row) (counts, error) {
	rows := answers[0][0].rows
	totals, at := make([]frame.Total, len(q.inputs)+1), 0
	for numbers := range slices.Chunk(q.numbers(), mostAggregates/momentsAsked) {
		sums := answers[at][0].sums
		at++
		for k, i := range numbers {
			m := sums[k*momentsAsked:][:momentsAsked]
			known, texts, odd := int(m[0]), int(m[1]), int(m[2])
			switch {
			case known < rows:
				return counts{}, fmt.Errorf("%s is NULL in %d of %d rows: make a view that leaves them out or fills them", q.expr(i), rows-known, rows)
			case texts > 0:
				return counts{}, fmt.Errorf("%s is a text in %d of %d rows: say --types '%s=category', or make a view without them", q.expr(i), texts, rows, q.expr(i).Column)
			case odd > 0:
				return counts{}, fmt.Errorf("%s is infinite, or no number, in %d of %d rows: make a view that leaves them out", q.expr(i), odd, rows)
			}
			totals[i] = frame.Total{Min: m[3], Max: m[4], Mean: m[5] + m[6]/float64(rows), Squares: m[7] - m[6]*m[6]/float64(rows)}
			for _, v := range m {
				if v-v != 0 {
					return counts{}, fmt.Errorf("%s has sums that are no numbers: its values are too large, or the table changed while it was read: use a larger unit, or ask again", q.expr(i))
				}
			}
		}
	}
	for i := range q.inputs {
		if q.inputs[i].Kind != credence.Category {
			continue
		}
		byLevel, sum := map[string]int{}, 0
		for _, r := range answers[at] {
			byLevel[strings.TrimSpace(r.levels[0])] += r.rows
			sum += r.rows
		}
		at++
		switch {
		case byLevel[""] > 0:
			return counts{}, fmt.Errorf("%s is NULL or empty in %d of %d rows: make a view that leaves them out or fills them", q.inputs[i].Expr, byLevel[""], rows)
		case sum != rows:
			return counts{}, fmt.Errorf("%s has %d rows, and the table %d: part of the answer is lost, or the table changed while it was read: ask again", q.inputs[i].Expr, sum, rows)
		}
		for level := range byLevel {
			totals[i].Levels = append(totals[i].Levels, level)
		}
		slices.Sort(totals[i].Levels)
		cell.SortLevels(totals[i].Levels)
		for _, level := range totals[i].Levels {
			totals[i].Rows = append(totals[i].Rows, byLevel[level])
		}
	}
	return counts{rows, rows}, q.census.AddTotals(rows, totals)
}

// SQL fits a normal target to a table of a database that a program has opened, which forms the sums: see [NewSQL].
func SQL(ctx context.Context, db *sql.DB, name, table string, kinds map[string]credence.Kind, options fit.Options) (*credence.Fitted, error) {
	if db == nil {
		return nil, errors.New("there is no database: open one by sql.Open")
	}
	j, err := NewSQL(name, table, kinds, options)
	for err == nil {
		var texts []string
		var records [][]string
		if texts, err = j.statements(); err != nil {
			break
		}
		for _, text := range texts {
			if records, err = appendRows(ctx, db, text, records); err != nil {
				return nil, fmt.Errorf("%s: %w", table, err)
			}
		}
		var part *Part
		if part, err = j.answerRecords(records); err == nil {
			fitted, more, err := j.Merge(ctx, part)
			if err != nil || !more {
				return fitted, err
			}
		}
	}
	return nil, err
}

// appendRows appends the rows of a statement.
func appendRows(ctx context.Context, db *sql.DB, text string, records [][]string) ([][]string, error) {
	rows, err := db.QueryContext(ctx, text)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		cells, to := make([]any, len(columns)), make([]any, len(columns)) // drivers have counts of types of their own
		for i := range to {
			to[i] = &cells[i]
		}
		if err := rows.Scan(to...); err != nil {
			return nil, err
		}
		record := make([]string, len(columns))
		for i := range cells {
			switch v := cells[i].(type) {
			case nil:
			case []byte:
				record[i] = string(v)
			case float64:
				record[i] = strconv.FormatFloat(v, 'g', -1, 64)
			default:
				record[i] = fmt.Sprint(v)
			}
		}
		records = append(records, record)
	}
	return records, rows.Err()
}
