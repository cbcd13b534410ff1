package dataset

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/table"
)

func TestKindsAreInferred(t *testing.T) {
	many := func(count int, texts ...string) (values []string) {
		for i := range count {
			values = append(values, texts[i%len(texts)])
		}
		return values
	}
	for name, c := range map[string]struct {
		values []string
		want   credence.Kind
		note   string
	}{
		"numbers":              {[]string{"1", "-2.5", "NA", "1e5", ""}, credence.Numeric, ""},
		"zero and one":         {[]string{"0", "1", "1"}, credence.Numeric, ""},
		"true and false":       {[]string{"True", "FALSE", "true", "NULL"}, credence.Boolean, ""},
		"only yes":             {[]string{"yes", "Yes"}, credence.Boolean, ""},
		"t and f":              {[]string{"t", "F", "f"}, credence.Boolean, ""},
		"only t":               {[]string{"t", "t"}, credence.Category, ""},
		"t and n":              {[]string{"t", "n"}, credence.Category, ""},
		"two pairs":            {[]string{"true", "no"}, credence.Category, ""},
		"yes and 1":            {[]string{"yes", "1", "no"}, credence.Category, "1 of 3 values are numbers"},
		"texts":                {[]string{"a", "b"}, credence.Category, ""},
		"nothing":              {[]string{"", "NA"}, credence.Numeric, "has no value in the first 10000 rows; its first value tells what it is"},
		"numbers and a text":   {append(many(9, "1"), "n/a"), credence.Numeric, `is a number in 9 of 10 values, else for example "n/a"`},
		"half of one text":     {many(10, "1", "unknown"), credence.Numeric, `else for example "unknown"`},
		"a quarter of texts":   {append(many(6, "1"), "a", "b"), credence.Category, "6 of 8 values are numbers"},
		"inf counts as number": {[]string{"1", "inf"}, credence.Numeric, ""},
		"hexadecimal":          {[]string{"0x10", "1a"}, credence.Category, ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, "t.csv", "id,c\n7,"+strings.Join(c.values, "\n7,")+"\n")
			_, table, err := load(t, Options{}, []string{"id"}, path)
			if err != nil {
				t.Fatal(err)
			}
			if got := table.Schema().Columns[1].Kind; got != c.want {
				t.Errorf("kind is %s, want %s", got, c.want)
			}
			note := ""
			for _, n := range table.Notes() {
				note += n.Column + " " + n.Text
			}
			if (c.note == "") != (note == "") || !strings.Contains(note, c.note) {
				t.Errorf("note is %q, want %q", note, c.note)
			}
		})
	}
}

