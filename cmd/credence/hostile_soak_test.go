package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/credence-ml/credence/internal/study"
)

// soak is a run of commands that are drawn at random, on files and models of its own.
type soak struct {
	*testing.T
	rng       *rand.Rand
	folder    string
	tables    []string // files
	models    []string // the last ones that were fitted
	tally     map[string][3]int
	slowest   time.Duration
	slowestIs string
	stops     int
}

func (s *soak) of(list ...string) string { return list[s.rng.IntN(len(list))] }

// sometimes returns arguments, or none.
func (s *soak) sometimes(args ...string) []string {
	if s.rng.IntN(3) > 0 {
		return nil
	}
	return args
}

// table writes a table: x, z, g, y and n, with something strange in one of them.
func (s *soak) table() string {
	rows := [][3]float64{}
	for range []int{1, 2, 7, 30, 60, 60, 300, 600}[s.rng.IntN(8)] {
		a, b := s.rng.NormFloat64(), s.rng.NormFloat64()
		rows = append(rows, [3]float64{a, b, 2*a - b + s.rng.NormFloat64()})
	}
	if strange := hostileTables[s.rng.IntN(len(hostileTables))]; s.rng.IntN(2) == 0 && len(rows) >= 60 {
		if changed := strange.change(slices.Clone(rows), false); changed != nil {
			rows = changed
		}
	}
	levels := [][]string{{"a", "b", "c"}, {"a"}, {"ü, \"q\"", "=1+1", " "}, {"1", "1.0", "01"}, {strings.Repeat("long", 99), "NA"}, {"2024-01-31", "2024-02-30"},
		{"</script><script>", "__proto__", "\"><img src=x onerror=y>"}}[s.rng.IntN(7)]
	holes := s.rng.IntN(4) == 0
	text := "x,z,g,y,n,k\n"
	for i, row := range rows {
		if s.rng.IntN(20) == 0 && holes {
			text += ","
		} else {
			text += fmt.Sprint(row[0]) + ","
		}
		level := strconv.Quote(levels[s.rng.IntN(len(levels))])
		text += fmt.Sprintf("%v,%s,%v,%d,%d\n", row[1], strings.ReplaceAll(level, `\"`, `""`), row[2], int(min(1e9, max(0, row[2]))), min(1, i%3))
	}
	bytes := []byte(text)
	for range s.rng.IntN(4) / 3 * (1 + s.rng.IntN(5)) { // damage
		bytes[s.rng.IntN(len(bytes))] = byte(s.rng.IntN(256))
	}
	path := filepath.Join(s.folder, fmt.Sprintf("t%d.csv", s.rng.IntN(20)))
	if err := os.WriteFile(path, bytes, 0o600); err != nil {
		s.Fatal(err)
	}
	if !slices.Contains(s.tables, path) {
		s.tables = append(s.tables, path)
	}
	return path
}

// model is one that was fitted before, in one of ten cases with a byte that is another.
func (s *soak) model() string {
	path := s.models[s.rng.IntN(len(s.models))]
	text, err := os.ReadFile(path)
	if err != nil || s.rng.IntN(10) > 0 {
		return path
	}
	if text[s.rng.IntN(len(text))] ^= byte(1 << s.rng.IntN(8)); s.rng.IntN(2) == 0 {
		text = text[:s.rng.IntN(len(text))]
	}
	path = filepath.Join(s.folder, "damaged.safetensors")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		s.Fatal(err)
	}
	return path
}

