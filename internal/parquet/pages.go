package parquet

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"
	"sync"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

const (
	// readBuffer is how much of a column is read from the file at a time, and the most that the header of a page takes.
	readBuffer = 64 << 10
	// largestPage bounds the bytes of a page, stored and unpacked, which writers keep near a million, and of a footer.
	largestPage = 64 << 20
	// keptPage is the largest whose memory is kept for other columns.
	keptPage = 2 << 20
)

// Pages reads the pages of a column in a row group, which holds no lists.
type Pages struct {
	group   *Group
	column  *Column
	codec   format.CompressionCodec
	left    int64 // rows in the pages behind this one
	section *io.SectionReader
	in      *bufio.Reader

	raw     []byte // the page, unpacked
	rows    int    // of it, whose levels are left
	levels  runs
	values  values
	indexed bool

	dictionary Values
}

// kept is memory of pages that were read.
type kept struct {
	in     *bufio.Reader
	raw    []byte
	values values
}

var keep = sync.Pool{New: func() any { return &kept{in: bufio.NewReaderSize(nil, readBuffer)} }}

// Pages returns the pages of a column.
func (g *Group) Pages(column int) *Pages {
	c := &g.file.groups[g.index].Columns[column].MetaData
	p := &Pages{group: g, column: &g.file.Columns[column], codec: c.Codec, left: g.Rows, section: io.NewSectionReader(g.file.in, begins(c), c.TotalCompressedSize)}
	old := keep.Get().(*kept)
	p.in, p.raw, p.values = old.in, old.raw, old.values
	p.in.Reset(p.section)
	g.pages = append(g.pages, p)
	return p
}

func (p *Pages) close() {
	if cap(p.raw) > keptPage {
		p.raw = nil
	}
	p.values.forget()
	p.in.Reset(nil)
	keep.Put(&kept{p.in, p.raw, p.values})
	p.in, p.raw = nil, nil
}

// Take takes so many bytes of the memory that the row group may hold.
func (p *Pages) Take(bytes int) error { return p.group.Take(bytes) }

// Dictionary returns the values that indexed pages refer to.
func (p *Pages) Dictionary() *Values { return &p.dictionary }

// Next reads a page, and returns how many rows it has, and whether its values are places in the dictionary. The error
// is io.EOF behind the last row, and where the file ends before it.
func (p *Pages) Next() (rows int, indexed bool, err error) {
	defer recovered(&err)
	for p.left > 0 {
		if err := p.group.ended(); err != nil {
			return 0, false, err
		}
		header, err := p.header()
		if err != nil {
			return 0, false, err
		}
		stored, size := int64(header.CompressedPageSize), int(header.UncompressedPageSize)
		if stored < 0 || stored > p.section.Size() || size < 0 {
			return 0, false, fmt.Errorf("a page of %d bytes, %d stored, in a column of %d", size, stored, p.section.Size())
		} else if max(stored, int64(size)) > largestPage {
			return 0, false, unread("it has a page of %d bytes, %d stored, where at most %d MB are read: write it with pages of 1 MB", size, stored, largestPage>>20)
		}
		from, err := p.group.grown(p.group.stored, int(stored))
		if err != nil {
			return 0, false, err
		}
		p.group.stored = from
		if _, err := io.ReadFull(p.in, from); err != nil {
			return 0, false, io.ErrUnexpectedEOF
		}
		if header.CRC != 0 {
			if sum := crc32.ChecksumIEEE(from); sum != uint32(header.CRC) {
				return 0, false, fmt.Errorf("the checksum of a page is %08x, not %08x", sum, uint32(header.CRC))
			}
		}
		switch header.Type {
		case format.DictionaryPage:
			if err := p.readDictionary(from, size, int(header.DictionaryPageHeader.V.NumValues)); err != nil {
				return 0, false, err
			}
		case format.DataPage:
			h := &header.DataPageHeader.V
			if err := p.unpack(p.codec, from, 0, size); err != nil {
				return 0, false, err
			}
			levels, body, err := p.levelsBefore(h, p.raw)
			if err != nil {
				return 0, false, err
			}
			return p.begin(h.Encoding, int(h.NumValues), levels, body, h.DefinitionLevelEncoding)
		case format.DataPageV2:
			h := &header.DataPageHeaderV2.V
			first := int64(max(0, h.RepetitionLevelsByteLength))
			levels := first + int64(max(0, h.DefinitionLevelsByteLength))
			if levels > int64(len(from)) || levels > int64(size) {
				return 0, false, fmt.Errorf("levels of %d bytes in a page of %d", levels, len(from))
			}
			codec := p.codec
			if h.IsCompressed.Valid && !h.IsCompressed.V {
				codec = format.Uncompressed
			}
			if err := p.unpack(codec, from, int(levels), size); err != nil {
				return 0, false, err
			}
			return p.begin(h.Encoding, int(h.NumValues), p.raw[first:levels], p.raw[levels:], format.RLE)
		}
	}
	return 0, false, io.EOF
}

