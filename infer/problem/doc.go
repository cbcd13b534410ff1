// Package problem is what every engine stands on: rows and the roles that they fill, the scales of priors, and the way
// back to the target's own units. An engine of a program's own stands on it too; see the example of [Held].
//
// # Where rows come from
//
// [Open] takes data and the roles that an engine takes. A role is a column beside inputs and target: an offset, a weight, trials,
// a precision. A role that the engine does not take, or that the family has no place for, is refused, so that none is
// overlooked. Rows that no fit can use are refused by their number in the data.
//
//	Open ─ Sample ─ Keep ─ Block     blocks of credence.BlockRows rows, one after the other: engines that add up
//	  └─── Held                      all rows, their features Φ and their Sums in memory: engines of n×n numbers
//	         └─ ByColumn             Φ by columns, centred, times √(w·p): engines that choose columns
//
// A weight w counts equal rows. A precision p divides the noise: a row of precision 4 is the mean of four rows, so that
// squares of residuals count w·p times, and the log of the noise's variance w times.
//
// # Where units go
//
// [Sums] over the rows say how large columns and targets are; [Sums.Scales] is the only code for what priors are
// in units of: s of the targets, c of every group of weights, the noise, and the intercept, which stands at the means of the columns.
// An engine computes in units in which s is 1, or in its own. [Units] take means, draws, variances, covariances and their
// factors from units to the target's own, and the intercept from the columns' means to zero: nobody else does.
//
// # Who owns the state
//
// Rows own what they read: a block is valid until the next is asked for, or for good where blocks are kept. Several threads
// may [Rows.Read] different blocks, each into a batch of its own. Held and Columns belong to the engine that asked for
// them: it may centre the design in place, and ByColumn takes the design away, since two of them would not fit. Sums, Scales and
// Units are values. What is learned, and where a fit stands, is the engine's.
package problem
