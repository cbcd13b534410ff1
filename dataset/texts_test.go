package dataset

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

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
