package stream

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
)

const (
	zeros = 0x3030303030303030 // "00000000"
	tops  = 0x8080808080808080
)

// digits reads the decimal digits that begin text, at most eight of them, and
// returns their value and number, eight bytes in one step: bytes that are no
// digits raise their top bits, and the digits are joined by three products.
// text has at least 8 bytes.
func digits(text []byte) (value uint64, count int) {
	word := binary.LittleEndian.Uint64(text) ^ zeros
	// A byte above 9 carries into its top bit when 0x76 is added; one with its top bit set
	// has it set already. Carries between bytes come after the first non-digit only.
	stop := (word + 0x7676767676767676 | word) & tops
	if stop == 0 {
		count = 8
	} else {
		count = bits.TrailingZeros64(stop) / 8
	}
	word <<= uint(64-8*count) & 63 // digits to the end, zeros before them
	if count == 0 {
		return 0, 0
	}
	word = word*10 + word>>8 // pairs
	value = ((word&0x000000ff000000ff)*0x000f424000000064 + (word>>16&0x000000ff000000ff)*0x0000271000000001) >> 32
	return value, count
}

var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// number parses a finite decimal number, rounded to nearest. Plain numbers of up
// to 15 digits are exact products or quotients of two exact float64; the rest is
// left to strconv.
func number(text []byte) (float64, bool) {
	i, negative := 0, false
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		negative = text[0] == '-'
		i = 1
	}
	mantissa, seen, fraction, point := uint64(0), 0, 0, false
	for ; i < len(text); i++ {
		c := text[i]
		if c-'0' <= 9 {
			mantissa = mantissa*10 + uint64(c-'0')
			seen++
			if point {
				fraction++
			}
			if seen > 15 {
				return slowNumber(text)
			}
		} else if c == '.' && !point {
			point = true
		} else {
			return slowNumber(text)
		}
	}
	if seen == 0 {
		return 0, false
	}
	value := float64(mantissa) / powers[fraction]
	if negative {
		value = -value
	}
	return value, true
}

// slowNumber reads what number leaves: exponents and many digits. Hexadecimal
// numbers, underscores, infinities and NaN are not numbers here.
func slowNumber(text []byte) (float64, bool) {
	if len(text) > 400 {
		return 0, false
	}
	for _, c := range text {
		if c-'0' > 9 && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E' {
			return 0, false
		}
	}
	value, err := strconv.ParseFloat(string(text), 64)
	if err != nil || math.IsInf(value, 0) {
		return 0, false
	}
	return value, true
}
