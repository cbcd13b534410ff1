package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestStreamsHaveTheirPurpose: every purpose of random numbers that package credence names is drawn for somewhere, so
// that nothing draws from the stream of another purpose: such numbers would repeat those that were drawn before; and no
// two places draw from one stream of a purpose. No part of the product makes a generator beside credence.Rand.
func TestStreamsHaveTheirPurpose(t *testing.T) {
	root := filepath.Join("..", "..")
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, "random.go"), nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	drawn, streams := map[string]int{}, map[string]int{}
	ast.Inspect(file, func(node ast.Node) bool {
		if spec, ok := node.(*ast.ValueSpec); ok {
			if of, ok := spec.Type.(*ast.Ident); ok && of.Name == "Purpose" {
				drawn[spec.Names[0].Name] = 0
			}
		}
		return true
	})
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		inside, _ := filepath.Rel(root, path)
		product := inside != "random.go" && !regexp.MustCompile(`^(bench|examples|internal/(conform|relation|study))/`).MatchString(filepath.ToSlash(inside))
		ast.Inspect(file, func(node ast.Node) bool {
			if call, ok := node.(*ast.CallExpr); ok && product && len(call.Args) == 3 {
				if of, ok := call.Fun.(*ast.SelectorExpr); ok && of.Sel.Name == "Rand" {
					streams[strings.TrimPrefix(types.ExprString(call.Args[1]), "credence.")+", "+types.ExprString(call.Args[2])]++
				}
			}
			if of, ok := node.(*ast.SelectorExpr); ok {
				if count, ok := drawn[of.Sel.Name]; ok {
					drawn[of.Sel.Name] = count + 1
				}
				if of.Sel.Name == "NewPCG" && product {
					t.Errorf("%s makes a generator of its own: give it a Purpose in random.go, and credence.Rand", inside)
				}
			}
			return true
		})
		return nil
	})
	if err != nil || len(drawn) < 30 {
		t.Fatalf("%d purposes: %v", len(drawn), err)
	}
	shared := map[string]int{
		"DrawCentres, 0":                     2, // rows that a spline and a period look at
		"GibbsChains, uint64(k)":             2, // of one engine or the other
		"SVIDiagnostics, 0":                  3, // of one approximation or another
		"CriticismDraws, uint64(s.place[i])": 2, // whether copies coincide, and what counts spread by
	}
	for stream, places := range streams {
		if places > max(1, shared[stream]) {
			t.Errorf("%d places draw from the stream (%s): give each one of its own", places, stream)
		}
	}
	for purpose, uses := range drawn {
		if uses == 0 {
			t.Errorf("nothing is drawn for %s: who should, draws from another stream", purpose)
		}
	}
}
