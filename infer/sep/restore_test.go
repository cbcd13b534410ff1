package sep

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/study"
	"github.com/credence-ml/credence/safetensors"
)

// machine is what is learned with.
type machine = credence.Online

// states are machines in the middle of their work, each with the function that restores it.
func states(t *testing.T, batch *credence.Batch) map[string]machine {
	t.Helper()
	all := map[string]machine{}
	for name, cfg := range map[string]Config{"sequential": {}, "mini-batches": {Batch: 50}, "forgetting": {Forget: 500}, "two passes": {Passes: 2}} {
		m := must.Value(NewOnline(cfg, Hyper{}))(t)
		m.Learn(batch, make([]float64, batch.Sparse.Rows))
		all[name] = m
	}
	return all
}

// restoreAny restores a machine from a document and tensors, through a file.
func restoreAny(t *testing.T, document []byte, tensors []safetensors.Tensor) (machine, error) {
	t.Helper()
	var file bytes.Buffer
	must.Succeed(t, safetensors.Write(&file, nil, tensors))
	r := must.Value(safetensors.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len())))(t)
	return RestoreOnline(document, r)
}

// leaves calls visit for every number and truth value of a document, with what changes it.
func leaves(path string, value any, visit func(path string, set func(any))) {
	walk := func(key string, inner any, set func(any)) {
		switch inner.(type) {
		case map[string]any, []any:
			leaves(key, inner, visit)
		default:
			visit(key, set)
		}
	}
	switch value := value.(type) {
	case map[string]any:
		for key, inner := range value {
			walk(path+"."+key, inner, func(v any) { value[key] = v })
		}
	case []any:
		for i, inner := range value {
			walk(fmt.Sprintf("%s.%d", path, i), inner, func(v any) { value[i] = v })
		}
	}
}

// A state in which any number was changed is refused, or learns on without a panic and in
// bounded time.
func TestHostileStates(t *testing.T) {
	if testing.Short() {
		t.Skip("a comparison of numbers: the race detector learns nothing from it")
	}
	rows, share, damages := 300, 5, 8 // of the values of a number one in share is tried
	if study.Long() {
		rows, share, damages = 1200, 1, 20
	}
	p := oneHotProblem(rows, []int{5, 40}, 3)
	batch := batchOf(p.x, p.y)
	values := []any{-1, 0, 1, 2, 1000, int64(1) << 31, int64(1) << 61, int64(1<<63 - 1), 0.5, 1e-300, 1e300, -1e300, true, nil}
	for name, m := range states(t, batch) {
		document, tensors, err := m.State()
		must.Succeed(t, err)
		if _, err := restoreAny(t, document, tensors); err != nil {
			t.Fatalf("%s: the state as it is: %v", name, err)
		}
		restores := func(what string, document []byte, tensors []safetensors.Tensor) {
			done := make(chan any, 1)
			go func() {
				defer func() { done <- recover() }()
				again, err := restoreAny(t, document, tensors)
				if err != nil {
					return
				}
				probability := make([]float64, batch.Sparse.Rows)
				again.Learn(batch, probability)
				again.EndPass()
				again.Learn(part(batch, 0, 70), probability)
				again.Finish()
				if _, _, err := again.State(); err != nil && !strings.Contains(err.Error(), "unsupported value") {
					panic(err)
				}
			}()
			select {
			case p := <-done:
				if p != nil {
					t.Errorf("%s: %s: panic: %v", name, what, p)
				}
			case <-time.After(time.Minute):
				t.Fatalf("%s: %s: learning does not end", name, what)
			}
		}
		parse := func() (doc any) {
			decoder := json.NewDecoder(bytes.NewReader(document))
			decoder.UseNumber()
			must.Succeed(t, decoder.Decode(&doc))
			return doc
		}
		var paths []string
		leaves("", parse(), func(path string, _ func(any)) { paths = append(paths, path) })
		slices.Sort(paths)
		for i, path := range paths {
			for k, value := range values {
				if (i+k)%share != 0 {
					continue
				}
				doc := parse()
				leaves("", doc, func(other string, set func(any)) {
					if other == path {
						set(value)
					}
				})
				text := must.Value(json.Marshal(doc))(t)
				restores(fmt.Sprintf("%s = %v", path, value), text, tensors)
			}
		}
		// A few numbers of each tensor, as bits.
		rng := rand.New(rand.NewPCG(5, 5))
		for i := range tensors {
			var content bytes.Buffer
			must.Succeed(t, tensors[i].Data(&content))
			size := tensors[i].DType.Size()
			for range damages {
				if content.Len() == 0 {
					break
				}
				damaged := slices.Clone(content.Bytes())
				at := rng.IntN(len(damaged)/size) * size
				bits := []uint64{0, 1, 2, 3, 0x7fc00000, 1<<31 - 1, 1 << 31, 1<<32 - 1, 0x7ff8 << 48, 1 << 63, 1<<64 - 1, 0xbff << 52}[rng.IntN(12)]
				var word [8]byte
				binary.LittleEndian.PutUint64(word[:], bits)
				copy(damaged[at:at+size], word[:])
				changed := slices.Clone(tensors)
				changed[i].Data = func(w io.Writer) error { _, err := w.Write(damaged); return err }
				restores(fmt.Sprintf("%s at %d = %x", tensors[i].Name, at/size, bits), document, changed)
			}
		}
	}
}

