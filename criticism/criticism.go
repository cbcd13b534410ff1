package criticism

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/frame"
)

const (
	// ErrorRate is about the share of fits of right models that one of the checks speaks against. The checks
	// that are made of a fit share it equally.
	ErrorRate = 0.003
	// Rows is the largest number of rows that are looked at.
	Rows = 10000
	// fewestRows is the number of rows below which sums say nothing.
	fewestRows = 30
	// toldShare is what a finding must explain to be told with the fit: less is a [Detail].
	toldShare = 0.02
)

// Options says how to look at the rows.
type Options struct {
	Seed    uint64 // of the replicated targets
	Threads int    // 0 means all processors; results do not depend on it
	// Fitted says that the rows are those that the model was fitted to.
	Fitted bool
	// Beside holds the rows of the data's own table, or is that table: its columns outside the model may show groups of
	// rows. Nil means that there are none.
	Beside credence.Source
}

// Tone says how much depends on a finding.
type Tone string

// The tones of findings.
const (
	Fault  Tone = "fault"  // what the fit says of its own precision is wrong, or what it predicts is
	Remark Tone = "remark" // another model would be better
	Detail Tone = "detail" // so would another, by less than 2 %, or after what a remark says has been followed
)

// Finding is what a check says against a model.
type Finding struct {
	// target, repeats, outliers, order, groups, dispersion, zeros, trend, interaction, link, odds or tails
	Check     string  `json:"check"`
	Tone      Tone    `json:"tone"`
	Statistic float64 `json:"statistic"`
	Expected  float64 `json:"expected"` // value of the statistic under the model
	// probability of the statistic under the model, for all that the check looked at
	P      float64 `json:"p"`
	Text   string  `json:"text"`
	Remedy string  `json:"remedy"`         // "" where following none makes the model better
	Rows   []int   `json:"rows,omitempty"` // of the data, counted from 0

	explains *float64 // share of the variance; nil where that is no matter
	finer    bool     // the remedy is a finer curve
}

// String returns the text and the remedy in one line.
func (f Finding) String() string {
	if f.Remedy == "" {
		return f.Text
	}
	return f.Text + ": " + f.Remedy
}

// Placed adds to a text of a finding where the rows of the source that it names stand: "(rows 16, 40 at train.csv:17,
// 41". A text itself has numbers alone, counted from 1 over all files, for it is stored with the model.
func Placed(source credence.Source, text string) string {
	placer, ok := source.(frame.Placer)
	if !ok {
		return text
	}
	var placed strings.Builder
	for {
		before, rest, found := strings.Cut(text, "(row")
		placed.WriteString(before)
		if !found {
			return placed.String()
		}
		text = strings.TrimLeft(rest, "s, 0123456789")
		rows := strings.TrimRight(rest[:len(rest)-len(text)], ", ")
		text = rest[len(rows):]
		placed.WriteString("(row" + rows + places(placer, strings.FieldsFunc(rows, func(r rune) bool { return r < '0' || r > '9' })))
	}
}

// places is " at train.csv:17, 41" of numbers of rows, "" where no more is known than the numbers.
func places(placer frame.Placer, numbers []string) (all string) {
	separator, stem := " at ", ""
	for _, number := range numbers {
		row, _ := strconv.Atoi(number)
		place := placer.Place(row - 1)
		if strings.HasPrefix(place, "row ") {
			return ""
		}
		all += separator + strings.TrimPrefix(place, stem)
		separator, stem = ", ", place[:strings.LastIndexAny(place, " :")+1] // of "train.csv:17" or "row 17"
	}
	return all
}

// Texts returns the findings by their tones.
func Texts(found []Finding) (faults, remarks, details []string) {
	for _, f := range found {
		switch f.Tone {
		case Fault:
			faults = append(faults, f.String())
		case Remark:
			remarks = append(remarks, f.String())
		default:
			details = append(details, f.String())
		}
	}
	return faults, remarks, details
}

