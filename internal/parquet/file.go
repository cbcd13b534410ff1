package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// magic begins and ends a file; the last begin is of one that is encrypted.
const magic, encrypted = "PAR1", "PARE"

// Column is a leaf of the schema.
type Column struct {
	Name    string // those of the structures that it is within, and its own, joined by points
	Type    format.Type
	Logical format.LogicalTypeValue // nil where the schema states none
	// Definition is the level of a value that is there, but for columns of lists, for which Repetition is above 0.
	Definition, Repetition int
}

// File is an open file.
type File struct {
	Columns []Column
	Rows    int64

	groups []rowGroup
	in     io.ReaderAt
	size   int64
	names  int // bytes
}

// footer is what is read of the description of a file, with the numbers of its fields; of a million columns it takes a
// tenth of the memory of the whole.
type footer struct {
	Schema              []format.SchemaElement     `thrift:"2,required"`
	Rows                int64                      `thrift:"3,required"`
	Groups              []rowGroup                 `thrift:"4,required"`
	EncryptionAlgorithm format.EncryptionAlgorithm `thrift:"8,optional"`
}

type rowGroup struct {
	Columns []columnChunk `thrift:"1,required"`
	NumRows int64         `thrift:"3,required"`
}

type columnChunk struct {
	FilePath string      `thrift:"1,optional"`
	MetaData columnPages `thrift:"3,optional"`
}

type columnPages struct {
	Type                 format.Type             `thrift:"1,required"`
	Codec                format.CompressionCodec `thrift:"4,required"`
	TotalCompressedSize  int64                   `thrift:"7,required"`
	DataPageOffset       int64                   `thrift:"9,required"`
	DictionaryPageOffset int64                   `thrift:"11,optional"`
}

// Open reads the footer of a file of so many bytes.
func Open(in io.ReaderAt, size int64) (file *File, err error) {
	defer recovered(&err)
	var head, tail [8]byte
	if size < int64(len(head)+len(tail)-4) {
		return nil, io.ErrUnexpectedEOF
	}
	if _, err := in.ReadAt(head[:4], 0); err != nil {
		return nil, err
	}
	if _, err := in.ReadAt(tail[:], size-8); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	length := int64(binary.LittleEndian.Uint32(tail[:]))
	switch end := string(tail[4:]); {
	case end == encrypted || string(head[:4]) == encrypted:
		return nil, unread("it is encrypted: write it without")
	case end != magic || string(head[:4]) != magic:
		return nil, fmt.Errorf("the file begins with %q and ends with %q", head[:4], end)
	case length > size-12:
		return nil, fmt.Errorf("a footer of %d bytes in a file of %d", length, size)
	case length > largestPage:
		return nil, unread("its footer has %d MB, where at most %d are read: write larger row groups, or fewer columns", length>>20, largestPage>>20)
	}
	content := make([]byte, length)
	if _, err := in.ReadAt(content, size-8-length); err != nil {
		return nil, err
	}
	var meta footer
	if _, err := structure(content); err != nil {
		return nil, fmt.Errorf("its footer: %w", err)
	} else if err := thrift.NewDecoder(new(thrift.CompactProtocol).NewReaderFromBytes(content)).Decode(&meta); err != nil {
		return nil, err
	}
	if meta.EncryptionAlgorithm.Value != nil {
		return nil, unread("its columns are encrypted: write them without")
	}
	f := &File{groups: meta.Groups, in: in, size: size}
	if err := f.schema(meta.Schema); err != nil {
		return nil, err
	}
	return f, f.check(meta.Rows)
}

// unread says why a file that may be whole is not read, and what to do.
func unread(format string, args ...any) error {
	return fmt.Errorf("%w%s", ErrUnread, fmt.Sprintf(format, args...))
}

// ErrUnread is among the errors of files that are not damaged.
var ErrUnread = errors.New("")

// recovered makes an error of what a decoder panics with.
func recovered(err *error) {
	if cause := recover(); cause != nil {
		*err = fmt.Errorf("the decoder ended with %v", cause)
	}
}

