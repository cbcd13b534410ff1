package parquet

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"

	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/encoding/bitpacked"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

const (
	// readBuffer is how much of a column is read from the file at a time.
	readBuffer = 64 << 10
	// largestPage bounds the bytes of a page, which writers keep near a million.
	largestPage = 1 << 30
)

// Page is a page of a column without lists. Its slices are those of Pages, until the next page is read.
type Page struct {
	Rows int
	// Levels has the definition level of each row, nil where every row has a value.
	Levels []byte
	// Values are those that are there; of an Indexed page, their places in the dictionary, which are of 32 bits.
	Values  encoding.Values
	Indexed bool
}

// Pages reads the pages of a column in a row group.
type Pages struct {
	column  *Column
	codec   format.CompressionCodec
	left    int64 // rows
	section *io.SectionReader
	in      *bufio.Reader
	decoder *thrift.Decoder

	page, dictionary *store
	entries          encoding.Values // of the dictionary
	count            int             // of entries
}

// Pages returns the pages of a column, which holds no lists.
func (f *File) Pages(group, column int) *Pages {
	g := &f.groups[group]
	c := &g.Columns[column].MetaData
	p := &Pages{column: &f.Columns[column], codec: c.Codec, left: g.NumRows, section: io.NewSectionReader(f.in, begins(c), c.TotalCompressedSize)}
	p.page, p.dictionary = stores.Get().(*store), stores.Get().(*store)
	if p.in = p.page.in; p.in == nil {
		p.in = bufio.NewReaderSize(nil, readBuffer)
		p.page.in = p.in
	}
	p.in.Reset(p.section)
	p.decoder = thrift.NewDecoder(new(thrift.CompactProtocol).NewReader(p.in))
	return p
}

// Close gives the memory of the pages back.
func (p *Pages) Close() {
	if p.page != nil {
		stores.Put(p.page)
		stores.Put(p.dictionary)
		p.page, p.dictionary = nil, nil
	}
}

// Dictionary returns the values that indexed pages refer to, and their number.
func (p *Pages) Dictionary() (encoding.Values, int) { return p.entries, p.count }

// Next reads a page. The error is io.EOF behind the last row, and where the file ends before it.
func (p *Pages) Next() (page Page, err error) {
	defer recovered(&err)
	for p.left > 0 {
		var header format.PageHeader
		if err := p.decoder.Decode(&header); err != nil {
			return Page{}, err
		}
		size := int(header.UncompressedPageSize)
		if stored := int64(header.CompressedPageSize); stored < 0 || stored > p.section.Size() || size < 0 || size > largestPage {
			return Page{}, fmt.Errorf("a page of %d bytes, %d stored", size, stored)
		}
		s := p.page
		if header.Type == format.DictionaryPage {
			s = p.dictionary
		}
		s.stored = resized(s.stored, int(header.CompressedPageSize))
		if _, err := io.ReadFull(p.in, s.stored); err != nil {
			return Page{}, io.ErrUnexpectedEOF
		}
		if header.CRC != 0 {
			if sum := crc32.ChecksumIEEE(s.stored); sum != uint32(header.CRC) {
				return Page{}, fmt.Errorf("the checksum of a page is %08x, not %08x", sum, uint32(header.CRC))
			}
		}
		switch header.Type {
		case format.DictionaryPage:
			if err := p.readDictionary(int(header.DictionaryPageHeader.V.NumValues), size); err != nil {
				return Page{}, err
			}
		case format.DataPage:
			body, err := decompress(&s.raw, p.codec, s.stored, size)
			if err != nil {
				return Page{}, err
			}
			h := &header.DataPageHeader.V
			levels := 0
			if p.column.Definition > 0 {
				if levels, body, err = p.levelsBefore(h, body); err != nil {
					return Page{}, err
				}
			}
			return p.data(h.Encoding, int(h.NumValues), body[:levels], body[levels:], h.DefinitionLevelEncoding)
		case format.DataPageV2:
			h := &header.DataPageHeaderV2.V
			from := int64(max(0, h.RepetitionLevelsByteLength))
			to := from + int64(max(0, h.DefinitionLevelsByteLength))
			if to > int64(len(s.stored)) || to > int64(size) {
				return Page{}, fmt.Errorf("levels of %d bytes in a page of %d", to, len(s.stored))
			}
			codec := p.codec
			if h.IsCompressed.Valid && !h.IsCompressed.V {
				codec = format.Uncompressed
			}
			body, err := decompress(&s.raw, codec, s.stored[to:], size-int(to))
			if err != nil {
				return Page{}, err
			}
			return p.data(h.Encoding, int(h.NumValues), s.stored[from:to], body, format.RLE)
		}
	}
	return Page{}, io.EOF
}

