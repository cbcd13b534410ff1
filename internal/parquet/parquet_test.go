package parquet

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	parquetgo "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/credence-ml/credence/internal/conform/bombs"
)

// row has a column for each way in which values of a type are encoded.
type row struct {
	Plain    float64  `parquet:"plain"`
	Maybe    *float64 `parquet:"maybe,optional,snappy"`
	Indexed  float64  `parquet:"indexed,dict,zstd"`
	Split    float64  `parquet:"split,split,gzip"`
	Narrow   float32  `parquet:"narrow,optional,split,lz4"`
	Delta    int64    `parquet:"delta,delta,zstd"`
	Small    int32    `parquet:"small,delta,optional"`
	Unsigned uint32   `parquet:"unsigned,dict,optional"`
	Flag     bool     `parquet:"flag,optional"`
	Text     string   `parquet:"text,snappy"`
	City     string   `parquet:"city,dict,optional"`
	Lengths  string   `parquet:"lengths,delta,zstd"`
	One      string   `parquet:"one,dict"`
	Inner    *struct {
		Depth *int64 `parquet:"depth,optional"`
	} `parquet:"inner,optional"`
}

func rows(n int) []row {
	rng, all := rand.New(rand.NewPCG(1, uint64(n))), make([]row, n)
	for i := range all {
		r := &all[i]
		*r = row{Plain: rng.NormFloat64(), Indexed: float64(rng.IntN(5)), Split: rng.NormFloat64(), Narrow: float32(rng.IntN(3)), Delta: rng.Int64() >> rng.IntN(60),
			Small: int32(rng.IntN(7) - 3), Unsigned: rng.Uint32() % 40, Flag: rng.IntN(9) < 4, Text: strings.Repeat("x", rng.IntN(9)), City: fmt.Sprint("c", rng.IntN(300)),
			Lengths: strings.Repeat("y", rng.IntN(3)) + fmt.Sprint(i), One: "one"}
		if rng.IntN(3) > 0 {
			r.Maybe = &r.Plain
		}
		if i%100 > 20 { // long runs of rows without
			r.City, r.Small = "", 0
		}
		switch rng.IntN(3) {
		case 0:
			r.Inner = &struct {
				Depth *int64 `parquet:"depth,optional"`
			}{}
		case 1:
			r.Inner = &struct {
				Depth *int64 `parquet:"depth,optional"`
			}{&r.Delta}
		}
	}
	return all
}

