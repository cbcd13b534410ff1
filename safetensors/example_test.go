package safetensors_test

import (
	"bytes"
	"fmt"

	"github.com/credence-ml/credence/safetensors"
)

func Example() {
	var file bytes.Buffer
	err := safetensors.Write(&file,
		map[string]string{"formula": "y ~ ."},
		[]safetensors.Tensor{
			safetensors.Of("weights", []float64{0.5, -1, 2, 0}, 2, 2),
			safetensors.Of("counts", []int64{7, 11}),
		})
	if err != nil {
		panic(err)
	}

	r, err := safetensors.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		panic(err)
	}
	for _, t := range r.Tensors() {
		fmt.Println(t.Name, t.DType, t.Shape)
	}
	weights, err := safetensors.Read[float64](r, "weights")
	fmt.Println(weights, err)
	fmt.Println(r.Metadata()["formula"], r.Verify())

	damaged := bytes.Clone(file.Bytes())
	damaged = damaged[:len(damaged)-1]
	_, err = safetensors.NewReader(bytes.NewReader(damaged), int64(len(damaged)))
	fmt.Println(err)
	// Output:
	// counts I64 [2]
	// weights F64 [2 2]
	// [0.5 -1 2 0] <nil>
	// y ~ . <nil>
	// safetensors: truncated: the header describes 48 bytes of data, the file has 47
}
