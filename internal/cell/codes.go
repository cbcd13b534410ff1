package cell

import (
	"math"
	"slices"
	"strings"
)

const (
	// fewValues is the most distinct values of codes that may follow each other, as those of months do.
	fewValues = 64
	// keptValues is the most distinct values that are kept of a column.
	keptValues = 256
	// often is how many rows a value of codes has on average.
	often = 5
	// gaps is the share of whole numbers, up to the middle of those that occur, above which they count something.
	gaps = 0.7
)

// wholes are the distinct values of a column, as long as they are whole numbers.
type wholes struct {
	broken bool      // there are others
	many   bool      // there are more than keptValues
	values []float64 // increasing
	low    float64
	high   float64
	some   bool
}

func (w *wholes) add(v float64) {
	if w.broken {
		return
	}
	if v != math.Trunc(v) || v < 0 {
		*w = wholes{broken: true}
		return
	}
	if !w.some {
		w.some, w.low, w.high = true, v, v
	}
	w.low, w.high = min(w.low, v), max(w.high, v)
	if w.many {
		return
	}
	k, known := slices.BinarySearch(w.values, v)
	switch {
	case known:
	case len(w.values) == keptValues:
		w.many, w.values = true, nil
	default:
		w.values = slices.Insert(w.values, k, v)
	}
}

// Codes says what a column of whole numbers looks like that are names rather than amounts: "years", "codes" where a few
// values, or some with gaps between them, come again and again, "identifiers" where its name says so; "" for others.
func (c *Census) Codes(name string) string {
	w := &c.whole
	switch {
	case w.broken || !w.some || c.numbers < c.values:
		return ""
	case w.low >= 1900 && w.high <= 2100 && w.low < w.high:
		return "years"
	case !w.many && len(w.values) > 2 && c.values >= often*len(w.values) && (len(w.values) <= fewValues || w.gapped()):
		return "codes"
	case (w.many || len(w.values) > fewValues) && named(name):
		return "identifiers"
	}
	return ""
}

// gapped says whether the lower half of the values leaves numbers out: ages and counts do so in their tails alone.
// Multiples of a number are rounded amounts.
func (w *wholes) gapped() bool {
	half, divisor := len(w.values)/2, 0
	for _, v := range w.values {
		for a, b := int(v), divisor; ; a, b = b, a%b {
			if b == 0 {
				divisor = a
				break
			}
		}
	}
	return divisor == 1 && float64(half) < gaps*(w.values[half]-w.low)
}

// named says whether a column is called an identifier.
func named(name string) bool {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return strings.ContainsRune(" _-.", r) })
	if len(words) == 0 {
		return false
	}
	last := words[len(words)-1]
	if slices.Contains([]string{"ip", "plz", "nr", "num", "number", "sku", "key"}, last) {
		return true
	}
	// Ids such as "userId", but no "paid": the end is a word of its own, or begins with a capital.
	ends := func(end string) bool { return strings.HasSuffix(name, end) }
	return slices.ContainsFunc([]string{"Id", "ID", "Code", "Zip"}, ends) || slices.Contains([]string{"id", "uid", "code", "zip", "zipcode", "postcode"}, last)
}