func encoded(t testing.TB, all []row, options ...parquetgo.WriterOption) []byte {
	t.Helper()
	var out bytes.Buffer
	w := parquetgo.NewGenericWriter[row](&out, options...)
	if _, err := w.Write(all); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// group opens a row group whose turn it is.
func group(f *File, index int) *Group {
	g := f.Group(context.Background(), index, new(Budget))
	g.Turn()
	return g
}

// cells returns the values of a column as texts, "" for those that are missing.
func cells(f *File, column int) (texts []string, err error) {
	for i := range f.Groups() {
		g := group(f, i)
		defer g.Close()
		pages := g.Pages(column)
		for done := int64(0); done < g.Rows; {
			rows, indexed, err := pages.Next()
			if err != nil {
				return nil, err
			}
			var v Values
			for at, end := 0, done+int64(rows); done < end; {
				n, there, err := pages.Run(1 + int(done)%100)
				if err != nil {
					return nil, err
				}
				for done += int64(n); n > 0; n-- {
					if !there {
						texts = append(texts, "")
						continue
					}
					if at == v.Len() {
						if v, err = pages.Values(); err != nil {
							return nil, err
						}
						at = 0
					}
					if entries := pages.Dictionary(); !indexed {
						texts = append(texts, "="+shown(f.Columns[column].Type, &v, at))
					} else if k := int(v.Int32s[at]); k >= 0 && k < entries.Len() {
						texts = append(texts, "="+shown(f.Columns[column].Type, entries, k))
					} else {
						return nil, errors.New("a place outside the dictionary")
					}
					at++
				}
			}
		}
		if _, _, err := pages.Next(); err != io.EOF {
			return nil, fmt.Errorf("behind the last row: %v", err)
		}
	}
	return texts, nil
}

// shown tells value i.
func shown(kind format.Type, v *Values, i int) string {
	switch kind {
	case format.Boolean:
		return fmt.Sprint(v.Int32s[i] == 1)
	case format.Int32:
		return fmt.Sprint(v.Int32s[i])
	case format.Int64:
		return fmt.Sprint(v.Int64s[i])
	case format.Float:
		return fmt.Sprint(v.Float32s[i])
	case format.Double:
		return fmt.Sprint(v.Float64s[i])
	case format.Int96:
		return fmt.Sprint(v.Int96s[i])
	}
	return string(v.Texts[i])
}

// zeros says that the library writes zeros of the column as missing, now and then.
func zeros(path string) bool { return strings.Contains("narrow small unsigned flag city", path) }

// want are the cells that rows have in a column.
func want(all []row, path string) []string {
	texts := make([]string, len(all))
	for i := range all {
		v := reflect.ValueOf(&all[i]).Elem()
		for _, part := range strings.Split(path, ".") {
			if v.Kind() == reflect.Pointer {
				if v = v.Elem(); !v.IsValid() {
					break
				}
			}
			v = v.FieldByNameFunc(func(name string) bool { return strings.EqualFold(name, part) })
		}
		for v.IsValid() && v.Kind() == reflect.Pointer {
			v = v.Elem()
		}
		if !v.IsValid() || zeros(path) && v.IsZero() {
			continue
		}
		texts[i] = "=" + fmt.Sprint(v.Interface())
		if v.Kind() == reflect.Uint32 {
			texts[i] = "=" + fmt.Sprint(int32(v.Uint()))
		}
	}
	return texts
}

// What parquet-go writes, in every encoding, compression, version and size of pages, is read as it was.
func TestReadsWhatTheLibraryWrites(t *testing.T) {
	for _, n := range []int{1, 7, 5000} {
		all := rows(n)
		for name, options := range map[string][]parquetgo.WriterOption{
			"version 2": nil, "version 1": {parquetgo.DataPageVersion(1)},
			"small pages": {parquetgo.PageBufferSize(200)}, "small pages, version 1": {parquetgo.PageBufferSize(200), parquetgo.DataPageVersion(1)},
			"groups": {parquetgo.MaxRowsPerRowGroup(999)},
		} {
			content := encoded(t, all, options...)
			f, err := Open(bytes.NewReader(content), int64(len(content)))
			if err != nil {
				t.Fatalf("%d rows, %s: %v", n, name, err)
			}
			if f.Rows != int64(n) || len(f.Columns) != 14 {
				t.Fatalf("%d rows, %s: %d rows of %d columns", n, name, f.Rows, len(f.Columns))
			}
			for j, c := range f.Columns {
				path := c.Name
				got, err := cells(f, j)
				for i := range got {
					if zeros(path) && (got[i] == "=0" || got[i] == "=false") {
						got[i] = ""
					}
				}
				if want := want(all, path); err != nil || !reflect.DeepEqual(got, want) {
					for i := range got {
						if got[i] != want[i] {
							t.Fatalf("%d rows, %s: row %d of %s is %q, want %q", n, name, i, path, got[i], want[i])
						}
					}
					t.Fatalf("%d rows, %s, %s: %d rows: %v", n, name, path, len(got), err)
				}
			}
		}
	}
}

// parquet-go reads what is written here, over pages and row groups.
func TestWriterAgainstTheLibrary(t *testing.T) {
	for _, n := range []int{0, 1, 1000, groupRows + 77} {
		rng, out := rand.New(rand.NewPCG(2, 2)), bytes.Buffer{}
		w := NewWriter(&out, []string{"z", "a b"}, []bool{false, true})
		numbers, texts := make([]float64, n), make([]string, n)
		for i := range n {
			if numbers[i] = rng.NormFloat64(); rng.IntN(4) == 0 {
				numbers[i] = math.NaN()
			}
			texts[i] = strings.Repeat("t", rng.IntN(20))
			w.Number(0, numbers[i])
			w.Text(1, []byte(texts[i]))
			if err := w.EndRow(); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		f, err := parquetgo.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len()))
		if err != nil {
			t.Fatal(err)
		}
		if names := f.Schema().Columns(); f.NumRows() != int64(n) || len(f.RowGroups()) != (n+groupRows-1)/groupRows || names[0][0] != "z" || names[1][0] != "a b" {
			t.Fatalf("%d rows in %d groups, %q", f.NumRows(), len(f.RowGroups()), names)
		}
		if n > groupRows {
			own, err := Open(bytes.NewReader(out.Bytes()), int64(out.Len()))
			if err != nil {
				t.Fatal(err)
			}
			if rows, _, err := group(own, 0).Pages(1).Next(); err != nil || rows > groupRows*3/4 {
				t.Errorf("a page of %d rows: %v", rows, err)
			}
		}
		i := 0
		for _, g := range f.RowGroups() {
			in, buffer := g.Rows(), make([]parquetgo.Row, 100)
			for {
				k, err := in.ReadRows(buffer)
				for _, r := range buffer[:k] {
					if missing := math.IsNaN(numbers[i]); r[0].IsNull() != missing || !missing && r[0].Double() != numbers[i] || r[1].IsNull() != (texts[i] == "") || string(r[1].ByteArray()) != texts[i] {
						t.Fatalf("row %d is %v, want %v, %q", i, r, numbers[i], texts[i])
					}
					i++
				}
				if err != nil {
					break
				}
			}
			in.Close()
		}
		if i != n {
			t.Errorf("%d rows of %d", i, n)
		}
	}
}

