package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	parquetgo "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
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

// cells returns the values of a column as texts, "" for those that are missing.
func cells(f *File, column int) (texts []string, err error) {
	for g := range f.Groups() {
		pages := f.Pages(g, column)
		for done := 0; done < f.Groups()[g]; {
			page, err := pages.Next()
			if err != nil {
				return nil, err
			}
			done += page.Rows
			at, show := 0, shown(f.Columns[column].Type, page.Values)
			if page.Indexed {
				entries, n := pages.Dictionary()
				places, entry := page.Values.Int32(), shown(f.Columns[column].Type, entries)
				show = func(i int) string {
					if k := int(places[i]); k >= 0 && k < n {
						return entry(k)
					}
					return "outside"
				}
			}
			for i := range page.Rows {
				if page.Levels != nil && int(page.Levels[i]) < f.Columns[column].Definition {
					texts = append(texts, "")
					continue
				}
				texts = append(texts, "="+show(at))
				at++
			}
		}
		if _, err := pages.Next(); err != io.EOF {
			return nil, fmt.Errorf("behind the last row: %v", err)
		}
	}
	return texts, nil
}

// shown returns what tells value i of a type.
func shown(kind format.Type, v encoding.Values) func(i int) string {
	switch kind {
	case format.Boolean:
		return func(i int) string { return fmt.Sprint(v.Boolean()[i/8]>>(i%8)&1 == 1) }
	case format.Int32:
		return func(i int) string { return fmt.Sprint(v.Int32()[i]) }
	case format.Int64:
		return func(i int) string { return fmt.Sprint(v.Int64()[i]) }
	case format.Float:
		return func(i int) string { return fmt.Sprint(v.Float()[i]) }
	case format.Double:
		return func(i int) string { return fmt.Sprint(v.Double()[i]) }
	}
	return func(i int) string {
		content, offsets := v.ByteArray()
		return string(content[offsets[i]:offsets[i+1]])
	}
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
				path := strings.Join(c.Path, ".")
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
			if page, err := own.Pages(0, 1).Next(); err != nil || page.Rows > groupRows*3/4 {
				t.Errorf("a page of %d rows: %v", page.Rows, err)
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

// A few bytes that say they are millions of values are refused before memory is taken for them.
func TestBombs(t *testing.T) {
	run := func(count uint64, content ...byte) []byte {
		return append(binary.AppendUvarint(nil, count<<1), content...)
	}
	packed := func(eights uint64, content ...byte) []byte {
		return append(binary.AppendUvarint(nil, eights<<1|1), content...)
	}
	for name, c := range map[string]struct {
		runs         []byte
		width, count int
		length       int // of what is used, -1 for none
	}{
		"a run": {run(9, 1), 1, 9, 2}, "eights": {packed(2, 1, 2), 1, 11, 3}, "two": {append(run(5, 1), packed(1, 0)...), 1, 12, 4},
		"no width": {run(9), 0, 9, 1}, "behind the end": {append(run(9, 1), 200, 200, 200, 200, 200), 1, 9, 2},
		"long run": {run(1<<30, 1), 1, 9, -1}, "many eights": {packed(1<<30, 1), 1, 9, -1}, "eights without width": {packed(1 << 40), 0, 9, -1},
		"overflow": {packed(math.MaxUint64>>2, 1), 8, 9, -1}, "eights beyond": {packed(3, 1, 2, 3), 1, 11, -1}, "cut off": {run(4), 1, 4, -1}, "too few": {run(4, 1), 1, 9, -1}, "nothing": {nil, 1, 1, -1},
	} {
		got, err := hybrid(c.runs, c.width, c.count)
		if (err != nil) != (c.length < 0) || err == nil && len(got) != c.length {
			t.Errorf("%s: %d bytes, want %d: %v", name, len(got), c.length, err)
		}
	}
	var s store
	for _, how := range []format.Encoding{format.DeltaBinaryPacked, format.DeltaLengthByteArray, format.DeltaByteArray} {
		from := binary.AppendUvarint(binary.AppendUvarint(binary.AppendUvarint(nil, 128), 4), 1<<31)
		if _, err := s.decode(format.Int64, how, append(from, 0), 10); err == nil {
			t.Errorf("%s: 2³¹ values among ten", how)
		}
	}
}

// one is a file of one column of numbers that are there, 1 to 4, in one page of version 2, changed before it is written.
func one(t *testing.T, change func(meta *format.FileMetaData, header *format.PageHeader, body *[]byte)) (Page, error) {
	t.Helper()
	meta := format.FileMetaData{Version: 2, NumRows: 4, Schema: []format.SchemaElement{{Name: "r", NumChildren: thrift.New(int32(1))}, {Name: "x", Type: thrift.New(format.Double)}}}
	body := []byte(nil)
	for v := range 4 {
		body = binary.LittleEndian.AppendUint64(body, math.Float64bits(float64(v+1)))
	}
	column := format.ColumnMetaData{Type: format.Double, Codec: format.Zstd, NumValues: 4, DataPageOffset: 4}
	meta.RowGroups = []format.RowGroup{{NumRows: 4, Columns: []format.ColumnChunk{{MetaData: column}}}}
	header := format.PageHeader{Type: format.DataPageV2, UncompressedPageSize: int32(len(body))}
	header.DataPageHeaderV2 = thrift.New(format.DataPageHeaderV2{NumValues: 4, NumRows: 4, IsCompressed: thrift.New(false)})
	change(&meta, &header, &body)
	header.CompressedPageSize = int32(len(body))
	marshal := func(v any) []byte {
		text, err := thrift.Marshal(new(thrift.CompactProtocol), v)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	page := append(marshal(&header), body...)
	if columns := meta.RowGroups[0].Columns; len(columns) > 0 {
		columns[0].MetaData.TotalCompressedSize += int64(len(page))
	}
	footer := marshal(&meta)
	content := append(append([]byte(magic), page...), footer...)
	content = append(binary.LittleEndian.AppendUint32(content, uint32(len(footer))), magic...)
	f, err := Open(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return Page{}, err
	}
	pages := f.Pages(0, 0)
	first, err := pages.Next()
	if err == nil {
		if _, behind := pages.Next(); behind != io.EOF {
			t.Errorf("behind the last row: %v", behind)
		}
	}
	return first, err
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
		"no rows in the footer": func(m *format.FileMetaData, _ *format.PageHeader, _ *[]byte) { m.NumRows = 0 },
		"compressed":            func(_ *format.FileMetaData, h *format.PageHeader, body *[]byte) { compress(h, body) },
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
		"the checksum":               func(_ *format.FileMetaData, h *format.PageHeader, _ *[]byte) { h.CRC = 17 },
		"3 values where there are 4": func(_ *format.FileMetaData, _ *format.PageHeader, body *[]byte) { *body = (*body)[:24] },
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
		page, err := one(t, change)
		switch {
		case message == "" || message == "compressed" || message == "bytes behind the page" || message == "no rows in the footer":
			if err != nil || page.Rows != 4 || !reflect.DeepEqual(page.Values.Double()[:4], []float64{1, 2, 3, 4}) {
				t.Errorf("%d rows: %v", page.Rows, err)
			}
		case err == nil || !strings.Contains(err.Error(), message):
			t.Errorf("error is %v, want %q", err, message)
		}
	}
}

// Brotli is not read, and the message says what is.
func TestCompressionThatIsNotRead(t *testing.T) {
	content := encoded(t, rows(10), parquetgo.Compression(&parquetgo.Brotli))
	f, err := Open(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Pages(0, 0).Next(); err == nil || err.Error() != "pages are compressed with BROTLI, which is not read: choose Zstandard or Snappy" {
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
