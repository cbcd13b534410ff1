// Command same compares fits of two binaries: for every pair of model files with one name in two folders it says
// whether the bytes are the same, and else by how much the posteriors, the reports and the evaluations differ.
//
//	go run ./same NEW OLD
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/modelfile"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "same: give the folders of the new and of the old models")
		os.Exit(2)
	}
	paths, err := filepath.Glob(filepath.Join(os.Args[1], "*.safetensors"))
	if err == nil && len(paths) == 0 {
		err = fmt.Errorf("%s has no model", os.Args[1])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "same:", err)
		os.Exit(1)
	}
	fmt.Println("| fit | bytes | means, in SD | SD, relative | report, relative | where | evaluations |")
	fmt.Println("|---|---|---:|---:|---:|---|---|")
	for _, path := range paths {
		name := filepath.Base(path)
		line, err := compare(path, filepath.Join(os.Args[2], name))
		if err != nil {
			line = err.Error()
		}
		fmt.Printf("| %s | %s |\n", name[:len(name)-len(".safetensors")], line)
	}
}

// compare returns the columns of the line of one pair behind its name.
func compare(now, before string) (string, error) {
	var texts [2][]byte
	var fitted [2]*credence.Fitted
	for i, path := range []string{now, before} {
		var err error
		if texts[i], err = os.ReadFile(path); err != nil {
			return "", err
		}
		if fitted[i], err = modelfile.Load(path); err != nil {
			return "", err
		}
	}
	if bytes.Equal(texts[0], texts[1]) {
		return "same | 0 | 0 | 0 | | ", nil
	}
	if len(fitted[0].Members) != len(fitted[1].Members) || fitted[0].Report.Weights != fitted[1].Report.Weights {
		return fmt.Sprintf("other shape: %d members of %d weights, %d of %d", len(fitted[0].Members), fitted[0].Report.Weights, len(fitted[1].Members), fitted[1].Report.Weights), nil
	}
	d := fitted[0].Report.Weights
	mean, sd := 0.0, 0.0
	for i := range fitted[0].Members {
		var m, v [2][]float64
		for k := range 2 {
			m[k], v[k] = make([]float64, d), make([]float64, d)
			fitted[k].Members[i].Posterior.Marginals(m[k], v[k])
		}
		for j := range d {
			if m[0][j] != m[1][j] {
				mean = math.Max(mean, math.Abs(m[0][j]-m[1][j])/math.Sqrt(v[1][j]))
			}
			if v[0][j] != v[1][j] {
				sd = math.Max(sd, math.Abs(math.Sqrt(v[0][j]/v[1][j])-1))
			}
		}
	}
	var reports [2]map[string]any
	for i := range reports {
		text, err := json.Marshal(fitted[i].Report)
		if err != nil {
			return "", err
		}
		if err := json.Unmarshal(text, &reports[i]); err != nil {
			return "", err
		}
	}
	largest, where := differ(reports[0], reports[1], "")
	return fmt.Sprintf("differ | %.1e | %.1e | %.1e | %s | %d, %d", mean, sd, largest, where, fitted[0].Report.HyperEvaluations, fitted[1].Report.HyperEvaluations), nil
}

// differ returns the largest relative difference between the numbers of two documents, and its place. What only one of
// them has, and texts that differ, differ by infinity.
func differ(a, b any, place string) (largest float64, where string) {
	take := func(v float64, at string) {
		if v > largest {
			largest, where = v, at
		}
	}
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok {
			return math.Inf(1), place
		}
		for key := range b {
			if _, ok := a[key]; !ok {
				take(math.Inf(1), place+"."+key)
			}
		}
		for key := range a {
			take(differ(a[key], b[key], place+"."+key))
		}
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return math.Inf(1), place
		}
		for i := range a {
			take(differ(a[i], b[i], fmt.Sprintf("%s.%d", place, i)))
		}
	case float64:
		b, ok := b.(float64)
		if !ok {
			return math.Inf(1), place
		}
		if a != b {
			take(math.Abs(a-b)/math.Max(math.Abs(a), math.Abs(b)), place)
		}
	default:
		if a != b {
			return math.Inf(1), place
		}
	}
	return largest, where
}
