package cell

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"slices"
)

// Setting is what is known of a column before its texts are looked at.
type Setting struct {
	Name     string
	Declared Kind // Unknown where nothing was
	// Stated is the decimal mark that the user states, and Shown that of other columns: "", ".", "," or, where
	// they contradict each other, "both".
	Stated, Shown string
	Date          string    // the order of dates that the user states, or "date" for any
	Trained       *Notation // that of training, of a number; nil where the column was not there
}

// Verdict is what a column is taken for.
type Verdict struct {
	Kind     Kind
	Notation Notation
	Note     string // how that came about
	Doubt    string // why it may not be meant so
	// Refusal says why its values cannot be read unless the user says more.
	Refusal string
}

// Kind infers what the column is by its values alone, with a note where that is open to doubt.
func (c *Census) Kind() (kind Kind, note string) {
	v := c.Decide(Setting{})
	return v.Kind, v.Note
}

// Decide infers what the column is.
func (c *Census) Decide(set Setting) Verdict {
	switch {
	case set.Declared == Category || set.Declared == Boolean:
		return Verdict{Kind: set.Declared}
	case c.values == 0 && set.Declared == Unknown && set.Trained == nil:
		return Verdict{}
	case set.Date != "" || set.Trained != nil && set.Trained.Date != "":
		return c.asDate(set)
	}
	number := c.asNumber(set)
	if c.numbers == c.values || set.Declared == Numeric || set.Trained != nil {
		return number
	}
	for i, count := range c.booleans {
		both := c.truths[i] > 0 && c.truths[i] < count
		if count == c.values && (both || len(pairs[i][0]) > 1) {
			return Verdict{Kind: Boolean}
		}
	}
	if number.Kind != Numeric && c.mostly(c.spelled.dated) {
		return c.asDate(set)
	}
	if number.Kind != Numeric && c.mostly(c.spelled.short) {
		number.Refusal = fmt.Sprintf("dates such as %s have years of two digits, whose century nobody states: write them with four, or say %s", Quote(c.spelled.shortExample), Types(set.Name+"=category"))
	}
	return number
}

// mostly says whether so many values are enough to tell what a column is.
func (c *Census) mostly(count int) bool {
	share := float64(count) / float64(c.values)
	return share >= numberShare || share >= 0.5 && len(c.others) == 1
}

// Mark says whether the numbers of the column show a decimal point, and whether they show a comma.
func (c *Census) Mark() (point, comma bool) {
	s := &c.spelled
	return c.mostly(s.total()) && s.point > 0, c.mostly(s.total()) && s.comma > 0
}

