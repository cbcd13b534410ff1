package active

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/posterior"
)

// Score names what candidates are ranked by.
type Score string

// The scores; the higher, the sooner a row is to be labelled.
const (
	Information Score = "information" // expected divergence of Q with the label from Q, in nats
	Uncertainty Score = "uncertainty" // −|P(y=1) − ½|
	BALD        Score = "bald"        // mutual information of label and f, in nats
	Random      Score = "random"
	// ErrorReduction is by how much the expected log loss of rows of validation falls, in nats.
	ErrorReduction Score = "error_reduction"
)

// Validate refuses names that are no score.
func (s Score) Validate() error {
	switch s {
	case Information, Uncertainty, BALD, ErrorReduction, Random:
		return nil
	}
	return fmt.Errorf("score %s is unknown: use information, uncertainty, bald, error_reduction or random", s)
}

// Scorer scores candidates under a fitted model. It is for one goroutine at a time.
type Scorer struct {
	fitted *credence.Fitted
	score  Score
	seed   uint64
	noise  float64 // variance of a gaussian target; 0 for classes
	link   *link   // of classes
	table  *table
	ws     *credence.Workspace
	dist   credence.Distribution
	design credence.Design
	form   []float64 // covariance of the weights; nil before it is asked for

	validation *validation // nil: the candidates of a block
}

// NewScorer returns the scorer of a model, or says why the score does not fit it. Thread counts below
// 1 mean every processor.
func NewScorer(fitted *credence.Fitted, score Score, seed uint64, threads int) (*Scorer, error) {
	if err := score.Validate(); err != nil {
		return nil, err
	}
	if err := fitted.CheckWeights(); err != nil {
		return nil, err
	}
	s := &Scorer{fitted: fitted, score: score, seed: seed, ws: credence.NewWorkspace(threads)}
	for i := range fitted.Members {
		member := &fitted.Members[i]
		if _, joint := member.Posterior.(credence.Joint); !joint {
			return nil, fmt.Errorf("posterior %T does not tell how rows vary together: fit with engine exact, svi or convex", member.Posterior)
		}
		widest := widestOf(member.Posterior)
		if score != Random && score != Uncertainty && widest == 0 {
			return nil, fmt.Errorf("its weights are known without error, as those of engine lasso or ridge, and score %s is what a label would tell of them: fit with another engine, or use --score uncertainty", score)
		}
		switch l := member.Model.Likelihood.(type) {
		case likelihood.Gaussian:
			if noise := l.NoiseVariance.Value; !(noise >= widest/mostVariance) {
				return nil, fmt.Errorf("variance %.3g of the noise is next to nothing beside variance %.3g of a weight, so that no score is a number: state a larger variance of the family", noise, widest)
			}
			s.noise += fitted.Share(i) * l.NoiseVariance.Value
		case likelihood.Bernoulli:
			if !(widest <= mostVariance) {
				return nil, fmt.Errorf("variance %.3g of a weight is beyond what scores are made of: state a smaller variance of the prior", widest)
			}
			switch l.Link {
			case "", likelihood.Logit:
				s.link = logit
			case likelihood.Probit:
				s.link = probit
			default:
				return nil, fmt.Errorf("scores of classes are those of the links logit and probit, and the model has %v: fit with --family bernoulli", l.Link)
			}
		default:
			return nil, fmt.Errorf("it needs the family bernoulli or gaussian, not %v", l)
		}
	}
	switch {
	case s.noise > 0 && score == Uncertainty:
		return nil, fmt.Errorf("score uncertainty is that of two classes, and the model is of numbers: use information")
	case score == Information && s.noise == 0:
		s.table = s.link.informations()
	case score == BALD && s.noise == 0:
		s.table = s.link.disagreements()
	}
	return s, nil
}

// mostVariance is the largest variance of a weight, and of it in that of the noise, that scores are made of: digits of
// the variances of rows that are labelled one after another are lost by so many, of which there are 16.
const mostVariance = 1e12

// widestOf is the largest variance of a weight: 0 of a posterior that is one set of weights, under which no label tells
// anything.
func widestOf(q credence.Posterior) float64 {
	mean, variance := make([]float64, q.Weights()), make([]float64, q.Weights())
	q.Marginals(mean, variance)
	if len(variance) == 0 {
		return 1
	}
	return slices.Max(variance)
}

// By returns what candidates are ranked by.
func (s *Scorer) By() Score { return s.score }

// Latent stores the means and variances of f in every row.
func (s *Scorer) Latent(mean, variance []float64, rows *credence.Batch) error {
	if s.forms(mean, variance, rows) {
		return nil
	}
	if err := s.fitted.DistributionTo(s.ws, &s.dist, rows); err != nil {
		return err
	}
	for i := range mean {
		mean[i], variance[i] = s.dist.Latent(i)
	}
	return nil
}

const (
	// formShare is the share of the weights up to which the entries of a row may be for its variance to be summed over
	// their pairs.
	formShare = 0.25
	// mostFormed is the number of weights up to which their covariance is formed for that: 32 MB.
	mostFormed = 2000
)

