package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestGoroutinesHaveOwners refuses goroutines outside internal/task, whose panics reach the caller as errors, and
// internal/kernel, whose pool passes them on.
func TestGoroutinesHaveOwners(t *testing.T) {
	root, files := filepath.Join("..", ".."), 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		folder, _ := filepath.Rel(root, path)
		switch folder = filepath.ToSlash(folder); {
		case entry.IsDir() && (folder == "internal/task" || folder == "internal/kernel" || folder == "dist" || strings.HasPrefix(folder, ".") && folder != "."):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		files++
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(node ast.Node) bool {
			if what := startsGoroutine(node); what != "" {
				t.Errorf("%s: %s starts a goroutine whose panic ends the process: use task.Go", set.Position(node.Pos()), what)
			}
			return true
		})
		return nil
	})
	if err != nil || files < 300 {
		t.Errorf("%d files of Go: %v", files, err)
	}
}

// startsGoroutine says by what a node starts a goroutine, "" if it starts none: a go statement, or the method Go of
// anything but package task, such as a sync.WaitGroup or a group of errors.
func startsGoroutine(node ast.Node) string {
	switch n := node.(type) {
	case *ast.GoStmt:
		return "go"
	case *ast.CallExpr:
		if f, ok := n.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Go" {
			if of, ok := f.X.(*ast.Ident); !ok || of.Name != "task" {
				return "a method Go"
			}
		}
	case *ast.SelectorExpr:
		if of, ok := n.X.(*ast.Ident); ok && of.Name == "time" && n.Sel.Name == "AfterFunc" {
			return "time.AfterFunc"
		}
	}
	return ""
}
