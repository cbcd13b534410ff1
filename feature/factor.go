package feature

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/credence-ml/credence"
)

// Factor is a kernel of a product beside the first, of inputs that others may have too.
type Factor struct {
	Kernel      Kernel      `json:"kernel"`
	Inputs      []int       `json:"inputs"` // dense inputs, numbers
	Lengthscale Lengthscale `json:"lengthscale"`
}

// all returns the inputs of every factor, those of several once for each.
func (t *RandomFourier) all() []int {
	all := slices.Clone(t.Inputs)
	for k := range t.Times {
		all = append(all, t.Times[k].Inputs...)
	}
	return all
}

// Lengthscales returns those of every factor.
func (t *RandomFourier) Lengthscales() []Lengthscale {
	list := []Lengthscale{t.Lengthscale}
	for k := range t.Times {
		list = append(list, t.Times[k].Lengthscale)
	}
	return list
}

// WithLengthscales returns the term with others, one for every factor.
func (t *RandomFourier) WithLengthscales(list []Lengthscale) *RandomFourier {
	other := *t
	other.Lengthscale, other.Times = list[0], slices.Clone(t.Times)
	for k := range other.Times {
		other.Times[k].Lengthscale = list[k+1]
	}
	return &other
}

// spectral says whether the term is a component of a spectral mixture: a Gaussian times cosines of the same inputs.
func (t *RandomFourier) spectral() bool { return len(t.Times) == 1 && t.Times[0].Kernel == Cosine }

// samplingOf returns how the frequencies of a factor of d inputs are drawn. In products those of the factors are
// independent, so that evenly spread ones, whose places go together, are not for them.
func (t *RandomFourier) samplingOf(k Kernel, d int) Sampling {
	switch usual := k.DefaultSampling(d); {
	case k == Cosine:
		return IID
	case t.Times == nil || t.spectral() || t.Sampling == Fastfood:
		return t.Sampling
	case t.Sampling == IID || usual == IID || k == Laplacian || k == Cauchy:
		return IID
	}
	return Orthogonal
}

// draw gives the term n frequencies of d inputs.
func (t *RandomFourier) draw(n, d int, rng *rand.Rand) (err error) {
	first := d
	for k := range t.Times {
		first -= len(t.Times[k].Inputs)
	}
	if t.Sampling == Fastfood {
		t.Frequencies, t.Amplitudes, t.Count = nil, nil, n
		t.Fastfood, err = t.Kernel.drawFast(n, first, t.spectral(), rng)
		return err
	}
	t.Frequencies, t.Amplitudes, err = t.Kernel.Draw(t.samplingOf(t.Kernel, first), n, first, rng)
	if err != nil || t.Times == nil {
		return err
	}
	own := t.Frequencies
	t.Frequencies = make([]float64, n*d)
	place := func(from []float64, at, count int) {
		for i := range n {
			copy(t.Frequencies[i*d+at:], from[i*count:(i+1)*count])
		}
	}
	place(own, 0, first)
	for k := range t.Times {
		f := &t.Times[k]
		own, _, err := f.Kernel.Draw(t.samplingOf(f.Kernel, len(f.Inputs)), n, len(f.Inputs), rng)
		if err != nil {
			return err
		}
		place(own, first, len(f.Inputs))
		first += len(f.Inputs)
	}
	return nil
}

// factor is a kernel of a product that is bound: its inputs among those of the term, and its hyper-parameters among the
// term's.
type factor struct {
	kernel       Kernel
	lengthscale  Lengthscale
	first, count int
	hyper        int
}

// bindFactors checks the factors, and sets their lengthscales.
func (m *fourierMap) bindFactors(in *Inputs) error {
	t := &m.term
	first, hyper := m.reader.d-(len(t.all())-len(t.Inputs)), 0
	if t.Segment && t.Times != nil {
		return fmt.Errorf("feature: %s: a product of kernels takes columns of its own, and no sparse segment", t.Name)
	}
	m.factors = []factor{{kernel: t.Kernel, lengthscale: t.Lengthscale, count: first}}
	for _, f := range t.Times {
		m.factors = append(m.factors, factor{kernel: f.Kernel, lengthscale: f.Lengthscale, first: first, count: len(f.Inputs)})
		first += len(f.Inputs)
	}
	if t.Sampling == Fastfood && t.Times != nil && !(t.spectral() && slices.Equal(t.Inputs, t.Times[0].Inputs)) {
		return fmt.Errorf("feature: %s: fastfood has the frequencies of one kernel: use orthogonal or iid", t.Name)
	}
	m.reader.inverse = make([]float64, m.reader.d)
	for k := range m.factors {
		f := &m.factors[k]
		if f.count == 0 {
			return fmt.Errorf("feature: %s: factor %d of the product has no inputs: name a column", t.Name, k+1)
		}
		if !t.Given {
			if err := f.kernel.check(t.samplingOf(f.kernel, f.count), f.count); err != nil {
				return err
			}
		}
		var err error
		if f.lengthscale, err = f.lengthscale.fill(t.Name, f.count); err != nil {
			return err
		}
		for j := range f.count {
			own := 1.0
			if f.kernel == Cosine { // periods are in the unit of the data's own columns
				own = scaleOf(&in.Dense[m.reader.dense[f.first+j]])
			}
			m.reader.inverse[f.first+j] = limit(own / f.lengthscale.of(j))
		}
		f.hyper = hyper
		hyper += len(f.lengthscale.Values)
		if k == 0 {
			t.Lengthscale = f.lengthscale
		}
	}
	t.Times = slices.Clone(t.Times)
	for k := range t.Times {
		t.Times[k].Lengthscale = m.factors[k+1].lengthscale
	}
	return nil
}

func (m *fourierMap) Hyper() (list []credence.Hyper) {
	for k := range m.factors {
		f := &m.factors[k]
		label := m.term.Name
		if k > 0 && f.kernel != Cosine {
			label += fmt.Sprintf(".%s", f.kernel)
			for _, before := range m.factors[:k] {
				if before.kernel == f.kernel { // of the same name
					label += "'"
				}
			}
		}
		first := len(list)
		list = append(list, f.lengthscale.hyper(label, f.count, func(j int) string { return m.reader.name(f.first + j) })...)
		for j := range list[first:] {
			if f.kernel != Cosine {
				break
			}
			// The angle 2πx/period, for x as far out as a standard deviation, beside that of x/ℓ of the first kernel.
			list[first+j].Step = min(1, 1/(2*math.Pi*m.reader.inverse[f.first+j]*m.factors[0].lengthscale.of(j)))
		}
	}
	return list
}

func (m *fourierMap) WithHyper(values []float64) Term {
	var list []Lengthscale
	for k := range m.factors {
		f := &m.factors[k]
		list = append(list, f.lengthscale.with(values[f.hyper:f.hyper+len(f.lengthscale.Values)]))
	}
	return m.term.WithLengthscales(list)
}
