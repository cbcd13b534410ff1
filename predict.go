package credence

import (
	"fmt"
	"math"
	"reflect"

	"github.com/credence-ml/credence/internal/quad"
)

// Predictive is the ability of a likelihood to give the distribution of y when
// f ~ N(mean, variance). Every family of package likelihood has it.
type Predictive interface {
	Likelihood
	PredictiveMean(mean, variance float64) float64
	PredictiveVariance(mean, variance float64) float64
	// TiltedMoments returns log E p(y|f) and its derivatives in mean and variance, for y in the
	// support.
	TiltedMoments(y, mean, variance float64) (logDensity, dMean, dVariance float64)
	PredictiveCDF(y, mean, variance float64) float64
	PredictiveQuantile(p, mean, variance float64) float64
}

// MixturePosterior is a posterior with several components of equal weight, under
// each of which f is Gaussian.
type MixturePosterior interface {
	Posterior
	Components() int
	// LatentComponent is Latent under component k alone.
	LatentComponent(ws *Workspace, k int, mean, variance []float64, phi *Design)
}

// Distribution returns the predictive distribution of the rows.
func (f *Fitted) Distribution(ws *Workspace, rows *Batch) (*Distribution, error) {
	dist := &Distribution{}
	return dist, f.DistributionTo(ws, dist, rows)
}

// DistributionTo stores the predictive distribution of the rows in dst, reusing its memory: where dst has held as many
// rows before, nothing is allocated, but for a likelihood of each row where rows state their trials or precisions. Only
// dst changes, and the scratch of ws, which is for one goroutine at a time.
func (f *Fitted) DistributionTo(ws *Workspace, dst *Distribution, rows *Batch) error {
	if err := f.CheckWeights(); err != nil {
		return fmt.Errorf("predict: %w", err)
	}
	n, all := rows.Rows(), 0
	for i := range f.Members {
		all += components(f.Members[i].Posterior)
	}
	if need := 2 * n * all; cap(dst.latent) < need {
		dst.latent = make([]float64, need)
	}
	dst.rows, dst.parts, dst.total = n, dst.parts[:0], 0
	equal := f.equal()
	var before *Member
	var last []float64 // what latents gave for it
	next := 0
	for i := range f.Members {
		member := &f.Members[i]
		share := member.Weight
		if equal {
			share = 1
		}
		if share == 0 {
			continue
		}
		likelihood, err := predictive(member.Model.Likelihood)
		if err != nil {
			return err
		}
		perRow, err := likelihoods(likelihood, rows)
		if err != nil {
			return err
		}
		scales, count := dst.scalesOf(likelihood, member.Posterior), components(member.Posterior)
		share *= float64(all) / float64(len(f.Members)*count) // 1 for equal members of as many components
		memory := dst.latent[next : next+2*n*count]
		member.latents(ws, memory, &dst.phi, rows, before, last)
		before, last = member, memory
		next += len(memory)
		df := 0.0
		if t, ok := member.Posterior.(LatentDF); ok && len(scales) == 1 && !isNormal(t.LatentDF()) {
			df = t.LatentDF()
		}
		var table knownTable
		if perRow == nil {
			table = dst.tables.table(likelihood, member.Posterior, scales)
		}
		for ; len(memory) > 0; memory = memory[2*n:] {
			for k, scale := range scales {
				p := part{
					likelihood: likelihood, perRow: perRow, mean: memory[:n], variance: memory[n : 2*n],
					factor: scale.Factor, share: share * scale.Weight, df: df,
				}
				if k == 0 {
					p.table, p.scales, p.whole = table, len(scales), share
				}
				dst.parts = append(dst.parts, p)
				dst.total += p.share
			}
		}
	}
	next = 0
	for i := range f.Members {
		if f.Members[i].Weight == 0 && !equal {
			continue
		}
		for range components(f.Members[i].Posterior) {
			f.AddUnseen(i, dst.latent[next+n:next+2*n], rows)
			next += 2 * n
		}
	}
	return nil
}

