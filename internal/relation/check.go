package relation

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"testing"
)

// Relation makes another job of a job, and says what becomes of its answer.
type Relation struct {
	Name  string
	About string // a line for the page
	// Base makes the job that the changed one is compared with; nil is the job itself.
	Base func(Job) (Job, bool)
	// Change makes the other job, of the job itself; false where the relation is not about such jobs.
	Change func(Job) (Job, bool)
	// Expect says what the number at a place becomes, which is v in the base job's answer (NaN where it has none
	// there), and whether the relation says anything of it; nil: it stays. The job is the base.
	Expect func(j Job, place string, v float64) (want float64, told bool)
	// Refused is a word that must be in a refusal, the name of a role most often: either job may then be refused. "" is
	// of relations that refuse nothing.
	Refused string
	Bits    bool // numbers are the same to the bit, whatever the tolerances
	Slow    bool // left out with -short
}

// Subject is a job with how well its numbers are known.
type Subject struct {
	Name  string // unique, such as "exact, few rows"
	Under string // the column of the page: an engine or a command
	Job   Job
	// Within is the tolerance of every number but those of Tolerances. Numbers with a standard deviation beside them
	// are compared in units of it, all others relative to themselves; 0 is 1e-9.
	Within     float64
	Tolerances []Tolerance // the first that fits holds
	Slow       bool        // left out with -short
	// names of relations that are left to the other subjects of the same engine: repetition, no exemption
	Not []string
}

// Tolerance is how far numbers at some places may be from what they should be.
type Tolerance struct {
	Relation, Place string // patterns of path.Match, where "" is all
	Within          float64
}

// Exempt is what does not hold.
type Exempt struct {
	Relation, Subject, Place string // patterns of path.Match, where "" is all
	Reason                   string // for the page
	// Bug says that the relation should hold. The entry fails once it does wherever it was looked at.
	Bug bool
}

func matches(pattern, name string) bool {
	if pattern == "" {
		return true
	}
	fits, err := path.Match(pattern, name)
	if err != nil {
		panic(err)
	}
	return fits
}

// differences is how many differing places of an answer are told.
const differences = 6

// Check compares the answers of changed jobs with what the relations say of them, for every subject, and returns what
// it found as a page. An answer is computed once for equal jobs.
func Check(t *testing.T, run Run, subjects []Subject, relations []Relation, exempt []Exempt) *Page {
	t.Helper()
	c := newChecker(run, exempt)
	page := &Page{Exempt: exempt}
	for _, s := range subjects {
		if s.Slow && testing.Short() {
			page.partial = true
			continue
		}
		page.subjects++
		t.Run(strings.ReplaceAll(s.Name, " ", "_"), func(t *testing.T) {
			page.ran++
			for _, r := range relations {
				if r.Slow && testing.Short() {
					page.partial = true
					continue
				}
				if slices.Contains(s.Not, r.Name) {
					continue
				}
				ran := false
				t.Run(strings.ReplaceAll(r.Name, " ", "_"), func(t *testing.T) {
					ran = true
					found, complaints := c.check(t.Context(), &s, &r)
					page.add(&r, &s, found)
					for _, complaint := range complaints[:min(differences, len(complaints))] {
						t.Error(complaint)
					}
					if more := len(complaints) - differences; more > 0 {
						t.Errorf("… and %d places more", more)
					}
				})
				page.partial = page.partial || !ran // -run asks for others
			}
		})
		c.answers = map[string]answered{} // those of a subject are its own
	}
	if !t.Failed() {
		for _, e := range c.mended() {
			t.Errorf("relation %q of %q at %q holds: take the bug out of the list: %s", e.Relation, e.Subject, e.Place, e.Reason)
		}
	}
	return page
}

// mended are the bugs of the list that were looked for and not met.
func (c *checker) mended() (bugs []Exempt) {
	for i, e := range c.exempt {
		if e.Bug && c.looked[i] && !c.failed[i] {
			bugs = append(bugs, e)
		}
	}
	return bugs
}

type answered struct {
	answer Answer
	err    error
}

type checker struct {
	run            Run
	answers        map[string]answered
	exempt         []Exempt
	looked, failed []bool // for every exemption
}

func newChecker(run Run, exempt []Exempt) *checker {
	return &checker{run: run, answers: map[string]answered{}, exempt: exempt, looked: make([]bool, len(exempt)), failed: make([]bool, len(exempt))}
}

func (c *checker) of(ctx context.Context, j Job) (Answer, error) {
	key := j.Key()
	known, found := c.answers[key]
	if !found {
		known.answer, known.err = c.run(ctx, j)
		c.answers[key] = known
	}
	return known.answer, known.err
}

// outcome is what became of a relation and a subject.
type outcome struct {
	applies  bool
	refused  bool
	held     bool // but for single places
	compared int
	exempt   map[int]bool // entries by which numbers were let pass
}

