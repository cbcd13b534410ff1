package text

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

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

// What the importance and the base are where a row has none.
var one, zero = []byte("1"), []byte("0")

// head reads what stands before the first bar into the row, and returns what is
// wrong with which column.
func (v *VW) head(b *Block, text []byte, line int) (column, fault string) {
	words := [4][]byte{nil, one, zero, nil}
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
// the row; what says what is wrong, in which case no entries are kept.
func (v *VW) features(b *Block, first, end, line int) (what string) {
	data := b.Data
	begin := b.Start[b.Count]
	keys, values, spaces, tokens, ones := b.Keys, b.Value, b.Space, b.Tokens, b.Ones
	b.entries.begin()
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
		spaceKey := b.spaceKeys[space]
		for i < end && data[i] != '|' {
			if data[i] <= ' ' {
				i++
				continue
			}
			if ones && scale == 1 {
				most, count := (end-i)/2+1, 0
				keys, tokens = slices.Grow(keys, most), slices.Grow(tokens, most)
				i, count = b.entries.plain(data, i, spaceKey, keys[len(keys):len(keys)+most], tokens[len(tokens):len(tokens)+most])
				keys, tokens = keys[:len(keys)+count], tokens[:len(tokens)+count]
				for len(spaces) < len(keys) {
					spaces = append(spaces, int32(space))
				}
				if data[i] <= ' ' || data[i] == '|' {
					continue
				}
			}
			from = i
			for data[i] > ' ' && data[i] != '|' && data[i] != ':' {
				i++
			}
			token, value := table.Span{From: int32(from), To: int32(i)}, 1.0
			if i < end && data[i] == ':' {
				from = i + 1
				i = featureEnd(data, i, end)
				if value, what = v.number(data, from, i); what != "" {
					return "the value of feature " + cell.Quote(data[token.From:token.To]) + ", " + what
				}
			}
			if value *= scale; math.IsInf(value, 0) {
				return notFinite
			}
			key := keyhash.Text(spaceKey, data[token.From:token.To])
			if k := b.entries.find(keys[begin:], key); k >= 0 {
				if ones {
					ones, values = false, AppendOnes(values[:0], len(keys))
				}
				if values[begin+k] += value; math.IsInf(values[begin+k], 0) {
					return notFinite
				}
				continue
			}
			if ones && value != 1 {
				ones, values = false, AppendOnes(values[:0], len(keys))
			}
			if keys = append(keys, key); !ones {
				values = append(values, value)
			}
			spaces, tokens = append(spaces, int32(space)), append(tokens, token)
		}
	}
	b.Keys, b.Value, b.Space, b.Tokens, b.Ones = keys, values, spaces, tokens, ones
	return ""
}

// plain takes the tokens from i on, of a row, up to the first that has more than seven bytes, a value or a key that
// the row may have had: nearly all of them. It returns where it stopped and how many there were; there is room for
// all.
func (e *entries) plain(data []byte, i int, space uint64, keys []uint64, tokens []table.Span) (next, count int) {
	stamps, stamp := e.stamps, e.stamp
	tokens = tokens[:len(keys)]
	for ; count < len(keys) && i+8 <= len(data); count++ {
		word := binary.LittleEndian.Uint64(data[i : i+8 : i+8]) // with a bound of its own a slice costs nothing
		length := tokenLength(word)
		behind := byte(word >> (8 * length & 63))
		first, last := keyhash.Parts(word, length)
		key := keyhash.Short(space, first, last, length)
		if length == 0 || behind > ' ' || stamps[key%stampCount] == stamp {
			break
		}
		stamps[key%stampCount] = stamp
		keys[count], tokens[count] = key, table.Span{From: int32(i), To: int32(i + length)}
		if i += length; behind == ' ' {
			i++
		}
	}
	return i, count
}

// tokenLength returns how many of eight bytes stand before the first that ends a token, a blank or below, a colon or a
// bar, up to seven. A byte that ends one raises its top bit; borrows reach the bytes behind it alone.
func tokenLength(word uint64) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	colon, bar := word^':'*ones, word^'|'*ones
	ends := (word-(' '+1)*ones)&^word | (colon-ones)&^colon | (bar-ones)&^bar
	return bits.TrailingZeros64(ends&tops|1<<63) / 8
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

// split separates name[:value] between from and end.
func (v *VW) split(data []byte, from, end int) (name []byte, value float64, what string) {
	text := data[from:end:end]
	colon := bytes.IndexByte(text, ':')
	if colon < 0 {
		return text, 1, ""
	}
	if value, what = v.number(data, from+colon+1, end); what != "" {
		what = "the value of feature " + cell.Quote(text[:colon]) + ", " + what
	}
	return text[:colon:colon], value, what
}

// number reads the number between from and end, behind which there is a byte that is
// no part of a number.
func (v *VW) number(data []byte, from, end int) (value float64, what string) {
	value, next, ok := cell.ScanNumber(data, from)
	if !ok || next != end {
		var finite bool
		if value, finite, ok = cell.ParseNumber(data[from:end]); !ok || !finite {
			return 0, cell.Quote(data[from:end]) + ", is not a finite number: correct the row"
		}
	}
	return value, ""
}
