package safetensors

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence/internal/study"
)

// knownDigest is that of the file in TestKnownBytes, computed from the text of
// the package comment with printf and sha256sum of GNU coreutils 9.
const knownDigest = "3260c51d4db9c92118b0818cb90e63bb67a4d647f402a8764de7765ca705475e"

// The digest, computed here by another route: the header through encoding/json,
// the lines through hex.
func TestDigestByDefinition(t *testing.T) {
	metadata, tensors := sample()
	for name, file := range map[string][]byte{
		"sample": mustWrite(t, metadata, tensors...),
		"known":  mustWrite(t, map[string]string{"k": "v\n\"\\"}, Of("b", []float32{1, -2}, 2, 1), Of("a", []uint8{7, 8, 9}), Of("c", []int64{-1})),
	} {
		length := binary.LittleEndian.Uint64(file)
		data := file[8+length:]
		var header map[string]json.RawMessage
		if err := json.Unmarshal(file[8:8+length], &header); err != nil {
			t.Fatal(err)
		}
		stored := map[string]string{}
		if err := json.Unmarshal(header["__metadata__"], &stored); err != nil {
			t.Fatal(err)
		}
		hash := func(b []byte) string { sum := sha256.Sum256(b); return hex.EncodeToString(sum[:]) }
		text := ""
		for _, key := range slices.Sorted(maps.Keys(stored)) {
			if key != "sha256" {
				text += "metadata " + hash([]byte(key)) + " " + hash([]byte(stored[key])) + "\n"
			}
		}
		for _, name := range slices.Sorted(maps.Keys(header)) {
			if name == "__metadata__" {
				continue
			}
			var entry struct {
				DType string           `json:"dtype"`
				Shape *json.RawMessage `json:"shape"`
				Ends  [2]int           `json:"data_offsets"`
			}
			if err := json.Unmarshal(header[name], &entry); err != nil {
				t.Fatal(err)
			}
			text += "tensor " + hash([]byte(name)) + " " + entry.DType + " " + string(*entry.Shape) + " " + hash(data[entry.Ends[0]:entry.Ends[1]]) + "\n"
		}
		if want := hash([]byte(text)); stored["sha256"] != want {
			t.Errorf("%s: stored digest %s, by definition %s", name, stored["sha256"], want)
		}
		if name == "known" && stored["sha256"] != knownDigest {
			t.Errorf("known digest is %s", stored["sha256"])
		}
	}
}

// content is everything a reader can learn from a file, in one string.
func content(t testing.TB, r *Reader) string {
	t.Helper()
	var text strings.Builder
	metadata := r.Metadata()
	for _, key := range sortedKeys(metadata) {
		fmt.Fprintf(&text, "%q=%q\n", key, metadata[key])
	}
	for _, info := range r.Tensors() {
		fmt.Fprintf(&text, "%q %s %v ", info.Name, info.DType, info.Shape)
		if _, err := io.Copy(&text, r.section(info)); err != nil {
			t.Fatal(err)
		}
	}
	return text.String()
}

// Every change of one byte to any other value is refused by the reader or by
// Verify, unless it changes only the spelling.
func TestEverySingleByteChange(t *testing.T) {
	metadata, tensors := sample()
	file := mustWrite(t, metadata, tensors...)
	want := content(t, mustOpen(t, file))
	refused, verified, harmless := 0, 0, 0
	for i := range file {
		original := file[i]
		for change := 1; change < 256; change++ {
			// Every bit alone, and of the others one in 16, which differ from byte to byte.
			if !study.Long() && change&(change-1) != 0 && (change+i)%16 != 0 {
				continue
			}
			file[i] = original ^ byte(change)
			r, err := open(file)
			switch {
			case err != nil:
				refused++
			case r.Verify() != nil:
				verified++
			case content(t, r) == want:
				harmless++
			default:
				t.Errorf("byte %d changed from %#x to %#x: accepted, and the content differs", i, original, file[i])
			}
		}
		file[i] = original
	}
	t.Logf("%d bytes: %d changes refused on opening, %d by Verify, %d change nothing", len(file), refused, verified, harmless)
	if refused == 0 || verified == 0 {
		t.Error("one of the defences never acted")
	}
	// The only spelling one byte can change is the case of a hexadecimal digit
	// in an escape; the sample has \u000a.
	if harmless != 1 {
		t.Errorf("%d changes were accepted as harmless, expected 1", harmless)
	}
}

