package safetensors

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/credence-ml/credence/internal/order"
)

// DType is an element type, spelled as in the header.
type DType string

// The element types of this package.
const (
	F64 DType = "F64"
	F32 DType = "F32"
	I64 DType = "I64"
	I32 DType = "I32"
	U8  DType = "U8"
)

// Size returns the number of bytes of one element, or 0 for an unknown type.
func (d DType) Size() int {
	switch d {
	case F64, I64:
		return 8
	case F32, I32:
		return 4
	case U8:
		return 1
	}
	return 0
}

// Element is a Go type that a DType stores: uint64 by its bits, as int64.
type Element interface {
	float64 | float32 | int64 | uint64 | int32 | uint8
}

// TypeOf returns the element type that stores T.
func TypeOf[T Element]() DType {
	var zero T
	switch any(zero).(type) {
	case float64:
		return F64
	case float32:
		return F32
	case int64, uint64:
		return I64
	case int32:
		return I32
	}
	return U8
}

// chunkBytes is how much is written at a time, and hashed while the first-level cache has it. A multiple of 8.
const chunkBytes = 1 << 14

// littleEndian says whether numbers lie in memory as they are stored. Tests set it.
var littleEndian = order.LittleEndian

// Encode writes values to w as they are stored, in pieces of bounded size. It is
// what a Tensor.Data function calls, as often as it likes.
func Encode[T Element](w io.Writer, values []T) error {
	for chunk := range slices.Chunk(values, chunkBytes/TypeOf[T]().Size()) {
		part, err := order.Bytes(chunk), error(nil)
		if !littleEndian {
			part, err = binary.Append(nil, binary.LittleEndian, chunk)
		}
		if err == nil {
			_, err = w.Write(part)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// byteSize returns the number of bytes of a tensor. Dimensions of 0 do not hide
// an overflow among the others: a shape that no array could have is refused
// whatever the order of its dimensions.
func byteSize(dtype DType, shape []int) (int64, error) {
	if dtype.Size() == 0 {
		return 0, fmt.Errorf("unknown dtype %q: this package reads F64, F32, I64, I32 and U8", dtype)
	}
	if len(shape) > maxRank {
		return 0, fmt.Errorf("%d dimensions: at most %d are allowed", len(shape), maxRank)
	}
	size, empty := dtype.Size(), false
	for _, dim := range shape {
		switch {
		case dim < 0:
			return 0, fmt.Errorf("shape %v has a negative dimension", shape)
		case dim == 0:
			empty = true
		case size > math.MaxInt/dim:
			return 0, fmt.Errorf("shape %v of %s overflows", shape, dtype)
		default:
			size *= dim
		}
	}
	if empty {
		return 0, nil
	}
	return int64(size), nil
}
