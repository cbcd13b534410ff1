package dataset

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/bombs"
	"github.com/credence-ml/credence/internal/conform/must"
)

type parquetRow struct {
	Required float64  `parquet:"required"`
	Optional *float64 `parquet:"optional,optional"`
	Repeated float64  `parquet:"dictionary,dict"`
	Maybe    *int64   `parquet:"maybe,optional,dict"`
	Narrow   float32  `parquet:"narrow"`
	Count    uint32   `parquet:"count"`
	Flag     bool     `parquet:"flag"`
	Perhaps  *bool    `parquet:"perhaps,optional"`
	City     string   `parquet:"city,dict"`
	Name     *string  `parquet:"name,optional"`
	ID       int64    `parquet:"id"`
	Inner    struct {
		Depth *float64 `parquet:"depth,optional"`
	} `parquet:"inner"`
}

func randomParquet(rng *rand.Rand, n int) []parquetRow {
	rows := make([]parquetRow, n)
	for i := range rows {
		r := &rows[i]
		r.Required, r.Repeated = rng.NormFloat64(), float64(rng.IntN(7))/2
		r.Narrow, r.Count = float32(rng.NormFloat64()), rng.Uint32()
		r.Flag = rng.IntN(2) == 0
		r.City = fmt.Sprintf("city %d", rng.IntN(30))
		r.ID = math.MaxInt64 - int64(rng.IntN(50))
		if rng.IntN(3) > 0 {
			v, k, s, f := rng.NormFloat64(), int64(rng.IntN(9)), fmt.Sprintf("n%d", rng.IntN(1000)), rng.IntN(2) == 0
			r.Optional, r.Maybe, r.Name, r.Perhaps = &v, &k, &s, &f
		}
		if rng.IntN(2) > 0 {
			v := float64(i)
			r.Inner.Depth = &v
		}
	}
	return rows
}

func writeParquet[T any](t testing.TB, rows []T, options ...parquet.WriterOption) string {
	t.Helper()
	var content bytes.Buffer
	w := parquet.NewGenericWriter[T](&content, options...)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	must.Succeed(t, w.Close())
	return write(t, "rows.parquet", content.String())
}

// TestParquetEqualsItsRows compares every kind of column, over pages and row
// groups of many sizes, with the rows that were written.
func TestParquetEqualsItsRows(t *testing.T) {
	t.Parallel()
	rows := randomParquet(rand.New(rand.NewPCG(1, 2)), 20_000)
	for name, options := range map[string][]parquet.WriterOption{
		"default":    nil,
		"pages v1":   {parquet.DataPageVersion(1), parquet.PageBufferSize(3000)},
		"row groups": {parquet.MaxRowsPerRowGroup(3333), parquet.PageBufferSize(500), parquet.Compression(&parquet.Zstd)},
		"snappy":     {parquet.MaxRowsPerRowGroup(10_000), parquet.Compression(&parquet.Snappy)},
	} {
		t.Run(name, func(t *testing.T) {
			path := writeParquet(t, rows, options...)
			for _, threads := range []int{1, 3} {
				source, _, err := load(t, Options{Threads: threads, Types: map[string]credence.Kind{"id": credence.Category}}, nil, path)
				if err != nil {
					t.Fatal(err)
				}
				requireParquetRows(t, source, rows)
			}
		})
	}
}

func requireParquetRows(t *testing.T, source credence.Source, rows []parquetRow) {
	t.Helper()
	schema := source.Schema()
	levels := func(column string, code float64) string {
		if math.IsNaN(code) {
			return "missing"
		}
		return schema.Columns[schema.Index(column)].Levels[int(code)]
	}
	for i, got := range rowsOf(t, source, 999) {
		r := &rows[i]
		value := func(column string) float64 { return got[schema.Index(column)] }
		number := func(column string, want float64) {
			t.Helper()
			if v := value(column); v != want && !(math.IsNaN(v) && math.IsNaN(want)) {
				t.Fatalf("row %d, %s: %g, want %g", i, column, v, want)
			}
		}
		number("required", r.Required)
		number("dictionary", r.Repeated)
		number("narrow", float64(r.Narrow))
		number("count", float64(r.Count))
		flag := map[bool]float64{true: 1}
		number("flag", flag[r.Flag])
		optional, maybe, perhaps, name, depth := nan, nan, nan, "missing", nan
		if r.Optional != nil {
			optional, maybe, perhaps, name = *r.Optional, float64(*r.Maybe), flag[*r.Perhaps], *r.Name
		}
		if r.Inner.Depth != nil {
			depth = *r.Inner.Depth
		}
		number("optional", optional)
		number("maybe", maybe)
		number("perhaps", perhaps)
		number("inner.depth", depth)
		if city := levels("city", value("city")); city != r.City {
			t.Fatalf("row %d: city %q, want %q", i, city, r.City)
		}
		if got := levels("name", value("name")); got != name {
			t.Fatalf("row %d: name %q, want %q", i, got, name)
		}
		if id := levels("id", value("id")); id != fmt.Sprint(r.ID) {
			t.Fatalf("row %d: id %q, want %d", i, id, r.ID)
		}
	}
}

