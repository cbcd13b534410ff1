package score

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/diagnose"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/metric"
	"github.com/credence-ml/credence/posterior"
)

// LeaveOneOut predicts each training row of a model from the others. A row of weight w stands for w
// rows, which are left out together.
//
// For a Gaussian likelihood the others' distribution of f follows from that of all rows by taking the
// row's own factor away, and that of the noise variance from its posterior, an inverse gamma with the
// predictive degrees of freedom: a closed form, exact where the prior variances are held. For any other
// the mean of the row's likelihood over draws of f and of the learned parameters θ of the family, together, has the
// weights 1/p(y|f, θ)^w, whose tail is smoothed (Vehtari, Gelman & Gabry 2017); the draws, 4,000, or 1,000 where no
// parameter is learned, are evenly spread. Where the weights of a row that counts once are too uneven for that, of a
// Pareto k̂ above .7, f is integrated over given θ, by its distribution
// without the row. Parts k of a mixture, the members of a fit among them, have the weights P(k) E_k p(y_i|f)^−w, which
// are P(k) / p_k(y_i|others) for a w of 1.
func LeaveOneOut(ctx context.Context, scorer *Scorer, training credence.Source) (*metric.LeaveOneOut, error) {
	table, err := scorer.Table(training, RequireTargets)
	if err != nil {
		return nil, err
	}
	l := NewLeaver(scorer.fitted)
	if err := table.Each(ctx, l.Add); err != nil {
		return nil, err
	}
	return l.Result()
}

// Leaver gathers what [LeaveOneOut] returns.
type Leaver struct {
	fitted             *credence.Fitted
	joint              *joint // from the first rows on, where the fit has learned parameters of the family
	phi                credence.Design
	slopes             []float64 // of f of each row along the axes of the family's parameters
	unit               []float64 // evenly spread draws of a standard normal variable, of a row's part
	logDensity, weight []float64
	pit                bool      // keep what follows
	k, below, upTo     []float64 // Pareto-k̂, and the probabilities below each target and up to it given the other rows
	discrete           bool
	draws              int // of a row and a part, at the least
	out                metric.LeaveOneOut
}

// KeepPIT asks for [Leaver.PIT] of the rows to come, which takes a while longer, and for [Leaver.ParetoK].
func (l *Leaver) KeepPIT() { l.pit = true }

// PIT returns the probabilities below the target of row i and up to it given the other rows, which are the same for a
// continuous target; NaN where rows cannot be left out.
func (l *Leaver) PIT(i int) (below, upTo float64) { return l.below[i], l.upTo[i] }

// ParetoK returns the Pareto-k̂ of row i, 0 where it is left out in closed form.
func (l *Leaver) ParetoK(i int) float64 { return l.k[i] }

// NotMade says why rows cannot be left out; "" where they can.
func (l *Leaver) NotMade() string { return l.out.NotMade }

// GoodK is the Pareto-k̂ up to which a row can be left out by draws.
const GoodK = diagnose.LimitK

// left is what the other rows tell of a row of weight w. removed is log E p(y|f)^−w over the posterior of all rows, by
// which the probability of a part grows where the row is left out.
type left struct{ logDensity, removed, k, below, upTo float64 }

// NewLeaver returns a leaver of no rows yet.
func NewLeaver(fitted *credence.Fitted) *Leaver {
	l := &Leaver{fitted: fitted}
	l.out.NotMade = notMade(fitted)
	return l
}

// mostHeld is how many nats a row may be told too well for parameters of a family that stay where all rows have them:
// about one for each parameter in all.
const mostHeld = 0.01