// forms is Latent of many rows of few entries each: variances are sums over pairs of entries. It reports false, and
// does nothing, where the posterior itself is quicker.
func (s *Scorer) forms(mean, variance []float64, rows *credence.Batch) bool {
	m := &s.fitted.Members[0]
	d := m.Posterior.Weights()
	if d > mostFormed || len(s.fitted.Members) > 1 || s.form == nil && len(mean) < d {
		return false
	}
	m.Model.Features.Transform(s.ws, &s.design, rows)
	if float64(s.design.Dense.Cols*len(mean)+s.design.Sparse.Entries()) > formShare*float64(d*len(mean)) {
		return false
	}
	if s.form == nil {
		s.form = posterior.CovarianceOf(s.ws, m.Posterior.(credence.Joint), s.design.Dense.Cols).Data
	}
	m.Posterior.Latent(s.ws, mean, nil, &s.design)
	s.design.MulForms(s.ws, variance, s.form)
	for i := range variance {
		variance[i] = math.Max(0, variance[i])
		mean[i] += rows.OffsetOf(i)
	}
	s.fitted.AddUnseen(0, variance, rows)
	return true
}

// Score returns that of a row of the pool by itself, counted from 0, whose f has this mean and variance. Of
// error_reduction, which depends on other rows, it returns a number by chance: candidates are a sample of the
// pool (Roy & McCallum 2001), since rows that tell much by themselves are not those that stand for others.
func (s *Scorer) Score(row int, mean, variance float64) float64 {
	switch {
	case s.score == Random || s.score == ErrorReduction:
		return credence.Rand(s.seed, credence.ActiveRandom, uint64(row)).Float64()
	case s.score == Uncertainty:
		return s.Probability(-math.Abs(mean), variance) - 0.5
	case s.noise > 0: // information about f and about y are the same
		if ratio := variance / s.noise; !math.IsInf(ratio, 1) {
			return math.Log1p(ratio) / 2
		}
		return (math.Log(variance) - math.Log(s.noise)) / 2
	case !(variance > 0):
		return 0
	}
	return s.table.at(mean, variance)
}

// scoreOf is Score of row i of a batch, whose precision divides the noise of numbers.
func (s *Scorer) scoreOf(rows *credence.Batch, i, place int, mean, variance float64) float64 {
	if s.noise > 0 {
		variance *= rows.PrecisionOf(i)
	}
	return s.Score(place, mean, variance)
}

// Probability returns P(y=1), NaN for numbers.
func (s *Scorer) Probability(mean, variance float64) float64 {
	if s.noise > 0 {
		return math.NaN()
	}
	return s.link.probability(mean, variance)
}

// site returns shift β over γ's scale and precision 1/γ of a row to be included: with its label, or,
// where that is NaN, the mean precision over the labels and a shift that leaves the mean.
func (s *Scorer) site(label, mean, variance float64) (shift, precision float64) {
	switch {
	case s.noise > 0 && label == label:
		return label / s.noise, 1 / s.noise
	case s.noise > 0:
		return mean / s.noise, 1 / s.noise
	case label == label:
		return s.link.include(2*label-1, mean, variance)
	}
	p := s.Probability(mean, variance)
	_, positive := s.link.include(1, mean, variance)
	_, negative := s.link.include(-1, mean, variance)
	precision = p*positive + (1-p)*negative
	return mean * precision, precision
}

// designs stores Φ of the rows under every member, and what each member's mean of f is above that of all.
func (s *Scorer) designs(rows *credence.Batch) (designs []credence.Design, gaps [][]float64) {
	n := rows.Rows()
	designs, gaps = make([]credence.Design, len(s.fitted.Members)), make([][]float64, len(s.fitted.Members))
	total := make([]float64, n)
	for k := range s.fitted.Members {
		m := &s.fitted.Members[k]
		m.Model.Features.Transform(s.ws, &designs[k], rows)
		gaps[k] = make([]float64, n)
		m.Posterior.Latent(s.ws, gaps[k], nil, &designs[k])
		floats.AddScaled(total, s.fitted.Share(k), gaps[k])
	}
	for k := range gaps {
		floats.Sub(gaps[k], total)
	}
	return designs, gaps
}

// covariance stores Cov(f_i, f_j) over all members for rows i of a and j of b.
func (s *Scorer) covariance(dst *linop.Dense, a []credence.Design, gapsA [][]float64, b []credence.Design, gapsB [][]float64) {
	part := linop.NewDense(dst.Rows, dst.Cols)
	for k := range s.fitted.Members {
		share := s.fitted.Share(k)
		if share == 0 {
			continue
		}
		s.fitted.Members[k].Posterior.(credence.Joint).Covariance(s.ws, &part, &a[k], &b[k])
		for i := range dst.Rows {
			to, from := dst.Row(i), part.Row(i)
			for j := range to {
				to[j] += share * (from[j] + gapsA[k][i]*gapsB[k][j])
			}
		}
	}
}
