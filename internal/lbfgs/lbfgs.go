package lbfgs

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/credence-ml/credence/internal/kernel"
)

// Config says how to minimise. The zero value is usable.
type Config struct {
	Memory        int // correction pairs; 0 means 20
	MaxIterations int // 0 means 200
	// Tolerance stops the search when each of the last Patience iterations
	// decreased the objective by less than this; absolute. 0 means 1e-9.
	Tolerance float64
	Patience  int // 0 means 3
	// Lower and Upper bound the variables; nil means no bounds.
	Lower, Upper []float64
	// Curvature is a guess of the diagonal of the Hessian: the metric of the first
	// step and of the recursion; nil means ones.
	Curvature []float64
	// Known are corrections from an earlier search of a similar objective, oldest first; those
	// without positive curvature are left out.
	Known []Pair
	// MaxStep limits the change of every variable in an iteration; 0 means no limit.
	MaxStep float64
	// Each is called after every iteration; nil is allowed.
	Each func(iteration int, f float64)
}

// Result says how a search ended.
type Result struct {
	F           float64 // the least value found; x is where
	Iterations  int
	Evaluations int
	Converged   bool // false when the iteration limit stopped it
	// Pairs are the corrections at the end, oldest first, for Config.Known.
	Pairs []Pair
}

// Pair is a step and the change of the gradient over it.
type Pair struct{ Step, Change []float64 }

// Objective returns f(x) and stores its gradient. A NaN or +Inf says that x is
// outside the domain; the search then steps back. An error ends the search.
type Objective func(x, gradient []float64) (float64, error)

// wolfeArmijo and wolfeCurvature are the constants of the weak Wolfe conditions
// (Nocedal & Wright 2006, section 3.1).
const (
	wolfeArmijo    = 1e-4
	wolfeCurvature = 0.9
	maxTrials      = 25
	littleGain     = 0.01 // of the tolerance: a line search ends when no more is left to gain in its bracket
)

// search is the state of one minimisation.
type search struct {
	Config
	objective Objective
	n         int
	x, g      []float64 // current point and its gradient
	f         float64
	trial, gt []float64
	step      []float64 // trial − x
	direction []float64
	bounded   []int  // variables that have bounds
	held      []int  // those at a bound that their gradient keeps there
	history   []pair // oldest first
	lent      int    // of these, which stay as they are
	spare     Pair   // memory of a correction that is left out
	result    Result
}

// pair is one correction.
type pair struct {
	Pair
	rho float64 // 1/sᵀy
}

// Minimise searches from x, which it clips to the bounds and leaves at the best point found.
// Its error is that of the objective.
func Minimise(x []float64, objective Objective, cfg Config) (Result, error) {
	n := len(x)
	m := &search{
		Config: cfg, objective: objective, n: n, x: x,
		g: make([]float64, n), trial: make([]float64, n), gt: make([]float64, n),
		direction: make([]float64, n), step: make([]float64, n),
	}
	m.Memory, m.MaxIterations, m.Patience = cmp.Or(m.Memory, 20), cmp.Or(m.MaxIterations, 200), cmp.Or(m.Patience, 3)
	m.Tolerance = cmp.Or(m.Tolerance, 1e-9)
	for _, standard := range []struct {
		list  *[]float64
		value float64
	}{{&m.Lower, math.Inf(-1)}, {&m.Upper, math.Inf(1)}, {&m.Curvature, 1}} {
		if *standard.list == nil {
			*standard.list = slices.Repeat([]float64{standard.value}, n)
		}
	}
	for i := range x {
		if !math.IsInf(m.Lower[i], -1) || !math.IsInf(m.Upper[i], 1) {
			m.bounded = append(m.bounded, i)
			x[i] = m.clip(i, x[i])
		}
	}
	for _, known := range cfg.Known {
		m.remember(known)
		m.lent = len(m.history)
	}
	m.Known, m.spare = nil, Pair{}
	err := m.run()
	m.result.F = m.f
	for _, h := range m.history {
		m.result.Pairs = append(m.result.Pairs, h.Pair)
	}
	return m.result, err
}

