package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Rows of standard input are answered one by one: a partner that waits for the answer before it sends the next
// row gets it, from a model of a table and from one that was learned online, and the answers are those of the file.
func TestPredictAnswersRowByRow(t *testing.T) {
	table, clicks := file(t, "t.csv", houses(60)), file(t, "t.vw", day(1, 300))
	fitted, learned := filepath.Join(t.TempDir(), "m"), filepath.Join(t.TempDir(), "n")
	must(t, "fit", table, "--target", "price", "-o", fitted, "-q")
	must(t, "stream", clicks, "-o", learned, "-q")
	for name, c := range map[string]struct {
		model, path, text string
		header            int
	}{"fit": {fitted, table, houses(60), 1}, "stream": {learned, clicks, day(1, 300), 0}} {
		want := strings.Split(must(t, "predict", c.model, c.path, "-q", "--latent"), "\n")
		lines := strings.SplitAfter(c.text, "\n")
		in, send := io.Pipe()
		receive, out := io.Pipe()
		var errs strings.Builder
		code := make(chan int, 1)
		go func() {
			code <- run(t.Context(), []string{"predict", c.model, "-", "-q", "--latent"}, streams{in, out, &errs})
			out.Close()
		}()
		answers := make(chan string, 10)
		go func() {
			scanner := bufio.NewScanner(receive)
			for scanner.Scan() {
				answers <- scanner.Text()
			}
			close(answers)
		}()
		answer := func(want string) {
			t.Helper()
			select {
			case got := <-answers:
				if got != want {
					t.Errorf("%s: %q, want %q", name, got, want)
				}
			case <-time.After(30 * time.Second):
				t.Fatalf("%s: no answer", name)
			}
		}
		fmt.Fprint(send, strings.Join(lines[:c.header+1], ""))
		answer(want[0])
		answer(want[1])
		for k := 1; k < 5; k++ { // none is sent before the last is answered
			fmt.Fprint(send, lines[c.header+k])
			answer(want[1+k])
		}
		send.Close()
		if got := <-code; got != exitDone {
			t.Errorf("%s: exit %d: %s", name, got, errs.String())
		}
	}
}

// A malformed row stops the answers at its line, after those before it; levels that training did not see are named
// by their line.
func TestPredictLiveStopsAtTheRow(t *testing.T) {
	train := repeat("x,c,y\n", 40, func(i int) string { return fmt.Sprintf("%d,%s,%d\n", i, []string{"u", "v"}[i%2], i*i%11) })
	model := filepath.Join(t.TempDir(), "m")
	must(t, "fit", file(t, "t.csv", train), "--target", "y", "-o", model, "-q")
	for rows, want := range map[string]string{
		"x,c\n1,u\n2,v\nthree,u\n":              `standard input:4: column "x": "three" is not a number`,
		"x,c\n1,u\n2,w\n":                       `standard input:3: column "c": level "w" was not seen in training`,
		"x,c\n1,u\nthree,u\n2,v\nfour,u\n5,u\n": `standard input:3: column "x": "three" is not a number`,
	} {
		o := invoke(t, rows, "predict", model, "-")
		before, _, _ := strings.Cut(strings.TrimPrefix(want, "standard input:"), ":")
		if fmt.Sprint(strings.Count(o.out, "\n")+1) != before {
			t.Errorf("answered before line %s: %s", before, o.out)
		}
		if o.code != exitFailed || !strings.Contains(o.err, want) {
			t.Errorf("exit %d: %s%s, want %s", o.code, o.out, o.err, want)
		}
	}
	texts := filepath.Join(t.TempDir(), "m")
	must(t, "fit", file(t, "t.csv", train), "-f", "y ~ onehot(x)", "-o", texts, "-q")
	for _, o := range []outcome{invoke(t, "x\n99\n", "predict", texts, "-"), invoke(t, "", "predict", texts, file(t, "new.csv", "x\n99\n"))} {
		if o.code != exitFailed || !strings.Contains(o.err, `column "x": `) || !strings.Contains(o.err, `"99"`) {
			t.Errorf("exit %d: %s", o.code, o.err)
		}
	}
	if o := invoke(t, "x,c\n1,u\n,v\n3,w\n", "predict", model, "-", "--missing", "mean", "--unseen", "prior"); o.code != exitDone ||
		strings.Count(o.out, "\n") != 4 || !strings.Contains(o.err, "1 missing value filled") || !strings.Contains(o.err, "1 category value not seen") {
		t.Errorf("exit %d: %s%s", o.code, o.out, o.err)
	}
}

// Tags of Vowpal Wabbit rows stand beside their predictions, in a column or as Vowpal Wabbit writes them, for a
// model that was learned online and one that was fitted.
func TestTagsOfVowpalWabbitRows(t *testing.T) {
	data := file(t, "t.vw", repeat("", 200, func(i int) string {
		tag := fmt.Sprintf("row_%d", i)
		if i%7 == 3 {
			tag = "" // a row without one
		}
		return fmt.Sprintf("%d 1 %s|a f%d g%d\n", 2*(i*i%5%2)-1, tag, i%9, i%4)
	}))
	for _, command := range []string{"stream", "fit"} {
		model := filepath.Join(t.TempDir(), "m")
		must(t, command, data, "-o", model, "-q")
		plain := strings.Split(must(t, "predict", model, data, "-q"), "\n")
		kept := strings.Split(must(t, "predict", model, data, "-q", "--keep", "tag"), "\n")
		out := filepath.Join(t.TempDir(), map[string]string{"stream": "p.vw", "fit": "P.VW"}[command])
		must(t, "predict", model, data, "-o", out, "-q")
		written := sure(os.ReadFile(out))(t)
		lines := strings.Split(string(written), "\n")
		for i := range 200 {
			tag, mean := fmt.Sprintf("row_%d", i), strings.Split(plain[i+1], ",")[0]
			want := mean + " " + tag
			if i%7 == 3 {
				tag, want = "", mean
			}
			if kept[i+1] != tag+","+plain[i+1] || lines[i] != want {
				t.Fatalf("%s: row %d is %q and %q, want %q and %q", command, i, kept[i+1], lines[i], tag+","+plain[i+1], want)
			}
		}
		if len(lines) != 201 {
			t.Errorf("%d lines", len(lines))
		}
	}
	if o := invoke(t, "", "predict", filepath.Join(t.TempDir(), "m"), data, "-o", "p.xlsx"); o.code != exitMisuse {
		t.Errorf("exit %d", o.code)
	}
}
