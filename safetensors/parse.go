package safetensors

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// parseHeader reads the JSON of a header. encoding/json is not used because it
// keeps the last of duplicate keys and replaces broken text without a word: two
// programs could then read different models from one file.
func parseHeader(text []byte) (*header, error) {
	if len(text) == 0 || text[0] != '{' {
		return nil, fmt.Errorf("the header does not start with '{': this is no safetensors file")
	}
	if !utf8.Valid(text) {
		return nil, fmt.Errorf("the header is not UTF-8")
	}
	p := &parser{text: text}
	h := &header{metadata: map[string]string{}}
	seen := map[string]bool{}
	err := p.object(seen, func(name string) error {
		if name == metadataKey {
			return p.metadata(h.metadata)
		}
		if err := checkName("tensor", name); err != nil {
			return err
		}
		if len(h.tensors) == maxEntries {
			return fmt.Errorf("more than %d tensors", maxEntries)
		}
		t, err := p.tensor(name)
		if err != nil {
			return fmt.Errorf("tensor %q: %w", name, err)
		}
		h.tensors = append(h.tensors, t)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for ; p.at < len(text); p.at++ {
		if text[p.at] != ' ' {
			return nil, fmt.Errorf("header byte %d: only spaces may follow the JSON object", p.at)
		}
	}
	h.sort()
	return h, nil
}

// A parser reads the part of JSON that headers use: objects, arrays of
// non-negative integers, strings. text is valid UTF-8.
type parser struct {
	text []byte
	at   int
}

func (p *parser) metadata(into map[string]string) error {
	seen := map[string]bool{}
	return p.object(seen, func(key string) error {
		if err := checkName("metadata entry", key); err != nil {
			return err
		}
		if len(into) == maxEntries {
			return fmt.Errorf("more than %d metadata entries", maxEntries)
		}
		value, err := p.string()
		if err != nil {
			return fmt.Errorf("metadata %q: %w", key, err)
		}
		into[key] = value
		return nil
	})
}

func (p *parser) tensor(name string) (Info, error) {
	t := Info{Name: name}
	seen := map[string]bool{}
	err := p.object(seen, func(key string) error {
		switch key {
		case "dtype":
			text, err := p.string()
			t.DType = DType(text)
			return err
		case "shape":
			dims, err := p.integers(maxRank)
			for _, dim := range dims {
				if uint64(dim) > math.MaxInt { // on machines of 32 bits
					return fmt.Errorf("dimension %d is too large for this machine", dim)
				}
				t.Shape = append(t.Shape, int(dim))
			}
			return err
		case "data_offsets":
			ends, err := p.integers(2)
			if err == nil && len(ends) != 2 {
				err = fmt.Errorf("data_offsets has %d numbers instead of 2", len(ends))
			}
			if err == nil {
				t.begin, t.end = ends[0], ends[1]
			}
			return err
		}
		return fmt.Errorf("unknown key %q", key)
	})
	if err != nil {
		return t, err
	}
	for _, key := range []string{"dtype", "shape", "data_offsets"} {
		if !seen[key] {
			return t, fmt.Errorf("%s is missing", key)
		}
	}
	return t, nil
}

// object reads an object, calling member when its value is next. seen collects
// the keys.
func (p *parser) object(seen map[string]bool, member func(key string) error) error {
	return p.list('{', '}', func() error {
		key, err := p.string()
		if err != nil {
			return err
		}
		if seen[key] {
			return fmt.Errorf("header byte %d: duplicate key %q", p.at, key)
		}
		seen[key] = true
		if err := p.expect(':'); err != nil {
			return err
		}
		return member(key)
	})
}

// integers reads an array of at most limit plain non-negative integers.
func (p *parser) integers(limit int) (list []int64, err error) {
	err = p.list('[', ']', func() error {
		if len(list) == limit {
			return fmt.Errorf("header byte %d: more than %d numbers", p.at, limit)
		}
		value, err := p.integer()
		list = append(list, value)
		return err
	})
	return list, err
}

// list reads what stands between two brackets, separated by commas, calling item when one is next.
func (p *parser) list(open, end byte, item func() error) error {
	if err := p.expect(open); err != nil || p.accept(end) {
		return err
	}
	for {
		if err := item(); err != nil || p.accept(end) {
			return err
		}
		if err := p.expect(','); err != nil {
			return err
		}
	}
}

func (p *parser) integer() (int64, error) {
	p.skipSpace()
	start, value := p.at, int64(0)
	for ; p.at < len(p.text) && '0' <= p.text[p.at] && p.text[p.at] <= '9'; p.at++ {
		digit := int64(p.text[p.at] - '0')
		if value > (math.MaxInt64-digit)/10 {
			return 0, fmt.Errorf("header byte %d: the number overflows", start)
		}
		value = 10*value + digit
	}
	if p.at == start {
		return 0, fmt.Errorf("header byte %d: a non-negative integer is expected", start)
	}
	if p.text[start] == '0' && p.at > start+1 {
		return 0, fmt.Errorf("header byte %d: a number starts with 0", start)
	}
	return value, nil // a fraction or exponent fails at the next expect
}

func (p *parser) string() (string, error) {
	if err := p.expect('"'); err != nil {
		return "", err
	}
	start := p.at
	var out []byte // used once an escape is met
	copied := start
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case c == '"':
			end := p.at
			p.at++
			if copied == start {
				return string(p.text[start:end]), nil
			}
			return string(append(out, p.text[copied:end]...)), nil
		case c < 0x20:
			return "", fmt.Errorf("header byte %d: a control character stands in a string", p.at)
		case c == '\\':
			out = append(out, p.text[copied:p.at]...)
			r, err := p.escape()
			if err != nil {
				return "", err
			}
			out = utf8.AppendRune(out, r)
			copied = p.at
		default:
			p.at++
		}
	}
	return "", fmt.Errorf("header byte %d: a string has no end", start-1)
}