// check is one question that is asked of a sample.
type check struct {
	name  string
	tone  Tone // of what it finds, unless that says another
	among bool // it compares with columns, in the rows whose inputs are kept
	when  func(s *sample) bool
	// test returns nil, or what the check finds if P is small: statistic, P, text, remedy and what it explains.
	test func(s *sample) *Finding
}

// settled says that how large residuals are is known, so that what they follow is, too.
func (s *sample) settled() bool { return !s.vague }

// The checks, each of which has an equal part of the error where it is made. Two of dispersion share one.
var (
	copiesCheck      = check{"repeats", Fault, false, func(s *sample) bool { return s.copied.alike > 0 }, (*sample).repeats}
	outliersCheck    = check{"outliers", Fault, false, (*sample).settled, (*sample).outliers}
	orderCheck       = check{"order", Fault, false, func(s *sample) bool { return !s.sorted }, (*sample).order}
	groupsCheck      = check{"groups", Fault, false, func(s *sample) bool { return len(s.keys) > 0 }, (*sample).groups}
	dispersionCheck  = check{"dispersion", Fault, false, func(s *sample) bool { return (s.kind.fixedDispersion || s.kind.counts) && !s.events() }, (*sample).dispersion}
	spreadCheck      = check{"dispersion", Remark, true, func(s *sample) bool { return !s.kind.fixedDispersion && !s.kind.classes && !s.vague }, (*sample).spread}
	trendCheck       = check{"trend", Remark, true, (*sample).settled, (*sample).trend}
	interactionCheck = check{"interaction", Remark, true, func(s *sample) bool { return len(s.columns) > 1 && !s.vague }, (*sample).interaction}
	linkCheck        = check{"link", Remark, true, func(s *sample) bool { return s.kind.other != nil && !s.events() }, (*sample).link}
	oddsCheck        = check{"odds", Remark, true, func(s *sample) bool { return s.kind.grades > 2 }, (*sample).odds}
	zerosCheck       = check{"zeros", Remark, false, func(s *sample) bool { return s.kind.counts && !s.events() }, (*sample).zeros}
	tailsCheck       = check{"tails", Remark, false, func(s *sample) bool { return s.kind.gaussian && !s.vague }, (*sample).tails}

	checks = [...]*check{&copiesCheck, &outliersCheck, &orderCheck, &groupsCheck, &dispersionCheck, &spreadCheck, &trendCheck, &interactionCheck,
		&linkCheck, &oddsCheck, &zerosCheck, &tailsCheck}
)

// mostChecks is the largest number of checks.
const mostChecks = 11

// checks is the number of checks that are made of the rows.
func (s *sample) checks() int {
	made := map[string]bool{}
	for _, c := range checks {
		if c.when(s) {
			made[c.name] = true
		}
	}
	return len(made)
}

// ask makes a check. What explains too little, given what the error of f explains, is a [Detail].
func (s *sample) ask(c *check) *Finding {
	if !c.when(s) {
		return nil
	}
	f := c.test(s)
	if f == nil || !(f.P <= s.share) {
		return nil
	}
	f.Check, f.Tone = c.name, cmp.Or(f.Tone, c.tone)
	if f.explains != nil && *f.explains < toldShare+s.error() {
		f.Tone = Detail
	}
	if c.among && len(s.compared) < len(s.target) {
		f.Text += fmt.Sprintf(" (of %d rows)", len(s.view.rows))
	}
	return f
}

