//go:build !unix

package atomicfile

// Protected reports whether this process may write in the folder of a file and yet not replace the file; elsewhere
// than on Unix no folder has such a rule.
func Protected(path string) bool { return false }
