package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// What stream says of targets, of columns that are not decided and of rows that a model leaves out.
func TestStreamTellsAsFitDoes(t *testing.T) {
	three := file(t, "t.csv", "x,c\n1,a\n2,b\n3,c\n4,a\n")
	for _, command := range []string{"fit", "stream"} {
		o := invoke(t, "", command, three, "-f", "c ~ x")
		if o.code != exitFailed || !strings.Contains(o.err, "target c has 3 classes, a, b and c: pick one against the rest with --positive a") {
			t.Errorf("%s: exit %d: %s", command, o.code, o.err)
		}
		o = invoke(t, "", command, three)
		if o.code != exitMisuse || !strings.Contains(o.err, "no target: write target ~ terms, or name one with --target") {
			t.Errorf("%s: exit %d: %s", command, o.code, o.err)
		}
	}
	if o := invoke(t, "", "stream", three, "-f", "c ~ x", "--positive", "b", "--report", "0"); o.code != exitDone {
		t.Errorf("exit %d: %s", o.code, o.err)
	}
	model := filepath.Join(t.TempDir(), "m.safetensors")
	holes := file(t, "holes.csv", "y,x\n1,1\n0,2\n1,\n0,3\n")
	must(t, "stream", holes, "-f", "y ~ x", "--missing", "drop", "-o", model, "--report", "0")
	for _, args := range [][]string{{"evaluate", model, holes}, {"compare", model, model, holes}} {
		if o := invoke(t, "", args...); o.code != exitDone || !strings.Contains(o.err, "1 of 4 rows have missing values and are left out") {
			t.Errorf("%v: exit %d: %s", args, o.code, o.err)
		}
	}
}

// A column without a value is a number that is always missing, and weighs nothing.
func TestColumnWithoutValues(t *testing.T) {
	row := func(hole string) func(i int) string {
		return func(i int) string { return fmt.Sprintf("%d,%s,%d\n", i*7%11, hole, label(i)) }
	}
	path, zero := file(t, "e.csv", repeat("x,e,y\n", 60, row(""))), file(t, "z.csv", repeat("x,e,y\n", 60, row("0")))
	model, same := filepath.Join(t.TempDir(), "m.safetensors"), filepath.Join(t.TempDir(), "z.safetensors")
	for _, engine := range []string{"svi", "sep"} {
		args := []string{"--raw", "-f", "y ~ x + e", "--family", "bernoulli(link=probit)", "--prior", map[string]string{"svi": "normal(variance=1)", "sep": "spikeslab"}[engine], "--engine", engine}
		must(t, append([]string{"fit", path, "--missing", "mean", "-o", model}, args...)...)
		must(t, append([]string{"fit", zero, "-o", same}, args...)...)
		if got, want := must(t, "predict", model, path), must(t, "predict", same, zero); got != want {
			t.Errorf("%s: a column that is always missing changes predictions", engine)
		}
		must(t, append([]string{"fit", path, "--missing", "indicator", "-o", model}, args...)...)
		if terms := must(t, "inspect", model); !strings.Contains(terms, "e_missing") {
			t.Errorf("%s: no indicator:\n%s", engine, terms)
		}
	}
	if o := invoke(t, "", "fit", path, "--missing", "mean", "--types", "e=category", "--target", "y"); !strings.Contains(o.err, `column "e" has no value in any row: leave it out`) {
		t.Errorf("a category without a level: exit %d: %s", o.code, o.err)
	}
	out := must(t, "stream", path, "-f", "y ~ x + e", "--missing", "indicator", "-o", model, "--report", "0")
	if !strings.Contains(out, "numbers x (") || !strings.Contains(must(t, "inspect", model), "e_missing") {
		t.Errorf("stream: %s", out)
	}
}