// schema lists the leaves of a schema, which stands in the file with every node before its children.
func (f *File) schema(elements []format.SchemaElement) error {
	if len(elements) == 0 {
		return errors.New("the file has no schema")
	}
	at := 1
	var walk func(children int32, parent Column, depth int) error
	walk = func(children int32, parent Column, depth int) error {
		for range children {
			if at >= len(elements) {
				return fmt.Errorf("the schema ends within its %d elements", len(elements))
			}
			s := &elements[at]
			at++
			c := Column{Name: strings.TrimPrefix(parent.Name+"."+s.Name, "."), Definition: parent.Definition, Repetition: parent.Repetition}
			if f.names += len(c.Name); f.names > largestPage || depth > deepest {
				return fmt.Errorf("names of more than %d MB, or structures %d deep", largestPage>>20, depth)
			}
			switch s.RepetitionType.V {
			case format.Optional:
				c.Definition++
			case format.Repeated:
				c.Repetition++
			}
			if s.NumChildren.V > 0 || !s.Type.Valid {
				if err := walk(s.NumChildren.V, c, depth+1); err != nil {
					return err
				}
				continue
			}
			c.Type, c.Logical = s.Type.V, logical(s)
			f.Columns = append(f.Columns, c)
		}
		return nil
	}
	return walk(elements[0].NumChildren.V, Column{}, 1)
}

// logical is the type that a column is of beyond how its values are stored; older files have it in another place.
func logical(s *format.SchemaElement) format.LogicalTypeValue {
	if s.LogicalType.Value != nil || !s.ConvertedType.Valid {
		return s.LogicalType.Value
	}
	milliseconds, microseconds := format.TimeUnit{Value: &format.MilliSeconds{}}, format.TimeUnit{Value: &format.MicroSeconds{}}
	switch s.ConvertedType.V {
	case deprecated.UTF8:
		return &format.StringType{}
	case deprecated.Enum:
		return &format.EnumType{}
	case deprecated.Json:
		return &format.JsonType{}
	case deprecated.Bson:
		return &format.BsonType{}
	case deprecated.Decimal:
		return &format.DecimalType{Scale: s.Scale.V, Precision: s.Precision.V}
	case deprecated.Date:
		return &format.DateType{}
	case deprecated.TimeMillis:
		return &format.TimeType{Unit: milliseconds}
	case deprecated.TimeMicros:
		return &format.TimeType{Unit: microseconds}
	case deprecated.TimestampMillis:
		return &format.TimestampType{Unit: milliseconds}
	case deprecated.TimestampMicros:
		return &format.TimestampType{Unit: microseconds}
	case deprecated.Uint8, deprecated.Uint16, deprecated.Uint32, deprecated.Uint64:
		return &format.IntType{BitWidth: 8 << (s.ConvertedType.V - deprecated.Uint8)}
	case deprecated.Int8, deprecated.Int16, deprecated.Int32, deprecated.Int64:
		return &format.IntType{BitWidth: 8 << (s.ConvertedType.V - deprecated.Int8), IsSigned: true}
	}
	return nil
}

// check counts the rows, and refuses row groups that do not fit the file, or have other rows than it says; some writers
// say nothing.
func (f *File) check(rows int64) error {
	for i, g := range f.groups {
		if g.NumRows < 0 || g.NumRows > math.MaxInt-f.Rows || len(g.Columns) != len(f.Columns) {
			return fmt.Errorf("row group %d has %d rows and %d columns, not %d", i, g.NumRows, len(g.Columns), len(f.Columns))
		}
		f.Rows += g.NumRows
		for j, c := range g.Columns {
			switch begin := begins(&c.MetaData); {
			case c.FilePath != "":
				return unread("row group %d has values in another file, %q: write one file", i, c.FilePath)
			case c.MetaData.Type != f.Columns[j].Type || begin < 0 || c.MetaData.TotalCompressedSize < 0 || begin > f.size-c.MetaData.TotalCompressedSize:
				return fmt.Errorf("row group %d has column %q at %d to %d of %d bytes, of type %v", i, f.Columns[j].Name, begin, begin+c.MetaData.TotalCompressedSize, f.size, c.MetaData.Type)
			}
		}
	}
	if rows != 0 && rows != f.Rows {
		return fmt.Errorf("row groups of %d rows in a file of %d", f.Rows, rows)
	}
	return nil
}

// begins is where the pages of a column are in the file.
func begins(c *columnPages) int64 {
	if at := c.DictionaryPageOffset; at > 0 && at < c.DataPageOffset {
		return at
	}
	return c.DataPageOffset
}

// Groups returns how many rows each row group has.
func (f *File) Groups() []int {
	rows := make([]int, len(f.groups))
	for i, g := range f.groups {
		rows[i] = int(g.NumRows)
	}
	return rows
}

// Ends returns where in the file each row group ends.
func (f *File) Ends() []int64 {
	ends := make([]int64, len(f.groups))
	for i, g := range f.groups {
		for _, c := range g.Columns {
			ends[i] = max(ends[i], begins(&c.MetaData)+c.MetaData.TotalCompressedSize)
		}
	}
	return ends
}
