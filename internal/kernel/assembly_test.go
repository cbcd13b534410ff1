package kernel

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A processor with AVX2 alone ends the program at the first instruction of
// AVX-512, and one with both runs it: no result of a test tells them apart
// there. Where registers run out the generator takes the upper sixteen, which
// only AVX-512 encodes, and does not say so among what a function requires.
func TestAVX2RunsWithoutAVX512(t *testing.T) {
	files, err := filepath.Glob("*_amd64.s")
	if err != nil {
		t.Fatal(err)
	}
	function := regexp.MustCompile(`^TEXT ·(\w+)\(SB\)`)
	wide := regexp.MustCompile(`\b([XY](1[6-9]|2\d|3[01])|Z\d+|K[0-7])\b`)
	narrow := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name, required := "", ""
		for i, line := range strings.Split(string(text), "\n") {
			if strings.HasPrefix(line, "// Requires:") {
				required = line
			}
			if m := function.FindStringSubmatch(line); m != nil {
				if name = m[1]; strings.HasSuffix(name, "AVX2") {
					narrow++
					if strings.Contains(required, "AVX512") {
						t.Errorf("%s: %s requires more than AVX2: %s", file, name, required)
					}
				}
				required = ""
				continue
			}
			if strings.HasSuffix(name, "AVX2") && wide.MatchString(line) {
				t.Errorf("%s:%d: %s has an instruction of AVX-512: %s", file, i+1, name, strings.TrimSpace(line))
			}
		}
	}
	if narrow < 20 {
		t.Errorf("%d functions of AVX2 were read; there are more", narrow)
	}
}
