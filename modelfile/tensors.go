package modelfile

import (
	"fmt"
	"math"
	"reflect"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/safetensors"
)

// field is a field of a part that is stored as a tensor. Its tag, such as
// `tensor:"covariance_factor,d,d"`, gives the tensor's name and what its dimensions are called;
// a last word "optional" says that nil is not stored.
type field struct {
	name       string
	dimensions []string
	optional   bool
	pointer    any
}

// fields lists the tagged fields of *pointer, those of embedded structs among them.
func fields(pointer any) []field {
	var list []field
	value := reflect.ValueOf(pointer).Elem()
	for i := range value.NumField() {
		at, described := value.Field(i), value.Type().Field(i)
		tag, tagged := described.Tag.Lookup("tensor")
		switch {
		case tagged:
			words := strings.Split(tag, ",")
			f := field{name: words[0], dimensions: words[1:], pointer: at.Addr().Interface()}
			if last := len(f.dimensions) - 1; last >= 0 && f.dimensions[last] == "optional" {
				f.dimensions, f.optional = f.dimensions[:last], true
			}
			list = append(list, f)
		case described.Anonymous && described.Type.Kind() == reflect.Struct:
			list = append(list, fields(at.Addr().Interface())...)
		}
	}
	return list
}

// sizes are the sizes of dimensions by what tags call them, "d" being the number of weights. A
// dimension without a size gets that of the first tensor that has it.
type sizes map[string]int

// agree says where a shape is at odds with what is known, and learns the rest from it.
func (s sizes) agree(name string, dimensions []string, shape []int) error {
	if len(shape) != len(dimensions) {
		return fmt.Errorf("tensor %s has %d dimensions, not %d", name, len(shape), len(dimensions))
	}
	for i, dimension := range dimensions {
		size, known := s[dimension]
		if known && size != shape[i] {
			return fmt.Errorf("tensor %s has %d elements, not %d, in dimension %d", name, shape[i], size, i+1)
		}
		s[dimension] = shape[i]
	}
	return nil
}

// shape returns the shape of a tensor of that many elements, one unknown dimension of which may
// stand once or twice.
func (s sizes) shape(name string, dimensions []string, elements int) ([]int, error) {
	rest, unknown, times := elements, "", 0
	for _, dimension := range dimensions {
		if size, known := s[dimension]; !known {
			unknown, times = dimension, times+1
		} else if size > 0 && rest%size == 0 {
			rest /= size
		}
	}
	switch times {
	case 1:
		s[unknown] = rest
	case 2:
		s[unknown] = int(math.Round(math.Sqrt(float64(rest))))
	}
	shape, product := make([]int, len(dimensions)), 1
	for i, dimension := range dimensions {
		shape[i] = s[dimension]
		product *= shape[i]
	}
	if product != elements {
		return nil, fmt.Errorf("tensor %s has %d elements, which are not %s where d = %d", name, elements, strings.Join(dimensions, "×"), s["d"])
	}
	return shape, nil
}

// tensorWriter gathers the tensors of a file that is being written.
type tensorWriter struct {
	tensors []safetensors.Tensor
	names   map[memory]string // of the tensors of numbers
	shared  map[string]string // further names of these
}

// memory is where the numbers of a tensor lie in memory.
type memory struct {
	first *float64
	shape string
}

func (w *tensorWriter) add(t safetensors.Tensor) { w.tensors = append(w.tensors, t) }

// floats adds a tensor of numbers, which must be finite. Numbers that were added before, the same
// ones in memory, are not stored again.
func (w *tensorWriter) floats(name string, values []float64, shape ...int) error {
	if len(values) > 0 {
		at := memory{&values[0], fmt.Sprint(shape)}
		if stored, found := w.names[at]; found {
			w.shared[name] = stored
			return nil
		}
		w.names[at] = name
	}
	w.add(safetensors.Of(name, values, shape...))
	return checkFinite(name, values)
}

func checkFinite(name string, values []float64) error {
	for i, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("element %d of tensor %s is %v: fit again, with columns scaled and no values that are far from all others", i, name, v)
		}
	}
	return nil
}

