// Package svi fits Bayesian generalised linear models of any family by variational
// inference:
//
//	f = Φw + offset      y ~ p(y|f)^weight      w ~ N(0, Λ)
//
// with one prior variance for each block of weights, or one for each weight. Under a normal q(w) every
// f is normal in one dimension, so the expected log density of a row and its gradients are
// one-dimensional integrals that the likelihood answers. Prior variances, parameters of the likelihood
// and hyper-parameters of the features are learned with q, unless they are held. The intercept stands
// at the weighted means x̄ of the columns, random features aside: b0 + x̄ᵀw ~ N(m, (10 s)²). s is that
// of [likelihood.LatentScale], or of the targets less their offsets; m takes the family to the
// weighted mean of the targets. With Student's t these are the median and 1.4826 median absolute
// deviations. Cutpoints take the place of an intercept: b0 + x̄ᵀw is 0.
//
// # Algorithms
//
// Each algorithm is a package of its own; all stand on problem, which has the model and its rows.
//
//   - newton: full covariance, about ten passes over the rows, O(d²) memory. The program chooses it up
//     to problem.FullWeights weights.
//   - mixture: K diagonal components by L-BFGS on all rows, O(Kd) memory, or by stochastic steps, when
//     any option of minibatches is stated.
//   - tune: hyper-parameters of features on at most Config.PolishRows rows, by Newton steps; in
//     minibatches and beyond 4,000 weights they are variables of the mixture instead.
//
// With fewer rows than half the weights, a full covariance is that of as many weights as rows, in n²d operations and
// n·d numbers: what no row says keeps its prior. Hyper-parameters are then integrated over while rows are up to
// problem.FullWeights.
//
// Where more than 256 sparse columns go by the levels of categories, or some vary together by level (problem.Rest of
// infer), newton's matrices have the numbers of an arrow alone (package internal/arrow): levels are eliminated one
// after the other, columns that vary together through problem.Mixer, and limits on weights are about those beside the
// levels of the largest category. Rows are then not packed, sums over rows of a Gaussian family are made at every pass,
// and draws judge up to 20,000 weights.
//
// Otherwise none holds n×d: rows are streamed, and kept only up to 128 MB. Rows that are equal are one before there are
// features (problem.Merge of infer), and kept sparse rows are packed for newton: equal ones are one with their weight,
// and sorted ones share what is made of their first entries.
//
// Config.Approximation = Laplace gives the Laplace approximation in place of the bound: newton with
// every row expanded to second order about its mean, from where the bound has its optimum. Its log
// density of the hyper-parameters is Laplace's evidence, whose slopes know that the mode and the curvature
// there move with them.
//
// # Hyper-parameters
//
// Prior variances and parameters of the likelihood have the priors of [problem.Priors]. With a full
// covariance of up to problem.FullWeights weights the posterior is integrated over them by the axis sums of
// package hyper, with the bound for the evidence: 2p fits for the curvature and 4p for the axes of p
// hyper-parameters, one or two passes each where classes are not nearly separated: each starts from the normal
// likelihood that stands for the rows, moved to where it goes to first order. Without parameters of the likelihood, a
// fit so near the mode that the normal likelihood says it to within a hundredth of a standard deviation makes no pass.
// Parameters of the likelihood then are five members of equal weight, or one where their logarithms are known to 0.05,
// and Fitted.Family is the joint posterior of all of them with the weights, along the axes. Everything else is at the
// mode of bound and priors together; lengthscales always are.
//
// # What is reported
//
// Report.ELBO is the bound, integrated over the hyper-parameters (an estimate), or ELBOMode at their
// mode, with the true entropy of q: exact for one component, and estimated from
// draws, with its standard error, for several. Report.ELBOBound is what a mixture maximises, with the
// report's lower bound of the entropy; for K = 1 it is (d/2)(1 − log 2) lower. A normal q never has
// the evidence itself; package diagnose estimates what is missing, and says whether q can be relied on.
//
// # Limits
//
// Normal priors. A diagonal covariance makes weights of correlated features too certain, by half and
// more; the fit says by how much where d ≤ problem.FullWeights. Expectations of families that are not
// log-concave (Student-t) may have several optima; starts choose among them.
package svi
