package feature

import (
	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/linop"
)

// Intercept is the constant feature 1.
type Intercept struct{}

// Kind implements [Term].
func (*Intercept) Kind() string { return "intercept" }

// Label implements [Term].
func (*Intercept) Label() string { return "(intercept)" }

// Bind implements [Term].
func (*Intercept) Bind(*Inputs) (Map, error) { return interceptMap{}, nil }

type interceptMap struct{}

func (interceptMap) Columns() (dense, sparse int) { return 1, 0 }

func (interceptMap) Fill(_ *credence.Workspace, dst linop.Dense, _ *credence.Batch) {
	for i := range dst.Rows {
		dst.Row(i)[0] = 1
	}
}

func (interceptMap) WeightName(int) string { return "(intercept)" }

func (interceptMap) groups() []group { return []group{{}} }
