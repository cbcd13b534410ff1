package cell

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
)

// powersOfTen are exact in float64.
var powersOfTen = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// integerPowersOfTen are all that fit in 64 bits.
var integerPowersOfTen = [...]uint64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9,
	1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
}

// numberLength is how long numbers are as a rule.
const numberLength = 40

// maxMantissaDigits decimal digits always fit in 64 bits.
const maxMantissaDigits = 19

// ScanNumber reads a decimal number at data[i:], which must hold a byte that is
// no part of a number before its end, and returns its value and the position
// behind it. ok is false where there is no number, or one that needs the slow
// way: more than 19 digits, or an exponent out of the exact range.
func ScanNumber(data []byte, i int) (value float64, next int, ok bool) {
	// Signs are as good as random: no branch depends on them.
	var sign uint64
	if data[i] == '-' {
		sign = 1
	}
	i += int(sign)
	if data[i] == '+' && sign == 0 {
		i++
	}
	var mantissa uint64
	first := i
	for {
		digit := data[i] - '0'
		if digit > 9 {
			break
		}
		mantissa = mantissa*10 + uint64(digit)
		i++
	}
	digits, exponent := i-first, 0
	if data[i] == '.' {
		i++
		first = i
		for i+8 <= len(data) {
			chunk := binary.LittleEndian.Uint64(data[i:])
			if !eightDigits(chunk) {
				break
			}
			mantissa = mantissa*100_000_000 + eightDigitValue(chunk)
			i += 8
		}
		for {
			digit := data[i] - '0'
			if digit > 9 {
				break
			}
			mantissa = mantissa*10 + uint64(digit)
			i++
		}
		digits += i - first
		exponent = first - i
	}
	if digits == 0 || digits > maxMantissaDigits {
		return 0, i, false
	}
	if data[i]|0x20 == 'e' {
		i++
		down := false
		if data[i] == '-' {
			down = true
			i++
		} else if data[i] == '+' {
			i++
		}
		first = i
		written := 0
		for {
			digit := data[i] - '0'
			if digit > 9 {
				break
			}
			if written < 10000 { // far outside the exact range already
				written = written*10 + int(digit)
			}
			i++
		}
		if i == first {
			return 0, i, false
		}
		if down {
			written = -written
		}
		exponent += written
	}
	if mantissa < 1<<53 && -22 <= exponent && exponent <= 0 { // as decimal has it
		value, ok = float64(mantissa)/powersOfTen[-exponent], true
	} else {
		value, ok = decimal(mantissa, exponent)
	}
	return math.Float64frombits(math.Float64bits(value) | sign<<63), i, ok
}

// decimal returns mantissa·10^exponent rounded to nearest even; ok is false
// where that is not decided by one exact operation.
func decimal(mantissa uint64, exponent int) (value float64, ok bool) {
	if mantissa < 1<<53 {
		// Clinger (1990): one operation on two exact operands rounds once.
		switch {
		case exponent == 0:
			return float64(mantissa), true
		case -22 <= exponent && exponent < 0:
			return float64(mantissa) / powersOfTen[-exponent], true
		case 0 < exponent && exponent <= 22:
			return float64(mantissa) * powersOfTen[exponent], true
		}
		if mantissa == 0 {
			return 0, true
		}
	}
	if exponent == 0 {
		return float64(mantissa), true // the conversion rounds to nearest even
	}
	if exponent > 0 || exponent < -maxMantissaDigits {
		return 0, false
	}
	// mantissa/divisor with both shifted to have their top bit set: the integer
	// quotient of 128 by 64 bits has 63 or 64 bits, and the remainder tells on
	// which side of a tie the true value lies.
	divisor := integerPowersOfTen[-exponent]
	shiftMantissa, shiftDivisor := bits.LeadingZeros64(mantissa), bits.LeadingZeros64(divisor)
	mantissa <<= uint(shiftMantissa)
	quotient, remainder := bits.Div64(mantissa>>1, mantissa<<63, divisor<<uint(shiftDivisor))
	// The value is quotient·2^scale.
	scale := shiftDivisor - shiftMantissa - 63
	if quotient>>63 == 0 {
		quotient <<= 1
		scale--
		// The lowest bit is lost below; a remainder keeps the quotient inexact.
	}
	significand := quotient >> 11
	rest := quotient & (1<<11 - 1)
	const half = 1 << 10
	if rest > half || rest == half && (remainder != 0 || significand&1 == 1) {
		significand++ // 2^53 is exact as well
	}
	// The result lies between 1e-19 and 1.8e19, far from the subnormal numbers.
	return float64(significand) * math.Float64frombits(uint64(1023+scale+11)<<52), true
}

