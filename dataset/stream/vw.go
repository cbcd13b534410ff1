package stream

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
)

// vw parses Vowpal Wabbit text:
//
//	[label [importance [base]]] ['tag]|namespace[:scale] feature[:value] … |namespace …
//
// A tag is a word that begins with a quote or touches the first bar; it is read
// over. The importance is the row's weight, the base an offset of the latent
// score. The key of a feature is the hash of its namespace and name.
type vw struct {
	labels Labels
	named  bool
	all    bool
	bits   int
	terms  []vwTerm
	spaces []vwSpace // met so far
	// What the row has, by namespace: only where terms need it.
	fields  []field
	current []int // fields that a cross is at, one for each of its namespaces so far
}

type vwTerm struct {
	spaces []string
	bits   int
}

// vwSpace is a namespace.
type vwSpace struct {
	name string
	key  uint64
	use  bool // its features are taken by themselves, with so many bits:
	bits int
	// crossed says that a cross needs its features.
	crossed bool
}

// maxSpaces is the number of namespaces that are remembered; the most of a real
// file is 255, since programs take them by their first character.
const maxSpaces = 1 << 12

// field is a feature of the row that crosses need.
type field struct {
	space int
	key   uint64
	value float64
	name  []byte
}

func newVW(p *Plan, labels Labels, named bool) *vw {
	v := &vw{labels: labels, named: named, all: p.All, bits: p.Bits}
	for _, t := range p.Terms {
		if len(t.Columns) > 1 {
			v.terms = append(v.terms, vwTerm{t.Columns, t.Bits})
			continue
		}
		v.spaces = append(v.spaces, vwSpace{name: t.Columns[0], key: space(t.Columns[0]), use: true, bits: t.Bits})
	}
	for _, name := range p.Except {
		v.spaces = append(v.spaces, vwSpace{name: name, key: space(name)})
	}
	for _, t := range v.terms {
		for _, name := range t.spaces {
			v.spaces[v.find([]byte(name))].crossed = true
		}
	}
	return v
}

// find returns the number of a namespace, giving it one where it is new.
func (v *vw) find(name []byte) int {
	for i := range v.spaces {
		if v.spaces[i].name == string(name) {
			return i
		}
	}
	if len(v.spaces) >= maxSpaces {
		v.spaces = v.spaces[:len(v.spaces)-1] // only a cache of the key
	}
	v.spaces = append(v.spaces, vwSpace{name: string(name), key: Hash(0, name), use: v.all, bits: v.bits})
	return len(v.spaces) - 1
}

// Parse implements Parser.
func (v *vw) Parse(rows *Rows, text []byte) error {
	text = bytes.TrimSuffix(text, []byte("\r"))
	if len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	bar := bytes.IndexByte(text, '|')
	if bar < 0 {
		return errors.New("the row has no | before its features: is this Vowpal Wabbit text?")
	}
	target, weight, offset, err := v.head(text[:bar])
	if err != nil {
		return err
	}
	rows.named = v.named
	rows.begin()
	if err := v.features(rows, text[bar:]); err != nil {
		rows.undo()
		return err
	}
	if !rows.finite() {
		rows.undo()
		return errNotFinite
	}
	rows.end(target, weight, offset)
	return nil
}

// head reads what stands before the first bar.
func (v *vw) head(text []byte) (target, weight, offset float64, err error) {
	target, weight = math.NaN(), 1
	words, i := 0, 0
	for {
		for i < len(text) && text[i] <= ' ' {
			i++
		}
		if i == len(text) {
			break
		}
		end := wordEnd(text, i)
		word := text[i:end]
		i = end
		if word[0] == '\'' || end == len(text) { // a tag
			continue
		}
		switch words {
		case 0:
			target, err = v.labels.read(word)
		case 1, 2:
			value, ok := number(word)
			if !ok {
				return 0, 0, 0, fmt.Errorf("%s is not a number: write label, importance, base, 'tag before the |", quote(word))
			}
			if words == 1 {
				if weight = value; weight < 0 {
					return 0, 0, 0, fmt.Errorf("importance %s is negative: weights are 0 or more", quote(word))
				}
			} else {
				offset = value
			}
		default:
			return 0, 0, 0, fmt.Errorf("%s is one word too many before the |", quote(word))
		}
		if err != nil {
			return 0, 0, 0, err
		}
		words++
	}
	if words == 0 && !v.labels.Optional {
		_, err = v.labels.read(nil)
	}
	return target, weight, offset, err
}

