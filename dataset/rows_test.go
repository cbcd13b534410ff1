package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/must"
)

// told is what Rows tells of one row, or of one malformed row.
type told struct {
	text     string
	position credence.Position // behind it; of a malformed row only counts are known
	fault    bool
}

// tellRow describes row i of a run: values by name, categories by text, entries.
func tellRow(r *Run, i int) string {
	var b strings.Builder
	for j, c := range r.Columns {
		v := r.Row(i)[j]
		switch {
		case v != v && c.Unknown:
			fmt.Fprintf(&b, "%s unknown, ", c.Name)
		case v != v:
			fmt.Fprintf(&b, "%s is no %v, ", c.Name, c.Kind)
		case c.Kind == credence.Category:
			fmt.Fprintf(&b, "%s=%q, ", c.Name, r.TextOf(j, v))
		default:
			fmt.Fprintf(&b, "%s=%v, ", c.Name, v)
		}
	}
	if len(r.Start) > 0 {
		for k := r.Start[i]; k < r.Start[i+1]; k++ {
			v := 1.0
			if !r.Ones {
				v = r.Value[k]
			}
			fmt.Fprintf(&b, "%d:%v ", r.Keys[k], v)
			if len(r.Tokens) > 0 {
				fmt.Fprintf(&b, "%s^%s ", r.Spaces.List[r.Space[k]].Text, r.Token(k))
			}
		}
	}
	fmt.Fprintf(&b, "line %d", r.Line(i))
	return b.String()
}

// tell reads rows from a place on.
func tell(t testing.TB, options Options, start credence.Position, columns []string, paths ...string) (rows []told, end credence.Position, err error) {
	t.Helper()
	if options.CacheDir == "" {
		options.CacheDir = t.TempDir()
	}
	options.SkipMalformed = true
	table, err := Open(t.Context(), paths, options)
	if err != nil {
		return nil, end, err
	}
	defer table.Close()
	err = table.Rows(t.Context(), columns, start, func(r *Run) error {
		next := 0
		faults := func(i int) {
			for ; next < len(r.Faults) && r.Faults[next].Row == i; next++ {
				rows = append(rows, told{text: r.Faults[next].Err.Error(), fault: true})
			}
		}
		for i := range r.Count {
			faults(i)
			n := r.begin.Rows + int64(i) // of many rows some tell their file, which takes its time
			rows = append(rows, told{text: tellRow(r, i), position: r.after(i, n < 200 || n%64 == 0)})
		}
		faults(r.Count)
		end = r.Finish()
		return nil
	})
	return rows, end, err
}

// slowly hands out a text in small pieces, with pauses that make it idle.
type slowly struct {
	text   string
	rng    *rand.Rand
	pauses int
}

func (s *slowly) Read(p []byte) (int, error) {
	if s.text == "" {
		return 0, io.EOF
	}
	if s.pauses > 0 && s.rng.IntN(4) == 0 {
		s.pauses--
		time.Sleep(idleTime + 10*time.Millisecond)
	}
	n := copy(p[:min(len(p), 1+s.rng.IntN(len(s.text)/6+60))], s.text)
	s.text = s.text[n:]
	return n, nil
}

// rowTexts are files with malformed rows, quoted line breaks, empty lines, a column
// that has its first value behind the sample, and rows that run over many blocks.
func rowTexts(rows int) map[string]string {
	rng := rand.New(rand.NewPCG(3, 4))
	var csv, svm, vw strings.Builder
	csv.WriteString("x,city,late,word,empty\n")
	for i := range rows {
		late, word := "", ""
		if i > sampleRows+rows/20 && rng.IntN(3) > 0 {
			late = fmt.Sprint(i % 7)
			word = fmt.Sprintf("w%d", i%5)
			if i%997 == 0 {
				late = "seven"
			}
		}
		city := fmt.Sprintf("city %d", rng.IntN(i/50+2))
		switch rng.IntN(60) {
		case 0:
			city = "\"quoted,\n" + city + "\""
		case 1:
			csv.WriteString("\n")
		case 2:
			csv.WriteString("1,2\n")
			svm.WriteString("# a comment\n1 a:b\n")
			vw.WriteString("no bar\n")
		case 3:
			csv.WriteString("x1,a,,,\n")
			svm.WriteString("\n")
		}
		fmt.Fprintf(&csv, "%d.5,%s,%s,%s,\n", i, city, late, word)
		fmt.Fprintf(&svm, "%d %d:1 %d:0.5\n", i%2, 1+rng.IntN(30), 20+rng.IntN(30))
		fmt.Fprintf(&vw, "%d %d|a u%d v:%d |b w%d\n", i%2, 1+i%3, rng.IntN(20), i%4, rng.IntN(9))
	}
	return map[string]string{"t.csv": csv.String(), "t.svm": svm.String(), "t.vw": vw.String()}
}

