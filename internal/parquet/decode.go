package parquet

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/bitpack/unsafecast"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/encoding/bytestreamsplit"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/plain"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// zstandard decodes pages of any column; it is safe for several goroutines.
var zstandard = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderMaxMemory(largestPage))
})

// decompress returns the bytes of a page, which are so many, in the memory of *to where they are compressed.
func decompress(to *[]byte, codec format.CompressionCodec, from []byte, size int) ([]byte, error) {
	if codec == format.Uncompressed {
		return from, nil
	}
	if size == 0 {
		return nil, nil
	}
	*to = resized(*to, size)
	got, err := 0, error(nil)
	switch codec {
	case format.Snappy:
		if got, err = s2.DecodedLen(from); err == nil && got == size {
			_, err = s2.Decode(*to, from)
		}
	case format.Gzip:
		var in *gzip.Reader
		if in, err = gzip.NewReader(bytes.NewReader(from)); err == nil {
			got, err = io.ReadFull(in, *to)
		}
	case format.Zstd:
		var decoder *zstd.Decoder
		if decoder, err = zstandard(); err == nil {
			var out []byte
			out, err = decoder.DecodeAll(from, (*to)[:0])
			got = len(out)
		}
	case format.Lz4Raw:
		got, err = lz4.UncompressBlock(from, *to)
	default:
		return nil, fmt.Errorf("pages are compressed with %s, which is not read: choose Zstandard or Snappy", codec)
	}
	if err == nil && got != size {
		err = fmt.Errorf("a page of %d bytes, not of %d", got, size)
	}
	return *to, err
}

// encodingOf returns what decodes values.
func encodingOf(how format.Encoding) (encoding.Encoding, error) {
	switch how {
	case format.Plain:
		return &plain.Encoding{}, nil
	case format.RLE:
		return &rle.Encoding{BitWidth: 1}, nil // of truth values
	case format.RLEDictionary:
		return &rle.DictionaryEncoding{}, nil
	case format.DeltaBinaryPacked:
		return &delta.BinaryPackedEncoding{}, nil
	case format.DeltaLengthByteArray:
		return &delta.LengthByteArrayEncoding{}, nil
	case format.DeltaByteArray:
		return &delta.ByteArrayEncoding{}, nil
	case format.ByteStreamSplit:
		return &bytestreamsplit.Encoding{}, nil
	}
	return nil, fmt.Errorf("values are encoded by %s, which is not read", how)
}

// counted returns the bytes of n values, and refuses those that say of themselves that they are more.
func counted(kind format.Type, how format.Encoding, from []byte, n int) ([]byte, error) {
	switch how {
	case format.RLE: // behind their length
		if len(from) < 4 || kind != format.Boolean {
			return nil, io.ErrUnexpectedEOF
		}
		runs, err := hybrid(from[4:], 1, n)
		return append(binary.LittleEndian.AppendUint32(nil, uint32(len(runs))), runs...), err
	case format.RLEDictionary: // behind the bits of each
		if len(from) == 0 {
			return nil, io.ErrUnexpectedEOF
		}
		runs, err := hybrid(from[1:], int(from[0]), n)
		return from[:1+len(runs)], err
	case format.DeltaBinaryPacked, format.DeltaLengthByteArray, format.DeltaByteArray: // behind the block's size and its parts
		at := 0
		for k := range 3 {
			v, m := binary.Uvarint(from[at:])
			if m <= 0 {
				return nil, io.ErrUnexpectedEOF
			}
			if at += m; k == 2 && v > uint64(n) {
				return nil, fmt.Errorf("%d values where there are %d", v, n)
			}
		}
	}
	return from, nil
}

// store holds a page and what it decodes to.
type store struct {
	in                  *bufio.Reader
	stored, raw, levels []byte // as in the file, decompressed, of which rows
	bytes               []byte
	offsets             []uint32
	int32s              []int32
	int64s              []int64
	float32s            []float32
	float64s            []float64
	int96s              []deprecated.Int96
}

var stores = sync.Pool{New: func() any { return new(store) }}

// decode returns n values of a page, or more, in the place of those bytes where the decoder allows it.
func (s *store) decode(kind format.Type, how format.Encoding, from []byte, n int) (values encoding.Values, err error) {
	if n == 0 {
		how, from = format.Plain, nil
	}
	decoder, err := encodingOf(how)
	if err != nil {
		return values, err
	}
	if from, err = counted(kind, how, from, n); err != nil {
		return values, err
	}
	switch kind {
	case format.Boolean:
		return decoded(&s.bytes, decoder, decoder.DecodeBoolean, encoding.BooleanValues, from, (n+7)/8)
	case format.Int32:
		return decoded(&s.int32s, decoder, decoder.DecodeInt32, encoding.Int32Values, from, n)
	case format.Int64:
		return decoded(&s.int64s, decoder, decoder.DecodeInt64, encoding.Int64Values, from, n)
	case format.Int96:
		return decoded(&s.int96s, decoder, decoder.DecodeInt96, encoding.Int96Values, from, n)
	case format.Float:
		return decoded(&s.float32s, decoder, decoder.DecodeFloat, encoding.FloatValues, from, n)
	case format.Double:
		return decoded(&s.float64s, decoder, decoder.DecodeDouble, encoding.DoubleValues, from, n)
	case format.ByteArray:
		texts := func(to, from []byte) (_ []byte, err error) {
			to, s.offsets, err = decoder.DecodeByteArray(to, from, resized(s.offsets, n+1)[:0])
			if err == nil && len(s.offsets) <= n {
				err = fmt.Errorf("a page of %d texts where there are %d", len(s.offsets)-1, n)
			}
			return to, err
		}
		as := func(content []byte) encoding.Values { return encoding.ByteArrayValues(content, s.offsets) }
		return decoded(&s.bytes, decoder, texts, as, from, 0)
	}
	return values, fmt.Errorf("values are of type %s, which is not read", kind)
}

// decoded returns n values or more: in the place of their bytes where the decoder allows it, else in the memory of *kept.
func decoded[T any](kept *[]T, decoder encoding.Encoding, decode func(to []T, from []byte) ([]T, error), as func([]T) encoding.Values, from []byte, n int) (encoding.Values, error) {
	var out []T
	var err error
	if decoder.CanDecodeInPlace() {
		out, err = decode(unsafecast.Slice[T](from)[:0], from)
	} else {
		out, err = decode(resized(*kept, n+8)[:0], from) // runs are of eights
		*kept = out
	}
	if err == nil && len(out) < n {
		err = fmt.Errorf("a page of %d values where there are %d", len(out), n)
	}
	return as(out), err
}
