// Package frame turns table rows into model rows, and remembers how, so that
// prediction repeats exactly what training did.
//
// # Model
//
// A [Plan] says which expressions a formula needs: inputs, a target, offsets, a
// weight and trials. An expression ([Expr]) is one column under a chain of
// log, log1p, sqrt, exp, expm1, square, abs, sign, clip, center and scale, powers and comparisons. [Fit] reads the
// training table and fixes every statistic: what center and scale subtract and divide by, the centring and scaling of
// the inputs, the levels of categories, what fills a missing value, and which class of the target counts as 1. The
// result, a [Frame], is plain data that a model file stores; [Frame.Bind] applies it to a table, which may have its
// columns in any order and others besides.
//
// # Scaling
//
// A dense numeric input is centred by its mean and divided by its standard
// deviation (weighted, divisor Σw: a row of weight 2 counts as two rows). A
// constant input enters as it is, with centre 0 and scale 1, so that a column of
// ones is an intercept of the user's own. Booleans, categories, indicators and
// columns of a sparse segment, also under a transform, are never scaled; with
// [Options.Raw] nothing is. The target is never scaled.
//
// # Missing values
//
// Only columns that the plan names count. [Refuse] lists them all in one line.
// [Mean] puts the mean of the observed values, and for a category its most
// frequent level. [Indicator] does the same for numbers and adds an input
// "age_missing" for each column that had missing values in training; a category
// gets a level "(missing)" of its own. A column that was complete in training
// and is not in a later table is filled as under Mean. [Drop] leaves rows out,
// whichever of inputs, target, offset, weight or trials is missing, wherever the
// target is bound (training and evaluation); prediction answers row by row, so
// there a missing value is an error under Drop, or the row is marked
// ([Bound.MarkLacking]). Offset, weight, trials and
// target are never filled.
//
// # Levels
//
// The levels of a category are those that occur in the training rows, in the
// order of the training table. Another level is an error at prediction, or under
// [AtPrior] the code -1, whose weight has the prior alone. Sparse columns beyond those of
// training are left out and counted, never an error.
//
// # Classes
//
// As classes a target becomes 0 or 1: of 0/1 and ±1 the 1, of any other two
// numbers the larger, of booleans true, of two levels the alphabetically later
// counts as 1, unless [Options.Positive] names one, which then stands against all
// the rest. In mode [Automatic] a target is classes if it is boolean or a
// category, or has exactly the values 0 and 1, or -1 and 1; any other numbers are
// numbers.
//
// # Cost and limits
//
// Fit reads the table once, and once more for each nesting of center or scale. It holds one
// block of rows and the levels. Binding reads nothing, except under Drop, whose dropped rows it finds; reading bound
// rows costs a few nanoseconds per value. Sums run over blocks of [credence.BlockRows] rows in order, and over segments
// of [credence.SegmentRows] rows of a file, and over files, as trees, so results are the same on every machine and run.
// Duplicated inputs are found by a 64-bit hash of their values: equal up to the bit, not up to scale.
//
// # Files apart
//
// A [Census] is what Fit counts, for the rows of a table or of some of its files. The files of a
// table are counted apart, written as JSON, read and merged, one round for each nesting of center or scale and
// one for the rest; the frame is that of the whole table, byte for byte. Its Fingerprint tells sums
// that were formed under it from others.
package frame
