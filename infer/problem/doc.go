// Package problem is what every engine stands on: the rows of a fit, the roles that they fill, and the blocks of
// weights that share a prior variance.
//
// Where rows come from: [Open] takes the data of a fit and the roles that an engine takes, and refuses the others, so
// that a weight, an offset, trials or a precision is taken or refused and never overlooked. [Rows.Block] reads blocks of
// credence.BlockRows rows, all of them or those of an evenly spread [Rows.Sample], [Rows.Keep] keeps them in
// memory, and rows that no fit can use are refused by their number in the data.
//
// Who owns the state: Rows own what they read, and a block is valid until the next is asked for. Several threads may
// [Rows.Read] different blocks, each into a batch of its own. Groups and hyper-parameters are values.
package problem
