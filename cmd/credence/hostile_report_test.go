package main

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// hostileNames are names of columns, levels and classes that a page, its form or its pictures could take for something
// else than a text.
var hostileNames = []string{
	`</script><script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onclick='alert(1)`, `<!-- {{.Title}} ${x}`, "__proto__", "constructor", "a\u2028b", `]]></svg>`, `&lt;b&gt;`,
	`=1+1`, `\`, `/`, strings.Repeat("long", 500), "日本 🙂", "toString", " ", "1e400", "-",
}

// pageElements are those that a report has.
var pageElements = func() map[string]bool {
	all := map[string]bool{}
	for _, name := range strings.Fields("html head meta title body a header p h1 h2 h3 nav main section ul ol li span strong div form noscript label select details summary table caption thead " +
		"tbody tr th td pre figure figcaption footer svg g line path circle rect text desc tspan polyline polygon defs clipPath b code use style") {
		all[name] = true
	}
	return all
}()

var scripts = regexp.MustCompile(`(?s)<(script|style)( type="application/json" id="([a-z-]+)")?>(.*?)</(script|style)>`)

// wholePage says what is wrong with a report: it is well-formed, of elements and attributes that reports have, has its
// own script alone, and its figures and its model are JSON.
func wholePage(page string) error {
	blocks := map[string]string{}
	count := 0
	for _, m := range scripts.FindAllStringSubmatch(page, -1) {
		blocks[m[3]] = m[4]
		if m[3] == "" && m[1] == "script" {
			count++
		}
	}
	if count != 1 || strings.Count(page, "<script") != 1+len(blocks)-1 {
		return fmt.Errorf("%d scripts of %d", count, strings.Count(page, "<script"))
	}
	for name, text := range blocks {
		if name != "" && !json.Valid([]byte(text)) {
			return fmt.Errorf("%s is no JSON: %.200s", name, text)
		}
	}
	decoder := xml.NewDecoder(strings.NewReader(strings.TrimPrefix(scripts.ReplaceAllString(page, ""), "<!doctype html>")))
	decoder.Strict, decoder.AutoClose, decoder.Entity = false, []string{"meta"}, xml.HTMLEntity
	text := ""
	for depth := 0; ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			if depth != 0 {
				return fmt.Errorf("%d elements are left open", depth)
			}
			break
		}
		if err != nil {
			return fmt.Errorf("not well-formed: %w", err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			depth++
			if !pageElements[e.Name.Local] {
				return fmt.Errorf("the page has an element %s", e.Name.Local)
			}
			for _, a := range e.Attr {
				switch value := strings.TrimSpace(a.Value); {
				case strings.HasPrefix(a.Name.Local, "on"), a.Name.Local == "src", a.Name.Local == "style", a.Name.Local == "href" && !strings.HasPrefix(value, "#"):
					return fmt.Errorf("%s has the attribute %s=%q", e.Name.Local, a.Name.Local, value)
				case a.Name.Space == "" && len(a.Name.Local) <= 2 && noNumber.MatchString(value):
					return fmt.Errorf("%s is drawn at %s=%q", e.Name.Local, a.Name.Local, value)
				}
			}
		case xml.EndElement:
			depth--
		case xml.CharData:
			text += string(e)
		case xml.Comment, xml.ProcInst:
			return fmt.Errorf("the page has a comment: %v", e)
		}
	}
	if found := noNumber.FindString(text); found != "" {
		return fmt.Errorf("the page says %s: %s", found, near(text, found))
	}
	return nil
}

// near is a text around what was found in it.
func near(text, found string) string {
	at := strings.Index(text, found)
	return text[max(0, at-150):min(len(text), at+150)]
}

// hostileTable is a CSV file of a number, a category and a target under names, with rows times a hostile level.
func hostileTable(names [3]string, rows, levels int, target func(i int) string) string {
	quoted := func(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }
	text := quoted(names[0]) + "," + quoted(names[1]) + "," + quoted(names[2]) + "\n"
	for i := range rows {
		level := hostileNames[i%min(levels, len(hostileNames))]
		if levels > len(hostileNames) {
			level = fmt.Sprintf("%s %d", string([]rune(level)[:min(len([]rune(level)), 9)]), i%levels)
		}
		text += fmt.Sprintf("%.3f,%s,%s\n", float64(i*37%101)/10, quoted(level), target(i))
	}
	return text
}

// Reports of any names, levels, models and data are whole pages, or are refused in one line.
func TestHostileReports(t *testing.T) {
	count, page := newTally(t), filepath.Join(t.TempDir(), "page.html")
	whole := func(o outcome) error {
		text, err := os.ReadFile(page)
		if err == nil {
			err = wholePage(string(text))
		}
		return err
	}
	tried := 0
	report := func(name string, args ...string) {
		if tried++; !hostileEverything() && tried%6 != 1 {
			return
		}
		os.Remove(page)
		count.check(name, "", "", whole, append([]string{"report", "-o", page, "-q"}, args...)...)
	}
	noise := func(i int) float64 { return float64(i*7919%1009)/1009 - .5 }
	number := func(i int) string { return fmt.Sprintf("%.3f", float64(i*37%101)/20+float64(i%4)+noise(i)) }
	class := func(i int) string { return `"` + []string{"no", "<b>yes"}[label(i*i/7)] + `"` }
	for k, name := range hostileNames {
		names := [3]string{name, hostileNames[(k+5)%len(hostileNames)], "y" + name}
		for j, target := range []func(int) string{number, class} {
			data := file(t, "t.csv", hostileTable(names, 90, 5+k, target))
			model := filepath.Join(t.TempDir(), "m.safetensors")
			if o := count.check(name, "", "", nil, "fit", data, "--target", names[2], "-q", "-o", model); o.code == exitDone {
				report(fmt.Sprint(name, j), model, data)
			}
		}
	}
	names := [3]string{"x", "g", "y"}
	counts := func(i int) string { return fmt.Sprint((i*37%101/20 + i*31%7) % 9) }
	for _, c := range []struct {
		formula, family string
		flags           []string
		target          func(int) string
	}{
		{"y ~ x + g", "gaussian", nil, number}, {"y ~ x + (1 | g)", "gaussian", nil, number}, {"y ~ (1 + x | g)", "gaussian", nil, number}, {"y ~ s(x) + g", "gaussian", nil, number},
		{"y ~ rbf(x, n=20) + g", "gaussian", nil, number}, {"log(y + 3) ~ x + g", "gaussian", nil, number}, {"y ~ x * g", "studentt", nil, number},
		{"y ~ x + g", "gaussian", []string{"--engine", "lasso"}, number}, {"y ~ x + g", "gaussian", []string{"--prior", "horseshoe", "--engine", "gibbs(sweeps=60)"}, number},
		{"y ~ x + g", "gaussian", []string{"--engine", "ep", "--prior", "spikeslab"}, number}, {"y ~ x + g", "gaussian", []string{"--prior", "laplace"}, number},
		{"y ~ x + g", "gaussian", []string{"--engine", "convex"}, number}, {"y ~ x + g", "poisson", nil, counts}, {"y ~ x + g", "negbinomial", nil, counts}, {"y ~ x + g", "ordinal", nil, counts},
		{"y ~ x + g", "binomial(trials=10)", nil, counts}, {"y ~ x + g", "gamma", nil, func(i int) string { return fmt.Sprintf("%.2f", 1+float64(i%17)/3) }}, {"y ~ x + g", "bernoulli", nil, class},
		{"y ~ x + g", "poisson", []string{"--engine", "svi(components=2)"}, counts}, {"y ~ hsgp(x, m=8) + g", "bernoulli", nil, class},
	} {
		train := file(t, "train.csv", hostileTable(names, 150, 6, c.target))
		model := filepath.Join(t.TempDir(), "m.safetensors")
		name := fmt.Sprint(c.formula, c.family, c.flags)
		if o := count.check(name, "", "", nil, append([]string{"fit", train, "-f", c.formula, "--family", c.family, "-q", "-o", model}, c.flags...)...); o.code != exitDone {
			continue
		}
		held := hostileTable(names, 80, 9, c.target)
		lines := strings.SplitAfter(held, "\n")
		data := map[string]string{
			"training rows": hostileTable(names, 150, 6, c.target), "held out": held, "no target": strings.ReplaceAll(held, `"y"`, `"z"`), "empty": "", "a header": lines[0], "one row": lines[0] + lines[1],
			"two rows": lines[0] + lines[1] + lines[2], "no numbers": lines[0] + "NaN,a,NaN\n1,b,2\n", "no cells": lines[0] + ",,\n,,\n,,\n", "unknown levels": lines[0] + "1,zz,1\n2,\"<i>\",0\n3,zz,1\n",
			"far away": held + "1e300,zz,1\n", "a target far away": held + "1,zz,1e300\n", "no target of the family": lines[0] + "1,a,-5\n2,b,-7\n", "equal targets": lines[0] + strings.Repeat("1,a,1\n", 40),
			"other kinds": "x,g,y\na,1,b\nc,2,d\n", "sparse": "1 1:2\n0 2:3\n", "a NUL": lines[0] + "1,a\x00b,1\n", "cut off": held[:len(held)/2], "a column twice": "x,x,g,y\n1,1,a,1\n2,2,b,1\n",
		}
		for _, what := range slices.Sorted(maps.Keys(data)) {
			if groups := strings.Contains(c.formula, "|"); groups && what == "unknown levels" {
				tried = 0 // of a group the training rows may lack
			}
			report(name+", "+what, model, file(t, "<i>.csv", data[what]))
		}
		report(name+", a model as data", model, model)
		report(name+", a folder", model, t.TempDir())
		report(name+", twice", model, model, train)
	}
	many := file(t, "many.csv", hostileTable(names, 3000, 2500, number))
	if hostileEverything() {
		many = file(t, "many.csv", hostileTable(names, 200_000, 100_000, number))
	}
	for _, formula := range []string{"y ~ x + g", "y ~ x + (1 | g)"} {
		model := filepath.Join(t.TempDir(), "m.safetensors")
		must(t, "fit", many, "-f", formula, "-q", "-o", model)
		tried = 0
		report(formula+" of many levels", model, many)
	}
}
