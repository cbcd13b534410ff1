package tune

import (
	"context"

	"gonum.org/v1/gonum/floats"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/svi/internal/newton"
	"github.com/credence-ml/credence/infer/svi/internal/problem"
	"github.com/credence-ml/credence/internal/gauss"
)

// fixed are sums over the normal rows of columns that no hyper-parameter changes: where hyper-parameters move prior
// deviations D alone (credence.Proportioned), those of other values are D S D and D p, and an ascent reads the rows
// once.
type fixed struct {
	columns           credence.Proportioned
	sites, product    []float64 // S = Σ β φφᵀ, its upper triangle, and p = Σ b φ
	deviation, slopes []float64
}

// fix forms the sums; nil where hyper-parameters change columns, or levels are apart.
func (t *tuner) fix(ctx context.Context) (*fixed, error) {
	if _, dense := t.Layout.(gauss.Dense); !dense {
		return nil, nil
	}
	tunable, ok := t.tunable.(credence.Proportioned)
	if !ok {
		return nil, nil
	}
	columns, ok := tunable.Apart()
	if !ok {
		return nil, nil
	}
	d := t.Dims
	f := &fixed{columns: columns.(credence.Proportioned), sites: make([]float64, d*d), product: make([]float64, d),
		deviation: make([]float64, d), slopes: make([]float64, len(t.tunable.Hyper())*d)}
	return f, t.add(ctx, columns, f.sites, f.product)
}

// add gives the rows features, and adds up their products under the normal likelihood.
func (t *tuner) add(ctx context.Context, features credence.Features, sites, product []float64) error {
	t.rows.Retransform(features)
	t.FeaturesChanged()
	first, dense := 0, 0
	err := t.rows.Each(ctx, func(b *problem.Block) {
		dense = b.Phi.Dense.Cols
		t.Layout.AddRows(t.Workspace, sites, b.Phi, t.beta[first:first+b.Rows()])
		b.Phi.AddMulTrans(t.Workspace, product, t.b[first:first+b.Rows()])
		first += b.Rows()
	})
	t.Layout.Close(sites, dense)
	return err
}

// at stores the sums at values of the hyper-parameters.
func (f *fixed) at(values, sites, product []float64) {
	f.columns.WithHyper(values).(credence.Proportioned).Deviations(f.deviation, f.slopes)
	d := len(product)
	for i, v := range f.deviation {
		product[i] = v * f.product[i]
		for j := i; j < d; j++ {
			sites[i*d+j] = v * f.deviation[j] * f.sites[i*d+j]
		}
	}
}

// slope stores ∂log Z/∂log θ = Σ_j (p_j m_j − Σ_k S_jk (m_j m_k + C_jk)) ∂log D_j/∂log θ for every hyper-parameter, at
// the values of the last call of at.
func (f *fixed) slope(slopes, mean, covariance []float64) {
	d := len(mean)
	byWeight := make([]float64, d)
	for j, v := range f.deviation {
		byWeight[j] = v * f.product[j] * mean[j]
		for k, u := range f.deviation {
			byWeight[j] -= v * u * f.sites[min(j, k)*d+max(j, k)] * (mean[j]*mean[k] + covariance[j*d+k])
		}
	}
	for h := range slopes {
		slopes[h] = 0
		for j, v := range f.slopes[h*d : (h+1)*d] {
			slopes[h] += v * byWeight[j]
		}
	}
}

// normal is log Z of sums that at and t.h hold, which it centres; the mean of the weights and their covariance are
// stored in mean and t.covary.
func (t *tuner) normal(at *newton.Point, mean []float64) (float64, bool) {
	d := t.Dims
	if in := t.Intercept; in != nil {
		first := at.Sites[:min(d, len(at.Sites))] // row of H
		if t.Pattern != nil {
			unit := make([]float64, d)
			first, unit[0] = make([]float64, d), 1
			t.Layout.Mul(first, at.Sites, unit)
		}
		floats.AddScaled(t.h, -in.Mean, first) // Φᵀ(b − β Mean)
		in.CentreSlope(t.h)
		in.CentreCurvature(t.Layout, at.Sites)
	}
	value, ok := t.Normal(at, t.h)
	if ok {
		t.Covariance(t.covary)
		t.Intercept.Weights(mean, at.Mean)
	}
	return value, ok
}
