package modelfile

import (
	"encoding/json"
	"fmt"

	"github.com/credence-ml/credence/posterior"
)

// mixtureData is the plain data of a posterior.Mixture.
type mixtureData struct {
	Components int `json:"components"`
}

// encodeMixture stores component means and variances as K×d tensors.
func encodeMixture(c *collector, prefix string, q *posterior.Mixture) (part, error) {
	d := q.Weights()
	c.floats(prefix+"means", q.Means, q.Count, d)
	c.floats(prefix+"variances", q.Variances, q.Count, d)
	encoded, err := json.Marshal(mixtureData{Components: q.Count})
	return part{Kind: "mixture", Data: encoded}, err
}

func decodeMixture(s shelf, prefix string, encoded json.RawMessage, d int) (*posterior.Mixture, error) {
	var data mixtureData
	if err := json.Unmarshal(encoded, &data); err != nil {
		return nil, fmt.Errorf("posterior mixture: %w", err)
	}
	if data.Components < 1 || data.Components > 1<<20 {
		return nil, fmt.Errorf("posterior mixture: %d components: at least one is needed", data.Components)
	}
	q := &posterior.Mixture{Count: data.Components}
	var err error
	if q.Means, err = s.floats(prefix+"means", data.Components*d); err != nil {
		return nil, err
	}
	q.Variances, err = s.variances(prefix+"variances", data.Components*d)
	return q, err
}

// encodeDiagonal stores the mean and the variance.
func encodeDiagonal(c *collector, prefix string, q *posterior.Diagonal) (part, error) {
	c.floats(prefix+"mean", q.Mean)
	c.floats(prefix+"variance", q.Variance)
	return part{Kind: "diagonal", Data: json.RawMessage("{}")}, nil
}

func decodeDiagonal(s shelf, prefix string, d int) (*posterior.Diagonal, error) {
	q := new(posterior.Diagonal)
	var err error
	if q.Mean, err = s.floats(prefix+"mean", d); err != nil {
		return nil, err
	}
	q.Variance, err = s.variances(prefix+"variance", d)
	return q, err
}

// variances returns a tensor of numbers that are not negative.
func (s shelf) variances(name string, want int) ([]float64, error) {
	values, err := s.floats(name, want)
	if err != nil {
		return nil, err
	}
	for i, v := range values {
		if v < 0 {
			return nil, fmt.Errorf("element %d of tensor %s is %v, and no variance is", i, name, v)
		}
	}
	return values, nil
}
