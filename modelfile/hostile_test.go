package modelfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/study"
	"github.com/credence-ml/credence/safetensors"
)

// hostile are values that an adversary may put in the place of any other.
var hostile = []any{
	json.Number("-1"), json.Number("0"), json.Number("1"), json.Number("2"), json.Number("7"), json.Number("0.5"),
	json.Number("2147483648"), json.Number("2305843009213693952"), json.Number("4611686018427387904"), json.Number("9223372036854775807"),
	json.Number("1e300"), json.Number("-1e300"), json.Number("1e-300"),
	"", "a", "x", "x2", "x4", "y", "zip", "scale", "log", "classes", "grades", "drop", "indicator", "zero", "prior",
	true, false, nil, []any{}, map[string]any{},
}

// place is a value inside a document, with what puts another there.
type place struct {
	path string
	set  func(value any)
}

// places returns every value inside a document, lists and objects among them.
func places(path string, value any) []place {
	var all []place
	visit := func(key any, inner any, set func(any)) {
		path := fmt.Sprintf("%s.%v", path, key)
		all = append(all, place{path, set})
		all = append(all, places(path, inner)...)
	}
	switch value := value.(type) {
	case map[string]any:
		var keys []string
		for key := range value {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		for _, key := range keys {
			visit(key, value[key], func(v any) { value[key] = v })
		}
	case []any:
		for i := range value {
			if _, number := value[i].(json.Number); number && i > 1 {
				continue // like the first two of the list
			}
			visit(i, value[i], func(v any) { value[i] = v })
		}
	}
	return all
}

// Any value of the document replaced by any other, one or two at a time, is refused or
// gives a fit that predicts. Random bytes, as in FuzzDocument, hardly ever get beyond the
// parser of JSON.
func TestHostileDocuments(t *testing.T) {
	fitted, batch := example(t)
	hostileDocuments(t, fitted, func(read *credence.Fitted) bool { return predictsAgain(read, batch) })
	hostileDocuments(t, keyedFit(true, false), func(*credence.Fitted) bool { return true })
}

// hostileDocuments has the document of a fit assembled with one or two values replaced; predict
// says whether a fit predicts.
func hostileDocuments(t *testing.T, fitted *credence.Fitted, predict func(*credence.Fitted) bool) {
	var out bytes.Buffer
	must.Succeed(t, Write(&out, fitted, DefaultParts()))
	file := must.Value(safetensors.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len())))(t)
	read := func(doc any, what string) (predicted bool) {
		defer func() {
			if p := recover(); p != nil {
				t.Errorf("%s: panic: %v", what, p)
			}
		}()
		text := must.Value(json.Marshal(doc))(t)
		fitted, err := assemble(file, text, DefaultParts())
		return err == nil && predict(fitted)
	}
	document := func() any {
		var doc any
		decoder := json.NewDecoder(strings.NewReader(file.Metadata()[metadataKey]))
		decoder.UseNumber()
		must.Succeed(t, decoder.Decode(&doc))
		return doc
	}
	if !read(document(), "the document as it is") {
		t.Fatal("the document as it is does not predict")
	}
	share, pairs := 5, 80 // one value in share is tried at each place
	if study.Long() {
		share, pairs = 1, 2000
	}
	for i := range places("", document()) {
		for k, value := range hostile {
			if (i+k)%share != 0 {
				continue
			}
			doc := document()
			p := places("", doc)[i]
			p.set(value)
			read(doc, fmt.Sprintf("%s = %v", p.path, value))
		}
	}
	rng := rand.New(rand.NewPCG(1, 9))
	for range pairs {
		doc := document()
		what := ""
		for range 2 {
			all := places("", doc)
			p, value := all[rng.IntN(len(all))], hostile[rng.IntN(len(hostile))]
			p.set(value)
			what += fmt.Sprintf("%s = %v ", p.path, value)
		}
		read(doc, what)
	}
}

// predicts reads a file and has it predict.
func predicts(file []byte, batch *credence.Batch) bool {
	read, err := Read(bytes.NewReader(file), int64(len(file)), DefaultParts())
	return err == nil && predictsAgain(read, batch)
}

// predictsAgain names the columns and weights of a model, and predicts the batch's table; false
// where a step is refused.
func predictsAgain(read *credence.Fitted, batch *credence.Batch) bool {
	for _, m := range read.Members {
		for j := range m.Model.Features.Weights() {
			m.Model.Features.(credence.Named).WeightName(j)
		}
		if _, err := m.Model.Features.(ability.Rescaled).OwnUnits("mean"); err != nil && !strings.Contains(err.Error(), "base") {
			panic(err)
		}
	}
	f, ok := read.Frame.(*frame.Frame)
	if !ok {
		return true
	}
	f.Columns()
	f.Needs(true)
	for _, targets := range []frame.Targets{frame.RequireTargets, frame.UseTargets, frame.IgnoreTargets} {
		data, err := f.Bind(newTable(), targets)
		if err != nil {
			return false
		}
		rows := *batch
		if err := data.Read(&rows, 0, data.Rows()); err != nil {
			return false
		}
		dist, err := read.Distribution(credence.NewWorkspace(1), &rows)
		if err != nil {
			return false
		}
		for i := range dist.Rows() {
			dist.Moments(i)
			dist.Quantile(i, 0.95)
		}
	}
	return true
}
