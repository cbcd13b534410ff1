// Package bombs makes Parquet files of few bytes that say they hold much, for tests of what reads them.
package bombs

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// Bomb is a file. Its columns are a and y unless it is refused before its columns are known.
type Bomb struct {
	Name    string
	Content []byte
	// Rows is how many rows are right: those of a legal file, which takes time and no memory. 0 stands for a refusal.
	Rows int64
	// Means says that it is refused for what it means, not for its bytes.
	Means bool
}

const billions = math.MaxInt32 - 1

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func marshal(v any) []byte { return must(thrift.Marshal(new(thrift.CompactProtocol), v)) }

// Page returns a page with its header; the sizes are those of its body unless they are set.
func Page(h format.PageHeader, body []byte) []byte {
	h.CompressedPageSize = int32(len(body))
	if h.UncompressedPageSize == 0 {
		h.UncompressedPageSize = int32(len(body))
	}
	return append(marshal(&h), body...)
}

// data is a page of version 2 of so many rows, all of which have a value unless there are levels.
func data(rows int, how format.Encoding, levels, body []byte, size int) []byte {
	h := format.PageHeader{Type: format.DataPageV2, UncompressedPageSize: int32(size)}
	h.DataPageHeaderV2 = thrift.New(format.DataPageHeaderV2{NumValues: int32(rows), NumRows: int32(rows), Encoding: how, DefinitionLevelsByteLength: int32(len(levels))})
	return Page(h, append(bytes.Clone(levels), body...))
}

func dictionary(count int, body []byte, size int) []byte {
	h := format.PageHeader{Type: format.DictionaryPage, UncompressedPageSize: int32(size)}
	h.DictionaryPageHeader = thrift.New(format.DictionaryPageHeader{NumValues: int32(count), Encoding: format.Plain})
	return Page(h, body)
}

func doubles(values ...float64) (out []byte) {
	for _, v := range values {
		out = binary.LittleEndian.AppendUint64(out, math.Float64bits(v))
	}
	return out
}

func text(s string) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(s))), s...)
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

func uvarints(values ...uint64) (out []byte) {
	for _, v := range values {
		out = binary.AppendUvarint(out, v)
	}
	return out
}

// run is a run of equal numbers, eights one of packed bits.
func run(count uint64, value ...byte) []byte      { return append(uvarints(count<<1), value...) }
func eights(count uint64, content ...byte) []byte { return append(uvarints(count<<1|1), content...) }

func zipped(size int) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	for range size >> 20 {
		w.Write(make([]byte, 1<<20))
	}
	w.Close()
	return out.Bytes()
}

func brotlied(size int) []byte {
	var out bytes.Buffer
	w := brotli.NewWriter(&out)
	for range size >> 20 {
		w.Write(make([]byte, 1<<20))
	}
	w.Close()
	return out.Bytes()
}

// blocks is a frame of zeros, 128 KB in four bytes, that says how much it holds or, if told is below 0, does not.
func blocks(size, told int) []byte {
	out := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x68} // window of 8 MB
	if told >= 0 {
		out = binary.LittleEndian.AppendUint32([]byte{0x28, 0xb5, 0x2f, 0xfd, 0xa0}, uint32(told))
	}
	for at := 0; at < size; at += 1 << 17 {
		head := uint32(1<<17)<<3 | 1<<1
		if at+1<<17 >= size {
			head |= 1
		}
		out = append(out, byte(head), byte(head>>8), byte(head>>16), 0)
	}
	return out
}

// table is a file of columns of one page or more each.
type table struct {
	rows     int64
	kind     format.Type
	codec    format.CompressionCodec
	optional bool
	pages    []byte
	more     int // columns beside a and y
	change   func(meta *format.FileMetaData)
}

// File returns the bytes of a file with these pages and this description.
func File(pages []byte, meta *format.FileMetaData) []byte {
	footer := marshal(meta)
	return join([]byte("PAR1"), pages, footer, binary.LittleEndian.AppendUint32(nil, uint32(len(footer))), []byte("PAR1"))
}

