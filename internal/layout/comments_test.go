package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// mostColumns is where a line with a comment ends at the latest; a tab counts as four columns.
const mostColumns = 120

// TestCommentsEndByColumn120 finds comments that a window of code shows in part. Output of examples, commands, which
// are indented, and what is generated stay as they are.
func TestCommentsEndByColumn120(t *testing.T) {
	root, comments := filepath.Join("..", ".."), 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		lines := strings.Split(string(text), "\n")
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if ast.IsGenerated(file) {
			return nil
		}
		for _, group := range file.Comments {
			if strings.HasPrefix(group.List[0].Text, "// Output:") {
				continue
			}
			for _, comment := range group.List {
				comments++
				at := set.Position(comment.Pos())
				end := utf8.RuneCountInString(strings.ReplaceAll(lines[at.Line-1], "\t", "    "))
				if end > mostColumns && !strings.HasPrefix(comment.Text, "//go:") && !strings.HasPrefix(comment.Text, "//\t") {
					t.Errorf("%s: the comment ends at column %d, beyond %d", at, end, mostColumns)
				}
			}
		}
		return nil
	})
	if err != nil || comments < 10000 {
		t.Errorf("%d lines of comments: %v", comments, err)
	}
}