// features reads the namespaces from the first bar on.
func (v *vw) features(rows *Rows, text []byte) error {
	v.fields = v.fields[:0]
	for i := 0; i < len(text); {
		i++ // the bar
		end := i
		for end < len(text) && text[end] > ' ' && text[end] != '|' {
			end++
		}
		name, scale, err := split(text[i:end])
		if err != nil {
			return err
		}
		number := v.find(name)
		s := &v.spaces[number]
		for i = end; i < len(text) && text[i] != '|'; {
			if text[i] <= ' ' {
				i++
				continue
			}
			end := i
			for end < len(text) && text[end] > ' ' && text[end] != '|' {
				end++
			}
			token, value, err := split(text[i:end])
			if err != nil {
				return err
			}
			i = end
			if !s.use && !s.crossed {
				continue
			}
			if value *= scale; math.IsInf(value, 0) {
				return errNotFinite
			}
			key := Hash(s.key, token)
			if s.use && rows.entry(shorten(key, s.bits), value) && v.named {
				rows.text = appendName(rows.text, s.name, token)
				rows.name()
			}
			if s.crossed {
				v.fields = append(v.fields, field{number, key, value, token})
			}
		}
	}
	for i := range v.terms {
		made := 0
		if err := v.cross(rows, &v.terms[i], 0, 0, 1, &made); err != nil {
			return err
		}
	}
	return nil
}

func appendName(dst []byte, space string, token []byte) []byte {
	if len(space) > 0 {
		dst = append(append(dst, space...), '^')
	}
	return append(dst, token...)
}

// split separates name[:value].
func split(text []byte) (name []byte, value float64, err error) {
	colon := bytes.IndexByte(text, ':')
	if colon < 0 {
		return text, 1, nil
	}
	value, ok := number(text[colon+1:])
	if !ok {
		return nil, 0, fmt.Errorf("feature %s: %s is not a number: correct the row", quote(text[:colon]), quote(text[colon+1:]))
	}
	return text[:colon], value, nil
}

// maxCrossed is the most entries that one cross may give a row.
const maxCrossed = 1 << 16

// cross adds the products of the features of the namespaces of a term from depth
// on to the product so far; made counts them.
func (v *vw) cross(rows *Rows, t *vwTerm, depth int, key uint64, value float64, made *int) error {
	if depth == len(t.spaces) {
		if *made++; *made > maxCrossed {
			return fmt.Errorf("a cross of more than %d features: cross smaller namespaces", maxCrossed)
		}
		if math.IsInf(value, 0) {
			return errNotFinite
		}
		if rows.entry(shorten(key, t.bits), value) && v.named {
			for i, k := range v.current {
				if i > 0 {
					rows.text = append(rows.text, ':')
				}
				f := &v.fields[k]
				rows.text = appendName(rows.text, v.spaces[f.space].name, f.name)
			}
			rows.name()
		}
		return nil
	}
	for k := range v.fields {
		f := &v.fields[k]
		if v.spaces[f.space].name != t.spaces[depth] || slices.Contains(v.current, k) {
			continue
		}
		next := f.key
		if depth > 0 {
			next = Cross(key, f.key)
		}
		v.current = append(v.current, k)
		err := v.cross(rows, t, depth+1, next, value*f.value, made)
		v.current = v.current[:len(v.current)-1]
		if err != nil {
			return err
		}
	}
	return nil
}
