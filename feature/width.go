package feature

// Width returns the number of columns of a term's tensors, which is the number
// of its inputs; 0 for a term that has none or that the inputs do not fit.
func Width(t Term, in *Inputs) int {
	switch t := t.(type) {
	case *RandomFourier:
		r, err := newReader(t.Name, in, t.Inputs, t.Segment, t.Without)
		if err != nil {
			return 0
		}
		return r.d
	case *Radial:
		return len(t.Inputs)
	case *Sigmoid:
		return len(t.Inputs)
	}
	return 0
}
