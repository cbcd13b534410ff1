package stream

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// named reads rows with the texts of their features.
func named(t *testing.T, p *Plan, lines ...string) ([]string, error) {
	t.Helper()
	parser, err := p.NewParser(true, true)
	if err != nil {
		t.Fatal(err)
	}
	index, names := &Index{}, &Names{}
	r := Open(context.Background(), Config{Paths: []string{"-"}, Stdin: strings.NewReader(strings.Join(lines, "\n")), Parser: parser, Index: index, Names: names})
	defer r.Close()
	var rows []string
	for b := r.Next(); b != nil; b = r.Next() {
		for i := range b.Rows() {
			columns, values := b.Sparse.Row(i)
			var entries []string
			for k, slot := range columns {
				v := 1.0
				if values != nil {
					v = values[k]
				}
				entries = append(entries, fmt.Sprintf("%s*%g", names.Name(int(slot)), v))
			}
			row := fmt.Sprintf("%g %s", b.Target[i], strings.Join(entries, " "))
			if b.Weight != nil && (b.Weight[i] != 1 || b.Offset[i] != 0) {
				row += fmt.Sprintf(" [%g %g]", b.Weight[i], b.Offset[i])
			}
			rows = append(rows, row)
		}
		err = b.Err
		r.Recycle(b)
	}
	if names.Len() != index.Len() {
		t.Errorf("%d names of %d features", names.Len(), index.Len())
	}
	return rows, err
}

func TestVW(t *testing.T) {
	all := &Plan{Format: FormatVW, All: true}
	for _, c := range []struct {
		plan       *Plan
		line, want string
	}{
		{all, "1 | a b", "1 a*1 b*1"},
		{all, "-1 2.5 |f a:0.5 b", "0 f^a*0.5 f^b*1 [2.5 0]"},
		{all, "1 1 0.25 'tag|f a", "1 f^a*1 [1 0.25]"},
		{all, "1 tag|f a", "1 f^a*1"},
		{all, "1 'tag |f a", "1 f^a*1"},
		{all, "1 |f:2 a:3 b |g c", "1 f^a*6 f^b*2 g^c*1"},
		{all, "1 |f a a b", "1 f^a*2 f^b*1"},
		{all, "1 |f a|g b\r", "1 f^a*1 g^b*1"},
		{all, "1 |", "1 "},
		{&Plan{Format: FormatVW, All: true, Except: []string{"g"}}, "1 |f a |g b", "1 f^a*1"},
		{&Plan{Format: FormatVW, Terms: []Term{{Columns: []string{"g"}}}}, "1 |f a |g b", "1 g^b*1"},
		{&Plan{Format: FormatVW, Terms: []Term{{Columns: []string{"f", "g"}}}}, "1 |f a:2 b |g c", "1 f^a:g^c*2 f^b:g^c*1"},
		{&Plan{Format: FormatVW, All: true, Terms: []Term{{Columns: []string{"f", "g"}}}}, "1 |f a |g b", "1 f^a*1 g^b*1 f^a:g^b*1"},
		{all, "a b c | x", "label \"a\" is not 1, 0 or -1"},
		{all, "1 1 1 1 | x", "one word too many"},
		{all, "1 -2 | x", "importance \"-2\" is negative"},
		{all, "1 x | x", "\"x\" is not a number"},
		{all, "| x", "the label is missing"},
		{all, "1 x", "no | before its features"},
		{all, "1 | x:y", "feature \"x\": \"y\" is not a number"},
		{all, "1 |f:z x", "is not a number"},
		{all, "1 |f:1e200 x:1e200", "add up to infinity"},
	} {
		checkRow(t, c.plan, c.want, c.line)
	}
}

func checkRow(t *testing.T, p *Plan, want string, lines ...string) {
	t.Helper()
	rows, err := named(t, p, lines...)
	got := strings.Join(rows, "; ")
	if err != nil {
		if got = err.Error(); !strings.Contains(got, want) {
			t.Errorf("%q: refusal reads %q, want %q", lines, got, want)
		}
		return
	}
	if got != want {
		t.Errorf("%q reads %q, want %q", lines, got, want)
	}
}