// asNumber takes the column for one of numbers; it is a category where most values are none.
func (c *Census) asNumber(set Setting) Verdict {
	s := &c.spelled
	v := Verdict{Kind: Numeric}
	readable, example := s.total(), ""
	mark, refusal := s.mark(set)
	switch {
	case mark == "both":
		readable, mark = c.numbers, ""
		example = s.commaExample
		v.Doubt = fmt.Sprintf("some of its numbers have decimal commas, such as %s, and some decimal points, such as %s: write them alike",
			Quote(s.commaExample), Quote(s.pointExample))
	case mark != "" && (mark == "," || s.grouped > 0 || set.Stated != "" || set.Trained != nil && mark == set.Trained.Decimal):
		v.Notation.Decimal = mark
	case s.grouped > 0:
		v.Notation.Decimal = "."
	}
	signed := 0
	for _, count := range s.signs {
		signed += count
	}
	signs := slices.Sorted(maps.Keys(s.signs))
	switch {
	case set.Trained != nil:
		v.Notation.Sign = set.Trained.Sign
	case len(signs) == 1 && (signs[0] != percent || signed == s.total()):
		v.Notation.Sign = signs[0]
	case len(signs) > 0:
		readable -= min(readable, signed)
		example = s.signExample
		v.Doubt = fmt.Sprintf("its numbers are in different units, such as %s: write them alike", Quote(s.signExample))
	}
	if !c.mostly(readable) && set.Declared != Numeric && set.Trained == nil {
		v = Verdict{Kind: Category, Doubt: v.Doubt}
		if v.Doubt != "" {
			v.Doubt = "is read as a category: " + v.Doubt
		} else if c.numbers > 0 {
			v.Note = fmt.Sprintf("is a category; %d of %d values are numbers", c.numbers, c.values)
		}
		return v
	}
	v.Refusal, v.Doubt = refusal, ""
	if s.padded != "" && set.Declared == Unknown && set.Trained == nil {
		v.Doubt = fmt.Sprintf("is read as numbers, though some begin with 0 as codes do, such as %[1]s: declare it with --types %[2]s=category, or with --types %[2]s=number if amounts are meant", s.padded, set.Name)
	}
	if s.openPoint > 0 && s.point == 0 && mark == "" && refusal == "" && set.Trained == nil {
		v.Note = fmt.Sprintf("%s is read with a decimal point, which nothing in the data tells: --decimal . says so, and --thousands . that points separate thousands", Quote(s.openExample))
	}
	if s.compact == c.values && set.Declared == Unknown && set.Trained == nil {
		v.Doubt = fmt.Sprintf("is read as numbers, though all look like dates, such as %[1]s: declare it with --types %[2]s=ymd, or with --types %[2]s=number if amounts are meant", s.compactExample, set.Name)
	}
	if readable < c.values && set.Trained == nil {
		if len(c.others) > 0 {
			example = slices.Min(slices.Collect(maps.Keys(c.others)))
		} else if example != "" {
			example = Quote(example)
		}
		v.Note = fmt.Sprintf("is a number in %d of %d values, else for example %s", readable, c.values, example)
	}
	return v
}

// asDate takes the column for one of dates.
func (c *Census) asDate(set Setting) Verdict {
	s := &c.spelled
	var orders []string // that all dates can have
	for k, count := range s.dates {
		if count == s.dated && count > 0 {
			orders = append(orders, dateOrders[k])
		}
	}
	trained := ""
	if set.Trained != nil {
		trained = set.Trained.Date
	}
	v := Verdict{Kind: Numeric}
	switch {
	case set.Date != "" && set.Date != AnyDate:
		v.Notation.Date = set.Date
	case set.Date != "" && s.dated == 0 && trained == "":
		v.Notation.Date = dateOrders[0]
	case len(orders) == 1:
		v.Notation.Date = orders[0]
	case trained != "" && (len(orders) == 0 || slices.Contains(orders, trained)):
		v.Notation.Date = trained
	case len(orders) == 0:
		return Verdict{Kind: Category, Doubt: fmt.Sprintf("is read as a category: its dates are written in several ways, such as %s: write them alike", Quote(s.dateExample))}
	default:
		v.Refusal = fmt.Sprintf("dates such as %s may have the day or the month first: say %s or %s", Quote(s.dateExample), Types(set.Name+"=dmy"), Types(set.Name+"=mdy"))
		return v
	}
	if trained == "" {
		v.Doubt = DateDoubt(set.Name, s.timed)
		if len(c.others) > 0 {
			v.Note = fmt.Sprintf("is a date in %d of %d values, else for example %s", s.dated, c.values, slices.Min(slices.Collect(maps.Keys(c.others))))
		}
	}
	return v
}

// spellings count how the numbers and dates of a column are written.
type spellings struct {
	// Of numbers: those that have a decimal point, or a comma, and no other reading; those that are the same
	// with either; and those that are one number with a point and another with a comma, such as 1.300 and 1,300.
	point, comma, either, openPoint, openComma int
	grouped                                    int // that are no plain numbers, signs aside
	// some are the same with either, and not written by at most three digits
	long bool
	// that are eight digits as of a date, such as 20231231, if all before are
	compact                                 int
	compactExample                          string
	signs                                   map[string]int
	pointExample, commaExample, openExample string
	signExample                             string
	// an example of three or more digits that begin with 0, as codes are written
	padded string

	dates       [len(dateOrders)]int // that have this order
	dated       int                  // that have some order
	timed       bool                 // one of them has a time of day
	dateExample string
	// Of dates whose years have two digits.
	short        int
	shortExample string
}

