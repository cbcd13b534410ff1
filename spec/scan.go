package spec

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/credence-ml/credence/internal/cell"
)

type kind uint8

const (
	endToken    kind = iota // the text is over
	badToken                // err says why; the scanner does not go on
	nameToken               // text is the name
	quotedToken             // a backquoted name; text is the name
	numberToken             // value
	textToken               // text is the content
	fileToken               // text is the path
	dotToken
	signToken // text is one of ( ) [ ] , = ~ + - * : ^ / | || or of comparisons
)

type token struct {
	kind   kind
	text   string
	value  float64
	offset int
	end    int
	err    *Error
}

func (t token) at() Position        { return Position{Offset: t.offset, Length: t.end - t.offset} }
func (t token) is(sign string) bool { return t.kind == signToken && t.text == sign }

// scanner cuts the text into tokens, one call a token.
type scanner struct {
	source string
	next   int
}

func (s *scanner) token() token {
	for s.next < len(s.source) {
		r, size := utf8.DecodeRuneInString(s.source[s.next:])
		if !unicode.IsSpace(r) { // a no-break space from a web page is a space too
			break
		}
		s.next += size
	}
	start := s.next
	if start == len(s.source) {
		return token{kind: endToken, offset: start, end: start}
	}
	if sign := comparison(s.source[start:]); sign != "" {
		s.next += len(sign)
		return token{kind: signToken, text: sign, offset: start, end: s.next}
	}
	r, size := utf8.DecodeRuneInString(s.source[start:])
	switch {
	case strings.ContainsRune("()[],=~+-*:^/|", r):
		s.next += size
		if strings.HasPrefix(s.source[start:], "||") {
			s.next++
		}
		return token{kind: signToken, text: s.source[start:s.next], offset: start, end: s.next}
	case r == '`':
		return s.quoted(quotedToken, start, start, '`')
	case r == '"' || r == '\'':
		return s.quoted(textToken, start, start, byte(r))
	case r == '@':
		return s.file(start)
	case r >= '0' && r <= '9', r == '.' && start+1 < len(s.source) && isDigit(s.source[start+1]):
		return s.number(start)
	case r == '.' || cell.NameStart(r):
		return s.name(start)
	}
	message, remedy := strangeCharacter(r, s.source[start:])
	return s.bad(start, start+size, message, remedy)
}

// comparison returns the comparison that the text begins with, "" for none: <- is an arrow.
func comparison(text string) string {
	for _, sign := range []string{">=", "<=", "==", "!=", ">", "<"} {
		if strings.HasPrefix(text, sign) && !strings.HasPrefix(text, "<-") {
			return sign
		}
	}
	return ""
}

func (s *scanner) bad(start, end int, message, remedy string) token {
	s.next = len(s.source)
	return token{kind: badToken, offset: start, end: end, err: &Error{
		Text: s.source, Offset: start, Length: end - start, Message: message, Remedy: remedy}}
}

// run returns the end of the name characters from start on.
func (s *scanner) run(start int) int {
	if i := strings.IndexFunc(s.source[start:], func(r rune) bool { return !cell.NameRune(r) }); i >= 0 {
		return start + i
	}
	return len(s.source)
}

func (s *scanner) name(start int) token {
	end := s.run(start)
	word := s.source[start:end]
	t := token{kind: nameToken, text: word, offset: start, end: end}
	switch {
	case word == ".":
		t.kind = dotToken
	case word == "inf":
		t.kind, t.value = numberToken, math.Inf(1)
	case !cell.PlainName(word):
		return s.bad(start, end, show(word)+" is not a name",
			"one . is every other column; a column called "+word+" is written "+backquoted(word))
	}
	s.next = end
	return t
}

// number reads digits [. digits] [e [±] digits]; name characters directly
// behind it make the whole a malformed name.
func (s *scanner) number(start int) token {
	i := s.digits(start)
	if i < len(s.source) && s.source[i] == '.' {
		i = s.digits(i + 1)
	}
	mantissa := s.source[start:i]
	if i < len(s.source) && (s.source[i] == 'e' || s.source[i] == 'E') {
		j := i + 1
		if j < len(s.source) && (s.source[j] == '+' || s.source[j] == '-') {
			j++
		}
		if k := s.digits(j); k > j {
			i = k
		}
	}
	if end := s.run(i); end > i {
		word := s.source[start:end]
		return s.bad(start, end, show(word)+" is neither a number nor a plain name",
			"a column name that starts with a digit is written in backquotes, "+backquoted(word))
	}
	literal := s.source[start:i]
	value, err := strconv.ParseFloat(literal, 64)
	if err != nil {
		return s.bad(start, i, show(literal)+" is larger than any number of 64 bits",
			"write inf if no limit is meant")
	}
	if value == 0 && strings.ContainsAny(mantissa, "123456789") {
		return s.bad(start, i, show(literal)+" is smaller than any positive number of 64 bits",
			"write 0 if zero is meant")
	}
	s.next = i
	return token{kind: numberToken, text: literal, value: value, offset: start, end: i}
}

func (s *scanner) digits(i int) int {
	for i < len(s.source) && isDigit(s.source[i]) {
		i++
	}
	return i
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// quoted reads from the mark at open to the next one that is not doubled.
func (s *scanner) quoted(k kind, start, open int, mark byte) token {
	i := open + 1
	for {
		j := strings.IndexByte(s.source[i:], mark)
		if j < 0 {
			what := map[kind]string{quotedToken: "backquoted name", textToken: "quoted text", fileToken: "quoted path"}[k]
			return s.bad(start, open+1, "the "+what+" that starts here never ends", fmt.Sprintf("add the closing %c", mark))
		}
		i += j + 1
		if i == len(s.source) || s.source[i] != mark {
			break
		}
		i++
	}
	q := string(rune(mark))
	content := strings.ReplaceAll(s.source[open+1:i-1], q+q, q)
	if content == "" && k == quotedToken {
		return s.bad(start, i, "a column name cannot be empty", "write it between the backquotes")
	}
	s.next = i
	return token{kind: k, text: content, offset: start, end: i}
}

func (s *scanner) file(start int) token {
	var t token
	if open := start + 1; open < len(s.source) && (s.source[open] == '"' || s.source[open] == '\'') {
		t = s.quoted(fileToken, start, open, s.source[open])
	} else {
		end := len(s.source)
		if i := strings.IndexFunc(s.source[open:], endsPath); i >= 0 {
			end = open + i
		}
		s.next = end
		t = token{kind: fileToken, text: s.source[open:end], offset: start, end: end}
	}
	if t.kind == fileToken && t.text == "" {
		return s.bad(start, t.end, "no path follows @", `write @file.csv, or @"my file.csv" when the path holds spaces`)
	}
	return t
}