// eightDigits reports whether all bytes are ASCII digits.
func eightDigits(chunk uint64) bool {
	const nibbles = 0xf0f0f0f0f0f0f0f0
	return chunk&nibbles|(chunk+0x0606060606060606)&nibbles>>4 == 0x3333333333333333
}

// eightDigitValue returns the number that eight ASCII digits spell, the first in
// the lowest byte: pairs, then fours, then eight are joined by multiplication.
func eightDigitValue(chunk uint64) uint64 {
	chunk -= 0x3030303030303030
	chunk = chunk*10 + chunk>>8
	const mask = 0x000000ff000000ff
	const low, high = 100 + 1000000<<32, 1 + 10000<<32
	return (chunk&mask*low + chunk>>16&mask*high) >> 32
}

// numberFault says why a text is no number that the caller accepts.
type numberFault uint8

const (
	fine numberFault = iota
	notNumber
	infinite
)

// ParseNumber reads text that is a number as a whole, without spaces around it. An
// infinity, written out or by overflow, is returned as such with finite false.
func ParseNumber(text []byte) (value float64, finite, ok bool) {
	value, fault := parseNumber(text)
	return value, fault == fine, fault != notNumber
}

func parseNumber(text []byte) (float64, numberFault) {
	// Most numbers are short and need no slow way; the byte behind them is no part of a number.
	var short [numberLength + 1]byte
	if 0 < len(text) && len(text) <= numberLength {
		copy(short[:], text)
		if value, next, ok := ScanNumber(short[:], 0); ok && next == len(text) {
			return value, fine
		}
	}
	if !decimalSyntax(text) {
		if sign, is := infinity(text); is {
			return math.Inf(sign), infinite
		}
		return 0, notNumber
	}
	value, err := strconv.ParseFloat(string(text), 64)
	if err != nil { // the syntax is right, so it is out of range
		return value, infinite
	}
	return value, fine
}

// decimalSyntax reports whether text is [sign] digits [. digits] [e [sign] digits]
// with a digit before the exponent. strconv alone would also take hexadecimal.
func decimalSyntax(text []byte) bool {
	i, digits := 0, 0
	if i < len(text) && (text[i] == '+' || text[i] == '-') {
		i++
	}
	for ; i < len(text) && text[i]-'0' <= 9; i++ {
		digits++
	}
	if i < len(text) && text[i] == '.' {
		for i++; i < len(text) && text[i]-'0' <= 9; i++ {
			digits++
		}
	}
	if digits == 0 {
		return false
	}
	if i < len(text) && text[i]|0x20 == 'e' {
		i++
		if i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		first := i
		for ; i < len(text) && text[i]-'0' <= 9; i++ {
		}
		if i == first {
			return false
		}
	}
	return i == len(text)
}

// infinity recognises inf and infinity in any case, with a sign or without.
func infinity(text []byte) (sign int, is bool) {
	sign = 1
	if len(text) > 0 && (text[0] == '+' || text[0] == '-') {
		if text[0] == '-' {
			sign = -1
		}
		text = text[1:]
	}
	return sign, equalFold(text, "inf") || equalFold(text, "infinity")
}

// equalFold compares with a lower-case ASCII word, ignoring case.
func equalFold(text []byte, word string) bool {
	if len(text) != len(word) {
		return false
	}
	for i, c := range text {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != word[i] {
			return false
		}
	}
	return true
}

// ParseBoolean reads true/false, yes/no, t/f, y/n and 1/0 in any case.
func ParseBoolean(text []byte) (value float64, ok bool) {
	switch len(text) {
	case 1:
		switch text[0] {
		case '1', 't', 'T', 'y', 'Y':
			return 1, true
		case '0', 'f', 'F', 'n', 'N':
			return 0, true
		}
	case 2:
		return 0, equalFold(text, "no")
	case 3:
		return 1, equalFold(text, "yes")
	case 4:
		return 1, equalFold(text, "true")
	case 5:
		return 0, equalFold(text, "false")
	}
	return 0, false
}

// Exact reports whether text is no integer, or one that a float64 holds exactly.
func Exact(text []byte) bool {
	digits := bytes.TrimLeft(text, "+-")
	for _, c := range digits {
		if c-'0' > 9 {
			return true
		}
	}
	value, err := strconv.ParseFloat(string(digits), 64)
	if err != nil {
		return true
	}
	return strconv.FormatFloat(value, 'f', 0, 64) == string(bytes.TrimLeft(digits, "0")) || value == 0
}

// AppendLevel appends the text of a number that is a level, in the least digits that give a number of so many bits
// back: an integer as files have it, without an exponent.
func AppendLevel(dst []byte, v float64, bits int) []byte {
	format := byte('g')
	if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
		format = 'f'
	}
	return strconv.AppendFloat(dst, v, format, -1, bits)
}
