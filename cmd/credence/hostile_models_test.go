package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence/safetensors"
)

// sealed is a model file or checkpoint taken apart, so that it can be put together again with something
// else in it and a digest that is right.
type sealed struct {
	key      string // of the document in the metadata
	document string
	tensors  []safetensors.Tensor
	content  [][]byte // of the tensors
}

func takeApart(t *testing.T, path string) *sealed {
	t.Helper()
	all := sure(os.ReadFile(path))(t)
	size := binary.LittleEndian.Uint64(all)
	var header map[string]json.RawMessage
	if err := json.Unmarshal(all[8:8+size], &header); err != nil {
		t.Fatal(err)
	}
	var metadata map[string]string
	json.Unmarshal(header["__metadata__"], &metadata)
	s := &sealed{}
	for key, value := range metadata {
		if strings.HasPrefix(value, "{") {
			s.key, s.document = key, value
		}
	}
	names := slices.Sorted(maps.Keys(header))
	for _, name := range names {
		raw := header[name]
		var of struct {
			DType   safetensors.DType `json:"dtype"`
			Shape   []int             `json:"shape"`
			Offsets [2]uint64         `json:"data_offsets"`
		}
		if name == "__metadata__" {
			continue
		}
		if err := json.Unmarshal(raw, &of); err != nil {
			t.Fatal(err)
		}
		s.tensors = append(s.tensors, safetensors.Tensor{Name: name, DType: of.DType, Shape: of.Shape})
		s.content = append(s.content, all[8+size+of.Offsets[0]:8+size+of.Offsets[1]])
	}
	return s
}

// hostileValues are put in the place of any other of a document, hostileNumbers in that of any of a tensor.
var (
	hostileValues = []string{"-1", "0", "1", "2", "0.5", "1e300", "-1e300", "1e-300", "2147483648", "9223372036854775807", `""`, `"x"`, `"drop"`, "true", "null", "[]", "{}"}
	hostileBits   = []uint64{0, 1, math.MaxUint64, 1 << 63, math.Float64bits(1), math.Float64bits(-1), math.Float64bits(1e308), math.Float64bits(-1e308),
		math.Float64bits(math.Inf(1)), math.Float64bits(math.NaN()), math.Float64bits(1e-308), 1 << 40}
)

// mutant writes the file with one or two things changed, in its document or its tensors, and says which.
func (s *sealed) mutant(t *testing.T, rng *rand.Rand, path string) (what string) {
	t.Helper()
	document, tensors := s.document, append([]safetensors.Tensor(nil), s.tensors...)
	content := make([][]byte, len(s.content))
	for i := range content {
		content[i] = bytes.Clone(s.content[i])
	}
	for range 1 + rng.IntN(2) {
		if rng.IntN(2) == 0 || len(tensors) == 0 {
			document, what = replaced(t, rng, document, what)
			continue
		}
		k := rng.IntN(len(tensors))
		size := tensors[k].DType.Size()
		if count := len(content[k]) / size; count > 0 && rng.IntN(6) > 0 {
			at, bits := rng.IntN(count), hostileBits[rng.IntN(len(hostileBits))]
			var word [8]byte
			binary.LittleEndian.PutUint64(word[:], bits)
			copy(content[k][at*size:(at+1)*size], word[:size])
			what += fmt.Sprintf("%s[%d] = %x; ", tensors[k].Name, at, bits)
		} else { // another shape
			content[k], tensors[k].Shape = content[k][:len(content[k])/2/size*size], []int{len(content[k]) / 2 / size}
			what += fmt.Sprintf("half of %s; ", tensors[k].Name)
		}
	}
	for i := range tensors {
		tensors[i].Data = func(w io.Writer) error { _, err := w.Write(content[i]); return err }
	}
	var out bytes.Buffer
	if err := safetensors.Write(&out, map[string]string{s.key: document}, tensors); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return what
}

