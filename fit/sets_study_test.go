package fit_test

import (
	"bufio"
	"context"
	"encoding/csv"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/study"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/selection"
)

// tight has p columns, at random places among which the members of 15 pairs and 10 triples correlate by .95. One of
// each has a weight of ±size, and none other has any.
type tight struct {
	x        linop.Dense
	y        []float64
	clusters [][]int // columns of the pairs and triples
	signal   []int   // the one that matters of each
}

func newTight(n, p int, size float64, classes bool, seed uint64) *tight {
	rng := rand.New(rand.NewPCG(seed, 9))
	s := &tight{x: linop.NewDense(n, p)}
	places := rng.Perm(p)
	weights := make([]float64, p)
	for k := range 25 {
		count := 2 + k/15
		cluster := places[:count]
		places = places[count:]
		s.clusters = append(s.clusters, cluster)
		j := cluster[rng.IntN(count)]
		s.signal = append(s.signal, j)
		if weights[j] = size; rng.IntN(2) == 0 {
			weights[j] = -size
		}
	}
	for i := range n {
		row, f := s.x.Row(i), 0.0
		for j := range row {
			row[j] = rng.NormFloat64()
		}
		for _, cluster := range s.clusters {
			common := rng.NormFloat64()
			for _, j := range cluster {
				row[j] = math.Sqrt(0.95)*common + math.Sqrt(0.05)*row[j]
			}
		}
		for j, w := range weights {
			f += w * row[j]
		}
		y := f + rng.NormFloat64()
		if classes {
			if y = 0; rng.Float64() < 1/(1+math.Exp(-f)) {
				y = 1
			}
		}
		s.y = append(s.y, y)
	}
	return s
}

// sizes returns of every signal the size of the first set that has it, 0 for none, and the share of sets that have any.
func (s *tight) sizes(sets [][]int) (sizes []float64, covered, count int) {
	sizes = make([]float64, len(s.signal))
	for _, set := range sets {
		has := false
		for k, j := range s.signal {
			if slices.Contains(set, j) {
				if has = true; sizes[k] == 0 {
					sizes[k] = float64(len(set))
				}
			}
		}
		if count++; has {
			covered++
		}
	}
	return sizes, covered, count
}

// susieScript is one line: Rscript parts others where they have tabs.
const susieScript = `suppressMessages(library(susieR)); d <- matrix(scan(commandArgs(TRUE)[1], sep=",", quiet=TRUE), ncol=as.integer(commandArgs(TRUE)[2]), byrow=TRUE); ` +
	`for (s in susie(d[,-1], d[,1], L=30`

// susie returns the credible sets of susieR with 30 effects, and further options that begin with a comma.
func (s *tight) susie(t *testing.T, options string) (sets [][]int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "set.csv")
	file := must.Value(os.Create(path))(t)
	w := csv.NewWriter(bufio.NewWriter(file))
	record := make([]string, s.x.Cols+1)
	for i, y := range s.y {
		record[0] = strconv.FormatFloat(y, 'g', -1, 64)
		for j, x := range s.x.Row(i) {
			record[j+1] = strconv.FormatFloat(x, 'g', 9, 64)
		}
		must.Succeed(t, w.Write(record))
	}
	if w.Flush(); w.Error() != nil {
		t.Fatal(w.Error())
	}
	must.Succeed(t, file.Close())
	out, err := exec.CommandContext(t.Context(), "Rscript", "--vanilla", "-e", susieScript+options+`)$sets$cs) cat("set", s, "\n")`, path, strconv.Itoa(s.x.Cols+1)).Output()
	if err != nil {
		t.Fatalf("Rscript: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] != "set" {
			continue
		}
		var set []int
		for _, f := range fields[1:] {
			j := must.Value(strconv.Atoi(f))(t)
			set = append(set, j-1)
		}
		sets = append(sets, set)
	}
	return sets
}

// known returns the credible sets of one who knows the variance of the noise, that of weights, the share of columns
// that matter, and the column that matters of all clusters but the one that a set is of: by draws of the exact
// posterior of which of its members are in.
func (s *tight) known(size float64) (sets [][]int) {
	rng, n := rand.New(rand.NewPCG(1, 9)), s.x.Rows
	v, odds := size*size, float64(len(s.signal))/float64(s.x.Cols-len(s.signal))
	column := func(j int) *mat.VecDense {
		x := mat.NewVecDense(n, nil)
		for i := range n {
			x.SetVec(i, s.x.Row(i)[j])
		}
		return x
	}
	for k, cluster := range s.clusters {
		rows := mat.NewSymDense(n, nil) // the covariance of the targets without the cluster
		for i := range n {
			rows.SetSym(i, i, 1)
		}
		for l, j := range s.signal {
			if l != k {
				rows.SymRankOne(rows, v, column(j))
			}
		}
		posterior, total := make([]float64, 1<<len(cluster)), 0.0
		for in := range posterior {
			covariance, share := mat.NewSymDense(n, nil), 1.0
			covariance.CopySym(rows)
			for m, j := range cluster {
				if in>>m&1 == 1 {
					covariance.SymRankOne(covariance, v, column(j))
					share *= odds
				}
			}
			var factor mat.Cholesky
			factor.Factorize(covariance)
			var solved mat.VecDense
			y := mat.NewVecDense(n, s.y)
			if err := factor.SolveVecTo(&solved, y); err != nil {
				panic(err)
			}
			posterior[in] = math.Log(share) - (factor.LogDet()+mat.Dot(y, &solved))/2
		}
		most := slices.Max(posterior)
		for in, log := range posterior {
			posterior[in] = math.Exp(log - most)
			total += posterior[in]
		}
		drawn, inclusion := make([]int, 1000), make([]float64, len(cluster))
		for d := range drawn {
			for u := rng.Float64() * total; drawn[d] < len(posterior)-1 && u > posterior[drawn[d]]; drawn[d]++ {
				u -= posterior[drawn[d]]
			}
			for m := range cluster {
				inclusion[m] += float64(drawn[d]>>m&1) / float64(len(drawn))
			}
		}
		of, _, _ := selection.CredibleSets(inclusion, selection.Draws{Count: len(drawn), In: func(d, m int) bool { return drawn[d]>>m&1 == 1 }}, 0.95, func(a, b int) float64 { return 0.95 })
		for _, set := range of {
			for i, m := range set {
				set[i] = cluster[m]
			}
			sets = append(sets, set)
		}
	}
	return sets
}

