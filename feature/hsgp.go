package feature

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/special"
)

// MostFunctions bounds the functions of one term of [HSGP] or [Periodic].
const MostFunctions = 2000

// HSGP is a Gaussian process of one to three inputs in the eigenfunctions of the Laplacian on a box (Solin & Särkkä
// 2020; Riutort-Mayol et al. 2023):
//
//	φ_j(x) = Π_d sin(π j_d (x_d − middle_d + L_d)/2L_d)/√L_d      Var w_j = S(π j/2L)
//
// for all j_d = 1 … m_d, S the kernel's spectral density. The columns do not depend on the lengthscales: the prior
// deviations √S do, by which the columns are multiplied. The function is 0 at the edges of the box and beyond.
type HSGP struct {
	Name        string      `json:"name"` // as the formula writes it
	Kernel      Kernel      `json:"kernel"`
	Inputs      []int       `json:"inputs"`
	Lengthscale Lengthscale `json:"lengthscale"`
	// Apart says that columns are without the deviations, which are those of the weights alone: see
	// [credence.Proportioned].
	Apart bool `json:"apart,omitempty"`
	// Of every input: the functions m, the middle of the data, how far they reach to each side of it, and L in units of
	// that reach.
	Functions []int     `json:"functions"`
	Middle    []float64 `json:"middle"`
	Reach     []float64 `json:"reach"`
	Boundary  []float64 `json:"boundary"`
	// Most are the different values of the inputs, up to which a fit may take more functions; nil where they are
	// stated. Fixed keeps the boundary.
	Most  []int `json:"most,omitempty"`
	Fixed bool  `json:"fixed,omitempty"`
}

// Kind implements [Term].
func (*HSGP) Kind() string { return "hsgp" }

// Label implements [Term].
func (t *HSGP) Label() string { return t.Name }

// smoothness is ν of a Matérn kernel, +Inf of rbf, and 0 of kernels that have no place here.
func (k Kernel) smoothness() float64 {
	return map[Kernel]float64{RBF: math.Inf(1), Matern32: 1.5, Matern52: 2.5}[k]
}

// Bind implements [Term].
func (t *HSGP) Bind(in *Inputs) (Map, error) {
	m, err := bindProportioned(t.Name, in, t.Inputs, t.Lengthscale)
	if err != nil {
		return nil, err
	}
	d, total := len(t.Inputs), 1
	if d > 3 || t.Kernel.smoothness() == 0 || len(t.Functions) != d || len(t.Middle) != d || len(t.Reach) != d || len(t.Boundary) != d {
		return nil, fmt.Errorf("feature: %s: a Hilbert-space process has one to three inputs, each with functions, a middle, a reach and a boundary, and a kernel rbf, matern32 or matern52", t.Name)
	}
	half := make([]float64, d) // L
	for k := range d {
		half[k] = t.Reach[k] * t.Boundary[k]
		if total *= t.Functions[k]; t.Functions[k] < 1 || total > MostFunctions || !(half[k] > 0) || half[k] > farthest || !(math.Abs(t.Middle[k]) <= farthest) || t.Boundary[k] < 1 {
			return nil, fmt.Errorf("feature: %s: %d functions on %g ± %g × %g: give 1 to %d in all, and a boundary of 1 or more", t.Name, t.Functions[k], t.Middle[k], t.Boundary[k], t.Reach[k], MostFunctions)
		}
	}
	functions, middle := slices.Clone(t.Functions), slices.Clone(t.Middle)
	// The places j of a weight, of which those of the last input change fastest.
	places := func(j int) (p [3]int) {
		for k := d - 1; k >= 0; k-- {
			p[k] = j%functions[k] + 1
			j /= functions[k]
		}
		return p
	}
	m.deviation, m.slopes = make([]float64, total), make([]float64, total*d)
	for j := range total {
		var square [3]float64 // (ℓω)²
		volume, sum := 1.0, 0.0
		for k, place := range places(j) {
			if k == d {
				break
			}
			l := m.lengthscale.of(k)
			w := l * math.Pi * float64(place) / (2 * half[k])
			square[k] = w * w
			sum += w * w
			volume *= l
		}
		m.deviation[j] = saturate(math.Sqrt(volume * t.Kernel.density(d, sum)))
		for k := range d {
			m.slopes[j*d+k] = (1 - square[k]*t.Kernel.fall(d, sum)) / 2
		}
	}
	m.weightName = func(j int) string {
		var parts []string
		for k, place := range places(j) {
			if k == d {
				break
			}
			parts = append(parts, fmt.Sprintf("%s wave %d", m.names[k], place))
		}
		return strings.Join(parts, ", ")
	}
	m.fill = func(dst, x []float64) {
		dst[0] = 1
		count := 1
		for k := range d {
			// In place, from behind: every product so far times each wave of the input.
			more := functions[k]
			angle := math.Pi * max(0, min((x[k]-middle[k]+half[k])/(2*half[k]), 1))
			sin, cos := math.Sincos(angle)
			for i := count - 1; i >= 0; i-- {
				s, c, before := sin, cos, dst[i]/math.Sqrt(half[k])
				for j := range more {
					dst[i*more+j] = before * s
					s, c = s*cos+c*sin, c*cos-s*sin
				}
			}
			count *= more
		}
	}
	term := *t
	m.term, m.apart = &term, t.Apart
	return m, nil
}

