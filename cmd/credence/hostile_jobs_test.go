package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Jobs and parts whose digest is right and whose content is not, in every round: partial and merge refuse them in one
// line that names a file, or go on to a model that predicts numbers.
func TestHostileJobs(t *testing.T) {
	count, folder, rng := newTally(t), t.TempDir(), rand.New(rand.NewPCG(27, 2))
	in := func(name string) string { return filepath.Join(folder, name) }
	var files []string
	for k := range 3 {
		files = append(files, file(t, fmt.Sprintf("f%d.csv", k), "a,g,y,key\n"+repeat("", 220, func(i int) string {
			return fmt.Sprintf("%.4f,l%d,%.4f,%d\n", rng.NormFloat64(), rng.IntN(2+k), 3*rng.NormFloat64(), rng.IntN(30))
		})))
	}
	clicks := file(t, "clicks.csv", "c,y\n"+repeat("", 200, func(i int) string { return fmt.Sprintf("u%d,%d\n", i%9, label(i)) }))
	copied := func(from, to string) string {
		if err := os.WriteFile(in(to), sure(os.ReadFile(in(from)))(t), 0o600); err != nil {
			t.Fatal(err)
		}
		return in(to)
	}
	mutants := 5
	switch {
	case hostileEverything():
		mutants = 300
	case testing.Short():
		mutants = 2
	}
	numbers := func(o outcome) error {
		if found := noNumber.FindString(o.out); found != "" {
			return fmt.Errorf("%s in %.300s", found, o.out)
		}
		return nil
	}
	// 3 is a right answer, too, and the model of a merge that is done predicts.
	merge := func(what, job, model string, parts ...string) {
		count.tried++
		o := invoke(t, "", append([]string{"merge", job, "-o", model, "-q"}, parts...)...)
		switch {
		case o.code == exitAgain && !strings.Contains(o.err, "fault"):
			count.right++
			return
		case o.code == exitDone:
			count.right++
			count.check(what, "", ".model|.csv", numbers, "predict", model, files[0], "-q")
			return
		}
		if err := count.judge(t.Context(), o, "", nil); err != nil {
			count.failed++
			t.Errorf("%s: merge: %v", what, err)
		}
	}
	for _, start := range [][]string{
		append([]string{"job", "-f", "key ~ a + g", "--family", "poisson", "--no-rows"}, files...),
		append([]string{"job", "-f", "y ~ center(a):g + a"}, files...), append([]string{"job", "--target", "y", "--no-rows"}, files...),
		{"job", "--online", "-f", "y ~ hash(c)", clicks},
	} {
		must(t, append(start, "-o", in("job"), "-q")...)
		for round := 1; ; round++ {
			must(t, "partial", in("job"), "0/1", "-o", in("part"), "-q")
			job, part := takeApart(t, in("job")), takeApart(t, in("part"))
			for range mutants {
				what := fmt.Sprintf("round %d of %s: ", round, start[1:3])
				changed := job.mutant(t, rng, in("mutant.job"))
				count.check(what+changed, "", "", nil, "partial", in("mutant.job"), "0/1", "-o", in("mutant.part"), "-q")
				if _, err := os.Stat(in("mutant.part")); err == nil {
					merge(what+changed, in("mutant.job"), in("mutant.model"), in("mutant.part"))
					os.Remove(in("mutant.part"))
				}
				changed = part.mutant(t, rng, in("mutant.part"))
				merge(what+changed, copied("job", "mutant.job"), in("mutant.model"), in("mutant.part"))
				if o := invoke(t, "", "partial", in("mutant.job"), "0/1", "-o", in("next.part"), "-q"); strings.Contains(o.err, "fault") {
					t.Errorf("%s%s: the next round: %s", what, changed, o.err)
				} else if o.code == exitDone {
					merge(what+changed+"the next round", in("mutant.job"), in("mutant.model"), in("next.part"))
				}
				os.Remove(in("mutant.part"))
			}
			if o := invoke(t, "", "merge", in("job"), in("part"), "-o", in("good.model"), "-q"); o.code == exitDone {
				break
			} else if o.code != exitAgain {
				t.Fatal(o.err)
			}
		}
	}
}
