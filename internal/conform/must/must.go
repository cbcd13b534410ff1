// Package must ends a test where what it is about cannot be set up.
package must

import "testing"

// Value is what a call returns, of which the test ends where it returns an error: must.Value(New(model, config))(t).
func Value[T any](v T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		Succeed(t, err)
		return v
	}
}

// Succeed ends the test where there is an error.
func Succeed(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
