package online

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/safetensors"
)

// trialRows are rows of three features of a few, whose weights are large or small.
func trialRows(rng *rand.Rand, count int, scale float64) *credence.Batch {
	b := &credence.Batch{Sparse: linop.CSR{Cols: 12}}
	for range count {
		f, columns := -1.0, []int32{int32(rng.IntN(4)), int32(4 + rng.IntN(4)), int32(8 + rng.IntN(4))}
		for _, j := range columns {
			f += scale * math.Sin(float64(j*j))
		}
		y := 0.0
		if rng.Float64() < 1/(1+math.Exp(-f)) {
			y = 1
		}
		if rng.IntN(50) == 0 {
			y = math.NaN() // scored alone
		}
		b.Sparse.AppendRow(columns, nil)
		b.Target = append(b.Target, y)
	}
	return b
}

// part is rows [from, to) of a batch.
func part(b *credence.Batch, from, to int) *credence.Batch {
	p := &credence.Batch{Sparse: linop.CSR{Cols: b.Sparse.Cols}, Target: b.Target[from:to]}
	if b.Weight != nil {
		p.Weight = b.Weight[from:to]
	}
	for i := from; i < to; i++ {
		p.Sparse.AppendRow(b.Sparse.Row(i))
	}
	return p
}

func newTrial(rates ...float64) *Trial {
	var learners []ability.Continuer
	for _, rate := range rates {
		learners = append(learners, NewSGD(SGDConfig{Rate: rate}))
	}
	return NewTrial(learners)
}

// A learner whose scores are no numbers goes at once, and leaves those of the others as they are without it.
func TestTrialDropsWhatIsNoNumber(t *testing.T) {
	all := trialRows(rand.New(rand.NewPCG(3, 4)), 300, 2)
	with, without := make([]float64, 300), make([]float64, 300)
	trial, other := newTrial(0.01, math.NaN(), 1), newTrial(0.01, 1)
	trial.Learn(all, with)
	other.Learn(all, without)
	if !slices.Equal(with, without) || len(trial.learners) != 2 || !slices.Equal(trial.loss, other.loss) {
		t.Errorf("%d learners are left, with losses %v, want %v", len(trial.learners), trial.loss, other.loss)
	}
}

// A trial answers, row by row, with the learner whose losses in the round are least, by the losses of learners of
// their own; the worse half goes after each round; and batches do not matter.
func TestTrialFollowsTheBest(t *testing.T) {
	rates := []float64{0.15, 0.01, 1, 20, 0.3}
	const rows = 40_000
	all := trialRows(rand.New(rand.NewPCG(1, 2)), rows, 2)
	for i := range rows { // most of the weight is in a part of the rows
		all.Weight = append(all.Weight, []float64{0.1, 0.1, 5}[i%3])
	}
	own := make([][]float64, len(rates))
	for k, rate := range rates {
		own[k] = make([]float64, rows)
		NewSGD(SGDConfig{Rate: rate}).Learn(all, own[k])
	}
	want := make([]float64, rows)
	in, loss, learned := []int{0, 1, 2, 3, 4}, make([]float64, len(rates)), 0
	best := func() int {
		found := in[0]
		for _, k := range in {
			if loss[k] < loss[found] {
				found = k
			}
		}
		return found
	}
	for i := range rows {
		want[i] = own[best()][i]
		if y := all.Target[i]; y == y {
			for k := range rates {
				p := own[k][i]
				if y == 0 {
					p = 1 - p
				}
				loss[k] -= all.Weight[i] * math.Log(max(p, 1e-15))
			}
			if learned++; learned == 1<<12 || learned == 1<<15 {
				slices.SortStableFunc(in, func(a, b int) int { return int(math.Copysign(1, loss[a]-loss[b])) })
				in, loss = in[:(len(in)+1)/2], make([]float64, len(rates))
			}
		}
	}
	for _, size := range []int{rows, 256, 1000} {
		trial := newTrial(rates...)
		for from := 0; from < rows; from += size {
			to := min(rows, from+size)
			got := make([]float64, to-from)
			trial.Learn(part(all, from, to), got)
			if !slices.Equal(got, want[from:to]) {
				t.Fatalf("batches of %d: rows %d to %d are answered otherwise than by the best", size, from, to)
			}
		}
		if len(trial.learners) != 2 {
			t.Errorf("%d learners are left", len(trial.learners))
		}
	}
}