func TestEveryTruncationAndExtension(t *testing.T) {
	metadata, tensors := sample()
	file := mustWrite(t, metadata, tensors...)
	for n := range file {
		if _, err := open(file[:n]); err == nil {
			t.Errorf("the first %d of %d bytes are accepted", n, len(file))
		}
	}
	for _, tail := range []string{"\x00", " ", "{}", string(file)} {
		if _, err := open(append(bytes.Clone(file), tail...)); err == nil || !strings.Contains(err.Error(), "after the last tensor") {
			t.Errorf("with %d more bytes: %v", len(tail), err)
		}
	}
}

// Two tensors of one type and size that change places are found out.
func TestSwappedTensorsAreFound(t *testing.T) {
	file := mustWrite(t, nil, Of("a", []float64{1}), Of("b", []float64{2}))
	swapped := bytes.Replace(bytes.Replace(bytes.Replace(file, []byte(`"a":`), []byte(`"_":`), 1), []byte(`"b":`), []byte(`"a":`), 1), []byte(`"_":`), []byte(`"b":`), 1)
	if err := mustOpen(t, swapped).Verify(); err == nil || !strings.Contains(err.Error(), "the file is damaged") {
		t.Errorf("Verify: %v", err)
	}
	if err := mustOpen(t, file).Verify(); err != nil {
		t.Error(err)
	}
}

