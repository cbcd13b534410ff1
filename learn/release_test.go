package learn

import (
	"errors"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/table"
)

// The weights of a finished learner that gives up its features for them are those of one that keeps them, each time
// that they are asked for, and what it has given up is neither learned on nor saved.
func TestReleasedFeatures(t *testing.T) {
	learned := func(every int) *Learner {
		l := must.Value(New(fit.Options{Formula: "label ~ .", Engine: "sep"}))(t)
		l.releaseEvery = every
		rows := &table.Rows{}
		for first := 0; first < 5000; first += 1000 {
			rows.Reset("f", []table.Column{{Name: "label"}})
			rows.Start = append(rows.Start, 0)
			for i := first; i < first+1000; i++ {
				rows.Values = append(rows.Values, float64(i*7%5/3))
				for k := range 15 {
					rows.Keys = append(rows.Keys, uint64(15*i+k))
				}
				rows.Keys = append(rows.Keys, uint64(100_000+i%5))
				rows.Start = append(rows.Start, len(rows.Keys))
				rows.Count++
			}
			must.Value(l.Learn(rows))(t)
		}
		l.Finish()
		return l
	}
	keeps, gives := learned(releaseEvery), learned(1<<14)
	want, got := must.Value(keeps.Fitted())(t), must.Value(gives.Fitted())(t)
	if !gives.released || keeps.released || !reflect.DeepEqual(got.Members, want.Members) || !reflect.DeepEqual(got.Report, want.Report) {
		t.Error("the models differ")
	}
	if again := must.Value(gives.Fitted())(t); again != got {
		t.Error("asked for again the model is another")
	}
	rows := &table.Rows{}
	rows.Reset("f", []table.Column{{Name: "label"}})
	_, learnErr := gives.Learn(rows)
	_, rowErr := gives.Row(map[string]any{"label": 1, "x": "u"})
	_, encodeErr := gives.Encode()
	for _, err := range []error{learnErr, rowErr, encodeErr, gives.Checkpoint(filepath.Join(t.TempDir(), "c"), credence.Position{}), keeps.Unite(gives),
		gives.Unite(keeps), gives.Leave(true), gives.United()} {
		if !errors.Is(err, fit.ErrMisuse) || !errors.Is(err, errReleased) {
			t.Errorf("%v", err)
		}
	}
	gives.Finish()
	before, _ := keeps.Progress()
	if after, err := gives.Progress(); err != nil || after != before {
		t.Errorf("progress is %v, %v, want %v", after, err, before)
	}
	if again := must.Value(gives.Fitted())(t); gives.EndPass() || again != got {
		t.Error("finished again the model is another, or there is another pass")
	}
}
