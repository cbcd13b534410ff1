package credence

import (
	"slices"
	"strconv"
	"strings"
)

// SparseNames says what the columns of a sparse segment are. Column k, from 0, is
// feature x(k+1) of libsvm text, or xk where that is ZeroBased, unless Features
// describes it.
type SparseNames struct {
	// ZeroBased says that the first column of the segment is x0: libsvm text of which
	// some row has the index 0.
	ZeroBased bool `json:"zero_based,omitempty"`
	// Features describes the columns of the segment where they are no consecutive
	// numbers: Vowpal Wabbit text, or libsvm text whose indices are to be hashed.
	// They stand in the order in which the rows have them first.
	Features []SparseFeature `json:"features,omitempty"`
}

// SparseFeature describes a column of the sparse segment.
type SparseFeature struct {
	// Key is the index of libsvm text, or the hash of namespace and token.
	Key       uint64 `json:"key"`
	Namespace string `json:"namespace,omitempty"`
	Token     string `json:"token,omitempty"` // empty for libsvm text
}

// Name is namespace^token, the token alone where the namespace has no name, or x and
// the index of libsvm text.
func (f *SparseFeature) Name() string {
	switch {
	case f.Namespace != "":
		return f.Namespace + "^" + f.Token
	case f.Token != "":
		return f.Token
	}
	return "x" + strconv.FormatUint(f.Key, 10)
}

// SparseFirst returns the number in the name of the first column of the segment: 0 or 1.
func (s *SparseNames) SparseFirst() int {
	if s.ZeroBased {
		return 0
	}
	return 1
}

// SparseName returns the name of column k, from 0.
func (s *SparseNames) SparseName(k int) string {
	if s.Features != nil {
		return s.Features[k].Name()
	}
	return "x" + strconv.Itoa(k+s.SparseFirst())
}

// SparseKey returns the key of column k, from 0: its index, or the hash of namespace and token.
func (s *SparseNames) SparseKey(k int) uint64 {
	if s.Features != nil {
		return s.Features[k].Key
	}
	return uint64(k + s.SparseFirst())
}

// SparseIndex returns the column of a name in a segment of the given width, or -1.
func (s *SparseNames) SparseIndex(width int, name string) int {
	if s.Features != nil {
		return slices.IndexFunc(s.Features, func(f SparseFeature) bool {
			return len(name) >= len(f.Token) && strings.HasSuffix(name, f.Token) && f.Name() == name
		})
	}
	digits, ok := strings.CutPrefix(name, "x")
	number, err := strconv.Atoi(digits)
	if k := number - s.SparseFirst(); ok && err == nil && k >= 0 && k < width && s.SparseName(k) == name {
		return k
	}
	return -1
}

// UnseenFeatures is the ability of features to have columns that training did not have: sparse ones, and those of
// levels that are code -1 in [Batch].X.
type UnseenFeatures interface {
	// AddUnseen adds, for each row and each block that would have a weight for them, the sum of squares
	// of their entries times the prior variance of such a weight: of [Batch].Unseen, and of what the
	// features find themselves.
	AddUnseen(variance []float64, rows *Batch, prior UnseenPrior)
}

// UnseenPrior is the ability of a prior to be that of weights which training did not have.
type UnseenPrior interface {
	// UnseenVariance is the prior variance, after the fit, of a further weight of the block.
	UnseenVariance(block Block) float64
}

// AddUnseen adds what columns that training did not have contribute to the variance of f of the rows under a member:
// their weights are independent draws of the prior, at what was learned of it, with mean 0.
func (f *Fitted) AddUnseen(member int, variance []float64, rows *Batch) {
	features, ok := f.Members[member].Model.Features.(UnseenFeatures)
	if prior := f.UnseenPrior(member); ok && prior != nil {
		features.AddUnseen(variance, rows, prior)
	}
}

// UnseenPrior is what a member knows of weights of columns that training did not have; nil where it knows nothing.
func (f *Fitted) UnseenPrior(member int) UnseenPrior {
	m := &f.Members[member]
	prior, known := m.Model.Prior.(UnseenPrior)
	if known && f.Report.Together {
		return groupPrior{prior, m}
	}
	return prior
}

// groupPrior is a prior after a fit that selected groups of weights together: a further weight of a group is in the
// model where the group is.
type groupPrior struct {
	UnseenPrior
	member *Member
}

func (p groupPrior) UnseenVariance(block Block) float64 {
	selecting, selects := p.UnseenPrior.(interface {
		VarianceAt(inclusion float64) float64
	})
	selector, told := p.member.Posterior.(Selector)
	grouped, ok := p.member.Model.Features.(Grouped)
	if selects && told && ok && !block.Kept {
		for _, g := range grouped.Groups() {
			if g.First <= block.First && block.First < g.First+g.Count {
				return selecting.VarianceAt(selector.InclusionProbability(g.First))
			}
		}
	}
	return p.UnseenPrior.UnseenVariance(block)
}

// UnseenOf returns the sum of squares of row i's entries in sparse columns that training did not have.
func (b *Batch) UnseenOf(i int) float64 {
	if b.Unseen == nil {
		return 0
	}
	return b.Unseen[i]
}
