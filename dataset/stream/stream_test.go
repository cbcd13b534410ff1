package stream

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestDigitsAgainstStrconv(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 100000 {
		count := rng.IntN(9)
		text := make([]byte, 0, 16)
		for range count {
			text = append(text, '0'+byte(rng.IntN(10)))
		}
		for len(text) < 8 {
			text = append(text, byte(rng.IntN(256)))
			if c := text[len(text)-1]; c >= '0' && c <= '9' {
				text[len(text)-1] = c + 10
			}
		}
		value, got := digits(text)
		want := 0
		if count > 0 {
			want, _ = strconv.Atoi(string(text[:count]))
		}
		if got != count || value != uint64(want) {
			t.Fatalf("%q reads %d (%d digits), want %d (%d)", text, value, got, want, count)
		}
	}
}

func TestNumberAgainstStrconv(t *testing.T) {
	texts := []string{"0", "-0", "1", "+2.5", ".5", "5.", "-.25", "1e3", "1E-3", "123456789012345", "1234567890123456789", "0.1", "2.2250738585072014e-308",
		"1e400", "", "-", ".", "e5", "1e", "0x10", "1_000", "inf", "nan", "1.2.3", "--1", "1 ", "9007199254740993"}
	rng := rand.New(rand.NewPCG(2, 2))
	for range 20000 {
		texts = append(texts, strconv.FormatFloat(math.Float64frombits(rng.Uint64()), 'g', -1, 64), strconv.FormatFloat(rng.NormFloat64(), 'f', rng.IntN(12), 64))
	}
	for _, text := range texts {
		got, ok := number([]byte(text))
		want, err := strconv.ParseFloat(text, 64)
		wantOK := err == nil && !math.IsInf(want, 0) && !math.IsNaN(want) && !strings.ContainsAny(text, "xX_")
		if ok != wantOK || ok && math.Float64bits(got) != math.Float64bits(want) {
			t.Errorf("%q reads %v %v, want %v %v", text, got, ok, want, wantOK)
		}
	}
}

func TestIndexAgainstMap(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	x, want := &Index{}, map[uint64]int{}
	var order []uint64
	for range 200000 {
		var key uint64
		switch rng.IntN(3) {
		case 0:
			key = rng.Uint64N(5000)
		case 1:
			key = directKeys - 50 + rng.Uint64N(100)
		default:
			key = rng.Uint64() >> rng.IntN(40)
		}
		if _, known := want[key]; !known {
			if got := x.Find(key); got != -1 {
				t.Fatalf("unknown key %d is found at %d", key, got)
			}
			want[key] = len(want)
			order = append(order, key)
		}
		if got := x.Add(key); got != want[key] {
			t.Fatalf("key %d has slot %d, want %d", key, got, want[key])
		}
		if got := x.Find(key); got != want[key] {
			t.Fatalf("key %d is found at %d, want %d", key, got, want[key])
		}
	}
	if x.Len() != len(order) {
		t.Fatalf("%d features, want %d", x.Len(), len(order))
	}
	for i, key := range x.Keys(len(order)) {
		if key != order[i] || x.Key(i) != key {
			t.Fatalf("slot %d has key %d, want %d", i, key, order[i])
		}
	}
	again, err := IndexOf(order)
	if err != nil || again.Len() != x.Len() {
		t.Fatalf("the index of its keys: %v", err)
	}
	if _, err := IndexOf([]uint64{1, 2, 1}); err == nil {
		t.Error("a repeated key is accepted")
	}
}

// rowText is a row for tests: "label | key:value … [weight offset]".
func rowText(r *Rows, i int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%g |", r.Target[i])
	for k := r.Start[i]; k < r.Start[i+1]; k++ {
		fmt.Fprintf(&b, " %d:%g", r.Keys[k], r.Value[k])
	}
	if r.Weight[i] != 1 || r.Offset[i] != 0 {
		fmt.Fprintf(&b, " [%g %g]", r.Weight[i], r.Offset[i])
	}
	return b.String()
}

