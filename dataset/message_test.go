package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/must"
)

// What is wrong is said by what was seen.
func TestFilesThatAreNoTables(t *testing.T) {
	for _, c := range []struct{ content, want string }{
		{"hello", `t.csv: there is no row below the header, the line "hello": was the file written completely?`},
		{"a;b\n", `the line "a;b": was`},
		{"# of 2024,by us\nx,y,z\n1,2,3\n", `t.csv:1: the line, "# of 2024,by us", is a comment, not the names of columns: remove it`},
		{"#id,x\n1,2,3\n", `t.csv:1: the line, "#id,x", is a comment`},
		{"a,b\r1,2\r", `ends its lines with a carriage return alone: convert it with tr '\r' '\n'`},
		{"\xff\xfe\x00\x00a\x00\x00\x00", "is UTF-32: convert it with iconv -f UTF-32"},
	} {
		_, _, err := load(t, Options{}, nil, write(t, "t.csv", c.content))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.content, err, c.want)
		}
	}
	// A name may begin with the mark.
	if source, _, err := load(t, Options{}, nil, write(t, "t.csv", "#id,x\n1,2\n")); err != nil || source.Schema().Columns[0].Name != "#id" {
		t.Errorf("%v", err)
	}
}

// A file cut off at any place is said to be, not that reading stopped.
func TestCutOffFiles(t *testing.T) {
	content := "x,y\n" + strings.Repeat("1,2.5\n17,3.25\n", 3000)
	for _, name := range []string{"t.csv.gz", "t.csv.zst"} {
		path := packed(t, name, content)
		whole := must.Value(os.ReadFile(path))(t)
		for _, length := range []int{len(whole) - 9, len(whole) / 2, 20, 8} {
			os.WriteFile(path, whole[:length], 0o600)
			_, _, err := load(t, Options{}, nil, path)
			if err == nil || !strings.HasPrefix(err.Error(), path) || !strings.Contains(err.Error(), ": the compressed data end early: is the file complete?") ||
				!errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%s, %d of %d bytes: %v", name, length, len(whole), err)
			}
		}
	}
}

// A table whose columns are written in every way is that of plain numbers; what the columns show of each other
// counts, and what they contradict is refused for those who use it.
func TestNotationsOfTables(t *testing.T) {
	path := write(t, "t.csv", "a;b;c;d;e;g\n1.300;1,5;12,30 €;90 %;1'234;1.2.2024\n12.345;2;1.300 €;8,5 %;12;31.1.2024\n950;0,25;7 €;7 %;1'500,5;\n")
	source, table, err := load(t, Options{}, nil, path)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := rowsOf(t, source, 10), [][]float64{{1300, 1.5, 12.3, 90, 1234, 19754}, {12345, 2, 1300, 8.5, 12, 19753}, {950, 0.25, 7, 7, 1500.5, nan}}; !sameRows(got, want) {
		t.Errorf("rows are %v, want %v", got, want)
	}
	if notes := fmt.Sprint(table.Notes()); !strings.Contains(notes, "{g holds dates, and is read as days since 1970-01-01 UTC") {
		t.Errorf("notes are %s", notes)
	}
	// Another table of the same model, ambiguous by itself, is read by what it knows of training.
	again, _, err := load(t, Options{Schema: source.Schema()}, nil, write(t, "u.csv", "g,e,d,c,b,a\n3.2.2024,1,5 %,7,\"2,500\",1.500\n"))
	if err != nil || !sameRows(rowsOf(t, again, 10), [][]float64{{1500, 2.5, 7, 5, 1, 19756}}) {
		t.Errorf("rows of the model's reading: %v, %v", rowsOf(t, again, 10), err)
	}
	other := write(t, "v.csv", "a,b,c,d\n\"1,300\",1/2/2024,$5,\"1,5\"\n\"2,400\",3/4/2024,€6,2.5\n")
	for column, want := range map[string]string{
		"a": `v.csv: column "a": numbers such as "1,300" may have a decimal comma or one between thousands, and nothing in the data tells which: say --decimal ',' or --thousands ',', or leave the column out`,
		"b": `v.csv: column "b": dates such as "1/2/2024" may have the day or the month first: say --types b=dmy or --types b=mdy, or leave the column out`,
	} {
		if _, _, err := load(t, Options{}, []string{column}, other); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		if _, _, err := load(t, Options{}, []string{credence.TextOf(column)}, other); err != nil {
			t.Errorf("as texts: %v", err)
		}
	}
	doubted := must.Value(Open(context.Background(), []string{other}, Options{Decimal: "."}))(t)
	defer doubted.Close()
	notes := fmt.Sprint(doubted.Notes())
	for _, want := range []string{`{c is read as a category: its numbers are in different units, such as "$5": write them alike true}`, `{d is read as a category: some of its numbers have decimal commas, such as "1,5", and some decimal points, such as "2.5": write them alike true}`} {
		if !strings.Contains(notes, want) {
			t.Errorf("notes are %s, want %s", notes, want)
		}
	}
}

