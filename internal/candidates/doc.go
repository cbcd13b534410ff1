// Package candidates holds the rows and columns of a selection problem in memory: n rows, d columns
// of which each may be in the model or out of it, as the engines for spike-and-slab priors need them.
//
// Columns stand one after the other, so that all of them are gone through with a vector of the rows.
// Dense columns are kept centred at their weighted means; sparse ones as they are, with their means
// beside them, and never as dense ones. A row of weight v is multiplied by √v, column and target
// alike, so that sums of squares count it v times. The intercept is a column of ones, and stands at
// the other columns' means.
//
// Memory: n·d numbers for dense columns, twelve bytes for an entry of a sparse one.
package candidates
