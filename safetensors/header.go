package safetensors

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	prefixBytes = 8 // the header length

	// maxHeader is the limit that the format itself sets against headers made
	// to exhaust memory.
	maxHeader = 100_000_000

	// The limits below are ours: generous for models, small against attacks.
	maxEntries = 100_000
	maxName    = 4096
	maxRank    = 32

	metadataKey = "__metadata__"

	// DigestKey is the metadata entry that holds the digest of the content. Write
	// sets it; callers may not.
	DigestKey = "sha256"
)

// Info describes a stored tensor.
type Info struct {
	Name  string
	DType DType
	Shape []int // row-major; empty for a single number

	begin, end int64 // relative to the start of the data
}

// Len returns the number of elements.
func (t Info) Len() int {
	if t.DType.Size() == 0 {
		return 0 // the zero Info, of a tensor that was not found
	}
	return int(t.end-t.begin) / t.DType.Size()
}

// Bytes returns the number of bytes stored.
func (t Info) Bytes() int64 { return t.end - t.begin }

// A header is what a file says about its data. tensors are sorted by name.
type header struct {
	metadata map[string]string
	tensors  []Info
}

// checkName refuses names and metadata keys outside the limits.
func checkName(kind, name string) error {
	switch {
	case name == "":
		return fmt.Errorf("a %s has an empty name", kind)
	case len(name) > maxName:
		return fmt.Errorf("the name of %s %q… has %d bytes: at most %d are allowed", kind, name[:32], len(name), maxName)
	case !utf8.ValidString(name):
		return fmt.Errorf("the name of %s %q is not UTF-8", kind, name)
	}
	return nil
}

// check verifies sizes against offsets and that the tensors tile dataBytes.
func (h *header) check(dataBytes int64) error {
	for _, t := range h.tensors {
		size, err := byteSize(t.DType, t.Shape)
		if err != nil {
			return fmt.Errorf("tensor %q: %w", t.Name, err)
		}
		if t.end < t.begin {
			return fmt.Errorf("tensor %q: data_offsets [%d,%d] run backwards", t.Name, t.begin, t.end)
		}
		if t.end-t.begin != size {
			return fmt.Errorf("tensor %q: shape %v of %s is %d bytes, data_offsets [%d,%d] span %d", t.Name, t.Shape, t.DType, size, t.begin, t.end, t.end-t.begin)
		}
	}
	byPlace := slices.Clone(h.tensors)
	sort.SliceStable(byPlace, func(i, j int) bool {
		a, b := &byPlace[i], &byPlace[j]
		// An empty tensor stands before the one that starts there.
		return a.begin < b.begin || a.begin == b.begin && a.end < b.end
	})
	var filled int64
	for _, t := range byPlace {
		switch {
		case t.begin > filled:
			return fmt.Errorf("%d bytes before tensor %q belong to no tensor", t.begin-filled, t.Name)
		case t.begin < filled:
			return fmt.Errorf("tensor %q overlaps the one before it by %d bytes", t.Name, filled-t.begin)
		}
		filled = t.end
	}
	switch {
	case filled > dataBytes:
		return fmt.Errorf("truncated: the header describes %d bytes of data, the file has %d", filled, dataBytes)
	case filled < dataBytes:
		return fmt.Errorf("%d bytes after the last tensor belong to no tensor", dataBytes-filled)
	}
	return nil
}

// layOut sorts the tensors by name and gives each its place, and returns their
// indices in the order of the data: decreasing element size, then name. Sizes
// divide each other, so every tensor starts at a multiple of its element size.
func (h *header) layOut() ([]int, error) {
	h.sort()
	order := make([]int, len(h.tensors))
	for i := range order {
		order[i] = i
		if i > 0 && h.tensors[i].Name == h.tensors[i-1].Name {
			return nil, fmt.Errorf("two tensors are named %q", h.tensors[i].Name)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return h.tensors[b].DType.Size() - h.tensors[a].DType.Size()
	})
	var filled int64
	for _, i := range order {
		t := &h.tensors[i]
		size, err := byteSize(t.DType, t.Shape)
		if err != nil {
			return nil, fmt.Errorf("tensor %q: %w", t.Name, err)
		}
		t.begin, t.end = filled, filled+size
		if t.end < t.begin {
			return nil, fmt.Errorf("tensor %q: the data is larger than a file can be", t.Name)
		}
		filled = t.end
	}
	return order, nil
}

// encode returns the first bytes of the file, up to the data.
func (h *header) encode() ([]byte, error) {
	out := make([]byte, prefixBytes)
	out = append(out, '{')
	out = appendString(out, metadataKey)
	out = append(out, ":{"...)
	for i, key := range sortedKeys(h.metadata) {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendString(out, key)
		out = append(out, ':')
		out = appendString(out, h.metadata[key])
	}
	out = append(out, '}')
	for _, t := range h.tensors {
		out = append(out, ',')
		out = appendString(out, t.Name)
		out = append(out, `:{"dtype":`...)
		out = appendString(out, string(t.DType))
		out = append(out, `,"shape":`...)
		out = append(out, shapeText(t.Shape)...)
		out = append(out, `,"data_offsets":[`...)
		out = strconv.AppendInt(out, t.begin, 10)
		out = append(out, ',')
		out = strconv.AppendInt(out, t.end, 10)
		out = append(out, "]}"...)
	}
	out = append(out, '}')
	for len(out)%8 != 0 { // so that the data is aligned
		out = append(out, ' ')
	}
	length := len(out) - prefixBytes
	if length > maxHeader {
		return nil, fmt.Errorf("the header has %d bytes, the format allows %d: store large texts as U8 tensors", length, maxHeader)
	}
	binary.LittleEndian.PutUint64(out, uint64(length))
	return out, nil
}

// sort puts tensors in the order of their names. Package sort has its code once for all types, package slices once for
// each: every program that scores holds this.
func (h *header) sort() {
	sort.Slice(h.tensors, func(i, j int) bool { return h.tensors[i].Name < h.tensors[j].Name })
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

// shapeText returns a shape as in the header: [2,3].
func shapeText(shape []int) string { return strings.ReplaceAll(fmt.Sprint(shape), " ", ",") }

// appendString appends s, which is UTF-8, as a JSON string. It escapes only what
// JSON demands, so the bytes do not depend on the version of a JSON library.
func appendString(out []byte, s string) []byte {
	const hex = "0123456789abcdef"
	out = append(out, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			out = append(out, '\\', c)
		case c < 0x20:
			out = append(out, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			out = append(out, c)
		}
	}
	return append(out, '"')
}
