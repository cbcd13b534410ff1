package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/credence-ml/credence"
)

const (
	// tellEvery is the time between two lines of progress where there is no terminal to draw it on.
	tellEvery = 10 * time.Second
	// watchedFor is how long a stage is watched before it is said how long it will take.
	watchedFor = time.Second
)

// messages is standard error, to which lines of progress are written beside all others. It knows how far
// the command is.
type messages struct {
	to       io.Writer
	terminal bool
	lock     sync.Mutex
	stage    string
	done     int64
	total    int64     // 0 where it is unknown
	begun    time.Time // of the stage
	told     bool      // how long the stage takes
	ascent   ascent    // of an engine
	waiting  bool      // the command waits for more to come, and how long it has is no news
}

func newMessages(to io.Writer) *messages {
	file, ok := to.(*os.File)
	return &messages{to: to, terminal: ok && term.IsTerminal(int(file.Fd())), stage: "working", begun: time.Now()}
}

// Write implements [io.Writer].
func (m *messages) Write(text []byte) (int, error) {
	m.lock.Lock()
	defer m.lock.Unlock()
	return m.to.Write(text)
}

// set takes how far a stage is, and returns a line where the stage is seen to take long.
func (m *messages) set(stage string, done, total int64, now time.Time) (line string) {
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.stage != stage || m.total != total {
		m.stage, m.total, m.begun, m.told = stage, total, now, false
		m.ascent = ascent{}
	}
	m.done = done
	spent := now.Sub(m.begun)
	if m.told || spent < watchedFor || done <= 0 || total <= 0 {
		return ""
	}
	m.told = true
	switch left, about := m.left(spent); {
	case spent+left <= tellEvery:
	case about != "":
		return fmt.Sprintf("credence: %s will take %s%s\n", printable(stage), about, inTime(spent+left))
	case len(m.ascent.steps) > 0: // the limit is far off, as a rule
		return fmt.Sprintf("credence: %s takes %s for a step, of %d at most\n", printable(stage), inTime(spent/time.Duration(done)), total)
	}
	return ""
}

// step takes a step of an engine with its objective.
func (m *messages) step(objective float64) {
	m.lock.Lock()
	defer m.lock.Unlock()
	if objective != 0 && !math.IsNaN(objective) {
		m.ascent.add(int(m.done), objective)
	}
}

// left is how long the stage will go on: by what its objective tells, which is about right, or if all steps are
// taken; "" where that is too much to be said.
func (m *messages) left(spent time.Duration) (left time.Duration, about string) {
	each := float64(spent) / float64(m.done)
	most := float64(m.total - m.done)
	if steps, ok := m.ascent.left(); ok {
		return time.Duration(each * min(steps, most)), "about "
	}
	if len(m.ascent.steps) == 0 {
		about = "about "
	}
	return time.Duration(each * most), about
}

// wait says that the command has no end.
func (m *messages) wait() {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.waiting = true
}

// line says how far the command is.
func (m *messages) line(now time.Time) string {
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.waiting {
		return ""
	}
	spent := now.Sub(m.begun)
	if m.done <= 0 || m.total <= 0 || spent < watchedFor {
		return fmt.Sprintf("credence: %s, %s\n", printable(m.stage), soFar(spent))
	}
	left, about := m.left(spent)
	if about == "" {
		return fmt.Sprintf("credence: %s, %s, step %d of %d at most\n", printable(m.stage), soFar(spent), m.done, m.total)
	}
	if left < time.Second && len(m.ascent.steps) > 0 { // what comes behind the last step takes time, too
		return fmt.Sprintf("credence: %s, %s, near its end\n", printable(m.stage), soFar(spent))
	}
	return fmt.Sprintf("credence: %s, %s, %s%s left\n", printable(m.stage), soFar(spent), about, inTime(left))
}

