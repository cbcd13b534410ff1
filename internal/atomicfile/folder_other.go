//go:build !unix

package atomicfile

// syncFolder does nothing: folders cannot be opened for flushing here.
func syncFolder(string) error { return nil }

// guarded reports whether this process may write in the folder of a file and yet not replace the file; elsewhere
// than on Unix no folder has such a rule.
func guarded(path string) bool { return false }