// header reads the header of a page, in which no list is longer than the bytes of the column that are left.
func (p *Pages) header() (header format.PageHeader, err error) {
	for n := 128; ; n *= 4 {
		from, err := p.in.Peek(min(n, readBuffer))
		if len(from) == 0 {
			return header, err
		}
		length, bad := structure(from)
		switch {
		case bad == nil:
			if err := thrift.NewDecoder(new(thrift.CompactProtocol).NewReaderFromBytes(from[:length])).Decode(&header); err != nil {
				return header, err
			}
			_, err = p.in.Discard(length)
			return header, err
		case !errors.Is(bad, io.ErrUnexpectedEOF) || err != nil:
			return header, bad
		case n >= readBuffer:
			return header, fmt.Errorf("the header of a page takes more than %d kB", readBuffer>>10)
		}
	}
}

// levelsBefore returns the definition levels that stand before the values, and what is behind them.
func (p *Pages) levelsBefore(h *format.DataPageHeader, body []byte) (levels, values []byte, err error) {
	if p.column.Definition == 0 {
		return nil, body, nil
	}
	length := int64(h.NumValues) * int64(bits.Len(uint(p.column.Definition)))
	if length = (length + 7) / 8; h.DefinitionLevelEncoding != format.BitPacked {
		if len(body) < 4 {
			return nil, nil, io.ErrUnexpectedEOF
		}
		length, body = int64(binary.LittleEndian.Uint32(body)), body[4:]
	}
	if length < 0 || length > int64(len(body)) {
		return nil, nil, io.ErrUnexpectedEOF
	}
	return body[:length], body[length:], nil
}

// begin goes to the begin of a page of so many rows.
func (p *Pages) begin(how format.Encoding, rows int, levels, body []byte, levelEncoding format.Encoding) (int, bool, error) {
	if rows < 0 || int64(rows) > p.left {
		return 0, false, fmt.Errorf("a page of %d rows where %d are left", rows, p.left)
	}
	p.left -= int64(rows)
	width := bits.Len(uint(p.column.Definition))
	if p.rows, p.levels = rows, (runs{from: levels, width: width}); levelEncoding == format.BitPacked && width > 0 {
		p.levels = packed(levels, width, true)
	}
	kind := p.column.Type
	//lint:ignore SA1019 old files have it
	if p.indexed = how == format.PlainDictionary || how == format.RLEDictionary; p.indexed {
		kind, how = format.Int32, format.RLEDictionary
	}
	return rows, p.indexed, p.values.begin(kind, how, body)
}

// Run returns how many of the next rows of the page, at most so many, all have a value or all have none.
func (p *Pages) Run(most int) (rows int, there bool, err error) {
	if most = min(most, p.rows); p.column.Definition == 0 {
		rows, there = most, true
	} else if rows, there, err = p.levels.run(most, int32(p.column.Definition)); err != nil {
		return 0, false, err
	}
	p.rows -= rows
	return rows, there, nil
}

// Values returns the next values of the page, one at least. They stay until the next call or page.
func (p *Pages) Values() (v Values, err error) {
	defer recovered(&err)
	if err := p.group.ended(); err != nil {
		return v, err
	}
	if v, err = p.values.next(); err == nil && v.Len() == 0 {
		err = errors.New("a page has fewer values than rows")
	}
	return v, err
}

// readDictionary keeps the values that pages will refer to.
func (p *Pages) readDictionary(from []byte, size, count int) error {
	if p.dictionary.Len() > 0 {
		return errors.New("a column of two dictionaries")
	}
	page := p.raw // whose memory stays
	p.raw = nil
	defer func() { p.raw = page }()
	if err := p.unpack(p.codec, from, 0, size); err != nil {
		return err
	}
	var err error
	p.dictionary, err = entries(p.column.Type, p.raw, count, p.group.Take)
	return err
}
