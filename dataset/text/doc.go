// Package text parses delimited text (CSV, TSV), libsvm and Vowpal Wabbit text into
// [table.Rows] on every core, with bounded memory and in the order of the file.
//
// A [Splitter] cuts a stream into blocks of whole rows; [CSV], [LibSVM] or [VW]
// turns each block into rows independently of all others, with no allocation per field;
// [Ordered] runs the two on several goroutines and hands the blocks back in file
// order, so that results and the first error are the same at any number of
// threads.
//
// # Delimited text
//
// A field that begins with a double quote (spaces before it are allowed) ends at
// the next quote that is not doubled, and may hold delimiters and line breaks. A
// quote elsewhere in a field is an ordinary character. Unquoted fields lose
// leading and trailing spaces. Lines end in LF or CR LF; empty lines are no
// rows. A row with another number of fields than the header is refused.
//
// A malformed row leaves nothing behind but its fault, which says what is wrong where;
// the rows after it are read.
//
// # Cost and limits
//
// Blocks are [BlockBytes] of text, about two of them in flight for each thread;
// a row longer than [MaxRow] and a category value longer than 64 KB are
// refused. Category values are numbered within their block; the consumer, which
// sees the blocks in order, gives them their final codes.
package text
