package table

import (
	"database/sql"
	"database/sql/driver"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/linop"
)

var nan = math.NaN()

// want checks columns and values of a table, NaN equal to NaN.
func want(t *testing.T, source credence.Source, columns []credence.Column, rows ...[]float64) {
	t.Helper()
	if got := source.Schema().Columns; !reflect.DeepEqual(got, columns) {
		t.Fatalf("columns are %+v, want %+v", got, columns)
	}
	if source.Rows() != len(rows) {
		t.Fatalf("%d rows, want %d", source.Rows(), len(rows))
	}
	for _, run := range [][2]int{{0, len(rows)}, {len(rows) / 2, len(rows) - len(rows)/2}} {
		var chunk credence.Chunk
		must.Succeed(t, source.Read(&chunk, run[0], run[1]))
		for i := range run[1] {
			got, want := chunk.Values.Row(i), rows[run[0]+i]
			for j := range want {
				if got[j] != want[j] && (got[j] == got[j] || want[j] == want[j]) {
					t.Fatalf("row %d is %v, want %v", run[0]+i, got, want)
				}
			}
		}
	}
}

func numeric(name string) credence.Column { return credence.Column{Name: name} }
func truth(name string) credence.Column {
	return credence.Column{Name: name, Kind: credence.Boolean}
}
func category(name string, levels ...string) credence.Column {
	return credence.Column{Name: name, Kind: credence.Category, Levels: levels}
}

func TestBuilder(t *testing.T) {
	source, err := New().Numbers("x", []float64{1, nan, 3, 4}).Booleans("b", []bool{true, false, true, true}).
		Categories("zip", []string{"b", " a ", "", "NA"}).Categories("grade", []string{"10", "9", "9.5", "10"}).Source()
	if err != nil {
		t.Fatal(err)
	}
	want(t, source, []credence.Column{numeric("x"), truth("b"), category("zip", "a", "b"), category("grade", "9", "9.5", "10")},
		[]float64{1, 1, 1, 2}, []float64{nan, 0, 0, 0}, []float64{3, 1, nan, 1}, []float64{4, 1, nan, 2})
}

type Spot struct {
	Lat, Lon float64
	hidden   int
}

type kinds struct {
	Price float64 `credence:"price"`
	Rooms int
	Size  *float32
	Zip   string
	Sold  bool
	Note  sql.NullString
	Score sql.Null[int64]
	Skip  []func() `credence:"-"`
	*Spot
	Free any
}

func TestStructs(t *testing.T) {
	size := float32(2.5)
	rows := []kinds{
		{Price: 1, Rooms: 2, Size: &size, Zip: "b", Sold: true, Note: sql.NullString{String: "n", Valid: true}, Spot: &Spot{Lat: 5, Lon: 6, hidden: 9}},
		{Price: nan, Zip: "a", Score: sql.Null[int64]{V: 7, Valid: true}, Free: "u"},
		{Rooms: -1, Free: 3.5},
	}
	columns := []credence.Column{numeric("price"), numeric("Rooms"), numeric("Size"), category("Zip", "a", "b"), truth("Sold"),
		category("Note", "n"), numeric("Score"), numeric("Lat"), numeric("Lon"), category("Free", "3.5", "u")}
	values := [][]float64{
		{1, 2, 2.5, 1, 1, 0, nan, 5, 6, nan},
		{nan, 0, nan, 0, 0, nan, 7, nan, nan, 1},
		{0, -1, nan, nan, 0, nan, nan, nan, nan, 0},
	}
	source, err := Structs(rows)
	if err != nil {
		t.Fatal(err)
	}
	want(t, source, columns, values...)
	pointers := []*kinds{&rows[0], &rows[1], &rows[2]}
	if source, err = Structs(pointers); err != nil {
		t.Fatal(err)
	}
	want(t, source, columns, values...)
	far := []**kinds{&pointers[0], &pointers[1], &pointers[2]}
	if source, err = Structs(far); err != nil {
		t.Fatal(err)
	}
	want(t, source, columns, values...)
	array := must.Value(Structs([3]kinds(rows)))(t) // whose elements have no addresses
	want(t, array, columns, values...)
}

// The bytes of a program are text, as a database gives it, and none where there are none.
func TestBytesAreText(t *testing.T) {
	type raw struct{ Code []byte }
	source := must.Value(Structs([]raw{{[]byte("b")}, {nil}, {[]byte(" a")}, {[]byte{}}}))(t)
	want(t, source, []credence.Column{category("Code", "a", "b")}, []float64{1}, []float64{nan}, []float64{0}, []float64{nan})
}

type embedded struct{ Name string }

type shadow struct {
	embedded
	Name float64
}

