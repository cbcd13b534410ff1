package selection

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func result(inclusions ...float64) *Result {
	r := &Result{}
	for i, v := range inclusions {
		r.Features = append(r.Features, Feature{Name: string(rune('a' + i)), Inclusion: v})
	}
	return r
}

func TestCall(t *testing.T) {
	for _, c := range []struct {
		options Options
		want    []string
		false_  float64
	}{
		{Options{}, []string{"b", "d", "a"}, 0.01 + 0.1 + 0.4},
		{Options{Threshold: 0.95}, []string{"b"}, 0.01},
		{Options{FDR: 0.1}, []string{"b", "d"}, 0.11},       // the mean of three would be 0.17
		{Options{FDR: 0.18}, []string{"b", "d", "a"}, 0.51}, // and of four 0.3
		{Options{FDR: 0.001}, []string{}, 0},                // not even the first
		{Options{Threshold: 0.6}, []string{"b", "d"}, 0.11}, // above it
	} {
		r := result(0.6, 0.99, 0.3, 0.9, 0.45)
		r.Call(c.options)
		if !slices.Equal(r.Names(), c.want) || !(math.Abs(r.ExpectedFalse-c.false_) <= 1e-12) || r.Selected != len(c.want) {
			t.Errorf("%+v: %v with %v false, want %v with %v", c.options, r.Names(), r.ExpectedFalse, c.want, c.false_)
		}
	}
}

// TestCallResolved: what is called, and how many of it are expected to be false, goes by what is resolved of an
// inclusion, by threshold and by false discovery rate.
func TestCallResolved(t *testing.T) {
	for _, o := range []Options{{}, {FDR: 0.1}} {
		r := result(0.6, 0.99, 0.98)
		few, most := 0.3, 0.9
		r.Features[1].Resolved, r.Features[2].Resolved = &few, &most
		r.Call(o)
		want, false_ := []string{"c", "a"}, 0.1+0.4
		if o.FDR > 0 { // the first would be false by 0.7
			want, false_ = []string{}, 0
		}
		if !slices.Equal(r.Names(), want) || !(math.Abs(r.ExpectedFalse-false_) <= 1e-12) {
			t.Errorf("%+v: %v with %v false, want %v with %v", o, r.Names(), r.ExpectedFalse, want, false_)
		}
	}
}

// TestCallGroups: a group is called as one, and counts once.
func TestCallGroups(t *testing.T) {
	for _, c := range []struct {
		options  Options
		selected int
		names    []string
		false_   float64
	}{
		{Options{}, 3, []string{"b", "d", "e", "a"}, 0.01 + 0.1 + 0.4},
		{Options{FDR: 0.06}, 2, []string{"b", "d", "e"}, 0.11}, // 0.04 if each member counted
	} {
		r := result(0.6, 0.99, 0.3, 0.9, 0.9)
		r.Features[3].Group, r.Features[4].Group = "g", "g"
		r.Call(c.options)
		count, expected := r.Candidates()
		if !slices.Equal(r.Names(), c.names) || r.Selected != c.selected || !(math.Abs(r.ExpectedFalse-c.false_) <= 1e-12) || count != 4 || !(math.Abs(expected-2.79) <= 1e-12) {
			t.Errorf("%+v: %v, %d selected, %v false; %d candidates, %v expected", c.options, r.Names(), r.Selected, r.ExpectedFalse, count, expected)
		}
	}
}

// TestGroupsCountOnce: features in groups are called as one of each group would be, under every rule.
func TestGroupsCountOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 30 {
		var once, all []float64
		var groups []string
		for k := range 9 {
			inclusion := 1 - 0.4*rng.Float64()*rng.Float64()
			once = append(once, inclusion)
			for range 1 + rng.IntN(3) {
				all, groups = append(all, inclusion), append(groups, string(rune('g'+k)))
			}
		}
		for _, o := range []Options{{}, {Threshold: 0.9}, {FDR: 0.03}, {FDR: 0.06}, {FDR: 0.12}} {
			a, b := result(once...), result(all...)
			for i := range b.Features {
				b.Features[i].Group = groups[i]
			}
			a.Call(o)
			b.Call(o)
			if a.Selected != b.Selected || a.ExpectedFalse != b.ExpectedFalse || a.Threshold != b.Threshold {
				t.Errorf("%+v: %d of inclusion %v, and %d of groups of as much", o, a.Selected, once, b.Selected)
			}
		}
	}
}

