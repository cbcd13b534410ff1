// Package online has the learners that spike-and-slab streaming is measured
// against, over the same batches of sparse rows: FTRL-proximal with an L1
// penalty (McMahan et al., "Ad click prediction: a view from the trenches", KDD
// 2013), adPredictor (Graepel, Candela, Borchert & Herbrich, ICML 2010) and
// logistic regression by AdaGrad (Duchi, Hazan & Singer, JMLR 2011).
//
// # Model
//
//	FTRL, SGD     P(y=1|x) = σ(xᵀw + b)
//	adPredictor   P(y=1|x) = Φ((xᵀw + b)/β),  w_j ~ N(0, v),  one Gaussian a feature
//
// Every learner scores a row before it learns from it. The bias is neither
// penalised nor shrunk.
//
// # Cost and limits
//
// O(entries), about 10 ns an entry; 16 bytes a feature seen. Options that are stated are
// held; a [Trial] finds out the learning rate, or the prior's variance, on the rows as they come: up to five
// learners on the first 4,096 rows, three up to 32,768, two up to 262,144, then one.
package online
