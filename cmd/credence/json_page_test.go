package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// jsonObjects are what --json prints, by command: types of the source, as folder.Type.
var jsonObjects = []struct{ title, text, of string }{
	{"fit", "", "score.Summary"},
	{"inspect", "The fields of fit, and", "cmd/credence.inspection"},
	{"select", "The fields of fit, and", "selection.Result"},
	{"stream", "A line after every `--report` rows, of the rows scored so far, each before it was used for training:", "cmd/credence.streamProgress"},
	{"", "With more passes than one, or `--holdout`, a line after every pass:", "learn.Pass"},
	{"", "The last line has the fields of fit, and", "cmd/credence.streamResult"},
	{"predict", "With `-o` for the predictions:", "cmd/credence.predicted"},
	{"draws", "With `-o` for the draws:", "cmd/credence.drawn"},
	{"evaluate", "", "cmd/credence.evaluated"},
	{"", "With `--cv` or `--split` also", "cmd/credence.refitted"},
	{"compare", "", "score.Comparison"},
	{"", "With `--cv` or `--split` also", "cmd/credence.comparison"},
	{"effects", "", "effect.Result"},
	{"plot", "", "cmd/credence.plotResult"},
	{"", "and the data of the picture", "internal/chart.Chart"},
	{"report", "", "cmd/credence.reported"},
	{"calibrate", "The fields of `calibration` of inspect, and", "cmd/credence.calibrated"},
	{"look", "", "look.Result"},
	{"job and merge", "Where a round is to be answered; merge with a model has the fields of fit:", "cmd/credence.asked"},
	{"partial", "", "cmd/credence.answers"},
	{"active rank", "One field, `candidates`, the best first:", "active/rank.Row"},
	{"active simulate", "", "active.Simulation"},
	{"cache list and clean", "", "cmd/credence.cacheResult"},
	{"version", "", "cmd/credence.build"},
	{"A prediction in a Go service", "What `score.Row`, `Bound.Score` and `Rows.Predict` return. What there is none of is left out: `sd` beside `mean` where the variance is beyond all numbers or there is none, as of studentt with 2 degrees of freedom and fewer; `lower` and `upper` hold there, too.", "score.Prediction"},
}

