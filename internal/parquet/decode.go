package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/bitpack"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// zstandard decodes pages of any column; it is safe for several goroutines.
var zstandard = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderMaxMemory(largestPage), zstd.WithDecodeAllCapLimit(true))
})

// unpack sets the page to the bytes that it has in the file, of which so many levels are not compressed. It takes
// memory for what comes out, not for what the header says, which must be as much.
func (p *Pages) unpack(codec format.CompressionCodec, from []byte, levels, size int) error {
	switch {
	case codec == format.Uncompressed:
		size = len(from)
	case inBlocks(codec) && size/256 > len(from):
		return fmt.Errorf("a page of %d bytes, %d stored, which is less than %s makes of them", size, len(from), codec)
	}
	for n := min(size, max(cap(p.raw)-bitpack.PaddingInt64, 16*len(from), readBuffer)); ; n = min(4*n, size) {
		var err error
		if p.raw, err = p.group.grown(p.raw, n); err != nil {
			return err
		}
		copy(p.raw, from[:levels])
		if size == levels {
			return nil
		}
		got, err := decompress(p.raw[levels:n:n], codec, from[levels:])
		if err == nil && got == size-levels {
			return nil
		} else if err == nil {
			return fmt.Errorf("a page of %d bytes, not of %d", levels+got, size)
		} else if !errors.Is(err, io.ErrShortBuffer) {
			return err
		} else if n == size {
			return fmt.Errorf("a page that does not unpack to %d bytes", size)
		}
		p.raw = nil // what it took stays taken
	}
}

// inBlocks reports whether a codec makes at most 255 bytes of one, and all at once.
func inBlocks(codec format.CompressionCodec) bool {
	return codec == format.Snappy || codec == format.Lz4Raw || codec == format.Lz4
}

// decompress returns how many bytes it wrote, or io.ErrShortBuffer where there is no room for all.
func decompress(to []byte, codec format.CompressionCodec, from []byte) (n int, err error) {
	var in io.Reader
	switch codec {
	case format.Uncompressed:
		return copy(to, from), nil
	case format.Snappy:
		if n, err = s2.DecodedLen(from); err == nil && n > len(to) {
			return 0, io.ErrShortBuffer
		} else if err == nil {
			_, err = s2.Decode(to, from)
		}
		return n, err
	case format.Zstd:
		decoder, err := zstandard()
		if err != nil {
			return 0, err
		}
		out, err := decoder.DecodeAll(from, to[:0])
		if errors.Is(err, zstd.ErrDecoderSizeExceeded) {
			err = io.ErrShortBuffer
		}
		return len(out), err
	case format.Lz4Raw:
		if n, err = lz4.UncompressBlock(from, to); err != nil { // it does not tell why
			err = io.ErrShortBuffer
		}
		return n, err
	case format.Lz4:
		return hadoop(to, from)
	case format.Gzip:
		in, err = gzip.NewReader(bytes.NewReader(from))
	case format.Brotli:
		in = brotli.NewReader(bytes.NewReader(from))
	default:
		return 0, unread("its pages are compressed with %s: choose Zstandard or Snappy", codec)
	}
	if err != nil {
		return 0, err
	}
	if n, err = io.ReadFull(in, to); err == nil {
		if k, behind := in.Read(make([]byte, 1)); k > 0 {
			return n, io.ErrShortBuffer
		} else if behind != io.EOF {
			return n, behind
		}
	} else if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// hadoop decompresses blocks of LZ4 as Hadoop writes them: the bytes that come out of one or more, and before each its
// own, as big-endian numbers. Some programs wrote a block without them.
func hadoop(to, from []byte) (n int, err error) {
	for whole := from; len(from) > 0; {
		if len(from) < 8 || n == 0 && uint64(binary.BigEndian.Uint32(from[4:])) > uint64(len(from)-8) {
			return decompress(to, format.Lz4Raw, whole)
		}
		end := n + int(binary.BigEndian.Uint32(from))
		for from = from[4:]; n < end; {
			if len(from) < 4 || uint64(binary.BigEndian.Uint32(from)) > uint64(len(from)-4) {
				return n, io.ErrUnexpectedEOF
			}
			length := 4 + int(binary.BigEndian.Uint32(from))
			got, err := decompress(to[n:], format.Lz4Raw, from[4:length])
			if err != nil || got == 0 {
				return n, errors.Join(err, io.ErrShortBuffer)
			}
			n, from = n+got, from[length:]
		}
	}
	return n, nil
}
