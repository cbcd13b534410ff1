package feature

import (
	"math"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
)

// perWeight is a prior of which every weight has a variance of its own, that of a further one being the mean over the
// weights of its run.
type perWeight []float64

func (p perWeight) UnseenVariance(block credence.Block) float64 {
	sum := 0.0
	for _, v := range p[block.First : block.First+block.Count] {
		sum += v
	}
	return sum / float64(block.Count)
}

// TestUnseenLevels: a row with a level that training did not have has the variance that features with one more level of
// every category give it, at the mean prior variance of the levels of the same category or product.
func TestUnseenLevels(t *testing.T) {
	const levelsA, levelsB = 5, 3
	known := withCategory(withCategory(numbers(2), "u", levelsA), "v", levelsB)
	more := withCategory(withCategory(numbers(2), "u", levelsA+1), "v", levelsB+1)
	known.Dense[0].Center, known.Dense[0].Scale = 3, 2
	more.Dense[0] = known.Dense[0]
	for name, terms := range map[string][]Term{
		"linear":     {&Intercept{}, &Linear{Inputs: span(0, 4)}},
		"onehot":     {&Intercept{}, &Linear{Inputs: []int{0, 3}}, &OneHot{"onehot(u)", 2}},
		"products":   {&Linear{Inputs: []int{0}}, &Interaction{Name: "a:u", Inputs: []int{0, 2}}, &Interaction{Name: "u:v", Inputs: []int{2, 3}}},
		"uncentred":  {&Interaction{Name: "b:u:a", Inputs: []int{1, 2, 0}, Uncentred: true}},
		"groups":     {&Group{Name: "group(a, u)", Inputs: []int{0, 2}}},
		"kept":       {&Linear{Inputs: []int{1}}, &Kept{Name: "keep(u, v)", Inputs: []int{2, 3}}},
		"some alone": {&OneHot{"onehot(v)", 3}, &Interaction{Name: "a:b", Inputs: []int{0, 1}}},
	} {
		before, after := newSet(t, known, terms...), newSet(t, more, terms...)
		law := make(perWeight, before.Weights())
		for j := range law {
			law[j] = 1 + float64(j*j%7)
		}
		rows := batch(known, 200, true)
		variance := make([]float64, rows.Rows())
		before.AddUnseen(variance, rows, law)
		replaced := batch(known, 200, true)
		for i := range replaced.Rows() {
			for j, last := range []float64{levelsA, levelsB} {
				if x := replaced.X.Row(i); x[2+j] < 0 {
					x[2+j] = last
				}
			}
		}
		phi, some := spread(after, replaced), false
		for i := range rows.Rows() {
			want := 0.0
			for j, x := range phi.Row(i) {
				weight := after.WeightName(j)
				if x == 0 || !strings.Contains(weight, "u=l5") && !strings.Contains(weight, "v=l3") {
					continue
				}
				want, some = want+x*x*law.of(before, weight), true
			}
			if !(math.Abs(variance[i]-want) <= 1e-13*want) {
				t.Errorf("%s, row %d: %v is added, want %v", name, i, variance[i], want)
			}
		}
		if !some {
			t.Errorf("%s: no row has a further level", name)
		}
	}
}

// of is the mean variance of the weights whose names differ from a further one in levels alone.
func (p perWeight) of(s *Set, further string) float64 {
	columns := func(name string) string {
		factors := strings.Split(name, ":")
		for k, factor := range factors {
			factors[k], _, _ = strings.Cut(factor, "=")
		}
		return strings.Join(factors, ":")
	}
	var list []float64
	for j, v := range p {
		if columns(s.WeightName(j)) == columns(further) {
			list = append(list, v)
		}
	}
	sum := 0.0
	for _, v := range list {
		sum += v
	}
	return sum / float64(len(list))
}

// TestUnseenAllocates: rows whose levels are all known cost no memory, and a product beyond all numbers is a number.
func TestUnseenAllocates(t *testing.T) {
	in := withCategory(withCategory(numbers(2), "u", 5), "v", 3)
	set := newSet(t, in, &Linear{Inputs: span(0, 4)}, &Interaction{Name: "a:u", Inputs: []int{0, 2}})
	rows := batch(in, 64, true)
	variance := make([]float64, 64)
	var law credence.UnseenPrior = make(perWeight, set.Weights())
	if count := testing.AllocsPerRun(10, func() { set.AddUnseen(variance, rows, law) }); count > 0 {
		t.Errorf("%v allocations", count)
	}
	rows.X.Row(0)[0], rows.X.Row(0)[2] = math.MaxFloat64, -1
	set.AddUnseen(variance, rows, law) // of variance 0
	if variance[0] != 0 {
		t.Errorf("the variance is %v, want 0", variance[0])
	}
}
