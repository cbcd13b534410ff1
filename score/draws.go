package score

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/order"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/posterior"
)

// Draws are draws from the posterior of a model: of all weights together, with the parameters of the family.
type Draws struct {
	// those of the fit that have a share; the first has all draws where weights and parameters are drawn together
	Members []DrawnMember
	Count   int // draws of all members
	scorer  *Scorer
	seed    uint64
	// places of the draws of one member after another: mixed, so that every part of a table is as good as another
	order []int
}

// DrawnMember has the draws that fall to a member of a fit, whose number goes by its share.
type DrawnMember struct {
	*credence.Member
	place       int                   // among the members of the fit
	Weights     []float64             // Count × d, row-major
	Likelihoods []credence.Likelihood // of each draw
	fixed       bool                  // all have the parameters of the fit
}

// Count returns the number of draws of the member.
func (m *DrawnMember) Count() int { return len(m.Likelihoods) }

// mostDrawn is the largest number of numbers that are held of all draws: half a gigabyte.
const mostDrawn = 1 << 26

// Draw draws from the posterior count times, or less often where the posterior is fewer draws of a sampler, of which
// none is taken twice. Draws are independent but for those of a sampler, and are the same for the same seed. A draw
// costs d² operations for d weights that depend on each other, and all together up to d³/3.
func (s *Scorer) Draw(count int, seed uint64) (*Draws, error) {
	if s == nil || count < 1 {
		return nil, errors.New("there is no scorer, or less than one draw: make the scorer by score.New")
	}
	fitted, share := s.fitted, 0.0
	joint := fitted.Family != nil && (len(s.grades) > 0 || fitted.Members[0].Posterior.Weights() <= posterior.MostSampled)
	ws := credence.NewWorkspace(s.options.Threads)
	out := &Draws{scorer: s, seed: seed}
	for k := range fitted.Members {
		of, member := fitted.Share(k), &fitted.Members[k]
		if of == 0 {
			continue
		}
		share += of
		n, d := int(math.Round(share*float64(count)))-out.Count, member.Posterior.Weights()
		if joint {
			n = count - out.Count
		}
		stored, sampled := member.Posterior.(*posterior.Draws)
		if sampled = sampled && stored.Mean == nil; sampled && of == 1 {
			n = min(n, stored.Count)
		}
		out.Count += n
		if n*d > mostDrawn {
			return nil, fmt.Errorf("%d draws of %d weights are more than memory should hold: ask for fewer draws", n, d)
		}
		m := DrawnMember{Member: member, place: k, Weights: make([]float64, n*d)}
		if sampled { // evenly spread
			for i := range n {
				copy(m.Weights[i*d:(i+1)*d], stored.Values[i*stored.Count/n*d:])
			}
			m.Likelihoods, m.fixed = slices.Repeat([]credence.Likelihood{member.Model.Likelihood}, n), true
		} else if n > 0 {
			if err := m.draw(ws, fitted, joint, n, seed); err != nil {
				return nil, err
			}
		}
		out.Members = append(out.Members, m)
	}
	if out.order = order.Places(out.Count); len(out.Members) > 1 && !joint {
		out.order = credence.Rand(seed, credence.PosteriorDraws, 3*uint64(len(fitted.Members))).Perm(out.Count)
	}
	return out, nil
}

// draw draws the weights and the parameters of the family n times. Where the fit knows the joint posterior of both,
// weights are those of all members, which differ by the parameters.
func (m *DrawnMember) draw(ws *credence.Workspace, fitted *credence.Fitted, joint bool, n int, seed uint64) error {
	d, l, place := m.Posterior.Weights(), m.Model.Likelihood, uint64(m.place)
	q := m.Posterior
	var apart *linop.Dense
	var family *FamilyDraws
	if joint {
		var err error
		if family, err = DrawFamily(fitted, n, place); err != nil {
			return err
		}
		p := fitted.Family.Axes()
		rows := linop.NewDense(p, d)
		for j := range d {
			for k := range p {
				rows.Row(k)[j] = fitted.Family.Slopes[j*p+k] * family.SD[k]
			}
		}
		apart, q = &rows, pooled{fitted}
	}
	sampler, err := posterior.NewSampler(ws, q, denseWeights(m.Model.Features), apart)
	if err != nil {
		return err
	}
	rng := credence.Rand(seed, credence.EffectDraws, place<<1|1)
	noise, gaussian := l.(likelihood.Gaussian)
	if sd := fitted.Report.HyperSD.Of("noise_variance", 0); sd > 0 && (noise.StudentPredictive() || len(fitted.Members) == 1) {
		// Of many rows y is as good as normal, and its degrees of freedom are not those of the noise variance: the
		// variance of the logarithm of an inverse gamma is ψ'(df/2) ≈ 1/(df/2 − ½). Several members may have noises of
		// their own.
		noise.PredictiveDF = max(noise.PredictiveDF, 2/(sd*sd)+1)
	}
	m.fixed = family == nil && !(gaussian && noise.StudentPredictive())
	noises := credence.Rand(seed, credence.PosteriorDraws, 3*place)
	for i := range n {
		w := m.Weights[i*d : (i+1)*d]
		sampler.Draw(rng, w)
		drawn := l
		switch {
		case family != nil:
			drawn = family.Likelihoods[i]
			for k := range apart.Rows {
				kernel.Axpy(family.Moved[k][i]/family.SD[k], apart.Row(k), w)
			}
		case gaussian:
			drawn = noise.Draw(noises)
		}
		m.Likelihoods = append(m.Likelihoods, drawn)
	}
	return nil
}

