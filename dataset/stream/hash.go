package stream

import "github.com/credence-ml/credence/internal/keyhash"

// Hash returns the key of a text within a space.
func Hash(space uint64, text []byte) uint64 { return keyhash.Text(space, text) }

// Cross returns the key of the combination of two features, in this order.
func Cross(a, b uint64) uint64 { return keyhash.Cross(a, b) }

func shorten(key uint64, width int) uint64 { return keyhash.Shorten(key, width) }
