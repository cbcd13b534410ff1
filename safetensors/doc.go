// Package safetensors reads and writes the safetensors layout, the container of
// model files: named tensors and a map of strings, no code.
//
// # Layout
//
//	8 bytes    N, the length of the header, little-endian
//	N bytes    header: a JSON object in UTF-8 that starts with '{' and may end in spaces
//	the rest   data: the tensors, little-endian, row-major
//
// The header maps each tensor name to its type, shape and place in the data, and
// the key __metadata__ to an object of strings:
//
//	{"__metadata__":{"k":"v"},"w":{"dtype":"F64","shape":[2,3],"data_offsets":[0,48]}}
//
// The tensors tile the data: no gap, no overlap, nothing after the last. The
// format is the one described at https://github.com/huggingface/safetensors;
// this package knows the element types F64, F32, I64, I32 and U8.
//
// # Writing
//
// Write is a function of its arguments: keys are sorted, the header is padded
// with spaces to a multiple of 8, and tensors lie in order of decreasing element
// size, then of name, so that every element is aligned for readers that map the
// file into memory. Tensors are produced on demand and never held: twice, because
// their hashes stand in front of them, or once where the writer can replace what it
// wrote first.
//
// # Digest
//
// The metadata entry "sha256" is a digest of the content, independent of how the
// header is spelled, so it outlives a rewrite by another program that keeps the
// metadata. It is the SHA-256, in lower-case hexadecimal, of these lines, where
// H is SHA-256 in the same form:
//
//	metadata H(key) H(value)                one per entry but this one, by key
//	tensor H(name) DTYPE [2,3] H(bytes)     one per tensor, by name
//
// each ended by a newline, keys and names sorted by their bytes. It guards
// against damage, not against an adversary, who can compute it too.
//
// # Reading
//
// A file is hostile until checked. NewReader reads the header alone and refuses
// whatever is not exactly the layout above: lengths that do not fit the file,
// JSON that strict parsers refuse (duplicate keys, numbers that are not plain
// non-negative integers, unpaired surrogates), unknown keys and types, shapes
// whose size overflows or differs from the offsets. Memory before a tensor is
// asked for is a small multiple of the header, and a tensor is never larger than
// the file. Values are not judged: NaN and infinities pass. Verify reads
// everything once and compares the digest.
//
// Limits: headers of 100 MB (the format's own), 100,000 tensors and as many
// metadata entries, names and metadata keys of 1 to 4,096 bytes, 32 dimensions.
package safetensors
