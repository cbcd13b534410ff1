package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// publicNames are aliases that are themselves the public name of a type.
var publicNames = map[string]bool{"linop.Pool": true, "credence.Notation": true, "plot.Picture": true}

// TestSignaturesArePublic finds exported declarations whose types stand in an internal package: a program in another
// module sees such a name and can neither make a value of it nor implement it.
func TestSignaturesArePublic(t *testing.T) {
	root, seen := filepath.Join("..", ".."), 0
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			switch entry.Name() {
			case "internal", "cmd", "examples", "bench", "testdata", ".git":
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		hidden := map[string]bool{} // names of imported packages that are internal
		for _, imported := range tree.Imports {
			text, _ := strconv.Unquote(imported.Path.Value)
			if strings.Contains(text, "/internal/") {
				name := path.Base(text)
				if imported.Name != nil {
					name = imported.Name.Name
				}
				hidden[name] = true
			}
		}
		refuse := func(name string, parts ...ast.Node) {
			seen++
			for _, part := range parts {
				inspectPublic(part, func(e *ast.SelectorExpr) {
					if x, ok := e.X.(*ast.Ident); ok && hidden[x.Name] {
						t.Errorf("%s: %s shows %s.%s, which is internal", set.Position(e.Pos()), name, x.Name, e.Sel.Name)
					}
				})
			}
		}
		for _, declaration := range tree.Decls {
			switch d := declaration.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && (d.Recv == nil || receiverIsExported(d)) {
					refuse(d.Name.Name, d.Type)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch s := spec.(type) {
					case *ast.TypeSpec:
						if s.Name.IsExported() && !(s.Assign.IsValid() && publicNames[tree.Name.Name+"."+s.Name.Name]) {
							refuse(s.Name.Name, s.Type)
						}
					case *ast.ValueSpec:
						for i, name := range s.Names {
							if name.IsExported() && s.Type != nil {
								refuse(name.Name, s.Type)
							} else if name.IsExported() && d.Tok == token.VAR && i < len(s.Values) {
								refuse(name.Name, s.Values[i])
							}
						}
					}
				}
			}
		}
		return nil
	})
	if err != nil || seen < 1000 {
		t.Errorf("%d exported declarations: %v", seen, err)
	}
}

// inspectPublic visits the qualified names of a declaration's type that a program outside sees: fields and methods
// without a capital are its own affair, and so are bodies of functions.
func inspectPublic(part ast.Node, visit func(*ast.SelectorExpr)) {
	if part == nil {
		return
	}
	ast.Inspect(part, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.StructType:
			for _, field := range n.Fields.List {
				public := len(field.Names) == 0
				for _, name := range field.Names {
					public = public || name.IsExported()
				}
				if public {
					inspectPublic(field.Type, visit)
				}
			}
			return false
		case *ast.BlockStmt:
			return false
		case *ast.SelectorExpr:
			visit(n)
		}
		return true
	})
}

// receiverIsExported says whether a method belongs to an exported type.
func receiverIsExported(d *ast.FuncDecl) bool {
	exported := true
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		if name, ok := n.(*ast.Ident); ok {
			exported = name.IsExported()
			return false
		}
		return true
	})
	return exported
}
