package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/credence-ml/credence/internal/study"
)

// TestTranscripts runs the commands of testdata/transcripts and compares what they print and write with what stands
// there: words as they are, numbers to a relative 1e-6 or to their last digit. So whatever changes a figure shows.
// CREDENCE_WRITE=1 writes what the commands print now; the difference of the files is what a change does to them.
//
// A line "$ credence …" is a command; "< FILE" at its end is its standard input. "$ show FILE …" prints text files,
// "$ first N FILE" its first lines, "$ join FILE … > FILE" writes files one behind the other, and "$ change FILE N"
// flips a bit of the byte at N. "$ write FILE LINE …" writes lines, which may have Go's escapes. "$ text FILE" prints
// what a page says outside of pictures and programs.
// What stands before the first command says what the transcript holds. The tables are those of [transcriptTables].
func TestTranscripts(t *testing.T) {
	paths := sure(filepath.Glob("testdata/transcripts/*.txt"))(t)
	if len(paths) == 0 {
		t.Fatal("no transcripts")
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for _, path := range paths {
		path = sure(filepath.Abs(path))(t)
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			text := string(sure(os.ReadFile(path))(t))
			t.Chdir(t.TempDir())
			for name, content := range transcriptTables() {
				if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			sections := strings.Split("\n"+text, "\n$ ")
			now := sections[:1:1]
			for _, section := range sections[1:] {
				line, was, _ := strings.Cut(section, "\n")
				is := strings.TrimRight(transcribed(t, shellWords.FindAllString(line, -1)), "\n")
				now = append(now, strings.TrimRight(line+"\n"+is, "\n"))
				if difference := differs(strings.TrimRight(was, "\n"), is); difference != "" && !study.Write() {
					t.Errorf("$ %s\n%s", line, difference)
				}
			}
			if study.Write() {
				if err := os.WriteFile(path, []byte(strings.TrimPrefix(strings.Join(now, "\n$ ")+"\n", "\n")), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// transcribed runs a command of a transcript and returns what it prints: standard output, then standard error, then the
// exit code where that is not 0.
func transcribed(t *testing.T, args []string) string {
	t.Helper()
	for i, arg := range args {
		args[i] = strings.ReplaceAll(arg, "'", "")
	}
	read := func(path string) string {
		content, err := os.ReadFile(path)
		if err != nil {
			return err.Error()
		}
		return string(content)
	}
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	switch args[0] {
	case "show":
		var b strings.Builder
		for _, path := range args[1:] {
			b.WriteString(read(path))
		}
		return b.String()
	case "first":
		lines := strings.SplitAfter(read(args[2]), "\n")
		return strings.Join(lines[:min(len(lines), sure(strconv.Atoi(args[1]))(t))], "")
	case "text":
		text := html.UnescapeString(tags.ReplaceAllString(apart.ReplaceAllString(read(args[1]), ""), "\n"))
		return blank.ReplaceAllString(text, "\n")
	case "join":
		var b strings.Builder
		for _, path := range args[1 : len(args)-2] {
			b.WriteString(read(path))
		}
		write(args[len(args)-1], b.String())
		return ""
	case "change":
		content := []byte(read(args[1]))
		content[sure(strconv.Atoi(args[2]))(t)] ^= 1
		write(args[1], string(content))
		return ""
	case "write":
		text := strings.ReplaceAll(strings.Join(args[2:], `\n`)+`\n`, `"`, `\"`)
		write(args[1], sure(strconv.Unquote(`"`+text+`"`))(t))
		return ""
	case "credence":
	default:
		t.Fatalf("%q is no command of a transcript", args[0])
	}
	stdin := ""
	if n := len(args); n > 2 && args[n-2] == "<" {
		stdin, args = read(args[n-1]), args[:n-2]
	}
	o := invoke(t, stdin, args[1:]...)
	out := spread(o.out) + o.err
	if o.code != exitDone {
		out = strings.TrimRight(out, "\n") + fmt.Sprintf("\nexit %d\n", o.code)
	}
	out = digests.ReplaceAllString(ongoing.ReplaceAllString(out, ""), "${1}DIGEST")
	return varying.ReplaceAllString(timed.ReplaceAllString(out, "${1}${4}TIME"), "${1}SOME${3}")
}

// shellWords are the arguments of a command line, of which some stand between single quotes, in part or whole.
var shellWords = regexp.MustCompile(`('[^']*'|[^'\s])+`)

// apart is what a page has beside its text, tags are those of the text, and blank what is left of them.
var (
	apart = regexp.MustCompile(`(?s)<(script|style|svg|head)\b.*?</(script|style|svg|head)>`)
	tags  = regexp.MustCompile(`(?s)<[^>]*>`)
	blank = regexp.MustCompile(`\s*\n\s*`)
)

// timed are the figures that no two runs share.
var timed = regexp.MustCompile(`("seconds": |\bin |  )[0-9.e+-]+( (seconds|ms|s|min))\b|("seconds": )[0-9.e+-]+`)

// ongoing are the lines of progress, of which a busy machine has more.
var ongoing = regexp.MustCompile(`(?m)^credence: [^:\n]*(, just begun| so far|, about [^:\n]* left| will take about | for a step, of )[^:\n]*\n`)

// digests are those of files and of jobs, in which the last digits of all figures are.
var digests = regexp.MustCompile(`(job |credence:)[0-9a-f]{12}\b|\b[0-9a-f]{64}\b`)

// varying are speeds, and sizes of pages, which change with every word of them.
var varying = regexp.MustCompile(`("(?:bytes|rows_per_second)": |\.html, )[0-9.e+]+( kB)?|[0-9.e+]+( rows/s| rows a second)\b`)

// spread writes JSON over lines, so that differences show.
func spread(out string) string {
	if !strings.HasPrefix(out, "{") {
		return out
	}
	var b bytes.Buffer
	decoder := json.NewDecoder(strings.NewReader(out))
	for decoder.More() {
		var object json.RawMessage
		if decoder.Decode(&object) != nil || json.Indent(&b, object, "", " ") != nil {
			return out
		}
		b.WriteByte('\n')
	}
	return numbersOnly.ReplaceAllStringFunc(b.String(), func(list string) string { return strings.Join(strings.Fields(list), " ") })
}

// numbersOnly are lists of numbers, which stand on one line.
var numbersOnly = regexp.MustCompile(`\[[-+0-9.eE,\s]*\]`)

// printed is a number that a command prints.
var printed = regexp.MustCompile(`-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?`)

// differs returns the first lines in which two texts differ, or nothing.
func differs(was, is string) string {
	before, now := strings.Split(was, "\n"), strings.Split(is, "\n")
	var b strings.Builder
	for i, count := 0, 0; i < max(len(before), len(now)) && count < 5; i++ {
		var x, y string
		if i < len(before) {
			x = before[i]
		}
		if i < len(now) {
			y = now[i]
		}
		if !linesAgree(x, y) {
			fmt.Fprintf(&b, "line %d was: %s\nand is:  %s\n", i+1, x, y)
			count++
		}
	}
	return b.String()
}

// linesAgree says whether two lines have the same words, and numbers that agree.
func linesAgree(was, is string) bool {
	if was == is {
		return true
	}
	if printed.ReplaceAllString(was, "#") != printed.ReplaceAllString(is, "#") {
		return false
	}
	left, right := printed.FindAllString(was, -1), printed.FindAllString(is, -1)
	for i, text := range left {
		if !agree(text, right[i]) {
			return false
		}
	}
	return true
}

// agree says whether two numbers are the same to a relative 1e-6, to 1e-9, or to the last digit that is printed.
func agree(was, is string) bool {
	x, err := strconv.ParseFloat(was, 64)
	y, other := strconv.ParseFloat(is, 64)
	if err != nil || other != nil {
		return was == is
	}
	return math.Abs(x-y) <= max(1e-9, 1e-6*max(math.Abs(x), math.Abs(y)), 1.001*max(lastDigit(was), lastDigit(is)))
}

// lastDigit is what one in the last printed place of a decimal fraction counts; that of a whole number counts nothing.
func lastDigit(text string) float64 {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	_, fraction, found := strings.Cut(mantissa, ".")
	if !found && exponent == "" {
		return 0
	}
	power, _ := strconv.Atoi(exponent)
	return math.Pow(10, float64(power-len(fraction)))
}

func TestAgree(t *testing.T) {
	for _, pair := range [][2]string{{"1.25", "1.26"}, {"1", "1"}, {"3.1e-05", "3.2e-05"}, {"1000000", "1000001"}, {"0", "1e-12"}} {
		if !agree(pair[0], pair[1]) {
			t.Errorf("%s and %s do not agree", pair[0], pair[1])
		}
	}
	for _, pair := range [][2]string{{"1.25", "1.27"}, {"1", "2"}, {"3.1e-05", "3.3e-05"}, {"1000", "1001"}, {"12345.678", "12345.779"}} {
		if agree(pair[0], pair[1]) {
			t.Errorf("%s and %s agree", pair[0], pair[1])
		}
	}
	if linesAgree("a 1", "b 1") || !linesAgree("mean 1.000001", "mean 1.0000011") || linesAgree("1 2", "1") {
		t.Error("words and numbers of lines are not told apart")
	}
}
