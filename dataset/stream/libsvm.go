package stream

import (
	"errors"
	"fmt"
)

// LibSVM parses rows of the form "label index:value index:value … # comment".
// Indices are whole numbers below 2⁵³, by custom increasing and from 1; their
// key is the index itself. Where an index is repeated the values add up, and
// qid entries are read over.
type LibSVM struct {
	Labels Labels
	Bits   int // of the keys, which are then hashes of the indices; 0 keeps the indices

	padded []byte
}

// Parse implements Parser.
func (p *LibSVM) Parse(rows *Rows, text []byte) error {
	n := len(text)
	if cap(text) < n+8 {
		// The digits are read eight bytes at a time: the last ones need room behind them.
		p.padded = append(append(p.padded[:0], text...), 0, 0, 0, 0, 0, 0, 0, 0)
		text = p.padded[:n]
	}
	body := text[: n+8 : n+8] // what stands beyond n is never taken for part of the row
	i := 0
	for i < n && (text[i] == ' ' || text[i] == '\t') {
		i++
	}
	if i == n || text[i] == '#' || text[i] == '\r' && i == n-1 {
		return nil
	}
	first := i
	for i < n && text[i] > ' ' {
		i++
	}
	target, err := p.Labels.read(text[first:i])
	if err != nil {
		return err
	}
	next, ordered := uint64(0), true // next is the least key in order
	for {
		for i < n && text[i] <= ' ' {
			i++
		}
		if i >= n {
			break
		}
		key, count := digits(body[i : i+8])
		i += count
		if count == 8 {
			for i < n && text[i]-'0' <= 9 {
				if key = key*10 + uint64(text[i]-'0'); key >= 1<<53 {
					rows.undo()
					return errors.New("a feature index above 2⁵³: use smaller indices")
				}
				i++
			}
		}
		if count == 0 || i >= n || body[i] != ':' {
			if text[i-count] == '#' {
				break
			}
			if end := wordEnd(text, i-count); end-(i-count) > 4 && string(text[i-count:i-count+4]) == "qid:" {
				i = end
				continue
			}
			rows.undo()
			return fmt.Errorf("%s is not index:value: correct the row", quote(text[i-count:wordEnd(text, i-count)]))
		}
		i++
		value := 1.0
		if i < n && text[i] == '1' && (i+1 == n || body[i+1] == ' ') {
			i++
		} else {
			end := wordEnd(text, i)
			var ok bool
			if value, ok = number(text[i:end]); !ok {
				rows.undo()
				return fmt.Errorf("feature %d: %s is not a number: correct the row", key, quote(text[i:end]))
			}
			i = end
			if value == 0 {
				continue
			}
			if value != 1 {
				rows.Ones = false
			}
		}
		if key < next {
			ordered = false
		}
		next = key + 1
		rows.Keys = append(rows.Keys, key)
		rows.Value = append(rows.Value, value)
	}
	if p.Bits > 0 {
		first := rows.Start[len(rows.Start)-1]
		for k, key := range rows.Keys[first:] {
			rows.Keys[first+k] = shorten(key, p.Bits)
		}
		ordered = false
	}
	if !ordered {
		if rows.merge(); !rows.finite() {
			rows.undo()
			return errNotFinite
		}
	}
	rows.end(target, 1, 0)
	return nil
}

// wordEnd returns the end of the run of characters above the blank from i.
func wordEnd(text []byte, i int) int {
	for i < len(text) && text[i] > ' ' {
		i++
	}
	return i
}