// Rows tells the same of a file, however it comes: plain, compressed, through a pipe
// in pieces, by any number of threads; and the same from any place on.
func TestRowsAreToldAlike(t *testing.T) {
	t.Parallel()
	for name, content := range rowTexts(11_500) {
		path := write(t, name, content)
		want, end, err := tell(t, Options{Threads: 1}, credence.Position{}, nil, path)
		if err != nil {
			t.Fatal(err)
		}
		faults := 0
		for _, row := range want {
			if row.fault {
				faults++
			}
		}
		if faults < 100 || end.Rows != int64(len(want)-faults) || end.Malformed != int64(faults) || end.Offset != int64(len(content)) || end.Files != 0 ||
			end.Line != strings.Count(content, "\n") {
			t.Fatalf("%s: %d rows and %d malformed ones end at %+v of %d bytes", name, len(want), faults, end, len(content))
		}
		packed := packed(t, name+".gz", content)
		names := strings.NewReplacer(stdinName, path, packed, path)
		same := func(what string, got, want []told) {
			t.Helper()
			for i := range min(len(got), len(want)) {
				g, w := got[i], want[i]
				if g != w { // or is of another file, which has another name
					g.text = names.Replace(g.text)
				}
				if g != w {
					t.Fatalf("%s: row %d is\n%+v, want\n%+v", what, i, g, w)
				}
			}
			if len(got) != len(want) {
				t.Fatalf("%s: %d rows, want %d", what, len(got), len(want))
			}
		}
		got, _, err := tell(t, Options{Threads: 3}, credence.Position{}, nil, path)
		if err != nil {
			t.Fatal(err)
		}
		same(name+" by three threads", got, want)
		got, gzEnd, err := tell(t, Options{}, credence.Position{}, nil, packed)
		if err != nil || gzEnd.Offset != end.Offset {
			t.Fatal(gzEnd, err)
		}
		same(name+" compressed", got, want)
		for _, once := range []bool{true, false} {
			rng := rand.New(rand.NewPCG(7, 8))
			got, _, err = tell(t, Options{Once: once, Stdin: &slowly{content, rng, 5}}, credence.Position{}, nil, "-")
			if err != nil {
				t.Fatal(err)
			}
			same(name+" through a pipe", got, want)
		}
		rng, places := rand.New(rand.NewPCG(5, 6)), 3
		if testing.Short() {
			places = 1
		}
		for range places {
			i := rng.IntN(len(want))
			for want[i].position.Beginning == "" {
				i--
			}
			rest := slices.Clone(want[i+1:])
			got, restEnd, err := tell(t, Options{}, want[i].position, nil, path)
			if err != nil {
				t.Fatal(err)
			}
			if name == "t.csv" && rng.IntN(2) == 0 { // kinds that were known are stated
				continue
			}
			for k := range got { // a kind that was known is found out again from what follows
				if strings.Contains(got[k].text, "unknown") || strings.Contains(rest[k].text, "is no") {
					got[k].text, rest[k].text = "", ""
				}
			}
			same(fmt.Sprintf("%s from row %d", name, i), got, rest)
			if restEnd != end {
				t.Errorf("%s: the end is %+v, want %+v", name, restEnd, end)
			}
			for _, again := range []string{packed, "-"} {
				got, restEnd, err = tell(t, Options{Once: true, Stdin: strings.NewReader(content)}, want[i].position, nil, again)
				if err != nil || len(got) != len(rest) || restEnd != end {
					t.Errorf("%s: %d rows of %s from row %d to %+v, want %d, %v", name, len(got), again, i, restEnd, len(rest), err)
				}
			}
		}
	}
}

