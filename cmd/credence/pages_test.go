package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// pages are the texts whose commands are typed where the demonstration left its files, in this order.
var pages = []string{"README.md"}

// typed runs the commands of a page in the folder, as a reader would, and wants every line that the page
// shows below a command among what the command prints. "…" stands for lines left out.
func typed(t *testing.T, name, page string) {
	t.Helper()
	var printed map[string]bool
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
			o := invoke(t, "", demoArguments(strings.TrimPrefix(line, "$ credence "))...)
			printed = map[string]bool{"…": true, "": true}
			for text := range strings.Lines(o.out + o.err) {
				printed[strings.TrimSpace(text)] = true
			}
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
			printed = map[string]bool{"…": true}
			for text := range strings.Lines(string(out)) {
				printed[strings.TrimSpace(text)] = true
			}
		case printed != nil && !printed[strings.TrimSpace(line)]:
			t.Errorf("%s: %s does not print\n%s", name, command, line)
		}
	}
}

// typedPages types the pages in the folder that the demonstration has left, which is the working folder.
func typedPages(t *testing.T, root string) {
	for _, page := range pages {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(page)))
		if err != nil {
			t.Fatal(err)
		}
		typed(t, page, string(text))
	}
}
