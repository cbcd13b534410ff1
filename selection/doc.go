// Package selection is the answer to which features matter: the probability of each that its weight
// is not 0, which of them to call, and the sets of which one matters though the data do not tell
// which. It is plain data, stored in the model file; fit.Select makes it.
//
// # Which to call
//
// A feature is called where its inclusion probability is above a threshold, ½ unless stated: the median
// probability model, the best single set for prediction under squared error (Barbieri & Berger
// 2004). With a false discovery rate the largest set of features is called whose mean of 1 − inclusion, the
// expected share of false ones, is at most that (Müller, Parmigiani & Rice 2006).
//
// Models whose slab is so narrow that the rows cannot tell a weight of it from 0 count for nothing in this: under a
// flat prior of how many features matter, rows without any signal have half of the features in, at next to no weight.
//
// # Credible sets
//
// Features that are nearly copies of each other share one signal, and none of them may have a high
// inclusion. A credible set holds, with the stated probability, at least one feature with a weight
// that is not 0. Its purity is the least absolute correlation between two of its members.
package selection
