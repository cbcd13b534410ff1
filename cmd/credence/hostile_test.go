package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
)

// hostileEverything says whether make hostile runs: every case, and not the fast share of them.
func hostileEverything() bool { return os.Getenv("CREDENCE_HOSTILE") != "" }

// tally counts what became of hostile cases.
type tally struct {
	t                             *testing.T
	tried, right, refused, failed int
}

// newTally prints its counts at the end of the test, for make hostile.
func newTally(t *testing.T) *tally {
	c := &tally{t: t}
	t.Cleanup(func() {
		t.Logf("hostile: %d tried, %d right, %d refused with place and remedy, %d failed", c.tried, c.right, c.refused, c.failed)
	})
	return c
}

// patience is how long a hostile case may take: far more than any does, even under the race detector.
const patience = 60 * time.Second

// remedies are what a refusal tells to do.
var remedies = regexp.MustCompile(`(?i)\b(add|ask|begins?|check|choose|convert|copy|correct|declare|divide|export|fetch|fill|fit|free|give|keep|leave|let|list|make|multiply|` +
	`name|needs|number the|pass|pick|put|quote|raise|read|remove|restore|run|save|scale|see|start|state|split|the columns are|there can be|use|was it|was the file|wait|warm|write)\b`)

// progress is what a long command says of itself.
var progress = regexp.MustCompile(` so far(, about .* left)?$| will take about \S+ \S+$`)

// check runs a command on something hostile. Right is an exit of 0 with what accept, where there is one,
// finds in order; a refusal is one line that names the place, if one is given, and a remedy. All else fails.
func (c *tally) check(name, stdin, place string, accept func(o outcome) error, args ...string) outcome {
	c.t.Helper()
	c.tried++
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var out, errs bytes.Buffer
	code := run(ctx, args, streams{strings.NewReader(stdin), &out, &errs})
	o := outcome{code, out.String(), errs.String()}
	if err := c.judge(ctx, o, place, accept); err != nil {
		c.failed++
		c.t.Errorf("%s: credence %s: %v", name, strings.Join(args, " "), err)
	}
	return o
}

func (c *tally) judge(ctx context.Context, o outcome, place string, accept func(o outcome) error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("took longer than %v", patience)
	}
	if strings.Contains(o.err, "a fault of the program") {
		return fmt.Errorf("%s", o.err)
	}
	for _, r := range o.err {
		if unicode.IsControl(r) && r != '\n' || unicode.Is(unicode.Bidi_Control, r) {
			return fmt.Errorf("what it says on standard error has %U: %q", r, o.err)
		}
	}
	if o.code == exitDone {
		c.right++
		if accept != nil {
			return accept(o)
		}
		return nil
	}
	c.refused++
	lines := strings.Split(strings.TrimSpace(o.err), "\n")
	message := ""
	for _, line := range lines {
		// of progress
		if strings.HasPrefix(line, "credence: ") && !strings.HasPrefix(line, "credence: warning: ") && !strings.HasPrefix(line, "credence: note: ") && !progress.MatchString(line) {
			if message != "" {
				return fmt.Errorf("exit %d with more than one message: %s", o.code, o.err)
			}
			message = line
		}
	}
	switch {
	case o.code != exitFailed && o.code != exitMisuse:
		return fmt.Errorf("exit %d: %s", o.code, o.err)
	case message == "" || len(message) > 3*longestText:
		return fmt.Errorf("exit %d without a line that says why: %.500q", o.code, o.err)
	case !slices.ContainsFunc(strings.Split(place, "|"), func(place string) bool { return strings.Contains(message, place) }):
		return fmt.Errorf("the refusal does not name %s: %s", place, message)
	case !remedies.MatchString(message):
		return fmt.Errorf("the refusal names no remedy: %s", message)
	}
	return nil
}

// everyNumber accepts predictions all of whose numbers are finite, but for a mean and a deviation beyond 1e300, which
// are empty beside an interval that holds.
func everyNumber(o outcome) error {
	for _, line := range strings.Split(strings.TrimSpace(o.out), "\n")[1:] {
		for i, cell := range strings.Split(line, ",") {
			if i < 2 && cell == "" && (strings.Contains(o.err, "is beyond all numbers") || strings.Contains(o.err, "degrees of freedom has")) {
				continue
			}
			if cell == "" || strings.Contains(cell, "NaN") || strings.Contains(cell, "Inf") {
				return fmt.Errorf("a prediction is %q", line)
			}
		}
	}
	return nil
}
