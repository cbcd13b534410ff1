// Package diagnose judges how far an approximate posterior q(w) can be relied on.
//
// Draws w from q have importance weights r = p(w, y)/q(w). A generalised Pareto distribution fits
// the tail of the weights. Its shape k tells how many moments the weights have, and so how far q is
// to be trusted (Vehtari, Simpson, Gelman, Yao & Gabry 2024, Pareto smoothed importance sampling;
// Yao, Vehtari, Simpson & Gelman 2018 for variational posteriors): below 0.5 the weights have a
// variance; above 0.7 no practical number of draws corrects q. The mean weight estimates the
// evidence.
//
// Cost: S draws of d weights take S·d numbers, S·n log densities over n rows, and O(S^1.5)
// operations for the tail.
package diagnose