// latents stores the moments of f of the rows under each component: n means, which have the offsets,
// and n variances. phi is Φ of the rows under the member before, and last what latents gave
// for that: neither is computed twice where the members share features, and covariance.
func (m *Member) latents(ws *Workspace, dst []float64, phi *Design, rows *Batch, before *Member, last []float64) {
	n := rows.Rows()
	features := before != nil && samePointer(before.Model.Features, m.Model.Features)
	if !features {
		m.Model.Features.Transform(ws, phi, rows)
	}
	sharing, ok := m.Posterior.(interface{ SameCovariance(other Posterior) bool })
	covariance := ok && features && sharing.SameCovariance(before.Posterior)
	mixture, isMixture := m.Posterior.(MixturePosterior)
	for k := 0; len(dst) > 0; k, dst = k+1, dst[2*n:] {
		mean, variance := dst[:n], dst[n:2*n]
		switch {
		case isMixture:
			mixture.LatentComponent(ws, k, mean, variance, phi)
		case covariance:
			m.Posterior.Latent(ws, mean, nil, phi)
			copy(variance, last[n:])
		default:
			m.Posterior.Latent(ws, mean, variance, phi)
		}
		for i, offset := range rows.Offset {
			mean[i] += offset
		}
	}
}

// samePointer says whether both are the same value in memory.
func samePointer(a, b Features) bool {
	return reflect.TypeOf(a).Kind() == reflect.Pointer && a == b
}

// oneScale is that of a normal f.
var oneScale = []quad.Scale{{Factor: 1, Weight: 1}}

// scalesOf returns the scales of the normal distributions that f is a mixture of in a component.
func (d *Distribution) scalesOf(likelihood Predictive, posterior Posterior) []quad.Scale {
	tailed, ok := posterior.(LatentDF)
	if !ok || isNormal(tailed.LatentDF()) {
		return oneScale
	}
	if own, ok := likelihood.(interface{ StudentPredictive() bool }); ok && own.StudentPredictive() {
		return oneScale
	}
	df := tailed.LatentDF()
	if d.scales == nil {
		d.scales = map[float64][]quad.Scale{}
	}
	if d.scales[df] == nil {
		d.scales[df] = quad.Scales(df)
	}
	return d.scales[df]
}

// isNormal says whether a Student-t distribution of so many degrees of freedom stands for a normal one.
func isNormal(df float64) bool { return !(df > 0) || math.IsInf(df, 1) }

// predictive narrows a likelihood. It does without [Require], which lists methods by reflection, so
// that linkers would keep every method of every type in a program that only scores.
func predictive(likelihood any) (Predictive, error) {
	if p, ok := likelihood.(Predictive); ok {
		return p, nil
	}
	return nil, fmt.Errorf("predict: likelihood %T has no predictive distribution: give it the methods of credence.Predictive", likelihood)
}

// components returns how many Gaussians the distribution of f is a mixture of.
func components(posterior Posterior) int {
	if mixture, ok := posterior.(MixturePosterior); ok {
		return mixture.Components()
	}
	return 1
}

// likelihoods returns the likelihood of every row where rows state their trials or precisions.
func likelihoods(likelihood Predictive, rows *Batch) ([]Predictive, error) {
	if rows.Trials == nil && rows.Precision == nil {
		return nil, nil
	}
	perRow := make([]Predictive, rows.Rows())
	same := func(x []float64, i int) bool { return x == nil || x[i] == x[i-1] }
	for i := range perRow {
		if i > 0 && same(rows.Trials, i) && same(rows.Precision, i) {
			perRow[i] = perRow[i-1]
			continue
		}
		narrowed, err := predictive(rows.LikelihoodOf(likelihood, i))
		if err != nil {
			return nil, err
		}
		perRow[i] = narrowed
	}
	return perRow, nil
}
