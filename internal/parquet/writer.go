package parquet

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

const (
	// groupRows bounds what a Writer holds in memory, and lets readers skip and share work.
	groupRows = 1 << 17
	// pageBytes is where a page ends; of many columns earlier, so that a reader holds a page of each.
	pageBytes, pagesBytes = 1 << 20, 64 << 20
)

// Writer writes columns of numbers and texts, any of which may be missing, compressed with Zstandard. It holds a row
// group in memory, compressed.
type Writer struct {
	out     io.Writer
	at      int64 // bytes written
	columns []columnWriter
	rows    int // of the row group
	meta    format.FileMetaData
}

// columnWriter is a column of the present row group.
type columnWriter struct {
	name   string
	text   bool
	pages  []byte // finished ones
	plain  int64  // bytes of theirs that are not compressed
	levels []byte // of the page, 1 for a value that is there
	values []byte // of the page
}

var compressor = sync.OnceValues(func() (*zstd.Encoder, error) { return zstd.NewWriter(nil) })

// NewWriter begins a file of columns of these names, each of texts or of numbers.
func NewWriter(out io.Writer, names []string, text []bool) *Writer {
	w := &Writer{out: out}
	root := format.SchemaElement{Name: "schema", NumChildren: thrift.New(int32(len(names)))}
	w.meta.Version, w.meta.CreatedBy, w.meta.Schema = 1, "credence", []format.SchemaElement{root}
	for j, name := range names {
		w.columns = append(w.columns, columnWriter{name: name, text: text[j]})
		s := format.SchemaElement{Name: name, Type: thrift.New(w.columns[j].kind())}
		s.RepetitionType = thrift.New(format.Optional)
		if text[j] {
			s.ConvertedType, s.LogicalType.Value = thrift.New(deprecated.UTF8), &format.StringType{}
		}
		w.meta.Schema = append(w.meta.Schema, s)
	}
	return w
}

func (c *columnWriter) kind() format.Type {
	if c.text {
		return format.ByteArray
	}
	return format.Double
}

// Number sets the value of a column of numbers in the present row; NaN is missing.
func (w *Writer) Number(column int, v float64) {
	c := &w.columns[column]
	if math.IsNaN(v) {
		c.levels = append(c.levels, 0)
		return
	}
	c.levels, c.values = append(c.levels, 1), binary.LittleEndian.AppendUint64(c.values, math.Float64bits(v))
}

// Text sets the value of a column of texts in the present row; an empty one is missing.
func (w *Writer) Text(column int, v []byte) {
	c := &w.columns[column]
	if len(v) == 0 {
		c.levels = append(c.levels, 0)
		return
	}
	c.levels, c.values = append(c.levels, 1), append(binary.LittleEndian.AppendUint32(c.values, uint32(len(v))), v...)
}

// EndRow ends the row, of which every column has been set.
func (w *Writer) EndRow() error {
	most := min(pageBytes, pagesBytes/max(1, len(w.columns)))
	for j := range w.columns {
		if c := &w.columns[j]; len(c.values)+len(c.levels) >= most {
			if err := c.endPage(); err != nil {
				return err
			}
		}
	}
	if w.rows++; w.rows < groupRows {
		return nil
	}
	return w.endGroup()
}

// endPage compresses the page.
func (c *columnWriter) endPage() error {
	if len(c.levels) == 0 {
		return nil
	}
	levels, err := (&rle.Encoding{BitWidth: 1}).EncodeLevels(nil, c.levels)
	if err != nil {
		return err
	}
	encoder, err := compressor()
	if err != nil {
		return err
	}
	body := append(binary.LittleEndian.AppendUint32(nil, uint32(len(levels))), levels...)
	body = append(body, c.values...)
	compressed := encoder.EncodeAll(body, nil)
	header := format.PageHeader{Type: format.DataPage, UncompressedPageSize: int32(len(body)), CompressedPageSize: int32(len(compressed))}
	header.DataPageHeader = thrift.New(format.DataPageHeader{NumValues: int32(len(c.levels)), Encoding: format.Plain, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE})
	head, err := thrift.Marshal(new(thrift.CompactProtocol), &header)
	if err != nil {
		return err
	}
	c.pages, c.plain = append(append(c.pages, head...), compressed...), c.plain+int64(len(head)+len(body))
	c.levels, c.values = c.levels[:0], c.values[:0]
	return nil
}

// write writes bytes of the file.
func (w *Writer) write(content []byte) error {
	n, err := w.out.Write(content)
	w.at += int64(n)
	return err
}

// endGroup writes the row group, if there is one; the file begins with the first.
func (w *Writer) endGroup() error {
	if w.at == 0 {
		if err := w.write([]byte(magic)); err != nil {
			return err
		}
	}
	if w.rows == 0 {
		return nil
	}
	group := format.RowGroup{NumRows: int64(w.rows), FileOffset: w.at, Ordinal: int16(len(w.meta.RowGroups))}
	for j := range w.columns {
		c := &w.columns[j]
		if err := c.endPage(); err != nil {
			return err
		}
		meta := format.ColumnMetaData{Type: c.kind(), Encoding: []format.Encoding{format.Plain, format.RLE}, PathInSchema: []string{c.name}, Codec: format.Zstd,
			NumValues: int64(w.rows), TotalUncompressedSize: c.plain, TotalCompressedSize: int64(len(c.pages)), DataPageOffset: w.at}
		group.TotalByteSize, group.TotalCompressedSize = group.TotalByteSize+c.plain, group.TotalCompressedSize+int64(len(c.pages))
		group.Columns = append(group.Columns, format.ColumnChunk{MetaData: meta})
		if err := w.write(c.pages); err != nil {
			return err
		}
		c.pages, c.plain = c.pages[:0], 0
	}
	w.meta.RowGroups, w.meta.NumRows, w.rows = append(w.meta.RowGroups, group), w.meta.NumRows+int64(w.rows), 0
	return nil
}

// Close ends the file; it does not close what it is written to.
func (w *Writer) Close() error {
	if err := w.endGroup(); err != nil {
		return err
	}
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), &w.meta)
	if err != nil {
		return err
	}
	end := bytes.NewBuffer(footer)
	end.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(footer))))
	end.WriteString(magic)
	return w.write(end.Bytes())
}
