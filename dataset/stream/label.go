package stream

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	cells "github.com/credence-ml/credence/internal/cell"
)

// Labels reads class labels: 1 and 0 of the result, NaN where there is none.
type Labels struct {
	// Positive is the label of the positive class, a text or a number. Empty means
	// that labels are 1 against 0 or -1, true against false, yes against no.
	Positive string
	// Negative is the label of the other class where there are just two; empty
	// means all others.
	Negative string
	// Optional says that an empty label is no label; otherwise it is an error.
	Optional bool
}

func (l *Labels) read(label []byte) (float64, error) {
	if l.Positive == "" {
		if value, ok := standardLabel(label); ok {
			return value, nil
		}
	}
	if isMissing(label) {
		if l.Optional {
			return math.NaN(), nil
		}
		return 0, errors.New("the label is missing: correct the row")
	}
	if l.Positive != "" {
		switch {
		case sameLabel(label, l.Positive):
			return 1, nil
		case l.Negative == "" || sameLabel(label, l.Negative):
			return 0, nil
		}
		return 0, fmt.Errorf("label %s is neither %s nor %s, the first two: learn with --positive CLASS, which stands against all the rest, or correct the row", quote(label), l.Positive, l.Negative)
	}
	return 0, fmt.Errorf("label %s is not 1, 0 or -1: learn with --positive CLASS, which stands against all the rest, or correct the row", quote(label))
}

// standardLabel reads a label that needs no explanation.
func standardLabel(label []byte) (value float64, ok bool) {
	if len(label) == 1 { // nearly always
		switch label[0] {
		case '1':
			return 1, true
		case '0':
			return 0, true
		}
		return 0, false // single letters are as often names of classes
	}
	if value, ok := cells.ParseBoolean(label); ok {
		return value, true
	}
	value, ok = number(label)
	switch {
	case ok && value == 1:
		return 1, true
	case ok && (value == 0 || value == -1):
		return 0, true
	}
	return 0, false
}

// isMissing says whether a label is none.
func isMissing(label []byte) bool {
	return len(label) == 0 || len(label) > 1 && label[0] >= '#' && slices.Contains(missing, string(label))
}

var missing = cells.StandardMissing()

// sameLabel says whether a label is that of a class: the same text, the same number, or the same
// boolean word in whatever case.
func sameLabel(label []byte, class string) bool {
	if string(label) == class {
		return true
	}
	if want, ok := number([]byte(class)); ok {
		value, ok := number(label)
		return ok && value == want
	}
	_, boolean := cells.ParseBoolean(label)
	return boolean && strings.EqualFold(string(label), class)
}

// quotedLength is how many bytes of a faulty text a message repeats.
const quotedLength = 40

func quote(text []byte) string {
	if len(text) > quotedLength {
		return strconv.Quote(string(text[:quotedLength]) + "…")
	}
	return strconv.Quote(string(text))
}
