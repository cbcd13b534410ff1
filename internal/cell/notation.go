package cell

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Notation says how the numbers of a text column are written. The zero value is as 1234.5.
type Notation struct {
	// Decimal is the decimal mark, "." or ",", of numbers whose digits may be grouped by threes: by the other
	// mark, an apostrophe or a space.
	Decimal string `json:"decimal,omitempty"`
	// Sign stands at either end of the numbers: that of a currency, which cells may leave out, or "%", which
	// they may not, for 0.5 and 0.5 % are different numbers. The number is the one that is written: 5 for 5 %.
	Sign string `json:"sign,omitempty"`
	// Date is the order of day, month and year in dates, "ymd", "dmy" or "mdy". Their number is that of
	// days since 1970-01-01 UTC.
	Date string `json:"date,omitempty"`
}

// String describes the notation in a few words, "" for the zero value.
func (n Notation) String() string {
	var parts []string
	switch n.Decimal {
	case ",":
		parts = append(parts, "decimal commas")
	case ".":
		parts = append(parts, "decimal points, digits in groups")
	}
	switch {
	case n.Sign == percent:
		parts = append(parts, "in per cent")
	case n.Sign != "":
		parts = append(parts, "in "+n.Sign)
	}
	if n.Date != "" {
		parts = append(parts, "days since 1970-01-01, dates as "+dateForm(n.Date))
	}
	return strings.Join(parts, ", ")
}

// percent is the one sign that is no currency.
const percent = "%"

// number reads a text in the notation.
func (n *Notation) number(text []byte) (float64, numberFault) {
	if n.Date != "" {
		days, ok := parseDate(text, n.Date)
		if !ok {
			return 0, notNumber
		}
		return days, fine
	}
	bare, sign := withoutSign(string(text))
	if sign != n.Sign && (sign != "" || n.Sign == percent) {
		return 0, notNumber
	}
	if n.Decimal == "" {
		return parseNumber([]byte(bare))
	}
	plain, ok := ungrouped(bare, n.Decimal)
	if !ok {
		if sign, is := infinity([]byte(bare)); is {
			return math.Inf(sign), infinite
		}
		return 0, notNumber
	}
	return parseNumber([]byte(plain))
}

// fault says what is wrong with a text that is no number in the notation.
func (n *Notation) fault(text []byte) string {
	quoted := Quote(text)
	if n.Date != "" {
		return quoted + " is not a date written as " + dateForm(n.Date) + declare(text)
	}
	bare, sign := withoutSign(string(text))
	_, point := ungrouped(bare, ".")
	_, comma := ungrouped(bare, ",")
	switch {
	case !point && !comma:
		return quoted + " is not a number" + declare(text)
	case sign != n.Sign && n.Sign == percent:
		return quoted + " is not in per cent, as the other numbers are: write them alike"
	case sign != n.Sign:
		return quoted + " is in " + sign + ", as the other numbers are not: write them alike"
	case n.Decimal == "," && point:
		return quoted + " is not a number with a decimal comma: write them alike"
	case n.Decimal == "." && comma:
		return quoted + " is not a number with a decimal point: write them alike"
	case comma && !point:
		return quoted + " is not a number with a decimal point: say --decimal ',' if commas are decimal"
	}
	return quoted + " is not a number with a decimal point: say --thousands ',' if commas separate thousands, or --decimal ',' if they are decimal"
}

// numerical reports whether a text is short and has a digit and nothing that numbers never have,
// so that most texts cost little.
func numerical(text []byte) bool {
	digits, letters := 0, 0
	for _, c := range text {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'A' && c <= 'Z' && letters < codeLength: // of a currency
			letters++
		case c < utf8.RuneSelf && bytes.IndexByte([]byte(",.' +-%$eE"), c) < 0:
			return false
		}
	}
	return digits > 0 && len(text) <= numberLength
}

// withoutSign takes a sign of currency off either end of the text, or one of per cent off its
// end, with the space before the number.
func withoutSign(text string) (bare, sign string) {
	bare = text
	minus := ""
	if strings.HasPrefix(bare, "-") || strings.HasPrefix(bare, "+") {
		minus, bare = bare[:1], bare[1:]
	}
	if r, size := utf8.DecodeRuneInString(bare); unicode.Is(unicode.Sc, r) {
		bare, sign = strings.TrimLeftFunc(bare[size:], unicode.IsSpace), bare[:size]
	} else if r, size := utf8.DecodeLastRuneInString(bare); unicode.Is(unicode.Sc, r) || r == '%' {
		bare, sign = strings.TrimRightFunc(bare[:len(bare)-size], unicode.IsSpace), bare[len(bare)-size:]
	} else if n := len(bare) - codeLength; n > 0 && isCurrency(bare[:codeLength]) {
		bare, sign = strings.TrimLeftFunc(bare[codeLength:], unicode.IsSpace), bare[:codeLength]
	} else if n > 0 && isCurrency(bare[n:]) {
		bare, sign = strings.TrimRightFunc(bare[:n], unicode.IsSpace), bare[n:]
	}
	if minus != "" && (strings.HasPrefix(bare, "-") || strings.HasPrefix(bare, "+")) {
		return text, "" // two signs of arithmetic
	}
	return minus + bare, sign
}