// remember adds a correction, unless it has too little curvature, which would spoil the
// metric (Nocedal & Wright 2006, section 6.1). The memory of one that is left out is spare.
func (m *search) remember(p Pair) {
	sy := dot(p.Step, p.Change)
	if m.spare = p; !(sy > 1e-10*math.Sqrt(dot(p.Step, p.Step)*dot(p.Change, p.Change))) {
		return
	}
	m.spare = Pair{}
	if len(m.history) == m.Memory {
		if m.lent--; m.lent < 0 {
			m.lent, m.spare = 0, m.history[0].Pair
		}
		m.history = append(m.history[:0], m.history[1:]...)
	}
	m.history = append(m.history, pair{p, 1 / sy})
}

func (m *search) clip(i int, v float64) float64 {
	return min(max(v, m.Lower[i]), m.Upper[i])
}

func (m *search) evaluate(x, g []float64) (float64, error) {
	m.result.Evaluations++
	f, err := m.objective(x, g)
	if math.IsNaN(f) {
		f = math.Inf(1)
	}
	return f, err
}

func (m *search) run() error {
	var err error
	if m.f, err = m.evaluate(m.x, m.g); err != nil || math.IsInf(m.f, 1) {
		return err
	}
	quiet := 0
	for m.result.Iterations < m.MaxIterations {
		if m.stationary() {
			m.result.Converged = true
			return nil
		}
		before := m.f
		moved, err := m.iterate()
		if err != nil {
			return err
		}
		if !moved && len(m.history) > 0 {
			// The curvature model led nowhere; steepest descent has the last word.
			m.history, m.lent = m.history[:0], 0
			if moved, err = m.iterate(); err != nil {
				return err
			}
		}
		if !moved {
			m.result.Converged = true // no descent left at the precision of f
			return nil
		}
		m.result.Iterations++
		if m.Each != nil {
			m.Each(m.result.Iterations, m.f)
		}
		if before-m.f < m.Tolerance {
			quiet++
		} else {
			quiet = 0
		}
		if quiet >= m.Patience {
			m.result.Converged = true
			return nil
		}
	}
	return nil
}

// stationary finds the variables that are held at a bound and says whether none of the
// others has a gradient worth following.
func (m *search) stationary() bool {
	m.held = m.held[:0]
	for _, i := range m.bounded {
		if m.x[i] <= m.Lower[i] && m.g[i] >= 0 || m.x[i] >= m.Upper[i] && m.g[i] <= 0 {
			m.held = append(m.held, i)
		}
	}
	held := m.held
	for i, g := range m.g {
		if len(held) > 0 && held[0] == i {
			held = held[1:]
			continue
		}
		// The decrease that a Newton step in this variable alone would bring.
		if g*g > 1e-6*m.Tolerance*m.Curvature[i] {
			return false
		}
	}
	return true
}

// iterate takes one step and says whether the objective decreased.
func (m *search) iterate() (bool, error) {
	m.setDirection()
	slope := dot(m.g, m.direction)
	if !(slope < 0) {
		return false, nil
	}
	t, limit := 1.0, math.Inf(1)
	if m.MaxStep > 0 || len(m.history) == 0 {
		largest := floats.Norm(m.direction, math.Inf(1))
		if m.MaxStep > 0 {
			limit = m.MaxStep / largest
			t = min(t, limit)
		}
		if len(m.history) == 0 {
			t = min(t, 1/largest) // nothing is known of the scale yet
		}
	}
	ft, ok, err := m.lineSearch(t, limit, slope)
	if err != nil || !ok {
		return false, err
	}
	p := m.spare
	p.Step, p.Change = append(p.Step[:0], m.step...), append(p.Change[:0], m.gt...)
	add(-1, m.g, p.Change)
	m.remember(p)
	copy(m.x, m.trial)
	m.g, m.gt = m.gt, m.g
	m.f = ft
	return true, nil
}

// setDirection stores −H g over the variables that are not held, Nocedal & Wright (2006),
// algorithm 7.4, with H₀ a multiple of the inverse curvature guess.
func (m *search) setDirection() {
	q := m.direction
	for i, g := range m.g {
		q[i] = -g
	}
	m.hold(q)
	alpha := make([]float64, len(m.history))
	for k := len(m.history) - 1; k >= 0; k-- {
		h := m.history[k]
		alpha[k] = h.rho * dot(h.Step, q)
		add(-alpha[k], h.Change, q)
		m.hold(q)
	}
	gamma := 1.0
	if len(m.history) > 0 {
		last := m.history[len(m.history)-1]
		sum := 0.0
		for i, v := range last.Change {
			sum += v * v / m.Curvature[i]
		}
		gamma = 1 / (last.rho * sum)
	}
	for i := range q {
		q[i] *= gamma / m.Curvature[i]
	}
	for k, h := range m.history {
		add(alpha[k]-h.rho*dot(h.Change, q), h.Step, q)
		m.hold(q)
	}
}