func TestParquetCompressedAndThroughStdin(t *testing.T) {
	rows := randomParquet(rand.New(rand.NewPCG(3, 4)), 100)
	content := must.Value(os.ReadFile(writeParquet(t, rows)))(t)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Write(content)
	w.Close()
	types := map[string]credence.Kind{"id": credence.Category}
	source, _, err := load(t, Options{Types: types}, nil, write(t, "rows.parquet.gz", packed.String()))
	if err != nil {
		t.Fatal(err)
	}
	requireParquetRows(t, source, rows)
	for _, live := range []bool{false, true} {
		cache := t.TempDir()
		source, table, err := load(t, Options{Types: types, Stdin: bytes.NewReader(packed.Bytes()), Once: live, CacheDir: cache}, nil, "-")
		if err != nil {
			t.Fatal(err)
		}
		requireParquetRows(t, source, rows)
		must.Succeed(t, table.Close())
		if left, _ := filepath.Glob(filepath.Join(cache, "*")); len(left) != 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

// A pipe that pauses within a Parquet file is waited for.
func TestParquetThroughASlowPipe(t *testing.T) {
	content := must.Value(os.ReadFile(writeParquet(t, randomParquet(rand.New(rand.NewPCG(3, 4)), 100))))(t)
	out, in := io.Pipe()
	go func() {
		in.Write(content[:len(content)/2])
		time.Sleep(3 * idleTime)
		in.Write(content[len(content)/2:])
		in.Close()
	}()
	source, _, err := load(t, Options{Stdin: out, Once: true, CacheDir: t.TempDir()}, []string{"required"}, "-")
	if err != nil || source.Rows() != 100 {
		t.Fatal(err)
	}
}

func TestParquetRefusals(t *testing.T) {
	type row struct {
		X    float64  `parquet:"x"`
		When int32    `parquet:"when,time(millisecond)"`
		List []int64  `parquet:"list"`
		Key  [16]byte `parquet:"key,uuid"`
		Name string   `parquet:"name"`
	}
	path := writeParquet(t, []row{{X: 1, Name: "a"}, {X: math.Inf(1), Name: "caf\xe9"}})
	for column, want := range map[string]string{
		"when": `rows.parquet: column "when": is a time of day`,
		"list": `rows.parquet: column "list": is a list`,
		"key":  `rows.parquet: column "key": is of type UUID`,
		"x":    `rows.parquet: row 2: column "x": the value is not a finite number`,
		"name": `rows.parquet: row 2: column "name": "caf\xe9" is not UTF-8, as texts of Parquet are: decode it where the file is written, or leave the column out`,
	} {
		_, table, err := load(t, Options{}, []string{column}, path)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error is %v", column, err)
		}
		if table.Schema().Index(column) < 0 {
			t.Errorf("%s is not listed, so that a formula could not leave it out", column)
		}
	}
}

// A fault stands at its row behind rows without a value, and integers that no number holds are told on either side of
// 0.
func TestParquetPlaces(t *testing.T) {
	type row struct {
		X *float64 `parquet:"x"`
		N int64    `parquet:"n"`
	}
	one, inf := 1.0, math.Inf(1)
	path := writeParquet(t, []row{{nil, -1<<53 - 1}, {&one, 1}, {nil, 2}, {&one, 3}, {&inf, 4}})
	if _, _, err := load(t, Options{}, []string{"x"}, path); err == nil || !strings.Contains(err.Error(), `rows.parquet: row 5: column "x"`) {
		t.Errorf("error is %v", err)
	}
	if _, table, err := load(t, Options{}, []string{"n"}, path); err != nil || !strings.Contains(fmt.Sprint(table.Notes()), "integers beyond 2⁵³, such as -90071992547409") {
		t.Errorf("%v, notes %v", err, table.Notes())
	}
}

// Numbers in a dictionary are categories where the caller says so.
func TestParquetNumbersAsCategories(t *testing.T) {
	type row struct {
		Code int64 `parquet:"code,dict"`
	}
	path := writeParquet(t, []row{{10}, {20}, {10}, {3000}})
	source, _, err := load(t, Options{Types: map[string]credence.Kind{"code": credence.Category}}, nil, path)
	if err != nil {
		t.Fatal(err)
	}
	if levels := source.Schema().Columns[0].Levels; !slices.Equal(levels, []string{"10", "20", "3000"}) {
		t.Errorf("levels %q", levels)
	}
}

// TestPlacesBehindTheDictionary: the first place behind a dictionary has no value.
func TestPlacesBehindTheDictionary(t *testing.T) {
	for _, b := range bombs.BehindTheDictionary() {
		if _, _, err := load(t, Options{}, nil, write(t, "x.parquet", string(b.Content))); err == nil || !strings.Contains(err.Error(), outsideDictionary) {
			t.Errorf("%s: %v", b.Name, err)
		}
	}
}

// TestGroupsHaveTheirTurn: row groups that need more memory than may be read ahead are read once it is their turn.
func TestGroupsHaveTheirTurn(t *testing.T) {
	t.Parallel()
	table := must.Value(Open(t.Context(), []string{write(t, "x.parquet", string(bombs.LargeGroups()))}, Options{CacheDir: t.TempDir()}))(t)
	defer table.Close()
	if source, err := table.Load(t.Context(), nil); err != nil || source.Rows() != 6 {
		t.Error(err)
	}
}

// TestDamagedParquet cuts and flips bytes: an error or other rows, no panic.
func TestDamagedParquet(t *testing.T) {
	content := must.Value(os.ReadFile(writeParquet(t, randomParquet(rand.New(rand.NewPCG(5, 6)), 300), parquet.PageBufferSize(400))))(t)
	rng := rand.New(rand.NewPCG(7, 8))
	trials := 300
	if testing.Short() {
		trials = 60
	}
	refused := 0
	for trial := range trials {
		damaged := bytes.Clone(content)
		if trial%3 == 0 {
			damaged = damaged[:rng.IntN(len(damaged))]
		}
		for range rng.IntN(4) + 1 {
			if len(damaged) > 0 {
				damaged[rng.IntN(len(damaged))] ^= byte(1 << rng.IntN(8))
			}
		}
		path := filepath.Join(t.TempDir(), "x.parquet")
		must.Succeed(t, os.WriteFile(path, damaged, 0o600))
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		table, err := Open(ctx, []string{path}, Options{CacheDir: t.TempDir()})
		if err == nil {
			_, err = table.Load(ctx, nil)
			table.Close()
		}
		cancel()
		if err != nil {
			refused++
			if strings.Contains(err.Error(), "\n") || len(err.Error()) > 600 {
				t.Errorf("message is no line: %v", err)
			}
		}
		if ctx.Err() == context.DeadlineExceeded {
			t.Fatalf("trial %d took too long", trial)
		}
	}
	if refused < trials/3 {
		t.Errorf("only %d of %d damaged files were refused", refused, trials)
	}
}

// Dates and times are days since 1970, of whatever unit they are stored in; decimals are numbers; both are
// texts where they are taken for categories.
func TestParquetDates(t *testing.T) {
	type row struct {
		Day   int32            `parquet:"day,date"`
		Milli time.Time        `parquet:"milli,timestamp(millisecond)"`
		Micro time.Time        `parquet:"micro,timestamp(microsecond)"`
		Nano  time.Time        `parquet:"nano,timestamp(nanosecond)"`
		Old   deprecated.Int96 `parquet:"old"`
		Cost  int64            `parquet:"cost,decimal(2:10)"`
		Maybe *time.Time       `parquet:"maybe,optional,timestamp(millisecond)"`
		Y     float64          `parquet:"y"`
	}
	moment := time.Date(2024, 2, 29, 18, 0, 0, 0, time.UTC)
	early := time.Date(1969, 12, 30, 6, 0, 0, 0, time.UTC)
	noon := func(day uint32, nanoseconds uint64) deprecated.Int96 {
		return deprecated.Int96{uint32(nanoseconds), uint32(nanoseconds >> 32), day}
	}
	path := writeParquet(t, []row{
		{19782, moment, moment, moment, noon(2440588+19782, 18*3600e9), 123456, &moment, 1},
		{-2, early, early, early, noon(2440588-2, 6*3600e9), -5, nil, 2},
	})
	names := []string{"day", "milli", "micro", "nano", "old", "cost", "maybe"}
	source, table, err := load(t, Options{}, names, path)
	if err != nil {
		t.Fatal(err)
	}
	var chunk credence.Chunk
	must.Succeed(t, source.Read(&chunk, 0, 2))
	want := [][]float64{{19782, 19782.75, 19782.75, 19782.75, 19782.75, 1234.56, 19782.75}, {-2, -1.75, -1.75, -1.75, -1.75, -0.05, math.NaN()}}
	for i, row := range want {
		for j, v := range row {
			if got := chunk.Values.Row(i)[j]; got != v && (got == got || v == v) {
				t.Errorf("row %d, %s: %v, want %v", i, names[j], got, v)
			}
		}
	}
	schema := table.Schema()
	for _, name := range names {
		if date := schema.Reading.Notations[name].Date != ""; date != (name != "cost") {
			t.Errorf("%s: dates %v", name, date)
		}
	}
	if notes := fmt.Sprint(table.Notes()); strings.Count(notes, "holds dates, and is read as days since 1970-01-01 UTC") != 6 {
		t.Error(notes)
	}
	types := map[string]credence.Kind{}
	for _, name := range names {
		types[name] = credence.Category
	}
	source, _, err = load(t, Options{Types: types}, names, path)
	if err != nil {
		t.Fatal(err)
	}
	for j, want := range []string{"2024-02-29", "2024-02-29T18:00:00Z", "2024-02-29T18:00:00Z", "2024-02-29T18:00:00Z", "2024-02-29T18:00:00Z", "1234.56", "2024-02-29T18:00:00Z"} {
		if levels := source.Schema().Columns[j].Levels; !slices.Contains(levels, want) {
			t.Errorf("%s: levels %q, want %s", names[j], levels, want)
		}
	}
}

// Dates and other numbers do not stand in one column, whichever file is first, and numbers not in the place of the
// dates of a model.
func TestParquetDatesAndNumbers(t *testing.T) {
	type number struct {
		Day int64 `parquet:"day"`
	}
	type date struct {
		Day int32 `parquet:"day,date"`
	}
	type word struct {
		Day string `parquet:"day"`
	}
	numbers, dates := writeParquet(t, []number{{1704067200000}}), writeParquet(t, []date{{19723}})
	words := writeParquet(t, []word{{"2024-01-01"}})
	trained := &credence.Schema{Columns: []credence.Column{{Name: "day"}}, Reading: credence.Reading{Notations: map[string]credence.Notation{"day": {Date: "ymd"}}}}
	for _, c := range []struct {
		paths   []string
		schema  *credence.Schema
		refusal string // of those that are read all rows are 2024-01-01
	}{
		{[]string{dates, numbers}, nil, "of another type"},
		{[]string{numbers, dates}, nil, "of another type"},
		{[]string{numbers}, trained, `column "day": holds numbers, and is one of dates in training`},
		{[]string{dates, numbers}, trained, "of another type"},
		{[]string{dates, words}, trained, ""},
		{[]string{words, dates}, trained, ""},
	} {
		source, _, err := load(t, Options{Schema: c.schema}, []string{"day"}, c.paths...)
		switch {
		case c.refusal != "":
			if err == nil || !strings.Contains(err.Error(), c.refusal) {
				t.Errorf("%q: %v, want %q", c.paths, err, c.refusal)
			}
		case err != nil:
			t.Error(err)
		case !sameRows(rowsOf(t, source, 9), [][]float64{{19723}, {19723}}):
			t.Errorf("rows are %v", rowsOf(t, source, 9))
		}
	}
}

// Decimals are texts with all their digits; whole ones are integers, of which is told where a number loses digits.
func TestParquetDecimals(t *testing.T) {
	type row struct {
		ID   int64 `parquet:"id,decimal(0:18)"`
		Cost int64 `parquet:"cost,decimal(2:18)"`
		Rate int32 `parquet:"rate,decimal(4:9)"`
	}
	path := writeParquet(t, []row{{123456789012345678, 123456789012345678, 120000}, {123456789012345679, -5, -1}})
	want := [][]string{{"123456789012345678", "1234567890123456.78", "12.0000"}, {"123456789012345679", "-0.05", "-0.0001"}}
	if got := fieldsOf(t, Options{}, []string{"id", "cost", "rate"}, path); !reflect.DeepEqual(got, want) {
		t.Errorf("fields are %q", got)
	}
	source, table, err := load(t, Options{Types: map[string]credence.Kind{"cost": credence.Category}}, nil, path)
	if err != nil {
		t.Fatal(err)
	}
	if levels := source.Schema().Columns[1].Levels; !slices.Equal(levels, []string{"-0.05", "1234567890123456.78"}) {
		t.Errorf("levels are %q", levels)
	}
	if notes := fmt.Sprint(table.Notes()); strings.Count(notes, "integers beyond 2⁵³") != 1 {
		t.Errorf("notes are %s", notes)
	}
	if got := rowsOf(t, source, 9); got[0][2] != 12 || got[1][2] != -0.0001 {
		t.Errorf("rows are %v", got)
	}
}

type placed struct {
	City string `parquet:"city"`
	Cost string `parquet:"cost"`
}

// Texts of Parquet are read as those of a model, or of a schema that is stated: what means missing, and how numbers are
// written.
func TestParquetTextsAreReadAsInTraining(t *testing.T) {
	path := writeParquet(t, []placed{{"a", "1.300"}, {"?", "2,5"}, {"b", "?"}})
	reading := credence.Reading{Missing: []string{"?"}, Notations: map[string]credence.Notation{"cost": {Decimal: ","}}}
	columns := []credence.Column{{Name: "city", Kind: credence.Category, Levels: []string{"a", "b"}}, {Name: "cost"}}
	schema := &credence.Schema{Columns: columns, Reading: reading}
	for name, options := range map[string]Options{"a model": {Schema: schema}, "a schema": {Stated: schema}} {
		source, table, err := load(t, options, nil, path)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := rowsOf(t, source, 9); !sameRows(got, [][]float64{{0, 1300}, {nan, 2.5}, {1, nan}}) || len(table.Unseen()) != 0 {
			t.Errorf("%s: rows %v, unseen %v", name, got, table.Unseen())
		}
	}
}

// The cache of rows in which NA is a level is not that of rows where it is declared missing.
func TestCacheOfParquetKnowsMissingTexts(t *testing.T) {
	path, cache := writeParquet(t, []placed{{City: "a"}, {City: "NA"}, {City: "b"}}), t.TempDir()
	for _, c := range []struct{ missing, want []string }{{nil, []string{"NA", "a", "b"}}, {[]string{"NA"}, []string{"a", "b"}}} {
		source, _, err := load(t, Options{CacheDir: cache, MemoryLimit: -1, MissingTokens: c.missing}, []string{"city"}, path)
		if err != nil {
			t.Fatal(err)
		}
		if levels := source.Schema().Columns[0].Levels; !slices.Equal(levels, c.want) {
			t.Errorf("missing %q: levels %q, want %q", c.missing, levels, c.want)
		}
	}
}

// A file whose columns cannot be read when its turn comes, although they could when the table
// was opened, is refused, also where it was begun ahead of its turn.
func TestParquetRefusedLate(t *testing.T) {
	type number struct {
		X float64 `parquet:"x"`
	}
	type day struct {
		X int32 `parquet:"x,time(millisecond)"`
	}
	first, later := writeParquet(t, []number{{1}, {2}}), writeParquet(t, []number{{3}})
	table, err := Open(context.Background(), []string{first, later}, Options{Threads: 4})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	changed, err := table.newInput(writeParquet(t, []day{{}}))
	if err != nil {
		t.Fatal(err)
	}
	changed.groups = table.inputs[1].groups
	table.inputs[1] = changed
	err = table.Rows(context.Background(), []string{"x"}, credence.Position{}, func(*Run) error { return nil })
	if err == nil || !strings.Contains(err.Error(), `column "x": is a time of day`) {
		t.Errorf("error is %v", err)
	}
}

// From every place on, Rows tells the rows of Parquet that are behind it, which are in some row group.
func TestParquetFromAnyRow(t *testing.T) {
	type row struct {
		X float64 `parquet:"x"`
	}
	all := make([]row, 23)
	for i := range all {
		all[i].X = float64(i)
	}
	path := writeParquet(t, all, parquet.MaxRowsPerRowGroup(5))
	whole, end, err := tell(t, Options{}, credence.Position{}, nil, path)
	if err != nil || len(whole) != len(all) || end.Rows != int64(len(all)) {
		t.Fatalf("%d rows up to %+v: %v", len(whole), end, err)
	}
	for i, from := range whole {
		if want := fmt.Sprintf("x=%d, line 0", i); from.text != want || from.position.Rows != int64(i+1) {
			t.Fatalf("row %d is %+v, want %q", i, from, want)
		}
		rest, restEnd, err := tell(t, Options{}, from.position, nil, path)
		if err != nil || !slices.Equal(rest, whole[i+1:]) || len(rest) > 0 && restEnd != end {
			t.Errorf("behind row %d: %d rows from %+v to %+v, %v", i, len(rest), from.position, restEnd, err)
		}
	}
}