func TestLibSVM(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"1 1:1 2:1 300000:1", "1 | 1:1 2:1 300000:1"},
		{"-1 3:0.5 7:-2e3 # a comment 9:9", "0 | 3:0.5 7:-2000"},
		{"+1", "1 |"},
		{"0 0:1", "0 | 0:1"},
		{"1.0 5:1\r", "1 | 5:1"},
		{"true 5:1 6:0", "1 | 5:1"},
		{" \t1  5:1   8:1  ", "1 | 5:1 8:1"},
		{"1 qid:12 3:1", "1 | 3:1"},
		{"1 123456789012:1", "1 | 123456789012:1"},
		{"1 12345678:1 12345679:1", "1 | 12345678:1 12345679:1"},
		{"1 9:1 3:2 9:1", "1 | 9:2 3:2"},
		{"0 0:1 0:01", "0 | 0:2"},
		{"1 3:10 4:1", "1 | 3:10 4:1"},
		{"", ""}, {"# only a comment", ""}, {"\r", ""}, {"  ", ""},
		{"2 1:1", "label \"2\" is not 1, 0 or -1"},
		{"1 1:a", "feature 1: \"a\" is not a number"},
		{"1 a:1", "\"a:1\" is not index:value"},
		{"1 5", "\"5\" is not index:value"},
		{"1 5:", "feature 5: \"\" is not a number"},
		{"1 :5", "\":5\" is not index:value"},
		{"1 -5:1", "\"-5:1\" is not index:value"},
		{"1 99999999999999999999:1", "a feature index above 2⁵³"},
		{"1 1:1e308 2:1 1:1e308", "add up to infinity"},
		{"1 1:inf", "\"inf\" is not a number"},
	} {
		for _, spare := range []int{0, 100} { // with and without room behind the line
			var rows Rows
			rows.Reset()
			p := &LibSVM{}
			line := append(make([]byte, 0, len(c.line)+spare), c.line...)
			line = append(line, strings.Repeat("7", spare)...)[:len(c.line)]
			if spare == 0 {
				line = line[:len(line):len(line)]
			}
			err := p.Parse(&rows, line)
			got := ""
			switch {
			case err != nil:
				got = err.Error()
				if !strings.Contains(got, c.want) || c.want == "" {
					t.Errorf("%q: refusal reads %q, want %q", c.line, got, c.want)
				}
				if rows.Len() != 0 || len(rows.Keys) != 0 {
					t.Errorf("%q: a refused row left entries", c.line)
				}
				continue
			case rows.Len() > 0:
				got = rowText(&rows, 0)
			}
			if got != c.want {
				t.Errorf("%q reads %q, want %q", c.line, got, c.want)
			}
		}
	}
}

