package modelfile

import (
	"fmt"
	"math"
	"reflect"

	"github.com/credence-ml/credence/internal/safetensors"
)

// collector gathers the tensors of a file that is being written.
type collector struct {
	tensors []safetensors.Tensor
}

// floats adds a tensor of numbers; without a shape it is a vector.
func (c *collector) floats(name string, values []float64, shape ...int) {
	c.tensors = append(c.tensors, safetensors.Of(name, values, shape...))
}

// tagged adds the fields of a struct that are tagged "tensor". Each is a matrix
// of the given number of columns where its length allows.
func (c *collector) tagged(prefix string, pointer any, columns int) {
	eachTensor(pointer, func(name string, field *[]float64) error {
		if n := len(*field); columns > 0 && n > 0 && n%columns == 0 {
			c.floats(prefix+name, *field, n/columns, columns)
		} else {
			c.floats(prefix+name, *field)
		}
		return nil
	})
}

// eachTensor calls visit for the fields of *pointer that are tagged "tensor",
// which are slices of numbers.
func eachTensor(pointer any, visit func(name string, field *[]float64) error) error {
	value := reflect.ValueOf(pointer).Elem()
	for i := range value.NumField() {
		field := value.Type().Field(i)
		if field.Anonymous && field.Type.Kind() == reflect.Struct {
			if err := eachTensor(value.Field(i).Addr().Interface(), visit); err != nil {
				return err
			}
		}
		name, tagged := field.Tag.Lookup("tensor")
		if !tagged {
			continue
		}
		if err := visit(name, value.Field(i).Addr().Interface().(*[]float64)); err != nil {
			return err
		}
	}
	return nil
}

// shelf is where the tensors of a file being read stand.
type shelf struct {
	reader *safetensors.Reader
}

// floats returns a tensor of finite numbers with the given number of elements;
// a negative number accepts any.
func (s shelf) floats(name string, want int) ([]float64, error) {
	info, found := s.reader.Tensor(name)
	if !found {
		return nil, fmt.Errorf("tensor %s is missing", name)
	}
	if want >= 0 && info.Len() != want {
		return nil, fmt.Errorf("tensor %s has %d elements, not %d", name, info.Len(), want)
	}
	values, err := safetensors.Read[float64](s.reader, name)
	if err != nil {
		return nil, err
	}
	for i, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("element %d of tensor %s is %v", i, name, v)
		}
	}
	return values, nil
}