// TestTightSets: how many credible sets have a feature that matters, and how large they are, beside those on the same
// sets of susieR, which is told the variance of the noise or learns it, as by default, and of the exact posterior; and
// of classes alone, which susieR has not.
func TestTightSets(t *testing.T) {
	study.OnlyCalibration(t)
	const sets = 10
	for _, c := range []struct {
		name, family string
		n, p         int
		size         float64
	}{{"gaussian", "gaussian", 300, 1000, 0.5}, {"noise", "gaussian(variance=1)", 300, 1000, 0.5}, {"logit", "bernoulli", 800, 300, 1}} {
		t.Run(c.name, func(t *testing.T) {
			classes := c.family == "bernoulli"
			rivals := []struct {
				name string
				sets func(s *tight) [][]int
			}{
				{"susieR, noise known", func(s *tight) [][]int {
					return s.susie(t, ", residual_variance=1, estimate_residual_variance=FALSE")
				}},
				{"susieR", func(s *tight) [][]int { return s.susie(t, "") }},
				{"all but one cluster known", func(s *tight) [][]int { return s.known(c.size) }},
			}
			if classes {
				rivals = nil
			} else if _, err := exec.Command("Rscript", "-e", "library(susieR)").Output(); err != nil {
				t.Skip("there is no susieR: apt-get install r-cran-susier")
			}
			covered, count, found := make([]int, 1+len(rivals)), make([]int, 1+len(rivals)), make([]int, 1+len(rivals))
			claimed := 0.0
			var all []float64
			// sizes where both find a signal
			own, difference := make([][]float64, len(rivals)), make([][]float64, len(rivals))
			for seed := range uint64(sets) {
				s := newTight(c.n, c.p, c.size, classes, study.Seed(8000)+seed)
				fitted := must.Value(fit.Select(context.Background(), sourceOf(t, &s.x, s.y), fit.Options{Formula: "y ~ .", Family: c.family}, selection.Options{Path: selection.PathNever}))(t)
				lists := [][][]int{nil}
				for _, set := range fitted.Selection.Sets {
					var members []int
					for _, name := range set.Features {
						members = append(members, columnOf(t, name))
					}
					lists[0], claimed = append(lists[0], members), claimed+set.Coverage
				}
				for _, rival := range rivals {
					lists = append(lists, rival.sets(s))
				}
				sizes := make([][]float64, len(lists))
				for k := range lists {
					var hit, all int
					sizes[k], hit, all = s.sizes(lists[k])
					covered[k], count[k] = covered[k]+hit, count[k]+all
					for i, size := range sizes[k] {
						if size == 0 {
							continue
						}
						if found[k]++; k > 0 && sizes[0][i] > 0 {
							own[k-1], difference[k-1] = append(own[k-1], sizes[0][i]), append(difference[k-1], sizes[0][i]-size)
						}
					}
				}
				for _, size := range sizes[0] {
					if size > 0 {
						all = append(all, size)
					}
				}
				mean, _ := study.MeanAndError(all)
				t.Logf("%d sets, engine %s: %d of %d credible sets hold a signal, claimed %.3f, %d signals of %d found, mean size %.3f",
					seed+1, fitted.Report.Engine, covered[0], count[0], claimed/float64(count[0]), found[0], 25*(seed+1), mean)
				for k, rival := range rivals {
					mean, _ := study.MeanAndError(own[k])
					d, e := study.MeanAndError(difference[k])
					t.Logf("%s: %d of %d sets, %d found; where both find a signal, our size is %.3f, larger by %.3f ± %.3f over %d",
						rival.name, covered[k+1], count[k+1], found[k+1], mean, d, e, len(own[k]))
				}
			}
			if float64(covered[0]) < 0.9*float64(count[0]) || count[0] == 0 {
				t.Errorf("%d of %d credible sets hold a signal", covered[0], count[0])
			}
			for k, rival := range rivals[:min(2, len(rivals))] { // the last one knows more
				if d, e := study.MeanAndError(difference[k]); d > 2*e {
					t.Errorf("sets are larger than those of %s by %.3f ± %.3f", rival.name, d, e)
				}
			}
		})
	}
}
