package main

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/spec"
)

// days is how long the units of a half-life are.
var days = []struct {
	unit   string
	length float64
}{{"w", 7}, {"d", 1}, {"h", 1.0 / 24}, {"m", 1.0 / (24 * 60)}, {"s", 1.0 / (24 * 3600)}}

// halfLifeText is the value of --half-life as a number: of days where it has a unit, else in the unit of
// the column of times.
func (f *streamFlags) halfLifeText() (value string, unit bool, err error) {
	number, length := f.halfLife, 1.0
	for _, d := range days {
		if cut, found := strings.CutSuffix(number, d.unit); found {
			number, length, unit = cut, d.length, true
			break
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !(v > 0) {
		return "", false, fmt.Errorf("--half-life %s is no time: write for example 7d, 12h or 30m for a column of dates, or a number in the unit of the column", f.halfLife)
	}
	return strconv.FormatFloat(v*length, 'g', -1, 64), unit, nil
}

// engine is the text of the engine with what other flags say of it.
func (f *streamFlags) engine() (string, error) {
	text := f.Engine
	if f.from == "" || f.halfLife != "" || f.prune > 0 {
		text = cmp.Or(text, "sep")
	}
	if f.halfLife == "" && f.prune == 0 {
		return text, nil
	}
	call, err := spec.ParseSpec(text)
	if err != nil {
		return "", err
	}
	state := func(flag, name, value string) error {
		for _, have := range call.Named {
			if have.Key == name {
				return fmt.Errorf("%s and %s= of --engine say the same: keep one", flag, name)
			}
		}
		number, err := strconv.ParseFloat(value, 64)
		call.Named = append(call.Named, spec.Argument{Key: name, Value: spec.Number{Value: number}})
		return err
	}
	if f.halfLife != "" {
		value, _, err := f.halfLifeText()
		if err == nil {
			err = state("--half-life", "half_life", value)
		}
		if err != nil {
			return "", err
		}
	}
	if f.prune > 0 {
		if err := state("--prune", "features", strconv.FormatInt(f.prune, 10)); err != nil {
			return "", err
		}
	}
	return call.String(), nil
}

// checkTime refuses a column of times that holds none, or cannot tell how long a day is.
func (f *streamFlags) checkTime(table *dataset.Table) error {
	if f.Time == "" {
		return nil
	}
	schema := table.Schema()
	k := schema.Index(f.Time)
	if k < 0 {
		return fmt.Errorf("--time %s: there is no such column: name the column that says when rows came", f.Time)
	}
	if err := table.Check([]string{f.Time}); err != nil { // its dates may be read in two ways
		return err
	}
	if column := &schema.Columns[k]; column.Kind == credence.Category && !table.Undecided(f.Time) {
		remedy := "name a column of numbers, or of dates such as 2024-05-31"
		var dated []string
		for _, c := range schema.Columns {
			if schema.Reading.Notations[c.Name].Date != "" {
				dated = append(dated, c.Name)
			}
		}
		if len(dated) > 0 {
			remedy = fmt.Sprintf("name a column of dates, as %s", listed(dated))
		}
		return fmt.Errorf("--time %s: column %s holds texts, which are no times: %s", f.Time, f.Time, remedy)
	}
	if _, unit, _ := f.halfLifeText(); unit && !table.Undecided(f.Time) && schema.Reading.Notations[f.Time].Date == "" {
		return fmt.Errorf("--half-life %s: column %s holds numbers, whose unit is not known: write the half-life as a number in that unit, without %s", f.halfLife, f.Time, f.halfLife[len(f.halfLife)-1:])
	}
	return nil
}