func TestFieldNames(t *testing.T) {
	columns, err := ColumnsOf(shadow{})
	if err != nil || len(columns) != 1 || columns[0].Kind != credence.Numeric {
		t.Errorf("the outer field hides the embedded one: %+v, %v", columns, err)
	}
	columns, err = ColumnsOf(map[string]any{"b": 1, "a": "t"})
	if err != nil || len(columns) != 2 || columns[0].Name != "a" || !columns[0].Unknown {
		t.Errorf("a map's columns are %+v, %v", columns, err)
	}
}

func TestRecordsHaveTheKindsOfFiles(t *testing.T) {
	rows := [][]any{
		{1, "1.5", "yes", "x", nil, []byte("7"), true},
		{2.5, " 2 ", "no", "y", nil, []byte("NA"), nil},
		{nil, "NA", "", "x", nil, nil, false},
	}
	source := must.Value(Records([]string{"n", "text", "bool", "cat", "none", "bytes", "b"}, rows))(t)
	want(t, source, []credence.Column{numeric("n"), numeric("text"), truth("bool"), category("cat", "x", "y"), numeric("none"), numeric("bytes"), truth("b")},
		[]float64{1, 1.5, 1, 0, nan, 7, 1}, []float64{2.5, 2, 0, 1, nan, nan, nan}, []float64{nan, nan, nan, 0, nan, nan, 0})
}

// A column that is empty in the sample has the kind of its first value.
func TestKindBehindTheSample(t *testing.T) {
	rows := make([][]any, sampleRows+2)
	for i := range rows {
		rows[i] = []any{float64(i), nil}
	}
	rows[sampleRows+1][1] = "late"
	source, err := Records([]string{"i", "c"}, rows)
	if err != nil {
		t.Fatal(err)
	}
	if c := source.Schema().Columns[1]; c.Kind != credence.Category || c.Levels[0] != "late" {
		t.Errorf("the column is %+v", c)
	}
	rows[sampleRows] = []any{"word", nil}
	_, err = Records([]string{"i", "c"}, rows)
	if err == nil || !strings.HasPrefix(err.Error(), `table: row 10001: column "i": "word" is not a number`) {
		t.Errorf("a text among numbers: %v", err)
	}
}

