package safetensors

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"
)

// checkAccepted is what must hold of any file that opens: encoding/json, an
// independent parser, reads the same header; tensors can be read; and writing
// the content again gives a file with the same content that verifies.
func checkAccepted(t *testing.T, file []byte, r *Reader) {
	t.Helper()
	var twin map[string]json.RawMessage
	if err := json.Unmarshal(file[prefixBytes:r.start], &twin); err != nil {
		t.Fatalf("accepted a header that encoding/json refuses: %v", err)
	}
	metadata := map[string]string{}
	if raw, found := twin[metadataKey]; found {
		if err := json.Unmarshal(raw, &metadata); err != nil {
			t.Fatalf("metadata: %v", err)
		}
		delete(twin, metadataKey)
	}
	own := r.Metadata()
	if len(own) != len(metadata) || len(r.Tensors()) != len(twin) {
		t.Fatalf("%d metadata entries and %d tensors, encoding/json has %d and %d", len(own), len(r.Tensors()), len(metadata), len(twin))
	}
	for key, value := range metadata {
		if own[key] != value {
			t.Fatalf("metadata %q is %q, encoding/json has %q", key, own[key], value)
		}
	}
	var total int64
	var tensors []Tensor
	for _, info := range r.Tensors() {
		var entry struct {
			DType   DType   `json:"dtype"`
			Shape   []int   `json:"shape"`
			Offsets []int64 `json:"data_offsets"`
		}
		if err := json.Unmarshal(twin[info.Name], &entry); err != nil {
			t.Fatalf("tensor %q: %v", info.Name, err)
		}
		if entry.DType != info.DType || entry.Offsets[0] != info.begin || entry.Offsets[1] != info.end || shapeText(entry.Shape) != shapeText(info.Shape) {
			t.Fatalf("tensor %q is %v, encoding/json has %v", info.Name, info, entry)
		}
		total += info.Bytes()
		tensors = append(tensors, Tensor{Name: info.Name, DType: info.DType, Shape: info.Shape, Data: func(w io.Writer) error {
			_, err := io.Copy(w, r.section(info))
			return err
		}})
	}
	if r.start+total != int64(len(file)) {
		t.Fatalf("header and tensors have %d bytes, the file %d", r.start+total, len(file))
	}
	r.Verify() // any answer, but no panic

	before := content(t, r)
	stored, hadDigest := own[DigestKey]
	delete(own, DigestKey)
	var out bytes.Buffer
	if err := Write(&out, own, tensors); err != nil {
		t.Fatalf("cannot write what was read: %v", err)
	}
	again, err := open(out.Bytes())
	if err != nil {
		t.Fatalf("cannot read what was written: %v", err)
	}
	if err := again.Verify(); err != nil {
		t.Fatal(err)
	}
	if hadDigest {
		again.header.metadata[DigestKey] = stored
	} else {
		delete(again.header.metadata, DigestKey)
	}
	if after := content(t, again); after != before {
		t.Fatalf("content changed from\n%s\nto\n%s", before, after)
	}
}

func FuzzFile(f *testing.F) {
	metadata, tensors := sample()
	file := mustWrite(f, metadata, tensors...)
	f.Add(file)
	f.Add(file[:len(file)-1])
	f.Add(assemble("{}", nil))
	f.Add(assemble(`{"w":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}}  `, make([]byte, 8)))
	f.Fuzz(func(t *testing.T, file []byte) {
		if r, err := open(file); err == nil {
			checkAccepted(t, file, r)
		}
	})
}

// FuzzHeader spends no effort on the length prefix.
func FuzzHeader(f *testing.F) {
	f.Add(`{}`, uint16(0))
	f.Add(`{"__metadata__":{"k":"\ud83d\ude00\n"}, "a":{"dtype":"U8","shape":[2,4],"data_offsets":[0,8]}} `, uint16(8))
	f.Add(`{"a":{"dtype":"F32","shape":[],"data_offsets":[4,8]},"b":{"data_offsets":[0,4],"shape":[1,1],"dtype":"I32"}}`, uint16(8))
	f.Add(`{"a":{"dtype":"I64","shape":[3,0],"data_offsets":[0,0]}}`, uint16(0))
	f.Fuzz(func(t *testing.T, header string, dataBytes uint16) {
		file := assemble(header, make([]byte, dataBytes))
		if r, err := open(file); err == nil {
			checkAccepted(t, file, r)
		}
	})
}

// FuzzText: any metadata that is accepted comes back.
func FuzzText(f *testing.F) {
	f.Add("key", "value \x00\x1f\"\\\u2028😀")
	f.Fuzz(func(t *testing.T, key, value string) {
		var out bytes.Buffer
		if err := Write(&out, map[string]string{key: value}, nil); err != nil {
			return
		}
		r := mustOpen(t, out.Bytes())
		if got, found := r.Metadata()[key]; !found || got != value {
			t.Errorf("%q came back as %q", value, got)
		}
		checkAccepted(t, out.Bytes(), r)
	})
}
