package feature

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/param"
)

// Bounds of what an optimiser may try, in units of the scaled inputs. An input
// at the upper bound is switched off.
const (
	ShortestLengthscale = 0.02
	LongestLengthscale  = 3000
)

// Lengthscale holds the lengthscales of a term of d inputs, in units of its inputs as they
// enter the fit. The zero value is one learned lengthscale for every input
// (automatic relevance determination), starting from √d, the typical distance
// between two standardised points.
type Lengthscale struct {
	// Values are the current lengthscales, d of them or a single one for all
	// inputs; empty means Start.
	Values []float64 `json:"values,omitempty"`
	// Start is where a first fit starts; empty means Values where these are given, else √d.
	Start []float64 `json:"start,omitempty"`
	// Shared makes all inputs use one lengthscale.
	Shared bool `json:"shared,omitempty"`
	// State says whether the values are learned, guessed or held.
	State param.State `json:"state,omitempty"`
	// Periods says that the values are periods in the units of the data's own columns, and where they are searched for.
	Periods *Periods `json:"periods,omitempty"`
	// NoPrior switches off the weak prior log ℓ ~ N(log √d, 1), which keeps
	// the evidence from switching on inputs that only fit noise.
	NoPrior bool `json:"no_prior,omitempty"`
}

// Periods are where the periods of every input are searched for.
type Periods struct {
	Lower  []float64   `json:"lower"`
	Upper  []float64   `json:"upper"`
	Starts [][]float64 `json:"starts,omitempty"` // of one search after the other
}

// fill returns the lengthscale with Values and Start spelled out for d inputs.
func (l Lengthscale) fill(label string, d int) (Lengthscale, error) {
	count := d
	if l.Shared {
		count = 1
	}
	if len(l.Start) == 0 {
		l.Start = l.Values
	}
	if len(l.Start) == 0 {
		l.Start = []float64{math.Sqrt(float64(d))}
	}
	if len(l.Values) == 0 {
		l.Values = l.Start
	}
	var err error
	if l.Values, err = spell(label, l.Values, count); err != nil {
		return l, err
	}
	if l.Start, err = spell(label, l.Start, count); err != nil || l.Periods == nil {
		return l, err
	}
	for _, list := range append([][]float64{l.Periods.Lower, l.Periods.Upper}, l.Periods.Starts...) {
		if len(list) != count {
			return l, fmt.Errorf("feature: %s has %d bounds or starts of periods: give %d", label, len(list), count)
		}
		if _, err := spell(label, list, count); err != nil {
			return l, err
		}
	}
	return l, nil
}

// spell returns values as a list of its own of the given length, repeating a
// single one.
func spell(label string, values []float64, count int) ([]float64, error) {
	if len(values) != count && len(values) != 1 {
		return nil, fmt.Errorf("feature: %s has %d lengthscales: give %d or a single one", label, len(values), count)
	}
	all := make([]float64, count)
	for j := range all {
		v := values[min(j, len(values)-1)]
		if !(v > 0) || math.IsInf(v, 1) {
			return nil, fmt.Errorf("feature: %s has a lengthscale of %g: give a positive number", label, v)
		}
		all[j] = v
	}
	return all, nil
}

// hyper describes the lengthscales of a term whose inputs have the given names.
func (l *Lengthscale) hyper(label string, d int, name func(j int) string) []credence.Hyper {
	hypers := make([]credence.Hyper, len(l.Values))
	for j := range hypers {
		h := credence.Hyper{
			Name:  "lengthscale." + label,
			Value: l.Values[j],
			Start: l.Start[j],
			Held:  l.State == param.Held,
			// A stated value may lie outside the range that is worth searching.
			Lower: min(ShortestLengthscale, l.Start[j]),
			Upper: max(LongestLengthscale, l.Start[j]),
		}
		if !l.Shared {
			h.Name += "." + name(j)
		}
		if p := l.Periods; p != nil {
			h.Name = "period" + strings.TrimPrefix(h.Name, "lengthscale")
			h.Lower, h.Upper = min(p.Lower[j], h.Start), max(p.Upper[j], h.Start)
			for _, start := range p.Starts {
				h.Starts = append(h.Starts, start[j])
			}
		} else if !l.NoPrior {
			h.PriorMean, h.PriorSD = 0.5*math.Log(float64(d)), 1
		}
		hypers[j] = h
	}
	return hypers
}

// with returns the lengthscales at other values.
func (l Lengthscale) with(values []float64) Lengthscale {
	l.Values = slices.Clone(values)
	return l
}

// of returns the lengthscale of input j.
func (l *Lengthscale) of(j int) float64 { return l.Values[min(j, len(l.Values)-1)] }

// addTo adds the derivatives in the d logarithms, one for each input, to those
// of the hyper-parameters: a shared lengthscale has their sum.
func (l *Lengthscale) addTo(grad, byInput []float64) {
	if !l.Shared {
		for j, g := range byInput {
			grad[j] += g
		}
		return
	}
	for _, g := range byInput {
		grad[0] += g
	}
}

// Held returns the set with all lengthscales held at the values that they have, for a new fit: columns have their
// deviations again.
func (s *Set) Held() *Set {
	return s.replaceLengthscales(func(l *Lengthscale) { l.State = param.Held })
}

// Begun returns the set in which fits of lengthscales start from the values that they have; columns have their
// deviations again.
func (s *Set) Begun() *Set {
	return s.replaceLengthscales(func(l *Lengthscale) {
		if l.Start = l.Values; l.Periods != nil {
			l.Periods = &Periods{Lower: l.Periods.Lower, Upper: l.Periods.Upper, Starts: [][]float64{l.Values}}
		}
	})
}

func (s *Set) replaceLengthscales(change func(*Lengthscale)) *Set {
	return s.Replace(func(term Term) Term {
		switch t := term.(type) {
		case *RandomFourier:
			list := t.Lengthscales()
			for k := range list {
				change(&list[k])
			}
			return t.WithLengthscales(list)
		case *HSGP, *Periodic:
			return changed(t, func(l *Lengthscale, apart *bool) {
				change(l)
				*apart = false
			})
		case *Radial:
			other := *t
			change(&other.Lengthscale)
			return &other
		case *Sigmoid:
			other := *t
			change(&other.Lengthscale)
			return &other
		}
		return nil
	})
}