func TestCSV(t *testing.T) {
	plan := func(change func(p *Plan)) *Plan {
		p := &Plan{Format: FormatCSV, Target: "y", All: true}
		if change != nil {
			change(p)
		}
		return p
	}
	for _, c := range []struct {
		plan  *Plan
		lines []string
		want  string
	}{
		{plan(nil), []string{"y,a,b", "1,x, 2 "}, "1 a=x*1 b=2*1"},
		{plan(nil), []string{"\xef\xbb\xbfy,a", "1,x\r", "", "0,"}, "1 a=x*1; 0 a=*1"},
		{plan(nil), []string{"a,y", `"p,q ""r""",1`}, `1 a=p,q "r"*1`},
		{plan(nil), []string{"a,y", "\"two", "lines\",0"}, "0 a=two\nlines*1"},
		{plan(func(p *Plan) { p.Numbers = []string{"b"} }), []string{"y,a,b", "1,x,2.5", "0,x,0"}, "1 a=x*1 b*2.5; 0 a=x*1"},
		{plan(func(p *Plan) { p.Numbers = []string{"b"}; p.Tokens = true }), []string{"y,a,b", "1,x,2.5"}, "1 a=x*1 b=2.5*1"},
		{plan(func(p *Plan) { p.Except = []string{"a"} }), []string{"y,a,b", "1,x,2"}, "1 b=2*1"},
		{plan(func(p *Plan) {
			p.Numbers = []string{"b"}
			p.Terms = []Term{{Columns: []string{"b"}, Transforms: []string{"sqrt"}}}
		}), []string{"y,a,b", "1,x,9"}, "1 sqrt(b)*3 a=x*1"},
		{plan(func(p *Plan) { p.Terms = []Term{{Columns: []string{"a", "b"}}} }), []string{"y,a,b", "1,x,z"}, "1 a=x:b=z*1 a=x*1 b=z*1"},
		{plan(func(p *Plan) {
			p.All = false
			p.Numbers = []string{"b"}
			p.Terms = []Term{{Columns: []string{"a", "b"}}}
		}), []string{"y,a,b", "1,x,3"}, "1 a=x:b*3"},
		{plan(func(p *Plan) { p.Weight = "w"; p.Offset = Term{Columns: []string{"e"}, Transforms: []string{"log"}} }), []string{"y,a,w,e", "1,x,2,1"}, "1 a=x*1 [2 0]"},
		{plan(func(p *Plan) { p.Positive = "yes" }), []string{"y,a", "yes,x", "no,x"}, "1 a=x*1; 0 a=x*1"},
		{plan(nil), []string{"a,b", "1,2"}, `1: there is no column "y": the columns are a, b`},
		{plan(nil), []string{"y,a", "1"}, "2: 1 fields, and the header has 2"},
		{plan(nil), []string{"y,a", "1,\"x"}, "a quote is not closed"},
		{plan(nil), []string{"y,a", "1,\"x\"z"}, "text follows the closing quote"},
		{plan(func(p *Plan) { p.Numbers = []string{"a"} }), []string{"y,a", "1,x"}, `column "a": "x" is not a number`},
		{plan(func(p *Plan) { p.Numbers = []string{"a"} }), []string{"y,a", "1,"}, `column "a": the number is missing`},
		{plan(func(p *Plan) { p.Terms = []Term{{Columns: []string{"a"}, Transforms: []string{"log"}}} }), []string{"y,a", "1,0"}, "has no finite transform"},
	} {
		checkRow(t, c.plan, c.want, c.lines...)
	}
}

// The same column has the same key wherever it stands in a file, and shortened keys fit.
func TestColumnsInAnotherOrder(t *testing.T) {
	first, second := write(t, "y,a,b", "1,x,z"), write(t, "b,y,c,a", "z,0,7,x")
	p := &Plan{Format: FormatCSV, Target: "y", Terms: []Term{{Columns: []string{"a"}}, {Columns: []string{"b"}, Bits: 18}}}
	parser, err := p.NewParser(true, false)
	if err != nil {
		t.Fatal(err)
	}
	index := &Index{}
	rows, _, err := drain(t, Config{Paths: []string{first, second}, Parser: parser, Index: index})
	if err != nil || len(rows) != 2 || rows[0][1:] != rows[1][1:] || index.Len() != 2 || index.Key(1) >= 1<<18 {
		t.Errorf("%q, %d features, %v", rows, index.Len(), err)
	}
}

