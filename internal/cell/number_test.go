package cell

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// requireNumber compares the fast way, where it decides, and the slow way with
// strconv bit for bit.
func requireNumber(t *testing.T, text string) {
	t.Helper()
	want, err := strconv.ParseFloat(text, 64)
	fast, next, ok := ScanNumber([]byte(text+"\n"), 0)
	if ok && next == len(text) {
		if err != nil {
			t.Fatalf("%q is read as %g; strconv says %v", text, fast, err)
		}
		if math.Float64bits(fast) != math.Float64bits(want) {
			t.Fatalf("%q is read as %x, want %x", text, math.Float64bits(fast), math.Float64bits(want))
		}
	}
	slow, finite, isNumber := ParseNumber([]byte(text))
	if isNumber && finite && (err != nil || math.Float64bits(slow) != math.Float64bits(want)) {
		t.Fatalf("%q is read slowly as %g; strconv says %g, %v", text, slow, want, err)
	}
	if isNumber && !finite && !math.IsInf(want, 0) {
		t.Fatalf("%q is called infinite; strconv says %g, %v", text, want, err)
	}
	if !isNumber && err == nil && !strings.ContainsAny(text, "xXnN_") {
		t.Fatalf("%q is refused; strconv says %g", text, want)
	}
}

func TestNumbersRoundExactly(t *testing.T) {
	for _, text := range []string{
		"0", "-0", "1", "+1", "007", ".5", "5.", "-.5e1", "1e22", "1e23", "1e-22", "1e-23", "1e300", "1e-300", "1e100", "1e1000", "-1e-1000", "1e0000308", "1e-12345", "1e308", "1e309", "-1e999",
		"4.9e-324", "2e-324", "1e-400", "9007199254740993", "9007199254740992.5", "18446744073709551615", "18446744073709551616",
		"9999999999999999999", "0.9999999999999999999", "0.00000000000000000001", "1.0000000000000002220446049250313", "0e99999999999999999999",
		"1e99999999999999999999", "", ".", "-", "e5", "1e", "1e+", "1.2.3", "0x1p4", "1_000", "inf", "-Infinity", "nan", "infinit", "1,5", " 1", "1 ",
		// Halfway between two float64, and one part in 10^19 beside it.
		"0.5000000000000000555", "1.1102230246251565", "4503599627370497.5", "4503599627370496.5", "450359962737049.65",
	} {
		requireNumber(t, text)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	count := 300_000
	if testing.Short() {
		count = 50_000
	}
	for range count {
		// Shortest forms, which need up to 17 digits, and fixed ones of any length.
		value := math.Float64frombits(rng.Uint64())
		requireNumber(t, strconv.FormatFloat(value, 'g', -1, 64))
		value = rng.NormFloat64() * math.Pow(10, float64(rng.IntN(9)-4))
		requireNumber(t, strconv.FormatFloat(value, 'f', -1, 64))
		requireNumber(t, strconv.FormatFloat(value, 'f', rng.IntN(20), 64))
		digits := fmt.Sprintf("%019d", rng.Uint64N(1e19))
		point := rng.IntN(20)
		requireNumber(t, digits[:point]+"."+digits[point:])
		// Exact ties: an odd multiple of half a unit in the last place has a
		// finite decimal expansion.
		requireNumber(t, fmt.Sprintf("%d.5", 1<<52+rng.Uint64N(1<<52)))
	}
}

func TestBooleans(t *testing.T) {
	for text, want := range map[string]float64{"true": 1, "FALSE": 0, "Yes": 1, "no": 0, "t": 1, "F": 0, "1": 1, "0": 0, "y": 1, "N": 0} {
		if got, ok := ParseBoolean([]byte(text)); !ok || got != want {
			t.Errorf("%q is read as %g, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "2", "tru", "on", "ja", "falsch"} {
		if _, ok := ParseBoolean([]byte(text)); ok {
			t.Errorf("%q is taken for a boolean", text)
		}
	}
}

// Whole numbers are levels with all their digits, as files have them.
func TestAppendLevel(t *testing.T) {
	for want, v := range map[string]float64{"1234567": 1234567, "-20240229": -20240229, "9007199254740991": 1<<53 - 1, "9.007199254740992e+15": 1 << 53, "0.5": 0.5, "1.2345675e+06": 1234567.5, "+Inf": math.Inf(1)} {
		if got := string(AppendLevel(nil, v, 64)); got != want {
			t.Errorf("%v is the level %s, want %s", v, got, want)
		}
	}
	if got := string(AppendLevel([]byte("x="), float64(float32(0.1)), 32)); got != "x=0.1" {
		t.Errorf("a number of 32 bits is the level %s", got)
	}
}

func FuzzNumber(f *testing.F) {
	for _, seed := range []string{"1.5", "-0.12345678901234567", "1e-30", "12345678.12345678e2", "+.e1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !strings.ContainsAny(text, "\n") {
			requireNumber(t, text)
		}
	})
}

// Digits are read as strconv reads them, whatever follows.
func TestDigits(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		var text [8]byte
		for i := range text {
			text[i] = byte('0' + rng.IntN(10))
			if rng.IntN(6) == 0 {
				text[i] = byte(rng.IntN(256))
			}
		}
		end := 0
		for end < 8 && text[end] >= '0' && text[end] <= '9' {
			end++
		}
		want, _ := strconv.ParseUint(string(text[:end]), 10, 64)
		if value, count := Digits(text[:]); value != want || count != end {
			t.Fatalf("%q is %d in %d digits, want %d in %d", text, value, count, want, end)
		}
	}
}