// soFar tells the time that a stage has taken.
func soFar(spent time.Duration) string {
	if spent < watchedFor {
		return "just begun"
	}
	return inTime(spent) + " so far"
}

// inTime writes a duration for people.
func inTime(d time.Duration) string {
	switch {
	case d > 100*time.Millisecond && d < 2*time.Second:
		return fmt.Sprintf("%.2g s", d.Seconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.0f h", d.Hours())
}

const (
	// drawEvery is the time between two drawings of the bar, which is so wide.
	drawEvery = 100 * time.Millisecond
	barWidth  = 24
)

// meter draws progress on a terminal; elsewhere it tells of stages that take long.
type meter struct {
	program *program
	drawn   time.Time // zero where nothing is
}

// progress returns a meter.
func (p *program) progress() *meter { return &meter{program: p} }

// set moves the meter to done of total; a total of 0 is unknown.
func (m *meter) set(done, total int64, stage, detail string) {
	p, now := m.program, time.Now()
	switch line := p.messages.set(stage, done, total, now); {
	case p.quiet:
	case !p.messages.terminal:
		io.WriteString(p.err, line)
	case now.Sub(m.drawn) >= drawEvery:
		m.drawn = now
		io.WriteString(p.err, "\r\x1b[K"+bar(done, total)+printable(stage+detail))
	}
}

// bar is how much is done, drawn; a total of 0 is unknown.
func bar(done, total int64) string {
	if total <= 0 {
		return fmt.Sprintf("%d ", done)
	}
	share := max(0, min(1, float64(done)/float64(total)))
	full := int(share * barWidth)
	return fmt.Sprintf("%3.0f %% |%s%s| ", 100*share, strings.Repeat("█", full), strings.Repeat(" ", barWidth-full))
}

// step moves the meter of an engine.
func (m *meter) step(s credence.Progress) {
	m.set(int64(s.Done), int64(s.Total), s.Stage, fmt.Sprintf(", objective %.4g", s.Objective))
	m.program.messages.step(s.Objective)
}

// done clears the meter.
func (m *meter) done() {
	if !m.drawn.IsZero() {
		io.WriteString(m.program.err, "\r\x1b[K")
		m.drawn = time.Time{}
	}
}

const (
	// leastSteps is how many steps of an engine are watched before it is said how many it will take.
	leastSteps = 8
	// mostSteps is how many of them are remembered.
	mostSteps = 1 << 12
	// atRest is the change of the objective in a step, as a share of it, at which most engines end.
	atRest = 1e-8
)

// ascent is the objective of an engine, step by step. Near its end it rises by a constant share less with
// every step, which tells how many steps there are to come, where their limit is far above it.
type ascent struct {
	steps      []int
	objectives []float64
}

// add takes a step.
func (a *ascent) add(step int, objective float64) {
	if n := len(a.steps); n < mostSteps && (n == 0 || step > a.steps[n-1]) {
		a.steps, a.objectives = append(a.steps, step), append(a.objectives, objective)
	}
}

// left returns how many steps are to come, false where they do not tell: there are too few, the objective does
// not come to rest, or engines have none.
func (a *ascent) left() (steps float64, ok bool) {
	n := len(a.steps) - 1
	if n < leastSteps || n+1 >= mostSteps {
		return 0, false
	}
	rate := func(from, to int) float64 {
		return math.Abs(a.objectives[to]-a.objectives[from]) / float64(a.steps[to]-a.steps[from])
	}
	before, now := rate(n/4, n/2), rate(3*n/4, n)
	slope := math.Log(before/now) / (float64(a.steps[n]+a.steps[3*n/4])/2 - float64(a.steps[n/2]+a.steps[n/4])/2)
	end := atRest * math.Max(1, math.Abs(a.objectives[n]))
	if !(slope > 0) || math.IsInf(slope, 0) {
		return 0, false
	}
	return math.Max(1, math.Log(now/end)/slope-float64(a.steps[n]-a.steps[3*n/4])/2), true
}