func (t table) file() []byte {
	names := []string{"a", "y"}
	for j := range t.more {
		names = append(names, fmt.Sprint("b", j))
	}
	meta := &format.FileMetaData{Version: 2, NumRows: t.rows, Schema: []format.SchemaElement{{Name: "r", NumChildren: thrift.New(int32(len(names)))}}}
	group := format.RowGroup{NumRows: t.rows}
	for _, name := range names { // all have the same pages
		s := format.SchemaElement{Name: name, Type: thrift.New(t.kind)}
		if s.RepetitionType = thrift.New(format.Required); t.optional {
			s.RepetitionType = thrift.New(format.Optional)
		}
		meta.Schema = append(meta.Schema, s)
		column := format.ColumnMetaData{Type: t.kind, Codec: t.codec, NumValues: t.rows, DataPageOffset: 4, TotalCompressedSize: int64(len(t.pages))}
		group.Columns = append(group.Columns, format.ColumnChunk{MetaData: column})
	}
	meta.RowGroups = []format.RowGroup{group}
	if t.change != nil {
		t.change(meta)
	}
	return File(t.pages, meta)
}

// footer is a file of nothing but a footer.
func footer(content []byte) []byte {
	return join([]byte("PAR1"), content, binary.LittleEndian.AppendUint32(nil, uint32(len(content))), []byte("PAR1"))
}

// LargeGroups is a legal file of three row groups of two rows, of which each takes more memory than is there for row
// groups that are read ahead, and less than there is for the one whose rows come next.
func LargeGroups() []byte {
	const entries = 1 << 22
	zeros := dictionary(entries, blocks(8*entries, -1), 8*entries)
	indices := join([]byte{1}, run(2, 0))
	// as it is, in a frame
	stored := join([]byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x68, byte(len(indices)<<3 | 1), 0, 0}, indices)
	return table{rows: 2, kind: format.Double, codec: format.Zstd, pages: join(zeros, data(2, format.RLEDictionary, nil, stored, len(indices))), change: func(m *format.FileMetaData) {
		m.RowGroups = append(m.RowGroups, m.RowGroups[0], m.RowGroups[0])
		m.NumRows = 6
	}}.file()
}

// BehindTheDictionary returns files whose rows name the first place behind a dictionary, of numbers and of texts.
func BehindTheDictionary() []Bomb {
	pages := func(entries []byte) []byte {
		return join(dictionary(2, entries, 0), data(2, format.RLEDictionary, nil, join([]byte{2}, run(2, 2)), 0))
	}
	return []Bomb{
		{"place-behind-numbers", table{rows: 2, kind: format.Double, pages: pages(doubles(1, 2))}.file(), 0, true},
		{"place-behind-texts", table{rows: 2, kind: format.ByteArray, pages: pages(join(text("one"), text("two")))}.file(), 0, true},
	}
}

