package cell

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// dateOrders are the orders of day, month and year that dates may have.
var dateOrders = [...]string{"ymd", "dmy", "mdy"}

// AnyDate is the word for dates whose order is found out.
const AnyDate = "date"

// DateOrder reports whether a word is one of the orders of day, month and year.
func DateOrder(word string) bool { return slices.Contains(dateOrders[:], word) }

// DateNotation is that of columns whose values are days already, as dates of programs and of typed files are.
var DateNotation = Notation{Date: "ymd"}

// DateDoubt is what a note says of a column that is taken for dates, with a time of day where it is timed.
func DateDoubt(column string, timed bool) string {
	parts := "month(%[1]s) and weekday(%[1]s) are their parts, onehot(weekday(%[1]s))"
	if timed {
		parts = "month(%[1]s), weekday(%[1]s) and hour(%[1]s) are their parts, onehot(hour(%[1]s))"
	}
	return fmt.Sprintf("holds dates, and is read as days since 1970-01-01 UTC: year(%[1]s), "+parts+" takes one as a category", Column(column))
}

// DateText writes days since 1970-01-01 UTC as a date, with the time of day where there is one.
func DateText(dst []byte, days float64) []byte {
	whole := math.Floor(days)
	t := time.Unix(int64(whole)*secondsOfDay, int64(math.Round((days-whole)*secondsOfDay*1e6))*1000).UTC()
	if days == whole {
		return t.AppendFormat(dst, "2006-01-02")
	}
	return t.AppendFormat(dst, "2006-01-02T15:04:05.999999Z")
}

// dateForm spells an order out for people.
func dateForm(order string) string {
	return map[string]string{"ymd": "year-month-day", "dmy": "day-month-year", "mdy": "month-day-year"}[order]
}

// Forms of dates by order. The separators are written as "-" where others may stand: those of a text
// are made so before.
var dateForms = map[string][]string{
	"ymd": {"2006-1-2"},
	"dmy": {"2-1-2006", "2-Jan-2006", "2-January-2006"},
	"mdy": {"1-2-2006", "Jan-2-2006", "January-2-2006"},
}

// clockForms may follow a date, after a space or a T.
var clockForms = []string{
	"15:04:05Z07:00", "15:04Z07:00", "15:04:05Z0700", "15:04:05Z07", "15:04:05 Z07:00", "15:04:05 -0700", "15:04:05 UTC", "15:04:05", "15:04", "3:04 PM", "3:04:05 PM",
}

// parseDate reads a date in an order, with a time of day perhaps, as days since 1970-01-01 UTC. The year
// has four digits. A time without a zone is one of UTC.
func parseDate(text []byte, order string) (days float64, ok bool) {
	if len(text) < len("1.1.2006") || len(text) > 40 {
		return 0, false
	}
	date, clock := string(text), ""
	if at := strings.IndexByte(date, ':'); at >= 0 {
		at = strings.LastIndexAny(date[:at], " T")
		if at < 0 {
			return 0, false
		}
		date, clock = date[:at], date[at+1:]
	}
	date, ok = dashed(date, order)
	if !ok {
		return 0, false
	}
	day, ok := firstOf(dateForms[order], date)
	if !ok {
		return 0, false
	}
	days = math.Round(float64(day.Unix()) / secondsOfDay)
	if clock == "" {
		return days, true
	}
	moment, ok := firstOf(clockForms, strings.ToUpper(clock))
	if !ok {
		return 0, false
	}
	midnight := time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)
	return days + moment.Sub(midnight).Seconds()/secondsOfDay, true
}

const secondsOfDay = 24 * 60 * 60

// compactDate reports whether a text is eight digits that are a year of this or the last century, a month and a day.
func compactDate(text []byte) bool {
	if len(text) != len("20060102") || text[0] != '1' && text[0] != '2' {
		return false
	}
	_, err := time.Parse("20060102", string(text))
	return err == nil && string(text) >= "1900" && string(text) < "2100"
}

// dashed writes a date with dashes; one of year, month and day may be eight digits. Its separators are all the same:
// "-", "/" or ".", or spaces, with commas perhaps, beside the name of a month. Only days stand first before dots.
func dashed(date, order string) (string, bool) {
	named := strings.IndexFunc(date, func(r rune) bool { return r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' }) >= 0
	if len(date) == len("20060102") && order == "ymd" && strings.Trim(date, "0123456789") == "" {
		return date[:4] + "-" + date[4:6] + "-" + date[6:], true
	}
	separator := ""
	for _, s := range []string{"-", "/", ".", " "} {
		if strings.Contains(date, s) {
			if separator != "" {
				return "", false
			}
			separator = s
		}
	}
	switch {
	case separator == "" || separator == " " && !named || separator == "." && order == "mdy":
		return "", false
	case separator == " ":
		date = strings.ReplaceAll(date, ", ", " ")
	}
	return strings.ReplaceAll(date, separator, "-"), true
}

// firstOf reads a text by the first form that fits.
func firstOf(forms []string, text string) (time.Time, bool) {
	for _, form := range forms {
		if t, err := time.Parse(form, text); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// shortForms are dates whose years have two digits.
var shortForms = []string{"2-1-06", "1-2-06", "06-1-2"}

// shortDate reports whether a text is a date with a year of two digits.
func shortDate(text []byte) bool {
	if len(text) < len("1/2/06") || len(text) > len("01/02/06") || text[0] < '0' || text[0] > '9' {
		return false
	}
	date, ok := dashed(string(text), "dmy")
	if ok {
		_, ok = firstOf(shortForms, date)
	}
	return ok
}

// dateLike reports whether a text may be a date, so that most texts cost little.
func dateLike(text []byte) bool {
	digits := 0
	for _, c := range text {
		if c >= '0' && c <= '9' {
			digits++
		}
	}
	return digits >= 5 && len(text) >= 8 && len(text) <= 40
}
