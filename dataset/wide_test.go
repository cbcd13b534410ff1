package dataset

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/must"
)

// wideText is a text as UTF-16 with its byte order mark.
func wideText(text string, order binary.ByteOrder) string {
	var out bytes.Buffer
	for _, unit := range append([]uint16{0xfeff}, utf16.Encode([]rune(text))...) {
		binary.Write(&out, order, unit)
	}
	return out.String()
}

// UTF-16 is read as the same text in UTF-8 is: whole, compressed, from a pipe, and from a place on.
func TestUTF16(t *testing.T) {
	var text strings.Builder
	text.WriteString("größe,wort,y\n")
	for i := range 30_000 {
		fmt.Fprintf(&text, "%d,%s,%d\n", i%97, []string{"é", "𝒳𝒴", "ascii", "漢字"}[i%4], i*i%13)
	}
	plain, _, err := load(t, Options{}, nil, write(t, "t.csv", text.String()))
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprint(plain.Schema(), plain.Rows())
	var first, other credence.Chunk
	plain.Read(&first, 0, plain.Rows())
	for name, order := range map[string]binary.ByteOrder{"little": binary.LittleEndian, "big": binary.BigEndian} {
		wide := wideText(text.String(), order)
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		w.Write([]byte(wide))
		w.Close()
		for kind, path := range map[string]string{"plain": write(t, "t.csv", wide), "gz": write(t, "t.csv.gz", packed.String()), "pipe": "-"} {
			got, _, err := load(t, Options{Stdin: strings.NewReader(wide)}, nil, path)
			if err != nil {
				t.Fatalf("%s, %s: %v", name, kind, err)
			}
			got.Read(&other, 0, got.Rows())
			if text := fmt.Sprint(got.Schema(), got.Rows()); text != want || fmt.Sprint(first.Values.Data) != fmt.Sprint(other.Values.Data) {
				t.Errorf("%s, %s: %s, want %s", name, kind, text, want)
			}
		}
		path := write(t, "t.csv", wide)
		table := must.Value(Open(t.Context(), []string{path}, Options{Once: true, Keyed: true}))(t)
		at, rows := credence.Position{}, 0
		stop := fmt.Errorf("stop")
		err = table.Rows(context.Background(), nil, at, func(run *Run) error { at, rows = run.Finish(), run.Rows.Count; return stop })
		if err != stop || rows == 0 || rows == 30_000 {
			t.Fatalf("%d rows, %v", rows, err)
		}
		if err := table.Rows(context.Background(), nil, at, func(run *Run) error { rows += run.Rows.Count; return nil }); err != nil || rows != 30_000 {
			t.Errorf("%s: %d rows in two goes, %v", name, rows, err)
		}
		table.Close()
	}
	lone := "a,y\n" + strings.Repeat("x,1\nz,2\n", 9)
	broken := strings.Replace(wideText(lone, binary.LittleEndian), "x\x00", "\x00\xd8", 1) // half of a pair
	if got, _, err := load(t, Options{}, nil, write(t, "t.csv", broken)); err != nil || len(got.Schema().Columns[0].Levels) != 3 {
		t.Errorf("%v, %v", got, err)
	}
}