// What Load keeps and what Rows tells is the same.
func TestRowsEqualLoad(t *testing.T) {
	path := write(t, "t.csv", randomCSV(rand.New(rand.NewPCG(7, 8)), 20_000))
	columns := []string{"city", "x", "flag", credence.TextOf("k")}
	source, _, err := load(t, Options{}, columns, path)
	if err != nil {
		t.Fatal(err)
	}
	want := rowsOf(t, source, 4096)
	rows, _, err := tell(t, Options{}, credence.Position{}, columns, path)
	if err != nil || len(rows) != len(want) {
		t.Fatalf("%d rows, want %d, %v", len(rows), len(want), err)
	}
	described := source.Schema().Columns
	for i, row := range want {
		text := ""
		for j, v := range row {
			switch {
			case v != v:
				text += fmt.Sprintf("%s is no %v, ", described[j].Name, described[j].Kind)
			case described[j].Kind == credence.Category:
				text += fmt.Sprintf("%s=%q, ", described[j].Name, described[j].Levels[int(v)])
			default:
				text += fmt.Sprintf("%s=%v, ", described[j].Name, v)
			}
		}
		if !strings.HasPrefix(rows[i].text, text) {
			t.Fatalf("row %d is %s, want %s", i, rows[i].text, text)
		}
	}
}

// A place is known by the bytes before it, whatever the name of the file: what is behind it may change, and nothing
// before it.
func TestPlacesOfOtherFiles(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("some more text ", 100)
	long := func(rows int) string { // of rows that are all of one length
		var b strings.Builder
		for i := range rows {
			fmt.Fprintf(&b, "%06d,%s\n", i, text)
		}
		return b.String()
	}
	row := len("000000,\n") + len(text)
	content := "x,c\n" + long(200)
	first := "x,c\n1,a\n2,b\n"
	behind := 150 // rows of the second file
	offset := len("x,c\n") + behind*row
	changed := func(at int) string { return content[:at] + "7" + content[at+1:] }
	for _, c := range []struct {
		what, now string
		want      string // what a refusal says
	}{
		{"as it was", content, ""},
		{"grown", content + long(10), ""},
		{"cut off behind the place", content[:offset+row], ""},
		{"changed just behind the place", changed(offset), ""},
		{"changed in its first row", changed(4), "begins otherwise than the file that was read in its place"},
		{"changed in its first 64 KB", changed(knownBytes - 1), "begins otherwise"},
		{"changed just before the place", changed(offset - 5), "differs before line 152 from what was read"},
		{"changed 64 KB before the place", changed(offset - knownBytes), "differs before line 152"},
		{"cut off before the place", content[:offset-row], fmt.Sprintf("has %d bytes, fewer than the %d that were read before", offset-row, offset)},
	} {
		a, b := write(t, "a.csv", first), write(t, "b.csv", content)
		rows, _, err := tell(t, Options{}, credence.Position{}, nil, a, b)
		if err != nil {
			t.Fatal(err)
		}
		at := rows[2+behind-1].position
		if at.Offset != int64(offset) || at.Files != 1 {
			t.Fatalf("the place is %+v, not at %d", at, offset)
		}
		renamed, marked, zipped := write(t, "other.csv", c.now), write(t, "marked.csv", "\ufeff"+c.now), packed(t, "b.csv.gz", c.now)
		for _, way := range []struct {
			options Options
			paths   []string
		}{
			{Options{}, []string{a, renamed}}, {Options{}, []string{renamed}}, {Options{}, []string{a, marked}}, {Options{Once: true}, []string{a, zipped}},
			{Options{Once: true, Stdin: strings.NewReader(c.now)}, []string{a, "-"}}, {Options{Stdin: strings.NewReader(c.now)}, []string{a, "-"}},
		} {
			rest, end, err := tell(t, way.options, at, nil, way.paths...)
			if c.want != "" {
				// The beginning of a pipe is met as it is read, and a file that is named alone is searched for by its
				// beginning.
				if err == nil || !strings.Contains(err.Error(), c.want) && !strings.Contains(err.Error(), "differs before line 152") && !strings.Contains(err.Error(), "is not among the files now") {
					t.Errorf("%s, %v: %v", c.what, way.paths, err)
				}
				continue
			}
			want, _, err2 := tell(t, Options{}, credence.Position{}, nil, a, renamed)
			if err != nil || err2 != nil || len(rest) != len(want)-2-behind || rest[0].text[:20] != want[2+behind].text[:20] || end.Rows != int64(len(want)) {
				t.Errorf("%s, %v: %d rows of %d, to %+v, %v, %v", c.what, way.paths, len(rest), len(want), end, err, err2)
			}
		}
		for _, other := range []struct {
			want  string // what a refusal says
			paths []string
		}{
			{"a.csv: was read before " + renamed + ", where reading goes on, and would be read again: name the files in the order", []string{renamed, a}},
			{"new.csv: was not read, and stands before " + renamed + ", where reading goes on", []string{a, write(t, "new.csv", "x,c\n7,a\n"), renamed}},
		} {
			if _, _, err := tell(t, Options{}, at, nil, other.paths...); c.want == "" && (err == nil || !strings.Contains(err.Error(), other.want)) {
				t.Errorf("%s, %v: %v", c.what, other.paths, err)
			}
		}
		rest, end, err := tell(t, Options{}, at, nil, renamed, write(t, "new.csv", "x,c\n7,a\n"))
		if c.want == "" && (err != nil || len(rest) == 0 || !strings.Contains(rest[len(rest)-1].text, "7") || end.Files != 1 || len(end.Read) != shortDigest) {
			t.Errorf("%s, before a new file: %+v, %v", c.what, end, err)
		}
		if _, _, err := tell(t, Options{}, at, nil, a); err == nil || !strings.Contains(err.Error(), "the file that was being read, number 2, is not among the files now: name the same files") {
			t.Errorf("a file that is gone: %v", err)
		}
	}
}