// Columns without a name are left out, the second of two equal names gets a suffix, and a first line that
// names the delimiter is none of the table; all of it is said.
func TestOddHeaders(t *testing.T) {
	for content, want := range map[string][]string{
		",a,y\n1,2,3\n2,3,4\n":             {"a", "y"},
		"a,y,\n2,3,\n3,4,\n":               {"a", "y"},
		"a,a,a.2,a\n1,2,3,4\n5,6,7,8\n":    {"a", "a.3", "a.2", "a.4"},
		"sep=;\na;y\n1,5;2\n2,5;3\n":       {"a", "y"},
		"sep=|\r\na,b|y\r\n1|2\r\n2|3\r\n": {"a,b", "y"},
	} {
		source, table, err := load(t, Options{}, nil, write(t, "t.csv", content))
		if err != nil {
			t.Errorf("%q: %v", content, err)
			continue
		}
		var names []string
		for _, c := range source.Schema().Columns {
			names = append(names, c.Name)
		}
		told := strings.Contains(content, "sep=") || len(table.Notes()) > 0
		if !reflect.DeepEqual(names, want) || !told || source.Rows() != strings.Count(content, "\n")-1-strings.Count(content, "sep=") && source.Rows() != 1 && source.Rows() != 2 {
			t.Errorf("%q: columns %q, %d rows, notes %v", content, names, source.Rows(), table.Notes())
		}
	}
	if _, _, err := load(t, Options{}, nil, write(t, "t.csv", "sep=;\na;y\n1;2\nx;3\n2;4\n3;4\n4;4\n5;4\n")); err == nil || !strings.Contains(err.Error(), "t.csv:4:") {
		t.Errorf("the line behind the first is miscounted: %v", err)
	}
}

// One error names all texts that are no numbers, in all columns, with remedies that mend all.
func TestAllOffendingTexts(t *testing.T) {
	var rows strings.Builder
	rows.WriteString("x,z,y\n")
	for i := range 100 {
		x, z := fmt.Sprint(i), fmt.Sprint(-i)
		switch {
		case i%20 == 3:
			x = []string{"?", "low", "a,b"}[i%3]
		case i%20 == 9:
			z = "?"
		}
		fmt.Fprintf(&rows, "%q,%s,%d\n", x, z, i)
	}
	path := write(t, "t.csv", rows.String())
	_, _, err := load(t, Options{}, nil, path)
	want := `t.csv:5: column "x": "?" is not a number, nor are "a,b", "low" (5 rows); column "z": "?" (5 rows): declare them missing with --missing '?,low' --missing 'text=a,b', or read the columns as categories with --types x=category,z=category`
	if err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	if _, _, err := load(t, Options{MissingTokens: []string{"a,b", "?", "low"}}, nil, path); err != nil {
		t.Error(err)
	}
	_, _, err = load(t, Options{}, nil, write(t, "t.csv", "x,y\n1,2\ninf,3\n-Infinity,4\n5,6\n"))
	if want := `t.csv:3: column "x": "inf" is not a finite number, nor is "-Infinity" (2 rows): declare them missing with --missing -Infinity,inf`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	_, _, err = load(t, Options{}, nil, write(t, "t.csv", "x,y\n1,2\nlots,3\nlots,4\n5,6\n7,8\n9,8\n"))
	if want := `t.csv:3: column "x": "lots" is not a number (2 rows): declare it missing with --missing lots, or read the column as a category with --types x=category`; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	late := "x,y\n" + strings.Repeat(",1\n", sampleRows) + "7,1\nN1,2\nN2,3\n"
	_, _, err = load(t, Options{}, nil, write(t, "t.csv", late))
	if want := `t.csv:10003: column "x": "N1" is not a number, nor is "N2" (2 rows): declare them missing with --missing N1,N2, or read the column as a category with --types x=category`; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestWordsOfBooleans(t *testing.T) {
	const content = "a,b,c,d\nyes,TRUE,t,1\nyes,false,f,0\n"
	cache := t.TempDir()
	for range 2 { // the second time from the cache
		source, _, err := load(t, Options{MemoryLimit: -1, CacheDir: cache}, nil, write(t, "t.csv", content))
		if err != nil {
			t.Fatal(err)
		}
		words := source.(interface{ Words(string) []string })
		for name, want := range map[string][]string{"a": {"no", "yes"}, "b": {"false", "true"}, "c": {"f", "t"}, "d": nil, "e": nil} {
			if got := words.Words(name); !reflect.DeepEqual(got, want) {
				t.Errorf("words of %s are %q, want %q", name, got, want)
			}
		}
	}
}
