package cell

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxLevel is the longest category value in bytes.
const MaxLevel = 64 << 10

// StandardMissing returns the texts that always mean missing, the empty cell
// apart. They are matched exactly, after spaces around them are removed.
func StandardMissing() []string {
	return []string{"NA", "NaN", "nan", "NULL", "null", "None", "<NA>", "#N/A"}
}

// Rules say how cells are read.
type Rules struct {
	Missing map[string]struct{} // texts that mean missing, beside none at all
	longest int                 // of these
	begins  [256]bool           // how they begin: nearly all other texts need no further look
}

// NewRules returns the rules under which the standard texts and those of the
// caller mean missing.
func NewRules(missing []string) Rules {
	r := Rules{}
	for _, list := range [][]string{StandardMissing(), missing} {
		for _, text := range list {
			r.AddMissing(strings.TrimSpace(text))
		}
	}
	return r
}

// AddMissing has a text mean missing.
func (r *Rules) AddMissing(text string) {
	if text == "" {
		return // it does anyway
	}
	if r.Missing == nil {
		r.Missing = map[string]struct{}{}
	}
	r.Missing[text], r.begins[text[0]] = struct{}{}, true
	r.longest = max(r.longest, len(text))
}

// IsMissing reports whether a text means that there is no value.
func (r *Rules) IsMissing(text []byte) bool {
	if len(text) == 0 {
		return true
	}
	if len(text) > r.longest || !r.begins[text[0]] {
		return false
	}
	_, missing := r.Missing[string(text)]
	return missing
}

// Number reads a cell of a number column in its notation, NaN where it is missing; fault says what
// is wrong with it and what to do.
func (r *Rules) Number(text []byte, as *Notation) (value float64, fault string) {
	if r.IsMissing(text) {
		return math.NaN(), ""
	}
	var what numberFault
	if *as == (Notation{}) {
		value, what = parseNumber(text)
	} else {
		value, what = as.number(text)
	}
	switch {
	case what == notNumber:
		return 0, as.fault(text)
	case what == infinite:
		return 0, Quote(text) + " is not a finite number" + declare(text)
	}
	return value, ""
}

// Boolean reads a cell of a boolean column as 0 or 1, NaN where it is missing.
func (r *Rules) Boolean(text []byte) (value float64, fault string) {
	if r.IsMissing(text) {
		return math.NaN(), ""
	}
	if value, ok := ParseBoolean(text); ok {
		return value, ""
	}
	return 0, Quote(text) + " is not a boolean (true/false, yes/no, t/f, y/n, 1/0)" + declare(text)
}

// quotedLength is how many bytes of a value an error message repeats.
const quotedLength = 40

// Quote returns the text in double quotes, shortened so that a message stays a
// line however long and strange the text is.
func Quote[T string | []byte](text T) string {
	if len(text) <= quotedLength {
		return strconv.Quote(string(text))
	}
	cut := quotedLength
	for cut > quotedLength-utf8.UTFMax && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return strconv.Quote(string(text[:cut])+"…") + " (" + strconv.Itoa(len(text)) + " bytes)"
}

// Shell returns the text as a shell argument.
func Shell(text string) string {
	if text != "" && strings.Trim(text, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-+./_,=") == "" {
		return text
	}
	return quoted(text)
}

func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// Policies are the words that the flag --missing takes for what to do about missing values.
func Policies() []string {
	return []string{"error", "refuse", "mean", "indicator", "drop", "drop-target"}
}

// LiteralMissing begins a value of --missing whose rest is one text, whatever it is.
const LiteralMissing = "text="

// Missing are the flags that declare texts missing, "--missing ?,low --missing 'text=a, b'"; "" where one cannot be
// typed.
func Missing(texts ...string) string {
	var list, flags []string
	for _, text := range slices.Compact(slices.Sorted(slices.Values(texts))) {
		unseen := func(r rune) bool { return !unicode.IsPrint(r) }
		switch {
		case !utf8.ValidString(text) || strings.ContainsFunc(text, unseen) || len(text) > quotedLength:
			return ""
		case strings.ContainsAny(text, ",\"' ") || strings.HasPrefix(text, LiteralMissing) || slices.Contains(Policies(), text):
			flags = append(flags, "--missing "+quoted(LiteralMissing+text))
		default:
			list = append(list, text)
		}
	}
	if len(list) > 0 {
		flags = slices.Insert(flags, 0, "--missing "+Shell(strings.Join(list, ",")))
	}
	return strings.Join(flags, " ")
}

// declare is what to do about a text that is no value.
func declare(text []byte) string {
	if flag := Missing(string(text)); flag != "" {
		return declared + flag
	}
	return corrected
}

const declared, corrected = "; declare it with ", "; correct it"

// WithoutRemedy cuts what to do about a text that is no value off what is wrong with it; false where it has no such
// remedy.
func WithoutRemedy(fault string) (bare string, is bool) {
	if bare, is = strings.CutSuffix(fault, corrected); is {
		return bare, true
	}
	at := strings.LastIndex(fault, declared+"--missing ")
	if at < 0 {
		return fault, false
	}
	return fault[:at], true
}

// NotUTF8 is the fault of a text in another encoding, with the remedies for files of text.
const NotUTF8 = "is not UTF-8: is it Windows-1252, say --encoding windows-1252; else convert the file with iconv"

// TextFault says why a name or a level is no text; "" where it is one.
func TextFault[T string | []byte](text T) string {
	plain := true // ASCII without NUL, as nearly all levels are
	for i := range len(text) {
		plain = plain && text[i]-1 < utf8.RuneSelf-1
	}
	switch {
	case plain:
		return ""
	case strings.IndexByte(string(text), 0) >= 0:
		return "holds a NUL byte, so it is not text: fetch the file anew if it is damaged"
	case !utf8.ValidString(string(text)):
		return NotUTF8
	case strings.ContainsAny(string(text), "\u0081\u008d\u008f\u0090\u009d"):
		// The bytes that Windows-1252 does not use.
		return "holds a character that neither texts nor Windows-1252 have: is the file in another encoding, convert it with iconv"
	}
	return ""
}

// Plural is the word for n of a thing.
func Plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// List writes names, the first few of many.
func List(names []string) string {
	const most = 12
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s, … (%d in all)", strings.Join(names[:most], ", "), len(names))
}
