package linop

// LeadForms stores aᵢᵀ V aᵢ in dst[i], for rows [from, to) of A and a symmetric V whose lower triangle is that of the
// Cols×Cols numbers v. lead[i] is the number of first entries that row i has in common with the row before: their
// share of the sum is made once.
func (a *CSR) LeadForms(dst, v []float64, lead []int32, from, to int) {
	var room [64]float64
	sums := room[:] // over the first entries of a row
	for i := from; i < to; i++ {
		columns, values := a.Row(i)
		if len(columns) >= len(sums) {
			sums = append(make([]float64, 0, 2*len(columns)), sums...)[:2*len(columns)]
		}
		first := int(lead[i])
		if i == from {
			first = 0
		}
		for k := first; k < len(columns); k++ {
			c := int(columns[k])
			row := v[c*a.Cols : c*a.Cols+c+1]
			if values == nil {
				sums[k+1] = sums[k] + 2*GatherSum(row, columns[:k]) + row[c]
			} else {
				x := values[k]
				sums[k+1] = sums[k] + x*(2*GatherDot(row, columns[:k], values[:k])+x*row[c])
			}
		}
		dst[i] = sums[len(columns)]
	}
}

// GatherSum adds up the elements of x at some places, in four sums that do not wait for each other.
func GatherSum(x []float64, at []int32) float64 {
	var s0, s1, s2, s3 float64
	for len(at) >= 4 {
		s0 += x[at[0]]
		s1 += x[at[1]]
		s2 += x[at[2]]
		s3 += x[at[3]]
		at = at[4:]
	}
	for _, j := range at {
		s0 += x[j]
	}
	return (s0 + s1) + (s2 + s3)
}

// GatherDot is GatherSum of elements times values.
func GatherDot(x []float64, at []int32, values []float64) float64 {
	var s0, s1, s2, s3 float64
	for len(at) >= 4 && len(values) >= 4 {
		s0 += values[0] * x[at[0]]
		s1 += values[1] * x[at[1]]
		s2 += values[2] * x[at[2]]
		s3 += values[3] * x[at[3]]
		at, values = at[4:], values[4:]
	}
	for k, j := range at {
		s0 += values[k] * x[j]
	}
	return (s0 + s1) + (s2 + s3)
}

// AddLeadGram adds the lower triangle of Aᵀ diag(weights) A to dst, from rows with lead first entries in common
// with the row before: weights of rows that share an entry and those before it are added up first. Every row of dst
// is one thread's, as in [CSR.AddGram].
func (a *CSR) AddLeadGram(pool *Pool, dst *Dense, weights []float64, lead []int32) {
	shares := pool.Threads()
	pool.Run(shares, func(share, _ int) {
		var room [64]float64
		sums := room[:] // for every entry of a row, over the rows from it on that share it
		shared := 0     // by the row after
		for i := a.Rows - 1; i >= 0; i-- {
			columns, values := a.Row(i)
			if len(columns) > len(sums) {
				sums = append(make([]float64, 0, 2*len(columns)), sums...)[:2*len(columns)]
			}
			for k := range columns {
				if k >= shared {
					sums[k] = 0
				}
				sums[k] += weights[i]
			}
			shared = int(lead[i])
			for k := shared; k < len(columns); k++ {
				c := columns[k]
				if foreign(c, share, shares) {
					continue
				}
				row, w := dst.Row(int(c)), sums[k]
				if values == nil {
					for _, j := range columns[:k+1] {
						row[j] += w
					}
					continue
				}
				w *= values[k]
				for l, j := range columns[:k+1] {
					row[j] += w * values[l]
				}
			}
		}
	})
}
