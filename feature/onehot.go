package feature

import (
	"fmt"

	"github.com/credence-ml/credence"
)

// OneHot is one weight for every level of a category, as a block of its own.
type OneHot struct {
	Name  string `json:"name"` // as the formula writes it
	Input int    `json:"input"`
}

// Kind implements [Term].
func (*OneHot) Kind() string { return "onehot" }

// Label implements [Term].
func (t *OneHot) Label() string { return t.Name }

// Bind implements [Term].
func (t *OneHot) Bind(in *Inputs) (Map, error) {
	input, err := inputAt(in, t.Name, t.Input)
	if err != nil {
		return nil, err
	}
	if input.Kind != credence.Category {
		return nil, fmt.Errorf("feature: %s: %s is a %s: declare it a category", t.Name, input.Name, input.Kind)
	}
	if len(input.Levels) == 0 {
		return nil, fmt.Errorf("feature: %s: %s has no levels: leave the term out", t.Name, input.Name)
	}
	levels := len(input.Levels)
	return &linearMap{categories: []category{{index: t.Input, input: *input}}, levels: levels}, nil
}
