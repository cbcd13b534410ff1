// Package rowcache keeps the rows of a table in one file of fixed-width numbers,
// so that passes after the first neither parse text nor hold the rows in memory.
//
// A file is a header, blocks of rows, and a footer with an index of the blocks
// and a text of the caller's own:
//
//	"CRDROWS\x01"
//	block …       rows×width float64; then for sparse rows: rows uint32 counts,
//	              int32 column indices, and float64 values unless all are 1
//	footer        the caller's text, one index entry of 32 bytes for each block
//	trailer       64 bytes: sizes, checksums of footer and trailer, "CRDROWS\x01"
//
// All numbers are little-endian. Blocks, footer and trailer carry CRC-32C sums.
// Blocks are read by pread into the caller's memory: nothing is mapped, and
// resident memory is the one block.
//
// A [Store] is a folder of such files, named by a hash of their key. Files
// appear under their name complete or not at all, so that processes may share a
// folder; the last of two writers of one key wins. Those used least recently are
// deleted to keep within a limit. A file that is damaged in any way is an
// [ErrDamaged], never a wrong row or a panic: its maker writes it again.
// The sums guard against accidents, not against someone who may write to the
// folder, who owns the account.
package rowcache
