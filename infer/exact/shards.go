package exact

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/arrow"
	"github.com/credence-ml/credence/internal/checkpoint"
	"github.com/credence-ml/credence/internal/gauss"
	"github.com/credence-ml/credence/internal/segments"
)

// Units returns the units of a table's target, which all its files must share: they come from the
// first BlockRows rows of the table.
func (e *Engine) Units(ctx context.Context, data credence.Data) (Units, error) {
	r, err := e.openRows(ctx, data, 0, false)
	if err != nil {
		return Units{}, err
	}
	return r.units, nil
}

// NewSums returns sums without rows, for files of a table of which first is the first one, counted from 0. Files may
// have any number of rows, and rows may be left out. The frame is a fingerprint of all that turns a row into features
// (the formula, its levels, centres and scales, drawn frequencies): sums of another frame are not merged. Models whose
// features have hyper-parameters to learn are refused, because their sums change with every step.
func (e *Engine) NewSums(frame string, target Units, first int) (*Sums, error) {
	s, err := e.emptySums(frame)
	if err != nil {
		return nil, err
	}
	if first < 0 {
		return nil, fmt.Errorf("exact: there is no file %d: count the files of a table from 0", first)
	}
	if fraction, _ := math.Frexp(target.Scale); fraction != 0.5 {
		return nil, fmt.Errorf("exact: the scale %v of the target is not a power of two: take the units from Engine.Units", target.Scale)
	}
	s.restart(e.model.Features.Weights(), target)
	s.file = first
	return s, nil
}

// CheckSums refuses a model whose rows have no sums that could be merged.
func (e *Engine) CheckSums() error {
	_, err := e.emptySums("")
	return err
}

