// Package svi fits Bayesian generalised linear models of any family by variational
// inference:
//
//	f = Φw + offset      y ~ p(y|f)^weight      w ~ N(0, Λ)
//
// with one prior variance for each block of weights, or one for each weight. Under
// a normal q(w) every f is normal in one dimension, so the expected log density of a
// row and its gradients are one-dimensional integrals that the likelihood answers
// (its ExpectedLogDensities). Prior variances, parameters of the likelihood and
// hyper-parameters of the features are learned with q, unless they are held. The
// intercept has the prior N(0, 100 s²), s being 1, or with an identity link the root mean square
// of up to 8,192 evenly spread targets less their offsets (for Student's t that of a normal
// distribution with their quartiles, which no outlier moves).
//
// # Posteriors
//
// Full covariance: q = N(m, V), by variational Newton steps (natural gradients of length 1), each
// of them one pass over the rows in blocks, about ten in all, most of them on a part of the rows.
// Each raises the exact bound or is halved. Cost: 2nd² operations and the likelihood's integrals a
// pass; memory O(d²) and a block of rows. A Gaussian family is read once, for its sums. Classes
// that are separable end the fit where a step gains less than a twentieth of a nat. The program
// chooses it up to FullWeights weights.
//
// Diagonal mixture: q = (1/K) Σ N(m_k, diag Ψ_k), the form of the revrand report (section 1.3, eqs.
// 21–27), by L-BFGS on all rows, or, when any option of minibatches is stated, by stochastic steps
// on minibatches with sampled or integrated gradients, and several rules for
// steps. Cost: Kn times the entries of a row a pass; memory O(Kd) and a block of rows.
//
// Neither holds n×d: rows are streamed, and kept only up to 64 MB.
//
// # What is reported
//
// Report.ELBO is the bound with the true entropy of q: exact for one component, and estimated from
// draws, with its standard error, for several. Report.ELBOBound is what several components (and a
// diagonal one) maximise, with the report's lower bound of the entropy; for K = 1 it is (d/2)(1 −
// log 2) lower. A normal q never has the evidence itself; Report.EvidenceGap estimates what is
// missing from importance weights of draws from q, whose Pareto-k̂ (Report.ParetoK) says whether q
// can be relied on, unless the weights hardly vary (Report.EffectiveShare).
//
// # Limits
//
// Normal priors. A diagonal covariance makes weights of correlated features too certain, by half
// and more; the fit says by how much where d ≤ FullWeights. Hyper-parameters of features are
// learned on at most Config.PolishRows evenly spread rows, except in minibatches and beyond 4,000
// weights. Expectations of families that are not log-concave (Student-t) may have several optima;
// starts choose among them.
package svi