// A column without a value in the sample is read by what is stated of it and by what other columns show.
func TestLateColumnsAreReadAsStated(t *testing.T) {
	number := map[string]credence.Kind{"x": credence.Numeric}
	for name, c := range map[string]struct {
		options    Options
		y          string
		late, next string
		want       [2]float64
	}{
		"shown":               {Options{}, "1,5", "1.300", "950", [2]float64{1300, 950}},
		"shown, first open":   {Options{}, "1,5", "950", "1.300", [2]float64{950, 1300}},
		"shown and declared":  {Options{Types: number}, "1,5", "950", "1.300", [2]float64{950, 1300}},
		"another one is seen": {Options{}, "1,5", "1.5", "2.300", [2]float64{1.5, 2.3}},
		"points shown":        {Options{}, "1.5", "1,300", "950", [2]float64{1300, 950}},
		"stated":              {Options{Decimal: ","}, "1", "950", "1.300", [2]float64{950, 1300}},
		"stated and declared": {Options{Decimal: ",", Types: number}, "1", "1.300", "950", [2]float64{1300, 950}},
		"dates":               {Options{Types: number, Dates: map[string]string{"x": "ymd"}}, "1", "2023-12-31", "2024-01-01", [2]float64{19722, 19723}},
	} {
		text := "y;x\n" + strings.Repeat(c.y+";\n", sampleRows) + c.y + ";" + c.late + "\n" + c.y + ";" + c.next + "\n"
		source, _, err := load(t, c.options, []string{"x"}, write(t, "t.csv", text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := rowsOf(t, source, 4096)[sampleRows:]; !sameRows(got, [][]float64{{c.want[0]}, {c.want[1]}}) {
			t.Errorf("%s: %s and %s are read as %v, want %v", name, c.late, c.next, got, c.want)
		}
	}
}

func TestTypesOverride(t *testing.T) {
	types, _, err := ParseTypes(`age=category, flag=boolean,zip=text,"a ""b"",c"=number`)
	want := map[string]credence.Kind{"age": credence.Category, "flag": credence.Boolean, "zip": credence.Category, `a "b",c`: credence.Numeric}
	if err != nil || !reflect.DeepEqual(types, want) {
		t.Fatalf("types are %v, %v", types, err)
	}
	path := write(t, "t.csv", "age,flag,zip,\"a \"\"b\"\",c\"\n10,1,007,x\n9,0,7,2\n")
	source, _, err := load(t, Options{Types: types, MissingTokens: []string{"x"}}, nil, path)
	if err != nil {
		t.Fatal(err)
	}
	columns := source.Schema().Columns
	if !reflect.DeepEqual(columns[0].Levels, []string{"9", "10"}) { // by value
		t.Errorf("levels are %q", columns[0].Levels)
	}
	if !reflect.DeepEqual(columns[2].Levels, []string{"007", "7"}) { // of equal value, by bytes
		t.Errorf("levels are %q", columns[2].Levels)
	}
	if got := rowsOf(t, source, 10); !sameRows(got, [][]float64{{1, 1, 0, nan}, {0, 0, 1, 2}}) {
		t.Errorf("rows are %v", got)
	}
	for text, want := range map[string]string{
		"age":             `dataset: "age" is not name=type`,
		"age=float":       `dataset: column "age" cannot be of type "float": use number, boolean, category, text, date, ymd, dmy or mdy`,
		"a=text,a=number": `dataset: column "a" has two types`,
		`"a=text`:         `lack a closing quote`,
		"=text":           `is not name=type`,
	} {
		if _, _, err := ParseTypes(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error is %v", text, err)
		}
	}
	if _, _, err := load(t, Options{Types: map[string]credence.Kind{"agee": 0}}, nil, path); err == nil ||
		!strings.Contains(err.Error(), `--types names the column "agee"`) || !strings.Contains(err.Error(), "its columns are age, flag") {
		t.Errorf("error is %v", err)
	}
}

// TestMessages reads files that cannot be read: one line each, with the place
// and what to do.
func TestMessages(t *testing.T) {
	long := strings.Repeat("x", 1_000_000)
	for name, c := range map[string]struct {
		file, content string
		options       Options
		columns       []string
		want          string
	}{
		"not a number":      {file: "train.csv", content: "age,b\n1,2\n2,3\n3,4\n4,1\nn/a,5\n", want: `train.csv:6: column "age": "n/a" is not a number; declare it with --missing n/a`},
		"number too late":   {file: "t.csv", content: "a\n" + strings.Repeat("1\n", sampleRows) + "x1\n", want: `t.csv:10002: column "a": "x1" is not a number`},
		"not a boolean":     {file: "t.csv", content: "a\nyes\n" + strings.Repeat("no\n", sampleRows) + "maybe\n", want: `t.csv:10003: column "a": "maybe" is not a boolean (true/false, yes/no, t/f, y/n, 1/0); declare it with --missing maybe`},
		"infinite":          {file: "t.csv", content: "a\n1\n-inf\n", want: `t.csv:3: column "a": "-inf" is not a finite number`},
		"ragged":            {file: "r.csv", content: "a,b\n1,2\n1,2,3\n", want: "r.csv:3: the row has 3 fields, the header 2"},
		"ragged below":      {file: "r.csv", content: "a,b\n" + strings.Repeat("1,2\n", 70_000) + "1\n", want: "r.csv:70002: the row has 1 field, the header 2"},
		"row names":         {file: "r.csv", content: "a,b\nr1,1,2\nr2,3,4\n", want: "r.csv:2: the row has 3 fields, the header 2: if every row begins with a row name, name that column in the header"},
		"empty":             {file: "e.csv", content: "", want: "e.csv: the file is empty"},
		"only blank lines":  {file: "e.csv", content: "\n\n", want: "e.csv: the file holds no header and no rows"},
		"header only":       {file: "h.csv", content: "a,b\n", want: "h.csv: there is no row below the header"},
		"no header":         {file: "n.csv", content: "1.5,2\n3,4\n", want: "n.csv:1: the first line holds numbers, not column names: put a header line in front"},
		"wrong delimiter":   {file: "d.csv", content: "a;b;c\n1;2;3\n", options: Options{Delimiter: ','}, want: `d.csv:1: the header is a single column "a;b;c": the delimiter is probably a semicolon: use --delimiter ';'`},
		"quote as comma":    {file: "d.csv", content: "a", options: Options{Delimiter: '"'}, want: `dataset: '"' cannot separate fields`},
		"NUL":               {file: "b.csv", content: "a,b\n1,2\n\x00\x01", want: "b.csv:3: holds a NUL byte, so it is not text"},
		"late NUL":          {file: "b.csv", content: "a,b\n" + strings.Repeat("x,2\n", 50_000) + "\x00,2\n", want: `b.csv:50002: column "a": "\x00" holds a NUL byte`},
		"UTF-16, bare":      {file: "u.csv", content: "a\x00,\x00b\x00\n\x001\x00", want: "u.csv: looks like UTF-16 without a byte order mark: convert it with iconv -f UTF-16LE -t UTF-8"},
		"UTF-16, cut":       {file: "u.csv", content: "\xff\xfea\x00\n\x001\x00\n", want: "u.csv:2: the file cannot be read on: the UTF-16 text ends within a character: is it damaged?"},
		"Latin 1":           {file: "l.csv", content: "a,b\nça,1\ncaf\xe9,2\n", want: `l.csv:3: column "a": "caf\xe9" is not UTF-8: is it Windows-1252, say --encoding windows-1252; else convert the file with iconv`},
		"Latin 1 header":    {file: "l.csv", content: "ça,caf\xe9\n1,2\n", want: `l.csv:1: the name of column 2, "caf\xe9", is not UTF-8`},
		"Latin of the East": {file: "l.csv", content: "a,b\n\xbd\x9d,2\n", want: `l.csv:2: column "a": "½\u009d" holds a character that neither texts nor Windows-1252 have`},
		"workbook":          {file: "s.csv", content: "PK\x03\x04\x14\x00[Content_Types].xml\xb5PK\x03\x04xl/workbook.xml", want: `s.csv: spreadsheets are not read: save the sheet as "CSV UTF-8", or type soffice --headless --convert-to 'csv:Text - txt - csv (StarCalc):44,34,76' s.csv`},
		"long field":        {file: "f.csv", content: "a,b\n1," + long + "\n", want: `f.csv:2: column "b": a value of 1000000 bytes is too long for a category (at most 65536): leave the column out`},
		"long number":       {file: "f.csv", content: "a,b\n" + strings.Repeat("1,2\n", 9) + "1," + long + "\n", want: `f.csv:11: column "b": "xxxxx`},
		"open quote":        {file: "q.csv", content: "a,b\n1,2\n3,\"x\n4,5\n", want: "q.csv:3: a field opens with a double quote that is never closed"},
		"spreadsheet":       {file: "s.xlsx", content: "PK", want: `s.xlsx: spreadsheets are not read: save the sheet as "CSV UTF-8", or type soffice --headless --convert-to 'csv:Text - txt - csv (StarCalc):44,34,76' s.xlsx`},
		"Arrow":             {file: "s.arrow", content: "ARROW1", want: "s.arrow: Arrow files are not read: write Parquet or CSV"},
		"no Parquet":        {file: "s.parquet", content: "a,b\n", want: "s.parquet: is not a Parquet file (it does not begin with PAR1)"},
		"cut Parquet":       {file: "s.parquet", content: "PAR1abc", want: "s.parquet: the Parquet file is damaged or cut off"},
		"format":            {file: "s.csv", content: "a", options: Options{Format: "xml"}, want: `dataset: there is no format "xml": use csv, tsv, libsvm, vw or parquet`},
		"Vowpal Wabbit":     {file: "v.txt", content: "1 |f a:1 b:2\n-1 |f c:x\n", want: `v.txt:2: the value of feature "c", "x", is not a finite number`},
		"no such column":    {file: "c.csv", content: "a,b\n1,2\n", columns: []string{"c"}, want: `dataset: the column "c" is not in `},
		"many levels":       {file: "m.csv", content: "a,b\nx,1\ny,1\nz,1\n", options: Options{MaxLevels: 2}, want: `m.csv:4: column "a": the category has more than 2 levels: leave the column out`},
		"libsvm":            {file: "a.svm", content: "1 1:1\n-1 3:1 2\n", want: `a.svm:2: "2" is not index:value`},
		"no gzip":           {file: "g.csv.gz", content: "\x1f\x8bxxxx", want: "g.csv.gz: begins like gzip but is not"},
		"no zstd":           {file: "z.csv.zst", content: "\x28\xb5\x2f\xfdxxxxxxxxxx", want: "z.csv.zst: "},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, c.file, c.content)
			_, _, err := load(t, c.options, c.columns, path)
			if err == nil {
				t.Fatal("no error")
			}
			got := strings.ReplaceAll(err.Error(), strings.TrimSuffix(path, c.file), "")
			if !strings.Contains(got, c.want) {
				t.Errorf("error is %s\nwant %s", got, c.want)
			}
			if strings.Contains(got, "\n") || len(got) > 400 {
				t.Errorf("message is no line: %s", got)
			}
			// The first fault is the same at any number of threads.
			for _, threads := range []int{1, 4} {
				c.options.Threads = threads
				if _, _, again := load(t, c.options, c.columns, path); fmt.Sprint(again) != err.Error() {
					t.Errorf("with %d threads: %v", threads, again)
				}
			}
		})
	}
}

