package credence

import (
	"strings"
	"testing"
)

type speaker interface{ Speak() string }

type mute struct{}

func TestRequireSaysWhatIsMissing(t *testing.T) {
	_, err := Require[speaker]("exact", "likelihood", mute{})
	if err == nil || !strings.Contains(err.Error(), "exact: likelihood credence.mute has no Speak") {
		t.Fatalf("refusal reads %v", err)
	}
	if _, err := Require[speaker]("exact", "prior", nil); err == nil || !strings.Contains(err.Error(), "no prior") {
		t.Fatalf("refusal of nothing reads %v", err)
	}
}