// check compares one subject's jobs, and says what differs that no exemption lets pass.
func (c *checker) check(ctx context.Context, s *Subject, r *Relation) (o outcome, complaints []string) {
	complain := func(format string, args ...any) { complaints = append(complaints, fmt.Sprintf(format, args...)) }
	base, applies := s.Job, true
	if r.Base != nil {
		base, applies = r.Base(s.Job)
	}
	changed, also := r.Change(s.Job)
	if o.applies = applies && also; !o.applies {
		return o, nil
	}
	o.exempt = map[int]bool{}
	var entries []int
	for i, e := range c.exempt {
		if matches(e.Relation, r.Name) && matches(e.Subject, s.Name) {
			entries, c.looked[i] = append(entries, i), true
		}
	}
	whole := false // an entry lets everything pass
	// passed says that an entry lets a difference at the place pass.
	passed := func(place string) bool {
		for _, i := range entries {
			if matches(c.exempt[i].Place, place) {
				o.exempt[i], c.failed[i] = true, true
				whole = whole || c.exempt[i].Place == ""
				return true
			}
		}
		return false
	}
	want, err := c.of(ctx, base)
	got, changedErr := c.of(ctx, changed)
	if refusal := errors.Join(err, changedErr); refusal != nil {
		switch {
		case r.Refused != "" && strings.Contains(refusal.Error(), r.Refused):
			o.refused = true
		case !passed("refused"):
			complain("refused: %v", refusal)
		}
		return o, complaints
	}
	for _, place := range places(want, got) {
		v, known := want[place]
		if !known {
			v = math.NaN()
		}
		if !r.Bits && slices.ContainsFunc(steps, func(pattern string) bool { return matches(pattern, place) }) {
			continue
		}
		if r.Expect != nil {
			var says bool
			if v, says = r.Expect(base, place, v); !says {
				continue
			}
		}
		o.compared++
		number, there := got[place]
		var ok bool
		var why string
		switch within := s.within(r, place); {
		case !known || !there:
			why = fmt.Sprintf("is told by one of the two: %v, %v", known, there)
		default:
			ok = near(number, v, within, got, place)
			why = fmt.Sprintf("is %.17g, want %.17g within %g", number, v, within)
		}
		if !ok && !passed(place) {
			complain("%s %s", place, why)
		}
	}
	if o.compared == 0 {
		complain("no number was compared")
	}
	o.held = !whole
	return o, complaints
}

func places(a, b Answer) (all []string) {
	for place := range a {
		all = append(all, place)
	}
	for place := range b {
		if _, both := a[place]; !both {
			all = append(all, place)
		}
	}
	slices.Sort(all)
	return all
}

// usual is the tolerance where none is stated: that of sums in another order.
const usual = 1e-9

// steps are places of counts of a search, which ends at a rounding: they are compared where bits are.
var steps = []string{"iterations", "hyper_evaluations", "counts.*"}

// drawn are tolerances of what is estimated from draws at the ends of a distribution, whatever the subject.
var drawn = []Tolerance{{Relation: "odds of one", Within: 0.1}, {Place: "pareto_k", Within: 0.05}, {Place: "sd_ratio", Within: 0.01}}

// within is the tolerance of a place.
func (s *Subject) within(r *Relation, place string) float64 {
	if r.Bits {
		return 0
	}
	for _, list := range [][]Tolerance{s.Tolerances, drawn} {
		for _, t := range list {
			if matches(t.Relation, r.Name) && matches(t.Place, place) {
				return t.Within
			}
		}
	}
	if s.Within == 0 {
		return usual
	}
	return s.Within
}

// absolute are places of logarithms, a nat of which is a nat however many there are.
var absolute = []string{"evidence*", "elbo*", "row*.log_density", "selection.sets.*.log_bayes_factor"}

// near compares a number with what it should be: in standard deviations where one stands beside it, in nats, or
// relative.
func near(got, want, within float64, answer Answer, place string) bool {
	if got == want || got != got && want != want {
		return true
	}
	if within == 0 {
		return false
	}
	unit := math.Abs(want)
	parent, last := "", place
	if i := strings.LastIndexByte(place, '.'); i >= 0 {
		parent, last = place[:i+1], place[i+1:]
	}
	switch sd, known := answer[parent+"sd"]; {
	case last == "f_mean" && answer[parent+"f_sd"] > 0: // a penalised fit has none
		unit = answer[parent+"f_sd"]
	case known && sd > 0 && last != "sd" && last != "f_sd":
		unit = sd
	}
	for _, pattern := range absolute {
		if matches(pattern, place) {
			unit = math.Max(1, math.Abs(want)*1e-3)
		}
	}
	if place == "pareto_k" || matches("hyper_joint.correlations.*", place) { // any number about 0
		unit = 1
	}
	const rounding = 1e-12 // of a number that is large beside its standard deviation
	return math.Abs(got-want) <= within*unit+rounding*math.Abs(want)
}