// TestUnusedColumnsAreNotRead leaves out what cannot be read.
func TestUnusedColumnsAreNotRead(t *testing.T) {
	path := write(t, "t.csv", "a,b,c\n1,\"caf\xe9\",n/a\n2,\""+strings.Repeat("x\n", 100_000)+"\",4\n")
	source, _, err := load(t, Options{}, []string{"a"}, path)
	if err != nil {
		t.Fatal(err)
	}
	if got := rowsOf(t, source, 1); !sameRows(got, [][]float64{{1}, {2}}) {
		t.Errorf("rows are %v", got)
	}
}

// A row that is taken out takes its entries and its end along.
func TestFaultyRowsOfEntries(t *testing.T) {
	rows := &table.Rows{Count: 3, Ends: []int64{10, 20, 30}, Start: []int{0, 2, 3, 5}, Keys: []uint64{1, 2, 3, 4, 5}, Value: []float64{1, 2, 3, 4, 5},
		Space: []int32{0, 1, 2, 3, 4}, Tokens: []table.Span{{To: 1}, {To: 2}, {To: 3}, {To: 4}, {To: 5}}, Places: []table.Place{{}}}
	dropFaulty(rows, []table.Fault{{Row: 1}})
	if got, want := fmt.Sprint(rows.Ends, rows.Start, rows.Keys, rows.Value[:4], rows.Space[:4], rows.Tokens[:4]), "[10 30] [0 2 4] [1 2 4 5] [1 2 4 5] [0 1 3 4] [{0 1} {0 2} {0 4} {0 5}]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
