package frame

import (
	"math"
	"time"
)

// The parts of a date, which is a number of days since 1970-01-01 UTC: the year; the month, 1 to 12; the
// weekday, 1 for Monday to 7 for Sunday; the hour, 0 to 23.
const (
	Year    Function = "year"
	Month   Function = "month"
	Weekday Function = "weekday"
	Hour    Function = "hour"
)

// Part reports whether the function is a part of a date.
func (f Function) Part() bool { return f == Year || f == Month || f == Weekday || f == Hour }

// part returns a part of the date that is so many days after 1970-01-01 UTC; none of a date beyond the
// calendar.
func (f Function) part(days float64) float64 {
	const farthest = 3e6 // days: eight thousand years
	if !(math.Abs(days) < farthest) {
		return math.NaN()
	}
	// Times of day are whole milliseconds; the nearest is what was written.
	t := time.UnixMilli(int64(math.Round(days * 24 * 60 * 60 * 1000))).UTC()
	switch f {
	case Year:
		return float64(t.Year())
	case Month:
		return float64(t.Month())
	case Weekday:
		return float64((t.Weekday()+6)%7 + 1)
	}
	return float64(t.Hour())
}
