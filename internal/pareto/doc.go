// Package pareto judges importance weights by the shape of their tail.
//
// Weights r = p(w)/q(w) of draws from an approximation q have a tail that a
// generalised Pareto distribution fits; its shape k tells how many moments they
// have, and so how far q can be trusted (Vehtari, Simpson, Gelman, Yao & Gabry 2024,
// Pareto smoothed importance sampling; Yao, Vehtari, Simpson & Gelman 2018 for
// variational posteriors). Below 0.5 the weights have a variance; above 0.7 no practical
// number of draws corrects q.
//
// S weights cost a sort and O(S^1.5).
package pareto