// denseWeights returns how many of the weights, the first ones, belong to dense columns.
func denseWeights(features credence.Features) int {
	if shape, ok := features.(interface{ DenseWeights() int }); ok {
		return shape.DenseWeights()
	}
	return features.Weights()
}

// pooled is the distribution of the weights over all members, in its mean and covariance.
type pooled struct{ *credence.Fitted }

func (p pooled) Weights() int { return p.Members[0].Posterior.Weights() }

func (p pooled) Marginals(mean, variance []float64) {
	clear(mean)
	clear(variance)
	w, v := make([]float64, len(mean)), make([]float64, len(mean))
	for k := range p.Members {
		p.Members[k].Posterior.Marginals(w, v)
		for j := range w {
			mean[j] += p.Share(k) * w[j]
			variance[j] += p.Share(k) * (v[j] + w[j]*w[j])
		}
	}
	for j := range mean {
		variance[j] -= mean[j] * mean[j]
	}
}

func (p pooled) Latent(*credence.Workspace, []float64, []float64, *credence.Design) {
	panic("score: of pooled members weights are drawn")
}

func (p pooled) Covariance(ws *credence.Workspace, dst *linop.Dense, a, b *credence.Design) {
	d, n := p.Weights(), dst.Rows
	mean, w, v := make([]float64, d), make([]float64, d), make([]float64, d)
	p.Marginals(mean, v)
	left, right, part := make([]float64, n), make([]float64, dst.Cols), linop.NewDense(n, dst.Cols)
	clear(dst.Data)
	for k := range p.Members {
		q := p.Members[k].Posterior
		q.(credence.Joint).Covariance(ws, &part, a, b)
		q.Marginals(w, v)
		kernel.Axpy(-1, mean, w)
		a.Mul(ws, left, w)
		b.Mul(ws, right, w)
		for i := range n {
			kernel.Axpy(p.Share(k), part.Row(i), dst.Row(i))
			kernel.Axpy(p.Share(k)*left[i], right, dst.Row(i))
		}
	}
}

// learned returns the places of the learned parameters of the family, and their names. Cutpoints are told as weights
// are.
func (d *Draws) learned() (places []int, names []string) {
	l := d.Members[0].Model.Likelihood
	family, ok := l.(likelihood.Parametric)
	if !ok || len(cutpointsOf(l)) > 0 {
		return nil, nil
	}
	for k, p := range family.Parameters() {
		if p.State == param.Held {
			continue
		}
		if _, is := family.(likelihood.Gaussian); is {
			p.Name = "noise_" + p.Name
		}
		places, names = append(places, k), append(names, p.Name)
	}
	return places, names
}

// Fixed names the learned parameters of the family that are the same in every draw, since the fit does not say how
// uncertain they are.
func (d *Draws) Fixed() []string {
	if len(d.Members) > 1 || !d.Members[0].fixed {
		return nil
	}
	_, names := d.learned()
	return names
}

// Parameters returns the draws of the weights in the units of the data's own columns, as [Terms] tells them, and of the
// learned parameters of the family but those of [Draws.Fixed]: Count × names, row-major. A weight is named by its
// column or level, and with its block before it where others have that name. Weights that mean something else in each
// member of the fit, as those of random features drawn afresh, are left out, and their blocks named.
func (d *Draws) Parameters() (names []string, _ []float64, left []string, err error) {
	fitted := d.scorer.fitted
	own, err := ownUnits(fitted.Members[0].Model.Features, nil)
	if err != nil {
		return nil, nil, nil, err
	}
	weights, cutpoints := len(own.Columns), addCutpoints(fitted, own)
	var rows []int // of the own map, cutpoints in the place of the intercept
	for i := range own.Columns {
		switch c := &own.Columns[i]; {
		case i < weights && (cutpoints > 0 && c.Intercept || c.Base):
		case c.Varies && len(d.Members) > 1:
			if !slices.Contains(left, c.Block) {
				left = append(left, c.Block)
			}
		default:
			rows = append(rows, i)
		}
	}
	var learned []int // places of parameters
	var parameters []string
	if len(d.Fixed()) == 0 {
		learned, parameters = d.learned()
	}
	named := func(prefix bool, block, name string) string {
		if prefix {
			return block + "." + name
		}
		return name
	}
	count := map[string]int{}
	for pass := range 2 {
		for _, i := range rows {
			c := own.Columns[i]
			if names = append(names, named(count[c.Name] > 1, c.Block, c.Name)); pass == 0 {
				count[c.Name]++
			}
		}
		for _, name := range parameters {
			if names = append(names, named(count[name] > 1, "family", name)); pass == 0 {
				count[name]++
			}
		}
		if pass == 0 {
			names = names[:0]
		}
	}
	if len(names)*d.Count > mostDrawn {
		return nil, nil, nil, fmt.Errorf("%d draws of %d weights are more than memory should hold: ask for fewer draws", d.Count, len(names))
	}
	values, at := make([]float64, len(names)*d.Count), d.order
	for _, m := range d.Members {
		size := m.Posterior.Weights()
		for s, l := range m.Likelihoods {
			w, row := m.Weights[s*size:(s+1)*size], values[at[s]*len(names):(at[s]+1)*len(names)]
			for k, i := range rows {
				for j, v := range own.Map.Each(i) {
					row[k] += v * w[j]
				}
				if i >= weights {
					row[k] += cutpointsOf(l)[i-weights]
				}
			}
			for k, place := range learned {
				row[len(rows)+k] = l.(likelihood.Parametric).Parameters()[place].Value
			}
		}
		at = at[m.Count():]
	}
	return names, values, left, nil
}

