package shards

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/criticism"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/dataset/text"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/infer/exact"
	"github.com/credence-ml/credence/infer/svi"
	"github.com/credence-ml/credence/internal/checkpoint"
	"github.com/credence-ml/credence/internal/order"
	"github.com/credence-ml/credence/safetensors"
)

// Part answers what a job asks, for some of its files.
type Part struct {
	name    string // of its file
	state   partState
	vectors map[string][]float64
	// states are those of the learners of files, which stay in the file of a part that was read.
	states map[int][]byte
}

// partState is what a file of a part has, beside vectors.
type partState struct {
	Job      string   `json:"job"`
	Round    int      `json:"round"`
	Question string   `json:"question"`
	Answers  []answer `json:"answers"`
}

// answer is what a part says of a file. Vectors whose names begin with the file's number are its own.
type answer struct {
	File    int                `json:"file"`
	Counts  counts             `json:"counts"`
	Census  json.RawMessage    `json:"census,omitempty"`
	Schema  *credence.Schema   `json:"schema,omitempty"` // of the first rows, with the file's levels
	Sums    json.RawMessage    `json:"sums,omitempty"`
	Targets *criticism.Targets `json:"targets,omitempty"`
	Beside  *credence.Schema   `json:"beside,omitempty"`  // of columns outside the formula
	Learned string             `json:"learned,omitempty"` // SHA-256 of the learner's state
}

var partKind = checkpoint.Kind{Name: "part", Format: 1, Anew: "run credence partial again for its files"}

// Write replaces the file at path by the part.
func (p *Part) Write(path string) error {
	var states []safetensors.Tensor
	for _, k := range slices.Sorted(maps.Keys(p.states)) {
		states = append(states, safetensors.Of(prefix(k)+"learner", p.states[k]))
	}
	return partKind.WriteAll(path, &p.state, p.vectors, states...)
}

// ReadPart reads a part that Write wrote.
func ReadPart(path string) (*Part, error) {
	p := &Part{name: path}
	var err error
	if p.vectors, err = partKind.ReadAll(path, &p.state); err != nil {
		return nil, said("partial", err)
	}
	return p, nil
}

// String names the part.
func (p *Part) String() string { return cmp.Or(p.name, "a part") }

// Partial answers what the job asks for the files of the given numbers, from 0. Nothing else of the job is read, and
// the answer depends on the file and the job alone.
func (j *Job) Partial(ctx context.Context, files ...int) (*Part, error) {
	if j.Asks() {
		return nil, errors.New("the job asks a database: print the query by --print, and give the CSV that the database prints")
	}
	question, err := j.question()
	if err != nil {
		return nil, err
	}
	p := &Part{state: partState{Job: j.id, Round: j.Round(), Question: question}, vectors: map[string][]float64{}, states: map[int][]byte{}}
	for _, k := range files {
		if k < 0 || k >= len(j.state.Files) {
			return nil, fmt.Errorf("shards: the job has no file %d: it has files 0 to %d", k, len(j.state.Files)-1)
		}
		var a *answer
		switch {
		case j.state.Online:
			a, err = j.learn(ctx, k, p.states)
		case j.state.Frame == nil:
			a, err = j.count(ctx, k, p.vectors)
		default:
			a, err = j.sum(ctx, k, p.vectors)
		}
		if err != nil {
			return nil, err
		}
		p.state.Answers = append(p.state.Answers, *a)
	}
	return p, nil
}

// prefix is what the names of file k's vectors begin with.
func prefix(k int) string { return fmt.Sprintf("%d.", k) }

// load opens file k and reads its columns; no source where it has no rows.
func (j *Job) load(ctx context.Context, k int, columns []string, trained *credence.Schema) (*dataset.Table, credence.Source, error) {
	table, err := j.open(ctx, k, trained)
	var source credence.Source
	if err == nil {
		if source, err = table.Load(ctx, columns); err != nil {
			table.Close()
		}
	}
	if errors.Is(err, dataset.ErrNoRows) {
		return nil, nil, nil
	}
	if faulty := (*text.Error)(nil); errors.As(err, &faulty) && faulty.Column != "" {
		err = fmt.Errorf("%w; columns have the kinds that the first 10,000 rows of all files have: where one is wrong, make the job anew with --types '%s=category'", err, faulty.Column)
	}
	return table, source, err
}

