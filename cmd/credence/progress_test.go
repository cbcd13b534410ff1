package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"
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
		{2 * time.Second, 10, 100, "credence: reading will take 20 s at most\n"},
		{2 * time.Second, 10, 0, ""}, // no end is known
		{10 * time.Minute, 1, 100, "credence: reading will take 17 h at most\n"},
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
	if line := m.line(begun.Add(30 * time.Second)); line != "credence: fitting for 30 s\n" {
		t.Error(line)
	}
	m.set("start\x1b 1", 0, 200, begun)
	m.set("start\x1b 1", 50, 200, begun.Add(30*time.Second))
	if line := m.line(begun.Add(30 * time.Second)); line != "credence: start\\u001b 1 for 30 s, 25 %, 90 s left at most\n" {
		t.Error(line)
	}
	if m.wait(); m.line(begun) != "" {
		t.Error("a command that waits tells how long")
	}
}

// Every ten seconds there is a line, whatever the command does; none with -q.
func TestTicks(t *testing.T) {
	for _, quiet := range []bool{false, true} {
		var errs bytes.Buffer
		m := newMessages(&errs)
		p := &program{streams: streams{err: m}, messages: m, quiet: quiet, every: time.Millisecond}
		done := make(chan error)
		go func() { time.Sleep(20 * time.Millisecond); done <- nil }()
		if err := p.wait(context.Background(), done); err != nil {
			t.Fatal(err)
		}
		if lines := strings.Count(errs.String(), "credence: working for 0 s\n"); quiet != (lines == 0) {
			t.Errorf("quiet %v: %q", quiet, errs.String())
		}
	}
}