// escape reads one escape sequence, a surrogate pair counting as one.
func (p *parser) escape() (rune, error) {
	start := p.at
	p.at++
	if p.at == len(p.text) {
		return 0, fmt.Errorf("header byte %d: a string has no end", start)
	}
	c := p.text[p.at]
	p.at++
	if i := strings.IndexByte(`"\/bfnrt`, c); i >= 0 {
		return rune("\"\\/\b\f\n\r\t"[i]), nil
	}
	if c != 'u' {
		return 0, fmt.Errorf("header byte %d: unknown escape \\%c", start, c)
	}
	r, err := p.fourHex()
	if err != nil || !utf16.IsSurrogate(r) {
		return r, err
	}
	if p.at+2 <= len(p.text) && string(p.text[p.at:p.at+2]) == `\u` {
		p.at += 2
		low, err := p.fourHex()
		if err != nil {
			return 0, err
		}
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return pair, nil
		}
	}
	return 0, fmt.Errorf("header byte %d: an unpaired surrogate stands in a string", start)
}

func (p *parser) fourHex() (rune, error) {
	digits := p.text[p.at:min(p.at+4, len(p.text))]
	if len(digits) < 4 {
		return 0, fmt.Errorf("header byte %d: a string has no end", p.at)
	}
	r, err := strconv.ParseUint(string(digits), 16, 16)
	if err != nil {
		return 0, fmt.Errorf("header byte %d: \\u needs four hexadecimal digits", p.at)
	}
	p.at += 4
	return rune(r), nil
}

func (p *parser) skipSpace() {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
}

// accept moves past c if it is next.
func (p *parser) accept(c byte) bool {
	p.skipSpace()
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *parser) expect(c byte) error {
	if p.accept(c) {
		return nil
	}
	if p.at == len(p.text) {
		return fmt.Errorf("header byte %d: the JSON ends where '%c' is expected", p.at, c)
	}
	return fmt.Errorf("header byte %d: '%c' is expected, not %q", p.at, c, p.text[p.at])
}