// emptySums returns the sums of an engine's model before anything is known of rows.
func (e *Engine) emptySums(frame string) (*Sums, error) {
	if e.tuned {
		return nil, fmt.Errorf("exact: the features have hyper-parameters to learn, so that rows have no sums before the fit: state them, as in lengthscale=0.5")
	}
	fingerprint, err := checkpoint.Fingerprint(frame, e.model.Features.Blocks())
	if err != nil {
		return nil, err
	}
	s := &Sums{engine: e, fingerprint: fingerprint, segment: e.segment, layout: gauss.Dense{Weights: e.model.Features.Weights(), Definite: true}}
	if e.levels {
		finder := arrow.NewFinder(e.model.Features)
		if !finder.Known() {
			return nil, fmt.Errorf("exact: sums of shards are for one category of many levels, and which levels of two a row has together only all rows tell: fit the rows themselves")
		}
		if s.layout, err = patternOf(finder); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Add adds all rows of data: those of the next file, or of the next ones where data is [ability.Filed].
func (s *Sums) Add(ctx context.Context, data credence.Data) error {
	end := s.file + len(ability.Files(data)) - 1
	if data.Rows() > 0 {
		e := s.engine
		r, err := problem.Open("exact", e.model, data, problem.AllRoles)
		if err != nil {
			return err
		}
		s.inputs = r.Report().Inputs
		if err := s.addFiles(ctx, credence.NewWorkspace(e.config.Threads), r, e.model.Features); err != nil {
			return err
		}
	}
	for s.file < end { // the last ones may have no rows
		s.endFile()
	}
	return nil
}

// addFiles adds all rows, and ends every file but the last.
func (s *Sums) addFiles(ctx context.Context, ws *credence.Workspace, rows *problem.Rows, features credence.Features) error {
	var phi credence.Design
	begun := s.file
	for b, err := range rows.ByFile(ctx) {
		if err != nil {
			return err
		}
		for ; s.file < begun+b.File; s.endFile() {
		}
		features.Transform(ws, &phi, b.Batch)
		s.add(ws, &phi, b.Batch)
	}
	return nil
}

// Units returns those in which the sums begin.
func (s *Sums) Units() Units { return s.base }

// Rows returns the number of rows.
func (s *Sums) Rows() (rows int) {
	for _, t := range s.trees {
		if t.Sum != nil {
			rows += t.Sum.rows
		}
	}
	return rows
}

// Merge adds the sums of other files of the same table, under the same frame.
func (s *Sums) Merge(other *Sums) error {
	switch {
	case s.fingerprint != other.fingerprint:
		return fmt.Errorf("exact: the sums are of different frames or features: sum up all shards under one frame")
	case s.base != other.base || s.segment != other.segment:
		return fmt.Errorf("exact: the sums are in different units, %+v and %+v: sum up all shards in those of Engine.Units", s.base, other.base)
	}
	if at := segments.Overlap(s.trees, other.trees); at >= 0 {
		return fmt.Errorf("exact: both sums have file %d: merge every file once", at+1)
	}
	s.trees = segments.Join(slices.Concat(s.trees, other.trees))
	s.file = max(s.file, other.file)
	s.inputs = max(s.inputs, other.inputs)
	return nil
}

// FitSums learns the hyper-parameters from the sums of all rows of a table, and returns what Fit
// returns for the table itself. It refuses fewer rows than weights, which another form is for.
func (e *Engine) FitSums(ctx context.Context, s *Sums) (*credence.Fitted, error) {
	if e.tuned || s.engine.model.Features.Weights() != e.model.Features.Weights() {
		return nil, fmt.Errorf("exact: the sums are of a model with other features")
	}
	if d := e.model.Features.Weights(); s.Rows() < d && !e.levels {
		return nil, fmt.Errorf("exact: %d rows for %d weights: fit the rows themselves, whose sums take more memory than they do", s.Rows(), d)
	}
	run := &fit{Engine: e, total: s.Rows(), inputs: s.inputs}
	run.ws = credence.NewWorkspace(e.config.Threads)
	p := &primal{common: e.common(nil, run.ws, false), rowSums: s}
	if run.form = p; e.levels {
		form := e.newLevels(p)
		form.take(s.layout.(gauss.Arrow))
		run.form = form
	}
	if err := run.climbVariances(ctx); err != nil {
		return nil, err
	}
	return run.fitted(), nil
}

// sumsDocument describes the sums of a file, whose numbers are in tensors: moments has a row for
// each subtree, and gram.k and cross.k are those of subtree k.
type sumsDocument struct {
	Weights     int            `json:"weights"`
	Inputs      int            `json:"inputs"`
	SegmentRows int            `json:"segment_rows"`
	Target      Units          `json:"target"`
	Subtrees    []treeDocument `json:"subtrees"`
}

type treeDocument struct {
	Position int `json:"position"` // the first file
	Files    int `json:"files"`
	Rows     int `json:"rows"`
}

// momentsOfSums is how many numbers of a summary a file of sums has.
const momentsOfSums = 8

// packed is how many numbers of products a file of sums has.
func (s *Sums) packed() int {
	if dense, ok := s.layout.(gauss.Dense); ok {
		return dense.Weights * (dense.Weights + 1) / 2
	}
	return s.layout.Len()
}

func (s *Sums) kind() checkpoint.Kind {
	return checkpoint.Kind{Name: "exact sums", Format: 3, Fingerprint: s.fingerprint, Anew: "sum up the files again under the frame of the others"}
}

// Encode adds the numbers of the sums to vectors, under names that begin with the prefix, and returns what else
// [Engine.DecodeSums] needs.
func (s *Sums) Encode(prefix string, vectors map[string][]float64) (json.RawMessage, error) {
	document := sumsDocument{Weights: s.engine.model.Features.Weights(), Inputs: s.inputs, SegmentRows: s.segment, Target: s.base}
	moments := []float64{}
	for k, t := range s.trees {
		p := t.Sum
		if p == nil {
			p = new(partial)
		}
		document.Subtrees = append(document.Subtrees, treeDocument{t.Position, 1 << t.Height, p.rows})
		moments = append(moments, p.units.Scale, p.weight, p.precise, p.logPrecision, p.sum, p.square, p.targetSum, p.targetSquare)
		if p.rows > 0 {
			vectors[fmt.Sprintf("%sgram.%d", prefix, k)], vectors[fmt.Sprintf("%scross.%d", prefix, k)] = p.gram, p.cross
		}
	}
	vectors[prefix+"moments"] = moments
	return json.Marshal(document)
}

// DecodeSums returns sums that Encode encoded, for the same model under the same frame.
func (e *Engine) DecodeSums(text json.RawMessage, prefix string, vectors map[string][]float64, frame string) (*Sums, error) {
	s, err := e.emptySums(frame)
	if err != nil {
		return nil, err
	}
	var document sumsDocument
	if err := json.Unmarshal(text, &document); err != nil {
		return nil, fmt.Errorf("exact: the sums cannot be read: %w", err)
	}
	d := e.model.Features.Weights()
	if document.Weights != d || document.SegmentRows != s.segment {
		return nil, fmt.Errorf("exact: the sums are of %d weights by segments of %d rows: this model has %d, by %d", document.Weights, document.SegmentRows, d, s.segment)
	}
	s.inputs = document.Inputs
	s.restart(d, document.Target)
	moments := vectors[prefix+"moments"]
	if len(moments) != momentsOfSums*len(document.Subtrees) {
		return nil, fmt.Errorf("exact: there are %d moments of %d sums", len(moments), len(document.Subtrees))
	}
	for k, t := range document.Subtrees {
		m := moments[momentsOfSums*k:]
		p := &partial{rows: t.Rows, summary: summary{units: Units{s.base.Centre, m[0]}, weight: m[1], precise: m[2], logPrecision: m[3],
			sum: m[4], square: m[5], targetSum: m[6], targetSquare: m[7]}}
		p.gram, p.cross = vectors[fmt.Sprintf("%sgram.%d", prefix, k)], vectors[fmt.Sprintf("%scross.%d", prefix, k)]
		n := subtree{Position: t.Position, Height: bits.Len(uint(t.Files)) - 1, Sum: p}
		if t.Rows == 0 {
			n.Sum = nil
		}
		if (len(p.cross) != d || len(p.gram) != s.packed()) && t.Rows > 0 || t.Rows < 0 || !n.Sound() || n.Position < s.file || t.Files != 1<<n.Height {
			return nil, fmt.Errorf("exact: the file describes sums that are none: sum up the files again")
		}
		s.trees, s.file = append(s.trees, n), n.End()
	}
	return s, nil
}

// Write replaces the file at path by the sums: a safetensors file, with a digest of its content.
func (s *Sums) Write(path string) error {
	vectors := map[string][]float64{}
	document, err := s.Encode("", vectors)
	if err != nil {
		return err
	}
	return s.kind().WriteAll(path, document, vectors)
}

// ReadSums reads sums that Write wrote for the same model under the same frame.
func (e *Engine) ReadSums(path, frame string) (*Sums, error) {
	s, err := e.emptySums(frame)
	if err != nil {
		return nil, err
	}
	var document json.RawMessage
	vectors, err := s.kind().ReadAll(path, &document)
	if err == nil {
		s, err = e.DecodeSums(document, "", vectors, frame)
	}
	return s, err
}

// SumsOf returns the sums of a table of one file whose products are known without its rows, as a database adds them up:
// the upper triangle of ΦᵀΦ row by row, Φᵀy', Σy' and Σy'², with y' = (y − Centre)/Scale; rows have no weights.
func (e *Engine) SumsOf(frame string, target Units, rows, inputs int, gram, cross []float64, sum, square float64) (*Sums, error) {
	s, err := e.NewSums(frame, target, 0)
	if err != nil {
		return nil, err
	}
	if _, dense := s.layout.(gauss.Dense); !dense || rows < 1 || len(cross) != e.model.Features.Weights() || len(gram) != s.packed() {
		return nil, fmt.Errorf("exact: %d products of %d rows for %d weights, or too many levels to multiply with each other", len(gram), rows, e.model.Features.Weights())
	}
	n := float64(rows)
	s.inputs, s.file = inputs, 1
	s.trees = []subtree{{Sum: &partial{rows: rows, gram: gram, cross: cross,
		summary: summary{units: target, weight: n, precise: n, sum: sum, square: square, targetSum: sum, targetSquare: square}}}}
	return s, nil
}
