package main

import (
	"fmt"
	"io"
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
	// worthBound is the longest time left to the limit of a stage that is told.
	worthBound = 10 * time.Minute
)

// messages is standard error, to which lines of progress are written beside all others. It knows how far
// the command is.
type messages struct {
	to       io.Writer
	terminal bool
	lock     sync.Mutex
	stage    string
	done     int64
	total    int64           // 0 where it is unknown
	begun    time.Time       // of the stage
	told     bool            // how long the stage takes
	stages   map[string]bool // of which that has been told: several fits go through the same ones
	limit    bool            // total is the most that may be done, and says nothing about what will be
	waiting  bool            // the command waits for more to come, and how long it has is no news
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

// set takes how far a stage is, and returns a line where the stage is seen to take long. A limit is the most that a
// stage may take: what is left of it is not known.
func (m *messages) set(stage string, done, total int64, limit bool, now time.Time) (line string) {
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.stage != stage || m.total != total {
		m.stage, m.total, m.begun, m.told = stage, total, now, false
	}
	m.done, m.limit = done, limit
	spent := now.Sub(m.begun)
	if m.told || spent < watchedFor || done <= 0 || total <= 0 {
		return ""
	}
	m.told = true
	if limit && m.stages[stage] {
		return ""
	}
	if m.stages == nil {
		m.stages = map[string]bool{}
	}
	m.stages[stage] = true
	switch left, known := m.left(spent); {
	case known && spent+left > tellEvery:
		return fmt.Sprintf("credence: %s will take about %s\n", printable(stage), inTime(spent+left))
	case limit && done < total && m.most(spent) > tellEvery:
		// The limit is far off, as a rule.
		return fmt.Sprintf("credence: %s takes %s for a step, of %d at most%s\n", printable(stage), inTime(spent/time.Duration(done)), total, m.bound(spent))
	}
	return ""
}

// left is how long the stage will go on, by what is done and what is left, where both are known.
func (m *messages) left(spent time.Duration) (left time.Duration, known bool) {
	if m.limit || m.done <= 0 || m.done >= m.total {
		return 0, false
	}
	return m.most(spent) - spent, true
}

// most is how long the stage takes in all where it goes on to its limit.
func (m *messages) most(spent time.Duration) time.Duration {
	return time.Duration(float64(spent) / float64(m.done) * float64(m.total))
}

// bound tells how long a stage goes on that comes to its limit, where that is soon: of hours nothing is learned, since
// most stages end long before.
func (m *messages) bound(spent time.Duration) string {
	left := m.most(spent) - spent
	if m.done >= m.total || left > worthBound {
		return ""
	}
	return fmt.Sprintf(", %s more if it takes them all", inTime(left))
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
	text := "credence: " + printable(m.stage) + ", " + soFar(spent)
	if left, known := m.left(spent); known && spent >= watchedFor {
		text += fmt.Sprintf(", about %s left", inTime(left))
	} else if m.limit && m.done > 0 && m.total > 0 {
		text += fmt.Sprintf(", step %d of %d at most%s", m.done, m.total, m.bound(spent))
	}
	return text + "\n"
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
func (m *meter) set(done, total int64, stage string) {
	m.move(done, total, false, stage, "")
}

// move is set, where the total may be a limit.
func (m *meter) move(done, total int64, limit bool, stage, detail string) {
	p, now := m.program, time.Now()
	switch line := p.messages.set(stage, done, total, limit, now); {
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
	detail := ""
	if s.Objective != 0 {
		detail = fmt.Sprintf(", objective %.4g", s.Objective)
	}
	m.move(int64(s.Done), int64(s.Total), !s.Sure, s.Stage, detail)
}

// done clears the meter.
func (m *meter) done() {
	if !m.drawn.IsZero() {
		io.WriteString(m.program.err, "\r\x1b[K")
		m.drawn = time.Time{}
	}
}