func TestResumeInsideTable(t *testing.T) {
	lines := []string{"y,a"}
	for i := range 100 {
		lines = append(lines, fmt.Sprintf("%d,v%d", i%2, i))
	}
	path := write(t, lines...)
	var zipped, zstandard bytes.Buffer
	w := gzip.NewWriter(&zipped)
	w.Write([]byte(strings.Join(lines, "\n")))
	w.Close()
	z, _ := zstd.NewWriter(&zstandard)
	z.Write([]byte(strings.Join(lines, "\n")))
	z.Close()
	for name, content := range map[string][]byte{"plain": nil, "gzip": zipped.Bytes(), "zstd": zstandard.Bytes()} {
		file := path
		if content != nil {
			file = filepath.Join(t.TempDir(), "rows")
			if err := os.WriteFile(file, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cfg := func(start Position) Config {
			parser, _ := (&Plan{Format: FormatCSV, Target: "y", All: true}).NewParser(true, false)
			return Config{Paths: []string{file}, Parser: parser, Index: &Index{}, Step: 10, Start: start}
		}
		all, _, err := drain(t, cfg(Position{}))
		if err != nil || len(all) != 100 {
			t.Fatalf("%s: %d rows, %v", name, len(all), err)
		}
		r := Open(context.Background(), cfg(Position{}))
		b := r.Next()
		position := b.End
		r.Recycle(b)
		r.Close()
		rest, _, err := drain(t, cfg(position))
		if err != nil || strings.Join(rest, "\n") != strings.Join(all[10:], "\n") {
			t.Errorf("%s: %d rows from %+v, %v", name, len(rest), position, err)
		}
	}
}

func TestSample(t *testing.T) {
	text := "y,a,b,c\n1,2,x,\n0,,3,\n"
	s, err := ReadSample(context.Background(), []string{"-"}, strings.NewReader(text), FormatCSV, "y", true)
	if err != nil || !slices.Equal(s.Numbers, []string{"y", "a"}) || !slices.Equal(s.Columns, []string{"y", "a", "b", "c"}) {
		t.Fatalf("%+v, %v", s, err)
	}
	var replayed bytes.Buffer
	replayed.ReadFrom(s.Replay)
	if replayed.String() != text {
		t.Errorf("replayed %q", replayed.String())
	}
}

// The delimiter of CSV text is what the header has most of, outside quotes.
func TestDelimiter(t *testing.T) {
	for header, want := range map[string][]string{
		"y,a":               {"y", "a"},
		`"y"|"a,b"|c`:       {"y", "a,b", "c"},
		"y;a,b;c":           {"y", "a,b", "c"},
		"y\ta\tb, and c":    {"y", "a", "b, and c"},
		"y":                 {"y"},
		`y,"a;b;c;d;e",f`:   {"y", "a;b;c;d;e", "f"},
		`"say ""x,y""";a;b`: {`say "x,y"`, "a", "b"},
	} {
		s, err := ReadSample(context.Background(), []string{"-"}, strings.NewReader(header+"\n"), FormatCSV, "y", false)
		if err != nil || !slices.Equal(s.Columns, want) {
			t.Errorf("%s: %q, %v", header, s.Columns, err)
		}
	}
}

// Two labels that are no 0 and 1 are told apart as in a fit, from as few rows as
// that takes where no types are wanted.
func TestSampleClasses(t *testing.T) {
	for _, c := range []struct{ labels, negative, positive string }{
		{"1 0 2", "", ""},
		{"0 2", "", ""},
		{"-1 +1", "", ""},
		{"true false", "", ""},
		{"yes no maybe", "", ""},
		{"Yes NO yes", "", ""},
		{"1 yes 2", "1", "2"},
		{"good NA bad", "bad", "good"},
		{"y n", "n", "y"},
		{"t y", "t", "y"},
		{"B a", "a", "B"},
		{"1 1.0 2", "1", "2"},
		{"10 9", "9", "10"},
		{"1 1", "", ""},
		{"1 yes", "", ""},
	} {
		for _, types := range []bool{false, true} {
			text := "x;y\n0;" + strings.ReplaceAll(c.labels, " ", "\n0;") + "\n"
			s, err := ReadSample(context.Background(), []string{"-"}, strings.NewReader(text), FormatCSV, "y", types)
			if err != nil || s.Negative != c.negative || s.Positive != c.positive {
				t.Errorf("%s: %q and %q, %v", c.labels, s.Negative, s.Positive, err)
			}
		}
	}
	endless := io.MultiReader(strings.NewReader("y,x\nbad,1\ngood,2\n"), blocked{t})
	if s, err := ReadSample(context.Background(), []string{"-"}, endless, FormatCSV, "y", false); err != nil || s.Positive != "good" {
		t.Errorf("%+v, %v", s, err)
	}
}

// blocked is what nobody may read.
type blocked struct{ t *testing.T }

func (b blocked) Read([]byte) (int, error) {
	b.t.Error("read on")
	return 0, io.EOF
}

func TestLabelClasses(t *testing.T) {
	for _, c := range []struct {
		labels Labels
		text   string
		want   float64
	}{
		{Labels{Positive: "2"}, "2.0", 1},
		{Labels{Positive: "2"}, "two", 0},
		{Labels{Positive: "yes", Negative: "no"}, "no", 0},
		{Labels{Positive: "2", Negative: "1"}, "1.0", 0},
		{Labels{Positive: "yes", Negative: "no"}, "maybe", math.NaN()},
		{Labels{Positive: "Yes"}, "yes", 1},
		{Labels{Positive: "y"}, "t", 0},
		{Labels{}, "TRUE", 1},
		{Labels{}, "No", 0},
		{Labels{}, "1e0", 1},
		{Labels{}, "y", math.NaN()},
		{Labels{}, "NA", math.NaN()},
	} {
		got, err := c.labels.read([]byte(c.text))
		if (err != nil) != math.IsNaN(c.want) || err == nil && got != c.want {
			t.Errorf("%+v: %s is %v, %v", c.labels, c.text, got, err)
		}
	}
}

func TestPlanRefusals(t *testing.T) {
	for _, p := range []Plan{
		{Format: "xml", All: true},
		{Format: FormatCSV},
		{Format: FormatCSV, All: true, Bits: 64},
		{Format: FormatLibSVM, Terms: []Term{{Columns: []string{"a"}}}},
		{Format: FormatVW, All: true, Weight: "w"},
		{Format: FormatCSV, Terms: []Term{{Columns: []string{"a"}, Transforms: []string{"sin"}}}},
		{Format: FormatCSV, Terms: []Term{{Columns: []string{"a", "b"}, Transforms: []string{"log"}}}},
		{Format: FormatCSV, Terms: []Term{{Columns: []string{"a", "b", "c", "d", "e"}}}},
	} {
		if p.Validate() == nil {
			t.Errorf("%+v is accepted", p)
		}
	}
}

// A quote that is never closed is refused at a bounded cost.
func TestOpenQuoteIsBounded(t *testing.T) {
	lines := []string{"y,a", "1,\"x"}
	for range 5000 {
		lines = append(lines, `"" 5" ,`)
	}
	if _, err := named(t, &Plan{Format: FormatCSV, Target: "y", All: true}, lines...); err == nil {
		t.Error("accepted")
	}
}

func FuzzVW(f *testing.F) {
	f.Add("1 2 'tag|f:2 a b:3 |g c")
	f.Fuzz(func(t *testing.T, line string) {
		for _, p := range []*Plan{
			{Format: FormatVW, All: true},
			{Format: FormatVW, All: true, Terms: []Term{{Columns: []string{"f", "g"}, Bits: 10}}},
		} {
			parser, _ := p.NewParser(false, true)
			checkParser(t, parser, line)
		}
	})
}

func FuzzCSV(f *testing.F) {
	f.Add(`1,"a ""b""",3.5`)
	f.Add("0, x ,\"")
	f.Fuzz(func(t *testing.T, line string) {
		p := &Plan{Format: FormatCSV, Target: "y", All: true, Numbers: []string{"n"}, Terms: []Term{{Columns: []string{"c", "n"}, Bits: 4}}}
		parser, _ := p.NewParser(true, true)
		if err := parser.(Headed).Header([]byte("y,c,n")); err != nil {
			t.Fatal(err)
		}
		parser.(MultiLine).Open([]byte(line))
		checkParser(t, parser, line)
	})
}

// Any bytes as a whole file: reading ends, with rows or an error.
func FuzzReader(f *testing.F) {
	f.Add([]byte("1 1:1\n0 2:1\n"), byte(0))
	f.Add([]byte("y,c\n1,\"x\ny\"\n"), byte(2))
	f.Add([]byte("\x1f\x8b\x08\x00"), byte(1))
	f.Add([]byte("\x28\xb5\x2f\xfd\x00"), byte(1))
	formats := []Format{FormatLibSVM, FormatVW, FormatCSV, FormatTSV}
	f.Fuzz(func(t *testing.T, data []byte, format byte) {
		p := &Plan{Format: formats[int(format)%len(formats)], Target: "y", All: true}
		parser, err := p.NewParser(false, true)
		if err != nil {
			t.Fatal(err)
		}
		r := Open(context.Background(), Config{Paths: []string{"-"}, Stdin: bytes.NewReader(data), Parser: parser, Index: &Index{}, Names: &Names{}, MaxMalformed: 5, Step: 3})
		defer r.Close()
		rows := 0
		for b := r.Next(); b != nil; b = r.Next() {
			if rows += b.Rows(); b.End.Rows != int64(rows) {
				t.Fatalf("%d rows, the position says %d", rows, b.End.Rows)
			}
			r.Recycle(b)
		}
	})
}

func TestKeep(t *testing.T) {
	index, names := &Index{}, &Names{}
	for i, key := range []uint64{5, 1 << 50, 7, 1 << 60} {
		index.Add(key)
		names.append([]byte(strings.Repeat("n", i)))
	}
	index.Keep([]int32{1, 2})
	names.Keep([]int32{1, 2})
	if index.Len() != 2 || index.Find(5) != -1 || index.Find(1<<50) != 0 || index.Find(7) != 1 || index.Add(5) != 2 {
		t.Error("the index kept something else")
	}
	if names.Len() != 2 || names.Name(0) != "n" || names.Name(1) != "nn" {
		t.Error("the names kept something else")
	}
}
