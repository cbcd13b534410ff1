package cell

import (
	"encoding/binary"
	"math/bits"
)

// Digits reads the decimal digits that begin text, at most eight of them, and
// returns their value and number, eight bytes in one step. text has at least 8 bytes.
func Digits(text []byte) (value uint64, count int) {
	word := binary.LittleEndian.Uint64(text)
	if eightDigits(word) {
		return eightDigitValue(word), 8
	}
	if count = DigitCount(word); count == 0 {
		return 0, 0
	}
	return DigitValue(word, count), count
}

const zeros = 0x3030303030303030 // "00000000"

// DigitCount returns how many digits begin eight bytes, the first the lowest, up to seven: bytes that are no digits
// raise their top bits.
func DigitCount(word uint64) int {
	word ^= zeros
	// A byte above 9 carries into its top bit when 0x76 is added; one with its top bit set
	// has it set already. Carries between bytes come after the first non-digit only.
	return bits.TrailingZeros64((word+0x7676767676767676|word)&0x8080808080808080|1<<63) / 8
}

// DigitValue returns the value of the first count digits of eight bytes, at least one: they are joined by three
// products.
func DigitValue(word uint64, count int) uint64 {
	word = (word ^ zeros) << (uint(64-8*count) & 63) // digits to the end, zeros before them
	word = word*10 + word>>8                         // pairs
	return ((word&0x000000ff000000ff)*0x000f424000000064 + (word>>16&0x000000ff000000ff)*0x0000271000000001) >> 32
}
