package criticism

import (
	"context"
	"math"
	"regexp"
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
	Check     string  `json:"check"` // target, repeats, outliers, order, groups, dispersion, zeros, trend, interaction, link, odds or tails
	Tone      Tone    `json:"tone"`
	Statistic float64 `json:"statistic"`
	Expected  float64 `json:"expected"` // value of the statistic under the model
	P         float64 `json:"p"`        // probability of the statistic under the model, for all that the check looked at
	Text      string  `json:"text"`
	Remedy    string  `json:"remedy"`         // "" where following none makes the model better
	Rows      []int   `json:"rows,omitempty"` // of the data, counted from 0
}

// String returns the text and the remedy in one line.
func (f Finding) String() string {
	if f.Remedy == "" {
		return f.Text
	}
	return f.Text + ": " + f.Remedy
}

var rowNumbers = regexp.MustCompile(`\(rows? \d+(, \d+)*`)

// Placed adds to a text of a finding where the rows of the source that it names stand: "rows 16, 40 at train.csv:17, 41".
// A text itself has numbers alone, counted from 1 over all files, for it is stored with the model.
func Placed(source credence.Source, text string) string {
	placer, ok := source.(frame.Placer)
	if !ok {
		return text
	}
	return rowNumbers.ReplaceAllStringFunc(text, func(rows string) string {
		places, stem := rows+" at ", ""
		for k, number := range strings.Split(rows[strings.Index(rows, " ")+1:], ", ") {
			row, _ := strconv.Atoi(number)
			place := placer.Place(row - 1)
			if strings.HasPrefix(place, "row ") { // no more is known
				return rows
			}
			if k > 0 {
				places += ", "
			}
			places += strings.TrimPrefix(place, stem)
			stem = place[:strings.LastIndexAny(place, " :")+1] // of "train.csv:17" or "row 17"
		}
		return places
	})
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

// Of looks for faults of a model in rows with targets: those that it was fitted to, or others. It returns
// what was found, at most one finding for each check, faults first. The likelihood must be one with
// derivatives and a distribution function, such as every family of package likelihood; any other has no
// findings. Rows of weight 0 are left out, and other weights are not used.
func Of(ctx context.Context, fitted *credence.Fitted, data credence.Data, options Options) ([]Finding, error) {
	s, err := newSample(ctx, fitted, data, options)
	if err != nil || s == nil || len(s.residual) == 0 {
		return nil, err
	}
	if f := s.leak(); f != nil { // beside which nothing else means anything
		return []Finding{*f}, nil
	}
	var found []Finding
	add := func(f *Finding) bool {
		if f != nil {
			found = append(found, *f)
		}
		return f != nil
	}
	repeated := s.copies()
	sorted := s.sorted()
	s.share = ErrorRate / float64(s.checks(sorted))
	if add(s.repeats(repeated)) {
		s.leaveOut(repeated.later)
	}
	// Outliers come before sums: few of them are left out of what follows, and many are no outliers but
	// a matter of dispersion or tails.
	extreme := s.extremes()
	all := s.used
	s.leaveOut(extreme)
	if s.kind.fixedDispersion && len(extreme) > 0 && s.dispersion() != nil {
		extreme, s.used = nil, all
	}
	outliers := add(s.outliers(extreme))
	if len(s.used) < fewestRows {
		return found, nil
	}
	wild := outliers && s.influence(extreme) > influential
	told := outliers && s.discrete() // that the family is another
	if !wild {
		s.compare()
		bent, crossed := s.trend(), s.interaction()
		if sorted {
			add(s.unordered())
		} else if order := s.order(); order != nil {
			// Files are often in the order of some column, and what bends with it goes with the order.
			if most := larger(bent, crossed); most != nil && most.Tone == Remark && most.Statistic > order.Statistic*order.Statistic {
				order.Tone = Detail
			}
			add(order)
			s.keys = slices.DeleteFunc(s.keys, func(key column) bool { return key.name == s.time })
		}
		add(s.groups())
		dispersion := s.dispersion()
		add(dispersion)
		structured := add(larger(bent, crossed))
		structured = add(smaller(bent, crossed)) || structured
		structured = add(s.link()) || structured
		structured = add(s.odds()) || structured
		if !structured && !told {
			add(s.spread())
		}
		add(s.zeros(dispersion))
	}
	if !told {
		add(s.tails())
	}
	return inTones(found), nil
}

// larger is the finding that explains more, the first of equal ones, and smaller the other.
func larger(a, b *Finding) *Finding {
	if a == nil || b != nil && b.Statistic > a.Statistic {
		return b
	}
	return a
}

func smaller(a, b *Finding) *Finding {
	if larger(a, b) == a {
		return b
	}
	return a
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

// checks is the number of checks that are made of the rows.
func (s *sample) checks(sorted bool) int {
	n := 3 // outliers, trend and dispersion
	for _, made := range [...]bool{
		s.kind.counts, s.kind.gaussian, // zeros, tails
		len(s.columns) > 1, s.kind.other != nil, s.kind.grades > 2, // interaction, link, odds
		!sorted, len(s.keys) > 0, s.coincide,
	} {
		if made {
			n++
		}
	}
	if s.kind.classes && !s.kind.fixedDispersion { // whose residuals have no size of their own
		n--
	}
	return n
}

// mostChecks is the largest number of them.
const mostChecks = 11

// toneOf is Detail for what explains too little to be told, given what the error of f explains.
func (s *sample) toneOf(tone Tone, explained float64) Tone {
	if explained < toldShare+s.error() {
		return Detail
	}
	return tone
}

// influential is the sum of squared residuals of outliers, in those of all other rows, from which on
// they have bent the fit so far that the other residuals show nothing but that.
const influential = 1

// influence returns the sum of squared residuals of the rows over that of the rows used.
func (s *sample) influence(rows []int) float64 {
	squares := func(rows []int) float64 {
		sum := 0.0
		for _, i := range rows {
			sum += s.residual[i] * s.residual[i]
		}
		return sum
	}
	return squares(rows) / math.Max(squares(s.used), math.SmallestNonzeroFloat64)
}
