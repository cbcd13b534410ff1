package problem

import (
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/internal/arrow"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

// FullWeights is the largest number of weights whose covariance is kept, and beside which what is learned is integrated
// over, where nothing is stated.
const FullWeights = 2000

// Group is a run of weights that share a prior variance: a block, or one weight of it under
// automatic relevance determination.
type Group struct {
	Name         string // of the block, or of the weight
	First, Count int
	// Stride is the number of weights from one of its own to the next; 0 is 1. See [Together].
	Stride    int
	Block     int  // index of the block
	Of        int  // weights of the block
	Intercept bool // the block is the intercept
	Learned   bool // its prior variance is learned from the data, from a guess or from nothing
	// Stated is the prior variance: a Guess and Held have a value.
	Stated param.Parameter
	// Covaried says that no prior of the model is about the block: see [ability.Covaried].
	Covaried bool
	Unit     bool // the squares of the block's columns add up to 1 in every row
	// Tuned says that the block has hyper-parameters: its features stand about 0.
	Tuned bool
	// Moves says that the block learns hyper-parameters which its columns' sizes depend on.
	Moves bool
}

// End returns the weight after the last one of the group.
func (g *Group) End() int { return g.First + max(0, g.Count-1)*g.Step() + min(1, g.Count) }

// Step is the number of weights from one of the group to the next.
func (g *Group) Step() int { return max(1, g.Stride) }

// Groups is GroupsTogether for an engine that takes no columns which vary together.
func Groups(engine string, features credence.Features, p prior.Normal) ([]Group, error) {
	for _, c := range ability.Covariances(features) {
		if len(c.Columns) > 1 {
			return nil, fmt.Errorf("%s: %s has %d columns that vary together by group, which engines exact and svi(covariance=full) take: write || in the place of |, which leaves their correlations out", engine, features.Blocks()[c.Block].Name, len(c.Columns))
		}
	}
	return GroupsTogether(engine, features, p)
}

// GroupsTogether returns the groups of the weights under a prior. It refuses blocks that do not follow
// each other over all weights; engine stands before errors.
func GroupsTogether(engine string, features credence.Features, p prior.Normal) ([]Group, error) {
	if features == nil {
		return nil, fmt.Errorf("%s: the model has no features", engine)
	}
	blocks := features.Blocks()
	tuned, moves := make([]bool, len(blocks)), make([]bool, len(blocks))
	for _, h := range ability.Hypers(features) {
		if h.Block < 0 || h.Block >= len(blocks) {
			return nil, fmt.Errorf("%s: the hyper-parameter %s belongs to block %d of %d", engine, h.Name, h.Block, len(blocks))
		}
		tuned[h.Block] = true
		moves[h.Block] = moves[h.Block] || !h.Held && !blocks[h.Block].Unit
	}
	own := map[int]param.Parameter{} // prior variances of blocks with a covariance of their own
	together := map[int]ability.Covariance{}
	for _, c := range ability.Covariances(features) {
		own[c.Block] = param.Parameter{}
		if len(c.Columns) > 1 {
			together[c.Block] = c
		}
		if len(c.SD) > 0 {
			state := param.Guess
			if c.Held {
				state = param.Held
			}
			own[c.Block] = param.Parameter{Value: c.SD[0] * c.SD[0], State: state}
		}
	}
	var list []Group
	next := 0
	for k, b := range blocks {
		if b.First != next || b.Count < 0 || b.Intercept && b.Count != 1 {
			return nil, fmt.Errorf("%s: block %q covers weights %d to %d where weight %d comes next", engine, b.Name, b.First, b.First+b.Count-1, next)
		}
		if b.Intercept && b.First != 0 {
			return nil, fmt.Errorf("%s: the intercept is weight %d: put its block first", engine, b.First)
		}
		next += b.Count
		g := Group{Name: b.Name, First: b.First, Count: b.Count, Block: k, Of: b.Count, Intercept: b.Intercept,
			Unit: b.Unit, Tuned: tuned[k], Moves: moves[k]}
		if !b.Intercept {
			g.Stated = p.Variance
		}
		if stated, covaried := own[k]; covaried {
			g.Covaried, g.Stated = true, stated
		}
		g.Learned = !b.Intercept && g.Stated.State != param.Held
		if !p.ARD || b.Intercept || g.Covaried {
			if c, ok := together[k]; ok {
				list = append(list, columnsOf(g, c)...)
			} else if b.Count > 0 {
				list = append(list, g)
			}
			continue
		}
		for j := b.First; j < next; j++ {
			g.Name, g.First, g.Count = WeightName(features, j), j, 1
			list = append(list, g)
		}
	}
	if d := features.Weights(); next != d {
		return nil, fmt.Errorf("%s: blocks cover %d of %d weights", engine, next, d)
	}
	return list, nil
}

// Spread stores in dst, for every weight, the value of its group.
func Spread(dst []float64, groups []Group, value func(k int) float64) {
	for k, g := range groups {
		v := value(k)
		for j := g.First; j < g.End(); j += g.Step() {
			dst[j] = v
		}
	}
}

// NormalPrior narrows the prior of a model to one that engine can use.
func NormalPrior(engine string, p credence.Prior) (prior.Normal, error) {
	switch p := p.(type) {
	case prior.Normal:
		return p, p.Validate()
	case nil:
		return prior.Normal{}, fmt.Errorf("%s: the model has no prior", engine)
	}
	return prior.Normal{}, fmt.Errorf("%s: prior %v is not normal: choose prior normal, or engine convex for laplace and studentt and ep for spikeslab", engine, p)
}

// WeightName names weight j for people.
func WeightName(features credence.Features, j int) string {
	for _, b := range features.Blocks() {
		if j < b.First || j >= b.First+b.Count {
			continue
		}
		if b.Intercept {
			return b.Name
		}
		if named, ok := features.(credence.Named); ok {
			return b.Name + "." + named.WeightName(j)
		}
		return fmt.Sprintf("%s.%d", b.Name, j-b.First+1)
	}
	return fmt.Sprint(j)
}

// A block's columns are of different sizes where their mean square is MixedRatio times the variance
// of the one that varies least. A column that varies by less than ConstantShare of its mean square is
// a constant, with the rounding of sums.
const (
	MixedRatio    = 100
	ConstantShare = 1e-9
)

// Size returns the variance of a column, +Inf for a constant.
func Size(meanSquare, variance float64) float64 {
	if variance > ConstantShare*meanSquare {
		return variance
	}
	return math.Inf(1)
}

// Spreads returns c of every group, in which the priors of its weights are scaled: the root of the mean square of its
// columns together, given Σ w φ² and the mean x̄ of every column over rows whose Σ w is weight, w the weight of a row
// times its precision. Under an intercept columns stand about their means; nil means are those of a model without one.
// Columns of learned hyper-parameters are to be those at the values that these start from. Constant columns are
// nothing: c is 0 where all are. Single columns of random Fourier features have their share of the block's 1.
func Spreads(groups []Group, squares, means []float64, weight float64) []float64 {
	spreads := make([]float64, len(groups))
	for k, g := range groups {
		if g.Unit && g.Count < g.Of {
			spreads[k] = math.Sqrt(float64(g.Count) / float64(g.Of))
			continue
		}
		total := 0.0
		for j := g.First; j < g.End(); j += g.Step() {
			size := squares[j] / weight
			if means != nil {
				size = Size(size, size-means[j]*means[j])
			}
			if !math.IsInf(size, 1) {
				total += size
			}
		}
		spreads[k] = math.Sqrt(total)
	}
	return spreads
}

// Moving says whether a group moves.
func Moving(groups []Group) bool {
	return slices.ContainsFunc(groups, func(g Group) bool { return g.Moves })
}

// fewLevels is the number of columns that go by levels up to which a dense matrix has them as well.
const fewLevels = 256

// Rest returns how many of the weights no level of the largest key has, and whether engines with a covariance eliminate
// the levels: of sparse columns of which more than 256 go by levels, under a prior without a variance for every weight,
// and of columns that vary together by level. Otherwise the rest is all weights.
func Rest(features credence.Features, p credence.Prior) (rest int, levels bool) {
	d := features.Weights()
	normal, ok := p.(prior.Normal)
	head, all := arrow.Weights(features)
	together := slices.ContainsFunc(ability.Covariances(features), func(c ability.Covariance) bool { return len(c.Columns) > 1 })
	if !ok || !together && (all <= fewLevels || normal.ARD) {
		return d, false
	}
	return d - head, true
}

// mostBeside is the largest number of weights beside two crossed keys with which conjugate gradients are had: each is a
// column of its own.
const mostBeside = 100

// Crossed says whether engines that have conjugate gradients fit any number of levels of the two largest keys, since
// there are few weights beside them.
func Crossed(features credence.Features, p credence.Prior) bool {
	beside := arrow.Beside(features)
	_, levels := Rest(features, p)
	return levels && beside >= 0 && beside <= mostBeside
}
