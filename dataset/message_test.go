package dataset

import (
	"context"
	"errors"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
)

// What is wrong is said by what was seen.
func TestFilesThatAreNoTables(t *testing.T) {
	for _, c := range []struct{ content, want string }{
		{"hello", `t.csv: there is no row below the header, the line "hello": was the file written completely?`},
		{"a;b\n", `the line "a;b": was`},
		{"# of 2024,by us\nx,y,z\n1,2,3\n", `t.csv:1: the line, "# of 2024,by us", is a comment, not the names of columns: remove it`},
		{"#id,x\n1,2,3\n", `t.csv:1: the line, "#id,x", is a comment`},
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
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
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

func TestDecimalCommas(t *testing.T) {
	const content = "id;x;y;z;city;amount\na;1,5;2;1,5;x,y;1,5\nb;-2,25;3,5;NA;1,5;a\nc;,5;4;2,0;u;b\n"
	path := write(t, "t.csv", content)
	table, err := Open(context.Background(), []string{path}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	columns, example := table.DecimalCommas()
	if want := []string{"x", "z"}; !reflect.DeepEqual(columns, want) || example != "1,5" {
		t.Errorf("columns %v, such as %q, want %v", columns, example, want)
	}
	stated, err := Open(context.Background(), []string{path}, Options{Types: map[string]credence.Kind{"x": credence.Category, "z": credence.Category}})
	if err != nil {
		t.Fatal(err)
	}
	defer stated.Close()
	if columns, _ := stated.DecimalCommas(); len(columns) > 0 {
		t.Errorf("columns stated to be categories are doubted: %v", columns)
	}
}

// Numbers with thousands separators or signs are not said to have decimal commas.
func TestDisguisedNumbers(t *testing.T) {
	const content = "a;b;c;d;e;f;g;id\n1,300;1,234,567;$12.30;1,300;90 %;1'234;1,300;1,300\n12,345;950;$1,300;1,5;85 %;12;a;x1\n950;1,300;$7;2;7 %;1'500.5;b;x2\n"
	path := write(t, "t.csv", content)
	table, err := Open(context.Background(), []string{path}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	if columns, example := table.DecimalCommas(); !reflect.DeepEqual(columns, []string{"d"}) || example != "1,5" {
		t.Errorf("decimal commas in %v, such as %q", columns, example)
	}
	got := map[string]string{}
	for _, note := range table.Notes() {
		if note.Doubt {
			got[note.Column] = note.Text
		}
	}
	const look = "is read as a category, and its values, such as "
	want := map[string]string{
		"a": look + `"1,300", look like numbers: leave out commas that separate thousands (1300), or write decimals with a point (1.300)`,
		"b": look + `"1,234,567", look like numbers: leave out what separates thousands (1234567)`,
		"c": look + `"$12.30", look like numbers: leave out signs of currency or per cent and what separates thousands (12.30)`,
		"e": look + `"90 %", look like numbers: leave out signs of currency or per cent and what separates thousands (90)`,
		"f": look + `"1'234", look like numbers: leave out what separates thousands (1234)`,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("notes\n%v, want\n%v", got, want)
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
