package ep

import (
	"fmt"

	"github.com/credence-ml/credence/internal/checkpoint"
)

// sweepsBetween are those between two checkpoints. An interruption writes another.
const sweepsBetween = 10

// progress is what a checkpoint holds: how far settling has come, and the numbers that the next sweep depends
// on. What follows settling begins anew.
type progress struct {
	course
	Steady  bool `json:"steady"`
	Patient bool `json:"patient"`
	Sparse  bool `json:"sparse"`
	Before  int  `json:"before"` // sweeps before sites began again
	numbers []float64
}

func (p *progress) vectors() checkpoint.Vectors { return checkpoint.Vectors{"numbers": &p.numbers} }

// each goes through all numbers that the next sweep depends on, in the same order for writing and reading.
func (f *fit) each(c *course, do func(*float64)) {
	list := func(numbers []float64) {
		for i := range numbers {
			do(&numbers[i])
		}
	}
	do(&c.step)
	do(&c.least)
	for _, at := range f.coordinates(nil) {
		x := at.value
		if f.paces[x] == nil {
			f.paces[x] = new(pace)
		}
		do(x)
		do(&f.paces[x].length)
		do(&f.paces[x].last)
		do(&f.paces[x].turns)
	}
	for j := range f.tilted {
		t := &f.tilted[j]
		list(f.gaps[j : j+1])
		do(&t.inclusion)
		do(&t.mean)
		do(&t.variance)
		do(&t.slabSquare)
	}
	f.live().each(do)
	list(c.calm.theta)
	c.calm.sites.each(do)
	if s, ok := f.q.form.(*diagonal); ok { // whose passes go on from those of the sweep before
		list(f.q.mean)
		list(f.q.variance)
		list(s.own)
	}
}

// each goes through all numbers of sites.
func (s sites) each(do func(*float64)) {
	for _, list := range [][]site{s.weights, s.rows, s.copies} {
		for i := range list {
			do(&list[i].precision)
			do(&list[i].shift)
		}
	}
	for _, precision := range s.groups {
		for i := range precision {
			do(&precision[i])
		}
	}
}

func (f *fit) checkpoint() checkpoint.File {
	return f.Table.Checkpoint(f.config.Checkpoint, "ep", 2, f.model, f.config)
}

// save replaces the checkpoint, if there is to be one. before is the number of sweeps before sites began again.
func (f *fit) save(c *course, before int) error {
	if f.config.Checkpoint == "" {
		return nil
	}
	p := &progress{course: *c, Steady: f.steady, Patient: f.patient, Sparse: f.sparse, Before: before}
	f.each(c, func(x *float64) { p.numbers = append(p.numbers, *x) })
	return f.checkpoint().Save(p, p.vectors())
}

// resume takes the fit to where the checkpoint has it, if there is one.
func (f *fit) resume() (c *course, before int, err error) {
	p := &progress{}
	if found, err := f.checkpoint().Resume(p, p.vectors); err != nil || !found {
		return f.newCourse(), 0, err
	}
	c, f.steady, f.patient, f.sparse = &p.course, p.Steady, p.Patient, p.Sparse
	if c.Calmest > 0 {
		c.calm = siteState{theta: f.theta(), sites: f.sites()} // room to read into
	}
	count := 0
	f.each(c, func(*float64) { count++ })
	if len(p.numbers) != count {
		return nil, 0, fmt.Errorf("ep: checkpoint %s has %d numbers of %d: name another file, or remove this one to begin anew", f.config.Checkpoint, len(p.numbers), count)
	}
	rest := p.numbers
	f.each(c, func(x *float64) { *x, rest = rest[0], rest[1:] })
	if s, ok := f.q.form.(*diagonal); ok {
		s.started = true
	}
	f.takeKept()
	return c, p.Before, nil
}
