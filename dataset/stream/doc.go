// Package stream turns text into sparse rows at the speed of the disk: libsvm,
// Vowpal Wabbit and CSV text, plain or compressed, from files and pipes.
//
// # Rows
//
// A row is a label, a weight, an offset, and entries (key, value). A key is a
// 64-bit number: the index of a libsvm feature, or a hash of namespace or column
// and token ([Hash]). An [Index] numbers the keys in order of appearance; the
// number, a slot, is where a learner keeps the feature, so that its memory grows
// with the features seen and not with the range of the keys.
//
// A [Reader] reads, decompresses, parses and looks up features on a goroutine of
// its own and hands over batches of rows ([Batch]) that are recycled: after the
// first few nothing is allocated. A [Position] names a place between two rows, at
// which reading can be taken up again.
//
// # Cost and limits
//
// About 10 ns an entry for libsvm text. Rows are at most [MaxRow] bytes, so that
// hostile text costs bounded memory; the index grows by what its features need.
package stream
