// Package candidates holds a selection problem in memory: the rows and columns of infer/problem, of which each column may be in
// the model or out of it, alone or with others, as the engines for spike-and-slab priors need them.
package candidates
