package parquet

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/credence-ml/credence/internal/order"
	"github.com/parquet-go/bitpack/unsafecast"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/bytestreamsplit"
	"github.com/parquet-go/parquet-go/format"
)

const (
	// piece is how many values are decoded at a time, where they do not stand in the page as they are.
	piece = 4096
	// pieceBytes ends a piece of texts that are made of others.
	pieceBytes = 1 << 20
)

// Values are values of a column, in the one slice that is of its type.
type Values struct {
	Int32s   []int32 // truth values, too, as 0 and 1, and places in the dictionary
	Int64s   []int64
	Float32s []float32
	Float64s []float64
	Int96s   []deprecated.Int96
	Texts    [][]byte
}

// Len returns how many they are.
func (v *Values) Len() int {
	return len(v.Int32s) + len(v.Int64s) + len(v.Float32s) + len(v.Float64s) + len(v.Int96s) + len(v.Texts)
}

// values decodes the values of a page, piece by piece.
type values struct {
	kind             format.Type
	how              format.Encoding
	body             []byte // what is not yet decoded, but for runs and differences
	at               int    // values that are, of split bytes
	runs             runs
	lengths, parts   deltas // of texts; parts are the bytes at the begin that are those of the text before
	int32s           []int32
	int64s           []int64
	texts            [][]byte
	last, arena, cut []byte
}

// forget lets go of the page.
func (s *values) forget() {
	clear(s.texts[:cap(s.texts)])
	*s = values{int32s: s.int32s, int64s: s.int64s, texts: s.texts}
}

// begin goes to the first value of a page.
func (s *values) begin(kind format.Type, how format.Encoding, body []byte) (err error) {
	s.kind, s.how, s.body, s.at = kind, how, body, 0
	switch how {
	case format.Plain:
		if kind == format.Boolean {
			s.runs, s.how = packed(body, 1, false), format.RLE
		}
	case format.RLE: // truth values, behind their length
		if kind != format.Boolean || len(body) < 4 {
			return io.ErrUnexpectedEOF
		}
		s.runs = runs{from: body[4:], width: 1}
	case format.RLEDictionary: // behind the bits of each
		s.runs = runs{}
		if len(body) > 0 {
			s.runs = runs{from: body[1:], width: int(body[0])}
		}
	case format.DeltaBinaryPacked:
		err = s.lengths.begin(body)
	case format.DeltaLengthByteArray, format.DeltaByteArray:
		if s.last = s.last[:0]; how == format.DeltaByteArray {
			if err = s.parts.begin(body); err == nil {
				body, err = s.parts.behind()
			}
		}
		if err == nil {
			if err = s.lengths.begin(body); err == nil {
				s.body, err = s.lengths.behind()
			}
		}
	case format.ByteStreamSplit:
	default:
		err = unread("its values are encoded by %s: write them plain or with a dictionary", how)
	}
	return err
}

// next returns the next values, none behind the last. They stay until the next call.
func (s *values) next() (v Values, err error) {
	n := 0
	switch s.how {
	case format.RLE, format.RLEDictionary:
		s.int32s = order.Resized(s.int32s, piece)
		n, err = s.runs.next(s.int32s)
		return Values{Int32s: s.int32s[:n]}, err
	case format.Plain:
		if s.kind == format.ByteArray {
			s.texts = order.Resized(s.texts, piece)
			n, err = s.plainTexts(s.texts)
			return Values{Texts: s.texts[:n]}, err
		}
		v, err = numbers(s.kind, s.body) // all at once
		s.body = nil
		return v, err
	case format.ByteStreamSplit:
		return s.split()
	case format.DeltaBinaryPacked:
		s.int64s = order.Resized(s.int64s, piece)
		n, err = s.lengths.next(s.int64s)
		switch s.kind {
		case format.Int64:
			return Values{Int64s: s.int64s[:n]}, err
		case format.Int32:
			s.int32s = order.Resized(s.int32s, n)
			for i, v := range s.int64s[:n] {
				s.int32s[i] = int32(v)
			}
			return Values{Int32s: s.int32s}, err
		}
	case format.DeltaLengthByteArray, format.DeltaByteArray:
		if s.kind == format.ByteArray {
			return s.deltaTexts()
		}
	}
	return v, unread("its values of type %s are encoded by %s: write them plain or with a dictionary", s.kind, s.how)
}

