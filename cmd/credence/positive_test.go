package main

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
)

// The positive class is named, and shown, as the data write it; the case of booleans does not count.
func TestPositiveClassInTheWordsOfTheData(t *testing.T) {
	for _, words := range [][2]string{{"no", "yes"}, {"No", "Yes"}, {"FALSE", "TRUE"}, {"f", "t"}, {"false", "true"}, {"0", "1"}, {"-1", "1"}, {"cat", "dog"}} {
		data := file(t, "t.csv", "x,y\n"+strings.Repeat("1,"+words[0]+"\n2,"+words[1]+"\n3,"+words[1]+"\n4,"+words[0]+"\n2,"+words[1]+"\n", 4))
		var probability [2][]float64
		for k, word := range words {
			model := fitted(t, data, "--target", "y", "--positive", word)
			probability[k] = columnOf(t, must(t, "predict", model, data), "probability")
			if o := invoke(t, "", "predict", model, data); !strings.Contains(o.err, "probability is that of "+strings.ToLower(word)+"\n") {
				t.Errorf("%v: %s", words, o.err)
			}
			if out := must(t, "fit", data, "--target", "y", "--positive", word); !strings.Contains(out, "the positive class is "+strings.ToLower(word)+"\n") {
				t.Errorf("%v: %s", words, out)
			}
		}
		for i := range probability[0] {
			if math.Abs(probability[0][i]+probability[1][i]-1) > 1e-6 { // two fits, each to its own tolerance
				t.Fatalf("%v: row %d has the probabilities %g and %g", words, i+1, probability[0][i], probability[1][i])
			}
		}
		if out := must(t, "fit", data, "--target", "y"); !strings.Contains(out, "the positive class is "+strings.ToLower(words[1])+"\n") {
			t.Errorf("%v: %s", words, out)
		}
		learned := filepath.Join(t.TempDir(), "learned")
		must(t, "stream", data, "--target", "y", "-o", learned)
		if out := must(t, "inspect", learned); !strings.Contains(out, "the positive class is "+strings.ToLower(words[1])+"\n") {
			t.Errorf("%v, learned online: %s", words, out)
		}
		o := invoke(t, "", "fit", data, "--target", "y", "--positive", "bird")
		if want := "choose the positive class among " + strings.ToLower(words[0]+" and "+words[1]); o.code != exitFailed || !strings.Contains(o.err, want) {
			t.Errorf("exit %d: %s", o.code, o.err)
		}
	}
	o := invoke(t, "", "fit", "gone.csv", "--target", "y", "--family", "poisson", "--positive", "1")
	if o.code != exitMisuse || !strings.Contains(o.err, "--positive names a class, and family poisson has none") {
		t.Errorf("exit %d: %s", o.code, o.err)
	}
}

// The density of a class against all the rest is that of the class of the row, whether rows come from a file or a pipe.
func TestDensityOfAClassAgainstTheRest(t *testing.T) {
	text := repeat("x,y\n", 60, func(i int) string { return fmt.Sprintf("%d,%s\n", i%10, []string{"cat", "dog", "bird"}[i*i%7%3]) })
	data := file(t, "t.csv", text)
	for _, model := range []string{fitted(t, data, "--target", "y", "--positive", "dog"), fitted(t, data, "-f", "y ~ x", "--positive", "dog", "--engine", "sep")} {
		for way, out := range map[string]string{"file": must(t, "predict", model, data, "--density"), "pipe": invoke(t, text, "predict", model, "-", "--density").out} {
			probability, density := columnOf(t, out, "probability"), columnOf(t, out, "log_density")
			for i, line := range strings.Split(strings.TrimSpace(text), "\n")[1:] {
				want := 1 - probability[i]
				if strings.HasSuffix(line, "dog") {
					want = probability[i]
				}
				if !(math.Abs(math.Exp(density[i])-want) <= 1e-9) {
					t.Fatalf("%s: row %d, %s, has density %g, want %g", way, i+1, line, math.Exp(density[i]), want)
				}
			}
		}
	}
}
