package fit

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strconv"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/spec"
)

// Odds are prior odds of inclusion of one feature.
type Odds struct {
	// Feature names a weight, as reports do, or a group.
	Feature string  `json:"feature"`
	Odds    float64 `json:"odds"`
	Place   string  `json:"place,omitempty"` // where they are stated, such as odds.csv:3, to stand before errors
}

// errorf is an error about them.
func (o *Odds) errorf(format string, arguments ...any) error {
	text := fmt.Sprintf(format, arguments...)
	if o.Place != "" {
		text = o.Place + ": " + text
	}
	return errors.New(text)
}

// ReadOdds reads names in the first column and odds in the second, separated by commas or tabs; a first line
// whose second cell is no number is a heading. A file without odds is refused. name stands before errors.
func ReadOdds(name string, from io.Reader) ([]Odds, error) {
	if from == nil {
		return nil, errors.New("there is no reader of odds")
	}
	text, err := io.ReadAll(from)
	if err != nil {
		var cause *fs.PathError
		if errors.As(err, &cause) {
			err = cause.Err
		}
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	r := csv.NewReader(strings.NewReader(strings.TrimPrefix(string(text), "\ufeff")))
	r.FieldsPerRecord, r.TrimLeadingSpace = -1, true
	if line, _, _ := strings.Cut(string(text), "\n"); strings.Contains(line, "\t") {
		r.Comma = '\t'
	}
	var list []Odds
	for first := true; ; first = false {
		cells, err := r.Read()
		if err == io.EOF && len(list) == 0 {
			return nil, fmt.Errorf("%s: the file has no odds: write name,odds on each line, such as age,0.1", name)
		}
		if err == io.EOF {
			return list, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		line, _ := r.FieldPos(0)
		o := Odds{Feature: strings.TrimSpace(cells[0]), Place: fmt.Sprintf("%s:%d", name, line)}
		switch len(cells) {
		case 1:
			return nil, o.errorf("there is a name without odds: write name,odds, such as age,0.1")
		case 2:
		default:
			return nil, o.errorf("%d fields stand where a name and its odds should: write name,odds, such as age,0.1, and quote a name that has a comma", len(cells))
		}
		cell := strings.TrimSpace(cells[1])
		if o.Odds, err = strconv.ParseFloat(cell, 64); err != nil {
			if first {
				continue
			}
			return nil, o.errorf("odds %q are not a number: write name,odds, such as age,0.1", cell)
		}
		list = append(list, o)
	}
}

// withOdds gives a prior the odds that are stated for features by their names.
func withOdds(p credence.Prior, features credence.Features, list []Odds) (credence.Prior, error) {
	s, ok := p.(prior.SpikeSlab)
	if !ok || len(list) == 0 {
		return p, nil
	}
	s.Odds = make([]float64, features.Weights())
	places, names := map[string]credence.Block{}, []string{}
	named, _ := features.(credence.Named)
	know := func(name string, b credence.Block) {
		if _, known := places[name]; !known {
			places[name], names = b, append(names, name)
		}
	}
	for _, c := range ability.Candidates(features, true) {
		if c.Name != "" {
			know(c.Name, c)
		}
		for j := c.First; j < c.First+c.Count && named != nil; j++ {
			know(named.WeightName(j), c)
		}
	}
	for _, o := range list {
		at, known := places[o.Feature]
		switch {
		case !known:
			place := o.Place
			if place != "" {
				place += ": "
			}
			remedy := spec.Errorf("", spec.Column{}, "%sthere is no feature %q to select", place, o.Feature).DidYouMean(o.Feature, names)
			if len(names) <= 20 {
				remedy = remedy.WithRemedy("the features are %s", strings.Join(names, ", "))
			} else {
				remedy = remedy.WithRemedy("select --json lists the names")
			}
			return nil, remedy
		case !(o.Odds > 0 && !math.IsInf(o.Odds, 1)):
			return nil, o.errorf("prior odds %v of %q are not a positive number: state one above 0, such as 0.1", o.Odds, o.Feature)
		case s.Odds[at.First] > 0 && s.Odds[at.First] != o.Odds:
			return nil, o.errorf("%q has the prior odds %v and %v, or is selected together with a feature that has others: state one number", o.Feature, s.Odds[at.First], o.Odds)
		}
		for j := at.First; j < at.First+at.Count; j++ {
			s.Odds[j] = o.Odds
		}
	}
	return s, nil
}