// Beyond counts the rows with an input outside the box of a Hilbert-space process, where its function is 0.
func (s *Set) Beyond(rows *credence.Batch) (count int) {
	var boxes []*HSGP
	for _, b := range s.terms {
		if t, ok := b.term.(*HSGP); ok {
			boxes = append(boxes, t)
		}
	}
	for i := range rows.Rows() * min(1, len(boxes)) {
		x := rows.X.Row(i)
		if slices.ContainsFunc(boxes, func(t *HSGP) bool { return t.beyond(x) }) {
			count++
		}
	}
	return count
}

func (t *HSGP) beyond(x []float64) bool {
	for k, j := range t.Inputs {
		if math.Abs(x[j]-t.Middle[k]) > t.Reach[k]*t.Boundary[k] {
			return true
		}
	}
	return false
}

// density returns S of lengthscale 1 in d dimensions, where ‖ω‖² is square.
func (k Kernel) density(d int, square float64) float64 {
	nu, half := k.smoothness(), float64(d)/2
	if math.IsInf(nu, 1) {
		return math.Pow(2*math.Pi, half) * math.Exp(-square/2)
	}
	constant := float64(d)*math.Ln2 + half*math.Log(math.Pi) + special.LogGamma(nu+half) + nu*math.Log(2*nu) - special.LogGamma(nu)
	return math.Exp(constant - (nu+half)*math.Log(2*nu+square))
}

// fall returns −∂ log S/∂ (½ ω²) there.
func (k Kernel) fall(d int, square float64) float64 {
	if nu := k.smoothness(); !math.IsInf(nu, 1) {
		return (2*nu + float64(d)) / (2*nu + square)
	}
	return 1
}

// widened returns the term with the functions and the boundaries that its lengthscales ask for, as far as it may take
// them, nil where it has them. With c = L/S, S the reach of the data, these are m ≥ a c S/ℓ, c ≥ b ℓ/S (Riutort-Mayol
// et al. 2023, section 4) and c ≥ 1 + e ℓ/S, without which the variance at the ends of the data is too small by up to
// 41 %; all together leave the kernel within 2.5 % of its variance. short says what it asks for where it may not take
// it; as many functions as different values are enough.
//
// For one column with n rows, signal is n times the prior variance of the function over that of the noise: then the
// variance that frequencies beyond those of m have is at most a tenth of what the noise leaves of m weights, m/n of its
// variance, lest bands that know of no other functions are too narrow (a rough function of little noise: 90 % bands
// held .79 of it).
func (t *HSGP) widened(signal float64) (wider *HSGP, short string) {
	if len(t.Lengthscale.Values) == 0 { // of an engine that learns none, where the term begins is where it ends
		return nil, ""
	}
	rule := map[Kernel][3]float64{RBF: {1.75, 3.2, 1.5}, Matern32: {3.42, 4.5, 1.9}, Matern52: {2.65, 4.1, 1.8}}[t.Kernel]
	const rounding = 1e-9
	w, total, changed, lacks, largest := *t, 1.0, false, false, 0.0
	w.Functions, w.Boundary = slices.Clone(t.Functions), slices.Clone(t.Boundary)
	var asks []string
	for k := range t.Inputs {
		l := t.Lengthscale.of(k) / t.Reach[k]
		c := max(w.Boundary[k], rule[1]*l, 1+rule[2]*l)
		m := max(float64(t.Functions[k]), math.Ceil(rule[0]*c/l*(1-rounding)))
		beyond := func(m float64) float64 { // the share of the variance there
			w := math.Pi * m / (2 * c) * l
			if nu := t.Kernel.smoothness(); !math.IsInf(nu, 1) {
				return 2 * (1 - special.StudentCDF(w, 2*nu))
			}
			return math.Erfc(w / math.Sqrt2)
		}
		for len(t.Inputs) == 1 && t.Most != nil && m < float64(t.Most[k]) && beyond(m)*signal > m/10 {
			m++
		}
		if t.Most != nil {
			m = min(m, float64(max(t.Most[k], t.Functions[k])))
		}
		lacks = lacks || t.Most == nil && m > float64(t.Functions[k]) || t.Fixed && c > t.Boundary[k]*(1+rounding)
		if c > t.Boundary[k]*(1+rounding) && !t.Fixed {
			w.Boundary[k], changed = c, true
		}
		if t.Most != nil && m > float64(t.Functions[k]) {
			w.Functions[k], changed = int(m), true
		}
		total, largest, asks = total*m, max(largest, c), append(asks, strconv.FormatFloat(m, 'f', 0, 64))
	}
	if lacks || total > MostFunctions {
		short = fmt.Sprintf("m=[%s], boundary=%.3g", strings.Join(asks, ", "), largest)
	}
	if !changed || total > MostFunctions {
		return nil, short
	}
	return &w, short
}

// Widened returns the set with the terms of Hilbert-space processes that their lengthscales ask for, nil where it has
// them, and what terms lack that may not take it. signal tells, of the block of a term, the rows times its prior
// variance over that of the noise, 0 where there is none.
func (s *Set) Widened(signal func(block string) float64) (wider *Set, short []string) {
	wider = s.Replace(func(term Term) Term {
		if t, ok := term.(*HSGP); ok {
			w, lacks := t.widened(signal(t.Name))
			if lacks != "" {
				text := strings.ReplaceAll(fmt.Sprintf("%.3g", t.Lengthscale.Values), " ", ", ")
				short = append(short, fmt.Sprintf("%s: the lengthscale %s asks for %s", t.Name, text, lacks))
			}
			if w != nil {
				return w
			}
		}
		return nil
	})
	if wider == s {
		wider = nil
	}
	return wider, short
}