// fields adds the tagged fields of *pointer.
func (w *tensorWriter) fields(prefix string, pointer any, known sizes) error {
	for _, f := range fields(pointer) {
		name := prefix + f.name
		var err error
		switch value := f.pointer.(type) {
		case *[]float64:
			if f.optional && *value == nil {
				continue
			}
			var shape []int
			if shape, err = known.shape(name, f.dimensions, len(*value)); err == nil {
				err = w.floats(name, *value, shape...)
			}
		case *credence.Design:
			rows, cols := value.Dims()
			if err = known.agree(name, f.dimensions, []int{rows, cols}); err == nil {
				err = w.design(name, value)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// design adds the dense columns of Φ as a matrix, and the sparse ones, if there are any, as
// compressed rows: NAME.start, NAME.index, and NAME.value unless every entry is 1.
func (w *tensorWriter) design(name string, design *credence.Design) error {
	n, cols := design.Dense.Rows, design.Dense.Cols
	dense := design.Dense.Data
	if len(dense) != n*cols { // a part of a wider matrix
		dense = make([]float64, 0, n*cols)
		for i := range n {
			dense = append(dense, design.Dense.Row(i)...)
		}
	}
	if err := w.floats(name, dense, n, cols); err != nil || design.Sparse.Cols == 0 {
		return err
	}
	start := make([]int64, len(design.Sparse.Start))
	for i, s := range design.Sparse.Start {
		start[i] = int64(s)
	}
	w.add(safetensors.Of(name+".start", start))
	w.add(safetensors.Of(name+".index", design.Sparse.Index))
	if design.Sparse.Value == nil {
		return nil
	}
	return w.floats(name+".value", design.Sparse.Value, len(design.Sparse.Value))
}

// tensorReader reads the tensors of a file.
type tensorReader struct {
	*safetensors.Reader
	shared map[string]string    // further names of tensors
	read   map[string][]float64 // the tensors that have such
}

func newTensorReader(file *safetensors.Reader, shared map[string]string) tensorReader {
	r := tensorReader{file, shared, map[string][]float64{}}
	for _, stored := range shared {
		r.read[stored] = nil
	}
	return r
}

// stored returns the name under which a tensor is stored.
func (r tensorReader) stored(name string) string {
	if of, ok := r.shared[name]; ok {
		return of
	}
	return name
}

// floats returns a tensor of finite numbers, whose shape must agree with what is known.
func (r tensorReader) floats(name string, known sizes, dimensions ...string) ([]float64, error) {
	stored := r.stored(name)
	info, found := r.Tensor(stored)
	if !found {
		return nil, fmt.Errorf("tensor %s is missing: where another version of credence wrote the file, fit again", stored)
	}
	if err := known.agree(name, dimensions, info.Shape); err != nil {
		return nil, err
	}
	values, several := r.read[stored]
	if values != nil {
		return values, nil
	}
	values, err := safetensors.Read[float64](r.Reader, stored)
	if err != nil {
		return nil, err
	}
	if several {
		r.read[stored] = values
	}
	return values, checkFinite(stored, values)
}

// fields reads the tagged fields of *pointer.
func (r tensorReader) fields(prefix string, pointer any, known sizes) error {
	for _, f := range fields(pointer) {
		name := prefix + f.name
		var err error
		switch value := f.pointer.(type) {
		case *[]float64:
			if _, found := r.Tensor(r.stored(name)); found || !f.optional {
				*value, err = r.floats(name, known, f.dimensions...)
			}
		case *credence.Design:
			*value, err = r.design(name, known, f.dimensions[0], f.dimensions[1])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// design reads what tensorWriter.design wrote, checking every index.
func (r tensorReader) design(name string, known sizes, rows, cols string) (credence.Design, error) {
	var design credence.Design
	dense := sizes{}
	if n, ok := known[rows]; ok {
		dense[rows] = n
	}
	values, err := r.floats(name, dense, rows, cols)
	if err != nil {
		return design, err
	}
	n := dense[rows]
	known[rows] = n
	design.Dense = linop.Dense{Rows: n, Cols: dense[cols], Stride: dense[cols], Data: values}
	design.Sparse = linop.CSR{Rows: n, Cols: known[cols] - dense[cols]}
	sparse := &design.Sparse
	if sparse.Cols < 0 {
		return design, fmt.Errorf("tensor %s has %d columns for %d weights", name, dense[cols], known[cols])
	}
	if sparse.Cols == 0 {
		if n > 0 && dense[cols] == 0 { // of which any number takes no bytes
			return design, fmt.Errorf("tensor %s has %d rows without a column", name, n)
		}
		sparse.Start = make([]int, n+1)
		return design, nil
	}
	start, err := safetensors.Read[int64](r.Reader, name+".start")
	if err != nil {
		return design, err
	}
	if sparse.Index, err = safetensors.Read[int32](r.Reader, name+".index"); err != nil {
		return design, err
	}
	entries := int64(len(sparse.Index))
	if len(start) != n+1 || start[0] != 0 || start[n] != entries {
		return design, fmt.Errorf("the row starts of %s do not cover its %d entries", name, entries)
	}
	sparse.Start = make([]int, n+1) // as many as are stored, whatever the dense part says
	for i := range n {
		if start[i+1] < start[i] || start[i+1] > entries {
			return design, fmt.Errorf("row %d of %s ends before it starts", i, name)
		}
		sparse.Start[i+1] = int(start[i+1])
		previous := int32(-1)
		for _, j := range sparse.Index[start[i]:start[i+1]] {
			if j <= previous || int(j) >= sparse.Cols {
				return design, fmt.Errorf("column %d in row %d of %s is out of order or range", j, i, name)
			}
			previous = j
		}
	}
	if _, found := r.Tensor(r.stored(name + ".value")); found {
		sparse.Value, err = r.floats(name+".value", sizes{"entries": len(sparse.Index)}, "entries")
	}
	return design, err
}