// What is written of many columns that compress well is read within the memory of a small file.
func TestManyColumns(t *testing.T) {
	if testing.Short() {
		t.Skip("writes and reads 22 million numbers")
	}
	const columns, rows = 400, 56_000
	names := make([]string, columns)
	for j := range names {
		names[j] = fmt.Sprint("x", j)
	}
	var out bytes.Buffer
	w := NewWriter(&out, names, make([]bool, columns))
	for i := range rows {
		for j := range names {
			w.Number(j, float64(i/1000%2))
		}
		if err := w.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := Open(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err == nil {
		err = drain(f, rows)
	}
	if err != nil || f.Rows != rows || out.Len() > memory/fourTimes {
		t.Errorf("%d rows in %d bytes: %v", f.Rows, out.Len(), err)
	}
}

// one reads a file of one column of numbers that are there, 1 to 4 unless they are given, in one page of version 2,
// changed before it is written.
func one(t *testing.T, change func(meta *format.FileMetaData, header *format.PageHeader, body *[]byte), numbers ...float64) ([]string, error) {
	t.Helper()
	if numbers == nil {
		numbers = []float64{1, 2, 3, 4}
	}
	n := len(numbers)
	meta := format.FileMetaData{Version: 2, NumRows: int64(n), Schema: []format.SchemaElement{{Name: "r", NumChildren: thrift.New(int32(1))}, {Name: "x", Type: thrift.New(format.Double)}}}
	body := []byte(nil)
	for _, v := range numbers {
		body = binary.LittleEndian.AppendUint64(body, math.Float64bits(v))
	}
	column := format.ColumnMetaData{Type: format.Double, Codec: format.Zstd, NumValues: int64(n), DataPageOffset: 4}
	meta.RowGroups = []format.RowGroup{{NumRows: int64(n), Columns: []format.ColumnChunk{{MetaData: column}}}}
	header := format.PageHeader{Type: format.DataPageV2, UncompressedPageSize: int32(len(body))}
	header.DataPageHeaderV2 = thrift.New(format.DataPageHeaderV2{NumValues: int32(n), NumRows: int32(n), IsCompressed: thrift.New(false)})
	change(&meta, &header, &body)
	page := bombs.Page(header, body)
	if columns := meta.RowGroups[0].Columns; len(columns) > 0 {
		columns[0].MetaData.TotalCompressedSize += int64(len(page))
	}
	content := bombs.File(page, &meta)
	f, err := Open(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return nil, err
	}
	return cells(f, 0)
}

// A page may stand uncompressed among compressed ones; whatever does not fit together is refused.
func TestWhatDoesNotFitTogether(t *testing.T) {
	compress := func(h *format.PageHeader, body *[]byte) {
		encoder, err := compressor()
		if err != nil {
			t.Fatal(err)
		}
		h.DataPageHeaderV2.V.IsCompressed.Valid = false
		*body = encoder.EncodeAll(*body, nil)
	}
	for message, change := range map[string]func(m *format.FileMetaData, h *format.PageHeader, body *[]byte){
		"": func(*format.FileMetaData, *format.PageHeader, *[]byte) {},
		"bytes behind the page": func(m *format.FileMetaData, _ *format.PageHeader, _ *[]byte) {
			m.RowGroups[0].Columns[0].MetaData.TotalCompressedSize = 8
		},
		"no rows in the footer":    func(m *format.FileMetaData, _ *format.PageHeader, _ *[]byte) { m.NumRows = 0 },
		"of 4 rows in a file of 5": func(m *format.FileMetaData, _ *format.PageHeader, _ *[]byte) { m.NumRows = 5 },
		"of 4 rows in a file of 3": func(m *format.FileMetaData, _ *format.PageHeader, _ *[]byte) { m.NumRows = 3 },
		"compressed":               func(_ *format.FileMetaData, h *format.PageHeader, body *[]byte) { compress(h, body) },
		"4 rows where 3 are left": func(m *format.FileMetaData, _ *format.PageHeader, _ *[]byte) {
			m.NumRows, m.RowGroups[0].NumRows = 3, 3
		},
		"has 4 rows and 0 columns": func(m *format.FileMetaData, _ *format.PageHeader, _ *[]byte) { m.RowGroups[0].Columns = nil },
		"at 4 to ": func(m *format.FileMetaData, _ *format.PageHeader, _ *[]byte) {
			m.RowGroups[0].Columns[0].MetaData.TotalCompressedSize = 1 << 20
		},
		"of type FLOAT": func(m *format.FileMetaData, _ *format.PageHeader, _ *[]byte) {
			m.RowGroups[0].Columns[0].MetaData.Type = format.Float
		},
		"in another file": func(m *format.FileMetaData, _ *format.PageHeader, _ *[]byte) {
			m.RowGroups[0].Columns[0].FilePath = "/etc/passwd"
		},
		"the schema ends": func(m *format.FileMetaData, _ *format.PageHeader, _ *[]byte) { m.Schema[0].NumChildren.V = 1 << 30 },
		"encrypted": func(m *format.FileMetaData, _ *format.PageHeader, _ *[]byte) {
			m.EncryptionAlgorithm.Value = &format.AesGcmV1{}
		},
		"the checksum":           func(_ *format.FileMetaData, h *format.PageHeader, _ *[]byte) { h.CRC = 17 },
		"fewer values than rows": func(_ *format.FileMetaData, _ *format.PageHeader, body *[]byte) { *body = (*body)[:24] },
		"a page of 32 bytes, not of 3": func(_ *format.FileMetaData, h *format.PageHeader, body *[]byte) {
			compress(h, body)
			h.UncompressedPageSize = 37
		},
		"a page of 2147483647 bytes": func(_ *format.FileMetaData, h *format.PageHeader, _ *[]byte) { h.UncompressedPageSize = math.MaxInt32 },
		"levels of ": func(_ *format.FileMetaData, h *format.PageHeader, _ *[]byte) {
			h.DataPageHeaderV2.V.RepetitionLevelsByteLength = 33
		},
		"encoded by": func(_ *format.FileMetaData, h *format.PageHeader, _ *[]byte) { h.DataPageHeaderV2.V.Encoding = 77 },
	} {
		got, err := one(t, change)
		switch {
		case message == "" || message == "compressed" || message == "bytes behind the page" || message == "no rows in the footer":
			if err != nil || !slices.Equal(got, []string{"=1", "=2", "=3", "=4"}) {
				t.Errorf("%q: %v", got, err)
			}
		case err == nil || !strings.Contains(err.Error(), message):
			t.Errorf("error is %v, want %q", err, message)
		}
	}
}

// Pages of every compression are read, also where they unpack to far more than they are stored in; a page that is cut
// off, or holds more or less than it says, is refused.
func TestCompressions(t *testing.T) {
	hadoop := func(body []byte) (out []byte) { // two blocks, one of them in two pieces
		for k, part := range [][]byte{body[:8], body[8:]} {
			out = binary.BigEndian.AppendUint32(out, uint32(len(part)))
			for _, piece := range [][]byte{part[:8*k], part[8*k:]} {
				if len(piece) > 0 {
					packed, err := parquetgo.Lz4Raw.Encode(nil, piece)
					if err != nil {
						t.Fatal(err)
					}
					out = append(binary.BigEndian.AppendUint32(out, uint32(len(packed))), packed...)
				}
			}
		}
		return out
	}
	many := make([]float64, 40_000)
	many[17], many[39_999] = 3, 4
	codecs := []compress.Codec{&parquetgo.Brotli, &parquetgo.Gzip, &parquetgo.Snappy, &parquetgo.Zstd, &parquetgo.Lz4Raw}
	for k := range len(codecs) + 2 {
		for _, numbers := range [][]float64{{1, 2, 3, 4}, many} {
			for _, harm := range []string{"", "cut", "less", "more"} {
				name := "hadoop"
				got, err := one(t, func(m *format.FileMetaData, h *format.PageHeader, body *[]byte) {
					h.DataPageHeaderV2.V.IsCompressed.Valid, h.UncompressedPageSize = false, int32(len(*body))
					c := &m.RowGroups[0].Columns[0].MetaData
					if c.Codec = format.Lz4; k < len(codecs) {
						name, c.Codec = codecs[k].String(), codecs[k].CompressionCodec()
						packed, err := codecs[k].Encode(nil, *body)
						if err != nil {
							t.Fatal(err)
						}
						*body = packed
					} else if k == len(codecs) {
						*body = hadoop(*body)
					} else if packed, err := parquetgo.Lz4Raw.Encode(nil, *body); err == nil { // as Arrow did at first
						*body = packed
					}
					switch harm {
					case "cut":
						*body = (*body)[:len(*body)*2/3]
					case "less":
						h.UncompressedPageSize -= 8
					case "more":
						h.UncompressedPageSize += 8
					}
				}, numbers...)
				if harm != "" {
					if err == nil {
						t.Errorf("%s, %s: %d numbers are read", name, harm, len(numbers))
					}
					continue
				}
				if err != nil || len(got) != len(numbers) {
					t.Fatalf("%s: %d of %d numbers: %v", name, len(got), len(numbers), err)
				}
				for i, v := range numbers {
					if got[i] != fmt.Sprint("=", v) {
						t.Fatalf("%s: number %d is %s, want %v", name, i, got[i], v)
					}
				}
			}
		}
	}
	if _, err := one(t, func(m *format.FileMetaData, h *format.PageHeader, _ *[]byte) {
		m.RowGroups[0].Columns[0].MetaData.Codec, h.DataPageHeaderV2.V.IsCompressed.Valid = format.LZO, false
	}); err == nil || err.Error() != "its pages are compressed with LZO: choose Zstandard or Snappy" {
		t.Error(err)
	}
}

// Any bytes give columns or an error, without a panic.
func FuzzFile(f *testing.F) {
	f.Add(encoded(f, rows(20)))
	f.Add(encoded(f, rows(300), parquetgo.PageBufferSize(100), parquetgo.DataPageVersion(1)))
	f.Fuzz(func(t *testing.T, content []byte) {
		file, err := Open(bytes.NewReader(content), int64(len(content)))
		if err != nil || file.Rows > 1e6 {
			return
		}
		for j := range file.Columns {
			if file.Columns[j].Repetition == 0 && file.Columns[j].Type != format.FixedLenByteArray && file.Columns[j].Type != format.Int96 {
				cells(file, j)
			}
		}
	})
}
