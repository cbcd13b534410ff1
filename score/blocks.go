package score

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/linop"
)

// BlockTest says what a block of weights came to. Wald is mᵀC⁻¹m for the joint mean m and covariance C of
// its weights as they were fitted. Without an effect the data alone make Wald: each direction that they
// settle adds the square of a standard normal number, and one that the prior settles adds less. DF is
// the number of directions that the data settle, Σ (1 − C_jj/prior variance), at least 1.
//
// Effect is true where Wald is above the 95 % quantile of the chi-square distribution of DF degrees of
// freedom, or the 95 % interval of a weight excludes 0, or a weight is selected.
type BlockTest struct {
	Name    string  `json:"block"`   // the block of features
	Weights int     `json:"weights"` // of the block
	Wald    float64 `json:"wald"`    // of its weights together
	DF      float64 `json:"df"`      // effective number of weights
	Effect  bool    `json:"effect"`  // false where nothing was found
}

// mostWald is the largest number of weights whose covariance is decomposed: a gigaflop.
const mostWald = 1000

// effectLevel is the probability of the intervals and of the quantile that an effect has to exceed.
const effectLevel = 0.95

// Blocks returns what the blocks of the first member came to, without intercepts, blocks of more than
// 1,000 weights, and those whose covariance is singular. A fit that is a point has none.
func Blocks(fitted *credence.Fitted) []BlockTest {
	member := &fitted.Members[0]
	joint, ok := member.Posterior.(credence.Joint)
	if !ok || fitted.Report.Point() {
		return nil
	}
	features := member.Model.Features
	list := slices.DeleteFunc(slices.Clone(features.Blocks()), func(b credence.Block) bool { return b.Intercept || b.Count > mostWald })
	if len(list) == 0 { // variances of many weights take their time
		return nil
	}
	d := features.Weights()
	mean, variance := make([]float64, d), make([]float64, d)
	joint.Marginals(mean, variance)
	deviation := ability.Deviations(features)
	z := halfWidth(joint, effectLevel)
	selector, selects := joint.(credence.Selector)
	above := SelectedAbove(fitted)
	var blocks []BlockTest
	ws := credence.NewWorkspace(0)
	for _, block := range list {
		b := BlockTest{Name: block.Name, Weights: block.Count}
		var certain []int32 // weights that are not exactly 0
		for j := block.First; j < block.First+block.Count; j++ {
			b.Effect = b.Effect || math.Abs(mean[j]) > z*math.Sqrt(variance[j]) ||
				selects && !block.Kept && !fitted.Report.Stuck && selector.Selects() && selector.InclusionProbability(j) > above
			b.DF += settled(member.Model.Prior, block, j, deviation[j], variance[j])
			if variance[j] > 0 {
				certain = append(certain, int32(j))
			}
		}
		b.DF = max(1, b.DF)
		if b.Wald, ok = wald(ws, joint, features, certain, mean, variance); !ok || !special.Finite(b.Wald+b.DF) {
			continue
		}
		b.Effect = b.Effect || b.Wald > 2*mathext.GammaIncRegInv(b.DF/2, effectLevel)
		blocks = append(blocks, b)
	}
	return blocks
}

// settled is the share of a weight that the data settle and not the prior, whose standard deviation is multiplied: 1
// where the prior has no variance that is known.
func settled(prior credence.Prior, block credence.Block, j int, deviation, variance float64) float64 {
	known, ok := prior.(credence.UnseenPrior)
	if !ok {
		return 1
	}
	block.First, block.Count = j, 1
	v := known.UnseenVariance(block)
	if !(v > 0) {
		return 1
	}
	if v *= deviation * deviation; v == 0 {
		return 0
	}
	return max(0, 1-variance/v)
}

// wald returns mᵀC⁻¹m of some weights, by the Cholesky factor of their correlations; false if these are
// singular.
func wald(ws *credence.Workspace, joint credence.Joint, features credence.Features, weights []int32, mean, variance []float64) (float64, bool) {
	k := len(weights)
	if k == 0 {
		return 0, true
	}
	var units linop.CSR
	units.Reset(features.Weights())
	rows, z := make([]int, k), make([]float64, k)
	for i, j := range weights {
		units.AppendRow([]int32{j}, []float64{1 / math.Sqrt(variance[j])})
		rows[i], z[i] = i, mean[j]/math.Sqrt(variance[j])
	}
	phi := design(features, &units, rows)
	correlation := linop.NewDense(k, k)
	joint.Covariance(ws, &correlation, phi, phi)
	if _, ok := ws.Pool().Cholesky(k, correlation.Data, k); !ok {
		return 0, false
	}
	ws.Pool().TrsmLeft(true, k, 1, correlation.Data, k, z, 1)
	sum := 0.0
	for _, v := range z {
		sum += v * v
	}
	return sum, true
}
