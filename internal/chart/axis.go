package chart

import (
	"encoding/xml"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Axis maps values to pixels.
type Axis struct {
	Name   string   `json:"name,omitempty"`
	Scale  Scale    `json:"scale"`            // linear, log, or time: days since 1970
	Levels []string `json:"levels,omitempty"` // of categories: the first stands at 0, the next at 1
	Whole  bool     `json:"-"`                // ticks are whole numbers
	// From and To are the ends where From < To; else they are those of what is drawn, with some room.
	From float64 `json:"-"`
	To   float64 `json:"-"`

	low, high float64 // in the units of the scale
	from, to  float64 // pixels
	stated    bool
}

// Scale says how values are spread over an axis.
type Scale uint8

// The scales.
const (
	Linear Scale = iota
	Log          // what is not above 0 is not drawn
	Time         // days since 1970
)

// MarshalText writes the word of a scale.
func (s Scale) MarshalText() ([]byte, error) {
	return []byte([]string{"linear", "log", "time"}[s]), nil
}

// mostValue is the largest value that is drawn: differences of values are numbers, too.
const mostValue = 1e300

// unit returns a value in the units of the scale.
func (a *Axis) unit(v float64) (float64, bool) {
	if a.Scale == Log {
		if !(v > 0) {
			return 0, false
		}
		v = math.Log10(v)
	}
	return v, math.Abs(v) <= mostValue
}

func (a *Axis) begin() {
	a.low, a.high = math.Inf(1), math.Inf(-1)
	if a.stated = a.From < a.To; a.stated {
		low, okLow := a.unit(a.From)
		high, okHigh := a.unit(a.To)
		if a.stated = okLow && okHigh; a.stated {
			a.low, a.high = low, high
		}
	}
	if len(a.Levels) > 0 {
		a.low, a.high, a.stated = -.6, float64(len(a.Levels))-.4, true
	}
}

func (a *Axis) hold(values ...float64) {
	if a.stated {
		return
	}
	for _, v := range values {
		if u, ok := a.unit(v); ok {
			a.low, a.high = math.Min(a.low, u), math.Max(a.high, u)
		}
	}
}

// room is the share of an axis that is left free at its ends.
const room = 0.04

func (a *Axis) end() {
	switch {
	case a.stated:
	case a.low > a.high:
		a.low, a.high = 0, 1
	case a.high-a.low <= 1e-12*max(math.Abs(a.low), math.Abs(a.high)):
		free := max(math.Abs(a.low)/10, 1e-3)
		a.low, a.high = a.low-free, a.high+free
	default:
		free := room * (a.high - a.low)
		a.low, a.high = a.low-free, a.high+free
	}
}

// place gives the axis its pixels.
func (a *Axis) place(from, to float64) { a.from, a.to = from, to }

// at returns the pixel of a value, and whether the axis has it.
func (a *Axis) at(v float64) (float64, bool) {
	u, ok := a.unit(v)
	share := (u - a.low) / (a.high - a.low)
	return a.from + share*(a.to-a.from), ok && share >= -1e-9 && share <= 1+1e-9
}

// within returns the pixel of a value, or of the end beyond which it lies.
func (a *Axis) within(v float64) (float64, bool) {
	u, ok := a.unit(v)
	if math.IsInf(v, 0) || a.Scale == Log && v == 0 {
		u, ok = math.Copysign(mostValue, v), true
		if v == 0 {
			u = a.low
		}
	}
	share := max(0, min((u-a.low)/(a.high-a.low), 1))
	return a.from + share*(a.to-a.from), ok
}

// tick is a value that an axis tells.
type tick struct {
	at   float64
	text string
}

// ticks are about count values that people would choose.
func (a *Axis) ticks(count int) []tick {
	count = max(2, min(count, 8))
	switch {
	case len(a.Levels) > 0:
		var list []tick
		for k, name := range a.Levels {
			list = append(list, tick{float64(k), name})
		}
		return list
	case a.Scale == Time:
		return timeTicks(a.low, a.high, count)
	case a.Scale == Log:
		return logTicks(a.low, a.high, count)
	}
	if a.Whole {
		count = max(1, min(count, int(a.high-a.low)))
	}
	list := linearTicks(a.low, a.high, count)
	if a.Whole {
		list = slices.DeleteFunc(list, func(t tick) bool { return t.at != math.Trunc(t.at) })
	}
	return list
}

// linearTicks are multiples of 1, 2 or 5 times a power of ten, with as many digits as tell them apart.
func linearTicks(low, high float64, count int) (list []tick) {
	step, power := 0.0, math.Pow(10, math.Floor(math.Log10((high-low)/float64(count))))
	for _, times := range []float64{.5, 1, 2, 5, 10} { // the one with about as many
		many := func(s float64) float64 { return math.Floor(high/s+1e-9) - math.Ceil(low/s-1e-9) + 1 }
		if s := times * power; step == 0 || many(s) >= 2 && math.Abs(many(s)-float64(count)) < math.Abs(many(step)-float64(count)) {
			step = s
		}
	}
	digits := int(max(0, -math.Floor(math.Log10(step)+1e-9)))
	largest := max(math.Abs(low), math.Abs(high))
	for k := math.Ceil(low/step - 1e-9); k <= high/step+1e-9 && len(list) < 20; k++ {
		v := k*step + 0 // no −0
		text := strconv.FormatFloat(v, 'f', digits, 64)
		if largest >= 1e6 || largest < 1e-3 {
			text = Number(v, max(4, int(math.Floor(math.Log10(largest)+1e-9)-math.Floor(math.Log10(step)+1e-9))+1))
		}
		list = append(list, tick{v, text})
	}
	return list
}

// logTicks are powers of ten, or 1 and 3, or 1, 2 and 5 times them where these are few.
func logTicks(low, high float64, count int) (list []tick) {
	times, every := []float64{1, 2, 5}, 1.0
	if powers := math.Floor(high+1e-9) - math.Ceil(low-1e-9) + 1; powers >= 2 {
		times, every = []float64{1, 3}, math.Ceil(powers/float64(count))
		if powers > 3 || every > 1 {
			times = times[:1]
		}
	}
	for p := math.Floor(low/every) * every; p <= high+1e-9; p += every {
		for _, t := range times {
			if at := math.Log10(t) + p; at >= low-1e-9 && at <= high+1e-9 {
				list = append(list, tick{t * math.Pow(10, p), Number(t*math.Pow(10, p), 6)})
			}
		}
	}
	if len(list) > 1 {
		return list
	}
	return linearTicks(math.Pow(10, low), math.Pow(10, high), count)
}

// spans are the steps of clock and calendar, in days: of months the shortest that they can be.
var spans = []struct {
	days   float64
	months int
	layout string
}{
	{1. / 1440, 0, "15:04"}, {5. / 1440, 0, "15:04"}, {15. / 1440, 0, "15:04"}, {1. / 24, 0, "15:04"}, {3. / 24, 0, "2 Jan 15:04"}, {6. / 24, 0, "2 Jan 15:04"},
	{1, 0, "2 Jan 2006"}, {2, 0, "2 Jan 2006"}, {7, 0, "2 Jan 2006"}, {14, 0, "2 Jan 2006"}, {28, 1, "Jan 2006"}, {59, 2, "Jan 2006"}, {90, 3, "Jan 2006"}, {181, 6, "Jan 2006"},
	{365, 12, "2006"}, {730, 24, "2006"}, {1826, 60, "2006"}, {3652, 120, "2006"}, {7304, 240, "2006"}, {18262, 600, "2006"},
}

// timeTicks are whole minutes, hours, days, weeks from a Monday, months or years.
func timeTicks(low, high float64, count int) (list []tick) {
	const mostDays = 3e6 // beyond the calendar of thousands of years
	if math.Abs(low) > mostDays || math.Abs(high) > mostDays || high-low < 5./1440 {
		return linearTicks(low, high, count)
	}
	k := 0
	for k < len(spans)-1 && (high-low)/spans[k].days > 1.2*float64(count) {
		k++
	}
	s := spans[k]
	at := func(days float64) time.Time { return time.Unix(int64(math.Round(days*86400)), 0).UTC() }
	add := func(t time.Time) {
		if days := float64(t.Unix()) / 86400; days >= low && days <= high {
			list = append(list, tick{days, t.Format(s.layout)})
		}
	}
	if s.months > 0 {
		begin := at(low)
		month := begin.Year()*12 + int(begin.Month()) - 1
		for month = month / s.months * s.months; len(list) < 40; month += s.months {
			t := time.Date(month/12, time.Month(month%12+1), 1, 0, 0, 0, 0, time.UTC)
			if float64(t.Unix())/86400 > high {
				return list
			}
			add(t)
		}
	}
	shift := 0.0
	if s.days >= 7 {
		shift = 4 // 1970 began on a Thursday: Mondays are 4, 11, …
	}
	for n := math.Ceil((low - shift) / s.days); n*s.days+shift <= high && len(list) < 40; n++ {
		add(at(n*s.days + shift))
	}
	return list
}

// Number writes a number in a few digits.
func Number(v float64, digits int) string {
	return strings.NewReplacer("e+0", "e", "e-0", "e-", "e+", "e").Replace(strconv.FormatFloat(v, 'g', digits, 64))
}

// Counted writes how many there are, with digits in groups: "1 row", "10,000 rows". what is "" of a number alone.
func Counted(n int, what string) string {
	text := strconv.Itoa(n)
	for k := len(text) - 3; k > 0 && n >= 10_000; k -= 3 {
		text = text[:k] + "," + text[k:]
	}
	switch {
	case what == "":
		return text
	case n != 1:
		what += "s"
	}
	return text + " " + what
}

func pixel(v float64) string {
	text := strconv.FormatFloat(v, 'f', 1, 64)
	return strings.TrimSuffix(text, ".0")
}

// textWidth estimates the width of a text in pixels.
func textWidth(text string) (width float64) {
	for _, r := range text {
		switch {
		case r >= 0x2e80: // ideographs, signs that are pictures
			width += fontSize
		case unicode.IsUpper(r) || strings.ContainsRune("mw%<>=+~", r):
			width += .72 * fontSize
		case strings.ContainsRune("ijltfr.,:;|'!()[] ", r):
			width += .36 * fontSize
		case unicode.Is(unicode.Mn, r):
		default:
			width += .58 * fontSize
		}
	}
	return width
}

// shortened leaves the middle out of a text that is wider than most pixels.
func shortened(text string, most float64) string {
	if textWidth(text) <= most {
		return text
	}
	runes := []rune(text)
	if len(runes) > 1000 {
		runes = append(runes[:500:500], runes[len(runes)-500:]...)
	}
	for keep := len(runes) - 1; keep > 1; keep-- {
		short := string(runes[:(keep+1)/2]) + "…" + string(runes[len(runes)-keep/2:])
		if textWidth(short) <= most {
			return short
		}
	}
	return "…"
}

// escaped makes a text of a file one of XML: what XML lacks and what turns the direction of a line is replaced.
func escaped(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
	var out strings.Builder
	_ = xml.EscapeText(&out, []byte(text)) // a builder never fails
	return out.String()
}
