package parquet

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/credence-ml/credence/internal/order"
	"github.com/parquet-go/bitpack"
)

// window is how many packed values are unpacked where fewer are wanted than stand in whole bytes.
const window = 64

// runs reads small numbers that stand in runs of equal ones and in runs of packed bits (the hybrid encoding of levels,
// places in the dictionary and truth values). A run takes no more memory than what is asked for.
type runs struct {
	from      []byte
	width     int // bits of a number
	left      int // numbers of the present run, those unpacked not counted
	packed    bool
	backwards bool  // bits are packed from the highest on: levels of old files, all in one run
	value     int32 // of a run of equal ones
	unpacked  []int32
	window    [window]int32
}

// packed returns the numbers of bytes that hold nothing else.
func packed(from []byte, width int, backwards bool) runs {
	return runs{from: from, width: width, left: 8 * len(from) / width, packed: true, backwards: backwards}
}

// more goes to the next run if the present one has ended.
func (r *runs) more() error {
	for r.left == 0 && len(r.unpacked) == 0 {
		head, n := binary.Uvarint(r.from)
		if n <= 0 || head > math.MaxUint32 || r.width > 32 {
			return fmt.Errorf("a run of %d numbers of %d bits: %w", head>>1, r.width, io.ErrUnexpectedEOF)
		}
		r.from = r.from[n:]
		count, bytes := head>>1, uint64(r.width+7)/8
		if r.packed = head&1 != 0; r.packed { // eights of numbers
			count, bytes = 8*count, count*uint64(r.width)
		}
		if bytes > uint64(len(r.from)) || count > math.MaxInt32 {
			return fmt.Errorf("a run of %d numbers in %d bytes: %w", count, len(r.from), io.ErrUnexpectedEOF)
		}
		if r.left = int(count); !r.packed {
			var value [4]byte
			copy(value[:], r.from[:bytes])
			r.value, r.from = int32(binary.LittleEndian.Uint32(value[:])), r.from[bytes:]
		}
	}
	if r.packed && len(r.unpacked) == 0 {
		r.unpacked = r.unpack(r.window[:min(window, r.left)])
	}
	return nil
}

// unpack returns the next packed numbers, which are eights of them or the last.
func (r *runs) unpack(to []int32) []int32 {
	size := (len(to)*r.width + 7) / 8
	switch {
	case r.width == 0:
		clear(to)
	case r.backwards:
		at := 0
		for i := range to {
			to[i] = 0
			for range r.width {
				to[i] = to[i]<<1 | int32(r.from[at/8]>>(7-at%8)&1)
				at++
			}
		}
	default:
		bitpack.Unpack(to, r.from[:size+bitpack.PaddingInt32], uint(r.width)) // without vectors it reads whole words
	}
	r.left -= len(to)
	r.from = r.from[size:]
	return to
}

// run returns how many of the next numbers, at most so many, all are this one or all are not.
func (r *runs) run(most int, this int32) (n int, is bool, err error) {
	if err := r.more(); err != nil || most == 0 {
		return 0, false, err
	}
	if len(r.unpacked) == 0 {
		n = min(most, r.left)
		r.left -= n
		return n, r.value == this, nil
	}
	is = r.unpacked[0] == this
	for n = 1; n < min(most, len(r.unpacked)) && (r.unpacked[n] == this) == is; n++ {
	}
	r.unpacked = r.unpacked[n:]
	return n, is, nil
}

// next sets numbers to the next ones, and returns how many there were.
func (r *runs) next(to []int32) (n int, err error) {
	for n < len(to) && (r.left > 0 || len(r.unpacked) > 0 || len(r.from) > 0) {
		if eights := min((len(to)-n)&^7, r.left); r.packed && len(r.unpacked) == 0 && eights > 0 {
			n += len(r.unpack(to[n : n+eights]))
			continue
		}
		if err := r.more(); err != nil {
			return n, err
		}
		if len(r.unpacked) > 0 {
			k := copy(to[n:], r.unpacked)
			n, r.unpacked = n+k, r.unpacked[k:]
			continue
		}
		k := min(len(to)-n, r.left)
		for i := range to[n : n+k] {
			to[n+i] = r.value
		}
		n, r.left = n+k, r.left-k
	}
	return n, nil
}

// deltas reads integers that stand as differences, in blocks of packed bits (DELTA_BINARY_PACKED).
type deltas struct {
	from     []byte
	left     int // integers that are not yet unpacked
	parts    int // of a block
	last     int64
	least    int64  // difference of the block
	widths   []byte // of its parts that are left
	unpacked []int64
	part     []int64 // memory of the present part
}

// largestBlock bounds what a block says that it holds; writers have 128 integers in it.
const largestBlock = 1 << 16

// begin reads what stands before the integers.
func (d *deltas) begin(from []byte) error {
	var head [3]uint64
	for k := range head {
		v, n := binary.Uvarint(from)
		if n <= 0 {
			return io.ErrUnexpectedEOF
		}
		head[k], from = v, from[n:]
	}
	first, n := binary.Varint(from)
	if n <= 0 {
		return io.ErrUnexpectedEOF
	}
	if head[0] > largestBlock || head[1] == 0 || head[0]%head[1] != 0 || head[0]/head[1]%32 != 0 || head[0] == 0 || head[2] > math.MaxInt32 {
		return fmt.Errorf("%d differences in blocks of %d, each of %d parts", head[2], head[0], head[1])
	}
	*d = deltas{from: from[n:], left: int(head[2]), parts: int(head[1]), part: order.Resized(d.part, int(head[0]/head[1]))}
	if d.left > 0 {
		d.left, d.last, d.part[0] = d.left-1, first, 0
		d.unpacked = d.part[:1]
	}
	return nil
}

// more goes to the next part, and unpacks it or not.
func (d *deltas) more(unpack bool) error {
	if len(d.widths) == 0 {
		least, n := binary.Varint(d.from)
		if n <= 0 || d.parts > len(d.from)-n {
			return io.ErrUnexpectedEOF
		}
		d.least, d.widths, d.from = least, d.from[n:n+d.parts], d.from[n+d.parts:]
	}
	width := int(d.widths[0])
	d.widths = d.widths[1:]
	n := min(d.left, len(d.part))
	bytes := min(len(d.part)*width/8, len(d.from)) // the last part may be cut where no integers are
	if width > 64 || n*width > 8*bytes {
		return io.ErrUnexpectedEOF
	}
	if unpack {
		d.unpacked = d.part[:n]
		if width == 0 {
			clear(d.unpacked)
		} else {
			bitpack.Unpack(d.unpacked, d.from, uint(width))
		}
		for i := range d.unpacked {
			d.unpacked[i] += d.least
		}
	}
	d.left, d.from = d.left-n, d.from[bytes:]
	return nil
}

// next sets integers to the next ones, and returns how many there were.
func (d *deltas) next(to []int64) (n int, err error) {
	for n < len(to) && (d.left > 0 || len(d.unpacked) > 0) {
		if len(d.unpacked) == 0 {
			if err := d.more(true); err != nil {
				return n, err
			}
		}
		k := min(len(to)-n, len(d.unpacked))
		for i, v := range d.unpacked[:k] {
			d.last += v
			to[n+i] = d.last
		}
		n, d.unpacked = n+k, d.unpacked[k:]
	}
	return n, nil
}

// behind returns the bytes behind the integers, none of which has been read.
func (d deltas) behind() ([]byte, error) {
	for d.left > 0 {
		if err := d.more(false); err != nil {
			return nil, err
		}
	}
	return d.from, nil
}