// total is how many texts are numbers.
func (s *spellings) total() int { return s.point + s.comma + s.either + s.openPoint + s.openComma }

// add counts a text, of which is known whether it is a plain number, and a finite one. It reports whether it is a
// number or a date.
func (s *spellings) add(text []byte, plain, finite bool) (known bool) {
	var spelled spelling
	if plain && finite {
		spelled = spellPlain(text)
	} else {
		spelled = spell(text)
	}
	switch {
	case spelled.point || spelled.comma:
		s.count(text, spelled)
		return true
	case plain: // an infinity, or a long one
		s.either++
		return true
	case shortDate(text):
		s.short++
		keep(&s.shortExample, text)
		return false
	case !dateLike(text):
		return false
	}
	for k, order := range dateOrders {
		if days, ok := parseDate(text, order); ok {
			s.dates[k]++
			known, s.timed = true, s.timed || days != math.Floor(days)
		}
	}
	if known {
		s.dated++
		keep(&s.dateExample, text)
	}
	return known
}

// keep keeps the first example.
func keep(example *string, text []byte) {
	if *example == "" {
		*example = string(text)
	}
}

// count counts a text that is a number.
func (s *spellings) count(text []byte, spelled spelling) {
	if s.padded == "" && len(text) >= 3 && len(text) <= 20 && text[0] == '0' && !bytes.ContainsFunc(text, notDigit) {
		s.padded = string(text)
	}
	if s.compact == s.total() && compactDate(text) {
		s.compact++
		keep(&s.compactExample, text)
	}
	if !spelled.plain {
		s.grouped++
	}
	if spelled.sign != "" {
		if s.signs == nil {
			s.signs = make(map[string]int)
		}
		s.signs[spelled.sign]++
		keep(&s.signExample, text)
	}
	switch {
	case spelled.same:
		s.either++
		if !s.long {
			digits := bytes.TrimFunc(text, notDigit)
			s.long = len(digits) > 3 || bytes.ContainsFunc(digits, notDigit)
		}
	case !spelled.comma:
		s.point++
		keep(&s.pointExample, text)
	case !spelled.point:
		s.comma++
		keep(&s.commaExample, text)
	default:
		keep(&s.openExample, text)
		if bytes.IndexByte(text, ',') >= 0 {
			s.openComma++
		} else {
			s.openPoint++
		}
	}
}

// notDigit reports whether a character is none of 0 to 9.
func notDigit(r rune) bool { return r < '0' || r > '9' }

// mark returns the decimal mark of the numbers, "" where they have none, "both" where they contradict each
// other, or why they cannot be read unless the user says more.
func (s *spellings) mark(set Setting) (mark, refusal string) {
	trained := ""
	if set.Trained != nil {
		trained = set.Trained.Decimal
	}
	open := s.openPoint+s.openComma > 0
	switch {
	case s.point > 0 && s.comma > 0:
		return "both", ""
	case s.comma > 0:
		return ",", ""
	case s.point > 0:
		return ".", ""
	case set.Stated != "":
		return set.Stated, ""
	case !open:
		return trained, ""
	case set.Shown == "." || set.Shown == ",":
		return set.Shown, ""
	case trained != "":
		return trained, ""
	case s.openComma > 0:
		return "", fmt.Sprintf("numbers such as %s may have a decimal comma or one between thousands, and nothing in the data tells which: say --decimal ',' or --thousands ','", Quote(s.openExample))
	case s.either > 0 && !s.long:
		return "", fmt.Sprintf("every number with a point has three digits behind it, such as %s, and those without one are below 1,000, so that points may separate thousands: say --thousands . or --decimal .", Quote(s.openExample))
	case set.Shown == "both":
		return "", fmt.Sprintf("numbers such as %s may have a decimal point or one between thousands, and other columns have decimal commas and decimal points: say --decimal . or --decimal ','", Quote(s.openExample))
	}
	return "", ""
}
