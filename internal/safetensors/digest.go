package safetensors

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// digest returns the digest of the content as the package comment defines it.
// hashes[i] is the SHA-256 of the bytes of h.tensors[i]; tensors are sorted by
// name. It hashes hashes, so that tensors may be read in any order.
func digest(h *header, hashes [][sha256.Size]byte) string {
	lines := sha256.New()
	for _, key := range sortedKeys(h.metadata) {
		if key != DigestKey {
			fmt.Fprintf(lines, "metadata %x %x\n", sha256.Sum256([]byte(key)), sha256.Sum256([]byte(h.metadata[key])))
		}
	}
	for i, t := range h.tensors {
		fmt.Fprintf(lines, "tensor %x %s %s %x\n", sha256.Sum256([]byte(t.Name)), t.DType, shapeText(t.Shape), hashes[i])
	}
	return hex.EncodeToString(lines.Sum(nil))
}