// hold makes q 0 for the variables that are held.
func (m *search) hold(q []float64) {
	for _, i := range m.held {
		q[i] = 0
	}
}

// move sets the trial to x + t·direction within the bounds.
func (m *search) move(t float64) {
	copy(m.trial, m.x)
	add(t, m.direction, m.trial)
	for _, i := range m.bounded {
		m.trial[i] = m.clip(i, m.trial[i])
	}
	copy(m.step, m.trial)
	add(-1, m.x, m.step)
}

// lineSearch looks for a step that meets the weak Wolfe conditions along the
// projected path, first t and never beyond limit; m.trial and m.gt are then the
// new point. Steps that only fail the curvature condition when the trials run
// out are taken all the same.
func (m *search) lineSearch(t, limit, slope float64) (value float64, ok bool, err error) {
	low, high := 0.0, math.Inf(1)
	fLow, slopeLow := m.f, slope
	// Near the optimum f changes by less than its rounding error; then the
	// slope decides (approximate Wolfe conditions, Hager & Zhang 2005, eq. 4.1).
	slack := 1e-13 * math.Abs(m.f)
	for range maxTrials {
		m.move(t)
		predicted := dot(m.g, m.step)
		if predicted == 0 {
			return 0, false, nil // every variable is where the bounds let it be
		}
		ft, err := m.evaluate(m.trial, m.gt)
		if err != nil {
			return 0, false, err
		}
		slopeT := dot(m.gt, m.direction)
		sufficient := ft <= m.f+wolfeArmijo*predicted ||
			ft <= m.f+slack && slopeT <= (2*wolfeArmijo-1)*slope
		switch {
		case !sufficient:
			high = t
			t = interpolate(low, fLow, slopeLow, t, ft, slopeT)
		case slopeT < wolfeCurvature*slope && t < limit && !m.clipped(t):
			low, fLow, slopeLow = t, ft, slopeT
			if math.IsInf(high, 1) {
				t = math.Min(3*t, limit)
			} else {
				t = (low + high) / 2
			}
		default:
			return ft, true, nil
		}
		if high-low <= 1e-14*high || -slope*(high-low) < littleGain*m.Tolerance {
			break // what lies between no longer counts; where f is rounded coarsely, none of it is a decrease
		}
	}
	if low == 0 {
		return 0, false, nil
	}
	m.move(low)
	value, err = m.evaluate(m.trial, m.gt)
	return value, value < m.f, err
}

// clipped says whether the projected path has met a bound before t: its slope is
// then no longer that along the direction.
func (m *search) clipped(t float64) bool {
	for _, i := range m.bounded {
		if to := m.x[i] + t*m.direction[i]; m.clip(i, to) != to {
			return true
		}
	}
	return false
}

// interpolate returns the minimiser of the cubic through two values and slopes,
// kept away from the ends of the bracket; Nocedal & Wright (2006), eq. 3.59.
func interpolate(a, fa, ga, b, fb, gb float64) float64 {
	width := b - a
	t := math.NaN()
	if !math.IsInf(fb, 0) && !math.IsNaN(gb) {
		d1 := ga + gb - 3*(fa-fb)/(a-b)
		if r := d1*d1 - ga*gb; r >= 0 {
			d2 := math.Sqrt(r)
			t = b - width*(gb+d2-d1)/(gb-ga+2*d2)
		}
	}
	if !(t >= a+0.1*width && t <= b-0.1*width) {
		if t < a+0.1*width {
			return a + 0.1*width
		}
		return a + 0.5*width
	}
	return t
}

// fewVariables is the number of variables below which a loop beats the call of a kernel.
const fewVariables = 64

func dot(a, b []float64) float64 {
	if len(a) >= fewVariables {
		return kernel.Dot(a, b)
	}
	sum := 0.0
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

// add adds alpha a to b.
func add(alpha float64, a, b []float64) {
	if len(a) >= fewVariables {
		kernel.Axpy(alpha, a, b)
		return
	}
	for i, v := range a {
		b[i] += alpha * v
	}
}
