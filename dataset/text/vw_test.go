package text

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence/internal/cell"
	"github.com/credence-ml/credence/internal/keyhash"
)

var vowpalFields = []string{"label", "weight", "offset"}

func parseVW(b *Block) {
	b.Layout.Fields = append(b.Layout.Fields[:3:3], Field{Name: "tag", Keep: -1, Text: -1, Written: -1})
	(&VW{Rules: Rules{cells: cell.NewRules(nil)}}).Parse(b)
}

// plainVW is the obvious reader.
func plainVW(content string) (rows []sparseRow) {
	end := 0
	for i, line := range strings.Split(content, "\n") {
		end = min(end+len(line)+1, len(content))
		if strings.TrimSpace(line) == "" {
			continue
		}
		row, ok := plainVWRow(line)
		if !ok {
			row = sparseRow{refused: true}
		}
		row.line, row.end = i+1, int64(end)
		rows = append(rows, row)
	}
	return rows
}

// words divides a text where its bytes are blank or below.
func words(text string) []string {
	var all []string
	for _, word := range bytes.FieldsFunc([]byte(text), func(r rune) bool { return r <= ' ' }) {
		all = append(all, string(word))
	}
	return all
}

func plainVWRow(line string) (row sparseRow, ok bool) {
	head, body, found := strings.Cut(line, "|")
	if !found {
		return row, false
	}
	row.values = []float64{math.NaN(), 1, 0}
	numbers := words(head)
	touching := head != "" && head[len(head)-1] > ' '
	if touching {
		numbers = numbers[:len(numbers)-1]
	}
	numbers = slices.DeleteFunc(numbers, func(word string) bool { return word[0] == '\'' })
	if len(numbers) > 3 {
		return row, false
	}
	rules := cell.NewRules(nil)
	for k, word := range numbers {
		value, fault := rules.Number([]byte(word), &cell.Notation{})
		if fault != "" {
			return row, false
		}
		row.values[k] = value
	}
	number := func(text string, colon bool) (float64, bool) {
		if !colon {
			return 1, true
		}
		value, finite, isNumber := cell.ParseNumber([]byte(text))
		return value, isNumber && finite
	}
	for _, part := range strings.Split(body, "|") {
		name := ""
		if part != "" && part[0] > ' ' {
			name = words(part)[0]
			part = part[len(name):]
		}
		name, text, colon := strings.Cut(name, ":")
		scale, ok := number(text, colon)
		if !ok {
			return row, false
		}
		for _, word := range words(part) {
			token, text, colon := strings.Cut(word, ":")
			value, ok := number(text, colon)
			if value *= scale; !ok || math.IsInf(value, 0) {
				return row, false
			}
			full := name + "^" + token
			if k := slices.Index(row.names, full); k >= 0 {
				row.value[k] += value
				continue
			}
			row.names, row.value = append(row.names, full), append(row.value, value)
			row.keys = append(row.keys, keyhash.Text(keyhash.Space(name), []byte(token)))
		}
	}
	return row, !slices.ContainsFunc(row.value, func(v float64) bool { return math.IsInf(v, 0) })
}

func requirePlainVW(t testing.TB, content string, size int) {
	t.Helper()
	got, _, _ := sparseRows(t, content, size, vowpalFields, parseVW)
	requireRows(t, content, got, plainVW(content))
}

func TestVWEqualsPlainReader(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		var b strings.Builder
		for range rng.IntN(5) {
			b.WriteString([]string{"1 2 3 4 ", "x ", "-1 0.5 ", "1 2 0.25 ", "", "NA ", "1 'tag", "0 tag", "1 "}[min(rng.IntN(30), 8)])
			for range 1 + rng.IntN(3) {
				fmt.Fprintf(&b, "|%s", []string{"c:x", "site:1e200", "b:2", "", "b", "a"}[min(rng.IntN(20), 5)])
				for range rng.IntN(5) {
					fmt.Fprintf(&b, " %s%s", []string{"u", "v", "w", "7", ""}[rng.IntN(5)], []string{":z", ":1e200", ":2", ":-0.5", ""}[min(rng.IntN(40), 4)])
				}
				b.WriteString([]string{"", " "}[rng.IntN(2)])
			}
			b.WriteString([]string{"\n1 a b\n", "\r\n", "\n\n", "\n \n", "\n"}[min(rng.IntN(20), 4)])
		}
		requirePlainVW(t, b.String(), 1+rng.IntN(60))
	}
}

// Tokens of all lengths, of bytes above and below those that end one, with few values and repeats: what most rows have.
func TestVWOfPlainTokens(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		var b strings.Builder
		for range 3 {
			b.WriteString([]string{"1 |", "-1 |a"}[rng.IntN(2)])
			for range rng.IntN(40) {
				b.WriteByte(' ')
				for range 1 + rng.IntN(18) {
					b.WriteByte("!09;a{}\x80\xff"[rng.IntN(9)])
				}
				b.WriteString([]string{":1", ":2", " ", "|b", ""}[min(rng.IntN(60), 4)])
			}
			b.WriteString(" 7 7\n")
		}
		requirePlainVW(t, b.String(), 1+rng.IntN(400))
	}
}

func FuzzVW(f *testing.F) {
	for _, seed := range []string{"1 |a u v:2\n", "-1 2 0.5 'x|a:2 u u:3|b u\n", "|", "1 2 3 4 |\n\n0 | 1:1", "NA tag|a :3 |:2 x\r\n"} {
		f.Add(seed, uint8(9))
	}
	f.Fuzz(func(t *testing.T, content string, size uint8) {
		requirePlainVW(t, content, int(size)+1)
	})
}

func TestVWFaults(t *testing.T) {
	for content, want := range map[string]string{
		"1 |a u\n1 a b\n":      `t.svm:2: the row has no | before its features`,
		"x |a u\n":             `t.svm:1: column "label": "x" is not a number`,
		"1 y |a u\n":           `t.svm:1: column "weight": "y" is not a number`,
		"1 1 z |a u\n":         `t.svm:1: column "offset": "z" is not a number`,
		"1 2 3 4 |a u\n":       `t.svm:1: "4" is one word too many before the |`,
		"1 |a u:x\n":           `t.svm:1: the value of feature "u", "x", is not a finite number`,
		"1 |a:1e200 u:1e200\n": `t.svm:1: the values of one feature add up to infinity`,
	} {
		_, _, faults := sparseRows(t, content, 100, vowpalFields, parseVW)
		if len(faults) != 1 || !strings.HasPrefix(faults[0].Error(), want) {
			t.Errorf("%q: error is %v, want %s", content, faults, want)
		}
	}
}
