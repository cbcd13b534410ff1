package main

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/credence-ml/credence/internal/study"
)

// pages are the texts whose commands are typed where the demonstration left its files, in this order; only a study
// goes beyond the first.
var pages = []string{"README.md", "docs/from-r.md", "docs/from-statsmodels.md", "docs/from-scikit-learn.md", "docs/from-vowpal-wabbit.md"}

// typed runs the commands of a page in the folder, as a reader would, but for those that the demonstration has
// run there, and wants every line that the page shows below a command among what the command prints. "…" stands
// for lines left out.
func typed(t *testing.T, name, page string, demonstration outcome) {
	t.Helper()
	var printed []string
	command := ""
	lines := strings.Split(page, "\n")
	for k := 0; k < len(lines); k++ {
		line, inside := strings.CutPrefix(lines[k], "    ")
		switch {
		case !inside:
			if strings.TrimSpace(line) != "" { // the block has ended
				printed = nil
			}
		case strings.HasPrefix(line, "$ credence "):
			command = line
			o := demonstration
			if _, after, found := strings.Cut(o.out, "\n"+line+"\n"); found {
				o.out, _, _ = strings.Cut(after, "\n$ credence ")
			} else {
				o = invoke(t, "", demoArguments(strings.TrimPrefix(line, "$ credence "))...)
			}
			printed = strings.Split(o.out+o.err, "\n")
		case strings.HasPrefix(line, "cat > "): // a file written by hand
			end := k + 1
			for strings.TrimSpace(lines[end]) != "END" {
				end++
			}
			content := strings.ReplaceAll(strings.Join(lines[k+1:end], "\n"), "    ", "") + "\n"
			if err := os.WriteFile(strings.Fields(line)[2], []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			k, printed = end, nil
		case strings.HasPrefix(line, "$ "): // of the system's shell
			command = line
			out, err := exec.Command("sh", "-c", line[2:]).CombinedOutput()
			if err != nil {
				t.Errorf("%s: %s: %v: %s", name, line, err, out)
			}
			printed = strings.Split(string(out), "\n")
		case printed != nil && strings.TrimSpace(line) != "…" && !slices.ContainsFunc(printed, func(text string) bool { return alike(text, line) }):
			t.Errorf("%s: %s does not print\n%s", name, command, line)
		}
	}
}

// TestFirstScreen: README begins with the two commands that do everything.
func TestFirstScreen(t *testing.T) {
	page, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	first := strings.Join(strings.SplitN(string(page), "\n", 25)[:24], "\n")
	for _, command := range []string{"\n    go run ./cmd/credence demo", "\n    go test ./..."} {
		if !strings.Contains(first, command) {
			t.Errorf("the first 24 lines of README lack %q", strings.TrimSpace(command))
		}
	}
}

// figure is a number as commands print it.
var figure = regexp.MustCompile(`[-+]?[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?`)

// alike says whether two lines have the same words and figures within a tenth of each other: pages show
// what a command printed when they were written, and engines are improved.
func alike(a, b string) bool {
	words := func(line string) string { return strings.Join(strings.Fields(figure.ReplaceAllString(line, "#")), " ") }
	if words(a) != words(b) {
		return false
	}
	shown := figure.FindAllString(b, -1)
	for k, text := range figure.FindAllString(a, -1) {
		x, _ := strconv.ParseFloat(text, 64)
		y, _ := strconv.ParseFloat(shown[k], 64)
		if !(math.Abs(x-y) <= 0.1*math.Abs(y)) && !(math.Abs(x-y) <= 0.05) {
			return false
		}
	}
	return true
}

// typedPages types the pages in the folder that the demonstration has left, which is the working folder.
func typedPages(t *testing.T, root string, demonstration outcome) {
	for k, page := range pages {
		if k > 0 && !study.Long() {
			break
		}
		text := sure(os.ReadFile(filepath.Join(root, filepath.FromSlash(page))))(t)
		typed(t, page, string(text), demonstration)
	}
}
