package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset/stream"
	"github.com/credence-ml/credence/feature/keyed"
	"github.com/credence-ml/credence/internal/atomicfile"
	"github.com/credence-ml/credence/internal/safetensors"
	"github.com/credence-ml/credence/metric"
	"github.com/credence-ml/credence/modelfile"
	"github.com/credence-ml/credence/posterior"
)

// checkpointFormat is the version of checkpoints; a reader refuses others.
const checkpointFormat = 1

// checkpointKey is the metadata entry that holds the document.
const checkpointKey = "credence_checkpoint"

// checkpointDocument is the JSON of a checkpoint.
type checkpointDocument struct {
	Format    int             `json:"format"`
	Formula   string          `json:"formula"`
	Engine    string          `json:"engine"`
	Prior     string          `json:"prior"`
	Plan      stream.Plan     `json:"plan"`
	Position  stream.Position `json:"position"`
	Pass      int             `json:"pass"`
	Rows      int64           `json:"rows"`
	Positives float64         `json:"positives"`
	Weight    float64         `json:"weight"`
	Named     bool            `json:"named"`
	Beginning *beginning      `json:"beginning,omitempty"` // of the file at the position; nil for standard input
	Learner   json.RawMessage `json:"learner"`
}

func (s *streamRun) checkpointPath() string { return s.flags.output + ".checkpoint" }

// save writes the checkpoint, and the model where that is wanted.
func (s *streamRun) save(withModel bool) error {
	document, tensors, err := s.learner.State()
	if err != nil {
		return err
	}
	state, err := s.progressive.State()
	if err != nil {
		return err
	}
	text, err := json.Marshal(checkpointDocument{
		Format: checkpointFormat, Formula: streamFormula(&s.plan), Engine: s.engine.Call, Prior: s.engine.Prior,
		Plan: s.plan, Position: s.position, Pass: s.pass, Rows: s.rows,
		Positives: s.positives, Weight: s.weight, Named: s.names != nil, Learner: document,
		Beginning: beginningOf(s.paths[s.position.File], beginningBytes),
	})
	if err != nil {
		return err
	}
	tensors = append(tensors, s.keysTensor(), safetensors.Of("stream.progressive", state))
	if s.names != nil {
		arena, ends := s.names.Arena(s.slots)
		tensors = append(tensors, safetensors.Of("stream.names.text", arena), safetensors.Of("stream.names.ends", ends))
	}
	err = atomicfile.Write(s.checkpointPath(), func(w io.Writer) error {
		return safetensors.Write(w, map[string]string{checkpointKey: string(text)}, tensors)
	})
	if err != nil || !withModel {
		return err
	}
	return modelfile.Save(s.flags.output, s.fitted())
}