// Of looks for faults of a model in rows with targets: those that it was fitted to, or others. It returns
// what was found, at most one finding for each check, faults first. The likelihood must be one with
// derivatives and a distribution function, such as every family of package likelihood; any other has no
// findings. Rows of weight 0 are left out, and other weights are not used.
func Of(ctx context.Context, fitted *credence.Fitted, data credence.Data, options Options) ([]Finding, error) {
	if fitted == nil || data == nil && len(fitted.Members) > 0 {
		return nil, errors.New("there is no model or no data to look at")
	}
	s, err := newSample(ctx, fitted, data, options)
	if err != nil || s == nil || len(s.residual) == 0 {
		return nil, err
	}
	if f := s.leak(); f != nil { // beside which nothing else means anything
		return []Finding{*f}, nil
	}
	s.copied, s.sorted = s.copies(), s.inOrder()
	s.share = ErrorRate / float64(s.checks())
	var found []Finding
	add := func(all ...*Finding) (some bool) {
		for _, f := range all {
			if f != nil {
				found, some = append(found, *f), true
			}
		}
		return some
	}
	if add(s.ask(&copiesCheck)) {
		s.leaveOut(s.copied.later)
	}
	// Outliers come before sums: few of them are left out of what follows, and many are no outliers but
	// a matter of dispersion or tails.
	if s.settled() {
		s.extreme = s.extremes()
	}
	all := s.used
	s.leaveOut(s.extreme)
	if s.kind.fixedDispersion && len(s.extreme) > 0 && s.ask(&dispersionCheck) != nil {
		s.extreme, s.used = nil, all
	}
	outliers := add(s.ask(&outliersCheck))
	told := outliers && s.discrete() // that the family is another
	if len(s.used) < fewestRows {
		return found, nil
	}
	if !outliers || s.influence() <= influential {
		s.compare()
		most, less := bySize(s.ask(&trendCheck), s.ask(&interactionCheck))
		// Rows that a stiff curve passes by are no mistakes.
		if outliers && most != nil && most.finer && *most.explains > stiffShare {
			found[len(found)-1].Tone = Detail
		}
		order := s.ask(&orderCheck)
		// Files are often in the order of some column, and what bends with it goes with the order.
		if order != nil && most != nil && most.Tone == Remark && most.Statistic > order.Statistic*order.Statistic {
			order.Tone = Detail
		}
		if add(order) {
			s.keys = slices.DeleteFunc(s.keys, func(key column) bool { return key.name == s.time })
		} else if s.sorted {
			add(&Finding{Check: unorderedCheck, Tone: Remark, P: 1,
				Text: "whether neighbouring rows go together is not known: the file is sorted by " + cmp.Or(s.name, "the target")})
		}
		add(s.ask(&groupsCheck))
		s.counted = s.ask(&dispersionCheck)
		add(s.counted)
		if !add(most, less, s.ask(&linkCheck), s.ask(&oddsCheck)) && !told {
			add(s.ask(&spreadCheck))
		}
		add(s.ask(&zerosCheck))
	} else if !told && float64(len(s.extreme)) > manyExtreme*float64(len(all)) {
		s.compare()
		add(s.ask(&spreadCheck))
	}
	if !told {
		add(s.ask(&tailsCheck))
	}
	return inTones(found), nil
}

// bySize tells which finding explains more, the first of equal ones.
func bySize(a, b *Finding) (more, less *Finding) {
	if a == nil || b != nil && b.Statistic > a.Statistic {
		return b, a
	}
	return a, b
}

// inTones puts faults first. Of remarks the first alone stays one: what bends also spreads and has
// tails, and whoever follows one remark reads the next under the next fit.
func inTones(found []Finding) []Finding {
	var faults, others []Finding
	remarked := false
	for _, f := range found {
		switch {
		case f.Tone == Fault:
			faults = append(faults, f)
			continue
		case f.Tone == Remark && remarked:
			f.Tone = Detail
		case f.Tone == Remark:
			remarked = f.Check != unorderedCheck
		}
		others = append(others, f)
	}
	return append(faults, others...)
}

// stiffShare is the share of the variance that a finer curve explains from which on impossible rows may be those that
// the curve passes by.
const stiffShare = 0.1

// influential is the sum of squared residuals of outliers, in those of all other rows, from which on
// they have bent the fit so far that the other residuals show nothing but that.
const influential = 1

// manyExtreme is the share of impossible rows that are too many to be mistakes: they may be those of places where all
// residuals are larger.
const manyExtreme = 0.02

// influence returns the sum of squared residuals of the outliers over that of the rows used.
func (s *sample) influence() float64 {
	squares := [2]float64{1: math.SmallestNonzeroFloat64}
	for k, rows := range [...][]int{s.extreme, s.used} {
		for _, i := range rows {
			squares[k] += s.residual[i] * s.residual[i]
		}
	}
	return squares[0] / squares[1]
}
