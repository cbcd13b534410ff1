// Package prior holds the distributions p(w) over weights.
//
// The struct is the distribution and its zero value is the default: a parameter
// left out is learned, a stated one is held, and a param.Guess is where
// learning starts. String gives the text form, which parses back to the same
// prior. [All] is the table of priors, to a copy of which a program adds its own. Engines narrow a prior to the
// concrete ones they can use.
package prior
