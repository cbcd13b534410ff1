// Package lbfgs minimises smooth functions inside a box by a projected
// limited-memory BFGS method.
//
// It is for objectives that are dear: value and gradient always come from one
// call, a step that the curvature model proposes is tried as it is, and the stopping rule
// watches the decrease of the objective and not the gradient, because
// the objectives it serves have long flat ridges (lengthscales of irrelevant
// inputs) along which the gradient dwindles slowly and nothing is gained.
//
// The direction is the two-loop recursion (Nocedal & Wright 2006, algorithm 7.4)
// over the free variables, those that are not held at a bound by their
// gradient (Bertsekas 1982); the line search is a bracketing search for the weak
// Wolfe conditions along the projected path. Per iteration it does O(memory·n)
// work beside the calls. It keeps no state between calls and uses no randomness.
package lbfgs
