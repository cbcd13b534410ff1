package dataset

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"golang.org/x/text/encoding/charmap"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/must"
)

// A text in Windows-1252 is read as the same one in UTF-8 is: whole, compressed, from a pipe that brings a byte at a
// time, and from a place on, whether its first character that is none of ASCII stands in the header or just within what
// tells.
func TestWindows1252(t *testing.T) {
	for name, c := range map[string]struct {
		header string
		ascii  int // rows before the first other character
	}{"header": {"größe,wort,y\n", 0}, "late": {"size,word,y\n", headBytes/10 - 4}} {
		var text strings.Builder
		text.WriteString(c.header)
		for i := range 30_000 {
			word := "ascii"
			if i >= c.ascii {
				word = []string{"é", "€uro", "Zürich", "“ß”"}[i%4]
			}
			fmt.Fprintf(&text, "%d,%s,%d\n", 1+i%9, word, i%7)
		}
		latin := must.Value(charmap.Windows1252.NewEncoder().String(text.String()))(t)
		plain, _, err := load(t, Options{}, nil, write(t, "t.csv", text.String()))
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprint(plain.Schema(), plain.Rows())
		var first, other credence.Chunk
		plain.Read(&first, 0, plain.Rows())
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		w.Write([]byte(latin))
		w.Close()
		path := write(t, "t.csv", latin)
		for kind, in := range map[string]struct {
			path    string
			options Options
		}{
			"plain": {path, Options{}}, "gz": {write(t, "t.csv.gz", packed.String()), Options{}}, "pipe": {"-", Options{Stdin: strings.NewReader(latin)}},
			"once": {"-", Options{Stdin: io.MultiReader(iotest.OneByteReader(strings.NewReader(latin[:2000])), strings.NewReader(latin[2000:])), Once: true}}, "stated": {path, Options{Encoding: "windows-1252"}},
		} {
			table := must.Value(Open(t.Context(), []string{in.path}, in.options))(t)
			got := must.Value(table.Load(t.Context(), nil))(t)
			got.Read(&other, 0, got.Rows())
			if text := fmt.Sprint(got.Schema(), got.Rows()); text != want || fmt.Sprint(first.Values.Data) != fmt.Sprint(other.Values.Data) {
				t.Errorf("%s, %s: %s, want %s", name, kind, text, want)
			}
			if told := strings.Contains(fmt.Sprint(table.Notes()), "is read as Windows-1252, for it is not UTF-8"); told != (kind != "stated") {
				t.Errorf("%s, %s: notes %v", name, kind, table.Notes())
			}
			table.Close()
		}
		for _, follow := range []bool{false, true} {
			ctx, cancel := context.WithCancel(t.Context())
			table := must.Value(Open(ctx, []string{path}, Options{Once: true, Keyed: true, Follow: follow}))(t)
			at, rows := credence.Position{}, 0
			stop := fmt.Errorf("stop")
			for rows < 30_000 { // every run from a place of its own
				err = table.Rows(ctx, nil, at, func(run *Run) error { at, rows = run.Finish(), rows+run.Rows.Count; return stop })
				if err != stop {
					t.Fatalf("%s: %d rows, %v", name, rows, err)
				}
			}
			cancel()
			table.Close()
		}
	}
}

// Text whose first other character is one of UTF-8, or stands beyond the first 64 KB, or is said to be UTF-8, is UTF-8.
func TestUTF8IsNotWindows1252(t *testing.T) {
	far := "a,y\n" + strings.Repeat("x,1\n", headBytes/4-1) + "\xe9,2\n"
	for name, c := range map[string]struct {
		content, encoding, want string
	}{
		"UTF-8":          {"a,y\né,1\nz,2\n", "", ""},
		"end of a file":  {"y,a\n1,x\n2,é", "", ""},
		"damaged":        {"a,y\né,1\n\xe9,2\n", "", `t.csv:3: column "a"`},
		"far":            {far, "", fmt.Sprintf(`t.csv:%d: column "a": "\xe9" is not UTF-8: is it Windows-1252, say --encoding windows-1252`, headBytes/4+1)},
		"far and stated": {far, "windows-1252", ""},
		"stated":         {"a,y\n\xe9,1\nz,2\n", "utf-8", `t.csv:2: column "a"`},
		"half at an end": {"y,a\n1,x\n2,\xc3", "", ""}, // Ã
	} {
		_, table, err := load(t, Options{Encoding: c.encoding}, nil, write(t, "t.csv", c.content))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if table != nil && c.want == "" && strings.Contains(fmt.Sprint(table.Notes()), "1252") != (name == "half at an end") {
			t.Errorf("%s: %v", name, table.Notes())
		}
	}
	if _, err := Open(t.Context(), []string{write(t, "t.csv", far)}, Options{Encoding: "latin1"}); err == nil || !strings.Contains(err.Error(), "use utf-8 or windows-1252") {
		t.Error(err)
	}
}
