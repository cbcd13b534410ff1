package text

import (
	"fmt"
	"math"

	"github.com/credence-ml/credence"
)

// LibSVM parses blocks of libsvm text: `label index:value … # comment`, indices
// from 1 and strictly increasing, an optional qid:n behind the label. The layout
// has one field, the label. It is safe for concurrent use on different blocks.
type LibSVM struct {
	Rules Rules
	// SparseLimit is the highest index that is kept; what lies beyond is dropped
	// and counted.
	SparseLimit int
}

// Parse turns the text of b into rows.
func (l *LibSVM) Parse(b *Block) {
	data := b.Data
	target := &b.Layout.Fields[0]
	limit := int64(l.SparseLimit)
	for i, line := 0, b.Line; i < len(data); line++ {
		for blank(data[i]) {
			i++
		}
		if data[i] == '\n' || data[i] == '#' {
			i = lineEnd(data, i) + 1
			continue
		}

		b.at(line)
		first := i
		label, end, ok := scanNumber(data, i)
		if ok && target.Kind == credence.Numeric && (blank(data[end]) || data[end] == '\n' || data[end] == '#') {
			i = end
		} else {
			for !blank(data[i]) && data[i] != '\n' && data[i] != '#' && data[i] != ':' {
				i++
			}
			if data[i] == ':' {
				b.fail(line, "", "the row begins with "+Quote(token(data, first))+", not with a label: put one in front (0 where it is unknown)")
				return
			}
			if target.Keep >= 0 {
				var fault string
				if label, fault = l.Rules.Value(data[first:i:i], target.Kind, &b.Levels[target.Keep], line); fault != "" {
					b.fail(line, target.Name, fault)
					return
				}
			}
		}
		if target.Keep >= 0 {
			b.Values = append(b.Values, label)
		}

		previous, unseen := int64(0), 0.0
		for {
			for blank(data[i]) {
				i++
			}
			c := data[i]
			if c == '\n' || c == '#' {
				break
			}
			first = i
			index := int64(0)
			for {
				digit := data[i] - '0'
				if digit > 9 {
					break
				}
				if index <= math.MaxInt32 {
					index = index*10 + int64(digit)
				}
				i++
			}
			if data[i] != ':' || i == first {
				if c == 'q' && isQuery(data[i:]) {
					i = tokenEnd(data, i)
					b.Queries++
					continue
				}
				b.fail(line, "", Quote(token(data, first))+" is not index:value"+oneLabel(data[first]))
				return
			}
			if index <= previous || index > math.MaxInt32 {
				b.fail(line, "", indexFault(token(data, first), index, previous))
				return
			}
			previous = index
			i++
			value := 1.0
			if data[i] == '1' && (data[i+1] == ' ' || data[i+1] == '\n') {
				i++
			} else {
				start := i
				value, i, ok = scanNumber(data, i)
				if !ok || !blank(data[i]) && data[i] != '\n' && data[i] != '#' {
					i = tokenEnd(data, start)
					var fault numberFault
					if value, fault = parseNumber(data[start:i]); fault == notNumber || fault == infinite && !l.Rules.KeepInfinite {
						b.fail(line, "", Quote(token(data, first))+" has no finite number as its value: correct it, or leave the entry out where the value is 0")
						return
					}
				}
			}
			if index > limit {
				b.Dropped++
				unseen += value * value
				continue
			}
			if value != 1 && b.Ones {
				b.spellOnes()
			}
			b.Index = append(b.Index, int32(index-1))
			if !b.Ones {
				b.Value = append(b.Value, value)
			}
		}
		if n := len(b.Index); n > b.Start[len(b.Start)-1] {
			b.MaxIndex = max(b.MaxIndex, b.Index[n-1]+1)
		}
		b.Start = append(b.Start, len(b.Index))
		if b.Layout.Unseen {
			b.Values = append(b.Values, unseen)
		}
		b.Rows++
		i = lineEnd(data, i) + 1
	}
}

// spellOnes writes out the values that were ones so far.
func (b *Block) spellOnes() {
	b.Ones = false
	b.Value = b.Value[:0]
	for range b.Index {
		b.Value = append(b.Value, 1)
	}
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

// lineEnd returns the position of the next line feed.
func lineEnd(data []byte, i int) int {
	for data[i] != '\n' {
		i++
	}
	return i
}

// tokenEnd returns the position behind the token at i.
func tokenEnd(data []byte, i int) int {
	for !blank(data[i]) && data[i] != '\n' && data[i] != '#' {
		i++
	}
	return i
}

func token(data []byte, i int) []byte { return data[i:tokenEnd(data, i)] }

// isQuery reports whether the text begins with qid and a colon.
func isQuery(text []byte) bool {
	return len(text) > 4 && text[0] == 'q' && text[1] == 'i' && text[2] == 'd' && text[3] == ':'
}

func oneLabel(c byte) string {
	if c == ',' {
		return ": only one label a row is read"
	}
	return ": correct it, or name the format with --format"
}

func indexFault(text []byte, index, previous int64) string {
	switch {
	case index > math.MaxInt32:
		return fmt.Sprintf("%s has an index above %d: renumber the columns", Quote(text), math.MaxInt32)
	case index == 0:
		return Quote(text) + " has the index 0: indices begin with 1 (write the file with zero_based=False, or add 1)"
	case index == previous:
		return Quote(text) + " repeats the index of the entry before it: keep one of the two"
	}
	return fmt.Sprintf("%s follows index %d: sort the entries of the row by index", Quote(text), previous)
}
