package learn

import (
	"cmp"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature/keyed"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/posterior"
)

// EndOfData is the status of a fit that learned online.
const EndOfData credence.Status = "end of data"

// Finish brings the weights up to date for results, which [Learner.Fitted] then returns or refuses. To go on learning
// is to go on from a checkpoint made before.
func (l *Learner) Finish() {
	if l.whole() != nil {
		return
	}
	l.online.Finish()
	l.index.Fold()
	l.final = true
}

// releaseEvery is how many weights of a finished learner are made between two releases of the memory of what they are
// made of, which cost some milliseconds.
const releaseEvery = 1 << 20

// errReleased is said of a learner whose features have become the weights of its model.
var errReleased = &fit.Misuse{Err: errors.New("the learner is finished, and its memory is that of the model: go on from a checkpoint made before")}

// whole waits until all batches are learned, and returns what has broken the learner, or that it has given up its
// features.
func (l *Learner) whole() error {
	if err := l.wait(); err != nil || !l.released {
		return err
	}
	return errReleased
}

// Fitted returns the model as it stands. After [Learner.Finish] weights beyond a million take the place of what the
// learner knows: the model is the same each time, and nothing more can be learned or saved.
func (l *Learner) Fitted() (*credence.Fitted, error) {
	if err := l.wait(); err != nil {
		return nil, err
	}
	if l.plan == nil || l.counts.Rows == 0 {
		return nil, fmt.Errorf("the data hold no rows, so that there is nothing to learn from: check the files")
	}
	if l.fitted != nil {
		return l.fitted, nil
	}
	c := &l.counts
	features := keyed.FeaturesOf(l.index, c.Slots, l.names, l.plan.NoIntercept)
	weights := features.Weights()
	q := &posterior.SpikeSlab{Mean: make([]float64, weights), Variance: make([]float64, weights), Probability: make([]float64, weights)}
	release, able := l.online.(interface{ Release(slots int) })
	for j := range weights {
		slot := j - (weights - c.Slots) // the intercept's is -1
		if l.final && able && j > 0 && j%l.releaseEvery == 0 {
			l.released = true
			release.Release(slot)
			debug.FreeOSMemory()
		}
		w := l.online.Weight(slot)
		q.Mean[j], q.Variance[j], q.Probability[j] = w.Mean, w.Variance, w.Inclusion
	}
	plan := *l.plan
	plan.Time = nil // of learning alone
	plan.Inputs = make([]keyed.Input, len(l.plan.Inputs))
	for i, in := range l.plan.Inputs {
		in.Counts = nil // of learning alone
		plan.Inputs[i] = in
	}
	fitted := &credence.Fitted{
		Recipe:  credence.Recipe{Formula: l.formula, Prior: l.engine.Prior, Engine: l.engine.Call, Seed: l.options.Seed},
		Frame:   &keyed.Frame{Target: plan.Target.String(), Plan: &plan},
		Members: []credence.Member{{Model: credence.Model{Features: features}, Posterior: q}},
		Report: credence.Report{
			Engine: l.engine.Engine, Status: EndOfData, Rows: int(c.different(l.engine.Passes)), Inputs: c.Slots, Weights: weights,
			Iterations: l.engine.Passes, Warnings: l.warnings(), Remarks: l.remarks(),
		},
	}
	if c.Weight > 0 {
		rate := c.Positives / c.Weight
		fitted.TargetMean, fitted.TargetVariance = rate, rate*(1-rate)
	}
	l.online.Describe(fitted)
	fitted.Recipe.Family = fmt.Sprint(fitted.Members[0].Model.Likelihood)
	if l.released {
		l.fitted = fitted
	}
	return fitted, nil
}

// different is the number of different rows that have been learned, in so many passes once all are done.
func (c *counts) different(passes int) int64 {
	own := c.Rows - c.Before
	if 0 < c.Pass && c.Pass < passes {
		own -= c.PassRows
	}
	return c.Before + own/int64(max(1, c.Pass))
}

// warnings says what is odd about the rows.
func (l *Learner) warnings() []string {
	warnings := append([]string(nil), l.notes...)
	switch c := &l.counts; {
	case c.Weight == 0:
	case c.Positives == 0:
		warnings = append(warnings, fmt.Sprintf("no label is %s: every row is of one class, and nothing is learned about what tells two apart", cmp.Or(l.plan.Positive, "positive")))
	case c.Positives == c.Weight:
		warnings = append(warnings, fmt.Sprintf("every label is %s: nothing is learned about what tells two classes apart", cmp.Or(l.plan.Positive, "positive")))
	}
	return warnings
}

func (l *Learner) remarks() (remarks []string) {
	c := &l.counts
	if c.Dropped > 0 {
		remarks = append(remarks, fmt.Sprintf("%d of %d rows have missing values and are left out", c.Dropped, c.Dropped+c.different(l.engine.Passes)-c.Before))
	}
	if c.Files > 0 {
		remarks = append(remarks, fmt.Sprintf("%d files were learned apart from one prior, and their evidence was added up", c.Files))
	}
	return remarks
}