// TestJSONPage keeps docs/json.md equal to the types that are printed and to their comments. With
// CREDENCE_WRITE=1 it writes the page.
func TestJSONPage(t *testing.T) {
	w := &jsonPage{t: t, folders: map[string]map[string]*ast.StructType{}, told: map[string]bool{}}
	w.WriteString(`# The fields of --json

Every command writes one JSON object with ` + "`--json`" + `, and nothing else, to standard output; ` + "`stream`" + ` writes JSON Lines, the last of which is the
fit. Fields may be added, and are never renamed. A field marked ° is left out where it says nothing. Logarithms are natural.
A command that fails writes no object: its message is on standard error and its exit code is 1, 2 where it can be told without the data (a flag, a formula, a name), 3 where merge needs another round, 130 after Ctrl-C.

This page is made from the source: the tables are the comments of the types that are printed.
`)
	for _, object := range jsonObjects {
		if object.title != "" {
			fmt.Fprintf(w, "\n## %s\n", object.title)
		}
		if object.text != "" {
			fmt.Fprintf(w, "\n%s\n", object.text)
		}
		w.table(object.of)
	}
	const path = "../../docs/json.md"
	if os.Getenv("CREDENCE_WRITE") != "" {
		if err := os.WriteFile(path, []byte(w.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	page := sure(os.ReadFile(path))(t)
	if string(page) != w.String() {
		t.Error("docs/json.md differs from the source: CREDENCE_WRITE=1 go test ./cmd/credence -run JSONPage writes it")
	}
}

// jsonPage writes tables of the fields of types.
type jsonPage struct {
	strings.Builder
	t       *testing.T
	folders map[string]map[string]*ast.StructType
	told    map[string]bool // types that have a table
	seen    map[string]bool // fields of the table that is being written
}

// find returns a struct type, nil if folder.Type is none.
func (w *jsonPage) find(of string) *ast.StructType {
	dot := strings.LastIndex(of, ".")
	folder, name := of[:dot], of[dot+1:]
	if w.folders[folder] == nil {
		w.folders[folder] = map[string]*ast.StructType{}
		entries, err := os.ReadDir("../../" + folder)
		if err != nil { // of the standard library
			return nil
		}
		for _, entry := range entries {
			if !strings.HasSuffix(entry.Name(), ".go") {
				continue
			}
			tree, err := parser.ParseFile(token.NewFileSet(), "../../"+folder+"/"+entry.Name(), nil, parser.ParseComments)
			if err != nil {
				w.t.Fatal(err)
			}
			ast.Inspect(tree, func(n ast.Node) bool {
				if spec, ok := n.(*ast.TypeSpec); ok {
					if s, ok := spec.Type.(*ast.StructType); ok {
						w.folders[folder][spec.Name.Name] = s
					}
				}
				return true
			})
		}
	}
	return w.folders[folder][name]
}

// part names the type behind pointers, lists and maps as folder.Type; folder is where it is written.
func part(folder string, e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return part(folder, e.X)
	case *ast.ArrayType:
		return part(folder, e.Elt)
	case *ast.MapType:
		return part(folder, e.Value)
	case *ast.SelectorExpr:
		of := e.X.(*ast.Ident).Name
		switch of {
		case "credence":
			of = "."
		case "refit":
			of = "selection/refit"
		}
		return of + "." + e.Sel.Name
	case *ast.Ident:
		return folder + "." + e.Name
	}
	return folder + ".?"
}

// table writes the fields of a type, and below them those of the types inside that were not told yet.
func (w *jsonPage) table(of string) {
	s := w.find(of)
	if s == nil {
		w.t.Fatalf("there is no type %s", of)
	}
	w.told[of], w.seen = true, map[string]bool{}
	w.WriteString("\n| field | |\n|---|---|\n")
	inside := w.rows(of, s)
	for _, field := range inside {
		if !w.told[field[1]] {
			fmt.Fprintf(w, "\nEach of `%s`:\n", field[0])
			w.table(field[1])
		}
	}
}

// rows writes a line for every field, those of embedded types in their place, and returns the names and
// types of fields that are objects.
func (w *jsonPage) rows(of string, s *ast.StructType) (inside [][2]string) {
	folder := of[:strings.LastIndex(of, ".")]
	told := ""                   // the comments so far
	names := map[string]string{} // of JSON, by the name in the source
	for _, f := range s.Fields.List {
		if f.Tag != nil && len(f.Names) == 1 {
			key, _, _ := strings.Cut(reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json"), ",")
			names[f.Names[0].Name] = key
		}
	}
	for _, f := range s.Fields.List {
		if len(f.Names) == 0 {
			embedded := part(folder, f.Type)
			if inner := w.find(embedded); inner != nil && !w.told[embedded] {
				w.told[embedded] = true
				inside = append(inside, w.rows(embedded, inner)...)
			}
			continue
		}
		name := names[f.Names[0].Name]
		if f.Tag == nil || name == "-" || w.seen[name] {
			continue
		}
		w.seen[name] = true
		absent := ""
		if strings.Contains(f.Tag.Value, ",omit") {
			absent = "°"
		}
		text := strings.TrimSpace(f.Doc.Text() + " " + f.Comment.Text())
		if text == "" && regexp.MustCompile(`\b`+f.Names[0].Name+`\b`).MatchString(told) {
			text = "see above"
		}
		told += f.Doc.Text()
		for goName, jsonName := range names {
			text = regexp.MustCompile(`\b`+goName+`\b`).ReplaceAllString(text, "`"+jsonName+"`")
		}
		text = strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
		fmt.Fprintf(w, "| `%s`%s | %s |\n", name, absent, strings.TrimPrefix(text, "`"+name+"` is "))
		if object := part(folder, f.Type); w.find(object) != nil {
			inside = append(inside, [2]string{name, object})
		}
	}
	return inside
}
