package feature

import (
	"reflect"
	"slices"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
)

// featureRedraw checks that a redraw follows seed and start, keeps the blocks and
// leaves the features it came from alone, which are start 0.
func featureRedraw(t *testing.T, random ability.Redrawable, features credence.Features, rows *credence.Batch, whole *credence.Design) {
	one := random.Redraw(5, 6)
	sameBits(t, "a redraw for the same start", transform(random.Redraw(5, 6), 1, rows), transform(one, 1, rows))
	sameBits(t, "start 0", transform(random.Redraw(5, 0), 1, rows), whole)
	if random.Random() {
		for what, other := range map[string]credence.Features{"another seed": random.Redraw(6, 6), "another start": random.Redraw(5, 7)} {
			if slices.Equal(transform(other, 1, rows).Dense.Data, transform(one, 1, rows).Dense.Data) {
				t.Errorf("%s draws the same frequencies", what)
			}
		}
	}
	was, now := features.Blocks(), one.Blocks()
	if len(was) != len(now) {
		t.Fatalf("a redraw has %d blocks of %d", len(now), len(was))
	}
	for k := range was {
		if was[k] != now[k] {
			t.Fatalf("a redraw made block %+v of %+v", now[k], was[k])
		}
	}
	sameBits(t, "features after a redraw", transform(features, 1, rows), whole)
}

// featureThin checks that thinned features have the same blocks, no larger, and the same hyper-parameters,
// and that as many parts as there are weights leave something of every block.
func featureThin(t *testing.T, random ability.Redrawable, features credence.Features, rows *credence.Batch, whole *credence.Design) {
	for _, parts := range []int{1, 2, features.Weights()} {
		thin := random.Thin(parts)
		was, now := features.Blocks(), thin.Blocks()
		if len(was) != len(now) {
			t.Fatalf("one in %d has %d blocks of %d", parts, len(now), len(was))
		}
		next := 0
		for k := range was {
			if now[k].Name != was[k].Name || now[k].Intercept != was[k].Intercept || now[k].First != next || now[k].Count < 1 || now[k].Count > was[k].Count {
				t.Fatalf("one in %d made block %+v of %+v, where weight %d comes next", parts, now[k], was[k], next)
			}
			next += now[k].Count
		}
		if next != thin.Weights() {
			t.Fatalf("one in %d has %d weights in blocks of %d", parts, thin.Weights(), next)
		}
		phi := transform(thin, 1, rows)
		if parts == 1 {
			sameBits(t, "one in one", phi, whole)
		}
		if columns := phi.Dense.Cols + phi.Sparse.Cols; columns != next {
			t.Fatalf("one in %d has %d columns for %d weights", parts, columns, next)
		}
		if tunable, ok := features.(credence.Tunable); ok && !reflect.DeepEqual(tunable.Hyper(), thin.(credence.Tunable).Hyper()) {
			t.Fatalf("one in %d has other hyper-parameters", parts)
		}
	}
	sameBits(t, "features after thinning", transform(features, 1, rows), whole)
}