// All returns the bombs.
func All() []Bomb {
	two := doubles(1, 2)
	number := dictionary(1, doubles(7), 0)
	present := func(h format.PageHeader) []byte { return Page(h, two) }
	scaled := func(scale int32) []byte {
		return table{rows: 2, kind: format.Int64, pages: data(2, format.Plain, nil, two, 0), change: func(m *format.FileMetaData) {
			m.Schema[1].LogicalType.Value = &format.DecimalType{Scale: scale, Precision: 18}
		}}.file()
	}
	lies := func(codec format.CompressionCodec, body []byte, size int) []byte {
		return table{rows: 2, kind: format.Double, codec: codec, pages: data(2, format.Plain, nil, body, size)}.file()
	}
	deltas := func(kind format.Type, n uint64, rest ...byte) []byte {
		return table{rows: billions, kind: kind, pages: data(billions, map[format.Type]format.Encoding{format.Int64: format.DeltaBinaryPacked, format.ByteArray: format.DeltaLengthByteArray}[kind],
			nil, append(uvarints(1<<16, 1, n, 0), rest...), 0)}.file()
	}
	like := make([]int32, 3_000) // the first is a million bytes long, all others are the same
	for i := 1; i < len(like); i++ {
		like[i] = 1_000_000
	}
	long := make([]int32, len(like))
	long[0] = 1_000_000
	parts := must((&delta.BinaryPackedEncoding{}).EncodeInt32(nil, like))
	likeOthers := join(parts, must((&delta.BinaryPackedEncoding{}).EncodeInt32(nil, long)), make([]byte, 1_000_000))
	whole := table{rows: 2, kind: format.Double, pages: data(2, format.Plain, nil, two, 0)}
	changed := func(change func(m *format.FileMetaData)) []byte { t := whole; t.change = change; return t.file() }
	levels := func(rows int, levels, body []byte) []byte {
		return table{rows: int64(rows), kind: format.Double, optional: true, pages: data(rows, format.Plain, levels, body, 0)}.file()
	}
	indices := func(runs ...byte) []byte {
		return table{rows: billions, kind: format.Double, pages: join(number, data(billions, format.RLEDictionary, nil, runs, 0))}.file()
	}
	return append(BehindTheDictionary(), []Bomb{
		{"footer-list", footer([]byte("\x15\x02\x19\xfc\xff\xff\xff\xff\x07\x09")), 0, false},
		{"footer-row-groups", footer([]byte("\x15\x02\x19\x0c\x16\x00\x19\xfc\xff\xff\xff\xff\x07\x09")), 0, false},
		{"footer-text", footer([]byte("\x15\x02\x19\x0c\x16\x00\x19\x0c\x28\xff\xff\xff\xff\x07")), 0, false},
		{"footer-map", footer([]byte("\x15\x02\x19\x0c\x16\x00\x19\x0c\x6b\xff\xff\xff\xff\x07\x88")), 0, false},
		{"footer-deep", footer(bytes.Repeat([]byte{0x1c}, 16<<20)), 0, false},
		{"footer-empty-groups", footer(join([]byte("\x15\x02\x19\x0c\x16\x00\x19\xfc"), uvarints(8<<20), make([]byte, 8<<20), []byte{0})), 0, false},
		{"schema-names", changed(func(m *format.FileMetaData) {
			m.Schema = []format.SchemaElement{{Name: "r", NumChildren: thrift.New(int32(1))}, {Name: strings.Repeat("n", 1<<20), NumChildren: thrift.New(int32(70_000))}}
			for range 70_000 {
				m.Schema = append(m.Schema, format.SchemaElement{Name: "x", Type: thrift.New(format.Double)})
			}
		}), 0, false},
		{"schema-deep", changed(func(m *format.FileMetaData) {
			m.Schema = nil
			for range 1 << 20 {
				m.Schema = append(m.Schema, format.SchemaElement{NumChildren: thrift.New(int32(1))})
			}
		}), 0, false},
		{"rows-promised", changed(func(m *format.FileMetaData) { m.NumRows, m.RowGroups[0].NumRows = 1<<62, 1<<62 }), 0, false},
		{"rows-overflow", changed(func(m *format.FileMetaData) {
			m.RowGroups[0].NumRows = math.MaxInt64
			m.RowGroups = append(m.RowGroups, m.RowGroups[0])
		}), 0, false},
		{"page-header-text", table{rows: 2, kind: format.Double, pages: []byte("\x15\x00\x15\x20\x15\x20\x2c\x15\x04\x15\x00\x15\x06\x15\x06\x1c\x18\xff\xff\xff\xff\x07")}.file(), 0, false},
		{"page-header-list", table{rows: 2, kind: format.Double, pages: []byte("\x15\x00\x15\x20\x15\x20\x99\xfc\xff\xff\xff\xff\x07")}.file(), 0, false},
		{"page-of-2GB", table{rows: 2, kind: format.Double, codec: format.Zstd, pages: present(format.PageHeader{Type: format.DataPage, UncompressedPageSize: math.MaxInt32,
			DataPageHeader: thrift.New(format.DataPageHeader{NumValues: 2})})}.file(), 0, false},
		{"run-2e9", indices(join([]byte{1}, run(billions, 0))...), billions, false},
		{"run-1e9", table{rows: 1e9, kind: format.Double, more: 6, pages: join(number, data(1e9, format.RLEDictionary, nil, join([]byte{1}, run(1e9, 0)), 0))}.file(), 1e9, false},
		{"eights-2e9", indices(join([]byte{0}, eights(1<<27-1), eights(1<<27-1), eights(1<<27))...), billions, false},
		{"run-of-texts-2e9", table{rows: billions, kind: format.ByteArray, pages: join(dictionary(1, text("one"), 0),
			data(billions, format.RLEDictionary, nil, join([]byte{1}, run(billions, 0)), 0))}.file(), billions, false},
		{"run-behind-the-dictionary", indices(join([]byte{32}, run(billions, 255, 255, 255, 127))...), 0, true},
		{"nulls-2e9", levels(billions, run(billions, 0), nil), billions, false},
		{"levels-2e9", levels(billions, run(billions, 1), two), 0, false},
		{"packed-levels-2e9", levels(billions, eights(1<<28), nil), 0, false},
		{"truth-2e9", table{rows: billions, kind: format.Boolean, pages: data(billions, format.RLE, nil, append([]byte{6, 0, 0, 0}, run(billions, 1)...), 0)}.file(), billions, false},
		{"dict-texts-2e9", table{rows: 2, kind: format.ByteArray, pages: join(dictionary(math.MaxInt32, text("one"), 0), data(2, format.RLEDictionary, nil, join([]byte{1}, run(2, 0)), 0))}.file(), 0, false},
		{"dict-one-short", table{rows: 2, kind: format.ByteArray, pages: join(dictionary(2, text("one alone"), 0), data(2, format.RLEDictionary, nil, join([]byte{1}, run(2, 0)), 0))}.file(), 0, false},
		{"dict-numbers-2e9", table{rows: 2, kind: format.Double, pages: join(dictionary(math.MaxInt32, two, 0), data(2, format.RLEDictionary, nil, join([]byte{1}, run(2, 0)), 0))}.file(), 0, false},
		{"dict-empty-texts", table{rows: 2, kind: format.ByteArray, codec: format.Zstd, pages: join(dictionary(1<<24, blocks(1<<26, -1), 1<<26), data(2, format.RLEDictionary, nil, join([]byte{1}, run(2, 0)), 0))}.file(), 0, false},
		{"deltas-2e9", deltas(format.Int64, billions, 0, 0), 0, false},
		{"delta-blocks-2e9", deltas(format.Int64, billions, make([]byte, 2<<15)...), billions, false},
		{"delta-lengths-2e9", deltas(format.ByteArray, billions, make([]byte, 2<<15)...), billions, false},
		{"texts-like-others", table{rows: 3_000, kind: format.ByteArray, pages: data(3_000, format.DeltaByteArray, nil, likeOthers, 0)}.file(), 3_000, false},
		{"zstd-lies", lies(format.Zstd, blocks(1<<30, -1), 100), 0, false},
		{"zstd-says", lies(format.Zstd, blocks(16, 1<<30), 16), 0, false},
		{"zstd-too-few", lies(format.Zstd, blocks(16, -1), 1<<26), 0, false},
		{"gzip-lies", lies(format.Gzip, zipped(1<<24), 16), 0, false},
		{"brotli-lies", lies(format.Brotli, brotlied(1<<24), 16), 0, false},
		{"snappy-lies", lies(format.Snappy, append(uvarints(1<<26), 0xfe, 1, 0), 1<<26), 0, false},
		{"s2-repeats", lies(format.Snappy, s2.Encode(nil, make([]byte, 1<<24)), 1<<24), 0, false},
		{"lz4-lies", lies(format.Lz4Raw, []byte{0x1f, 0, 1, 0, 255, 255, 255, 0}, 1<<26), 0, false},
		{"hadoop-lies", lies(5, []byte{4, 0, 0, 0, 0, 0, 0, 8, 0x1f, 0, 1, 0, 255, 255, 255, 0}, 1<<26), 0, false},
		{"pages-of-1GB", table{rows: 2, kind: format.Double, codec: format.Zstd, more: 7, pages: data(2, format.Plain, nil, blocks(1<<30, 1<<30), 1<<30)}.file(), 0, false},
		{"pages-of-64MB", table{rows: 1 << 23, kind: format.Double, codec: format.Zstd, more: 62, pages: data(1<<23, format.Plain, nil, blocks(1<<26, -1), 1<<26)}.file(), 0, false},
		{"decimal-323", scaled(323), 0, true}, {"decimal-400", scaled(400), 0, true}, {"decimal-2e30", scaled(1 << 30), 0, true},
	}...)
}