// notMade says why rows cannot be left out of a fit; "" where they can.
func notMade(fitted *credence.Fitted) string {
	l := fitted.Members[0].Model.Likelihood
	if _, gaussian := l.(likelihood.Gaussian); !gaussian && fitted.Family == nil && float64(learnedParameters(l)) > mostHeld*float64(fitted.Report.Rows) {
		return "the model file does not say how uncertain the learned parameters of its family are, which a row moves: an earlier version wrote it, or the fit did not integrate over them; fit again, without hyper=mode or hyper=ml, and with covariance=full under svi(...)"
	}
	for i := range fitted.Members {
		q := fitted.Members[i].Posterior
		switch q.(type) {
		case *posterior.Diagonal, *posterior.Mixture, *posterior.SpikeSlab:
		default:
			continue
		}
		if d := q.Weights(); d > fitted.Report.Rows {
			return fmt.Sprintf("its %d weights are more than its %d rows, and its posterior has independent weights, which say nothing of what the other rows know of one: hold rows out", d, fitted.Report.Rows)
		}
		mean, variance := make([]float64, q.Weights()), make([]float64, q.Weights())
		q.Marginals(mean, variance)
		if !slices.ContainsFunc(variance, func(v float64) bool { return v > 0 }) {
			return "the fit is a single point without a posterior, which does not say what the other rows know: hold rows out"
		}
	}
	return ""
}

// Add takes training rows, as the formula writes the target.
func (l *Leaver) Add(rows *Rows) (err error) {
	n := rows.Len()
	all := make([]left, n)
	if l.out.NotMade == "" {
		if err := l.prepare(rows); err != nil {
			return err
		}
		rows.Each(func(i int) { all[i] = l.leave(rows, i) })
	}
	for i, of := range all {
		l.logDensity, l.weight = append(l.logDensity, of.logDensity), append(l.weight, rows.Weight(i))
		if l.pit {
			l.k, l.below, l.upTo = append(l.k, of.k), append(l.below, of.below), append(l.upTo, of.upTo)
		}
		if rows.Weight(i) == 0 {
			continue
		}
		if l.out.ParetoK = math.Max(l.out.ParetoK, of.k); of.k > GoodK {
			l.out.Unreliable++
		}
	}
	return nil
}

// prepare takes what the rows have along the axes of the parameters of the family.
func (l *Leaver) prepare(rows *Rows) (err error) {
	l.discrete = rows.scorer.Discrete()
	f := l.fitted.Family
	if l.draws = jointDraws; f == nil {
		if l.draws = max(200, 1000/rows.dist.Parts()); len(l.unit) != l.draws { // in each of the parts of a row
			l.unit = normalQuantiles(l.draws)
		}
		return nil
	}
	if l.joint == nil {
		if l.joint, err = newJoint(l.fitted); err != nil {
			return err
		}
	}
	l.fitted.Members[0].Model.Features.Transform(rows.ws, &l.phi, &rows.batch)
	l.slopes = slices.Grow(l.slopes[:0], rows.Len()*f.Axes())[:rows.Len()*f.Axes()]
	l.phi.MulColumns(rows.ws, l.slopes, f.Slopes, f.Axes())
	return nil
}

// LogDensity returns the log density of the target of row i given the other rows, in the order in which rows came.
func (l *Leaver) LogDensity(i int) float64 { return l.logDensity[i] }

// Result returns the measures of the rows so far, which must be as many as the model was fitted to.
func (l *Leaver) Result() (*metric.LeaveOneOut, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	return measure(l.logDensity, l.weight, &l.out), nil
}

// markedShare is the share of rows whose Pareto-k̂ is too high above which the mean over rows is not to be relied on.
const markedShare = 0.05

// measure returns the measures of log densities, with the reliability of others of the same rows.
func measure(logDensity, weight []float64, of *metric.LeaveOneOut) *metric.LeaveOneOut {
	out := *of
	out.Rows = 0
	mean, standardError := Gain(logDensity, make([]float64, len(weight)), weight)
	for _, w := range weight {
		if w > 0 {
			out.Rows++
		}
	}
	out.Marked = float64(out.Unreliable) > markedShare*float64(out.Rows)
	if out.NLPD, out.Error = -mean, standardError; out.NotMade != "" {
		out.NLPD, out.Error = metric.Score(math.NaN()), metric.Score(math.NaN())
	}
	return &out
}

// check refuses rows that are not the training rows.
func (l *Leaver) check() error {
	if trained := l.fitted.Report.Rows; trained != len(l.weight) {
		return fmt.Errorf("leave-one-out needs the rows that the model was fitted to: these are %d, and it saw %d", len(l.weight), trained)
	}
	return nil
}

