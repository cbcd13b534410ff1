package main

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/credence-ml/credence/bench/glmdata"
	"github.com/credence-ml/credence/bench/glmtrial"
	"github.com/credence-ml/credence/bench/layout"
	"github.com/credence-ml/credence/bench/protocol"
	"github.com/credence-ml/credence/infer/svi"
	"github.com/credence-ml/credence/metric"
)

// classSet is a set of two classes in libsvm text.
type classSet struct {
	name     string
	fifth    bool // every fifth row is for testing, as there is no test file
	diagonal bool // too many weights for a full covariance
}

func classSets() []classSet {
	return []classSet{{name: "a9a"}, {name: "w8a", fifth: true}, {name: "ijcnn1"}, {name: "mushrooms"}, {name: "reuters", diagonal: true}}
}

// classResult is what a set came to.
type classResult struct {
	Set             string  `json:"set"`
	Model           string  `json:"model"`
	TrainRows       int     `json:"train_rows"`
	TestRows        int     `json:"test_rows"`
	LogLoss         float64 `json:"log_loss"`
	ECE             float64 `json:"ece"`
	Accuracy        float64 `json:"accuracy"`
	BaselineLogLoss float64 `json:"baseline_log_loss"`
	BaselineECE     float64 `json:"baseline_ece"`
	CPUSeconds      float64 `json:"cpu_seconds"`
}

// classes measures probabilities of two classes beside those of the mode.
func (b *glmBench) classes(ctx context.Context) error {
	table := &layout.Table{Left: 2, Head: []string{"set", "covariance", "rows", "test rows", "accuracy", "log loss", "of the mode", "ECE", "of the mode", "CPU s"}}
	for _, set := range classSets() {
		if protocol.Missing(b.folder, set.name) {
			fmt.Fprintf(b.progress, "glm: %s is not in %s: skipped\n", set.name, b.folder)
			continue
		}
		r, err := b.classSet(ctx, set)
		if err != nil {
			return fmt.Errorf("%s: %w", set.name, err)
		}
		table.Add(r.Set, r.Model, strconv.Itoa(r.TrainRows), strconv.Itoa(r.TestRows), layout.Number(100*r.Accuracy, 2)+" %",
			layout.Number(r.LogLoss, 5), layout.Number(r.BaselineLogLoss, 5), layout.Number(r.ECE, 5), layout.Number(r.BaselineECE, 5), layout.Number(r.CPUSeconds, 2))
		if err := b.record(r); err != nil {
			return err
		}
	}
	return b.table("Two classes", table, "ECE: expected calibration error over 20 bins of equal count, on the test rows. "+
		"The mode: L2-regularised logistic regression with C = 1, that is the mode under N(0, 1), fitted here to 1e-9 nats. w8a: every fifth row is for testing.")
}

// classSet fits and scores one set.
func (b *glmBench) classSet(ctx context.Context, set classSet) (*classResult, error) {
	train, err := glmdata.Load(ctx, b.path(set.name, set.name+".gz"), nil, nil)
	if err != nil {
		return nil, err
	}
	var test *glmdata.Table
	if set.fifth {
		all := train
		train = all.Part(func(row int) bool { return row%5 != 4 })
		test = all.Part(func(row int) bool { return row%5 == 4 })
	} else if test, err = glmdata.Load(ctx, b.path(set.name, set.name+".t.gz"), train.Schema(), nil); err != nil {
		return nil, err
	}
	r := &classResult{Set: set.name, Model: "full", TrainRows: train.Rows(), TestRows: test.Rows()}
	config := svi.Config{Covariance: svi.Full}
	if set.diagonal {
		r.Model, config = "diagonal", svi.Config{}
	}
	fit, err := glmtrial.Run(ctx, train, glmtrial.Options{Formula: "label ~ .", Family: "bernoulli", SVI: config, Seed: b.seed, Threads: b.threads})
	if err != nil {
		return nil, err
	}
	scores, err := fit.Classification(test)
	if err != nil {
		return nil, err
	}
	r.LogLoss, r.ECE, r.Accuracy, r.CPUSeconds = float64(scores.LogLoss), float64(scores.ECE), float64(scores.Accuracy), fit.CPUSeconds
	baseline, err := scoreLogistic(train, test)
	if err != nil {
		return nil, err
	}
	r.BaselineLogLoss, r.BaselineECE = float64(baseline.LogLoss), float64(baseline.ECE)
	fmt.Fprintf(b.progress, "%s: log loss %.5f (mode %.5f), ECE %.5f (mode %.5f), %.2f CPU s\n", r.Set, r.LogLoss, r.BaselineLogLoss, r.ECE, r.BaselineECE, r.CPUSeconds)
	return r, nil
}

// scoreLogistic fits the mode to some rows and scores it on others.
func scoreLogistic(train, test *glmdata.Table) (metric.ClassificationResult, error) {
	positive := func(t *glmdata.Table) []bool {
		labels := t.Column("label")
		yes := make([]bool, len(labels))
		for i, v := range labels {
			yes[i] = v > 0
		}
		return yes
	}
	mode, err := fitLogistic(train, positive(train))
	if err != nil {
		return metric.ClassificationResult{}, err
	}
	var c metric.Classification
	for i, yes := range positive(test) {
		y := 0.0
		if yes {
			y = 1
		}
		p := mode.probability(test, i)
		if math.IsNaN(p) {
			return metric.ClassificationResult{}, fmt.Errorf("the mode gives no probability of row %d", i+1)
		}
		c.Add(y, p, 1)
	}
	return c.Result()
}
