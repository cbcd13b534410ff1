package bombs

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// Written returns the test files of parquet-go of at most so many bytes, by their names: what Impala, Spark, Hive,
// Arrow, Rust, AWS and parquet-go itself wrote.
func Written(most int) map[string][]byte {
	files := map[string][]byte{}
	folder, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/parquet-go/parquet-go").Output()
	if err != nil {
		return files
	}
	paths, _ := filepath.Glob(filepath.Join(strings.TrimSpace(string(folder)), "testdata", "*.parquet"))
	for _, path := range paths {
		if content, err := os.ReadFile(path); err == nil && len(content) <= most {
			files[filepath.Base(path)] = content
		}
	}
	return files
}

// large are numbers that files tell of what is not there.
var large = []int64{-1, 0, 1, 2, 127, 128, 1 << 16, 1<<24 + 1, math.MaxInt32, math.MinInt32, 1 << 40, math.MaxInt64, math.MinInt64}

// Mutant returns a copy of a file in which a few bytes, fields of its footer or of a page's header are other ones.
func Mutant(rng *rand.Rand, content []byte) []byte {
	out := bytes.Clone(content)
	if kind := rng.IntN(4); kind < 3 { // of the whole file, whose lists may be decoded
		out = other(rng, out, kind > 0)
		if rng.IntN(3) > 0 {
			return out
		}
	}
	n := len(out)
	if n < 20 {
		return out
	}
	switch rng.IntN(4) {
	case 0: // bits
		for range 1 + rng.IntN(4) {
			out[rng.IntN(n)] ^= 1 << rng.IntN(8)
		}
	case 1: // a number that is long
		copy(out[rng.IntN(n-12):], []byte{0xff, 0xff, 0xff, 0xff, byte(rng.IntN(16))})
	case 2: // bytes from elsewhere
		k := 1 + rng.IntN(min(64, n/2))
		copy(out[rng.IntN(n-k):], bytes.Clone(out[rng.IntN(n-k):][:k]))
	case 3: // bits of the footer
		length := int(binary.LittleEndian.Uint32(out[n-8:]))
		for range 1 + rng.IntN(3) {
			out[n-8-rng.IntN(max(1, min(length, n-8)))] ^= 1 << rng.IntN(8)
		}
	}
	return out
}

// other changes a field of the footer, or of the header of a page, whose bytes then are others.
func other(rng *rand.Rand, content []byte, page bool) []byte {
	n := len(content)
	length := int(binary.LittleEndian.Uint32(content[n-8:]))
	var meta format.FileMetaData
	if length > n-12 || decoded(content[n-8-length:n-8], &meta) == 0 || len(meta.RowGroups) == 0 {
		return content
	}
	body := content[4 : n-8-length]
	group := &meta.RowGroups[rng.IntN(len(meta.RowGroups))]
	if len(group.Columns) == 0 {
		return content
	}
	column := &group.Columns[rng.IntN(len(group.Columns))].MetaData
	number := func(present int64) int64 {
		if rng.IntN(2) == 0 {
			return present + int64(rng.IntN(9)-4)
		}
		return large[rng.IntN(len(large))]
	}
	if page {
		at := column.DataPageOffset
		if d := column.DictionaryPageOffset; d > 0 && rng.IntN(2) == 0 {
			at = d
		}
		var header format.PageHeader
		if at -= 4; at < 0 || at >= int64(len(body)) {
			return content
		}
		old := decoded(body[at:], &header)
		if old == 0 {
			return content
		}
		d, v2, dictionary := &header.DataPageHeader.V, &header.DataPageHeaderV2.V, &header.DictionaryPageHeader.V
		for _, field := range [][]*int32{{&d.NumValues, &v2.NumValues, &dictionary.NumValues}, {&header.UncompressedPageSize}, {&header.CompressedPageSize}, {(*int32)(&d.Encoding), (*int32)(&v2.Encoding)},
			{&v2.DefinitionLevelsByteLength}, {&v2.RepetitionLevelsByteLength}, {(*int32)(&d.DefinitionLevelEncoding)}, {(*int32)(&header.Type)}} {
			if rng.IntN(6) == 0 {
				for _, f := range field {
					*f = int32(number(int64(*f)))
				}
			}
		}
		written := marshal(&header)
		body = join(body[:at], written, body[at+int64(old):])
		for i := range meta.RowGroups { // all behind it move
			for j := range meta.RowGroups[i].Columns {
				c := &meta.RowGroups[i].Columns[j].MetaData
				for _, offset := range []*int64{&c.DataPageOffset, &c.DictionaryPageOffset} {
					if *offset-4 > at {
						*offset += int64(len(written) - old)
					}
				}
			}
		}
		column.TotalCompressedSize += int64(len(written) - old)
		return File(body, &meta)
	}
	s := &meta.Schema[rng.IntN(len(meta.Schema))]
	numbers := []*int64{&meta.NumRows, &group.NumRows, &column.NumValues, &column.TotalCompressedSize, &column.TotalUncompressedSize, &column.DataPageOffset, &column.DictionaryPageOffset}
	small := []*int32{(*int32)(&column.Codec), (*int32)(&column.Type), (*int32)(&s.Type.V), (*int32)(&s.RepetitionType.V), &s.NumChildren.V, (*int32)(&s.ConvertedType.V), &s.Scale.V, &s.Precision.V}
	if k := rng.IntN(len(numbers) + len(small)); k < len(numbers) {
		*numbers[k] = number(*numbers[k])
	} else {
		f := small[k-len(numbers)]
		*f = int32(number(int64(*f)))
	}
	return File(body, &meta)
}

// decoded decodes what bytes begin with, and returns how many they are, 0 where they do not.
func decoded(from []byte, to any) (length int) {
	defer func() {
		if recover() != nil {
			length = 0
		}
	}()
	in := new(thrift.CompactProtocol).NewReaderFromBytes(from)
	if thrift.NewDecoder(in).Decode(to) != nil {
		return 0
	}
	return in.BytesRead()
}
