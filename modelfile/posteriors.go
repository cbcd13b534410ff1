package modelfile

import (
	"encoding/json"
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/safetensors"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/posterior"
)

// dualData is the plain data of a posterior.Dual; its arrays are tensors.
type dualData struct {
	Rows   int     `json:"rows"`
	Dense  int     `json:"dense"`  // dense columns of the training design
	Sparse int     `json:"sparse"` // sparse columns
	Ones   bool    `json:"ones"`   // every sparse entry is 1
	Scale  float64 `json:"scale"`
}

// encodePosterior adds the tensors of q to those of the file.
func encodePosterior(c *collector, prefix string, q credence.Posterior) (part, error) {
	switch q := q.(type) {
	case *posterior.Full:
		d := len(q.Mean)
		c.floats(prefix+"mean", q.Mean)
		c.floats(prefix+"covariance_factor", q.Factor, d, d)
		return part{Kind: "full", Data: json.RawMessage("{}")}, nil
	case *posterior.Dual:
		return encodeDual(c, prefix, q)
	case *posterior.SpikeSlab:
		return encodeSpikeSlab(c, prefix, q)
	case *posterior.Diagonal:
		return encodeDiagonal(c, prefix, q)
	case *posterior.Mixture:
		return encodeMixture(c, prefix, q)
	}
	return part{}, fmt.Errorf("posterior %T cannot be stored: model files hold the posteriors of this module", q)
}

func encodeDual(c *collector, prefix string, q *posterior.Dual) (part, error) {
	design := &q.Design
	n := design.Dense.Rows
	c.floats(prefix+"mean", q.Mean)
	c.floats(prefix+"prior_variance", q.PriorVariance)
	c.floats(prefix+"kernel_factor", q.Factor, n, n)
	dense := make([]float64, 0, n*design.Dense.Cols)
	for i := range n {
		dense = append(dense, design.Dense.Row(i)...)
	}
	c.floats(prefix+"design", dense, n, design.Dense.Cols)
	data := dualData{Rows: n, Dense: design.Dense.Cols, Sparse: design.Sparse.Cols, Scale: q.Scale}
	if design.Sparse.Cols > 0 {
		start := make([]int64, len(design.Sparse.Start))
		for i, s := range design.Sparse.Start {
			start[i] = int64(s)
		}
		c.tensors = append(c.tensors,
			safetensors.Of(prefix+"design.start", start),
			safetensors.Of(prefix+"design.index", design.Sparse.Index))
		data.Ones = design.Sparse.Value == nil
		if !data.Ones {
			c.floats(prefix+"design.value", design.Sparse.Value)
		}
	}
	encoded, err := json.Marshal(data)
	return part{Kind: "dual", Data: encoded}, err
}

// decodePosterior reads the posterior of d weights.
func decodePosterior(s shelf, prefix string, p part, d int) (credence.Posterior, error) {
	switch p.Kind {
	case "full":
		mean, err := s.floats(prefix+"mean", d)
		if err != nil {
			return nil, err
		}
		factor, err := s.floats(prefix+"covariance_factor", d*d)
		if err != nil {
			return nil, err
		}
		return &posterior.Full{Mean: mean, Factor: factor}, nil
	case "dual":
		return decodeDual(s, prefix, p.Data, d)
	case "spikeslab":
		return decodeSpikeSlab(s, prefix, p.Data, d)
	case "diagonal":
		return decodeDiagonal(s, prefix, d)
	case "mixture":
		return decodeMixture(s, prefix, p.Data, d)
	}
	return nil, fmt.Errorf("posterior %q is unknown: the file may come from a newer version", p.Kind)
}

func decodeDual(s shelf, prefix string, encoded json.RawMessage, d int) (*posterior.Dual, error) {
	var data dualData
	if err := json.Unmarshal(encoded, &data); err != nil {
		return nil, fmt.Errorf("posterior dual: %w", err)
	}
	if data.Rows < 0 || data.Dense < 0 || data.Sparse < 0 || data.Dense+data.Sparse != d || data.Rows > d || !(data.Scale > 0) {
		return nil, fmt.Errorf("posterior dual: %d rows of %d+%d columns at scale %v do not fit %d weights",
			data.Rows, data.Dense, data.Sparse, data.Scale, d)
	}
	q := &posterior.Dual{Scale: data.Scale}
	n := data.Rows
	var err error
	if q.Mean, err = s.floats(prefix+"mean", d); err != nil {
		return nil, err
	}
	if q.PriorVariance, err = s.floats(prefix+"prior_variance", d); err != nil {
		return nil, err
	}
	if q.Factor, err = s.floats(prefix+"kernel_factor", n*n); err != nil {
		return nil, err
	}
	for i := range n {
		if !(q.Factor[i*n+i] > 0) {
			return nil, fmt.Errorf("posterior dual: pivot %d of the kernel factor is %v", i, q.Factor[i*n+i])
		}
	}
	values, err := s.floats(prefix+"design", n*data.Dense)
	if err != nil {
		return nil, err
	}
	q.Design.Dense = linop.Dense{Rows: n, Cols: data.Dense, Stride: data.Dense, Data: values}
	q.Design.Sparse, err = decodeSparse(s, prefix, data)
	return q, err
}

// decodeSparse reads the sparse columns of a design, checking every index.
func decodeSparse(s shelf, prefix string, data dualData) (linop.CSR, error) {
	sparse := linop.CSR{Rows: data.Rows, Cols: data.Sparse, Start: make([]int, data.Rows+1)}
	if data.Sparse == 0 {
		return sparse, nil
	}
	start, err := safetensors.Read[int64](s.reader, prefix+"design.start")
	if err != nil {
		return sparse, err
	}
	if sparse.Index, err = safetensors.Read[int32](s.reader, prefix+"design.index"); err != nil {
		return sparse, err
	}
	if len(start) != data.Rows+1 || start[0] != 0 || start[data.Rows] != int64(len(sparse.Index)) {
		return sparse, fmt.Errorf("posterior dual: row starts of the design do not cover its %d entries", len(sparse.Index))
	}
	for i := range data.Rows {
		if start[i+1] < start[i] || start[i+1] > int64(len(sparse.Index)) {
			return sparse, fmt.Errorf("posterior dual: row %d of the design ends before it starts", i)
		}
		sparse.Start[i+1] = int(start[i+1])
		previous := int32(-1)
		for _, j := range sparse.Index[start[i]:start[i+1]] {
			if j <= previous || int(j) >= data.Sparse {
				return sparse, fmt.Errorf("posterior dual: column %d in row %d of the design is out of order or range", j, i)
			}
			previous = j
		}
	}
	if !data.Ones {
		sparse.Value, err = s.floats(prefix+"design.value", len(sparse.Index))
	}
	return sparse, err
}
