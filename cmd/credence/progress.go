package main

import (
	"fmt"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/credence-ml/credence"
)

// meter draws progress on a terminal, and nothing elsewhere.
type meter struct {
	program *program
	bar     *progressbar.ProgressBar
	total   int64
}

// progress returns a meter.
func (p *program) progress() *meter { return &meter{program: p} }

// set moves the meter to done of total; a total of 0 is unknown.
func (m *meter) set(done, total int64, description string) {
	if !m.program.onTerminal() {
		return
	}
	if m.bar == nil || m.total != total {
		m.total = total
		limit := total
		if limit <= 0 {
			limit = -1
		}
		m.bar = progressbar.NewOptions64(limit,
			progressbar.OptionSetWriter(m.program.err),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish(),
			progressbar.OptionSetWidth(24),
			progressbar.OptionSetPredictTime(false))
	}
	m.bar.Describe(printable(description))
	m.bar.Set64(done)
}

// step moves the meter of an engine.
func (m *meter) step(s credence.Progress) {
	m.set(int64(s.Done), int64(s.Total), fmt.Sprintf("%s, objective %.4g", s.Stage, s.Objective))
}

// done clears the meter.
func (m *meter) done() {
	if m.bar != nil {
		m.bar.Clear()
	}
}
