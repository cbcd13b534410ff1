package main

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/credence-ml/credence/internal/relation"
)

// TestRowsInMessages: behind 601 rows that are left out every message says the same as behind one, of rows and lines so
// much further on.
func TestRowsInMessages(t *testing.T) {
	folder := t.TempDir()
	table := func(name string, front int, change func(y, count []float64)) string {
		rows := relation.Data(60, 1)
		y, count := rows.Numbers["y"], rows.Numbers["count"]
		for i := range count {
			count[i]++
		}
		change(y, count)
		return sure(behind(relation.Data(front, 9).Map("x", func(float64) float64 { return math.NaN() }), rows).Write(folder, name, relation.File))(t)
	}
	outliers := func(y, _ []float64) { y[40], y[50] = 90, 80 }
	far := func(_, count []float64) { count[40], count[50] = 0, -1 }
	model := func(name, data string) string {
		path := folder + "/" + name + ".model"
		must(t, "fit", data, "-f", "y ~ x + z + city", "--missing", "drop", "-o", path)
		return path
	}
	const further = 601
	places := regexp.MustCompile(`(\brows? |\.csv:)(\d+(?:, \d+)*)`)
	counted := regexp.MustCompile(`\d+ of \d+ rows have missing values and are left out|data +.*\n|"(seconds|bytes)":[^,}]*`)
	for _, c := range []struct {
		change func(y, count []float64)
		args   []string
		named  int // rows at least
	}{
		{outliers, []string{"fit", "DATA", "-f", "y ~ x + z + city", "--missing", "drop", "--json"}, 2},
		{outliers, []string{"evaluate", "MODEL", "DATA", "--json"}, 2},
		{outliers, []string{"evaluate", "MODEL", "DATA", "--loo"}, 2},
		{far, []string{"fit", "DATA", "-f", "y ~ x + log(count)", "--missing", "drop"}, 1},
		{far, []string{"fit", "DATA", "-f", "count ~ x", "--family", "poisson", "--missing", "drop"}, 1},
		{far, []string{"fit", "DATA", "-f", "y ~ x + weight(count)", "--missing", "drop"}, 1},
		{far, []string{"fit", "DATA", "-f", "y ~ x + precision(count)", "--missing", "drop"}, 1},
		{far, []string{"stream", "DATA", "-f", "b ~ x + weight(count)", "--missing", "drop", "-o", "OUT"}, 1},
	} {
		var said [2]string
		for k, front := range []int{1, further} {
			data := table(fmt.Sprint("t", k), front, c.change)
			args := append([]string{}, c.args...)
			for i, a := range args {
				if a == "DATA" {
					args[i] = data
				} else if a == "MODEL" {
					args[i] = model(fmt.Sprint("t", k), data)
				} else if a == "OUT" {
					args[i] = t.TempDir() + "/stream"
				}
			}
			o := invoke(t, "", args...)
			named := 0
			said[k] = places.ReplaceAllStringFunc(counted.ReplaceAllString(strings.ReplaceAll(o.out+o.err, data, "t.csv"), ""), func(text string) string {
				parts := places.FindStringSubmatch(text)
				for i, number := range strings.Split(parts[2], ", ") {
					row := sure(strconv.Atoi(number))(t) - front
					parts[1] += strings.Repeat(", ", min(i, 1)) + fmt.Sprint(row)
					named++
				}
				return parts[1]
			})
			if named < c.named {
				t.Errorf("%v names %d rows: %s", c.args, named, said[k])
			}
		}
		if said[0] != said[1] {
			t.Errorf("%v says\n%s\nand behind %d rows\n%s", c.args, said[0], further, said[1])
		}
	}
}