// A place in a Parquet file is known by what is before the end of its row group.
func TestPlacesInParquet(t *testing.T) {
	type row struct {
		X float64 `parquet:"x"`
	}
	of := func(rows, changed int) string {
		all := make([]row, rows)
		for i := range all {
			all[i].X = float64(i)
		}
		all[changed].X = 0.5
		return writeParquet(t, all, parquet.MaxRowsPerRowGroup(10_000))
	}
	rows, _, err := tell(t, Options{}, credence.Position{}, nil, of(30_000, 25_000))
	if err != nil {
		t.Fatal(err)
	}
	for changed, want := range map[int]string{25_000: "", 20_000: "", 19_999: "begins otherwise", 0: "begins otherwise"} {
		rest, end, err := tell(t, Options{}, rows[14_976].position, nil, of(40_000, changed))
		if want == "" && (err != nil || len(rest) != 25_023 || end.Rows != 40_000) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("row %d is another: %d rows to %+v, %v", changed, len(rest), end, err)
		}
	}
	if _, _, err := tell(t, Options{}, rows[14_976].position, nil, of(9000, 8999)); err == nil || !strings.Contains(err.Error(), "begins otherwise") {
		t.Errorf("a shorter file: %v", err)
	}
}

// A Parquet file is not followed, since such files do not grow.
func TestFollowRefusesParquet(t *testing.T) {
	path := writeParquet(t, []struct{ X float64 }{{1}, {2}})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	table, err := Open(ctx, []string{path}, Options{Follow: true})
	if err == nil {
		table.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "Parquet files do not grow: leave --follow out") {
		t.Errorf("a followed Parquet file: %v", err)
	}
}

