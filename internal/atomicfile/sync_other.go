//go:build !unix

package atomicfile

// syncFolder does nothing: folders cannot be opened for flushing here.
func syncFolder(string) error { return nil }
