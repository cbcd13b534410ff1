package ep

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/candidates"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/special"
)

// Draws of which candidates are in tell what single inclusions do not: that one of two twins is. They are of
// the candidates of highest inclusion, in clusters: those that a chain of correlations of at least
// leastCorrelation joins. The sites of the prior of a cluster are divided out of q, and the true prior takes
// their place: under the cavity exp(hᵀw − ½wᵀPw)
//
//	p(z) ∝ π^|z| (1−π)^(m−|z|) |I + r₁P_z|^(−½) exp(½ h_zᵀ(P_z + I/r₁)⁻¹h_z)
//
// for the candidates z that are in. Clusters are independent.
const (
	leastDrawn       = 0.01 // inclusion of a candidate that is drawn
	mostDrawn        = 500  // candidates
	leastCorrelation = 0.5
	enumerated       = 12 // candidates of a cluster of which all models are gone through
	mostCluster      = 64 // candidates of a cluster; those of less inclusion keep their sites
	drawCount        = 1000
	drawSweeps       = 2   // of single flips between two draws of a larger cluster
	drawWarm         = 100 // sweeps before the first
)

// draws are those at the sites as they are.
func (f *fit) draws() (*credence.InclusionDraws, error) {
	if err := f.q.take(f.weights, f.rows, f.Classes); err != nil {
		return nil, err
	}
	var drawn []candidates.Candidate
	for _, c := range f.Candidates {
		if f.tilted[c.First].inclusion >= leastDrawn {
			drawn = append(drawn, c)
		}
	}
	slices.SortStableFunc(drawn, func(a, b candidates.Candidate) int {
		return cmp.Compare(f.tilted[b.First].inclusion, f.tilted[a.First].inclusion)
	})
	drawn = drawn[:min(len(drawn), mostDrawn)]
	out := &credence.InclusionDraws{Count: drawCount, Weights: make([]int, len(drawn)), In: make([]bool, drawCount*len(drawn))}
	for k, c := range drawn {
		out.Weights[k] = c.First
	}
	for id, members := range f.clusters(drawn) {
		cluster := make([]candidates.Candidate, len(members))
		for i, k := range members {
			cluster[i] = drawn[k]
		}
		rng := credence.Rand(f.config.Seed, credence.EPDraws, uint64(id))
		for s, in := range f.newModels(cluster).draw(rng) {
			for i, k := range members {
				out.In[s*len(drawn)+k] = in[i]
			}
		}
	}
	return out, nil
}

// clusters splits candidates, named by their places, into those that correlations join.
func (f *fit) clusters(drawn []candidates.Candidate) (list [][]int) {
	n, of := f.Rows, []int{} // the candidate of every column
	for k, c := range drawn {
		of = append(of, slices.Repeat([]int{k}, c.Count)...)
	}
	m := len(of)
	columns, gram := make([]float64, m*n), make([]float64, m*m)
	at := 0
	for _, c := range drawn {
		for j := c.First; j < c.End(); j++ {
			row := columns[at*n : (at+1)*n]
			f.Column(row, j)
			if square := kernel.Dot(row, row); square > 0 {
				kernel.Scale(1/math.Sqrt(square), row)
			}
			at++
		}
	}
	f.ws.Pool().Syrk(m, n, 1, columns, n, 0, gram, m)
	joined := make([]bool, len(drawn)*len(drawn))
	for a := range m {
		for b := a; b < m; b++ {
			if math.Abs(gram[a*m+b]) >= leastCorrelation {
				joined[of[a]*len(drawn)+of[b]], joined[of[b]*len(drawn)+of[a]] = true, true
			}
		}
	}
	taken := make([]bool, len(drawn))
	for first := range drawn {
		if taken[first] {
			continue
		}
		taken[first] = true
		cluster := []int{first}
		for next := 0; next < len(cluster); next++ {
			for k, is := range joined[cluster[next]*len(drawn) : (cluster[next]+1)*len(drawn)] {
				if is && !taken[k] {
					taken[k] = true
					cluster = append(cluster, k)
				}
			}
		}
		slices.Sort(cluster)
		for len(cluster) > mostCluster {
			list = append(list, cluster[len(cluster)-1:])
			cluster = cluster[:len(cluster)-1]
		}
		list = append(list, cluster)
	}
	return list
}

// models are the sets of candidates of a cluster that may be in.
type models struct {
	cluster          []candidates.Candidate
	first            []int     // of every candidate, its first place in P and h
	precision, shift []float64 // P and h
	prior            slab
	odds             []float64 // prior log odds of every candidate
	start            []bool
	pool             *kernel.Pool
}

