package shards

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/score"
)

// shell is a table of a database that its own shell asks.
type shell struct {
	t       *testing.T
	dialect string
	table   string
	command []string
}

const columnsOf = `(a DOUBLE PRECISION, b DOUBLE PRECISION, k INTEGER, g TEXT, "h h" TEXT, y DOUBLE PRECISION, p DOUBLE PRECISION);`

// loaded makes a table of the rows of a file of CSV. It skips where the shell is not installed and, for PostgreSQL,
// where no server answers psql, which finds one by PGHOST and its siblings.
func loaded(t *testing.T, dialect, rows string) *shell {
	t.Helper()
	s, load, path := &shell{t: t, dialect: dialect, table: "t"}, "", filepath.Join(t.TempDir(), "t.db")
	switch dialect {
	case "sqlite":
		s.command, load = []string{"sqlite3", "-csv", "-header", path}, "\n.import --csv --skip 1 "+rows+" t\n"
	case "duckdb":
		s.command, load = []string{"duckdb", "-csv", path}, "COPY t FROM '"+rows+"' (HEADER);"
	case "postgres":
		schema := fmt.Sprintf("credence_%d", os.Getpid())
		s.command, s.table = []string{"psql", "--csv", "-q", "-v", "ON_ERROR_STOP=1"}, schema+".t"
		load = "\n\\copy " + s.table + " FROM '" + rows + "' CSV HEADER\n"
		if exec.Command("psql", "-c", "CREATE SCHEMA "+schema).Run() == nil {
			t.Cleanup(func() { exec.Command("psql", "-qc", "DROP SCHEMA "+schema+" CASCADE").Run() })
			break
		}
		t.Skip("no server of PostgreSQL answers psql")
	}
	if _, err := exec.LookPath(s.command[0]); err != nil {
		t.Skip("there is no " + s.command[0] + " on this machine")
	}
	s.ask("CREATE TABLE " + s.table + columnsOf + load)
	return s
}

// sqlite makes a database of the rows of a file of CSV, and changes it by a statement.
func sqlite(t *testing.T, rows, change string) *shell {
	t.Helper()
	s := loaded(t, "sqlite", rows)
	s.ask(change)
	return s
}

