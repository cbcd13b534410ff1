package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/credence-ml/credence"
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
		m.set("reading", 0, c.total, false, begun)
		if line := m.set("reading", c.done, c.total, false, begun.Add(c.after)); line != c.want {
			t.Errorf("%d of %d after %v: %q, want %q", c.done, c.total, c.after, line, c.want)
		}
		if line := m.set("reading", c.done, c.total, false, begun.Add(c.after)); line != "" {
			if c.want != "" {
				t.Errorf("told twice: %q", line)
			}
		}
	}
	m := newMessages(&bytes.Buffer{})
	m.set("fitting", 0, 0, false, begun)
	if line := m.line(begun.Add(30 * time.Second)); line != "credence: fitting, 30 s so far\n" {
		t.Error(line)
	}
	m.set("start\x1b 1", 0, 200, false, begun)
	m.set("start\x1b 1", 50, 200, false, begun.Add(30*time.Second))
	if line := m.line(begun.Add(30 * time.Second)); line != "credence: start\\u001b 1, 30 s so far, about 90 s left\n" {
		t.Error(line)
	}
	if m.wait(); m.line(begun) != "" {
		t.Error("a command that waits tells how long")
	}
}

// What is left is told of work that is known alone: of an engine that may end before its limit a step is told, and of a
// stage whose last part has been counted the time that it has taken.
func TestTimeLeftIsKnownOrNotTold(t *testing.T) {
	begun := time.Now()
	for _, c := range []struct {
		step       credence.Progress
		told, line string
	}{
		{credence.Progress{Stage: "start", Done: 3, Total: 2000, Objective: -4}, "credence: start takes 10 s for a step, of 2000 at most\n", "credence: start, 30 s so far, step 3 of 2000 at most\n"},
		{credence.Progress{Stage: "sites", Done: 100, Total: 500}, "credence: sites takes 0.3 s for a step, of 500 at most, 2 min more if it takes them all\n",
			"credence: sites, 30 s so far, step 100 of 500 at most, 2 min more if it takes them all\n"},
		{credence.Progress{Stage: "sites", Done: 200, Total: 200}, "", "credence: sites, 30 s so far, step 200 of 200 at most\n"},
		{credence.Progress{Stage: "chains", Done: 4, Total: 4, Sure: true}, "", "credence: chains, 30 s so far\n"},
		{credence.Progress{Stage: "nodes", Done: 3, Total: 12, Sure: true}, "credence: nodes will take about 2 min\n", "credence: nodes, 30 s so far, about 90 s left\n"},
	} {
		m := newMessages(&bytes.Buffer{})
		m.set(c.step.Stage, 0, int64(c.step.Total), !c.step.Sure, begun)
		if told := m.set(c.step.Stage, int64(c.step.Done), int64(c.step.Total), !c.step.Sure, begun.Add(30*time.Second)); told != c.told {
			t.Errorf("%+v: %q, want %q", c.step, told, c.told)
		}
		if line := m.line(begun.Add(30 * time.Second)); line != c.line {
			t.Errorf("%+v: %q, want %q", c.step, line, c.line)
		}
	}
	m, told := newMessages(&bytes.Buffer{}), 0 // fits after each other go through the same stages
	for fit := range 4 {
		for _, stage := range []string{"sites", "chains"} {
			m.set(stage, 0, 500, true, begun.Add(time.Duration(fit)*time.Minute))
			if m.set(stage, 3, 500, true, begun.Add(time.Duration(fit)*time.Minute+30*time.Second)) != "" {
				told++
			}
		}
	}
	if told != 2 {
		t.Errorf("two stages of four fits are told of %d times", told)
	}
	var errs bytes.Buffer
	p := &program{streams: streams{err: &errs}, messages: newMessages(&errs)}
	p.progress().step(credence.Progress{Stage: "sites", Done: 3, Total: 200})
	p.messages.begun = begun.Add(-30 * time.Second)
	if line := p.messages.line(begun); line != "credence: sites, 30 s so far, step 3 of 200 at most\n" {
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
		bar.move(done+300, 1200, false, "reading", ", part\x1b")
	}
	bar.done()
	bar.done()
	const clear = "\r\x1b[K"
	parts := strings.Split(errs.String(), clear)
	if n := len(parts); n < 3 || n > 30 || parts[0] != "" || parts[n-1] != "" || parts[1] != " 25 % |██████                  | reading, part\\u001b" {
		t.Errorf("%q", parts)
	}
}
