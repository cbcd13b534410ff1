// Package penalised fits linear and logistic models under a penalty, the strength of which is
// cross-validated: the lasso, the elastic net, ridge regression and the capped lasso. They give one
// set of weights and no posterior, and stand beside the engines that do:
//
//	loss(b)/W + λ Σ_j (α|b_j| + ½(1−α)b_j²/s)      or      loss(b)/W + λ Σ_j min(|b_j|, θ_j)
//
// The penalty is that of columns as they enter the fit, in the target's own units; s is the standard deviation of a
// normal target less its offset, so that λ has the target's unit under every α, as in glmnet, and 1 for classes. The
// density of a normal target is N(xᵀb, σ²), where σ² is the mean square that cross-validation left at the λ chosen: the
// spread of new rows about the fit, the error of the weights included. The capped lasso (Zhang 2010) has a penalty that
// ends at θ_j, which leaves large weights alone; what is found is a local minimum along the path.
package penalised