// Latent returns f of the rows under every draw, rows × Count, row-major. A level that training did not have has a
// weight of its prior, which is drawn afresh in every row.
func (d *Draws) Latent(rows *Rows) []float64 {
	n, at := rows.Len(), d.order
	out, part := make([]float64, n*d.Count), make([]float64, n*d.Count)
	var phi credence.Design
	for k := range d.Members {
		m := &d.Members[k]
		count, unseen := m.Count(), make([]float64, n)
		if count == 0 {
			continue
		}
		m.Model.Features.Transform(rows.ws, &phi, &rows.batch)
		phi.MulTransposed(rows.ws, part, m.Weights, count)
		d.scorer.fitted.AddUnseen(m.place, unseen, &rows.batch)
		for i := range n {
			rng := credence.Rand(d.seed, credence.PosteriorDraws, uint64(3*rows.SourceRow(i)+1))
			for s, f := range part[i*count : (i+1)*count] {
				if f += rows.batch.OffsetOf(i); unseen[i] > 0 {
					f += math.Sqrt(unseen[i]) * rng.NormFloat64()
				}
				out[i*d.Count+at[s]] = f
			}
		}
		at = at[count:]
	}
	return out
}

// Rows returns f, E[y|f] and a draw of y of the rows under every draw, each rows × Count, row-major, in the target's
// own values. What a row lacks is NaN.
func (d *Draws) Rows(rows *Rows) (f, mean, y []float64, err error) {
	f = d.Latent(rows)
	if y, err = d.sample(rows, f, slices.Repeat([]int{1}, rows.Len())); err != nil {
		return nil, nil, nil, err
	}
	mean = make([]float64, len(f))
	rows.Each(func(i int) { d.expect(rows, i, mean[i*d.Count:(i+1)*d.Count], f[i*d.Count:(i+1)*d.Count]) })
	return f, mean, y, nil
}

// Targets returns draws of y of copies[i] rows like row i under every draw, those of a row one after another: the sum
// of copies × Count, row-major.
func (d *Draws) Targets(rows *Rows, copies []int) ([]float64, error) {
	if rows == nil || len(copies) != rows.Len() {
		return nil, errors.New("each of the rows has a number of copies: give as many as there are rows")
	}
	return d.sample(rows, d.Latent(rows), copies)
}

// sample draws copies of the targets, and makes f of what a row lacks NaN.
func (d *Draws) sample(rows *Rows, f []float64, copies []int) ([]float64, error) {
	if _, ok := d.Members[0].Model.Likelihood.(likelihood.Sampler); !ok {
		return nil, fmt.Errorf("likelihood %T draws no y: give it the method of likelihood.Sampler", d.Members[0].Model.Likelihood)
	}
	first := make([]int, len(copies)+1)
	for i, n := range copies {
		first[i+1] = first[i] + n
	}
	y := make([]float64, first[len(copies)]*d.Count)
	rows.Each(func(i int) {
		rng := credence.Rand(d.seed, credence.PosteriorDraws, uint64(3*rows.SourceRow(i)+2))
		at := f[i*d.Count : (i+1)*d.Count]
		for s := range at {
			if rows.Lacks(i) {
				at[s] = math.NaN()
			}
		}
		for k := first[i]; k < first[i+1]; k++ {
			d.each(func(s int, l credence.Likelihood) {
				if y[k*d.Count+s] = math.NaN(); at[s] == at[s] {
					y[k*d.Count+s] = rows.own(rows.batch.LikelihoodOf(l, i).(likelihood.Sampler).Sample(rng, at[s]))
				}
			})
		}
	})
	return y, nil
}

// each visits all draws by the places that they have in results.
func (d *Draws) each(visit func(s int, l credence.Likelihood)) {
	at := d.order
	for k := range d.Members {
		for s, l := range d.Members[k].Likelihoods {
			visit(at[s], l)
		}
		at = at[d.Members[k].Count():]
	}
}

// expect stores E[y|f] of row i in dst under every draw.
func (d *Draws) expect(rows *Rows, i int, dst, f []float64) {
	d.each(func(s int, l credence.Likelihood) { dst[s] = d.scorer.Expected(rows.batch.LikelihoodOf(l, i), f[s]) })
}
