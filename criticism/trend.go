package criticism

import (
	"fmt"
	"math"
	"strings"
)

// bends is the number of curves that a trend may be made of: the square of a column's ranks as normal values,
// and the Legendre polynomials of degrees 3 and 4 in them.
const bends = 3

// scoresOf returns the scores d log p(y|f)/df and their variances in the rows of the view.
func (s *sample) scoresOf() (score, information []float64) {
	return pick(s.score, s.view.rows), pick(s.information, s.view.rows)
}

// trend looks for curves in the scores, against the prediction and against every column. What is linear in
// either is taken out, because a fit takes it out too. A family with another link has a check of its own for the prediction.
func (s *sample) trend() *Finding {
	v, ones := &s.view, s.view.ones()
	score, information := s.scoresOf()
	list := v.against
	if s.kind.other != nil {
		list = v.columns()
	}
	results := s.test(len(list), func(k int) scored {
		a := list[k]
		shapes := append([][]float64{a.square}, curves(a.rank, bends, bends-1)...)
		explains, p, _ := scoreTest(shapes, [][]float64{ones, a.value, v.mean}, information, score, s.kind.classes)
		return scored{names: []string{a.name}, explains: explains, p: p}
	})
	if len(results) == 0 {
		return nil
	}
	most, names := results[0].explains, bentWith(results)
	f := &Finding{Check: "trend", Tone: s.toneOf(Remark, most), Statistic: most, P: results[0].p}
	if len(names) == 0 {
		f.Text = fmt.Sprintf("the residuals bend with the prediction, and a curve explains %.2g %% of their variance", 100*most)
		f.Remedy = "add products of columns or rbf(.) to the formula"
		if other := s.otherFamily(); other != "" {
			f.Remedy += ", or " + other
		}
		return s.of(f)
	}
	f.Text = fmt.Sprintf("the residuals bend with %s, and a curve explains %.2g %% of their variance", namesOf(names), 100*most)
	f.Remedy = fmt.Sprintf("add rbf(%s) or poly(%[1]s, 3) to the formula", names[0])
	return s.of(f)
}

// bentWith names the columns of results, of which the first explains most: they stand before the prediction, which bends
// with them, unless it explains twice as much. There are none where the curve is one of the prediction.
func bentWith(results []scored) []string {
	var names []string
	for _, r := range results {
		if r.names[0] != "" && (results[0].names[0] != "" || results[0].explains < 2*r.explains) {
			names = append(names, r.names[0])
		}
	}
	return names
}

// of says in a finding how many rows it is of, where they are not all that were looked at.
func (s *sample) of(f *Finding) *Finding {
	if len(s.compared) < len(s.target) {
		f.Text += fmt.Sprintf(" (of %d rows)", len(s.view.rows))
	}
	return f
}

// interaction looks for products of two columns in the scores, of those that vary most with the prediction.
// What is linear or bent in either is taken out.
func (s *sample) interaction() *Finding {
	v, ones := &s.view, s.view.ones()
	score, information := s.scoresOf()
	columns := v.columns()
	columns = columns[:min(len(columns), mostPairs)]
	type pair struct{ a, b *against }
	var pairs []pair
	for i, a := range columns {
		for _, b := range columns[:i] {
			pairs = append(pairs, pair{b, a})
		}
	}
	results := s.test(len(pairs), func(k int) scored {
		a, b := pairs[k].a, pairs[k].b
		product := make([]float64, len(a.bounded))
		for i, u := range a.bounded {
			product[i] = u * b.bounded[i]
		}
		explains, p, _ := scoreTest([][]float64{product}, [][]float64{ones, a.value, b.value, v.mean}, information, score, s.kind.classes)
		return scored{names: []string{a.name, b.name}, explains: explains, p: p}
	})
	if len(results) == 0 {
		return nil
	}
	r := results[0]
	return s.of(&Finding{
		Check: "interaction", Tone: s.toneOf(Remark, r.explains), Statistic: r.explains, P: r.p,
		Text:   fmt.Sprintf("the effect of %s changes with %s, and their product explains %.2g %% of the variance of the residuals", r.names[0], r.names[1], 100*r.explains),
		Remedy: fmt.Sprintf("add %s:%s to the formula", r.names[0], r.names[1]),
	})
}

