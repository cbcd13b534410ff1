package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/credence-ml/credence/internal/relation"
)

// told are command lines with flags that each make another answer of them, and others than each other. NEW has a city
// that models do not know, and a missing x.
var told = []struct {
	line  string
	flags []string
}{
	{"fit DATA -f y~x+z+city -o OUT", []string{"-f y~x", "--family studentt", "--engine svi", "--prior normal(variance=1)", "--raw", "--unseen prior", "--seed 5"}},
	{"fit DATA -f b~x -o OUT", []string{"--positive no", "--positive yes --prior laplace"}},
	{"fit DATA --target y", []string{"--target x"}},
	{"select DATA -f y~x+z+u+city+garden --engine ep --path=never -o OUT", []string{"-f y~x+u", "--raw", "--unseen prior", "--seed 5", "--interval 0.5", "--moments", "--threshold 0.9999999", "--fdr 0.4", "--top 1",
		"--path=always", "--prior-odds ODDS", "--prior spikeslab(inclusion=0.01)", "--bootstrap 2", "--check 2", "--null-check 2", "--write-selected FOLDER/selected"}},
	{"select DATA -f b~x+u --engine laplace --path=never", []string{"--positive no", "--engine ep", "--engine ep --family bernoulli(link=probit)"}},
	{"select DATA -f y~x+twin+z --engine gibbs(draws=50) --path=never", []string{"--coverage 0.1"}},
	{"select DATA --path=never --engine ep --target y", []string{"--target x"}},
	{"predict MODEL DATA", []string{"--density", "--interval 0.5", "--keep city", "--latent", "--mean-interval", "--samples 2", "--samples 2 --seed 5", "-o OUT"}},
	{"predict GROUPS DATA", []string{"--groups none"}},
	{"predict LOG DATA", []string{"--original"}},
	{"predict MODEL NEW --missing mean", []string{"--unseen prior"}},
	{"draws MODEL DATA -n 3", []string{"-n 4", "--seed 5", "-o OUT"}},
	{"draws MODEL NEW -n 3 --missing mean", []string{"--unseen prior"}},
	{"evaluate MODEL DATA", []string{"--by city", "--loo", "--reliability", "--cv 2", "--cv 3", "--split 0.2", "--split 0.3", "--split 0.2 --seed 5", "--cv 2 --group city", "--cv 2 --time u"}},
	{"evaluate MODEL NEW --missing mean", []string{"--unseen prior"}},
	{"compare MODEL OTHER DATA", []string{"--loo", "--cv 2", "--cv 3", "--split 0.2", "--split 0.3", "--split 0.2 --seed 5", "--cv 2 --group city", "--cv 2 --time u"}},
	{"compare MODEL OTHER NEW --missing mean", []string{"--unseen prior"}},
	{"inspect MODEL", []string{"--base city=Bern", "--base city=mean", "--block city", "--block linear", "--exp", "--interval 0.5", "--sort name", "--sort abs", "--top 2", "-o OUT"}},
	{"effects COUNTS DATA", []string{"--at x=1", "--base city=Bern", "--by garden", "--comparisons x", "--slopes x", "--predictions x", "--draws 200", "--grid balanced", "--hypothesis pairwise", "--interval 0.5", "--link", "--ratio",
		"--rows", "--simultaneous", "--step sd", "--step 2", "--seed 5", "-o OUT"}},
	{"effects COUNTS NEW --missing mean", []string{"--unseen prior"}},
	{"plot MODEL DATA --kind predictions -o OUT.svg", []string{"--columns x", "--interval 0.5", "--kind residuals"}},
	{"plot COUNTS DATA --kind ppc_dist -o OUT.svg", []string{"--seed 5"}},
	{"plot MODEL NEW --missing mean --kind residuals -o OUT.svg", []string{"--unseen prior"}},
	{"plot MODEL MANY --kind residuals -o OUT.svg", []string{"--rows all"}},
	{"report COUNTS DATA -o OUT.html", []string{"--interval 0.5", "--seed 5"}},
	{"report MODEL NEW --missing mean -o OUT.html", []string{"--unseen prior"}},
	{"calibrate MODEL NEW --missing mean --unseen prior -o OUT", []string{"--by city", "--by garden"}},
	{"calibrate MODEL NEW --missing mean -o OUT", []string{"--unseen prior"}},
	{"look DATA", []string{"--target y", "-o OUT"}},
	{"stream DATA -f b~x+hash(city) -o OUT --max-bad 1", []string{"-f b~x", "--names=false", "--half-life 20 --time u", "--holdout 3", "--prune 2", "--report 40", "--engine ftrl", "--positive no",
		"--prior spikeslab(inclusion=0.1)", "--from STREAM", "--from STREAM --discount 0.5", "--seed 5 --engine ftrl(alpha=1)"}},
	{"stream DATA -f b~x -o OUT --prior spikeslab(inclusion=0.9)", []string{"--write-selected FOLDER/selected"}},
	{"stream DATA --target b", []string{"--target garden"}},
	{"stream BAD -f b~x -o OUT", []string{"--max-bad 1"}},
	{"active rank CLASSES DATA -n 5", []string{"--audit 0.4", "--audit 0.4 --seed 5", "--cost cost", "--keep city", "-n 6", "--score uncertainty", "--score bald", "--score random", "--skip-labelled"}},
	{"active rank CLASSES NEW -n 5 --missing mean", []string{"--unseen prior"}},
	{"active rank --cold DATA -n 5 --target b", []string{"--target garden"}},
	{"active rank --cold DATA -n 5 -f b~x+z", []string{"--family gaussian(variance=2)", "-f b~x", "--prior normal(variance=9)"}},
	{"active simulate DATA -f b~x+z --pool 40 --initial 10 --block 5 --labels 20 --every 5 --repeats 1", []string{"--audit 0.4", "--block 10", "--every 10", "--initial 12", "--labels 25", "--pool 30", "--repeats 2", "--scores bald", "--seed 5",
		"--plot OUT.svg", "-f b~x", "--positive no", "--prior normal(variance=9)", "--raw"}},
	{"active simulate DATA --target b --pool 40 --initial 10 --block 5 --labels 15 --repeats 1", []string{"--target garden"}},
}

