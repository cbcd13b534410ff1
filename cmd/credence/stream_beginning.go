package main

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
)

// beginning tells a file from another that has taken its place; the file may grow.
type beginning struct {
	Bytes  int    `json:"bytes"`
	Sha256 string `json:"sha256"`
}

// beginningBytes is how much of a file is looked at.
const beginningBytes = 1 << 16

// beginningOf looks at up to size bytes; nil where they cannot be read again.
func beginningOf(path string, size int) *beginning {
	info, err := os.Stat(path)
	if path == "-" || err != nil || !info.Mode().IsRegular() {
		return nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	hash := sha256.New()
	n, err := io.Copy(hash, io.LimitReader(file, int64(size)))
	if err != nil {
		return nil
	}
	return &beginning{int(n), hex.EncodeToString(hash.Sum(nil))}
}

// is says whether the file at path begins so, as far as can be told.
func (b *beginning) is(path string) bool {
	found := beginningOf(path, b.Bytes)
	return found == nil || *found == *b
}