// replaced puts a hostile value in the place of one that is chosen by walking down from the root.
func replaced(t *testing.T, rng *rand.Rand, document, before string) (changed, what string) {
	t.Helper()
	var root any
	decoder := json.NewDecoder(strings.NewReader(document))
	decoder.UseNumber()
	if err := decoder.Decode(&root); err != nil {
		t.Fatal(err)
	}
	value := json.RawMessage(hostileValues[rng.IntN(len(hostileValues))])
	what, at := before, root
	for depth := 0; ; depth++ {
		var set func(any)
		var inner any
		switch node := at.(type) {
		case map[string]any:
			keys := make([]string, 0, len(node))
			for key := range node {
				keys = append(keys, key)
			}
			if len(keys) == 0 {
				return document, what
			}
			slices.Sort(keys)
			key := keys[rng.IntN(len(keys))]
			set, inner = func(v any) { node[key] = v }, node[key]
			what += "." + key
		case []any:
			if len(node) == 0 {
				return document, what
			}
			k := rng.IntN(len(node))
			set, inner = func(v any) { node[k] = v }, node[k]
			what += fmt.Sprintf(".%d", k)
		default:
			return document, what
		}
		_, object := inner.(map[string]any)
		_, list := inner.([]any)
		if !object && !list || rng.IntN(8) == 0 {
			set(value)
			what += fmt.Sprintf(" = %s; ", value)
			break
		}
		at = inner
	}
	text := sure(json.Marshal(root))(t)
	return string(text), what
}

// noNumber is what output must not hold.
var noNumber = regexp.MustCompile(`\b(NaN|[Ii]nf(inity)?)\b`)