// ask returns what the shell prints.
func (s *shell) ask(query string) string {
	s.t.Helper()
	c := exec.Command(s.command[0], s.command[1:]...)
	c.Stdin = strings.NewReader(query)
	out, err := c.CombinedOutput()
	if err != nil {
		s.t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// fit fits by the queries of a job.
func (s *shell) fit(job *Job) (*credence.Fitted, error) {
	s.t.Helper()
	for round := range 2 {
		answer := s.ask(must.Value(job.Query())(s.t))
		if len(answer) > 1<<20 {
			s.t.Errorf("%d bytes leave the database", len(answer))
		}
		part, err := job.Answer(strings.NewReader(answer))
		if err != nil {
			return nil, err
		}
		job = stored(s.t, job, Read)
		fitted, more, err := job.Merge(ctx, stored(s.t, part, ReadPart))
		if err != nil || more != (round == 0) {
			return nil, fmt.Errorf("round %d, more %v: %w", round, more, err)
		}
		if !more {
			return fitted, nil
		}
	}
	return nil, nil
}

// sales writes rows with a column whose mean is 10⁶ deviations large, whole numbers, and levels with spaces, within and
// around them, and quotes.
func sales(t *testing.T, rows int) string {
	t.Helper()
	rng, text := rand.New(rand.NewPCG(4, 4)), strings.Builder{}
	text.WriteString("a,b,k,g,h h,y,p\n")
	for i := range rows {
		a, b, k, g, h := 1e6+0.3*rng.NormFloat64(), 2*rng.NormFloat64(), 1+rng.IntN(40), rng.IntN(5), max(0, rng.IntN(4)-1)
		y := 2*(a-1e6) + 0.1*b*b - 0.3*b*float64(g%3) + 0.02*float64(k) + float64(h) + rng.NormFloat64()
		if h == 0 {
			h += i % 3 * 3 // the same level
		}
		fmt.Fprintf(&text, "%v,%v,%d,l%d,%s,%v,%v\n", a, b, k, g, []string{"u", "v w", `"x""y"`, "u ", 6: " u"}[h], y, math.Exp(y/4))
	}
	path := filepath.Join(t.TempDir(), "sales.csv")
	must.Succeed(t, os.WriteFile(path, []byte(text.String()), 0o644))
	return path
}

var categories = map[string]credence.Kind{"g": credence.Category, "h h": credence.Category}

// TestSQLIsFit: what a database sums up is the fit of its rows, in the weights, their deviations, the evidence and what
// is told of the target, whatever products the formula has.
func TestSQLIsFit(t *testing.T) {
	path := sales(t, 3000)
	for _, dialect := range []string{"sqlite", "postgres", "duckdb"} {
		t.Run(dialect, func(t *testing.T) { isFit(t, loaded(t, dialect, path), path) })
	}
}

func isFit(t *testing.T, db *shell, path string) {
	for _, formula := range []string{
		"y ~ a + b + g", "y ~ a*g + poly(b, 3) + g:`h h` + k", "y ~ 0 + b + onehot(k)", "y ~ 0 + a + g",
		"log(p) ~ a:b + b:g:`h h` + log(k) + sqrt(k) + exp(b) + expm1(b) + log1p(k) + abs(b) + (b > 0) + (k == 7) + (k != 9) + clip(b, -1, 1.5) + b^3 + square(k)",
	} {
		options := fit.Options{Formula: formula, Family: "gaussian", Engine: "exact(tolerance=1e-9)"}
		job := must.Value(NewSQL(db.dialect, db.table, categories, options))(t)
		got, err := db.fit(job)
		if err != nil {
			t.Errorf("%s: %v", formula, err)
			continue
		}
		want := whole(t, []string{path}, options)
		a, b := must.Value(score.Terms(got, score.TermOptions{}))(t), must.Value(score.Terms(want, score.TermOptions{}))(t)
		if len(a) != len(b) || len(a) < 4 {
			t.Fatalf("%s: %d weights, want %d", formula, len(a), len(b))
		}
		tolerance := 2e-9
		if strings.HasPrefix(formula, "y ~ 0 + a") { // the last digit of a mean of 10⁶, times the weight of a
			tolerance = 2e-8
		}
		for i := range a {
			if a[i].Name != b[i].Name || !(math.Abs(a[i].Mean-b[i].Mean) <= tolerance*float64(b[i].SD)) || !(math.Abs(float64(a[i].SD/b[i].SD)-1) <= 1e-9) {
				t.Errorf("%s: %+v, want %+v", formula, a[i], b[i])
			}
		}
		if !(math.Abs(*got.Report.Evidence-*want.Report.Evidence) <= 1e-7) || !(math.Abs(got.TargetMean/want.TargetMean-1) <= 1e-12) || !(math.Abs(got.TargetVariance/want.TargetVariance-1) <= 1e-11) || got.Report.Rows != 3000 || got.Report.Inputs != want.Report.Inputs {
			t.Errorf("%s: %+v, want %+v", formula, got.Report, want.Report)
		}
		for i, in := range got.Frame.(*frame.Frame).Inputs {
			if of := want.Frame.(*frame.Frame).Inputs[i]; in.Kind == credence.Category && (in.Fill != of.Fill || !slices.Equal(in.Levels, of.Levels)) {
				t.Errorf("%s: %+v, want %+v", formula, in, of)
			}
		}
		if a, b := got.Frame.(*frame.Frame).Target.LogSlope, want.Frame.(*frame.Frame).Target.LogSlope; (a == nil) != (b == nil) || a != nil && !(math.Abs(*a / *b - 1) <= 1e-12) {
			t.Errorf("%s: the target's slope is %v, want %v", formula, a, b)
		}
	}
	// Statements of 400 sums each.
	var many []string
	for i := range 30 {
		many = append(many, fmt.Sprintf("clip(b, -%d, %d)", i+1, i+1))
	}
	job := must.Value(NewSQL(db.dialect, db.table, nil, fit.Options{Formula: "y ~ " + strings.Join(many, " + ")}))(t)
	got, err := db.fit(job)
	if err != nil || strings.Count(must.Value(job.Query())(t), ";\n") != 1 {
		t.Errorf("%v", err)
	}
	if !strings.Contains(strings.Join(got.Report.Remarks, " "), "no row was looked at") {
		t.Errorf("%q", got.Report.Remarks)
	}
}

// TestSQLRefuses: NULL, texts and infinity are refused with column and count, those cut off, of another round
// or of a table that has changed, too; and what a database is not asked for, with what to do.
func TestSQLRefuses(t *testing.T) {
	path := sales(t, 200)
	options := fit.Options{Formula: "y ~ a + log(k) + g"}
	for change, want := range map[string]string{
		"UPDATE t SET a = NULL WHERE rowid < 4":   "a is NULL in 3 of 200 rows",
		"UPDATE t SET a = 'lots' WHERE rowid < 3": "a is a text in 2 of 200 rows: say --types 'a=category'",
		"UPDATE t SET y = 9e999 WHERE rowid < 6":  "y is infinite, or no number, in 5 of 200 rows",
		"UPDATE t SET k = 0 WHERE rowid < 2":      "log(k) is NULL in 1 of 200 rows",
		"UPDATE t SET g = NULL WHERE rowid < 9":   "g is NULL or empty in 8 of 200 rows",
		"DELETE FROM t":                           "t has no rows",
	} {
		_, err := sqlite(t, path, change).fit(must.Value(NewSQL("sqlite", "t", categories, options))(t))
		refused(t, err, want)
	}
	holes := sqlite(t, path, "UPDATE t SET b = NULL, k = NULL WHERE rowid < 4")
	for _, x := range []string{"b:k", "log1p(k)", "sqrt(k)", "exp(b)", "expm1(b)", "abs(b)", "(b > 0)", "(k == 7)", "(k != 9)", "clip(b, -1, 1.5)", "b^3", "square(k)"} {
		_, err := holes.fit(must.Value(NewSQL("sqlite", "t", nil, fit.Options{Formula: "y ~ " + x}))(t))
		refused(t, err, "is NULL in 3 of 200 rows")
	}
	db := sqlite(t, path, "")
	job := must.Value(NewSQL("sqlite", "t", categories, options))(t)
	answer := func(change func(string) string) error {
		_, err := job.Answer(strings.NewReader(change(db.ask(must.Value(job.Query())(t)))))
		return err
	}
	cut := func(n int) func(string) string {
		return func(text string) string {
			lines := strings.SplitAfter(text, "\n")
			return strings.Join(lines[:len(lines)-1-n], "")
		}
	}
	same := func(text string) string { return text }
	must.Succeed(t, answer(same))
	refused(t, answer(cut(1)), "g has", "and the table 200: part of the answer is lost")
	refused(t, answer(cut(6)), "lacks statement 2 of 2")
	refused(t, answer(func(string) string { return "credence:0:1,2\n" }), "one to another query (credence:0:1)")
	refused(t, answer(func(text string) string { return strings.ReplaceAll(text, ":1,", ":7,") }), "answers no statement")
	refused(t, answer(func(string) string { return "a\"b" }), "no CSV")
	decimals := regexp.MustCompile(`,(-?\d+)\.([-+e\d]+)`)
	refused(t, answer(func(text string) string { return decimals.ReplaceAllString(text, `,"$1,$2"`) }), "no number")
	first := db.ask(must.Value(job.Query())(t))
	_, more, err := job.Merge(ctx, must.Value(job.Answer(strings.NewReader(first)))(t))
	if err != nil || !more {
		t.Fatal(err)
	}
	refused(t, answer(func(string) string { return first }), "one to another query")
	refused(t, answer(cut(1)), "statement 2 has", "and 200 were counted")
	_, err = job.Partial(ctx, 0)
	refused(t, err, "asks a database", "--print")
	_, _, err = job.Merge(ctx)
	refused(t, err, "no part answers round 2", "--print")
	db.ask("DELETE FROM t WHERE rowid = 7")
	refused(t, answer(same), "199 rows, and 200 were counted")

	for want, ask := range map[string]struct {
		dialect, table string
		kinds          map[string]credence.Kind
		options        fit.Options
	}{
		`"oracle" is none of`:          {"oracle", "t", nil, options},
		"is no table":                  {"sqlite", "t; DROP TABLE t", nil, options},
		"are numbers or categories":    {"sqlite", "t", map[string]credence.Kind{"a": credence.Boolean}, options},
		"lose the variance":            {"sqlite", "t", nil, fit.Options{Formula: "y ~ a", Raw: true}},
		"make a view that does":        {"sqlite", "t", nil, fit.Options{Formula: "y ~ a", Missing: "drop"}},
		"a dot stands for nothing":     {"sqlite", "t", nil, fit.Options{Formula: "y ~ ."}},
		"weight, offset and precision": {"sqlite", "t", nil, fit.Options{Formula: "y ~ a + weight(k)"}},
		"center and scale ask":         {"sqlite", "t", nil, fit.Options{Formula: "y ~ center(a)"}},
		"databases have no sign":       {"sqlite", "t", nil, fit.Options{Formula: "y ~ sign(a)"}},
		"poisson":                      {"sqlite", "t", nil, fit.Options{Formula: "k ~ a", Family: "poisson"}},
		"family gaussian and engine":   {"sqlite", "t", nil, fit.Options{Formula: "y ~ a", Engine: "svi(covariance=full)"}},
		"write onehot(g)":              {"sqlite", "t", categories, fit.Options{Formula: "y ~ (1 | g)"}},
	} {
		job, err := NewSQL(ask.dialect, ask.table, ask.kinds, ask.options)
		if err == nil { // families are refused as the round ends
			_, err = db.fit(job)
		}
		refused(t, err, want)
	}
	_, err = db.fit(must.Value(NewSQL("sqlite", "t", nil, fit.Options{Formula: "y ~ rbf(b, n=20, lengthscale=1)"}))(t))
	refused(t, err, "leave other terms out")
	var many []string
	for i := range 230 {
		many = append(many, fmt.Sprintf("clip(b, -%d, %d)", i+1, i+1))
	}
	db = sqlite(t, sales(t, 600), "")
	_, err = db.fit(must.Value(NewSQL("sqlite", "t", nil, fit.Options{Formula: "y ~ " + strings.Join(many, " + ")}))(t))
	refused(t, err, "are the most: export the table to Parquet")
	files := must.Value(New(ctx, write(t, 600), plainOptions, dataset.Options{}))(t)
	_, err = files.Query()
	refused(t, err, "one of files")
	_, err = files.Answer(strings.NewReader(first))
	refused(t, err, "one of files")
}

// TestDialects: databases that no test can ask get these texts.
func TestDialects(t *testing.T) {
	inside := "SELECT CAST(\"a\" AS DOUBLE) AS v0, CAST(\"g g\" AS VARCHAR) AS g1, LN(CAST(\"y\" AS DOUBLE)) AS v2 FROM s.t"
	plain := "SELECT 'MARK0' AS credence, COUNT(*), COUNT(v0), 0, COUNT(CASE WHEN v0 - v0 = 0 THEN NULL ELSE 1 END), MIN(v0), MAX(v0), MAX(m0), SUM(v0 - m0), SUM((v0 - m0) * (v0 - m0)), " +
		"COUNT(v2), 0, COUNT(CASE WHEN v2 - v2 = 0 THEN NULL ELSE 1 END), MIN(v2), MAX(v2), MAX(m2), SUM(v2 - m2), SUM((v2 - m2) * (v2 - m2)) " +
		"FROM (INSIDE) s, (SELECT AVG(v0) AS m0, AVG(v2) AS m2 FROM (INSIDE) r) t;\nSELECT 'MARK1' AS credence, g1, COUNT(*) FROM (INSIDE) s GROUP BY g1;\n"
	for name, change := range map[string]*strings.Replacer{
		"duckdb": strings.NewReplacer(), "snowflake": strings.NewReplacer(),
		"postgres": strings.NewReplacer("DOUBLE", "DOUBLE PRECISION", "VARCHAR", "TEXT"),
		"bigquery": strings.NewReplacer("DOUBLE", "FLOAT64", "VARCHAR", "STRING", `"`, "`"),
	} {
		job := must.Value(NewSQL(name, "s.t", map[string]credence.Kind{"g g": credence.Category}, fit.Options{Formula: "log(y) ~ a + `g g`"}))(t)
		want := change.Replace(strings.NewReplacer("INSIDE", inside, "MARK", must.Value(job.mark())(t)).Replace(plain))
		if got := must.Value(job.Query())(t); got != want {
			t.Errorf("%s is asked\n%s, want\n%s", name, got, want)
		}
	}
}

// TestSQLOfAProgram: a program that has opened the database fits by one call.
func TestSQLOfAProgram(t *testing.T) {
	path := sales(t, 1000)
	shell := sqlite(t, path, "")
	sql.Register("shell", shell)
	db := must.Value(sql.Open("shell", ""))(t)
	defer db.Close()
	options := fit.Options{Formula: "y ~ a + b:g", Family: "gaussian"}
	got, want := must.Value(SQL(ctx, db, "sqlite", "t", categories, options))(t), whole(t, []string{path}, options)
	if !(math.Abs(*got.Report.Evidence-*want.Report.Evidence) <= 1e-7) {
		t.Errorf("the evidence is %v, want %v", *got.Report.Evidence, *want.Report.Evidence)
	}
	_, err := SQL(ctx, db, "sqlite", "t", nil, fit.Options{Formula: "y ~ ."})
	refused(t, err, "a dot stands for nothing")
	_, err = SQL(ctx, db, "sqlite", "t", nil, fit.Options{Formula: "y ~ g"})
	refused(t, err, "g is a text in 1000 of 1000 rows")
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	_, err = SQL(cancelled, db, "sqlite", "t", nil, options)
	refused(t, err, "context canceled")
}

// Open, Prepare and the rest make the shell a driver.
func (s *shell) Open(string) (driver.Conn, error)          { return s, nil }
func (s *shell) Prepare(query string) (driver.Stmt, error) { return &asking{s, query}, nil }
func (s *shell) Close() error                              { return nil }
func (s *shell) Begin() (driver.Tx, error)                 { return nil, driver.ErrSkip }

type asking struct {
	*shell
	query string
}

func (a *asking) NumInput() int                              { return 0 }
func (a *asking) Exec([]driver.Value) (driver.Result, error) { return nil, driver.ErrSkip }
func (a *asking) Query([]driver.Value) (driver.Rows, error) {
	records, err := csv.NewReader(strings.NewReader(a.ask(a.query))).ReadAll()
	return &told{records}, err
}

type told struct{ records [][]string }

func (r *told) Columns() []string { return r.records[0] }
func (r *told) Close() error      { return nil }
func (r *told) Next(to []driver.Value) error {
	if len(r.records) < 2 {
		return io.EOF
	}
	for i, text := range r.records[1] {
		to[i] = text
	}
	r.records = append(r.records[:1], r.records[2:]...)
	return nil
}