// leave returns what the other rows tell of row i.
func (l *Leaver) leave(rows *Rows, i int) left {
	y, weight := rows.batch.Target[i], rows.Weight(i)
	if f := l.fitted.Family; f != nil {
		return l.leaveJoint(rows, i, weight, l.slopes[i*f.Axes():(i+1)*f.Axes()])
	}
	var own [64]left
	var memory [2][64]float64
	parts, shares, densities, k := own[:0], memory[0][:0], memory[1][:0], 0.0
	for part := range rows.dist.Parts() {
		probability, family, mean, variance := rows.dist.Part(i, part)
		var of left
		if g, ok := family.(likelihood.Gaussian); ok {
			g, mean, variance, of.removed = leaveGaussian(g, y, weight, mean, variance)
			of.logDensity, _, _ = g.TiltedMoments(y, mean, variance)
			if l.pit {
				of.upTo = math.Min(g.PredictiveCDF(y, mean, variance), 1)
				of.below = of.upTo
			}
		} else {
			of = l.leaveByDraws(family, y, weight, mean, variance)
		}
		k = math.Max(k, of.k)
		share := math.Log(probability) + of.removed
		parts, shares, densities = append(parts, of), append(shares, share), append(densities, share+of.logDensity)
	}
	mean := diagnose.LogMean(shares)
	out := left{k: k, logDensity: diagnose.LogMean(densities) - mean}
	for part, v := range shares {
		share := math.Exp(v-mean) / float64(len(shares))
		out.below += share * parts[part].below
		out.upTo += share * parts[part].upTo
	}
	return out
}

// leaveGaussian is the closed form: it returns the family, and the mean and the variance of f, given the other rows,
// and what [left] has removed. With leverage h, the variance of f over that of the mean of the w copies of y, the
// others predict y with the residual r/(1−h) about a variance h/(1−h) of f, in units of that mean's; and with ν degrees
// of freedom the posterior sum of squares νs² is without wr²/(1−h).
func leaveGaussian(g likelihood.Gaussian, y, weight, mean, variance float64) (_ likelihood.Gaussian, centre, left, removed float64) {
	noise, df := g.Variance(mean), g.PredictiveDF
	h, gap := variance*weight/noise, y-mean
	if weight == 0 {
		return g, mean, variance, 0
	}
	h = math.Min(h, 1-1e-9) // a row that alone determines its f
	residual := gap / (1 - h)
	left = variance / (1 - h)
	removed = -math.Log1p(-h) / 2
	if df == 0 {
		return g, y - residual, left, removed + weight/2*(math.Log(2*math.Pi*noise)+gap*residual/noise)
	}
	all := df * noise * (1 - 2/df)
	squares := all - weight*gap*residual
	if rest := df - weight; rest > 2 && squares > 0 {
		g.PredictiveDF, g.NoiseVariance = rest, g.NoiseVariance.At(squares/(rest-2)) // its mean
		left *= squares / (rest - 2) / noise
		before, _ := math.Lgamma(df / 2)
		after, _ := math.Lgamma(rest / 2)
		return g, y - residual, left, removed + weight/2*math.Log(math.Pi*all) - rest/2*math.Log(squares/all) + after - before
	}
	log, _, _ := g.TiltedMoments(y, y-residual, left)
	return g, y - residual, left, -weight * log
}

// setLeft gives the comparison the leave-one-out density of s.
func (s *Scores) setLeft(out *Compared, first *Scores, across bool) error {
	left, err := s.leaver.Result()
	if err != nil {
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	own, other := s.left(across), first.left(across)
	if s.leaver.out.NotMade == "" && first.leaver.out.NotMade == "" {
		out.LOOGain, out.LOOGainError = Gain(own, other, first.weight)
	}
	if across && s.back != nil || !slices.Equal(s.weight, first.weight) {
		left = measure(own, first.weight, left)
	}
	out.LOO = left
	return nil
}

// left returns the log densities of rows given the others, of the target's column or as it is written.
func (s *Scores) left(column bool) []float64 {
	if !column || s.back == nil {
		return s.leaver.logDensity
	}
	own := make([]float64, len(s.weight))
	for i, v := range s.leaver.logDensity {
		own[i] = v + s.back.expr.LogSlope(s.written.target[i])
	}
	return own
}