// Files whose digest is right and whose content is not, of every kind of model and of checkpoint: every command refuses
// them in one line that names a file, or ends with numbers.
func TestHostileModels(t *testing.T) {
	count, folder := newTally(t), t.TempDir()
	data := file(t, "houses.csv", houses(60))
	few := file(t, "few.csv", houses(12))
	clicks := file(t, "clicks.csv", "y,a,b,x,t\n"+repeat("", 600, func(i int) string { return fmt.Sprintf("%d,u%d,v%d,%d,%d\n", label(i), i%91, i%7, i%5, i/60) }))
	counts := file(t, "counts.csv", "n,x,z,k,g\n"+repeat("", 80, func(i int) string {
		return fmt.Sprintf("%d,%d,%g,%d,%d\n", (i*7)%5, i%9, math.Sin(float64(i)), label(i*i/7), 5+i%3)
	}))
	var files []struct{ path, data string }
	add := func(data string, args ...string) {
		path := filepath.Join(folder, fmt.Sprintf("%d.safetensors", len(files)))
		must(t, append(args, data, "-o", path, "-q")...)
		files = append(files, struct{ path, data string }{path, data})
	}
	add(data, "fit", "--target", "price")
	add(data, "fit", "-f", "log(price) ~ . + rbf(size, n=8) + size:garden")
	add(few, "fit", "-f", "price ~ . + rbf(size, n=40)")
	add(counts, "fit", "--target", "n", "--family", "poisson", "--engine", "svi(components=3)")
	add(counts, "fit", "--target", "n", "--family", "ordinal")
	add(counts, "fit", "--target", "n", "--family", "negbinomial")
	add(counts, "fit", "-f", "k ~ x + z", "--family", "binomial(trials=g)")
	add(counts, "fit", "--target", "k")
	add(counts, "fit", "-f", "g ~ x + z", "--family", "gamma")
	add(counts, "fit", "-f", "k ~ x + z", "--engine", "convex")
	add(counts, "fit", "-f", "k ~ x + z", "--engine", "ep")
	add(data, "fit", "--target", "price", "--family", "studentt")
	add(data, "fit", "--target", "price", "--engine", "lasso")
	add(data, "fit", "--target", "price", "--prior", "horseshoe", "--engine", "gibbs(sweeps=60)")
	add(data, "select", "--target", "price", "--engine", "gibbs(flips=200)")
	add(data, "select", "--target", "price", "--engine", "laplace")
	add(data, "fit", "--target", "price", "--prior", "laplace")
	held := file(t, "held.csv", houses(90))
	for _, of := range []int{0, 7} { // numbers and classes
		path, args := filepath.Join(folder, fmt.Sprintf("%d.safetensors", len(files))), []string{"calibrate", files[of].path, held}
		if of == 0 {
			args = append(args, "--by", "garden")
		} else {
			args[2] = file(t, "classes.csv", "n,x,z,k,g\n"+repeat("", 90, func(i int) string {
				return fmt.Sprintf("%d,%d,%g,%d,%d\n", i%5, i%8, math.Cos(float64(i)), label(i), 5+i%3)
			}))
		}
		must(t, append(args, "-o", path, "-q")...)
		files = append(files, struct{ path, data string }{path, files[of].data})
	}
	streams := len(files)
	for _, engine := range []string{"sep", "sep(batch=50)", "sep(half_life=3)", "sep(features=60)", "ftrl", "ftrl(alpha=0.1)", "adpredictor", "sgd"} {
		args := []string{"stream", "-f", "y ~ . - t + hash(a:b)", "--engine", engine}
		if strings.Contains(engine, "half") {
			args = append(args, "--time", "t")
		}
		add(clicks, args...)
	}
	mutants := 8
	switch {
	case hostileEverything():
		mutants = 80 // 2,000 of models, 1,280 of checkpoints
	case testing.Short():
		mutants = 3
	}
	rng := rand.New(rand.NewPCG(16, 1))
	mutant, result := filepath.Join(folder, "mutant.safetensors"), filepath.Join(folder, "result.safetensors")
	const places = ".safetensors|.csv"
	numbers := func(o outcome) error {
		if found := noNumber.FindString(o.out); found != "" {
			return fmt.Errorf("%s in %.300s", found, o.out)
		}
		return nil
	}
	for _, f := range files {
		of := takeApart(t, f.path)
		for k := range mutants {
			what := of.mutant(t, rng, mutant)
			commands := [][]string{
				{"predict", mutant, f.data, "-q"}, {"evaluate", mutant, f.data, "--json"}, {"inspect", mutant, "--json"}, {"compare", f.path, mutant, f.data, "--json"},
				{"predict", mutant, f.data, "--samples", "2", "--latent", "-q"}, {"active", "rank", mutant, f.data}, {"inspect", mutant}, {"evaluate", mutant, f.data},
			}
			count.check(what, "", places, numbers, commands[k%len(commands)]...)
		}
	}
	// A run goes on from a checkpoint, another starts from one, and a fit that is there takes one up.
	again := func(checkpoint string, args func(k int) []string) {
		of := takeApart(t, checkpoint)
		for k := range mutants {
			what := of.mutant(t, rng, mutant+".checkpoint")
			args := append(args(k), "-q", "-o", result)
			os.Remove(result)
			if o := count.check(what, "", places, numbers, args...); o.code == exitDone && args[0] != "active" {
				count.check(what, "", places, numbers, "predict", result, args[1])
			}
		}
	}
	for _, f := range files[streams:] {
		again(f.path+".checkpoint", func(k int) []string {
			if k%2 == 1 {
				return []string{"stream", f.data, "--from", mutant}
			}
			if err := os.Rename(mutant+".checkpoint", result+".checkpoint"); err != nil {
				t.Fatal(err)
			}
			return []string{"stream", f.data, "--resume"}
		})
	}
	for i, args := range [][]string{
		{"fit", data, "--target", "price", "--engine", "svi", "--prior", "normal"}, {"fit", data, "--target", "price", "--engine", "svi(batch=16, epochs=4)"},
		{"fit", counts, "--target", "n", "--family", "poisson", "--engine", "svi(components=3)"}, {"fit", data, "--target", "price", "--engine", "laplace", "--prior", "normal"},
		{"select", data, "--target", "price", "--engine", "gibbs(flips=200)"}, {"select", data, "--target", "price", "--engine", "ep"}, {"select", data, "--target", "price", "--engine", "laplace"},
	} {
		made := filepath.Join(folder, fmt.Sprintf("made.%d", i))
		must(t, append(slices.Clone(args), "--checkpoint", made, "-q", "-o", result)...)
		again(made, func(int) []string { return append(slices.Clone(args), "--checkpoint", mutant+".checkpoint") })
	}
}

// A posterior whose variances overflow has no degrees of freedom, and inspect ends all the same.
func TestHostileDegrees(t *testing.T) {
	count, path := newTally(t), filepath.Join(t.TempDir(), "m.safetensors")
	must(t, "fit", "-f", "price ~ . + rbf(size, n=40)", file(t, "few.csv", houses(12)), "-o", path, "-q")
	s := takeApart(t, path)
	for i, tensor := range s.tensors {
		content := bytes.Clone(s.content[i])
		switch tensor.Name {
		case "member.0.posterior.design":
			binary.LittleEndian.PutUint64(content[652*8:], math.Float64bits(1e308))
		case "member.12.posterior.differences":
			binary.LittleEndian.PutUint64(content[364*8:], math.Float64bits(-1e308))
		}
		s.tensors[i].Data = func(w io.Writer) error { _, err := w.Write(content); return err }
	}
	var out bytes.Buffer
	if err := safetensors.Write(&out, map[string]string{s.key: s.document}, s.tensors); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	count.check("values that overflow", "", "", nil, "inspect", path)
}
