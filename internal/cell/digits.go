package cell

import (
	"encoding/binary"
	"math/bits"
)

// Digits reads the decimal digits that begin text, at most eight of them, and
// returns their value and number, eight bytes in one step: bytes that are no
// digits raise their top bits, and the digits are joined by three products.
// text has at least 8 bytes.
func Digits(text []byte) (value uint64, count int) {
	const (
		zeros = 0x3030303030303030 // "00000000"
		tops  = 0x8080808080808080
	)
	word := binary.LittleEndian.Uint64(text) ^ zeros
	// A byte above 9 carries into its top bit when 0x76 is added; one with its top bit set
	// has it set already. Carries between bytes come after the first non-digit only.
	stop := (word + 0x7676767676767676 | word) & tops
	if stop == 0 {
		count = 8
	} else {
		count = bits.TrailingZeros64(stop) / 8
	}
	if count == 0 {
		return 0, 0
	}
	word <<= uint(64-8*count) & 63 // digits to the end, zeros before them
	word = word*10 + word>>8       // pairs
	value = ((word&0x000000ff000000ff)*0x000f424000000064 + (word>>16&0x000000ff000000ff)*0x0000271000000001) >> 32
	return value, count
}
