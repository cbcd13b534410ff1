package laplace

import (
	"fmt"
	"slices"

	"github.com/credence-ml/credence/internal/checkpoint"
)

// progress is what a checkpoint holds: the answers of the starts that have been looked at, and those of the
// finalists that have been followed to their ends.
type progress struct {
	Rough []stored `json:"rough"`
	Final []stored `json:"final"`
}

// stored is an answer, without what its mode and the learned values tell again.
type stored struct {
	Iterations int       `json:"iterations"`
	Steps      int       `json:"steps"`
	Converged  bool      `json:"converged"`
	Settled    bool      `json:"settled"`
	numbers    []float64 // objective, evidence, rank, three learned values, those of kept blocks, weights
}

func store(a *answer) stored {
	numbers := append([]float64{a.mode.objective, a.evidence, a.rank}, a.at[:]...)
	return stored{a.mode.iterations, a.steps, a.mode.converged, a.settled, append(append(numbers, a.kept...), a.mode.weights...)}
}

func (f *fit) answerOf(s stored) *answer {
	first := len(s.numbers) - f.Table.Count()
	return &answer{
		mode:  &mode{weights: slices.Clone(s.numbers[first:]), objective: s.numbers[0], iterations: s.Iterations, converged: s.Converged},
		steps: s.Steps, settled: s.Settled, evidence: s.numbers[1], rank: s.numbers[2],
		at: [3]float64(s.numbers[3:6]), kept: slices.Clone(s.numbers[6:first]),
	}
}

// vectors are the parts that are not in the JSON.
func (p *progress) vectors() checkpoint.Vectors {
	list := checkpoint.Vectors{}
	for name, of := range map[string][]stored{"rough": p.Rough, "final": p.Final} {
		for k := range of {
			list[fmt.Sprint(name, ".", k)] = &of[k].numbers
		}
	}
	return list
}

func (f *fit) checkpoint() checkpoint.File {
	config := f.config
	config.MaxIterations = 0 // a fit may go on with another limit
	return f.Table.Checkpoint(f.config.Checkpoint, "laplace", 3, f.model, config)
}

// save adds an answer to one of the lists, and replaces the checkpoint, if there is to be one.
func (f *fit) save(p *progress, list *[]stored, a *answer) error {
	if f.config.Checkpoint == "" {
		return nil
	}
	*list = append(*list, store(a))
	return f.checkpoint().Save(p, p.vectors())
}

// resume returns what the checkpoint holds, nothing where there is none.
func (f *fit) resume() (*progress, error) {
	p := &progress{}
	if found, err := f.checkpoint().Resume(p, p.vectors); err != nil || !found {
		return p, err
	}
	for _, s := range append(slices.Clone(p.Rough), p.Final...) {
		if len(s.numbers) != 6+len(f.KeptBlocks)+f.Table.Count() {
			return nil, fmt.Errorf("laplace: checkpoint %s has %d numbers of an answer: name another file, or remove this one to begin anew", f.config.Checkpoint, len(s.numbers))
		}
	}
	// A search that came to its limit is made again, for the limit may be another now.
	if k := slices.IndexFunc(p.Final, func(s stored) bool { return !s.Converged }); k >= 0 {
		p.Final = p.Final[:k]
	}
	return p, nil
}
