// Package glmdata is the data of the benchmark of generalised linear models: tables
// from files, parts of them by row, and the generated rows on which another program
// was measured.
//
// Those rows were made with the generator of NumPy, which Stream repeats draw for
// draw: the sequence of seeds, PCG64, and the ziggurat, so that both programs are
// fitted to the same numbers without a file of them.
package glmdata