// A followed file gives its rows soon after they are written, whole lines only.
func TestFollow(t *testing.T) {
	t.Parallel()
	for _, seen := range []string{"x,c\n1,a\n", "", "x,c\n"} { // what is there when it begins
		path := write(t, "t.csv", seen)
		file := must.Value(os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0))(t)
		defer file.Close()
		ctx, cancel := context.WithCancel(t.Context())
		rows, ended := make(chan string), make(chan error)
		go func() {
			table, err := Open(ctx, []string{path}, Options{Follow: true, Format: "csv"})
			if err == nil {
				defer table.Close()
				err = table.Rows(ctx, nil, credence.Position{}, func(r *Run) error {
					for i := range r.Count {
						rows <- tellRow(r, i)
					}
					return nil
				})
			}
			ended <- err
		}()
		time.Sleep(100 * time.Millisecond)
		if seen != "x,c\n1,a\n" {
			file.WriteString(strings.TrimPrefix("x,c\n1,a\n", seen))
		}
		for i := 1; i < 4; i++ {
			var row string
			begun := time.Now()
			select {
			case row = <-rows:
			case err := <-ended:
				t.Fatal(err)
			case <-time.After(10 * time.Second):
				t.Fatal("no row comes")
			}
			if want := fmt.Sprintf("x=%d, c=%q, ", i, "a"); !strings.HasPrefix(row, want) {
				t.Errorf("row %d is %s, want %s", i, row, want)
			}
			if late := time.Since(begun); i > 1 && late > time.Second { // a tenth of one on a quiet machine
				t.Errorf("row %d came after %v", i, late)
			}
			fmt.Fprintf(file, "%d,", i+1)
			select {
			case row := <-rows:
				t.Errorf("a part of a line is a row: %s", row)
			case <-time.After(120 * time.Millisecond):
			}
			file.WriteString("a\n")
		}
		<-rows
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("it ends with %v", err)
		}
	}
}

// A followed file is read from the place where reading goes on, in passes that say the same of it as those of a file
// that is not followed.
func TestFollowGoesOn(t *testing.T) {
	path := write(t, "t.csv", "x,c\n1,a\n2,b\n3,a\n4,b\n5,a\n")
	want, _, err := tell(t, Options{}, credence.Position{}, nil, path)
	if err != nil || len(want) != 5 {
		t.Fatal(len(want), err)
	}
	table := must.Value(Open(t.Context(), []string{path}, Options{}))(t)
	defer table.Close()
	schema := table.Schema()
	follow := func(from int) (got []told, err error) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		table := must.Value(Open(ctx, []string{path}, Options{Follow: true, Format: "csv", Schema: schema}))(t)
		defer table.Close()
		err = table.Rows(ctx, nil, want[from-1].position, func(r *Run) error {
			for i := range r.Count {
				got = append(got, told{text: tellRow(r, i), position: r.after(i, true)})
			}
			if len(got) >= len(want)-from {
				cancel()
			}
			return nil
		})
		return got, err
	}
	for from := 1; from < 5; from++ {
		if got, err := follow(from); !errors.Is(err, context.Canceled) || !reflect.DeepEqual(got, want[from:]) {
			t.Errorf("behind row %d: %+v, want %+v: %v", from, got, want[from:], err)
		}
	}
}

// Any number of files is read, in order, whatever the format and the number of threads.
func TestManyFiles(t *testing.T) {
	folder := t.TempDir()
	for _, format := range []string{"csv", "tsv", "libsvm", "vw"} {
		for i := range 1000 {
			if i == 10 && format != "csv" { // formats differ in how a file is read, not in how the next one is found
				break
			}
			content := fmt.Sprintf("%d |f a b\n", i)
			switch format {
			case "csv":
				content = fmt.Sprintf("label,b\n%d,1\n", i)
			case "tsv":
				content = fmt.Sprintf("b\tlabel\n1\t%d\n", i)
			case "libsvm":
				content = fmt.Sprintf("%d 1:1\n", i)
			}
			must.Succeed(t, os.WriteFile(filepath.Join(folder, fmt.Sprintf("%04d.%s", i, format)), []byte(content), 0o600))
		}
		var files []string
		for _, threads := range []int{1, 2} {
			for _, count := range []int{1, 2*threads + 2, 2*threads + 3, 1000} {
				if count == 1000 && (threads == 1 || format != "csv") {
					continue
				}
				files = files[:0]
				for i := range count {
					files = append(files, filepath.Join(folder, fmt.Sprintf("%04d.%s", i, format)))
				}
				source, table, err := load(t, Options{Threads: threads}, []string{"label"}, files...)
				if err != nil {
					t.Fatal(err)
				}
				for i, row := range rowsOf(t, source, 4096) {
					if row[0] != float64(i) {
						t.Fatalf("%s, %d threads, %d files: row %d is %v", format, threads, count, i, row)
					}
				}
				rows := 0
				err = table.Rows(t.Context(), nil, credence.Position{}, func(r *Run) error {
					rows += r.Count
					return nil
				})
				if err != nil || source.Rows() != count || rows != count {
					t.Errorf("%s, %d threads: %d and %d rows of %d files, %v", format, threads, source.Rows(), rows, count, err)
				}
			}
		}
	}
}