// A column whose texts come after the sample has the features that it has under fit.
func TestIndicatorOfALateCategory(t *testing.T) {
	content := repeat("y,x,e\n", 10_100, func(i int) string {
		level := ""
		if i > 10_050 {
			level = []string{"u", "v"}[i%2]
		}
		return fmt.Sprintf("%d,%d,%s\n", label(i), i%5, level)
	})
	path, model := file(t, "late.csv", content), filepath.Join(t.TempDir(), "m.safetensors")
	must(t, "stream", path, "-f", "y ~ x + e", "--missing", "indicator", "-o", model, "--report", "0")
	terms := must(t, "inspect", model)
	for _, want := range []string{" e=(missing) ", " e=u ", " e=v "} {
		if !strings.Contains(terms, want) {
			t.Errorf("no %s:\n%s", want, terms)
		}
	}
	if strings.Contains(terms, "e_missing") || !strings.Contains(terms, "5 weights") {
		t.Errorf("features differ from those of fit:\n%s", terms)
	}
	o := invoke(t, "", "predict", model, file(t, "new.csv", "x,e\n1,\n1,u\n"))
	if o.code != exitDone || o.err != "target  y: probability is that of 1\n" {
		t.Errorf("exit %d: %s", o.code, o.err)
	}
}

func TestRemediesName(t *testing.T) {
	for _, c := range []struct {
		want string
		args []string
	}{
		{"use --family 'bernoulli(link=probit)' --prior spikeslab, or --engine ep or gibbs, or --engine laplace --prior spikeslab", []string{"fit", "gone.csv", "--engine", "sep", "--family", "bernoulli"}},
		{"passes cannot be 1000000000000: it must be between 1 and 1000000", []string{"fit", "gone.csv", "--engine", "sep(passes=1000000000000)"}},
		{"passes cannot be 1000000000000: it must be between 1 and 1000000", []string{"stream", "gone.csv", "--engine", "sgd(passes=1000000000000)"}},
		{"--cache-limit lots: it is no size: write for example 500MB or 40GB", []string{"fit", "gone.csv", "--cache-limit", "lots"}},
		{"and two classes are to be learned: use --family gaussian for numbers", []string{"fit", file(t, "prices.csv", houses(40)), "--target", "price", "--engine", "sep"}},
		{"is not a model file but a table or another text: name the model first", []string{"predict", file(t, "t.csv", "x,y\n1,2\n3,4\n"), "gone.csv"}},
	} {
		if o := invoke(t, "", c.args...); o.code == exitDone || !strings.Contains(o.err, c.want) {
			t.Errorf("%v: exit %d: %s", c.args, o.code, o.err)
		}
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]int64{"": 0, "7": 7, "3KB": 3 << 10, "500mb": 500 << 20, "40GB": 40 << 30, "2TB": 2 << 40} {
		if got, err := parseBytes(text); got != want || err != nil {
			t.Errorf("%q is %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"GB", "-1GB", "0", "1.5GB", "8388608TB", "1XB", "1 GB"} {
		if got, err := parseBytes(text); err == nil {
			t.Errorf("%q is %d", text, got)
		}
	}
}

// Once it is interrupted, inspect prints no more.
func TestInspectIsInterrupted(t *testing.T) {
	model := filepath.Join(t.TempDir(), "m.safetensors")
	must(t, "fit", file(t, "t.csv", houses(40)), "--target", "price", "-o", model)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, errs bytes.Buffer
	if code := run(ctx, []string{"inspect", model}, streams{strings.NewReader(""), &out, &errs}); code != exitInterrupted || out.Len() > 0 {
		t.Errorf("exit %d, %q, %q", code, out.String(), errs.String())
	}
}

// Members of a gzip file follow each other; what is none of them is named as such.
func TestGzipMembers(t *testing.T) {
	member := func(text string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if _, err := w.Write([]byte(text)); err != nil || w.Close() != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	whole := member("x,y\n1,2\n") + member("2,3\n4,8\n")
	if out := must(t, "fit", file(t, "t.csv.gz", whole), "--target", "y"); !strings.Contains(out, ": 3 rows") {
		t.Errorf("members: %s", out)
	}
	for content, want := range map[string]string{
		whole + "junk":            "bytes that are not gzip stand behind the compressed data: is it damaged?",
		whole + "\x00":            "bytes that are not gzip stand behind the compressed data: is it damaged?",
		whole + whole[:5]:         "the compressed data end early: is the file complete?",
		whole[:len(whole)-9]:      "the compressed data end early: is the file complete?",
		member("x,y\n1,2\n")[:20]: "the compressed data end early: is the file complete?",
	} {
		if o := invoke(t, "", "fit", file(t, "t.csv.gz", content), "--target", "y"); o.code != exitFailed || !strings.Contains(o.err, want) {
			t.Errorf("exit %d: %s, want %s", o.code, o.err, want)
		}
	}
}