// write makes a file of lines.
func write(t testing.TB, lines ...string) string {
	path := filepath.Join(t.TempDir(), "rows.txt")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// drain reads everything: the rows as text, with slots turned back into keys.
func drain(t testing.TB, cfg Config) (rows []string, last Position, err error) {
	r := Open(context.Background(), cfg)
	defer r.Close()
	for b := r.Next(); b != nil; b = r.Next() {
		for i := range b.Rows() {
			columns, values := b.Sparse.Row(i)
			var s strings.Builder
			fmt.Fprintf(&s, "%g |", b.Target[i])
			for k, slot := range columns {
				v := 1.0
				if values != nil {
					v = values[k]
				}
				fmt.Fprintf(&s, " %d:%g", cfg.Index.Key(int(slot)), v)
			}
			rows = append(rows, s.String())
		}
		last, err = b.End, b.Err
		r.Recycle(b)
	}
	return rows, last, err
}

func TestReaderPositions(t *testing.T) {
	var lines []string
	for i := range 1000 {
		lines = append(lines, fmt.Sprintf("%d %d:1 %d:1", i%2, i%37+1, i+100))
	}
	first, second := write(t, lines[:300]...), write(t, append(lines[300:], "")...)
	cfg := Config{Paths: []string{first, second}, Parser: &LibSVM{}, Index: &Index{}, Step: 64}
	all, end, err := drain(t, cfg)
	if err != nil || len(all) != 1000 || end.Rows != 1000 || end.File != 1 {
		t.Fatalf("%d rows, end %+v, %v", len(all), end, err)
	}
	// From the end of any batch the rest is the same.
	cfg.Index = &Index{}
	var ends []Position
	r := Open(context.Background(), cfg)
	for b := r.Next(); b != nil; b = r.Next() {
		if b.Rows() != 64 && b.End.Rows != 1000 {
			t.Errorf("a batch of %d rows ends at row %d", b.Rows(), b.End.Rows)
		}
		ends = append(ends, b.End)
		r.Recycle(b)
	}
	r.Close()
	for _, position := range ends {
		cfg.Start, cfg.Index = position, &Index{}
		rest, _, err := drain(t, cfg)
		if err != nil || strings.Join(rest, "\n") != strings.Join(all[position.Rows:], "\n") {
			t.Fatalf("from %+v: %d rows, %v", position, len(rest), err)
		}
	}
	// Standard input is read over to the same place.
	input := strings.NewReader(strings.Join(lines, "\n"))
	rest, _, err := drain(t, Config{Paths: []string{"-"}, Stdin: input, Parser: &LibSVM{}, Index: &Index{}, Start: Position{Offset: int64(len(strings.Join(lines[:10], "\n")) + 1), Rows: 10}})
	if err != nil || strings.Join(rest, "\n") != strings.Join(all[10:], "\n") {
		t.Fatalf("standard input: %d rows, %v", len(rest), err)
	}
	if _, _, err := drain(t, Config{Paths: []string{"-"}, Stdin: strings.NewReader("1 1:1\n"), Parser: &LibSVM{}, Index: &Index{}, Start: Position{Offset: 1000}}); err == nil || !strings.Contains(err.Error(), "resume with the same data") {
		t.Errorf("a shorter input: %v", err)
	}
}

func TestMalformedRows(t *testing.T) {
	path := write(t, "1 1:1", "0 2:x", "0 2:1", "1 3", "1 3:1")
	rows, end, err := drain(t, Config{Paths: []string{path}, Parser: &LibSVM{}, Index: &Index{}})
	if len(rows) != 1 || err == nil || !strings.HasPrefix(err.Error(), path+":2: ") || end.Rows != 1 {
		t.Errorf("%d rows, end %+v, %v", len(rows), end, err)
	}
	var told []string
	rows, end, err = drain(t, Config{Paths: []string{path}, Parser: &LibSVM{}, Index: &Index{}, MaxMalformed: 2, OnMalformed: func(err error) { told = append(told, err.Error()) }})
	if len(rows) != 3 || err != nil || end.Malformed != 2 || len(told) != 2 || !strings.HasPrefix(told[1], path+":4: ") {
		t.Errorf("%d rows, end %+v, told %q, %v", len(rows), end, told, err)
	}
}

func TestFrozenIndexCountsUnknown(t *testing.T) {
	path := write(t, "1 1:1 9:1", "0 2:1 8:1 7:1")
	index, _ := IndexOf([]uint64{1, 2})
	r := Open(context.Background(), Config{Paths: []string{path}, Parser: &LibSVM{}, Index: index, Frozen: true})
	defer r.Close()
	b := r.Next()
	if b.Unknown != 3 || index.Len() != 2 || fmt.Sprint(b.Sparse.Index) != "[0 2 1 2 2]" || b.Sparse.Cols != 3 {
		t.Errorf("unknown %d, columns %v of %d", b.Unknown, b.Sparse.Index, b.Sparse.Cols)
	}
	r.Recycle(b)
}

// Steady-state reading allocates nothing a row.
func TestNoAllocationPerRow(t *testing.T) {
	var rows Rows
	rows.Reset()
	p, index := &LibSVM{}, &Index{}
	line := []byte("1 3:1 50:0.25 700:1 80000:1.5e-3 123456789:1\n        ")[:44]
	parse := func() {
		rows.Reset()
		for range 100 {
			if err := p.Parse(&rows, line); err != nil {
				t.Fatal(err)
			}
		}
		for _, key := range rows.Keys {
			index.Add(key)
		}
	}
	parse()
	if n := testing.AllocsPerRun(100, parse); n > 0 {
		t.Errorf("%v allocations for 100 rows", n)
	}
}

// A pipe without data does not keep a reader from ending.
func TestEndWhileWaitingForInput(t *testing.T) {
	in, out := io.Pipe()
	defer out.Close()
	ctx, cancel := context.WithCancel(context.Background())
	r := Open(ctx, Config{Paths: []string{"-"}, Stdin: in, Parser: &LibSVM{}, Index: &Index{}, Step: 1})
	out.Write([]byte("1 1:1\n0 2:1\n"))
	r.Recycle(r.Next())
	time.AfterFunc(20*time.Millisecond, cancel)
	for b := r.Next(); b != nil; b = r.Next() {
		r.Recycle(b)
	}
	r.Close()
}

func FuzzLibSVM(f *testing.F) {
	f.Add("1 1:1 2:1")
	f.Add("-1 qid:3 5:1e5 # x")
	f.Add("+1 99999999:1 3:1 3:-1")
	f.Fuzz(func(t *testing.T, line string) { checkParser(t, &LibSVM{}, line) })
}

// checkParser checks what every parser promises of any row.
func checkParser(t *testing.T, p Parser, line string) {
	var rows Rows
	rows.Reset()
	err := p.Parse(&rows, []byte(line))
	if err != nil && (rows.Len() != 0 || len(rows.Keys) != 0 || len(rows.Value) != 0) {
		t.Fatalf("%q: a refused row left entries", line)
	}
	if len(rows.Keys) > len(line)*len(line)+1 {
		t.Fatalf("%q: %d entries", line, len(rows.Keys))
	}
	for i := range rows.Len() {
		seen := map[uint64]bool{}
		for k := rows.Start[i]; k < rows.Start[i+1]; k++ {
			if seen[rows.Keys[k]] || math.IsNaN(rows.Value[k]) || math.IsInf(rows.Value[k], 0) {
				t.Fatalf("%q: key %d repeated, or value %v", line, rows.Keys[k], rows.Value[k])
			}
			seen[rows.Keys[k]] = true
		}
		if y := rows.Target[i]; y != 0 && y != 1 && !math.IsNaN(y) {
			t.Fatalf("%q: label %v", line, y)
		}
		if w := rows.Weight[i]; !(w >= 0) || math.IsInf(w, 0) || math.IsNaN(rows.Offset[i]) || math.IsInf(rows.Offset[i], 0) {
			t.Fatalf("%q: weight %v, offset %v", line, w, rows.Offset[i])
		}
	}
}