// keysTensor is the keys of the features, made in pieces as it is written:
// copies of them all would be a tenth of the memory of a run.
func (s *streamRun) keysTensor() safetensors.Tensor {
	return safetensors.Tensor{
		Name: "stream.keys", DType: safetensors.I64, Shape: []int{s.slots},
		Data: func(w io.Writer) error {
			var keys []uint64
			var signed []int64
			for first := 0; first < s.slots; first += savedKeys {
				keys = s.index.AppendKeys(keys[:0], first, min(savedKeys, s.slots-first))
				signed = signed[:0]
				for _, key := range keys {
					signed = append(signed, int64(key))
				}
				if err := safetensors.Encode(w, signed); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// savedKeys is the number of keys that are written at a time.
const savedKeys = 1 << 12

// restore takes up the checkpoint; false if there is none.
func (s *streamRun) restore() (bool, error) {
	path := s.checkpointPath()
	if !exists(path) {
		return false, nil
	}
	r, err := safetensors.Open(path)
	if err != nil {
		return false, fmt.Errorf("%s is not a checkpoint that can be read: %w: begin anew without --resume", path, err)
	}
	defer r.Close()
	if err := s.restoreFrom(r); err != nil {
		return false, fmt.Errorf("%s: %w", path, err)
	}
	s.program.say("resumed %s behind row %d", path, s.rows)
	s.skippedRows = s.rows
	return true, nil
}

func (s *streamRun) restoreFrom(r *safetensors.Reader) error {
	text, found := r.Metadata()[checkpointKey]
	if !found {
		return fmt.Errorf("it is no checkpoint of a stream: begin anew without --resume")
	}
	if err := r.Verify(); err != nil {
		return fmt.Errorf("%w: begin anew without --resume", err)
	}
	var doc checkpointDocument
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		return fmt.Errorf("its description is damaged: %w", err)
	}
	if doc.Format != checkpointFormat {
		return fmt.Errorf("it has format %d and this version reads format %d: begin anew without --resume", doc.Format, checkpointFormat)
	}
	if err := s.sameRun(&doc); err != nil {
		return misused(err)
	}
	s.plan = doc.Plan
	if s.flags.positive != "" {
		s.plan.Negative = "" // stated now: it stands against all the rest
	}
	if err := s.plan.Validate(); err != nil {
		return err
	}
	s.position, s.pass, s.rows = doc.Position, doc.Pass, doc.Rows
	if s.pass >= s.engine.Passes {
		if s.engine.Passes > 1 {
			return misused(fmt.Errorf("it is of a finished run of %d passes, in which new rows would count less than the others: begin anew without --resume", s.engine.Passes))
		}
		s.pass = s.engine.Passes - 1 // what has come since is learned
	}
	s.positives, s.weight = doc.Positives, doc.Weight
	if s.position.File < 0 || s.position.File >= len(s.paths) || s.position.Offset < 0 {
		return fmt.Errorf("it stands in file %d of the data and %d are given: resume with the same data", s.position.File+1, len(s.paths))
	}
	if path := s.paths[s.position.File]; doc.Beginning != nil && !doc.Beginning.is(path) {
		return fmt.Errorf("it stands in a file that began otherwise than %s does: resume with the same data, or begin anew without --resume", path)
	}
	var err error
	if s.learner, err = s.engine.Restore(doc.Learner, r); err != nil {
		return err
	}
	signed, err := safetensors.Read[int64](r, "stream.keys")
	if err != nil {
		return err
	}
	keys := make([]uint64, len(signed))
	for i, key := range signed {
		keys[i] = uint64(key)
	}
	if s.index, err = stream.IndexOf(keys); err != nil {
		return err
	}
	s.slots = len(keys)
	if doc.Named {
		arena, err := safetensors.Read[uint8](r, "stream.names.text")
		if err != nil {
			return err
		}
		ends, err := safetensors.Read[int64](r, "stream.names.ends")
		if err != nil {
			return err
		}
		if len(ends) != len(keys) {
			return fmt.Errorf("%d names for %d features: the file is damaged", len(ends), len(keys))
		}
		if s.names, err = stream.NamesOf(arena, ends); err != nil {
			return err
		}
	}
	state, err := safetensors.Read[float64](r, "stream.progressive")
	if err != nil {
		return err
	}
	s.progressive, err = metric.ProgressiveOf(state)
	return err
}

// sameRun refuses options other than those of the checkpoint, as far as they
// are stated.
func (s *streamRun) sameRun(doc *checkpointDocument) error {
	differs := func(what, have, want string) error {
		return fmt.Errorf("the checkpoint has %s %s, not %s: resume with the same options, or begin anew without --resume", what, want, have)
	}
	if have := s.engine.Call; have != doc.Engine {
		return differs("engine", have, doc.Engine)
	}
	if have := s.engine.Prior; have != doc.Prior {
		return differs("prior", have, doc.Prior)
	}
	found := s.plan.Positive == "" && doc.Plan.Negative != "" // by the data, as it will be again
	if s.plan.Positive != doc.Plan.Positive && !found {
		return differs("positive class", cmp.Or(s.plan.Positive, "by the labels"), cmp.Or(doc.Plan.Positive, "1 or true"))
	}
	stated := s.plan
	stated.Format = doc.Plan.Format
	if have := streamFormula(&stated); have != doc.Formula {
		return differs("formula", have, doc.Formula)
	}
	return nil
}

// fitted is the model as learned so far.
func (s *streamRun) fitted() *credence.Fitted {
	features := &keyed.Features{Keys: s.index.Keys(s.slots)}
	if s.names != nil {
		features.Text, features.Ends = s.names.Arena(s.slots)
		if features.Ends == nil {
			features.Ends = []int64{}
		}
	}
	weights := s.slots + 2
	q := &posterior.SpikeSlab{Mean: make([]float64, weights), Variance: make([]float64, weights), Probability: make([]float64, weights)}
	for j := range weights {
		slot := j - 1 // the first weight is the intercept's, the last that of a slot not met
		if j == weights-1 {
			slot = math.MaxInt32
		}
		w := s.learner.Weight(slot)
		q.Mean[j], q.Variance[j], q.Probability[j] = w.Mean, w.Variance, w.Inclusion
	}

	target := s.plan.Target
	if target == "" {
		target = "label"
	}
	plan, err := json.Marshal(s.plan)
	if err != nil {
		panic(fmt.Sprintf("stream: a plan cannot be written: %v", err)) // it is plain data
	}
	fitted := &credence.Fitted{
		Recipe:  credence.Recipe{Formula: streamFormula(&s.plan), Prior: s.engine.Prior, Engine: s.engine.Call, Seed: s.program.seed},
		Frame:   &keyed.Frame{Target: target, Plan: plan},
		Members: []credence.Member{{Model: credence.Model{Features: features}, Posterior: q}},
		Report: credence.Report{
			Engine: s.engine.Engine, Status: endOfData, Rows: s.rowsOfAPass(), Inputs: s.slots, Weights: weights, Iterations: s.engine.Passes,
		},
	}
	if s.weight > 0 {
		rate := s.positives / s.weight
		fitted.TargetMean, fitted.TargetVariance = rate, rate*(1-rate)
	}
	switch {
	case s.weight > 0 && s.positives == 0:
		fitted.Report.Warnings = append(fitted.Report.Warnings, fmt.Sprintf("no label is %s: every row is of one class, and nothing is learned about what tells two apart", cmp.Or(s.plan.Positive, "positive")))
	case s.weight > 0 && s.positives == s.weight:
		fitted.Report.Warnings = append(fitted.Report.Warnings, fmt.Sprintf("every label is %s: nothing is learned about what tells two classes apart", cmp.Or(s.plan.Positive, "positive")))
	}
	s.learner.Describe(fitted)
	fitted.Recipe.Family = fmt.Sprint(fitted.Members[0].Model.Likelihood)
	return fitted
}

// rowsOfAPass is the number of different rows that have been learned.
func (s *streamRun) rowsOfAPass() int {
	if s.pass == 0 || s.pass >= s.engine.Passes {
		return int(s.rows) / max(1, s.pass)
	}
	return int(s.rows-s.position.Rows) / s.pass
}

// endOfData is the status of a fit that learned online.
const endOfData credence.Status = "end of data"

// featureName names the feature of a slot.
func (s *streamRun) featureName(fitted *credence.Fitted, slot int) string {
	name := fitted.Members[0].Model.Features.(*keyed.Features).Name(slot)
	return strings.NewReplacer("\n", `\n`, "\r", `\r`).Replace(name)
}

// streamResult is the JSON object of a stream.
type streamResult struct {
	fitResult
	LogLoss       metric.Score `json:"log_loss,omitzero"`
	AUC           metric.Score `json:"auc,omitzero"`
	Features      int          `json:"features"`
	Malformed     int64        `json:"malformed,omitempty"`
	RowsPerSecond float64      `json:"rows_per_second"`
	NameBytes     int64        `json:"name_bytes,omitempty"` // memory of the names of features
}

func (s *streamRun) printResult(fitted *credence.Fitted, measured metric.ClassificationResult) error {
	result := streamResult{
		fitResult: newFitResult(fitted), LogLoss: measured.LogLoss, AUC: measured.AUC,
		Features: s.slots, Malformed: s.position.Malformed, RowsPerSecond: s.speed(),
	}
	selected := s.learner.Selected(s.slots)
	result.Selected = &selected
	result.Seconds = time.Since(s.started).Seconds()
	result.Model = s.flags.output
	if s.names != nil {
		result.NameBytes = s.names.Bytes()
	}
	if s.program.json {
		return s.program.emit(result)
	}
	s.program.printFit(&result.fitResult)
	s.program.say("        log loss %.5f%s   of rows scored before they were learned", float64(result.LogLoss), areaText(result.AUC))
	s.program.say("        %d features, %d selected; %.0f rows a second", result.Features, selected, result.RowsPerSecond)
	return nil
}
