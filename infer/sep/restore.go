package sep

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/credence-ml/credence/internal/safetensors"
)

// Restore returns the learner of a state.
func Restore(document []byte, r *safetensors.Reader) (*Learner, error) {
	return restore(document, r, func(name string) string { return name })
}

// restore is Restore with tensors under other names.
func restore(document []byte, r *safetensors.Reader, name func(string) string) (*Learner, error) {
	var s scalars
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
	l.aged, l.ageRows = cmp.Or(s.Aged, 1), s.AgeRows
	switch {
	case s.Now != nil:
		l.now = *s.Now
	case s.Config.Forget > 0 && s.Rows > 0: // of a program that forgot behind each row
		l.now = float64(s.Rows)
	}
	l.bias.lambda, l.bias.shift, l.bias.count = s.BiasLambda, s.BiasShift, s.BiasCount
	l.batch.batches = s.Batches
	l.features, l.selected = s.Features, s.Selected
	err = safetensors.ReadRows(r, name(statePrefix+"lambda"), s.Slots, 6, func(slot int, row []float64) {
		l.reserve(slot + 1) // memory grows with what has been read, not with what a document claims
		l.at(int32(slot)).factors = factorsOf(row)
	})
	if err == nil {
		err = safetensors.ReadRows(r, name(statePrefix+"prior"), s.Slots, 3, func(slot int, row []float32) {
			f := l.at(int32(slot))
			f.priorLambda, f.priorShift, f.logit = row[0], row[1], row[2]
		})
	}
	if err == nil {
		err = safetensors.ReadRows(r, name(statePrefix+"due"), s.Slots, 1, func(slot int, row []int32) { l.at(int32(slot)).due = uint32(row[0]) })
	}
	if err == nil {
		l.batch.touched, err = safetensors.Read[int32](r, name(statePrefix+"touched"))
	}
	if err == nil {
		err = l.readChanges(r, &s, name)
	}
	if err == nil {
		err = l.readEarly(r, &s, name)
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
	case s.Rows < 0 || s.NextHyper < firstEB || s.NextHyper > neverEB || s.NextHyper <= s.Rows:
		return damaged("%d rows, and the prior is learned at %d", s.Rows, s.NextHyper)
	case s.Events.SkippedCavities < 0 || s.Events.NegativeSites < 0:
		return damaged("%d skipped cavities and %d negative sites", s.Events.SkippedCavities, s.Events.NegativeSites)
	case s.Batches < 0 || s.BatchRows < 0:
		return damaged("%d batches and %d rows", s.Batches, s.BatchRows)
	}
	return nil
}

// check refuses features that learning cannot have led to, and counts that are not theirs.
func (l *Learner) check() error {
	if !l.proper(&l.bias) {
		return errors.New("sep: state: the bias is no distribution: the file is damaged")
	}
	features, selected := 0, 0
	for slot := range l.slots {
		f := l.at(int32(slot))
		if f.due == 0 {
			continue
		}
		// Mini-batches keep a place and a flag there.
		due := f.due
		if l.cfg.Batch > 0 {
			due &^= touchedFlag
		} else if due > maxDue+1 {
			due = 0
		}
		if due == 0 || !l.proper(f) {
			return fmt.Errorf("sep: state: the feature of slot %d is none that was learned: the file is damaged", slot)
		}
		features++
		if l.prior.selects(f) {
			selected++
		}
	}
	if features != l.features || selected != l.selected {
		return fmt.Errorf("sep: state: %d features of which %d are selected, and %d of which %d were counted: the file is damaged",
			features, selected, l.features, l.selected)
	}
	return nil
}

// proper reports whether all numbers of a feature are finite, its counts not negative and its
// precision positive.
func (l *Learner) proper(f *feature) bool {
	sum := f.lambda[0] + f.lambda[1] + math.Abs(f.shift[0]) + math.Abs(f.shift[1]) + math.Abs(float64(f.priorShift)) + f.count[0] + f.count[1]
	precision := float64(f.priorLambda) + (f.lambda[0]+f.lambda[1])*l.scale
	return f.priorLambda > 0 && precision > 0 && !math.IsInf(precision, 1) && f.logit == f.logit &&
		f.count[0] >= 0 && f.count[1] >= 0 && !math.IsNaN(sum) && !math.IsInf(sum, 0)
}

// readChanges reads the mini-batch that was under way.
func (l *Learner) readChanges(r *safetensors.Reader, s *scalars, name func(string) string) error {
	slots, err := safetensors.Read[int32](r, name(statePrefix+"changes.slots"))
	if err != nil {
		return err
	}
	values, err := safetensors.Read[float64](r, name(statePrefix+"changes.values"))
	if err != nil {
		return err
	}
	if len(values) != 6*len(slots) || s.BatchRows < 0 {
		return fmt.Errorf("%d changes with %d numbers: the file is damaged", len(slots), len(values))
	}
	l.batch.rows, l.batch.bias = s.BatchRows, factorsOf(s.BatchBias[:])
	places := make(map[int32]int, len(slots))
	for i, slot := range slots {
		if slot < 0 || int(slot) >= s.Slots || int(l.at(slot).due&^touchedFlag) != i+2 {
			return fmt.Errorf("change %d of slot %d does not fit the feature: the file is damaged", i, slot)
		}
		places[slot] = i
		l.batch.changes = append(l.batch.changes, change{slot, factorsOf(values[6*i:])})
	}
	if l.cfg.Batch == 0 {
		return nil
	}
	for slot := range s.Slots {
		if due := l.at(int32(slot)).due &^ touchedFlag; due > 1 {
			if _, pending := places[int32(slot)]; !pending {
				return fmt.Errorf("slot %d is in no change: the file is damaged", slot)
			}
		}
	}
	return nil
}
