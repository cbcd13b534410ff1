package frame

import (
	"math"
	"testing"
	"time"
)

// The parts of a date are those of package time, at every hour of some days before and after 1970, though
// a day is a fraction that is rounded.
func TestPartsOfDates(t *testing.T) {
	for hour := -40_000; hour < 500_000; hour += 7 {
		at := time.Unix(int64(hour)*3600, 0).UTC()
		days := float64(hour) / 24
		weekday := float64(at.Weekday())
		if weekday == 0 {
			weekday = 7
		}
		for f, want := range map[Function]float64{Year: float64(at.Year()), Month: float64(at.Month()), Weekday: weekday, Hour: float64(at.Hour()), Day: float64(at.Day()), Yearday: float64(at.YearDay())} {
			if got, err := Column("t").With(f).Apply(days); err != nil || got != want {
				t.Fatalf("%s of %v is %v (%v), want %v", f, at, got, err, want)
			}
		}
	}
	if _, err := Column("t").With(Month).Apply(1e9); err == nil {
		t.Error("a day beyond the calendar has a month")
	}
	if v, err := Column("t").With(Month).Apply(math.NaN()); err != nil || v == v {
		t.Errorf("the month of a missing date is %v, %v", v, err)
	}
	if e := Column("t").With(Month); e.Invertible() {
		t.Error("a month tells its date")
	}
}

// A column of which parts alone are taken is told from one that is taken as days, too.
func TestPartsAlone(t *testing.T) {
	x, both := Column("x"), Column("both")
	p := &Plan{Target: &x, Inputs: []Expr{Column("t").With(Hour), Column("t").With(Month).With(Square), both.With(Year), both}, Offset: []Expr{Constant(1), Column("late").With(Log).With(Hour)}}
	if got := p.PartsAlone(); len(got) != 1 || got[0] != "t" {
		t.Errorf("parts alone of %q", got)
	}
}
