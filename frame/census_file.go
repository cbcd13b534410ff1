package frame

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/credence-ml/credence"
)

// censusJSON is the file form of a census.
type censusJSON struct {
	Frame    *Frame                `json:"frame"`
	Positive string                `json:"positive,omitempty"`
	First    int                   `json:"first"`
	Next     int                   `json:"next"`
	Size     int                   `json:"segment_rows"`
	Round    int                   `json:"round"`
	Levels   map[string]*levelList `json:"levels,omitempty"`
	Words    []string              `json:"words,omitempty"`
	Nodes    []node                `json:"nodes"`
}

// MarshalJSON writes all but what adding rows needs.
func (c *Census) MarshalJSON() ([]byte, error) {
	if err := c.flush(); err != nil {
		return nil, err
	}
	return json.Marshal(censusJSON{c.frame, c.options.Positive, c.first, c.file, c.size, c.round, c.levels, c.words, c.nodes})
}

// UnmarshalJSON reads a census, which can be merged and ended. Rows are added to one made by [NewCensus].
func (c *Census) UnmarshalJSON(data []byte) error {
	var file censusJSON
	if err := json.Unmarshal(data, &file); err != nil {
		return fmt.Errorf("frame: the census cannot be read: %w", err)
	}
	if err := file.validate(); err != nil {
		return fmt.Errorf("frame: the census is damaged: %w", err)
	}
	*c = Census{frame: file.Frame, options: Options{Missing: file.Frame.Missing, DropTarget: file.Frame.DropTarget, Unseen: file.Frame.Unseen, Raw: file.Frame.Raw, Positive: file.Positive},
		first: file.First, file: file.Next, size: file.Size, round: file.Round, levels: file.Levels, words: file.Words, nodes: file.Nodes}
	if file.Frame.Target != nil {
		c.options.Mode = file.Frame.Target.Mode
	}
	c.bind()
	for i := range c.nodes {
		if err := c.validate(c.nodes[i].Sum); err != nil {
			return fmt.Errorf("frame: the census is damaged: %w", err)
		}
	}
	return nil
}

// validate says what is wrong with all but the tallies.
func (f *censusJSON) validate() error {
	fr := f.Frame
	if fr == nil {
		return errors.New("it has no frame")
	}
	if f.First < 0 || f.Next < f.First || f.Size < 1 || f.Round < 0 || fr.Sparse < 0 || fr.SegmentWidth < fr.Sparse {
		return fmt.Errorf("files [%d, %d) of round %d", f.First, f.Next, f.Round)
	}
	for _, e := range fr.expressions(true) {
		if err := e.validate(false); err != nil { // the last rounds learn the rest
			return err
		}
	}
	lists := fr.Inputs
	if t := fr.Target; t != nil {
		lists = append(slices.Clip(lists), Input{Expr: t.Expr, Kind: t.Kind})
	}
	for i := range lists {
		if in := &lists[i]; in.Expr.Column == "" || in.Kind > credence.Category || in.Kind == credence.Category && f.Levels[in.Expr.root()] == nil {
			return fmt.Errorf("column %q of input %q has no levels, or no name", in.Expr.Column, in.Name)
		}
	}
	end := 0
	for i := range f.Nodes {
		n := &f.Nodes[i]
		if n.Sum == nil || !n.Sound() || n.Position < end {
			return fmt.Errorf("node %d stands at file %d", i, n.Position)
		}
		end = n.End()
	}
	return nil
}

// validate refuses a tally of other steps, inputs and levels than those of the round.
func (c *Census) validate(t *tally) error {
	want := c.newTally()
	if len(t.Steps) != len(want.Steps) || len(t.Inputs) != len(want.Inputs) || (t.Target == nil) != (want.Target == nil) {
		return errors.New("a node has sums of another round")
	}
	if t.Missing == nil {
		t.Missing = want.Missing
	}
	for i := range t.Inputs {
		in := &c.frame.Inputs[i]
		levels := 0
		if in.Kind == credence.Category {
			levels = len(c.levels[in.Expr.root()].Levels)
		}
		if s := &t.Inputs[i]; len(s.Counts) > levels || s.Weights != nil && len(s.Weights) != len(s.Counts) {
			return fmt.Errorf("input %s has %d counts of %d levels", in.Name, len(s.Counts), levels)
		}
	}
	if t.Target == nil {
		return nil
	}
	if len(t.Target.Values) != len(t.Target.Weights) || len(t.Target.Values) > mostLevels {
		return fmt.Errorf("the target has %d values and %d weights", len(t.Target.Values), len(t.Target.Weights))
	}
	if target := c.frame.Target; target.Kind == credence.Category {
		for _, v := range t.Target.Values {
			if k := int(v); float64(k) != v || k < 0 || k >= len(c.levels[target.Expr.Column].Levels) {
				return fmt.Errorf("the target has no level %v", v)
			}
		}
	}
	return nil
}