func (f *fit) newModels(cluster []candidates.Candidate) *models {
	m := &models{cluster: cluster, prior: f.prior(), pool: f.ws.Pool()}
	var columns []int
	for _, c := range cluster {
		m.first = append(m.first, len(columns))
		m.odds = append(m.odds, f.priorOf(c).logOdds)
		m.start = append(m.start, f.tilted[c.First].inclusion > 0.5)
		for j := c.First; j < c.End(); j++ {
			columns = append(columns, j)
		}
	}
	d := len(columns)
	covariance := make([]float64, d*d)
	m.precision, m.shift = make([]float64, d*d), make([]float64, d)
	f.q.block(f.q, columns, covariance)
	if _, ok := m.pool.Cholesky(d, covariance, d); !ok {
		return m // rounding left nothing: candidates come in as the prior has them
	}
	m.pool.CholeskyInverse(d, covariance, d, m.precision, d)
	kernel.Symmetrize(d, m.precision, d)
	for i, j := range columns {
		for k, l := range columns {
			m.shift[i] += m.precision[i*d+k] * f.q.mean[l]
		}
		m.shift[i] -= f.weights[j].shift
	}
	for i, j := range columns {
		if f.groupOf(j) == nil {
			m.precision[i*d+i] -= f.weights[j].precision
		}
	}
	for k, c := range cluster {
		if g := f.groupOf(c.First); g != nil {
			for i, v := range g.precision {
				m.precision[(m.first[k]+i/g.Count)*d+m.first[k]+i%g.Count] -= v
			}
		}
	}
	return m
}

// groupOf is the group with column j, nil for a column whose site stands apart.
func (f *fit) groupOf(j int) *group {
	for _, g := range f.q.groups {
		if j >= g.First && j < g.End() {
			return g
		}
	}
	return nil
}

// logWeight is the logarithm of p(z) but for a constant.
func (m *models) logWeight(in []bool) float64 {
	d, sum := len(m.shift), 0.0
	var places []int
	for k, c := range m.cluster {
		if !in[k] {
			continue
		}
		sum += m.odds[k]
		for i := range c.Count {
			places = append(places, m.first[k]+i)
		}
	}
	size := len(places)
	upper, solved := make([]float64, size*size), make([]float64, size)
	for a, i := range places {
		for b, k := range places {
			upper[a*size+b] = m.precision[i*d+k]
		}
		upper[a*size+a] += 1 / m.prior.variance
		solved[a] = m.shift[i]
	}
	if _, ok := m.pool.Cholesky(size, upper, size); !ok {
		return math.Inf(-1)
	}
	m.pool.TrsmLeft(true, size, 1, upper, size, solved, 1)
	sum += kernel.Dot(solved, solved) / 2
	for a := range size {
		sum -= math.Log(upper[a*size+a]) + math.Log(m.prior.variance)/2
	}
	return sum
}

// draw returns draws of z: of few candidates by going through all models, with as many draws of each as its
// probability has, and else by flips of one after the other.
func (m *models) draw(rng *rand.Rand) [][]bool {
	draws := make([][]bool, 0, drawCount)
	count := len(m.cluster)
	if count > enumerated {
		in := slices.Clone(m.start)
		log := m.logWeight(in)
		for sweep := 0; len(draws) < drawCount; sweep++ {
			for k := range in {
				in[k] = !in[k]
				if next := m.logWeight(in); rng.Float64() < special.Sigmoid(next-log) {
					log = next
				} else {
					in[k] = !in[k]
				}
			}
			if sweep >= drawWarm && sweep%drawSweeps == 0 {
				draws = append(draws, slices.Clone(in))
			}
		}
		return draws
	}
	logs, largest := make([]float64, 1<<count), math.Inf(-1)
	sets := make([][]bool, 1<<count)
	for model := range logs {
		sets[model] = make([]bool, count)
		for k := range count {
			sets[model][k] = model>>k&1 == 1
		}
		logs[model] = m.logWeight(sets[model])
		largest = math.Max(largest, logs[model])
	}
	total := 0.0
	for model, l := range logs {
		logs[model] = math.Exp(l - largest)
		total += logs[model]
	}
	sum, from := 0.0, rng.Float64()
	for model, p := range logs {
		for sum += p; len(draws) < drawCount && (float64(len(draws))+from)/drawCount < sum/total; {
			draws = append(draws, sets[model])
		}
	}
	for len(draws) < drawCount { // rounding of the last sum
		draws = append(draws, draws[len(draws)-1])
	}
	rng.Shuffle(drawCount, func(a, b int) { draws[a], draws[b] = draws[b], draws[a] })
	return draws
}