// The messages of states that no learner has.
func TestStatesRefused(t *testing.T) {
	p := oneHotProblem(1200, []int{5, 40}, 3)
	batch := batchOf(p.x, p.y)
	all := states(t, batch)
	for _, c := range []struct{ state, old, replacement, want string }{
		{"sequential", `"next_hyper":1702`, `"next_hyper":0`, "1200 rows, and the prior is learned at 0"},
		{"sequential", `"next_hyper":1702`, `"next_hyper":1`, "1200 rows, and the prior is learned at 1"},
		{"sequential", `"next_hyper":1702`, `"next_hyper":1200`, "1200 rows, and the prior is learned at 1200"},
		{"sequential", `"rows":1200`, `"rows":-1`, "-1 rows"},
		{"sequential", `"features":45`, `"features":44`, "and 44 of which"},
		{"sequential", `"selected":`, `"selected":1`, "were counted"},
		{"sequential", `"Inclusion":{}`, `"Inclusion":{"value":2,"state":2}`, "inclusion 2 is not a probability"},
		{"sequential", `"Slab":{}`, `"Slab":{"value":1,"state":9}`, "slab is in the unknown state 9"},
		{"sequential", `"skipped_cavities":0`, `"skipped_cavities":-1`, "-1 skipped cavities"},
		{"sequential", `"bias_lambda":[`, `"bias_lambda":[-1e9,`, "the bias is no distribution"},
		{"mini-batches", `"batches":`, `"batches":-`, "batches and"},
	} {
		document, tensors, err := all[c.state].State()
		must.Succeed(t, err)
		if !strings.Contains(string(document), c.old) {
			t.Fatalf("%s: %s is not in %s", c.state, c.old, document)
		}
		_, err = restoreAny(t, []byte(strings.ReplaceAll(string(document), c.old, c.replacement)), tensors)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s with %s: %v, want an error about %q", c.state, c.replacement, err, c.want)
		}
	}
}

// A state that lacks the sums of features is of an earlier version.
func TestStateOfEarlierVersion(t *testing.T) {
	p := oneHotProblem(300, []int{5, 40}, 3)
	document, tensors, err := states(t, batchOf(p.x, p.y))["sequential"].State()
	must.Succeed(t, err)
	tensors = slices.DeleteFunc(tensors, func(t safetensors.Tensor) bool { return t.Name == "sep.sums" })
	if _, err := restoreAny(t, document, tensors); err == nil || !strings.Contains(err.Error(), "an earlier version wrote it: begin anew") {
		t.Errorf("the state is taken, error %v", err)
	}
}