// spread looks for residuals that are larger in one place than in another.
func (s *sample) spread() *Finding {
	if s.kind.fixedDispersion || s.kind.classes {
		return nil
	}
	size := func(e float64) float64 { return math.Log1p(e * e) } // outliers count little
	v, ones := &s.view, s.view.ones()
	sizes := make([]float64, len(v.rows))
	var expected []moment3
	if !s.kind.gaussian { // whose residuals have the same distribution everywhere
		expected = s.replicates(func(_, _, e float64) float64 { return size(e) })
	}
	mean := 0.0
	for k, i := range v.rows {
		sizes[k] = size(s.residual[i])
		if expected != nil {
			sizes[k] -= expected[i].mean
		}
		mean += sizes[k] / float64(len(sizes))
	}
	for k := range sizes {
		sizes[k] -= mean
	}
	results := s.test(len(v.against), func(k int) scored {
		a := v.against[k]
		explains, p, _ := scoreTest(append([][]float64{a.bounded}, curves(a.rank, 2, bends-1)...), [][]float64{ones}, ones, sizes, false)
		return scored{names: []string{a.name}, explains: explains, p: p}
	})
	if len(results) == 0 {
		return nil
	}
	with := "the prediction"
	var names []string
	for _, r := range results {
		if r.names[0] != "" {
			names = append(names, r.names[0])
		}
	}
	if len(names) > 0 {
		with = namesOf(names)
	}
	return s.of(&Finding{
		Check: "dispersion", Tone: s.toneOf(Remark, results[0].explains), Statistic: results[0].explains, P: results[0].p,
		Text:   fmt.Sprintf("the residuals spread more in some places than in others, with %s", with),
		Remedy: "intervals are too wide in one place and too narrow in another; " + s.wider(),
	})
}

// wider is the remedy for spreads that vary.
func (s *sample) wider() string {
	if s.kind.gaussian {
		if other := s.otherFamily(); other != "" {
			return other
		}
		return "give precision(w) if a column says how precise a row is" + s.heavy(", or ")
	}
	return "fit groups of rows that spread alike apart"
}

// heavy proposes the Student t family, which is fitted under a normal prior alone. Of whole numbers from 0 on it is none
// but by an error: its scale shrinks to nothing about the commonest of them, where its density has no bound.
func (s *sample) heavy(before string) string {
	if !s.normal || s.whole {
		return ""
	}
	return before + "--family studentt"
}

// otherFamily proposes another family than the Gaussian for targets that look like counts, grades or classes, and for
// positive ones their logarithm too; "" for all others.
func (s *sample) otherFamily() string {
	switch {
	case !s.kind.gaussian || s.name == "" || s.transformed:
		return ""
	case s.discrete():
		return s.looks.Remedy
	}
	for _, i := range s.used {
		if !(s.target[i] > 0) {
			return ""
		}
	}
	if !s.normal {
		return fmt.Sprintf("fit log(%s)", s.name)
	}
	return fmt.Sprintf("fit log(%s), or --family gamma", s.name)
}

// discrete says whether the targets of a Gaussian look like counts, grades or classes, whose families are fitted under a
// normal prior.
func (s *sample) discrete() bool {
	return s.normal && s.looks != nil && (s.looks.Like == LookCounts || s.looks.Like == LookGrades || s.looks.Like == LookClasses)
}

// namesOf names the first three.
func namesOf(names []string) string {
	if len(names) > 3 {
		return strings.Join(names[:3], ", ") + fmt.Sprintf(" and %d more", len(names)-3)
	}
	return strings.Join(names, ", ")
}
