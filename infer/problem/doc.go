// Package problem is what every engine stands on: rows and the roles that they fill, the scales of priors, and the way
// back to the target's own units. An engine of a program's own stands on it too; see the example of [Held].
//
// # Where rows come from
//
// [Open] takes data and the roles that an engine takes. A role is a column beside inputs and target: an offset, a
// weight, trials, a precision. Open returns an error where the data fill a role that the engine does not take or the
// family has no place for, so that none is overlooked. Reading ends with an error at a row that no fit can use, by its
// number in the data.
//
//	Open → Rows                blocks of credence.BlockRows rows, for engines that need only sums over rows
//	       ├ Sample            other Rows: an evenly spread part of them
//	       ├ Keep              the same Rows, in memory from now on if they fit
//	       └ Held              all rows with their features Φ and their Sums, for engines with a matrix over rows
//	         └ ByColumn        Φ by columns, less their means, times √(w·p/p̄), for engines that choose columns, p̄ the mean precision
//
// A weight w means w equal rows, and need not be whole; gibbs alone refuses those of classes that are not, for each
// copy of a row has a variable of its own there. A precision p divides the variance of the noise: a row of precision
// 4 is the mean of four rows. In the log likelihood, and in means of columns and targets, squares count w·p times;
// the log of the variance counts w times.
//
// # Where units go
//
// [Sums] over the rows say how large columns and targets are. [Sums.Scales] alone decides the units of priors: s of the
// targets, c of every group of weights, the noise, and the intercept, which stands at the means of the columns. Columns
// are never divided: c is in the prior. [Units.Targets] divides the targets of Held rows by s; exact, which reads
// blocks, divides by a power of two, and svi computes in the target's units. [Units] take means, draws, variances,
// covariances and their factors back to the target's own units, the evidence by Jacobian, and the intercept from the
// means of the columns to zero. No other code does.
//
// # Who owns the state
//
// Rows own the block that [Rows.Block] returns: the next call overwrites it, unless blocks are kept. [Rows.Read] fills
// a batch of the caller's, so that threads may read different blocks at once. Held and Columns belong to the engine
// that asked for them: it may centre the design in place. ByColumn moves the design out of Held, since memory has no
// place for two copies. Sums, Scales and Units are values. The engine owns what it learns, the factors of its matrices
// and how far the fit has come.
package problem

// Limits of what an option of an engine may ask for: repeats and draws are allocated before the first step, and more
// passes would not end.
const (
	MostRepeats = 1000    // starts of a fit, and draws of its features
	MostDraws   = 100_000 // of the weights
	MostPasses  = 1_000_000
)
