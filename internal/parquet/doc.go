// Package parquet reads and writes tables in files of Apache Parquet (https://github.com/apache/parquet-format):
// columns that hold at most one value a row. It walks the footer, the row groups, the pages and their runs. Thrift,
// split bytes and packed bits are decoded by those packages of github.com/parquet-go that do only that; parquet-go's
// root package would bring an HTTP server, protocol buffers and geometry into every program, a third of the time that
// the program takes to build.
//
// Files are hostile input, and nothing is taken on their word. A walk over the footer and over every header comes
// before they are decoded ([structure]); pages are at most 64 MB and unpacked as they come; runs, differences and texts
// are decoded in pieces of 4,096 values; a dictionary has the entries that are there; what row groups hold that are
// read side by side is kept within a [Budget]. A decoder that panics on a damaged page gives an error.
package parquet