func TestRefusals(t *testing.T) {
	type listed struct{ Tags []int }
	type twice struct {
		A float64 `credence:"x"`
		B float64 `credence:"x"`
	}
	for name, c := range map[string]struct {
		make func() (credence.Source, error)
		want string
	}{
		"list":    {func() (credence.Source, error) { return Structs([]listed{{}}) }, "field Tags of table.listed is a []int, which is no number, boolean or text: leave it out with the tag `credence:\"-\"`"},
		"twice":   {func() (credence.Source, error) { return Structs([]twice{{}}) }, `two fields of table.twice are columns named "x"`},
		"numbers": {func() (credence.Source, error) { return Structs([]int{1}) }, "a []int is no slice of structs"},
		"nil":     {func() (credence.Source, error) { return Structs([]*kinds{nil}) }, "row 1 is nil"},
		"lengths": {func() (credence.Source, error) {
			return New().Numbers("a", []float64{1}).Numbers("b", nil).Source()
		}, `column "a" has 1 rows, and "b" has 0`},
		"names":    {func() (credence.Source, error) { return New().Numbers("a", nil).Numbers("a", nil).Source() }, `two columns are named "a"`},
		"ragged":   {func() (credence.Source, error) { return Records([]string{"a"}, [][]any{{1}, {1, 2}}) }, "row 2: has 2 values for 1 columns"},
		"utf8":     {func() (credence.Source, error) { return New().Categories("a", []string{"\xff"}).Source() }, `row 1: column "a": "\xff" is not text in UTF-8`},
		"no slice": {func() (credence.Source, error) { return Structs(3) }, "a int is no slice of structs"},
		"nothing":  {func() (credence.Source, error) { return Structs(nil) }, "a <nil> is no slice of structs"},
		"cell":     {func() (credence.Source, error) { return Structs([]embedded{{"a"}, {"\x00"}}) }, `row 2: column "Name": "\x00" is not text in UTF-8`},
		"no name":  {func() (credence.Source, error) { return New().Numbers("a", nil).Numbers("", nil).Source() }, "column 2 has no name"},
		"records":  {func() (credence.Source, error) { return Records([]string{"a", "b", "a"}, nil) }, `two columns are named "a": rename one`},
		"foreign":  {func() (credence.Source, error) { return Records([]string{"a"}, [][]any{{1}, {struct{ A int }{1}}}) }, `row 2: column "a": holds what is no number, boolean or text`},
		"no rows":  {func() (credence.Source, error) { return SQL(nil) }, "there are no rows: look at the error of the query first"},
		"labels":   {func() (credence.Source, error) { return Sparse([]float64{1}, linop.CSR{}) }, "1 labels for a matrix of 0 rows"},
	} {
		if _, err := c.make(); err == nil || !strings.HasPrefix(err.Error(), "table: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// Times of a program are dates, as those of files are: days since 1970-01-01 UTC, of which the zero time is none.
func TestTimes(t *testing.T) {
	type visit struct {
		At  time.Time
		Due *time.Time
		End sql.NullTime
	}
	at := time.Date(1970, 1, 3, 15, 0, 0, 0, time.FixedZone("", 3*3600))
	made := func() (credence.Source, error) {
		return Structs([]visit{{At: at, Due: &at, End: sql.NullTime{Time: at, Valid: true}}, {}})
	}
	records := func() (credence.Source, error) {
		return Records([]string{"At", "Due", "End"}, [][]any{{at, &at, sql.NullTime{Time: at, Valid: true}}, {time.Time{}, nil, sql.NullTime{}}})
	}
	for _, source := range []func() (credence.Source, error){made, records} {
		rows := must.Value(source())(t)
		want(t, rows, []credence.Column{numeric("At"), numeric("Due"), numeric("End")}, []float64{2.5, 2.5, 2.5}, []float64{nan, nan, nan})
		for _, name := range []string{"At", "Due", "End"} {
			if n := rows.Schema().Reading.Notations[name]; n.Date == "" {
				t.Errorf("%s is not known for a date", name)
			}
		}
	}
}

func TestSparse(t *testing.T) {
	x := linop.CSR{Cols: 5}
	x.AppendRow([]int32{0, 4}, []float64{2, 3})
	x.AppendRow(nil, []float64{})
	x.AppendRow([]int32{1}, []float64{7})
	source := must.Value(Sparse([]float64{1, nan, 0}, x))(t)
	want(t, source, []credence.Column{numeric("label")}, []float64{1}, []float64{nan}, []float64{0})
	var chunk credence.Chunk
	must.Succeed(t, source.Read(&chunk, 1, 2))
	bare := must.Value(Sparse(nil, x))(t)
	want(t, bare, nil, nil, nil, nil)
	if columns, values := chunk.Sparse.Row(1); len(columns) != 1 || columns[0] != 1 || values[0] != 7 || chunk.Sparse.Rows != 2 {
		t.Errorf("row 2 has %v %v", columns, values)
	}
}

// fake is a database whose one query has these rows.
type fake struct {
	names []string
	rows  [][]driver.Value
	err   error // behind the rows
	next  int
}

func (f *fake) Open(string) (driver.Conn, error)           { return f, nil }
func (f *fake) Prepare(string) (driver.Stmt, error)        { return f, nil }
func (f *fake) Close() error                               { return nil }
func (f *fake) Begin() (driver.Tx, error)                  { return nil, fmt.Errorf("no transactions") }
func (f *fake) NumInput() int                              { return 0 }
func (f *fake) Exec([]driver.Value) (driver.Result, error) { return nil, fmt.Errorf("queries only") }
func (f *fake) Query([]driver.Value) (driver.Rows, error)  { return f, nil }
func (f *fake) Columns() []string                          { return f.names }
func (f *fake) Next(dst []driver.Value) error {
	if f.next == len(f.rows) {
		if f.err != nil {
			return f.err
		}
		return io.EOF
	}
	copy(dst, f.rows[f.next])
	f.next++
	return nil
}

func query(t *testing.T, f *fake) *sql.Rows {
	name := t.Name() + fmt.Sprint(len(sql.Drivers()))
	sql.Register(name, f)
	db := must.Value(sql.Open(name, ""))(t)
	t.Cleanup(func() { db.Close() })
	rows := must.Value(db.Query("select"))(t)
	return rows
}

func TestSQL(t *testing.T) {
	result := query(t, &fake{names: []string{"id", "price", "zip", "ok"}, rows: [][]driver.Value{
		{int64(1), []byte("1.5"), "b", true}, {int64(2), nil, "a", false}, {int64(3), []byte("3"), nil, nil},
	}})
	source, err := SQL(result)
	if err != nil {
		t.Fatal(err)
	}
	want(t, source, []credence.Column{numeric("id"), numeric("price"), category("zip", "a", "b"), truth("ok")},
		[]float64{1, 1.5, 1, 1}, []float64{2, nan, 0, 0}, []float64{3, 3, nan, nan})
	if result.Next() {
		t.Error("the result is still open")
	}
	if _, err = SQL(query(t, &fake{names: []string{"a"}, err: fmt.Errorf("the line is cut")})); err == nil || !strings.Contains(err.Error(), "the line is cut") {
		t.Errorf("a query that fails halfway gives %v", err)
	}
	closed := query(t, &fake{names: []string{"a"}})
	must.Succeed(t, closed.Close())
	if _, err = SQL(closed); err == nil || !strings.HasPrefix(err.Error(), "table: ") || !strings.Contains(err.Error(), "closed") {
		t.Errorf("a result that is closed gives %v", err)
	}
}
