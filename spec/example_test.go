package spec_test

import (
	"errors"
	"fmt"

	"github.com/credence-ml/credence/spec"
)

func ExampleParseFormula() {
	f, err := spec.ParseFormula("log(price) ~ . -id + rbf(lat,lon, n=400)")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("target:", f.Target)
	for _, term := range f.Terms {
		fmt.Printf("minus %-5v %v\n", term.Minus, term.Expr)
	}
	// Output:
	// target: log(price)
	// minus false .
	// minus true  id
	// minus false rbf(lat, lon, n=400)
}

func ExampleError_Caret() {
	_, err := spec.ParseFormula("price ~ rooms + size^z")
	var refused *spec.Error
	if errors.As(err, &refused) {
		fmt.Println(refused)
		fmt.Println(refused.Caret())
	}
	// Output:
	// column 21: a power is a number: write such as x^2
	// price ~ rooms + size^z
	//                     ^
}

// A later stage complains in the same way about names that the grammar cannot
// know.
func ExampleFormula_Errorf() {
	columns := []string{"price", "rooms", "size"}
	f, _ := spec.ParseFormula("price ~ room + size")
	unknown := f.Terms[0].Expr.(spec.Column)
	err := f.Errorf(unknown, "there is no column %q", unknown.Name).DidYouMean(unknown.Name, columns)
	fmt.Println(err)
	fmt.Println(err.Caret())
	// Output:
	// column 9: there is no column "room": did you mean rooms?
	// price ~ room + size
	//         ^^^^
}

func ExampleArguments() {
	const source = "spikeslab(inclusion=0.01, slab=~1)"
	call, _ := spec.ParseSpec(source)
	a := spec.NewArguments(call, source)
	for _, key := range []string{"inclusion", "slab", "spike"} {
		s := a.Setting(key, spec.Positive())
		fmt.Println(key, s.State, s.Value)
	}
	fmt.Println(a.Finish())
	// Output:
	// inclusion held 0.01
	// slab guess 1
	// spike learned 0
	// <nil>
}
