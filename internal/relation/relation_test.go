package relation

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
)

// total is a command that adds up y, and the weights where it heeds them.
func total(weighted bool) Run {
	return func(_ context.Context, j Job) (Answer, error) {
		a := Answer{}
		for i, y := range j.Rows.Numbers["y"] {
			if w := j.Rows.Numbers["w"]; weighted && j.Has("weight") {
				y *= w[i]
			}
			a["sum.mean"] += y
		}
		a["sum.sd"] = 2
		return a, a.Value("", map[string]any{"rows": j.Rows.Rows(), "seconds": 3.5})
	}
}

// A relation that does not hold is told, unless the list has it; and a bug of the list that is mended is told.
func TestCheck(t *testing.T) {
	subject := Subject{Name: "total", Job: Job{Rows: Data(40, 1)}}
	relation := Roles()[0]
	refuses := func(words string) Run {
		return func(context.Context, Job) (Answer, error) { return nil, errors.New(words) }
	}
	bug := []Exempt{{Relation: "weights*", Subject: "total", Place: "sum.*", Reason: "weights are not read", Bug: true}}
	for _, c := range []struct {
		run       Run
		exempt    []Exempt
		complaint string
		mended    int
		refused   bool
	}{
		{total(true), nil, "", 0, false},
		{total(true), bug, "", 1, false},
		{total(false), nil, "sum.mean is ", 0, false},
		{total(false), bug, "", 0, false},
		{total(false), []Exempt{{Relation: "order*"}}, "sum.mean is ", 0, false},
		{refuses("takes no weight"), nil, "", 0, true},
		{refuses("too few rows"), nil, "refused: too few rows", 0, false},
	} {
		check := newChecker(c.run, c.exempt)
		found, complaints := check.check(t.Context(), &subject, &relation)
		if got := strings.Join(complaints, "\n"); (got == "") != (c.complaint == "") || !strings.HasPrefix(got, c.complaint) {
			t.Errorf("%v: told %q, want %q", c.exempt, got, c.complaint)
		}
		if len(check.mended()) != c.mended || found.refused != c.refused || !found.applies {
			t.Errorf("%v: mended %v, %+v", c.exempt, check.mended(), found)
		}
	}
	page := &Page{Exempt: bug}
	check := newChecker(total(false), bug)
	found, _ := check.check(t.Context(), &subject, &relation)
	page.add(&relation, &subject, found)
	page.add(&Relation{Name: "another"}, &subject, outcome{applies: true})
	if text := page.Text(); !strings.Contains(text, "| weights = copies | holds [1] |") || !strings.Contains(text, "| another | no |") || !strings.Contains(text, "[1] To be mended: weights are not read") {
		t.Error(text)
	}
}

// Numbers are compared in units of the standard deviation beside them, bits where they are asked for.
func TestNear(t *testing.T) {
	answer := Answer{"x.sd": 10, "row1.f_sd": 2}
	for _, c := range []struct {
		place             string
		got, want, within float64
		near              bool
	}{
		{"x.mean", 1.09, 1, 0.01, true}, {"x.mean", 1.11, 1, 0.01, false}, {"x.sd", 10.2, 10, 0.01, false},
		{"row1.f_mean", 0.019, 0, 0.01, true}, {"row1.f_mean", 0.021, 0, 0.01, false},
		{"evidence", 0.009, 0, 0.01, true}, {"rows", 101, 100, 0.005, false},
		{"rows", math.Nextafter(100, 101), 100, 0, false}, {"rows", math.NaN(), math.NaN(), 0, true}, {"rows", math.NaN(), 1, 1, false},
	} {
		if near(c.got, c.want, c.within, answer, c.place) != c.near {
			t.Errorf("%+v", c)
		}
	}
}

// Every number has one place, by the names of what it is of.
func TestAnswer(t *testing.T) {
	a := Answer{}
	text := `{"evidence": -3, "seconds": 4, "ok": true, "status": "converged", "none": null, "hyper": {"noise": 2},
		"terms": [{"block": "linear", "name": "x", "mean": 1}, {"block": "(intercept)", "name": "(intercept)", "mean": 2}], "called": [5, 6]}`
	if err := a.JSON("fit.", []byte(text)); err != nil {
		t.Fatal(err)
	}
	rows := Data(9, 1).Pick([]int{7, 3})
	if err := a.CSV("id,mean,sd\na,0.5,1\nb,,2\n", rows); err != nil {
		t.Fatal(err)
	}
	want := Answer{"fit.evidence": -3, "fit.ok": 1, "fit.hyper.noise": 2, "fit.terms.linear.x.mean": 1, "fit.terms.(intercept).mean": 2,
		"fit.called.0": 5, "fit.called.1": 6, "row7.mean": 0.5, "row7.sd": 1, "row3.mean": math.NaN(), "row3.sd": 2}
	for place, v := range want {
		if got, known := a[place]; !known || got != v && v == v {
			t.Errorf("%s is %v, want %v", place, got, v)
		}
	}
	if len(a) != len(want) {
		t.Errorf("%v", a)
	}
	if err := a.JSON("fit.", []byte(`{"evidence": -3}`)); err == nil {
		t.Error("a second number of one place is taken")
	}
}