func TestReaderRefuses(t *testing.T) {
	eight := make([]byte, 8)
	tensor := func(body string) []byte { return assemble(`{"w":{`+body+`}}`, eight) }
	good := `"dtype":"F64","shape":[1],"data_offsets":[0,8]`
	mustOpen(t, tensor(good))
	two := func(a, b string) []byte {
		return assemble(`{"a":{"dtype":"U8","shape":[4],"data_offsets":`+a+`},"b":{"dtype":"U8","shape":[4],"data_offsets":`+b+`}}`, eight)
	}
	mustOpen(t, two("[4,8]", "[0,4]"))
	long := strings.Repeat("n", maxName+1)
	cases := map[string]struct {
		file    []byte
		message string
	}{
		"empty":             {nil, "truncated: 0 bytes"},
		"prefix alone":      {eight, "truncated: 8 bytes"},
		"header too long":   {assemble(strings.Repeat(" ", 4096), nil)[:1000], "truncated: header says 4096 bytes, file has 1000"},
		"header at limit":   {append(binary.LittleEndian.AppendUint64(nil, maxHeader), "{}"...), "truncated: header says 100000000 bytes, file has 10"},
		"header over limit": {append(binary.LittleEndian.AppendUint64(nil, maxHeader+1), "{}"...), "header would have 100000001 bytes, more than the 100000000"},
		"absurd length":     {append(bytes.Repeat([]byte{255}, 8), "{}"...), "header would have 18446744073709551615 bytes, more than the 100000000"},
		"no header":         {assemble("", eight), "does not start with '{'"},
		"a list":            {assemble("[]", nil), "does not start with '{'"},
		"leading space":     {assemble(" {}", nil), "does not start with '{'"},
		"not UTF-8":         {assemble(`{"__metadata__":{"k":"`+"\xff"+`"}}`, nil), "not UTF-8"},
		"tab at the end":    {assemble("{}\t", nil), "only spaces may follow"},
		"a second object":   {assemble("{} {}", nil), "only spaces may follow"},
		"open object":       {assemble(`{"w"`, nil), "the JSON ends where ':' is expected"},
		"comma at the end":  {tensor(good + ","), `'"' is expected, not '}'`},
		"no colon":          {assemble(`{"w" {}}`, nil), `':' is expected, not '{'`},
		"open string":       {assemble(`{"w`, nil), "header byte 1: a string has no end"},
		"raw newline":       {assemble("{\"\n\":1}", nil), "a control character stands in a string"},
		"unknown escape":    {assemble(`{"\x":1}`, nil), `unknown escape \x`},
		"bad hex":           {assemble(`{"\u00g0":1}`, nil), "four hexadecimal digits"},
		"hex at the end":    {assemble(`{"\u00`, nil), "a string has no end"},
		"escape at the end": {assemble(`{"\`, nil), "a string has no end"},
		"high surrogate":    {assemble(`{"\ud800":1}`, nil), "unpaired surrogate"},
		"high twice":        {assemble(`{"\ud800\ud800":1}`, nil), "unpaired surrogate"},
		"open pair":         {assemble(`{"\ud800\u00`, nil), "header byte 10: a string has no end"},
		"bad pair":          {assemble(`{"\ud800\u00g0":1}`, nil), "header byte 10: \\u needs four hexadecimal digits"},
		"half a pair":       {assemble(`{"\ud800\`, nil), "header byte 2: an unpaired surrogate"},
		"low surrogate":     {assemble(`{"\udc00":1}`, nil), "unpaired surrogate"},

		"duplicate tensor":    {assemble(`{"w":{`+good+`},"w":{`+good+`}}`, eight), `duplicate key "w"`},
		"duplicate, escaped":  {assemble(`{"w":{`+good+`},"\u0077":{`+good+`}}`, eight), `duplicate key "w"`},
		"duplicate in tensor": {tensor(good + `,"dtype":"F64"`), `duplicate key "dtype"`},
		"duplicate metadata":  {assemble(`{"__metadata__":{"k":"1","k":"2"}}`, nil), `duplicate key "k"`},
		"metadata twice":      {assemble(`{"__metadata__":{},"__metadata__":{}}`, nil), `duplicate key "__metadata__"`},
		"metadata number":     {assemble(`{"__metadata__":{"k":1}}`, nil), `metadata "k": header byte 21: '"' is expected, not '1'`},
		"metadata list":       {assemble(`{"__metadata__":["k"]}`, nil), `'{' is expected, not '['`},
		"metadata null":       {assemble(`{"__metadata__":null}`, nil), `'{' is expected, not 'n'`},
		"empty name":          {assemble(`{"":{`+good+`}}`, eight), "a tensor has an empty name"},
		"empty key":           {assemble(`{"__metadata__":{"":"x"}}`, nil), "a metadata entry has an empty name"},
		"long name":           {assemble(`{"`+long+`":{`+good+`}}`, eight), "4097 bytes: at most 4096"},
		"long key":            {assemble(`{"__metadata__":{"`+long+`":""}}`, nil), "4097 bytes: at most 4096"},

		"tensor number":     {assemble(`{"w":1}`, nil), `tensor "w": header byte 5: '{' is expected, not '1'`},
		"no dtype":          {tensor(`"shape":[1],"data_offsets":[0,8]`), `tensor "w": dtype is missing`},
		"no shape":          {tensor(`"dtype":"F64","data_offsets":[0,8]`), `tensor "w": shape is missing`},
		"no offsets":        {tensor(`"dtype":"F64","shape":[1]`), `tensor "w": data_offsets is missing`},
		"unknown key":       {tensor(good + `,"stride":[1]`), `tensor "w": unknown key "stride"`},
		"unknown dtype":     {tensor(`"dtype":"BF16","shape":[4],"data_offsets":[0,8]`), `tensor "w": unknown dtype "BF16"`},
		"lower-case dtype":  {tensor(`"dtype":"f64","shape":[1],"data_offsets":[0,8]`), `unknown dtype "f64"`},
		"negative":          {tensor(`"dtype":"F64","shape":[-1],"data_offsets":[0,8]`), "a non-negative integer is expected"},
		"fraction":          {tensor(`"dtype":"F64","shape":[1.0],"data_offsets":[0,8]`), "',' is expected, not '.'"},
		"exponent":          {tensor(`"dtype":"F64","shape":[1e0],"data_offsets":[0,8]`), "',' is expected, not 'e'"},
		"leading zero":      {tensor(`"dtype":"F64","shape":[01],"data_offsets":[0,8]`), "a number starts with 0"},
		"number overflow":   {tensor(`"dtype":"F64","shape":[9223372036854775808],"data_offsets":[0,8]`), "the number overflows"},
		"number is text":    {tensor(`"dtype":"F64","shape":["1"],"data_offsets":[0,8]`), "a non-negative integer is expected"},
		"shape is number":   {tensor(`"dtype":"F64","shape":1,"data_offsets":[0,8]`), "'[' is expected, not '1'"},
		"shape nested":      {tensor(`"dtype":"F64","shape":[[1]],"data_offsets":[0,8]`), "a non-negative integer is expected"},
		"many dimensions":   {tensor(`"dtype":"F64","shape":[` + strings.Repeat("1,", 32) + `1],"data_offsets":[0,8]`), "more than 32 numbers"},
		"size wraps to 8":   {tensor(`"dtype":"F64","shape":[4294967296,4294967296,1],"data_offsets":[0,8]`), "overflows"},
		"size wraps to 0":   {tensor(`"dtype":"F64","shape":[2305843009213693952],"data_offsets":[0,0]`), "overflows"},
		"overflow and zero": {tensor(`"dtype":"U8","shape":[4611686018427387904,4,0],"data_offsets":[0,0]`), "overflows"},
		"one offset":        {tensor(`"dtype":"F64","shape":[1],"data_offsets":[8]`), "data_offsets has 1 numbers instead of 2"},
		"three offsets":     {tensor(`"dtype":"F64","shape":[1],"data_offsets":[0,8,8]`), "more than 2 numbers"},
		"backwards":         {tensor(`"dtype":"F64","shape":[1],"data_offsets":[8,0]`), "run backwards"},
		"wrong size":        {tensor(`"dtype":"F64","shape":[2],"data_offsets":[0,8]`), `shape [2] of F64 is 16 bytes, data_offsets [0,8] span 8`},
		"empty but spans":   {tensor(`"dtype":"F64","shape":[0],"data_offsets":[0,8]`), `is 0 bytes, data_offsets [0,8] span 8`},

		"outside":     {tensor(`"dtype":"F64","shape":[2],"data_offsets":[0,16]`), "truncated: the header describes 16 bytes of data, the file has 8"},
		"far outside": {tensor(`"dtype":"U8","shape":[9223372036854775807],"data_offsets":[0,9223372036854775807]`), "truncated"},
		"gap first":   {tensor(`"dtype":"F32","shape":[1],"data_offsets":[4,8]`), `4 bytes before tensor "w" belong to no tensor`},
		"gap last":    {tensor(`"dtype":"F32","shape":[1],"data_offsets":[0,4]`), "4 bytes after the last tensor belong to no tensor"},
		"same place":  {two("[0,4]", "[0,4]"), `overlaps the one before it by 4 bytes`},
		"overlap":     {two("[0,4]", "[3,7]"), `tensor "b" overlaps the one before it by 1 bytes`},
		"gap between": {two("[0,4]", "[5,9]"), `1 bytes before tensor "b" belong to no tensor`},
		"unused data": {assemble("{}", eight), "8 bytes after the last tensor belong to no tensor"},
		"empty inside": {assemble(`{"a":{"dtype":"F64","shape":[1],"data_offsets":[0,8]},"e":{"dtype":"U8","shape":[0],"data_offsets":[3,3]}}`, eight),
			`tensor "e" overlaps`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := open(c.file)
			if err == nil || !strings.HasPrefix(err.Error(), "safetensors: ") || !strings.Contains(err.Error(), c.message) {
				t.Errorf("error is  %v\nit lacks %s", err, c.message)
			}
		})
	}
}

func TestTooManyEntries(t *testing.T) {
	var tensors, metadata strings.Builder
	for i := range maxEntries + 1 {
		if i > 0 {
			tensors.WriteByte(',')
			metadata.WriteByte(',')
		}
		fmt.Fprintf(&tensors, `"%d":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}`, i)
		fmt.Fprintf(&metadata, `"%d":""`, i)
	}
	for _, header := range []string{"{" + tensors.String() + "}", `{"__metadata__":{` + metadata.String() + "}}"} {
		if _, err := open(assemble(header, nil)); err == nil || !strings.Contains(err.Error(), "more than 100000") {
			t.Errorf("error is %v", err)
		}
	}
}