// command draws a command.
func (s *soak) command() []string {
	data, out := s.tables[s.rng.IntN(len(s.tables))], filepath.Join(s.folder, fmt.Sprintf("m%d.safetensors", s.rng.IntN(20)))
	formula := s.of("y ~ x + z", "y ~ .", "y ~ x + g", "n ~ x + z", "k ~ x + z + g", "y ~ rbf(x, components=20)", "y ~ s(x) + g", "y ~ x + (1 | g)", "y ~ (1 + x | g)", "log(n) ~ z", "k ~ x:g", "y ~ poly(x, 3) + weight(n)",
		"n ~ z + offset(x)", "y ~ hsgp(x, m=10)", "y ~ ordinal(x)")
	family := s.of("gaussian", "studentt", "gamma", "ordinal")
	switch formula[0] {
	case 'n':
		family = s.of("poisson", "negbinomial", "gaussian", "ordinal")
	case 'k':
		family = s.of("bernoulli", "bernoulli(link=probit)", "binomial", "gaussian")
	}
	name := filepath.Join(s.folder, "out."+s.of("csv", "svg", "json", "parquet"))
	job, part := filepath.Join(s.folder, "job"), filepath.Join(s.folder, "part")
	switch s.rng.IntN(20) {
	case 0, 1, 2, 3:
		args := []string{"fit", data, "--formula", formula, "-o", out}
		if s.rng.IntN(3) > 0 {
			args = append(args, "--family", family)
		}
		switch s.rng.IntN(4) {
		case 0:
			args = append(args, "--engine", s.of("svi", "exact", "laplace", "ep", "gibbs(flips=200)", "convex", "lasso", "ridge", "exact(hyper=ml)", "svi(covariance=full)"))
		case 1:
			args = append(args, "--prior", s.of("normal(variance=1)", "normal(variance=1e300)", "laplace", "studentt", "spikeslab", "horseshoe", "normal(ard=true)"))
		}
		s.models = append(slices.DeleteFunc(s.models, func(m string) bool { return m == out }), out)
		return append(args, s.sometimes("--missing", s.of("drop", "mean", "indicator", "drop-target"))...)
	case 4:
		return append([]string{"predict", s.model(), data}, s.sometimes("--samples", "3", "--density")...)
	case 5:
		return append([]string{"evaluate", s.model(), data}, s.sometimes(s.of("--cv=3", "--reliability", "--by=g", "--split=0.3", "--loo"))...)
	case 6:
		return append([]string{"effects", s.model(), data}, s.sometimes(s.of("--slopes=x", "--ratio", "--by=g", "--predictions=g", "--simultaneous", "--rows", "--comparisons=g", "--hypothesis=b1 = 0", "--link"))...)
	case 7:
		return append([]string{"draws", s.model()}, s.sometimes(data, "--samples", "5")...)
	case 8:
		return append([]string{"calibrate", s.model(), data, "-o", filepath.Join(s.folder, "calibrated.safetensors")}, s.sometimes("--by", "g")...)
	case 9, 10:
		return append([]string{"plot", s.model(), data, "-o", filepath.Join(s.folder, "x.svg")}, "--kind", s.of("predictions", "slopes", "forest", "ppc_dist", "ppc_tstat", "ppc_rootogram", "ppc_pit", "loo_pit", "pava_calibration", "residuals", "khat", "prior_posterior", "path"))
	case 11:
		return append([]string{"look", data}, s.sometimes("-o", filepath.Join(s.folder, "schema.json"))...)
	case 12:
		return []string{"compare", s.model(), s.model(), data}
	case 13:
		return append([]string{"select", data, "--target", s.of("y", "k", "n"), "-o", out}, s.sometimes("--engine", s.of("ep", "gibbs(flips=200)", "laplace"))...)
	case 14:
		return append([]string{"stream", data, "--target", "k", "--report", "0"}, s.sometimes("--engine", s.of("ftrl", "sgd", "adpredictor"), "-o", name)...)
	case 15, 16:
		args := append([]string{"report"}, s.sometimes(s.model())...)
		return append(args, append([]string{s.model(), data, "-o", filepath.Join(s.folder, "page.html")}, s.sometimes("--rows", "all", "--json")...)...)
	case 17:
		if s.rng.IntN(3) > 0 {
			return []string{"partial", job, s.of("0/1", "0", "1/2", "0,1", "7"), "-o", part}
		}
		return append([]string{"job", data, "--formula", formula, "-o", job}, s.sometimes(s.of("--no-rows", "--online", "--family="+family, s.tables[0]))...)
	case 18:
		return []string{"merge", job, part, "-o", out}
	}
	return append([]string{"inspect", s.model()}, s.sometimes("--json")...)
}

