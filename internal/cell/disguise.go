package cell

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Disguise says in which other way than [ParseNumber] reads a text is a number.
type Disguise uint8

// The ways.
const (
	NoNumber     Disguise = iota
	DecimalComma          // 1,5
	Grouped               // 1,300: either a decimal comma or one that separates thousands
	Thousands             // 1,234,567 or 1'234 or 1 234.5
	Sign                  // $12.30, 12.30 €, 12 %; also with thousands separators
)

// Disguised recognises a number that is written in another way, and returns it as
// [ParseNumber] would read it, commas of [Grouped] taken for separators.
func Disguised(text []byte) (way Disguise, plain string) {
	if !numerical(text) {
		return NoNumber, ""
	}
	bare, signed := withoutSign(text)
	switch {
	case signed && decimalSyntax([]byte(bare)):
		return Sign, bare
	case decimalSyntax(text):
		return NoNumber, ""
	}
	way, plain = disguisedBare(bare)
	if signed && way != NoNumber {
		way = Sign
	}
	return way, plain
}

// numerical reports whether a text is short and has a digit and nothing that numbers never have,
// so that most texts cost little.
func numerical(text []byte) bool {
	digits := 0
	for _, c := range text {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c < utf8.RuneSelf && bytes.IndexByte([]byte(",.' +-%$eE"), c) < 0:
			return false
		}
	}
	return digits > 0 && len(text) <= 40
}

// withoutSign takes a sign of currency off either end of the text, or one of per cent off its
// end, with the space before the number.
func withoutSign(text []byte) (bare string, found bool) {
	bare = string(text)
	minus := ""
	if strings.HasPrefix(bare, "-") || strings.HasPrefix(bare, "+") {
		minus, bare = bare[:1], bare[1:]
	}
	if r, size := utf8.DecodeRuneInString(bare); unicode.Is(unicode.Sc, r) {
		bare, found = strings.TrimLeftFunc(bare[size:], unicode.IsSpace), true
	} else if r, size := utf8.DecodeLastRuneInString(bare); unicode.Is(unicode.Sc, r) || r == '%' {
		bare, found = strings.TrimRightFunc(bare[:len(bare)-size], unicode.IsSpace), true
	}
	return minus + bare, found
}

// disguisedBare is Disguised for a text without a sign of currency.
func disguisedBare(text string) (Disguise, string) {
	digits := strings.TrimLeft(text, "+-")
	for _, separator := range []string{",", ".", "'", "’", " ", "\u00a0", "\u202f"} {
		whole, fraction, point := digits, "", "."
		if separator == "." {
			point = ","
		}
		if before, after, found := strings.Cut(digits, point); found {
			whole, fraction = before, "."+after
		}
		groups := strings.Split(whole, separator)
		plain := text[:len(text)-len(digits)] + strings.Join(groups, "") + fraction
		if !byThrees(groups) || !decimalSyntax([]byte(plain)) {
			continue
		}
		if separator == "," && len(groups) == 2 && fraction == "" && groups[0] != "0" {
			return Grouped, plain
		}
		if separator != "," || groups[0] != "0" {
			return Thousands, plain
		}
	}
	if plain := strings.Replace(text, ",", ".", 1); plain != text && decimalSyntax([]byte(plain)) {
		return DecimalComma, plain
	}
	return NoNumber, ""
}

// byThrees reports whether there are several groups of digits, each of three but the first,
// which may have fewer.
func byThrees(groups []string) bool {
	for i, group := range groups {
		if strings.Trim(group, "0123456789") != "" || len(group) > 3 || len(group) == 0 || i > 0 && len(group) < 3 {
			return false
		}
	}
	return len(groups) > 1
}

// notNumberFault words the refusal of a text in a number column.
func notNumberFault(text []byte) string {
	way, plain := Disguised(text)
	if remedy := way.Remedy(string(text), plain); remedy != "" {
		return Quote(text) + " is not a number: " + remedy
	}
	return Quote(text) + " is not a number; declare it with --missing " + shell(text)
}

// Remedy says what to do about numbers such as this one; "" for what is none.
func (d Disguise) Remedy(text, plain string) string {
	switch d {
	case DecimalComma:
		return "write decimals with a point (" + plain + ")"
	case Grouped:
		point := bytes.Replace([]byte(text), []byte{','}, []byte{'.'}, 1)
		return "leave out commas that separate thousands (" + plain + "), or write decimals with a point (" + string(point) + ")"
	case Thousands:
		return "leave out what separates thousands (" + plain + ")"
	case Sign:
		return "leave out signs of currency or per cent and what separates thousands (" + plain + ")"
	}
	return ""
}
