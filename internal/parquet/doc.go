// Package parquet reads and writes tables in files of Apache Parquet (https://github.com/apache/parquet-format): columns
// that hold at most one value a row. It walks the footer, the row groups and the pages. What stands in pages is decoded by
// those packages of github.com/parquet-go/parquet-go that do only that (format, encoding); its root package would bring
// an HTTP server, protocol buffers and geometry into every program, a third of the time that the program takes to build.
//
// Files are hostile input. Sizes and counts that a file states are compared with what it holds before memory is taken for
// them, and a decoder that panics on a damaged page gives an error.
package parquet
