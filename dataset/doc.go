// Package dataset turns files and streams into tables of numbers: delimited text
// (CSV, TSV), libsvm text and Parquet, plain or compressed with gzip or zstd.
//
//	table, err := dataset.Open(ctx, []string{"train.csv.gz"}, dataset.Options{})
//	source, err := table.Load(ctx, []string{"price", "rooms", "city"})
//
// [Open] learns the columns and infers their kinds from the first rows; nothing
// has to be converted or described beforehand. [Table.Load] reads the rows with
// the columns that are asked for into memory, or into a row cache when they are
// many, and returns a [credence.Source]. [Table.Each] reads them once, without
// keeping them. [Table.Fields] reads the texts of a few columns as they are written,
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
// knows. Texts of [text.StandardMissing] and empty fields are missing, stored as NaN.
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
// Dates, decimals and lists of Parquet are refused; so are Arrow files.
// Integers beyond 2^53 lose their last digits as float64: declare identifiers
// as categories or leave them out; Fields gives them as they are.
package dataset
