package sep

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/safetensors"
)

// Restore returns the learner of a state.
func Restore(document []byte, r *safetensors.Reader) (*Learner, error) {
	if _, found := r.Tensor(statePrefix + "sums"); !found {
		return nil, errors.New("sep: state: an earlier version wrote it: begin anew")
	}
	s := scalars{Aged: 1} // where the document does not have it
	if err := json.Unmarshal(document, &s); err != nil {
		return nil, fmt.Errorf("sep: state: %w", err)
	}
	l, err := NewLearner(s.Config, s.Hyper)
	if err != nil {
		return nil, err
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	l.setPrior(s.Inclusion, s.Slab)
	l.rows, l.again, l.nextEB, l.scale, l.events = s.Rows, s.Again, s.NextHyper, s.Scale, s.Events
	l.aged, l.ageRows = s.Aged, s.AgeRows
	if s.Now != nil {
		l.now = *s.Now
	}
	l.biasSums = factors{s.BiasLambda, s.BiasShift, s.BiasCount}
	l.bias.total(&l.biasSums)
	l.early.stage = s.Early
	l.dropClasses()
	l.batch.batches = s.Batches
	l.features, l.selected = s.Features, s.Selected
	if err = l.readFeatures(r, s.Slots); err == nil {
		l.batch.touched, err = safetensors.Read[int32](r, statePrefix+"touched")
	}
	if err == nil {
		err = l.readChanges(r, &s)
	}
	if err == nil {
		err = l.readEarly(r, &s)
	}
	if err != nil {
		return nil, fmt.Errorf("sep: state: %w", err)
	}
	for _, slot := range l.batch.touched {
		if slot < 0 || int(slot) >= s.Slots {
			return nil, fmt.Errorf("sep: state: slot %d of %d: the file is damaged", slot, s.Slots)
		}
	}
	return l, l.check()
}

// readFeatures reads the features.
func (l *Learner) readFeatures(r *safetensors.Reader, slots int) error {
	err := safetensors.ReadRows(r, statePrefix+"sums", slots, 2, func(slot int, row []float64) {
		l.reserve(slot + 1) // memory grows with what has been read, not with what a document claims
		f := l.at(int32(slot))
		f.lambda, f.shift = row[0], row[1]
	})
	if err == nil && l.byClass != nil {
		err = safetensors.ReadRows(r, statePrefix+"classes", slots, 6, func(slot int, row []float64) {
			*l.classes(int32(slot)) = factorsOf(row)
		})
	}
	if err == nil {
		err = safetensors.ReadRows(r, statePrefix+"factors", slots, 3, func(slot int, row []float32) {
			f := l.at(int32(slot))
			f.priorLambda, f.priorShift, f.count = row[0], row[1], row[2]
		})
	}
	if err != nil {
		return err
	}
	return safetensors.ReadRows(r, statePrefix+"due", slots, 1, func(slot int, row []int32) {
		l.at(int32(slot)).due = uint32(row[0])
	})
}

// check refuses numbers that no learner has.
func (s *scalars) check() error {
	damaged := func(format string, values ...any) error {
		return fmt.Errorf("sep: state: "+format+": the file is damaged", values...)
	}
	switch {
	case s.Slots < 0 || s.Slots > math.MaxInt32 || !(s.Inclusion > 0 && s.Inclusion < 1) || !(s.Slab > 0) || !(s.Scale > 0 && s.Scale <= 1):
		return damaged("%d slots, inclusion %v, slab %v, scale %v", s.Slots, s.Inclusion, s.Slab, s.Scale)
	case !(s.Aged >= 0 && s.Aged <= 1) || s.AgeRows < 0 || s.AgeRows > s.Rows:
		return damaged("evidence %v, %d rows ago", s.Aged, s.Rows-s.AgeRows)
	case s.Rows < 0 || s.NextHyper < firstEB || s.NextHyper <= s.Rows:
		return damaged("%d rows, and the prior is learned at %d", s.Rows, s.NextHyper)
	case s.Events.SkippedCavities < 0 || s.Events.NegativeSites < 0:
		return damaged("%d skipped cavities and %d negative sites", s.Events.SkippedCavities, s.Events.NegativeSites)
	case s.Batches < 0 || s.BatchRows < 0 || !ability.Bounded(s.BatchBias[:]...):
		return damaged("%d batches and %d rows", s.Batches, s.BatchRows)
	}
	return nil
}

// check refuses features that learning cannot have led to, and counts that are not theirs.
func (l *Learner) check() error {
	if !l.proper(&l.bias, &l.biasSums) {
		return errors.New("sep: state: the bias is no distribution: the file is damaged")
	}
	features, selected := 0, 0
	for slot := range l.slots {
		f := l.at(int32(slot))
		if f.due == 0 {
			continue
		}
		// Mini-batches keep a place and a flag there.
		due := f.due & dueBits
		if l.cfg.Batch == 0 && (due > maxDue+1 || f.due&touchedFlag != 0) {
			due = 0
		}
		if due == 0 || !l.proper(f, l.classes(int32(slot))) {
			return fmt.Errorf("sep: state: the feature of slot %d is none that was learned: the file is damaged", slot)
		}
		features++
		if f.due&selectedFlag != 0 {
			selected++
		}
	}
	if features != l.features || selected != l.selected {
		return fmt.Errorf("sep: state: %d features of which %d are selected, and %d of which %d were counted: the file is damaged",
			features, selected, l.features, l.selected)
	}
	return nil
}

// proper reports whether all numbers of a feature and of its sums by class are finite, its counts not negative, its
// precision positive, and its sums those of the classes.
func (l *Learner) proper(f *feature, c *factors) bool {
	if c != nil {
		of := *f
		if of.total(c); of != *f || !(c.count[0] >= 0 && c.count[1] >= 0) {
			return false
		}
	}
	precision, _ := l.natural(f)
	return f.priorLambda > 0 && precision > 0 && !math.IsInf(precision, 1) && f.count >= 0 &&
		!math.IsNaN(f.lambda-f.lambda) && !math.IsNaN(f.shift-f.shift) && f.priorShift-f.priorShift == 0
}

// readChanges reads the mini-batch that was under way.
func (l *Learner) readChanges(r *safetensors.Reader, s *scalars) error {
	var slots []int32
	var values []float64
	if err := cmp.Or(safetensors.Load(r, &slots, statePrefix+"changes.slots"), safetensors.Load(r, &values, statePrefix+"changes.values")); err != nil {
		return err
	}
	if len(values) != 6*len(slots) || !ability.Bounded(values...) {
		return fmt.Errorf("%d changes with %d numbers: the file is damaged", len(slots), len(values))
	}
	l.batch.rows, l.batch.bias = s.BatchRows, factorsOf(s.BatchBias[:])
	places := make(map[int32]int, len(slots))
	for i, slot := range slots {
		if slot < 0 || int(slot) >= s.Slots || int(l.at(slot).due&dueBits) != i+2 {
			return fmt.Errorf("change %d of slot %d does not fit the feature: the file is damaged", i, slot)
		}
		places[slot] = i
		l.batch.changes = append(l.batch.changes, change{slot, factorsOf(values[6*i:])})
	}
	if l.cfg.Batch == 0 {
		return nil
	}
	for slot := range s.Slots {
		if due := l.at(int32(slot)).due & dueBits; due > 1 {
			if _, pending := places[int32(slot)]; !pending {
				return fmt.Errorf("slot %d is in no change: the file is damaged", slot)
			}
		}
	}
	return nil
}
