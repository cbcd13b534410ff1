package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
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
	}
	m.done = done
	spent := now.Sub(m.begun)
	if m.told || spent < watchedFor || done <= 0 || total <= 0 {
		return ""
	}
	m.told = true
	if left := m.left(spent); spent+left > tellEvery {
		return fmt.Sprintf("credence: %s will take %s at most\n", printable(stage), inTime(spent+left))
	}
	return ""
}

// left is how long the stage will go on if it goes on as before.
func (m *messages) left(spent time.Duration) time.Duration {
	return time.Duration(float64(spent) * float64(m.total-m.done) / float64(m.done))
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
		return fmt.Sprintf("credence: %s for %s\n", printable(m.stage), inTime(spent))
	}
	return fmt.Sprintf("credence: %s for %s, %.0f %%, %s left at most\n", printable(m.stage), inTime(spent),
		100*float64(m.done)/float64(m.total), inTime(m.left(spent)))
}

// inTime writes a duration for people.
func inTime(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.0f h", d.Hours())
}

// meter draws progress on a terminal; elsewhere it tells of stages that take long.
type meter struct {
	program *program
	bar     *progressbar.ProgressBar
	total   int64
}

// progress returns a meter.
func (p *program) progress() *meter { return &meter{program: p} }

// set moves the meter to done of total; a total of 0 is unknown.
func (m *meter) set(done, total int64, stage, detail string) {
	p := m.program
	switch line := p.messages.set(stage, done, total, time.Now()); {
	case p.quiet:
		return
	case !p.messages.terminal:
		io.WriteString(p.err, line)
		return
	}
	if m.bar == nil || m.total != total {
		m.total = total
		limit := total
		if limit <= 0 {
			limit = -1
		}
		m.bar = progressbar.NewOptions64(limit,
			progressbar.OptionSetWriter(p.err),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish(),
			progressbar.OptionSetWidth(24),
			progressbar.OptionSetPredictTime(false))
	}
	m.bar.Describe(printable(stage + detail))
	m.bar.Set64(done)
}

// step moves the meter of an engine.
func (m *meter) step(s credence.Progress) {
	m.set(int64(s.Done), int64(s.Total), s.Stage, fmt.Sprintf(", objective %.4g", s.Objective))
}

// done clears the meter.
func (m *meter) done() {
	if m.bar != nil {
		m.bar.Clear()
	}
}
