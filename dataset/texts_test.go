package dataset

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/must"
)

// An interrupted reading of kept columns ends; nobody waits for its rows.
func TestTextsEndWhenInterrupted(t *testing.T) {
	const rows = 10_000 // of many blocks
	path := filepath.Join(t.TempDir(), "many.csv")
	must.Succeed(t, os.WriteFile(path, []byte("id\n"+strings.Repeat(strings.Repeat("x", 2000)+"\n", rows)), 0o600))
	table := must.Value(Open(t.Context(), []string{path}, Options{}))(t)
	defer table.Close()
	for range 30 {
		ctx, cancel := context.WithCancel(t.Context())
		k := must.Value(table.Texts(ctx, []string{"id"}))(t)
		if _, err := k.Row(nil, 0); err != nil {
			t.Fatal(err)
		}
		cancel()
		var failed error
		for i := 1; failed == nil && i < rows; i++ {
			_, failed = k.Row(nil, i)
		}
		if !errors.Is(failed, context.Canceled) {
			t.Fatalf("interrupted: %v", failed)
		}
		k.Close()
	}
}

// The texts of a row stay as they are while those of later rows are read, however many there are.
func TestTextsStay(t *testing.T) {
	const rows = 30_000
	content := []byte("id\n")
	for i := range rows {
		content = append(strconv.AppendInt(content, int64(i), 10), "th row\n"...)
	}
	table := must.Value(Open(t.Context(), []string{write(t, "t.csv", string(content))}, Options{}))(t)
	defer table.Close()
	k := must.Value(table.Texts(t.Context(), []string{"id"}))(t)
	defer k.Close()
	var texts [][]byte
	for i := range rows {
		texts = must.Value(k.Row(texts, i))(t)
	}
	for i, text := range texts {
		if want := strconv.Itoa(i) + "th row"; string(text) != want {
			t.Fatalf("row %d is %s, want %s", i, text, want)
		}
	}
}

// What is kept as a number is one that a float64 holds, however it is spelled, or a text that the model has as missing.
func TestNumbersThatAreKept(t *testing.T) {
	type row struct {
		Big float64 `parquet:"big"`
	}
	files := []string{writeParquet(t, []row{{1e20}}), write(t, "t.csv", "big\n1\n")}
	for _, path := range files {
		table := must.Value(Open(t.Context(), []string{path}, Options{Reading: credence.Reading{Missing: []string{"?"}}}))(t)
		defer table.Close()
		number := table.NumberOf("big")
		for text, want := range map[string]float64{"1e+20": 1e20, "1.5e+16": 1.5e16, "9007199254740992": 1 << 53, "?": nan} {
			if v, err := number([]byte(text)); err != nil || v != want && (v == v || want == want) {
				t.Errorf("%s: %s is %v, %v", path, text, v, err)
			}
		}
		if v, err := number([]byte("9007199254740993")); err == nil {
			t.Errorf("%s: 2⁵³ + 1 is %v", path, v)
		}
	}
}