// Integers beyond 2⁵³ are noted for whoever reads them.
func TestInexactIntegersAreNoted(t *testing.T) {
	for _, end := range []string{"\n", "\r\n"} {
		path := write(t, "t.csv", strings.ReplaceAll("x,id\n1e300,9007199254740993\n3,9007199254740992\n", "\n", end))
		table := must.Value(Open(t.Context(), []string{path}, Options{CacheDir: t.TempDir(), MemoryLimit: -1}))(t)
		defer table.Close()
		const want = "has integers beyond 2⁵³, such as 9007199254740993 ("
		read := map[string]func() error{
			"Load":       func() error { _, err := table.Load(t.Context(), nil); return err },
			"Load again": func() error { _, err := table.Load(t.Context(), nil); return err },
			"Rows": func() error {
				return table.Rows(t.Context(), nil, credence.Position{}, func(*Run) error { return nil })
			},
		}
		for name, read := range read {
			table.notes, table.columns[1].inexact = nil, false
			must.Succeed(t, read())
			notes := table.Notes()
			if len(notes) != 1 || notes[0].Column != "id" || !strings.HasPrefix(notes[0].Text, want) || !strings.Contains(notes[0].Text, "t.csv:2") {
				t.Errorf("%s, lines that end in %q: notes are %+v", name, end, notes)
			}
		}
	}
}

