// Package descent minimises a loss of rows under the elastic net's penalty, along a path over its
// strength, by coordinate descent (Friedman, Hastie & Tibshirani 2010):
//
//	loss(b)/W + λ Σ_j (α|b_j| + ½(1−α)b_j²)
//
// or, with a cap, the capped lasso's λ Σ_j min(|b_j|, θ_j), of which a local minimum is found. The
// loss is ½Σv(y−f)² of normal targets, and the logistic one of classes, with W = Σv over the rows in;
// the intercept is not penalised. Every point of the path starts from the one before, and only columns
// that the strong rule (Tibshirani et al. 2012) leaves are gone through. The rule may err: columns
// outside are checked against the conditions of a minimum, and come in where they fail them. Rows may
// be left out, for cross-validation on one set of columns. Sparse columns stay sparse.
package descent