// levelsBefore returns where the definition levels end that stand before the values, and what begins with them.
func (p *Pages) levelsBefore(h *format.DataPageHeader, body []byte) (int, []byte, error) {
	length := int64(h.NumValues) * int64(bits.Len(uint(p.column.Definition)))
	if length = (length + 7) / 8; h.DefinitionLevelEncoding != format.BitPacked {
		if len(body) < 4 {
			return 0, nil, io.ErrUnexpectedEOF
		}
		length, body = int64(binary.LittleEndian.Uint32(body)), body[4:]
	}
	if length < 0 || length > int64(len(body)) {
		return 0, nil, io.ErrUnexpectedEOF
	}
	return int(length), body, nil
}

// data decodes the levels and the values of a page of so many rows.
func (p *Pages) data(how format.Encoding, rows int, levels, values []byte, levelEncoding format.Encoding) (Page, error) {
	if rows < 0 || int64(rows) > p.left {
		return Page{}, fmt.Errorf("a page of %d rows where %d are left", rows, p.left)
	}
	p.left -= int64(rows)
	page, present := Page{Rows: rows}, rows
	if p.column.Definition > 0 {
		width := bits.Len(uint(p.column.Definition))
		var decoder encoding.Encoding = &rle.Encoding{BitWidth: width}
		if levelEncoding == format.BitPacked {
			decoder = &bitpacked.Encoding{BitWidth: width}
		}
		var err error
		if levelEncoding != format.BitPacked {
			if levels, err = hybrid(levels, width, rows); err != nil {
				return Page{}, err
			}
		}
		if p.page.levels, err = decoder.DecodeLevels(resized(p.page.levels, rows+7)[:0], levels); err != nil {
			return Page{}, err
		}
		if len(p.page.levels) < rows {
			return Page{}, fmt.Errorf("%d levels of %d rows", len(p.page.levels), rows)
		}
		page.Levels = p.page.levels[:rows]
		present = bytes.Count(page.Levels, []byte{byte(p.column.Definition)})
	}
	kind := p.column.Type
	//lint:ignore SA1019 old files have it
	if page.Indexed = how == format.PlainDictionary || how == format.RLEDictionary; page.Indexed {
		kind, how = format.Int32, format.RLEDictionary
	}
	var err error
	page.Values, err = p.page.decode(kind, how, values, present)
	return page, err
}

// readDictionary keeps the values that pages will refer to.
func (p *Pages) readDictionary(count, size int) error {
	body, err := decompress(&p.dictionary.raw, p.codec, p.dictionary.stored, size)
	if err == nil {
		p.count = count
		p.entries, err = p.dictionary.decode(p.column.Type, format.Plain, body, count)
	}
	return err
}

// hybrid returns as many of the runs (the hybrid of run lengths and packed bits) as hold the values that there are, and
// refuses more, which would take memory.
func hybrid(runs []byte, width, count int) ([]byte, error) {
	for total, at := 0, 0; total < count; {
		head, n := binary.Uvarint(runs[at:])
		if n <= 0 {
			return nil, io.ErrUnexpectedEOF
		}
		values, length := head>>1, uint64(width+7)/8
		if head&1 != 0 { // eights of values
			values, length = 8*values, values*uint64(width)
		}
		if values > uint64(count-total+7) {
			return nil, fmt.Errorf("a run of %d values where %d are left", values, count-total)
		}
		if at += n; length > uint64(len(runs)-at) {
			return nil, io.ErrUnexpectedEOF
		}
		if total, at = total+int(values), at+int(length); total >= count {
			return runs[:at], nil
		}
	}
	return nil, nil
}

// resized returns a slice of n values, in the memory of the old one where that is enough.
func resized[T any](old []T, n int) []T {
	if cap(old) < n {
		return make([]T, n)
	}
	return old[:n]
}