// TestLogBayesFactor is that of P(one of two in) = 0.95 from 0.19, by 1,000 draws.
func TestLogBayesFactor(t *testing.T) {
	got, want := LogBayesFactor(0.95, 1000, []float64{0.1, 0.2}), math.Log(0.95/0.05/(0.28/0.72))
	if !(math.Abs(got-want) <= 0.01) || !(LogBayesFactor(1, 1000, []float64{0.5}) < 8) {
		t.Errorf("log Bayes factor %v, want %v", got, want)
	}
}

// TestValidate: the smallest and largest numbers that may be stated are taken, and the next are refused by the flag,
// the number and what would do.
func TestValidate(t *testing.T) {
	below := math.Nextafter(1, 0)
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{}, ""},
		{Options{FDR: 0.1, Coverage: 0.9, NullCheck: 3}, ""},
		{Options{Threshold: below, Interval: below, Coverage: below}, ""},
		{Options{Threshold: 1}, "--threshold 1 is not a probability between 0 and 1"},
		{Options{FDR: -0.1}, "--fdr -0.1 is not a probability"},
		{Options{FDR: 1}, "--fdr 1 is not a probability"},
		{Options{Interval: 1}, "--interval 1 is not a probability"},
		{Options{Coverage: math.NaN()}, "--coverage NaN is not a probability"},
		{Options{Threshold: 0.5, FDR: 0.1}, "--threshold and --fdr are two rules for the same choice: state one of them"},
		{Options{Path: PathAlways}, ""},
		{Options{Path: PathNever}, ""},
		{Options{Path: "sometimes"}, "--path sometimes is neither always nor never"},
		{Options{NullCheck: 10_000, Bootstrap: 10_000, Check: 1000}, ""},
		{Options{NullCheck: -1}, "--null-check -1 is not between 1 and 10000"},
		{Options{NullCheck: 10_001}, "--null-check 10001 is not between 1 and 10000"},
		{Options{Bootstrap: -1}, "--bootstrap -1 is not between 1 and 10000"},
		{Options{Bootstrap: 10_001}, "--bootstrap 10001 is not between 1 and 10000"},
		{Options{Check: 2}, ""},
		{Options{Check: -1}, "--check -1 is not between 2 and 1000 folds"},
		{Options{Check: 1}, "--check 1 is not between 2 and 1000 folds"},
		{Options{Check: 1001}, "--check 1001 is not between 2 and 1000 folds"},
	} {
		err := c.o.Validate()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.o, err, c.want)
		}
	}
}

// TestFDR: the threshold is that of the last feature called, 1 where there is none; and once a feature is not
// called none after it is, however its share of false ones falls.
func TestFDR(t *testing.T) {
	r := result(1, 1, 1, 1, 1, 1, 1, 0.9, 0, 0, 0)
	if r.Call(Options{FDR: 0.1}); r.Selected != 8 || r.Threshold != 0.9 {
		t.Errorf("%d are called, above %v", r.Selected, r.Threshold)
	}
	if r.Call(Options{FDR: 1e-9}); r.Selected != 7 || r.Threshold != 1 {
		t.Errorf("%d are called, above %v", r.Selected, r.Threshold)
	}
	if r = result(0.4, 0.3); r.Threshold != 0 {
		t.Error(r.Threshold)
	}
	if r.Call(Options{FDR: 0.1}); r.Selected != 0 || r.Threshold != 1 {
		t.Errorf("of none %d are called, above %v", r.Selected, r.Threshold)
	}
}

// TestMembers: a set takes in the member that most lowers what is left, each correlated with all others,
// and another set none of them; its purity is the least correlation of all, its coverage the share of draws.
func TestMembers(t *testing.T) {
	// Of ten draws 0 is in five, 1 in three others, 2 in one other and some of the same; 3 is in all that 0
	// is not but is not correlated with it; 4 is hardly in and alone.
	places := [][]int{{0, 1, 2, 3, 4}, {5, 6, 7}, {0, 1, 2, 3, 8}, {5, 6, 7, 8, 9}, {9}}
	in := func(s, j int) bool { return slices.Contains(places[j], s) }
	correlation := func(a, b int) float64 {
		switch [2]int{min(a, b), max(a, b)} {
		case [2]int{0, 1}:
			return -0.6
		case [2]int{0, 2}, [2]int{1, 2}:
			return 0.8
		case [2]int{1, 3}:
			return 0.99
		}
		return 0.1
	}
	sets, covered, purity := CredibleSets([]float64{0.5, 0.3, 0.2, 0.3, 0.05}, Draws{10, in}, 0.85, correlation)
	if len(sets) != 1 || !slices.Equal(sets[0], []int{0, 1, 2}) || !(math.Abs(covered[0]-0.9) <= 1e-12) || purity[0] != 0.6 {
		t.Errorf("%v, %v, %v", sets, covered, purity)
	}
	places = [][]int{{0, 1, 2, 3, 4, 5}, {4, 5, 6, 7, 8, 9}, {0, 1, 2, 3}}
	sets, _, _ = CredibleSets([]float64{0.6, 0.6, 0.4}, Draws{10, in}, 0.85, func(int, int) float64 { return 0.8 })
	if len(sets) != 1 || !slices.Equal(sets[0], []int{0, 1}) {
		t.Errorf("a member is in another set: %v", sets)
	}
	sets, _, _ = CredibleSets([]float64{0.05, 0.005}, Draws{10, func(int, int) bool { return true }}, 0.9, correlation)
	if len(sets) != 1 || sets[0][0] != 0 {
		t.Errorf("features in 5 %% and .5 %% of draws begin the sets %v", sets)
	}
}

