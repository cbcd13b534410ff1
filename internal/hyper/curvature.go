package hyper

import "gonum.org/v1/gonum/mat"

// Curvature returns H = −∇²g at θ by central differences of gradients, each coordinate moved by step either way;
// gradient is called with θ moved, the coordinate k and the direction, 1 or −1, and may keep more than it returns.
func Curvature(theta []float64, step float64, gradient func(theta []float64, k int, sign float64) ([]float64, error)) (*mat.SymDense, error) {
	p := len(theta)
	out, moved := mat.NewSymDense(max(1, p), nil), append([]float64(nil), theta...)
	for k := range p {
		for _, sign := range []float64{1, -1} {
			moved[k] = theta[k] + sign*step
			slopes, err := gradient(moved, k, sign)
			if err != nil {
				return nil, err
			}
			for l, v := range slopes {
				share := -sign * v / (4 * step) // half of it for each of (k, l) and (l, k)
				if k == l {
					share *= 2
				}
				out.SetSym(k, l, out.At(k, l)+share)
			}
		}
		moved[k] = theta[k]
	}
	return out, nil
}
