package posterior

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/linop"
)

// TestSampler compares the moments of draws of every kind of posterior, and how often weights are 0, with what the
// posterior says.
func TestSampler(t *testing.T) {
	const dense, sparse, draws = 3, 2, 40_000
	const d = dense + sparse
	rng := rand.New(rand.NewPCG(1, 2))
	normals := func(n int) []float64 {
		list := make([]float64, n)
		for i := range list {
			list[i] = rng.NormFloat64()
		}
		return list
	}
	factor := normals(d * d)
	for i := range d {
		for j := range i {
			factor[i*d+j] = 0
		}
	}
	positive := func(n int) []float64 {
		list := normals(n)
		for i := range list {
			list[i] = 0.1 + list[i]*list[i]
		}
		return list
	}
	in := []float64{1, 0.3, 0.9, 0.5, 0}
	slab := &SpikeSlab{Mean: normals(d), Variance: positive(d), Probability: in}
	for j, p := range in { // moments that a spike allows
		slab.Variance[j] += slab.Mean[j] * slab.Mean[j] / max(p, 0.1)
		if p == 0 {
			slab.Mean[j], slab.Variance[j] = 0, 0
		}
	}
	centred := *slab
	centred.Centre = append([]float64{0}, normals(d-1)...)
	dual, _ := randomDual(t, 2, dense, sparse, 0.5)
	for name, q := range map[string]credence.Joint{
		"full":             &Full{Mean: normals(d), Factor: factor},
		"arrow":            randomArrow(t, dense, 2, 1),
		"student":          &Full{Mean: normals(d), Factor: factor, DF: 9},
		"diagonal":         &Diagonal{Mean: normals(d), Variance: positive(d)},
		"mixture":          &Mixture{Count: 3, Means: normals(3 * d), Variances: positive(3 * d)},
		"spike and slab":   slab,
		"centred slab":     &centred,
		"draws":            &Draws{Count: 50, Values: normals(50 * d)},
		"draws about mean": &Draws{Count: 50, Values: normals(50 * d), Mean: normals(d)},
		"dual":             dual,
	} {
		t.Run(name, func(t *testing.T) {
			ws := credence.NewWorkspace(1)
			for _, apart := range []*linop.Dense{nil, {Rows: 1, Cols: d, Stride: d, Data: []float64{0.1, -0.1, 0.05, 0, 0.02}}} {
				if apart != nil && strings.Contains(name, "slab") { // a weight of which is known
					continue
				}
				s, err := NewSampler(ws, q, dense, apart)
				if err != nil {
					t.Fatal(err)
				}
				want := CovarianceOf(ws, q, dense)
				mean, variance := make([]float64, d), make([]float64, d)
				q.Marginals(mean, variance)
				for i := range d {
					for k := range d {
						if apart != nil {
							want.Row(i)[k] -= apart.Data[i] * apart.Data[k]
						}
					}
				}
				first, second, zero, w := make([]float64, d), linop.NewDense(d, d), make([]float64, d), make([]float64, d)
				for range draws {
					s.Draw(rng, w)
					for i := range w {
						first[i] += w[i] / draws
						if w[i] == 0 {
							zero[i] += 1.0 / draws
						}
						for k := range w {
							second.Row(i)[k] += (w[i] - mean[i]) * (w[k] - mean[k]) / draws
						}
					}
				}
				for i := range d {
					if e := 4.5 * math.Sqrt(variance[i]/draws); !(math.Abs(first[i]-mean[i]) <= e+1e-12) {
						t.Errorf("weight %d has mean %v, want %v", i, first[i], mean[i])
					}
					if strings.Contains(name, "slab") && !(math.Abs(zero[i]-1+in[i]) <= 0.01) {
						t.Errorf("weight %d is 0 in %v of draws, want %v", i, zero[i], 1-in[i])
					}
					for k := range d {
						if e := 0.06 * math.Sqrt(variance[i]*variance[k]); !(math.Abs(second.Row(i)[k]-want.Row(i)[k]) <= e+1e-12) {
							t.Errorf("covariance of %d and %d is %v, want %v", i, k, second.Row(i)[k], want.Row(i)[k])
						}
					}
				}
			}
		})
	}
	big := &DualSum{Mean: make([]float64, MostSampled+1)}
	if _, err := NewSampler(credence.NewWorkspace(1), big, 1, nil); err == nil {
		t.Error("the covariance of too many weights was formed")
	}
}

// TestSamplerApart: what is drawn apart is off the covariance, of a posterior that has a root of its own too, and one
// scale is drawn for all weights of a Student-t distribution.
func TestSamplerApart(t *testing.T) {
	const draws = 40_000
	rng := rand.New(rand.NewPCG(3, 4))
	ws := credence.NewWorkspace(1)
	full := &Full{Mean: make([]float64, 2), Factor: []float64{1, 2, 0, 3}} // covariance 5, 6, 9
	apart := &linop.Dense{Rows: 1, Cols: 2, Stride: 2, Data: []float64{1.8, 2.7}}
	s, err := NewSampler(ws, full, 2, apart)
	if err != nil {
		t.Fatal(err)
	}
	var got [3]float64
	w := make([]float64, 2)
	for range draws {
		s.Draw(rng, w)
		got[0], got[1], got[2] = got[0]+w[0]*w[0]/draws, got[1]+w[0]*w[1]/draws, got[2]+w[1]*w[1]/draws
	}
	for k, want := range []float64{5 - 1.8*1.8, 6 - 1.8*2.7, 9 - 2.7*2.7} {
		if !(math.Abs(got[k]-want) < 0.05*want) {
			t.Errorf("covariance %d is %v, want %v", k, got[k], want)
		}
	}
	if s, err = NewSampler(ws, &Full{Mean: make([]float64, 2), Factor: []float64{1, 0, 0, 1}, DF: 9}, 2, nil); err != nil {
		t.Fatal(err)
	}
	both := 0.0
	for range draws {
		s.Draw(rng, w)
		both += w[0] * w[0] * w[1] * w[1] / draws
	}
	if want := 7.0 / 5; !(math.Abs(both-want) < 0.15) { // (ν − 2)/(ν − 4), of variances of 1
		t.Errorf("squares of two weights have the product %v, want %v", both, want)
	}
}
