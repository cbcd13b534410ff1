package credence_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/credence-ml/credence"
)

// TestAppendTakesEveryRole: rows that are added have all roles that their batch has, and those before them what stands
// for none.
func TestAppendTakesEveryRole(t *testing.T) {
	var from, to credence.Batch
	from.X.Reshape(3, 1)
	roles := func(b *credence.Batch) (list []reflect.Value) {
		for _, field := range reflect.ValueOf(b).Elem().Fields() {
			if _, ok := field.Interface().([]float64); ok {
				list = append(list, field)
			}
		}
		return list
	}
	for k, role := range roles(&from) {
		role.Set(reflect.ValueOf([]float64{2, float64(10 + k), float64(20 + k)}))
	}
	to.X.Reshape(1, 1)
	to.Append(&from, 1, 2)
	for k, role := range roles(&to) {
		got := role.Interface().([]float64)
		if !slices.Equal(got[1:], []float64{float64(10 + k), float64(20 + k)}) || got[0] != 0 && got[0] != 1 {
			t.Errorf("role %d of the batch is %v", k, got)
		}
	}
}
