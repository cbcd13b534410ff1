package credence

// Candidates returns the runs of weights that a prior which selects has in the model or out of it, in their
// order: every weight of no intercept and of no kept block stands for itself, without a name, and those of a
// group of [Grouped] are one candidate where together is true.
func Candidates(features Features, together bool) []Block {
	groups := map[int]Block{}
	if grouped, ok := features.(Grouped); ok && together {
		for _, g := range grouped.Groups() {
			groups[g.First] = g
		}
	}
	var list []Block
	for _, b := range features.Blocks() {
		for j := b.First; j < b.First+b.Count && !b.Intercept && !b.Kept; {
			c, grouped := groups[j]
			if !grouped {
				c = Block{First: j, Count: 1}
			}
			list = append(list, c)
			j += c.Count
		}
	}
	return list
}
