package stream

import (
	"errors"
	"fmt"
	"math"
	"strconv"
)

// Labels reads class labels: 1 and 0 of the result, NaN where there is none.
type Labels struct {
	// Positive is the label of the positive class, a text or a number. Empty means
	// that labels are 1 against 0 or -1, true against false.
	Positive string
	// Negative is the label of the other class where there are just two; empty
	// means all others.
	Negative string
	// Optional says that an empty label is no label; otherwise it is an error.
	Optional bool
}

func (l *Labels) read(text []byte) (float64, error) {
	if len(text) == 0 {
		if l.Optional {
			return math.NaN(), nil
		}
		return 0, errors.New("the label is missing: correct the row")
	}
	if l.Positive != "" {
		switch {
		case sameLabel(text, l.Positive):
			return 1, nil
		case l.Negative == "" || sameLabel(text, l.Negative):
			return 0, nil
		}
		return 0, fmt.Errorf("label %s is neither %s nor %s: name the positive class with --positive", quote(text), l.Positive, l.Negative)
	}
	switch text[0] {
	case '1':
		if len(text) == 1 {
			return 1, nil
		}
	case '0':
		if len(text) == 1 {
			return 0, nil
		}
	case '-', '+':
		if len(text) == 2 && text[1] == '1' {
			if text[0] == '-' {
				return 0, nil
			}
			return 1, nil
		}
	}
	switch string(text) {
	case "true", "True", "TRUE":
		return 1, nil
	case "false", "False", "FALSE":
		return 0, nil
	}
	if value, ok := number(text); ok {
		switch value {
		case 1:
			return 1, nil
		case 0, -1:
			return 0, nil
		}
	}
	return 0, fmt.Errorf("label %s is not 1, 0 or -1: name the positive class with --positive", quote(text))
}

// sameLabel says whether a label is that of a class: the same text, or the same number.
func sameLabel(text []byte, class string) bool {
	if string(text) == class {
		return true
	}
	want, ok := number([]byte(class))
	if !ok {
		return false
	}
	value, ok := number(text)
	return ok && value == want
}

// quotedLength is how many bytes of a faulty text a message repeats.
const quotedLength = 40

func quote(text []byte) string {
	if len(text) > quotedLength {
		return strconv.Quote(string(text[:quotedLength]) + "…")
	}
	return strconv.Quote(string(text))
}
