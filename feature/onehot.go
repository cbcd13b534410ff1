package feature

import (
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/linop"
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
	return &oneHotMap{t.Input, *input}, nil
}

type oneHotMap struct {
	index int
	input Input
}

func (m *oneHotMap) Columns() (dense, sparse int) { return 0, len(m.input.Levels) }

func (m *oneHotMap) Fill(*credence.Workspace, linop.Dense, *credence.Batch) {}

func (m *oneHotMap) Ones(*credence.Batch) bool { return true }

func (m *oneHotMap) AppendRow(dst *linop.CSR, first int32, rows *credence.Batch, i int, ones bool) {
	level := code(rows.X.Row(i)[m.index], len(m.input.Levels))
	if level < 0 {
		return
	}
	dst.Index = append(dst.Index, first+int32(level))
	if !ones {
		dst.Value = append(dst.Value, 1)
	}
}

func (m *oneHotMap) WeightName(j int) string { return levelName(&m.input, j) }
