package learn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/learn"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/safetensors"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/spec"
)

// perceptron is an online engine of a program's own: logistic regression by steps of one size.
type perceptron struct {
	Rate float64 `json:"rate"`
	Bias float64 `json:"bias"`
	w    []float64
}

func (p *perceptron) Learn(b *credence.Batch, probability []float64) (refused []int) {
	p.w = append(p.w, make([]float64, max(0, b.Sparse.Cols-len(p.w)))...)
	for i := range probability {
		f := p.Bias
		if b.Offset != nil {
			f += b.Offset[i]
		}
		probability[i] = 1 / (1 + math.Exp(-b.Sparse.AddRowDot(f, i, p.w)))
		weight := 1.0
		if b.Weight != nil {
			weight = b.Weight[i]
		}
		switch {
		case math.IsNaN(b.Target[i]) || weight == 0:
		case !b.Ordinary(i):
			refused = append(refused, i)
		default:
			step := p.Rate * weight * (b.Target[i] - probability[i])
			p.Bias += step
			slots, values := b.Sparse.Row(i)
			for k, slot := range slots {
				x := 1.0 // where all values are
				if values != nil {
					x = values[k]
				}
				p.w[slot] += step * x
			}
		}
	}
	return refused
}

func (p *perceptron) EndPass()               {}
func (p *perceptron) Finish()                {}
func (p *perceptron) Selected(count int) int { return count }

func (p *perceptron) Weight(slot int) credence.Marginal {
	switch {
	case slot == credence.InterceptSlot:
		return credence.Marginal{Mean: p.Bias, Inclusion: 1}
	case slot < len(p.w):
		return credence.Marginal{Mean: p.w[slot], Inclusion: 1}
	}
	return credence.Marginal{Inclusion: 1}
}

func (p *perceptron) Describe(f *credence.Fitted) {
	f.Members[0].Model.Likelihood = likelihood.Bernoulli{}
}

func (p *perceptron) State() ([]byte, []safetensors.Tensor, error) {
	document, err := json.Marshal(p)
	return document, []safetensors.Tensor{safetensors.Of("perceptron.w", p.w)}, err
}

func restore(document []byte, r *safetensors.Reader) (credence.Online, error) {
	p := &perceptron{}
	err := json.Unmarshal(document, p)
	if err == nil {
		p.w, err = safetensors.Read[float64](r, "perceptron.w")
	}
	return p, err
}

// A program adds an online engine of its own by a line, and its learner stops and goes on as those of this module do.
func Example_engine() {
	registry := fit.Default()
	registry.Engines = append(registry.Engines, fit.Engine{Name: "perceptron", Online: func(a *spec.Arguments, _ credence.Prior) (fit.Online, error) {
		rate := a.Float("rate", 0.1, spec.Positive())
		return fit.Online{Passes: 1, New: func() (credence.Online, error) { return &perceptron{Rate: rate}, nil }, Restore: restore}, nil
	}})
	options := fit.Options{Formula: "click ~ hash(site)", Engine: "perceptron(rate=0.5)", Registry: registry}
	file := filepath.Join(os.TempDir(), "perceptron.checkpoint")
	defer os.Remove(file)
	for _, pipe := range []string{clicks(600), clicks(1000)} {
		ctx := context.Background()
		data, err := dataset.Open(ctx, []string{"-"}, dataset.Options{Stdin: strings.NewReader(pipe), Once: true})
		check(err)
		learner, at, err := learn.Resume(file, options)
		check(err)
		columns, err := learner.Columns(data.Schema())
		check(err)
		check(data.Rows(ctx, columns, at, func(run *dataset.Run) error {
			_, err := learner.Learn(run.Rows)
			return err
		}))
		check(learner.Checkpoint(file, data.Behind()))
		learner.Finish()
		model, err := learner.Fitted()
		check(err)
		good, err := score.Row(model, map[string]any{"site": "good"})
		check(err)
		fmt.Println(learner.Rows(), "rows:", good.Probability > 0.4)
	}
	// Output:
	// 600 rows: true
	// 1000 rows: true
}
