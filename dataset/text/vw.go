package text

import (
	"bytes"
	"math"

	"github.com/credence-ml/credence/internal/cell"
	"github.com/credence-ml/credence/internal/keyhash"
	"github.com/credence-ml/credence/table"
)

// VW parses blocks of Vowpal Wabbit text:
//
//	[label [importance [base]]] ['tag]|namespace[:scale] feature[:value] … |namespace …
//
// A tag is a word that begins with a quote or touches the first bar. The layout
// has four fields: label, weight (the importance, 1 where there is none), offset
// (the base, 0 where there is none) and tag. The key of an entry is the hash of
// its namespace and token; where a row repeats a token the values add up. It is
// safe for concurrent use on different blocks.
type VW struct{ Rules Rules }

// Parse turns the text of b into rows.
func (v *VW) Parse(b *Block) {
	data := b.Data
	b.Start = append(b.Start, 0)
	b.Text = data
	for i, line := 0, b.Line; i < len(data); line++ {
		end := i + bytes.IndexByte(data[i:], '\n')
		row := data[i:end]
		if len(bytes.TrimSpace(row)) == 0 {
			i = end + 1
			continue
		}
		b.At(line)
		b.entries.begin()
		column, what := "", "the row has no | before its features: is this Vowpal Wabbit text?"
		if bar := bytes.IndexByte(row, '|'); bar >= 0 {
			if column, what = v.head(b, row[:bar], line); what == "" {
				what = v.features(b, i+bar, end, line)
			}
		}
		i = end + 1
		if what != "" {
			b.fail(i, line, column, what)
			continue
		}
		b.Start = append(b.Start, len(b.Keys))
		b.end(i)
	}
}

// head reads what stands before the first bar into the row, and returns what is
// wrong with which column.
func (v *VW) head(b *Block, text []byte, line int) (column, fault string) {
	words := [4][]byte{nil, []byte("1"), []byte("0"), nil}
	count := 0
	for i := 0; ; {
		for i < len(text) && text[i] <= ' ' {
			i++
		}
		if i == len(text) {
			break
		}
		end := wordEnd(text, i)
		word := text[i:end:end]
		i = end
		switch {
		case word[0] == '\'':
			words[3] = word[1:]
		case end == len(text):
			words[3] = word
		case count == 3:
			return "", cell.Quote(word) + " is one word too many before the |: write label, importance, base, 'tag"
		default:
			words[count] = word
			count++
		}
	}
	for k := range words {
		target := &b.Layout.Fields[k]
		if fault := b.field(&v.Rules, target, words[k], line); fault != "" {
			return target.Name, fault
		}
	}
	return "", ""
}

// features reads the namespaces between the first bar, at first, and the end of
// the row; what says what is wrong.
func (v *VW) features(b *Block, first, end, line int) (what string) {
	data := b.Data
	for i := first; i < end; {
		i++ // the bar
		from := i
		i = featureEnd(data, i, end)
		name, scale, what := v.split(data, from, i)
		if what != "" {
			return what
		}
		space, isNew := b.Spaces.Find(name, line)
		if isNew {
			b.spaceKeys = append(b.spaceKeys[:space], keyhash.Text(0, name))
		}
		key := b.spaceKeys[space]
		for i < end && data[i] != '|' {
			if data[i] <= ' ' {
				i++
				continue
			}
			from = i
			i = featureEnd(data, i, end)
			token, value, what := v.split(data, from, i)
			if what != "" {
				return what
			}
			value *= scale
			if math.IsInf(value, 0) && !v.Rules.KeepInfinite {
				return notFinite
			}
			b.entry(keyhash.Text(key, token), value, space, table.Span{From: int32(from), To: int32(from + len(token))})
		}
	}
	if !b.finite() && !v.Rules.KeepInfinite {
		return notFinite
	}
	return ""
}

// entry appends an entry to the open row, or adds it to the one that has its key.
func (b *Block) entry(key uint64, value float64, space int, token table.Span) {
	first := b.Start[b.Count]
	if k := b.entries.find(b.Keys[first:], key); k >= 0 {
		b.spellOnes()
		b.Value[first+k] += value
		return
	}
	if value != 1 {
		b.spellOnes()
	}
	b.Keys = append(b.Keys, key)
	if !b.Ones {
		b.Value = append(b.Value, value)
	}
	b.Space = append(b.Space, int32(space))
	b.Tokens = append(b.Tokens, token)
}

// featureEnd returns the end of the word or the bar that follows from i.
func featureEnd(data []byte, i, end int) int {
	for i < end && data[i] > ' ' && data[i] != '|' {
		i++
	}
	return i
}

// wordEnd returns the end of the run of characters above the blank from i.
func wordEnd(text []byte, i int) int {
	for i < len(text) && text[i] > ' ' {
		i++
	}
	return i
}

// split separates name[:value] between from and end, behind which there is a byte
// that is no part of a number.
func (v *VW) split(data []byte, from, end int) (name []byte, value float64, what string) {
	text := data[from:end:end]
	colon := bytes.IndexByte(text, ':')
	if colon < 0 {
		return text, 1, ""
	}
	value, next, ok := cell.ScanNumber(data, from+colon+1)
	if !ok || next != end {
		var finite bool
		if value, finite, ok = cell.ParseNumber(text[colon+1:]); !ok || !finite && !v.Rules.KeepInfinite {
			return nil, 0, "the value of feature " + cell.Quote(text[:colon]) + ", " + cell.Quote(text[colon+1:]) + ", is not a finite number: correct the row"
		}
	}
	return text[:colon:colon], value, ""
}