// TestCredibleSets has draws with one of two twins in each, one feature always in, and one that comes
// in at random without a twin.
func TestCredibleSets(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	const draws = 1000
	in := make([][4]bool, draws)
	share := make([]float64, 4)
	for s := range in {
		twin := rng.IntN(2)
		in[s] = [4]bool{twin == 0, true, twin == 1, rng.IntN(5) == 0}
		for j, v := range in[s] {
			if v {
				share[j] += 1.0 / draws
			}
		}
	}
	correlation := func(a, b int) float64 {
		if a == b {
			return 1
		}
		if a+b == 2 && a != b { // 0 and 2
			return -0.97
		}
		return 0.1
	}
	sets, covered, purity := CredibleSets(share, Draws{draws, func(s, j int) bool { return in[s][j] }}, 0.95, correlation)
	if len(sets) != 2 || !slices.Equal(sets[0], []int{1}) || len(sets[1]) != 2 || sets[1][0]+sets[1][1] != 2 {
		t.Fatal(sets)
	}
	if covered[0] != 1 || covered[1] != 1 || purity[0] != 1 || purity[1] != 0.97 {
		t.Error(covered, purity)
	}
	if sets, _, _ := CredibleSets(share, Draws{draws, func(s, j int) bool { return in[s][j] }}, 0.95, func(a, b int) float64 { return 0 }); len(sets) != 1 {
		t.Error("twins that are not correlated make no set", sets)
	}
}

// TestMoments: s given z is Beta(a + z, b + 1 − z), by sums over its density; with Beta(1, 1) E s is (1 + E z)/3
// and Var s (1 + 2e − 2e²)/18.
func TestMoments(t *testing.T) {
	for _, c := range [][3]float64{{1, 1, 0.3}, {2, 5, 0.9}, {3, 1.5, 0}} {
		a, b, e := c[0], c[1], c[2]
		f := Feature{Inclusion: e}
		f.TakeMoments(a, b)
		mean, square := 0.0, 0.0
		for z, share := range []float64{1 - e, e} {
			total, first, second := 0.0, 0.0, 0.0
			for s := 5e-6; s < 1; s += 1e-5 {
				w := math.Pow(s, a+float64(z)-1) * math.Pow(1-s, b-float64(z))
				total, first, second = total+w, first+w*s, second+w*s*s
			}
			mean, square = mean+share*first/total, square+share*second/total
		}
		if !(math.Abs(*f.MeanS-mean) <= 1e-6) || !(math.Abs(*f.VarS-(square-mean*mean)) <= 1e-6) || !(math.Abs(*f.VarZ-e*(1-e)) <= 1e-15) {
			t.Errorf("%v: %v, %v, want %v, %v", c, *f.MeanS, *f.VarS, mean, square-mean*mean)
		}
		if a == 1 && (!(math.Abs(*f.MeanS-(1+e)/3) <= 1e-15) || !(math.Abs(*f.VarS-(1+2*e-2*e*e)/18) <= 1e-15)) {
			t.Errorf("Beta(1, 1): %v, %v", *f.MeanS, *f.VarS)
		}
	}
	f := Feature{Inclusion: 0.3}
	if f.TakeMoments(0, 0); f.VarZ == nil || f.MeanS != nil || f.VarS != nil {
		t.Errorf("without a Beta prior: %+v", f)
	}
}

