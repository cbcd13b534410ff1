package feature

import (
	"encoding/json"
	"maps"
	"math"
	"reflect"
	"slices"
	"testing"
)

// copyTensors copies the fields tagged as tensors, at any depth of embedding.
func copyTensors(dst, src reflect.Value) (copied int) {
	for k := range src.NumField() {
		field := src.Type().Field(k)
		switch {
		case field.Tag.Get("tensor") != "":
			if dst.Field(k).Set(src.Field(k)); !src.Field(k).IsNil() {
				copied++
			}
		case field.Anonymous:
			copied += copyTensors(dst.Field(k), src.Field(k))
		}
	}
	return copied
}

// Terms and inputs are plain data: JSON for what is small and the tagged
// matrices beside it give back the same bits, learned values included.
func TestTermsSurviveStorage(t *testing.T) {
	in := withCategory(numbers(3), "zip", 4)
	in.Dense[1].Center, in.Dense[1].Scale = 1.0/3, 7.1
	in.Segment = 5
	rbf := draw(t, in, RandomFourier{Name: "matern52(a, .)", Kernel: Matern52, Inputs: []int{0}, Segment: true, Without: []int32{2}}, 6, 8)
	quasi := draw(t, in, RandomFourier{Name: "rbf(c)", Kernel: RBF, Inputs: []int{2}}, 4, 9)
	times := []Factor{{Cosine, []int{0, 2}, Lengthscale{Values: []float64{3, 1.0 / 7}, Start: []float64{3, 1}, Periods: &Periods{
		Lower: []float64{1.0 / 3, 0.1}, Upper: []float64{3, 9}, Starts: [][]float64{{3, 1}, {1, 1.0 / 7}}}}}}
	product := draw(t, in, RandomFourier{Name: "spectral(a, c)", Kernel: RBF, Inputs: []int{0, 2}, Times: times}, 3, 1)
	fast := draw(t, in, RandomFourier{Name: "fast", Kernel: RBF, Sampling: Fastfood, Inputs: []int{0, 2}, Times: times}, 5, 1)
	s := newSet(t, in, &Intercept{}, &Linear{Inputs: span(0, 4), Segment: true}, rbf, quasi, product, fast,
		&Polynomial{"poly(a, 2)", []int{0}, 2}, &Spline{"s(b)", 1, []float64{-1, 1.0 / 3, 2}}, &Cyclic{"s(a)", 0, 1.0 / 7, 3},
		&HSGP{"hsgp(a, b)", Matern32, []int{0, 1}, Lengthscale{}, true, []int{2, 3}, []float64{0, 1.0 / 3}, []float64{1, 2}, []float64{1.5, 1.1}, []int{9, 7}, true},
		&Periodic{Name: "periodic(c)", Input: 2, Period: 1.0 / 7, Harmonics: 3}, &Interaction{Name: "b:zip", Inputs: []int{1, 3}, Uncentred: true}, &OneHot{"onehot(zip)", 3},
		&Radial{Bumps{Name: "radial(b)", Inputs: []int{1}, Centres: []float64{1, 1.0 / 7}}},
		&Sigmoid{Bumps{Name: "sigmoid(c)", Inputs: []int{2}, Centres: []float64{0.1}, Lengthscale: Lengthscale{Shared: true}}})
	values := make([]float64, len(s.Hyper()))
	for k := range values {
		values[k] = 1 / (3 + float64(k))
	}
	s = s.WithHyper(values).(*Set)

	inputsOf := map[string]int{}
	for _, term := range s.Terms() {
		if tensored, ok := term.(Tensored); ok {
			inputsOf[term.Label()] = tensored.TensorInputs(&in)
		}
	}
	if want := map[string]int{"matern52(a, .)": 5, "rbf(c)": 1, "spectral(a, c)": 4, "fast": 4, "radial(b)": 1, "sigmoid(c)": 1}; !maps.Equal(inputsOf, want) {
		t.Fatalf("terms with tensors read %v inputs, want %v", inputsOf, want)
	}
	var inputs Inputs
	roundTrip(t, s.Inputs(), &inputs)
	var terms []Term
	tensors := 0
	for _, term := range s.Terms() {
		kinds := All()
		empty := kinds[slices.IndexFunc(kinds, func(t Term) bool { return t.Kind() == term.Kind() })]
		roundTrip(t, term, empty)
		tensors += copyTensors(reflect.ValueOf(empty).Elem(), reflect.ValueOf(term).Elem())
		terms = append(terms, empty)
	}
	if tensors != 8 { // amplitudes of matern52 are nil, and fast has numbers of its own alone
		t.Fatalf("%d tensors stored, want 8", tensors)
	}
	rows := batch(in, 20, false)
	back := newSet(t, inputs, terms...)
	got, want := spread(back, rows), spread(s, rows)
	for i, v := range want.Data {
		if math.Float64bits(got.Data[i]) != math.Float64bits(v) {
			t.Fatalf("value %d is %v, was %v", i, got.Data[i], v)
		}
	}
	if !reflect.DeepEqual(back.Hyper(), s.Hyper()) || !reflect.DeepEqual(back.Blocks(), s.Blocks()) {
		t.Fatal("hyper-parameters or blocks changed in storage")
	}
	own, err := s.OwnUnits("zip=l1")
	again, failure := back.OwnUnits("zip=l1")
	if err != nil || failure != nil || !reflect.DeepEqual(own, again) {
		t.Fatalf("weights came back as %+v, were %+v; %v, %v", again, own, err, failure)
	}
}

func roundTrip(t *testing.T, from, to any) {
	t.Helper()
	text, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(text, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}
