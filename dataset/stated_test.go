package dataset_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/internal/conform/must"
)

const statedText = "id;zip;when;price;sold;city;gone\n7;01234;02.03.2021;1.234,50;yes;Bern;-\n8;05000;13.03.2021;2.000,00;no;Basel;4\n9;00100;14.03.2021;17,25;no;Bern;5\n"

func opened(t *testing.T, text string, options dataset.Options) (*dataset.Table, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.csv")
	must.Succeed(t, os.WriteFile(path, []byte(text), 0o600))
	options.CacheDir = t.TempDir()
	return dataset.Open(t.Context(), []string{path}, options)
}

// loaded returns the schema of all columns and the first row.
func loaded(t *testing.T, text string, options dataset.Options) (*dataset.Table, *credence.Schema, []float64) {
	t.Helper()
	table := must.Value(opened(t, text, options))(t)
	source := must.Value(table.Load(t.Context(), nil))(t)
	var chunk credence.Chunk
	must.Succeed(t, source.Read(&chunk, 0, 1))
	return table, source.Schema(), slices.Clone(chunk.Values.Row(0))
}

// TestStatedSchema: a schema that was written and read states how another file is read, whatever that file looks like;
// --types override it, what it lacks is inferred and noted, and levels that it lacks are noted.
func TestStatedSchema(t *testing.T) {
	_, schema, first := loaded(t, statedText, dataset.Options{Types: map[string]credence.Kind{"zip": credence.Category}, MissingTokens: []string{"-"}, Delimiter: ';'})
	var file bytes.Buffer
	must.Succeed(t, dataset.WriteSchema(&file, schema))
	stated := must.Value(dataset.ReadSchema(bytes.NewReader(file.Bytes())))(t)
	var again bytes.Buffer
	must.Succeed(t, dataset.WriteSchema(&again, stated))
	if again.String() != file.String() || !strings.Contains(file.String(), `"date": "dmy"`) || !strings.Contains(file.String(), `"missing": [`) || !strings.Contains(file.String(), `"delimiter": ";"`) {
		t.Errorf("%s\nread and written again:\n%s", file.String(), again.String())
	}
	if _, _, values := loaded(t, statedText, dataset.Options{Stated: stated}); !slices.EqualFunc(values, first, func(a, b float64) bool { return a == b || a != a && b != b }) {
		t.Errorf("row %v, want %v", values, first)
	}
	// A file whose dates may be read in two ways, whose zip codes look like numbers and whose price has no comma.
	table, got, values := loaded(t, "id;zip;when;price;sold;city;gone;more\n1;1234;02.03.2021;1.234;no;Zug;-;x\n", dataset.Options{Stated: stated})
	for k, want := range []credence.Kind{credence.Numeric, credence.Category, credence.Numeric, credence.Numeric, credence.Boolean, credence.Category, credence.Numeric, credence.Category} {
		if got.Columns[k].Kind != want {
			t.Errorf("%s is a %s, want %s", got.Columns[k].Name, got.Columns[k].Kind, want)
		}
	}
	// 2 March 2021, thousands, no, missing
	if values[2] != 18688 || values[3] != 1234 || values[4] != 0 || values[6] == values[6] {
		t.Errorf("%v", values)
	}
	// What is asked for goes before what the schema states.
	if _, _, values := loaded(t, "id,zip,when,price,sold,city,gone\n7,1234,02.03.2021,2,no,Zug,-\n", dataset.Options{Stated: stated, Delimiter: ','}); values[0] != 7 {
		t.Errorf("by commas: %v", values)
	}
	var notes []string
	for _, n := range table.Notes() {
		notes = append(notes, n.Column+" "+n.Text)
	}
	text := strings.Join(notes, "\n")
	for _, want := range []string{"more is not in the schema, and is read as a category", `city has the level "Zug", which the schema lacks`, `zip has the level "1234", which the schema lacks`} {
		if !strings.Contains(text, want) {
			t.Errorf("notes\n%s\nlack %q", text, want)
		}
	}
	// Levels are compared in rows of the cache, too.
	folder := t.TempDir()
	for range 2 {
		path := filepath.Join(folder, "y.csv")
		if _, err := os.Stat(path); err != nil {
			must.Succeed(t, os.WriteFile(path, []byte(strings.ReplaceAll(statedText, "Bern", "Zug")), 0o600))
		}
		again := must.Value(dataset.Open(t.Context(), []string{path}, dataset.Options{Stated: stated, MemoryLimit: -1, CacheDir: folder}))(t)
		must.Value(again.Load(t.Context(), nil))(t)
		if !slices.ContainsFunc(again.Notes(), func(n dataset.Note) bool { return n.Column == "city" && strings.Contains(n.Text, `"Zug"`) }) {
			t.Errorf("notes %+v", again.Notes())
		}
	}
	if strings.Contains(text, "when ") || strings.Contains(text, "price ") {
		t.Errorf("doubts about what is stated:\n%s", text)
	}
	american := strings.NewReplacer("13.03.", "02/03/", "14.03.", "02/03/", "02.03.", "02/03/").Replace(statedText)
	for _, types := range []map[string]credence.Kind{{"zip": credence.Numeric, "when": credence.Numeric}, {"zip": credence.Numeric}} {
		_, got, values = loaded(t, american, dataset.Options{Stated: stated, Types: types, Dates: map[string]string{"when": "mdy"}})
		if got.Columns[1].Kind != credence.Numeric || values[1] != 1234 || values[2] != 18661 { // 3 February
			t.Errorf("overridden by %v: %+v, %v", types, got.Columns[1], values)
		}
	}
	// For a model it is the model that knows which columns there must be.
	if _, err := opened(t, "id;zip\n1;2\n", dataset.Options{Stated: stated, Schema: &credence.Schema{Columns: []credence.Column{{Name: "id"}}}}); err != nil {
		t.Error(err)
	}
	if _, err := opened(t, "id;zip\n1;2\n", dataset.Options{Stated: stated}); err == nil || !strings.Contains(err.Error(), `--schema names the column "when", which`) {
		t.Errorf("a column that is absent: %v", err)
	}
}

// TestSchemaRefused: what is no schema, in a line that says why.
func TestSchemaRefused(t *testing.T) {
	for text, want := range map[string]string{
		``:                                  "it is no schema",
		`[]`:                                "it is no schema",
		`{"columns": []}`:                   "names no column",
		`{}`:                                "names no column",
		`{"columns": [{"name": "a"}]}`:      `of kind "": use number, boolean or category`,
		`{"columns": [{"kind": "number"}]}`: "has no name",
		`{"columns": [{"name": "a", "kind": "number", "sort": 1}]}`:                                        "unknown field",
		`{"columns": [{"name": "a", "kind": "number"}, {"name": "a", "kind": "number"}]}`:                  `"a" twice`,
		`{"columns": [{"name": "a", "kind": "number", "date": "ydm"}]}`:                                    "use ymd, dmy or mdy",
		`{"columns": [{"name": "a", "kind": "number", "decimal": ";"}]}`:                                   "use . or a comma",
		`{"columns": [{"name": "a", "kind": "category", "date": "dmy"}]}`:                                  "leave them out",
		`{"columns": [{"name": "a", "kind": "boolean", "levels": ["x"]}]}`:                                 "leave them out",
		`{"columns": [{"name": "a", "kind": "number"}], "delimiter": ";;"}`:                                "not one character",
		`{"columns": [{"name": "a", "kind": "number"}], "delimiter": "` + strings.Repeat("\\\"", 1) + `"}`: "not one character",
	} {
		if _, err := dataset.ReadSchema(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