// begins returns the first row of file k among those of the model and among all.
func (s *state) begins(k int) (begin counts) {
	for _, c := range s.Counts[:k] {
		begin.Kept += c.Kept
		begin.Source += c.Source
	}
	return begin
}

// prepared makes the model, for rows of which none need be there, and its engine: one that adds up, or one that asks.
func (j *Job) prepared(data credence.Data) (p *fit.Prepared, adds *exact.Engine, asks *svi.Engine, err error) {
	if p, err = j.fit.PrepareApart(j.schema(), j.state.Frame, data); err == nil {
		adds, asks, err = p.Apart(j.state.NoRows)
	}
	if err == nil && (adds != nil && j.state.Inquiries != nil || asks != nil && j.state.Units != nil) {
		err = fmt.Errorf("the job's options are damaged: they ask for another engine than its rounds had: %s", jobKind.Anew)
	}
	return p, adds, asks, err
}

// sums returns sums without rows for file k and those behind it, in the units of all.
func (j *Job) sums(engine *exact.Engine, k int) (*exact.Sums, error) {
	return engine.NewSums(j.state.Frame.Fingerprint(), *j.state.Units, k)
}

// sum adds up file k.
func (j *Job) sum(ctx context.Context, k int, vectors map[string][]float64) (*answer, error) {
	fr := j.state.Frame
	a := &answer{File: k, Counts: j.state.Counts[k]}
	if a.Counts.Kept == 0 {
		return a, nil
	}
	table, source, err := j.load(ctx, k, nil, fr.Schema())
	if err != nil {
		return nil, err
	}
	if source == nil || source.Rows() != a.Counts.Source {
		return nil, fmt.Errorf("%s: had %d rows when they were counted, and has others now: make the job anew", j.state.Files[k].Path, a.Counts.Source)
	}
	defer table.Close()
	bound, err := fr.Bind(source, frame.RequireTargets)
	if err != nil {
		return nil, err
	}
	p, engine, asks, err := j.prepared(bound)
	if err != nil {
		return nil, err
	}
	if asks != nil {
		return a, j.respond(ctx, a, p, asks, bound, source, vectors)
	}
	sums, err := j.sums(engine, k)
	if err == nil {
		err = sums.Add(ctx, bound)
	}
	if err == nil {
		a.Sums, err = sums.Encode(prefix(k), vectors)
	}
	if err == nil {
		a.Targets, err = p.Targets(ctx, source)
	}
	if err == nil && !j.state.NoRows {
		err = j.carry(ctx, a, p, bound, source, vectors)
	}
	return a, err
}

// carry takes along the rows of a file that are looked at.
func (j *Job) carry(ctx context.Context, a *answer, p *fit.Prepared, bound *frame.Bound, source credence.Source, vectors map[string][]float64) error {
	begin, name := j.state.begins(a.File), prefix(a.File)
	var places, rows []int
	for _, place := range p.Criticised() {
		if place >= begin.Kept && place < begin.Kept+a.Counts.Kept {
			places, rows = append(places, place), append(rows, bound.SourceRow(place-begin.Kept))
		}
	}
	vectors[name+"places"] = floats(places)
	values, err := take(source, rows)
	if err != nil {
		return err
	}
	vectors[name+"rows"] = values
	if j.state.begins(len(j.state.Files)).Source <= fit.MostBeside && len(j.state.Outside) > 0 {
		// what stands outside the formula may be unreadable
		if table, other, err := j.load(ctx, a.File, j.state.Outside, nil); err == nil && other != nil {
			defer table.Close()
			a.Beside = &credence.Schema{Columns: other.Schema().Columns}
			if vectors[name+"beside"], err = take(other, rows); err != nil {
				return err
			}
		}
	}
	for i := range rows {
		rows[i] += begin.Source
	}
	vectors[name+"source"] = floats(rows)
	return nil
}

// take reads rows of a source.
func take(source credence.Source, rows []int) (values []float64, err error) {
	var chunk credence.Chunk
	values = []float64{}
	neighbours := func(first, other int) bool {
		return rows[other]-rows[first] == other-first && other-first < credence.BlockRows
	}
	for from, to := range order.Runs(len(rows), neighbours) {
		if err := source.Read(&chunk, rows[from], to-from); err != nil {
			return nil, err
		}
		values = append(values, chunk.Values.Data[:(to-from)*chunk.Values.Cols]...)
	}
	return values, nil
}