// elsewhere are flags that have tests of their own: of what is read and written, of jobs and of how a command is run.
const elsewhere = "cache cache-limit checkpoint decimal delimiter encoding format schema thousands types missing json quiet threads help follow resume time products data print no-rows online sql table"

// unmoved are flags of commands that say no more of so few rows.
var unmoved = []string{"report rows", "active simulate family", "active simulate unseen"}

// TestEveryFlagTells: each flag of a command, and each other value of it, makes another answer.
func TestEveryFlagTells(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	table := func(name string, rows relation.Table) string { return sure(rows.Write(folder, name, relation.File))(t) }
	data := relation.Data(60, 1)
	twin := slices.Clone(data.Numbers["x"])
	for i := range twin {
		twin[i] += 0.3 * math.Sin(float64(i*i))
	}
	data = data.With("twin", twin)
	unknown := relation.Data(60, 2).Missing()
	unknown.Texts["city"][0] = "Chur"
	places := map[string]string{"DATA": table("data", data), "NEW": table("new", unknown), "MANY": table("many", relation.Data(10500, 3)), "ODDS": write("odds.csv", "x,0.001\n"), "FOLDER": folder}
	text := sureText(t, places["DATA"])
	places["BAD"] = write("bad.csv", text+"no row\n")
	for name, formula := range map[string]string{"MODEL": "y ~ x + z + city", "OTHER": "y ~ x", "GROUPS": "y ~ x + (1 | city)", "LOG": "log(cost) ~ x", "COUNTS": "count ~ x*z + city", "CLASSES": "b ~ x + z + city"} {
		places[name] = filepath.Join(folder, name)
		args := []string{"fit", places["DATA"], "-f", formula, "-o", places[name]}
		if name == "COUNTS" {
			args = append(args, "--family", "poisson")
		}
		must(t, args...)
	}
	places["STREAM"] = filepath.Join(folder, "STREAM")
	must(t, "stream", places["DATA"], "-f", "b ~ x + hash(city)", "-o", places["STREAM"])
	varying := regexp.MustCompile(`"(seconds|rows_per_second|name_bytes)":[^,}]*`)
	answer := func(line, flags string) string {
		out := filepath.Join(t.TempDir(), "out")
		args := append(strings.Fields(line), strings.Fields(flags)...)
		for i, a := range args {
			if v, known := places[a]; known {
				args[i] = v
			}
			args[i] = strings.ReplaceAll(strings.Replace(args[i], "FOLDER", folder, 1), "OUT", out)
		}
		if !strings.HasPrefix(line, "predict") && !strings.HasPrefix(line, "draws") { // which answer in rows
			args = append(args, "--json")
		}
		o := invoke(t, "", args...)
		if o.code == exitMisuse {
			t.Errorf("%s %s: %s", line, flags, o.err)
		}
		written := ""
		for _, name := range []string{out, out + ".svg", out + ".html", filepath.Join(folder, "selected")} {
			content, _ := os.ReadFile(name)
			written += string(content)
			os.Remove(name)
		}
		return varying.ReplaceAllString(strings.ReplaceAll(fmt.Sprint(o), out, ""), "") + written
	}
	met, commands := map[string]bool{}, map[string]bool{}
	for _, c := range told {
		if testing.Short() && strings.Contains(c.line, "gibbs") {
			met["select coverage"] = true
			continue
		}
		command, _, _ := strings.Cut(c.line, " ")
		if command == "active" {
			command = strings.Join(strings.Fields(c.line)[:2], " ")
		}
		commands[command] = true
		answers := map[string]string{}

		again := answer(c.line, "")
		for _, flags := range append([]string{""}, c.flags...) {
			for _, f := range strings.Fields(c.line + " " + flags) {
				if strings.HasPrefix(f, "-") {
					name, _, _ := strings.Cut(f, "=")
					met[command+" "+strings.TrimLeft(name, "-")] = true
				}
			}
			a := answer(c.line, flags)
			if other, twice := answers[a]; twice {
				t.Errorf("%s: %q is answered as %q: %.200s", c.line, flags, other, a)
			}
			if answers[a] = flags; flags == "" && a != again {
				t.Errorf("%s has two answers: %.200s", c.line, a)
			}
		}
	}
	root := (&program{}).root()
	for command := range commands {
		cmd, _, err := root.Find(strings.Fields(command))
		if err != nil {
			t.Fatal(err)
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !met[command+" "+f.Name] && !met[command+" "+f.Shorthand] && !slices.Contains(strings.Fields(elsewhere), f.Name) && !slices.Contains(unmoved, command+" "+f.Name) {
				t.Errorf("%s --%s has no line here", command, f.Name)
			}
		})
	}
}
