package formula

import (
	"errors"
	"os"
	"testing"

	"github.com/credence-ml/credence/spec"
)

// What is wrong whatever the table is found without one, in the words that Parse
// has for it; what depends on the table is left to Parse.
func TestCheckNeedsNoTable(t *testing.T) {
	for _, text := range []string{
		"price ~ lat +", "price ~ rbg(lat)", "price ~ log(cube(lat))", "price ~ lat + price", "price ~ log(price)",
		"log(price) ~ rbf(price)", "price ~ log(lat, lon)", "price ~ log(.)", "price ~ log(lat, base=2)", "rbf(lat) ~ .",
		"price ~ rbf()", "price ~ rbf(lat - lon)", "price ~ rbf(lat, n=0)", "price ~ rbf(., n=1.5)", "price ~ rbf(lat, kind=foo)",
		"price ~ cauchy(lat, kind=fastfood)", "price ~ laplacian(., kind=orthogonal)", "price ~ rbf(lat, lengthscale=-1)",
		"price ~ rbf(lat, lon, lengthscale=[1, 2, 3])", "price ~ rbf(., lengthscale=[1, 2], ard=false)", "price ~ rbf(lat, widht=1)",
		"price ~ rbf(lat, n=2, frequencies=@gone.csv)", "price ~ spectral(lat, components=21)", "price ~ hsgp(lat, m=1, boundary=0)", "price ~ lat + hash(zip, bits=64)", "price ~ hash(log(zip))", "price ~ hash(price)",
		"price ~ rbf(lat) * lon", "price ~ lat:poly(lon, 2)", "price ~ lat:lat", "price ~ poly(lat)", "price ~ poly(lat, 21)",
		"price ~ radial(lat, centres=0)", "price ~ onehot(zip, type)", "price ~ offset(lat, lon)",
		"price ~ weight(lat) + weight(lon)", "price ~ weight(scale(lat))", "price ~ 0",
	} {
		var found, want *spec.Error
		if _, err := Check(text, Options{ReadFile: os.ReadFile}); !errors.As(err, &found) {
			t.Errorf("%s: %v, want a refusal", text, err)
			continue
		}
		_, err := Parse(text, houses(1).Schema(), Options{ReadFile: os.ReadFile})
		if !errors.As(err, &want) || found.Error() != want.Error() || found.Caret() != want.Caret() {
			t.Errorf("%s: without a table\n%v, with one\n%v", text, found, err)
		}
	}
	for _, c := range []struct{ text, target string }{
		{"", ""}, {"lat", ""}, {".", "price"}, {".", "log(price)"}, {"log(price) ~ .", "log(price)"}, {".", "a column: by (this) name"},
		{"y ~ x9", ""}, {"price ~ . - idd", ""}, {"price ~ log(zip)", ""}, {"zip ~ .", ""}, {"price ~ onehot(rooms):lat", ""},
		{"price ~ rbf(., lengthscale=[1, 2, 3])", ""}, {"price ~ rbf(. - lat, lengthscale=[1, 2])", ""}, {"price ~ rbf(lat, frequencies=@gone.csv)", ""},
		{"price ~ . - lat - lon + onehot(zip) + zip:lat", ""}, {"price ~ .:lat", ""}, {"price ~ poly(., 3) + offset(log(lon)) + weight(new)", ""},
	} {
		if _, err := Check(c.text, Options{Target: c.target, ReadFile: os.ReadFile}); err != nil {
			t.Errorf("%s (target %q) is refused without a table: %v", c.text, c.target, err)
		}
	}
}
