// Package special holds the scalar functions that likelihoods, sites and
// bounds share, each in a form that survives large arguments.
//
// Every function is pure, allocates nothing and costs a few tens of
// nanoseconds. Unless a comment says otherwise the relative error is below
// 1e-13 over the whole line, tails included, and the limits at ±Inf are
// returned rather than NaN. What the standard library or gonum's mathext
// already computes well (erfc, log-gamma, incomplete gamma and beta) is used,
// not repeated.
package special