// currencies are the codes of ISO 4217 that tables of prices have most often, each between spaces: other three letters
// ahead of digits are as a rule those of a name, such as SKU100.
const (
	codeLength = 3
	currencies = " AUD BRL CAD CHF CNY CZK DKK EUR GBP HKD HUF INR JPY KRW MXN NOK NZD PLN SEK SGD TRY USD ZAR "
)

func isCurrency(code string) bool {
	return strings.IndexByte(code, ' ') < 0 && strings.Contains(currencies, " "+code+" ")
}

// GroupMarks returns what may separate thousands under either decimal mark.
func GroupMarks() []string { return slices.Clone(groupMarks) }

var groupMarks = []string{"'", "’", " ", "\u00a0", "\u202f"}

// ungrouped returns the text of a number with that decimal mark as [ParseNumber] reads it, without what
// separates thousands.
func ungrouped(text, mark string) (plain string, ok bool) {
	digits := strings.TrimLeft(text, "+-")
	whole, fraction := digits, ""
	if before, after, found := strings.Cut(digits, mark); found {
		whole, fraction = before, "."+after
	}
	if at := strings.IndexFunc(whole, func(r rune) bool { return r < '0' || r > '9' }); at >= 0 && whole[at]|0x20 != 'e' {
		other := ","
		if mark == "," {
			other = "."
		}
		separator := ""
		for _, s := range append([]string{other}, groupMarks...) {
			if strings.HasPrefix(whole[at:], s) {
				separator = s
			}
		}
		groups := strings.Split(whole, separator)
		if separator == "" || !byThrees(groups) {
			return "", false
		}
		whole = strings.Join(groups, "")
	}
	plain = text[:len(text)-len(digits)] + whole + fraction
	return plain, decimalSyntax([]byte(plain))
}

// byThrees reports whether there are several groups of digits, each of three but the first,
// which may have fewer and does not begin with 0.
func byThrees(groups []string) bool {
	for i, group := range groups {
		if strings.Trim(group, "0123456789") != "" || len(group) > 3 || len(group) == 0 || i > 0 && len(group) < 3 {
			return false
		}
	}
	return len(groups) > 1 && groups[0][0] != '0'
}

// spelling is what a text that is a number says about how numbers are written.
type spelling struct {
	point, comma bool // it is a number with a decimal point, or comma, in groups perhaps
	same         bool // and the same one with either
	plain        bool // it is one as [ParseNumber] reads it, the sign aside
	sign         string
}

// spell reads a text with either decimal mark.
func spell(text []byte) spelling {
	if !numerical(text) {
		return spelling{}
	}
	var s spelling
	bare, sign := withoutSign(string(text))
	s.sign, s.plain = sign, decimalSyntax([]byte(bare))
	var p, c string
	p, s.point = ungrouped(bare, ".")
	c, s.comma = ungrouped(bare, ",")
	if s.point && s.comma {
		a, errA := strconv.ParseFloat(p, 64)
		b, errB := strconv.ParseFloat(c, 64)
		s.same = p == c || errA == nil && errB == nil && a == b // 1e400 is no number of either
	}
	return s
}

// spellPlain is spell of a finite number as [ParseNumber] reads it, at a fraction of its cost: the one other reading
// such a number has is that of a point between a group of digits and three more.
func spellPlain(text []byte) spelling {
	if len(text) > numberLength {
		return spelling{}
	}
	at := bytes.IndexByte(text, '.')
	if at < 0 {
		return spelling{point: true, comma: true, same: true, plain: true}
	}
	first := 0
	if text[0] == '+' || text[0] == '-' {
		first = 1
	}
	s := spelling{point: true, plain: true}
	if whole := at - first; len(text)-at == 4 && 1 <= whole && whole <= 3 && text[first] != '0' {
		s.comma = text[at+1]-'0' <= 9 && text[at+2]-'0' <= 9 && text[at+3]-'0' <= 9
	}
	return s
}
