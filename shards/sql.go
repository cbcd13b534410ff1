package shards

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/frame"
)

// database is the table of a job whose sums a database forms.
type database struct {
	Dialect string `json:"dialect"`
	Table   string `json:"table"`
}

// mostAggregates is how many aggregates a statement has: databases bound its length and the columns of its result.
const mostAggregates = 400

// NewSQL returns a job on a table of a database, which forms the sums: [Job.Query] is what to ask, [Job.Answer] takes
// what the database's own shell printed as CSV. Dialects are bigquery, duckdb, postgres, snowflake and sqlite. Columns
// are numbers, but for those that kinds has as categories. The target is normal; no row leaves the database.
func NewSQL(name, table string, kinds map[string]credence.Kind, options fit.Options) (*Job, error) {
	options.Threads, options.Memory, options.Progress, options.Registry = 0, 0, nil, nil
	options.Family = cmp.Or(options.Family, "gaussian")
	if family, _, _ := strings.Cut(options.Family, "("); family != "gaussian" {
		return nil, &fit.Misuse{Option: "family", Err: fmt.Errorf("%s has no sums that are enough: a database forms those of gaussian targets; export the table, or fit on one machine", family)}
	}
	if _, err := dialectOf(name); err != nil {
		return nil, err
	}
	if strings.TrimSpace(table) == "" || strings.ContainsAny(table, ";\n\r") {
		return nil, &fit.Misuse{Option: "table", Err: fmt.Errorf("%q is no table: name one, or a view, as a query of the database does", table)}
	}
	if options.Missing != "" && options.Missing != frame.Refuse || options.DropTarget {
		return nil, &fit.Misuse{Option: "missing", Err: errors.New("rows with NULL are not left out or filled: make a view that does")}
	}
	if options.Raw {
		return nil, &fit.Misuse{Option: "raw", Err: errors.New("sums of squares about 0 lose the variance of a column whose mean is large: leave it out")}
	}
	fitJob, err := fit.New(options)
	if err != nil {
		return nil, err
	}
	columns, err := fitJob.Named()
	if err != nil {
		return nil, err
	}
	schema := &credence.Schema{}
	for _, column := range columns {
		column, text := credence.CutText(column)
		kind := kinds[column]
		if text { // of onehot(g)
			kind = credence.Category
		}
		if schema.Index(column) >= 0 {
			continue
		}
		if kind != credence.Numeric && kind != credence.Category {
			return nil, &fit.Misuse{Option: "types", Err: fmt.Errorf("%s=%s: columns of a database are numbers or categories: make a view that has it as one of them", column, kind)}
		}
		schema.Columns = append(schema.Columns, credence.Column{Name: column, Kind: kind})
	}
	j := &Job{fit: fitJob, state: state{Version: version(), Options: options, Reading: reading{Schema: schema}, Columns: columns,
		Files: []File{{Path: table}}, NoRows: true, SQL: &database{name, table}}}
	if err := fitJob.CheckApart(schema); err != nil {
		return nil, err
	}
	if !fitJob.Adds() {
		return nil, &fit.Misuse{Option: "family", Err: errors.New("a database adds up for family gaussian and engine exact alone: use these, or fit on one machine, from rows that it exports")}
	}
	if _, err := j.ask(); err != nil {
		return nil, err
	}
	return j, j.name()
}

// Asks says whether a database forms the sums of the job.
func (j *Job) Asks() bool { return j.state.SQL != nil }

// statement is one of a query: sums of a query, one row for each combination of the levels of some categories.
type statement struct {
	groups []int    // of the inputs that are categories
	sums   []string // aggregates
	from   string
}

// asked is what a round asks of a database.
type asked struct {
	dialect
	inputs  []frame.Input
	target  *frame.Target
	rows    string // the query that has v0, v1, … for numbers, the target among them, and g0, g1, … for categories
	all     []statement
	census  *frame.Census
	problem *products // of the last round
}