// numbers returns numbers in the place of their bytes.
func numbers(kind format.Type, from []byte) (v Values, err error) {
	switch kind {
	case format.Int32:
		v.Int32s = unsafecast.Slice[int32](from)
	case format.Int64:
		v.Int64s = unsafecast.Slice[int64](from)
	case format.Int96:
		v.Int96s = unsafecast.Slice[deprecated.Int96](from)
	case format.Float:
		v.Float32s = unsafecast.Slice[float32](from)
	case format.Double:
		v.Float64s = unsafecast.Slice[float64](from)
	default:
		err = fmt.Errorf("values are of type %s", kind)
	}
	return v, err
}

// plainTexts sets texts to the next ones, which stand behind their lengths, and returns how many there were.
func (s *values) plainTexts(to [][]byte) (n int, err error) {
	for ; n < len(to) && len(s.body) > 0; n++ {
		if len(s.body) < 4 || uint64(binary.LittleEndian.Uint32(s.body)) > uint64(len(s.body)-4) {
			return n, io.ErrUnexpectedEOF
		}
		end := 4 + int(binary.LittleEndian.Uint32(s.body))
		to[n], s.body = s.body[4:end:end], s.body[end:]
	}
	return n, nil
}

// deltaTexts returns the next texts whose lengths stand before all of them, and which may begin like the one before.
func (s *values) deltaTexts() (v Values, err error) {
	s.texts, s.arena = order.Resized(s.texts, piece)[:0], s.arena[:0]
	var length, part [1]int64
	for len(s.texts) < piece && len(s.arena) < pieceBytes {
		if n, err := s.lengths.next(length[:]); n == 0 || err != nil {
			return Values{Texts: s.texts}, err
		}
		if length[0] < 0 || length[0] > int64(len(s.body)) {
			return v, fmt.Errorf("a text of %d bytes where %d are left", length[0], len(s.body))
		}
		text := s.body[:length[0]:length[0]]
		s.body = s.body[length[0]:]
		if s.how == format.DeltaByteArray {
			if n, err := s.parts.next(part[:]); n == 0 || err != nil || part[0] < 0 || part[0] > int64(len(s.last)) {
				return v, fmt.Errorf("a text begins with %d bytes of one of %d", part[0], len(s.last))
			} else if part[0]+length[0] > pieceBytes {
				return v, fmt.Errorf("a text of %d bytes among those that begin like others", part[0]+length[0])
			}
			begin := len(s.arena)
			s.arena = append(append(s.arena, s.last[:part[0]]...), text...)
			text = s.arena[begin:len(s.arena):len(s.arena)]
			s.last = text
		}
		s.texts = append(s.texts, text)
	}
	return Values{Texts: s.texts}, nil
}

// split returns the next numbers of those whose first bytes stand before all second ones, and so on.
func (s *values) split() (Values, error) {
	width := widthOf(s.kind)
	n := len(s.body) / max(1, width)
	k := min(piece, n-s.at)
	s.cut = order.Resized(s.cut, k*width)
	for b := range width {
		copy(s.cut[b*k:(b+1)*k], s.body[b*n+s.at:])
	}
	s.at += k
	var out []byte
	var err error
	switch decoder := (&bytestreamsplit.Encoding{}); width {
	case 4:
		s.int32s, err = decoder.DecodeInt32(s.int32s, s.cut)
		out = unsafecast.Slice[byte](s.int32s)
	case 8:
		s.int64s, err = decoder.DecodeInt64(s.int64s, s.cut)
		out = unsafecast.Slice[byte](s.int64s)
	}
	if err != nil {
		return Values{}, err
	}
	return numbers(s.kind, out)
}

// widthOf returns how many bytes a number takes.
func widthOf(kind format.Type) int {
	switch kind {
	case format.Int32, format.Float:
		return 4
	case format.Int64, format.Double:
		return 8
	case format.Int96:
		return 12
	}
	return 0
}

// entries returns the entries of a dictionary, which are so many. It takes memory for those that there are.
func entries(kind format.Type, from []byte, count int, take func(bytes int) error) (v Values, err error) {
	if width := max(4, widthOf(kind)); count < 0 || count > len(from)/width {
		return v, fmt.Errorf("a dictionary of %d entries in %d bytes", count, len(from))
	} else if kind != format.ByteArray {
		return numbers(kind, from[:count*width])
	}
	if err := take(24 * count); err != nil {
		return v, err
	}
	v.Texts = make([][]byte, count)
	n, err := (&values{body: from}).plainTexts(v.Texts)
	if err == nil && n < count {
		err = fmt.Errorf("a dictionary of %d entries, not of %d", n, count)
	}
	return v, err
}