// What standard input has in memory needs no cache folder; what is no text is refused
// before it is kept.
func TestPipesAreKeptWithinBounds(t *testing.T) {
	content := "x,y\n" + strings.Repeat("1,2\n", 100_000)
	t.Setenv("HOME", "")
	t.Setenv("XDG_CACHE_HOME", "")
	table, err := Open(t.Context(), []string{"-"}, Options{Stdin: strings.NewReader(content)})
	if err != nil {
		t.Fatal(err)
	}
	if source, err := table.Load(t.Context(), nil); err != nil || source.Rows() != 100_000 {
		t.Errorf("rows: %v", err)
	}
	if _, err := Open(t.Context(), []string{"-"}, Options{Stdin: strings.NewReader(content), MemoryLimit: -1}); err == nil || !strings.Contains(err.Error(), "there is no cache folder") {
		t.Errorf("without a cache folder: %v", err)
	}
	cache := t.TempDir()
	_, err = Open(t.Context(), []string{"-"}, Options{Stdin: strings.NewReader(content), MemoryLimit: -1, CacheDir: cache, CacheLimit: 300_000})
	if err == nil || !strings.Contains(err.Error(), "standard input: is longer than the 0 MB that the cache may take") {
		t.Errorf("beyond the limit: %v", err)
	}
	zeros := &counter{}
	if _, err = Open(t.Context(), []string{"-"}, Options{Stdin: zeros, MemoryLimit: -1, CacheDir: cache}); err == nil || !strings.Contains(err.Error(), "standard input:1: holds a NUL byte") {
		t.Errorf("zeros: %v", err)
	}
	if read := zeros.read.Load(); read > 2<<20 {
		t.Errorf("%d zeros were read", read)
	}
	if left, _ := filepath.Glob(filepath.Join(cache, "*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// counter gives zeros and counts them. Whoever is refused may still be reading.
type counter struct{ read atomic.Int64 }

func (c *counter) Read(p []byte) (int, error) {
	clear(p)
	c.read.Add(int64(len(p)))
	return len(p), nil
}

// Vowpal Wabbit text is a table whose sparse columns are features by name.
func TestLoadVW(t *testing.T) {
	train := write(t, "t.vw", "1 2 0.5 'first|a u v:2 |b u\n-1 |a v w\n")
	source, _, err := load(t, Options{}, []string{"label", "weight", "offset", "tag"}, train)
	if err != nil {
		t.Fatal(err)
	}
	schema := source.Schema()
	names := ""
	for _, f := range schema.Features {
		names += f.Namespace + "^" + f.Token + " "
	}
	if !schema.Label || schema.Sparse != 4 || names != "a^u a^v b^u a^w " {
		t.Errorf("schema is %+v", schema)
	}
	var chunk credence.Chunk
	must.Succeed(t, source.Read(&chunk, 0, 2))
	dense := chunk.Values.Data
	if want := []float64{1, 2, 0.5, 0, -1, 1, 0, nan}; !sameRows([][]float64{dense}, [][]float64{want}) {
		t.Errorf("columns are %v, want %v", dense, want)
	}
	for i, want := range [][]float64{{1, 2, 1, 0}, {0, 1, 0, 1}} {
		row := make([]float64, 4)
		for j, v := range chunk.Sparse.Each(i) {
			row[j] = v
		}
		if !slices.Equal(row, want) {
			t.Errorf("row %d is %v, want %v", i, row, want)
		}
	}
	// New data have training's columns, others leave their squares.
	later, again, err := load(t, Options{Schema: schema}, []string{"label"}, write(t, "n.vw", "|b u x:3 |a w:4 w z:-1\n"))
	if err != nil {
		t.Fatal(err)
	}
	must.Succeed(t, later.Read(&chunk, 0, 1))
	if columns, values := chunk.Sparse.Row(0); !slices.Equal(columns, []int32{2, 3}) || !slices.Equal(values, []float64{1, 5}) || chunk.Unseen[0] != 10 || again.Dropped() != 2 {
		t.Errorf("new row has %v %v, unseen %v", columns, values, chunk.Unseen)
	}
	if _, _, err := load(t, Options{Schema: schema}, nil, write(t, "n.svm", "1 1:1\n")); err == nil || !strings.Contains(err.Error(), "trained on the features of Vowpal Wabbit text") {
		t.Errorf("libsvm rows for it: %v", err)
	}
}

// Indices begin with 0 or 1, repeat, and are of any size where they are hashed.
func TestIndicesOfLibSVM(t *testing.T) {
	path := write(t, "t.svm", "1 3:1 0:2 3:4\n0 1:1\n")
	for _, limit := range []int64{0, -1} { // in memory, and from the cache
		for range 2 {
			source, table, err := load(t, Options{MemoryLimit: limit, CacheDir: filepath.Dir(path)}, nil, path)
			if err != nil {
				t.Fatal(err)
			}
			var chunk credence.Chunk
			must.Succeed(t, source.Read(&chunk, 0, 2))
			columns, values := chunk.Sparse.Row(0)
			if s := source.Schema(); s.Sparse != 4 || s.SparseFirst() != 0 || !slices.Equal(columns, []int32{0, 3}) || !slices.Equal(values, []float64{2, 5}) {
				t.Errorf("%+v, row %v %v", s, columns, values)
			}
			text := fmt.Sprint(table.Notes())
			if !strings.Contains(text, "the first feature is x0") || !strings.Contains(text, "1 row had indices repeated or out of order") {
				t.Errorf("notes are %s", text)
			}
			again, _, err := load(t, Options{Schema: source.Schema(), MemoryLimit: limit, CacheDir: filepath.Dir(path)}, nil, path)
			if err != nil {
				t.Fatal(err)
			}
			must.Succeed(t, again.Read(&chunk, 0, 2))
			if columns, _ := chunk.Sparse.Row(0); !slices.Equal(columns, []int32{0, 3}) || chunk.Unseen != nil || again.Schema().SparseFirst() != 0 {
				t.Errorf("read again: %v from x%d on, unseen %v", columns, again.Schema().SparseFirst(), chunk.Unseen)
			}
		}
	}
	ones, _, err := load(t, Options{}, nil, write(t, "one.svm", "1 3:1\n0 1:1\n"))
	if err != nil || ones.Schema().Sparse != 3 || ones.Schema().SparseFirst() != 1 {
		t.Errorf("indices from 1 on: %+v, %v", ones.Schema(), err)
	}
	wide := write(t, "w.svm", "1 5:1\n0 9007199254740991:2 5:1\n")
	if _, _, err := load(t, Options{}, nil, wide); err == nil || !strings.Contains(err.Error(), "w.svm:2: the row has an index beyond 10000000") || !strings.Contains(err.Error(), "hash(., bits=22)") {
		t.Errorf("a wide file: %v", err)
	}
	source, _, err := load(t, Options{Keyed: true}, nil, wide)
	if err != nil || source.Schema().Sparse != 2 || source.Schema().Features[1].Key != 9007199254740991 {
		t.Errorf("a wide file by keys: %+v, %v", source, err)
	}
}

// The place behind a row counts the rows and the malformed ones up to it, those just before it too, and
// is where its line ends; to go on from there counts on.
func TestPlacesCountRows(t *testing.T) {
	path := write(t, "t.csv", "x,y\n1,2\n1,2,3\n1\n2,3\n3,4\n4\n5,6\n7\n")
	want := []credence.Position{
		{Offset: 8, Line: 2, Rows: 1, Malformed: 0}, {Offset: 20, Line: 5, Rows: 2, Malformed: 2},
		{Offset: 24, Line: 6, Rows: 3, Malformed: 2}, {Offset: 30, Line: 8, Rows: 4, Malformed: 3},
	}
	last := credence.Position{Offset: 32, Line: 9, Rows: 4, Malformed: 4}
	starts := []credence.Position{{}}
	for k := 0; k < len(starts); k++ {
		rows, end, err := tell(t, Options{}, starts[k], nil, path)
		if err != nil {
			t.Fatal(err)
		}
		next := k
		for _, row := range rows {
			if row.fault {
				continue
			}
			if next == len(want) {
				t.Fatalf("from %+v there is another row, %s", starts[k], row.text)
			}
			if k == 0 {
				starts = append(starts, row.position)
			}
			if got := bare(row.position); got != want[next] {
				t.Errorf("from %+v, behind row %d: %+v, want %+v", starts[k], next, got, want[next])
			}
			next++
		}
		if got := bare(end); next != len(want) || got != last {
			t.Errorf("from %+v there are rows up to %d, and the end is %+v; want %d, %+v", starts[k], next, got, len(want), last)
		}
	}
}

// bare is a position without what tells its file.
func bare(p credence.Position) credence.Position {
	p.Beginning, p.Ending = "", ""
	return p
}

// What is odd about rows that are read once is noted as by a load.
func TestRowsAreNoted(t *testing.T) {
	for content, want := range map[string]string{
		"1 0:1 3:2\n0 3:1 1:2\n":               "1 row had indices repeated or out of order: they are summed and sorted; indices begin with 0: the first feature is x0",
		"1 1:1 3:2\n0 1:1 2:2\n":               "",
		"id,y\n9007199254740993,1\n4,0\n5,1\n": "has integers beyond 2⁵³, such as 9007199254740993",
	} {
		name := "t.svm"
		if strings.HasPrefix(content, "id") {
			name = "t.csv"
		}
		path := filepath.Join(t.TempDir(), name)
		must.Succeed(t, os.WriteFile(path, []byte(content), 0o600))
		table := must.Value(Open(t.Context(), []string{path}, Options{Once: true, Keyed: true}))(t)
		must.Succeed(t, table.Rows(t.Context(), nil, credence.Position{}, func(*Run) error { return nil }))
		var texts []string
		for _, note := range table.Notes() {
			texts = append(texts, note.Text)
		}
		if got := strings.Join(texts, "; "); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%q: notes %q, want %q", content, got, want)
		}
		table.Close()
	}
}
