// Package dataset turns files and pipes into rows: delimited text (CSV, TSV), libsvm
// and Vowpal Wabbit text, and Parquet, plain or compressed with gzip or zstd.
//
//	table, err := dataset.Open(ctx, []string{"train.csv.gz"}, dataset.Options{})
//	source, err := table.Load(ctx, []string{"price", "rooms", "city"})
//
// [Open] learns the columns and infers their kinds from the first rows; nothing
// has to be converted or described beforehand. [Table.Load] reads the rows with
// the columns that are asked for into memory, or into a row cache when they are
// many, and returns a [credence.Source]. [Table.Rows] reads them once, without
// keeping them, in order and from any place on: what an online learner takes.
// [Table.Fields] reads the texts of a few columns as they are written,
// to be copied. With Options.Schema a file is read as the training data were:
// columns by name, kinds and category codes as in training. Of sparse entries beyond
// the columns of training the sum of squares in each row is kept.
//
// # Kinds
//
// A column is a number, a boolean (true/false, yes/no, t/f in any case, as 0 and
// 1; y/n and 1/0 as well where a column is declared to be one) or a category. 0/1 text
// is a number, and numbers written in another way, as 1,5 or 1,300 or $12, are a
// category with a note about it. A column that is mostly numbers is a
// number column, and a text in it is refused with its place when rows are read:
// it may mean missing, or the column may be a category, which only its owner
// knows. Empty fields and the texts NA, NaN, nan, NULL, null, None, <NA> and #N/A are
// missing, stored as NaN. A column without a value in the first 10,000 rows gets its
// kind from its first value. The texts of any column are a category of their own under
// the name of [credence.TextOf].
//
// # Sparse entries
//
// Indices of libsvm text are whole numbers below 2⁵³, from 0 or 1; a fit takes up to
// ten million columns. Where a row repeats indices or has them out of order they are
// summed and sorted. Vowpal Wabbit text has the columns label, weight (the importance),
// offset (the base) and tag, and a sparse column for every token of a namespace.
//
// # Parquet
//
// What a file says takes no memory: footers and pages are read to 64 MB, unpacked as they come, and what row groups
// hold that are read side by side is kept within 256 MB, or four times the bytes of a larger file. Beyond it row groups
// wait, and what one alone cannot hold is refused. Columns of lists, and decimals of more than 18 digits, are not read.
//
// # Pipes
//
// Standard input, named pipes and /dev/fd are read once. Unless Options.Once says that
// once is enough, their content is kept: in memory, beyond 64 MB in the cache folder
// and within its limit. Content that is no text is refused before it is kept.
//
// # Cost and limits
//
// Text is parsed on all cores and rows come out in file order; the content of a
// source and the first error never depend on the number of threads. Memory is
// bounded by a few blocks for each thread, the levels of categories, and up to
// 64 MB of text that are kept in memory; more goes to the row cache, from which
// rows are read in chunks of about 1 MB, one chunk ahead.
//
// Parquet goes through the row cache as text does, although it could be decoded
// again and again: a pass over the cache takes less than half the processor time
// (16 against 7 million rows of 20 numbers a second), and sorted levels need a
// first pass anyway.
//
// Arrow files are refused. Integers beyond 2^53 lose their last digits as float64:
// declare identifiers as categories or leave them out; Fields gives them as they are.
package dataset
