package main

import (
	"bytes"
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/credence-ml/credence/internal/task"
)

// A stage that is seen to take more than ten seconds is told once, by what it has done; a short one is not.
func TestLongWorkIsTold(t *testing.T) {
	begun := time.Now()
	for _, c := range []struct {
		after       time.Duration
		done, total int64
		want        string
	}{
		{500 * time.Millisecond, 1, 100, ""}, // too early to tell
		{2 * time.Second, 50, 100, ""},       // four seconds
		{2 * time.Second, 10, 100, "credence: reading will take about 20 s\n"},
		{2 * time.Second, 10, 0, ""}, // no end is known
		{10 * time.Minute, 1, 100, "credence: reading will take about 17 h\n"},
	} {
		m := newMessages(&bytes.Buffer{})
		m.set("reading", 0, c.total, begun)
		if line := m.set("reading", c.done, c.total, begun.Add(c.after)); line != c.want {
			t.Errorf("%d of %d after %v: %q, want %q", c.done, c.total, c.after, line, c.want)
		}
		if line := m.set("reading", c.done, c.total, begun.Add(c.after)); line != "" {
			if c.want != "" {
				t.Errorf("told twice: %q", line)
			}
		}
	}
	m := newMessages(&bytes.Buffer{})
	m.set("fitting", 0, 0, begun)
	if line := m.line(begun.Add(30 * time.Second)); line != "credence: fitting, 30 s so far\n" {
		t.Error(line)
	}
	m.set("start\x1b 1", 0, 200, begun)
	m.set("start\x1b 1", 50, 200, begun.Add(30*time.Second))
	if line := m.line(begun.Add(30 * time.Second)); line != "credence: start\\u001b 1, 30 s so far, about 90 s left\n" {
		t.Error(line)
	}
	if m.wait(); m.line(begun) != "" {
		t.Error("a command that waits tells how long")
	}
}

// An engine that comes to rest is told about when, from what its objective has done so far, and one that does
// not how long a step takes.
func TestEnginesAreEstimated(t *testing.T) {
	begun := time.Now()
	for _, share := range []float64{0.5, 0.8, 0.95} { // of the change that the next step still has
		const start, rest = 300.0, -1e5
		end := math.Log(atRest*1e5/(start*(1-share))) / math.Log(share)
		for _, after := range []int{leastSteps + 4, 25, 60} {
			if float64(after) > 0.8*end {
				continue
			}
			m := newMessages(&bytes.Buffer{})
			for i := range after {
				m.set("start", int64(i+1), 2000, begun.Add(time.Duration(i+1)*time.Second))
				m.step(rest - start*math.Pow(share, float64(i)))
			}
			left, about := m.left(time.Duration(after) * time.Second)
			if want := end - float64(after); about == "" || math.Abs(left.Seconds()-want) > 0.15*want+3 {
				t.Errorf("share %v, after %d steps: %q%.1f s left, want %.1f", share, after, about, left.Seconds(), want)
			}
		}
	}
	m := newMessages(&bytes.Buffer{})
	m.set("start", 1, 2000, begun)
	m.step(-4)
	if line := m.set("start", 1, 2000, begun.Add(1500*time.Millisecond)); line != "credence: start takes 1.5 s for a step, of 2000 at most\n" {
		t.Error(line)
	}
	for i := range 30 {
		m.set("start", int64(i+1), 2000, begun.Add(15*time.Second))
		m.step(math.Sin(float64(i)))
	}
	if line := m.line(begun.Add(30 * time.Second)); !strings.HasPrefix(line, "credence: start, 30 s so far, ") || strings.Contains(line, "NaN") || strings.Contains(line, "-") {
		t.Error(line)
	}
}

// Every ten seconds there is a line, whatever the command does; none with -q.
func TestTicks(t *testing.T) {
	for _, quiet := range []bool{false, true} {
		var errs bytes.Buffer
		m := newMessages(&errs)
		p := &program{streams: streams{err: m}, messages: m, quiet: quiet, every: time.Millisecond}
		command := task.Go(func() error { time.Sleep(20 * time.Millisecond); return nil })
		if err := p.wait(context.Background(), command); err != nil {
			t.Fatal(err)
		}
		if lines := strings.Count(errs.String(), "credence: working, just begun\n"); quiet != (lines == 0) {
			t.Errorf("quiet %v: %q", quiet, errs.String())
		}
	}
}

// On a terminal a line is drawn over itself, not too often, and is cleared when the work is done.
func TestBar(t *testing.T) {
	var errs bytes.Buffer
	m := newMessages(&errs)
	m.terminal = true
	bar := (&program{streams: streams{err: m}, messages: m}).progress()
	for done := range int64(1001) {
		bar.set(done+300, 1200, "reading", ", part\x1b")
	}
	bar.done()
	bar.done()
	const clear = "\r\x1b[K"
	parts := strings.Split(errs.String(), clear)
	if n := len(parts); n < 3 || n > 30 || parts[0] != "" || parts[n-1] != "" || parts[1] != " 25 % |██████                  | reading, part\\u001b" {
		t.Errorf("%q", parts)
	}
}