// TestSetsAreOfColumns: sets are the same features in whatever order columns stand. They share none, their coverage is
// the share of draws with a member in, their purity the least correlation of two members, and each is as small as what
// it was made of: without its last member it covers less than was asked for.
func TestSetsAreOfColumns(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const features, draws = 18, 400
	for round := range 10 {
		var in [draws][features]bool
		share := make([]float64, features)
		for s := range in {
			for g := range 6 { // three features of a group, of which one is in in most draws
				if rng.Float64() < 1-0.05*float64(g) {
					in[s][3*g+int(3*rng.Float64()*rng.Float64())] = true
				}
			}
			for j, v := range in[s] {
				if v {
					share[j] += 1.0 / draws
				}
			}
		}
		for j := range share { // no two alike
			share[j] += 1e-9 * float64(j)
		}
		correlations := make([]float64, features*features)
		for a := range features {
			for b := range a {
				c := 0.45 * rng.Float64()
				if a/3 == b/3 {
					c = 0.48 + 0.5*rng.Float64()
				}
				if rng.IntN(2) == 0 {
					c = -c
				}
				correlations[a*features+b], correlations[b*features+a] = c, c
			}
		}
		of := func(order []int) (sets [][]int, covered, purity []float64) {
			inclusion := make([]float64, features)
			for place, j := range order {
				inclusion[place] = share[j]
			}
			sets, covered, purity = CredibleSets(inclusion, Draws{draws, func(s, k int) bool { return in[s][order[k]] }}, 0.875,
				func(a, b int) float64 { return correlations[order[a]*features+order[b]] })
			for _, set := range sets {
				for i, place := range set {
					set[i] = order[place]
				}
			}
			return sets, covered, purity
		}
		first := rng.Perm(features)
		sets, covered, purity := of(first)
		others, otherCovered, otherPurity := of(rng.Perm(features))
		if len(sets) == 0 || !slices.EqualFunc(sets, others, slices.Equal) || !slices.Equal(covered, otherCovered) || !slices.Equal(purity, otherPurity) {
			t.Fatalf("round %d: %v, and of columns in another order %v", round, sets, others)
		}
		var all []int
		for k, set := range sets {
			covers := func(set []int) float64 {
				count := 0
				for s := range in {
					if slices.ContainsFunc(set, func(j int) bool { return in[s][j] }) {
						count++
					}
				}
				return float64(count) / draws
			}
			pure := 1.0
			for i, a := range set {
				for _, b := range set[:i] {
					pure = min(pure, math.Abs(correlations[a*features+b]))
				}
			}
			if !(math.Abs(covered[k]-covers(set)) <= 1e-12) || purity[k] != pure || pure < 0.5 || covers(set) < 0.875 || covers(set[:len(set)-1]) >= 0.875 {
				t.Errorf("round %d: %v covers %v of %v, purity %v of %v", round, set, covered[k], covers(set), purity[k], pure)
			}
			for _, j := range set {
				if slices.Contains(all, j) {
					t.Errorf("round %d: %d is in two of %v", round, j, sets)
				}
				all = append(all, j)
			}
		}
	}
}

// TestSetsAtTheirLimits: a set that covers just what is asked for is one, of features correlated by just a half, begun
// by a feature in just a hundredth of draws; and a share of false ones that is just what was stated is called.
func TestSetsAtTheirLimits(t *testing.T) {
	in := func(s, j int) bool { return s == j || s == j+2 || s == j+4 } // 0: draws 0, 2, 4; 1: draws 1, 3, 5
	half := func(int, int) float64 { return 0.5 }
	sets, covered, _ := CredibleSets([]float64{0.01, 0.01}, Draws{8, in}, 0.75, half)
	if len(sets) != 1 || !slices.Equal(sets[0], []int{0, 1}) || covered[0] != 0.75 {
		t.Errorf("%v, covered %v", sets, covered)
	}
	r := result(0.75, 0.75, 0.5)
	if r.Call(Options{FDR: 0.25}); r.Selected != 2 || r.ExpectedFalse != 0.5 {
		t.Errorf("%d are called, %v false", r.Selected, r.ExpectedFalse)
	}
}

// A set that holds in exactly the share of draws that is asked for is enough, whatever the share is in binary.
func TestSetsOfExactCoverage(t *testing.T) {
	for _, coverage := range []float64{0.7, 0.9, 0.95, 0.99} {
		const draws = 400
		in := func(s, j int) bool { return j == 0 && float64(s) < math.Round(coverage*draws) || j == 1 && s%2 == 0 }
		sets, covered, _ := CredibleSets([]float64{coverage, 0.5}, Draws{draws, in}, coverage, func(int, int) float64 { return 1 })
		if len(sets) == 0 || !slices.Equal(sets[0], []int{0}) || !(math.Abs(covered[0]-coverage) <= 1e-12) {
			t.Errorf("coverage %v: sets %v of %v", coverage, sets, covered)
		}
	}
}