// ask makes the statements of the round.
func (j *Job) ask() (q *asked, err error) {
	q = &asked{dialect: dialects[j.state.SQL.Dialect]}
	if fr := j.state.Frame; fr != nil {
		q.inputs, q.target = fr.Inputs, fr.Target
	} else {
		if q.census, err = j.fit.NewCensus(j.schema(), j.schema(), 0); err != nil {
			return nil, err
		}
		if q.census.Left() > 0 {
			return nil, &fit.Misuse{Option: "formula", Err: errors.New("center and scale ask a round of their own: leave them out, for numbers are centred and scaled as they are, or fit on one machine")}
		}
		q.inputs, q.target = q.census.Asked()
	}
	var columns []string
	for i := range q.inputs {
		in := &q.inputs[i]
		switch {
		case in.Expr.Level || in.Expr.Keyed || in.Kind == credence.Boolean:
			return nil, fmt.Errorf("%s: databases are asked for numbers and categories: make a view that has it as a column", in.Expr)
		case in.Kind == credence.Category:
			columns = append(columns, fmt.Sprintf("CAST(%s AS %s) AS g%d", q.name(in.Expr.Column), q.text, i))
		default:
			x, err := q.expression(&in.Expr)
			if err != nil {
				return nil, err
			}
			columns = append(columns, fmt.Sprintf("%s AS v%d", x, i))
		}
	}
	y, err := q.expression(&q.target.Expr)
	if err != nil {
		return nil, err
	}
	q.rows = fmt.Sprintf("SELECT %s, %s AS v%d FROM %s", strings.Join(columns, ", "), y, len(q.inputs), j.state.SQL.Table)
	if len(columns) == 0 {
		q.rows = fmt.Sprintf("SELECT %s AS v0 FROM %s", y, j.state.SQL.Table)
	}
	if j.state.Frame == nil {
		q.askMoments()
		return q, nil
	}
	return q, j.askProducts(q)
}

// numbers are the inputs that are numbers, and the target behind all.
func (q *asked) numbers() (list []int) {
	for i := range q.inputs {
		if q.inputs[i].Kind != credence.Category {
			list = append(list, i)
		}
	}
	return append(list, len(q.inputs))
}

// expr is the expression of a number.
func (q *asked) expr(i int) *frame.Expr {
	if i == len(q.inputs) {
		return &q.target.Expr
	}
	return &q.inputs[i].Expr
}

// momentsAsked is how many aggregates a number has in the first query.
const momentsAsked = 8

// askMoments asks for counts, moments about the mean, and levels. The mean is formed by a query of its own: sums of raw
// squares lose the variance of a column whose mean is large. What is left of the centred column tells the digits of the
// mean that AVG lost, which a model without an intercept has in its weights.
func (q *asked) askMoments() {
	for numbers := range slices.Chunk(q.numbers(), mostAggregates/momentsAsked) {
		var means, sums []string
		for _, i := range numbers {
			v, texts := fmt.Sprintf("v%d", i), "0"
			if q.untyped {
				texts = fmt.Sprintf("COUNT(CASE WHEN typeof(%s) IN ('text', 'blob') THEN 1 END)", v)
			}
			means = append(means, fmt.Sprintf("AVG(%s) AS m%d", v, i))
			sums = append(sums, fmt.Sprintf("COUNT(%s)", v), texts, fmt.Sprintf("COUNT(CASE WHEN %s - %s = 0 THEN NULL ELSE 1 END)", v, v),
				q.print("MIN("+v+")"), q.print("MAX("+v+")"), q.print(fmt.Sprintf("MAX(m%d)", i)),
				q.print(fmt.Sprintf("SUM(%s - m%d)", v, i)), q.print(fmt.Sprintf("SUM((%s - m%d) * (%s - m%d))", v, i, v, i)))
		}
		q.all = append(q.all, statement{sums: sums, from: fmt.Sprintf("(%s) s, (SELECT %s FROM (%s) r) t", q.rows, strings.Join(means, ", "), q.rows)})
	}
	for i := range q.inputs {
		if q.inputs[i].Kind == credence.Category {
			q.all = append(q.all, statement{groups: []int{i}, from: "(" + q.rows + ") s"})
		}
	}
}

// Query returns what to ask the database next, statements that end with a semicolon each.
func (j *Job) Query() (string, error) {
	statements, err := j.statements()
	if err != nil {
		return "", err
	}
	return strings.Join(statements, ";\n") + ";\n", nil
}

func (j *Job) statements() (texts []string, err error) {
	if !j.Asks() {
		return nil, errors.New("the job is one of files: name those to answer for")
	}
	q, err := j.ask()
	if err != nil {
		return nil, err
	}
	mark, err := j.mark()
	for k, s := range q.all {
		columns := []string{fmt.Sprintf("'%s%d' AS credence", mark, k)}
		var groups []string
		for _, i := range s.groups {
			groups = append(groups, fmt.Sprintf("g%d", i))
		}
		columns = append(append(columns, groups...), "COUNT(*)")
		text := "SELECT " + strings.Join(append(columns, s.sums...), ", ") + " FROM " + s.from
		if groups != nil {
			text += " GROUP BY " + strings.Join(groups, ", ")
		}
		texts = append(texts, text)
	}
	return texts, err
}

// mark begins the first field of the rows that answer the question.
func (j *Job) mark() (string, error) {
	question, err := j.question()
	return fmt.Sprintf("credence:%.12s:", question), err
}