// After the last round a trial is the learner that won, and at any time its state goes on with the same bytes.
func TestTrialEndsAndResumes(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	trial := newTrial(0.3, 0.01, 5)
	alone := NewSGD(SGDConfig{Rate: 0.3})
	for rows := 0; rows < 1<<18+20_000; rows += 10_000 {
		b := trialRows(rng, 10_000, 2)
		alone.Learn(b, make([]float64, 10_000))
		trial.Learn(b, make([]float64, 10_000))
		if rows != 0 && rows != 20_000 {
			continue
		}
		document, tensors, err := trial.State()
		must.Succeed(t, err)
		var file bytes.Buffer
		must.Succeed(t, safetensors.Write(&file, map[string]string{}, tensors))
		r := must.Value(safetensors.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len())))(t)
		again := must.Value(RestoreTrial(document, r, RestoreSGD))(t)
		second, _, err := again.State()
		if err != nil || !bytes.Equal(document, second) {
			t.Fatalf("the state comes back as %s, was %s (%v)", second, document, err)
		}
		trial = again.(*Trial)
	}
	if len(trial.learners) != 1 || trial.Weight(3) != alone.Weight(3) || trial.Weight(credence.InterceptSlot) != alone.Weight(credence.InterceptSlot) {
		t.Errorf("%d learners are left; the weight is %v, of the winner alone %v", len(trial.learners), trial.Weight(3), alone.Weight(3))
	}
	for _, damaged := range []string{`{"trial":{"rows":1,"loss":[1],"learners":[]}}`, `{"trial":{"rows":-1,"loss":[],"learners":[]}}`, `{"trial":{"rows":-1,"loss":[1],"learners":[{}]}}`, `{"trial":{"rows":1,"loss":[1,2],"learners":[{}]}}`, `{"trial":{"rows":1,"loss":[1e308],"learners":[{}]}}`, `{"trial":`} {
		if _, err := RestoreTrial(json.RawMessage(damaged), nil, RestoreSGD); err == nil {
			t.Errorf("%s is taken", damaged)
		}
	}
}

// What is stated is not tried.
func TestStatedSettingsAreHeld(t *testing.T) {
	if a, b, c := (FTRLConfig{Alpha: 2}).Tried(), (AdPredictorConfig{Variance: 2}).Tried(), (SGDConfig{Rate: 2}).Tried(); len(a) != 1 || a[0].Alpha != 2 || len(b) != 1 || b[0].Variance != 2 || len(c) != 1 || c[0].Rate != 2 {
		t.Errorf("%v %v %v", a, b, c)
	}
	for _, c := range (FTRLConfig{L1: 0.5}).Tried() {
		if c.Alpha == 0 || c.L1 != 0.5 {
			t.Errorf("%+v is tried", c)
		}
	}
}

// Rows that say nothing, and rows that one learner refuses, change neither the losses nor the count of rows, whatever
// else comes with them; and a refused row is told once, whoever refuses it.
func TestTrialCountsRowsThatAreLearned(t *testing.T) {
	b := trialRows(rand.New(rand.NewPCG(5, 6)), 60, 1)
	for i := range 60 {
		b.Target[i], b.Weight = float64(i%2), append(b.Weight, 1+float64(i%3))
	}
	few := newTrial(0.1, 0.5)
	few.Learn(b, make([]float64, 60))
	more, both := newTrial(0.1, 0.5), make([]float64, 63)
	for k, i := range []int{10, 20, 30} {
		row := part(b, i, i+1)
		row.Target, row.Weight = []float64{[]float64{math.NaN(), 1, 0}[k]}, []float64{[]float64{3, 0, 1e300}[k]}
		if k == 2 {
			row.Sparse.Value = []float64{1e200, 1, 1}
		}
		refused := more.Learn(row, both[:1])
		if want := [][]int{nil, nil, {0}}[k]; !slices.Equal(refused, want) {
			t.Errorf("row %d: rows %v are refused, want %v", k, refused, want)
		}
	}
	more.Learn(b, both[:60])
	if more.rows != 60 || few.rows != 60 || !slices.Equal(more.loss, few.loss) {
		t.Errorf("%d rows with the losses %v, want %d with %v", more.rows, more.loss, few.rows, few.loss)
	}
}

// A state of which a feature has numbers that cannot have been learned is refused, and the refusal names the feature.
func TestStatesWithoutNumbersAreRefused(t *testing.T) {
	b := trialRows(rand.New(rand.NewPCG(7, 8)), 100, 1)
	for name, c := range map[string]struct {
		learner credence.Online
		restore func([]byte, *safetensors.Reader) (credence.Online, error)
	}{
		"ftrl":        {NewFTRL(FTRLConfig{}), func(d []byte, r *safetensors.Reader) (credence.Online, error) { return RestoreFTRL(d, r) }},
		"adpredictor": {NewAdPredictor(AdPredictorConfig{}), func(d []byte, r *safetensors.Reader) (credence.Online, error) { return RestoreAdPredictor(d, r) }},
	} {
		c.learner.Learn(b, make([]float64, 100))
		document, tensors, err := c.learner.State()
		must.Succeed(t, err)
		for _, spoiled := range []pair{{math.NaN(), 1}, {0, math.Inf(1)}, {math.Inf(-1), 1}, {0.5, -1}, {0.25, 0.5}} {
			rows := safetensors.RowsOf(pairsName, 12, 2, func(slot int, row []float64) {
				copy(row, []float64{0.1, 0.2})
				if slot == 7 {
					copy(row, spoiled[:])
				}
			})
			var file bytes.Buffer
			must.Succeed(t, safetensors.Write(&file, map[string]string{}, []safetensors.Tensor{rows}))
			r := must.Value(safetensors.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len())))(t)
			learner, err := c.restore(document, r)
			if sound := spoiled == (pair{0.25, 0.5}); sound != (err == nil) || !sound && !strings.Contains(err.Error(), "feature 7") {
				t.Errorf("%s, %v: %v, %v (%d tensors)", name, spoiled, learner, err, len(tensors))
			}
		}
	}
}
