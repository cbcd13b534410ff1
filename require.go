package credence

import (
	"fmt"
	"reflect"
	"strings"
)

// Require narrows part, which is the model's Likelihood, Prior or Features, to
// the interface T that an engine needs. engine and role name the two in the
// refusal, which says what is missing.
func Require[T any](engine, role string, part any) (T, error) {
	if narrowed, ok := part.(T); ok {
		return narrowed, nil
	}
	var none T
	if part == nil {
		return none, fmt.Errorf("%s: the model has no %s", engine, role)
	}
	want := reflect.TypeFor[T]()
	have := reflect.TypeOf(part)
	var missing []string
	for i := range want.NumMethod() {
		name := want.Method(i).Name
		if _, ok := have.MethodByName(name); !ok {
			missing = append(missing, name)
		}
	}
	return none, fmt.Errorf("%s: %s %s has no %s: choose another engine or %s",
		engine, role, have, strings.Join(missing, ", "), role)
}
