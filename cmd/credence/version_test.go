package main

import (
	"runtime"
	"strings"
	"testing"

	"github.com/credence-ml/credence/internal/kernel"
)

// TestVersionCommand: the command says what the flag says, and what the kernels run on.
func TestVersionCommand(t *testing.T) {
	flag, command := must(t, "--version"), must(t, "version")
	if flag != command || !strings.Contains(flag, runtime.Version()) {
		t.Errorf("--version prints %q, version %q", flag, command)
	}
	if cpu := must(t, "version", "--cpu"); !strings.HasPrefix(cpu, command) || !strings.Contains(cpu, kernel.Detected().String()+" instructions") {
		t.Errorf("%q", cpu)
	}
	if b := decode(t, must(t, "version", "--json")); b["instructions"] != kernel.Detected().String() || b["platform"] != runtime.GOOS+"/"+runtime.GOARCH {
		t.Errorf("%v", b)
	}
}