// run runs a command, which may be interrupted, and says what is wrong with what it did.
func (s *soak) run(args []string) error {
	ctx, cancel := context.WithTimeout(s.Context(), 20*patience)
	defer cancel()
	stopped := s.rng.IntN(12) == 0
	if stopped {
		s.stops++
		timer := time.AfterFunc(time.Duration(s.rng.IntN(300))*time.Millisecond, cancel)
		defer timer.Stop()
	}
	var out, errs bytes.Buffer
	began := study.Processor()
	o := outcome{code: run(ctx, args, streams{strings.NewReader(""), &out, &errs})}
	o.out, o.err = out.String(), errs.String()
	spent := study.Processor() - began
	if spent > s.slowest {
		s.slowest, s.slowestIs = spent, strings.Join(args, " ")
	}
	counts := s.tally[args[0]]
	counts[min(2, o.code)]++
	s.tally[args[0]] = counts
	if stopped && o.code != exitDone && ctx.Err() != nil {
		if strings.Contains(o.err, "a fault of the program") {
			return errors.New(o.err)
		}
		return nil
	}
	if spent > patience {
		return fmt.Errorf("%v of processor time", spent)
	}
	if o.code == exitAgain && args[0] == "merge" && !strings.Contains(o.err, "a fault of the program") {
		return nil
	}
	if o.code == exitDone && args[0] == "report" {
		if page, err := os.ReadFile(filepath.Join(s.folder, "page.html")); err != nil || wholePage(string(page)) != nil {
			return fmt.Errorf("the page: %v %w", err, wholePage(string(page)))
		}
	}
	count := tally{t: s.T}
	if err := count.judge(s.Context(), o, "", nil); err != nil {
		return err
	}
	written := lookedAt.ReplaceAllString(o.out, "")
	for _, word := range []string{"NaN", "+Inf", "-Inf"} {
		if o.code == exitDone && strings.Contains(written, word) {
			return fmt.Errorf("what it wrote has %s: %.2000s", word, o.out)
		}
	}
	if o.code == exitDone && slices.Contains(args, "--json") {
		for decoder := json.NewDecoder(strings.NewReader(o.out)); ; {
			var any json.RawMessage
			if err := decoder.Decode(&any); err == io.EOF {
				break
			} else if err != nil {
				return fmt.Errorf("no JSON: %w: %.500s", err, o.out)
			}
		}
	}
	return nil
}

// TestHostileSoak draws commands at random: tables with something strange in them, models of damaged bytes, options
// that do not go together, interruptions. Each does what it should, or says in one line why not; none takes a minute of
// processor time. make night runs it for 20 minutes (CREDENCE_SOAK); the seed is printed, and CREDENCE_SEED draws
// others.
func TestHostileSoak(t *testing.T) {
	length, commands := time.Duration(0), 40
	if text := os.Getenv("CREDENCE_SOAK"); text != "" {
		var err error
		if length, err = time.ParseDuration(text); err != nil {
			t.Fatalf("CREDENCE_SOAK=%s: %v", text, err)
		}
		commands = 0
	} else if testing.Short() {
		commands = 10
	}
	seed := study.Seed(1)
	s := &soak{T: t, rng: rand.New(rand.NewPCG(seed, 27)), folder: t.TempDir(), tally: map[string][3]int{}}
	t.Chdir(s.folder)
	s.table()
	s.models = []string{filepath.Join(s.folder, "none.safetensors")}
	began, tried, failed := time.Now(), 0, 0
	for ; tried < commands || time.Since(began) < length; tried++ {
		if s.rng.IntN(4) == 0 {
			s.table()
		}
		args := s.command()
		if err := s.run(args); err != nil {
			if failed++; failed <= 20 {
				kept := filepath.Join(os.TempDir(), fmt.Sprintf("credence-soak-%d-%d", seed, tried))
				if err := errors.Join(os.RemoveAll(kept), os.CopyFS(kept, os.DirFS(s.folder))); err != nil {
					t.Log(err)
				}
				t.Errorf("seed %d, command %d, files in %s: credence %s: %v", seed, tried, kept, strings.Join(args, " "), err)
			}
		}
	}
	t.Logf("hostile: seed %d: %d commands in %v, %d of them interrupted, %d failed; done, failed, misused: %v; the dearest took %v: credence %s",
		seed, tried, time.Since(began).Round(time.Second), s.stops, failed, s.tally, s.slowest, s.slowestIs)
}

// lookedAt is how look tells of a cell as it is written.
var lookedAt = regexp.MustCompile(`"[+-]?(Inf|NaN)" is not a finite number|--missing [+-]?(Inf|NaN)`)
