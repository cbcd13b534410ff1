package parquet

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/gob"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	parquetgo "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/credence-ml/credence/internal/conform/bombs"
)

// oracle is the environment variable that has the mutants which parquet-go reads, in a process of its own: it may die
// of them.
const oracle = "CREDENCE_PARQUET_ORACLE"

// told is how a column of a file is told: how many rows it has and what their cells are.
func told(cells []string) string {
	h := fnv.New64a()
	for _, c := range cells {
		fmt.Fprintf(h, "%d:%s", len(c), c)
	}
	return fmt.Sprintf("%d=%x", len(cells), h.Sum64())
}

// libraryCells are those of a column as parquet-go reads it.
func libraryCells(f *parquetgo.File, column int) (texts []string, err error) {
	for _, g := range f.RowGroups() {
		pages := g.ColumnChunks()[column].Pages()
		defer pages.Close()
		for {
			page, err := pages.ReadPage()
			if err == io.EOF {
				break
			} else if err != nil {
				return nil, err
			}
			in, buffer := page.Values(), make([]parquetgo.Value, 100)
			for {
				n, err := in.ReadValues(buffer)
				for _, v := range buffer[:n] {
					text := ""
					switch {
					case v.IsNull():
					case v.Kind() == parquetgo.Boolean:
						text = fmt.Sprint("=", v.Boolean())
					case v.Kind() == parquetgo.Int32:
						text = fmt.Sprint("=", v.Int32())
					case v.Kind() == parquetgo.Int64:
						text = fmt.Sprint("=", v.Int64())
					case v.Kind() == parquetgo.Float:
						text = fmt.Sprint("=", v.Float())
					case v.Kind() == parquetgo.Double:
						text = fmt.Sprint("=", v.Double())
					case v.Kind() == parquetgo.Int96:
						text = fmt.Sprint("=", v.Int96())
					default:
						text = "=" + string(v.ByteArray())
					}
					texts = append(texts, text)
				}
				if err == io.EOF {
					break
				} else if err != nil {
					return nil, err
				}
			}
		}
	}
	return texts, nil
}

// TestOracle tells what parquet-go reads of mutants, a line for each.
func TestOracle(t *testing.T) {
	path := os.Getenv(oracle)
	if path == "" {
		return // it is TestMutants that asks
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	in := gob.NewDecoder(bufio.NewReader(file))
	for {
		var index int
		var content []byte
		if in.Decode(&index) != nil || in.Decode(&content) != nil {
			fmt.Println()
			return
		}
		watch := time.AfterFunc(20*time.Second, func() { os.Exit(3) })
		fmt.Printf("\noracle %d", index)
		func() {
			defer func() {
				if recover() != nil {
					fmt.Print(" -")
				}
			}()
			f, err := parquetgo.OpenFile(bytes.NewReader(content), int64(len(content)), parquetgo.SkipPageIndex(true), parquetgo.SkipBloomFilters(true))
			if err != nil {
				return
			}
			for j := range f.Schema().Columns() {
				if cells, err := libraryCells(f, j); err == nil {
					fmt.Print(" ", told(cells))
				} else {
					fmt.Print(" -")
				}
			}
		}()
		watch.Stop()
	}
}

// library returns what parquet-go tells of the columns of mutants, nothing of those of which it dies.
func library(t *testing.T, mutants [][]byte) map[int][]string {
	lines, path := map[int][]string{}, filepath.Join(t.TempDir(), "mutants")
	for begin := 0; begin < len(mutants); {
		file, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		out := gob.NewEncoder(file)
		for i := begin; i < len(mutants); i++ {
			out.Encode(i)
			out.Encode(mutants[i])
		}
		file.Close()
		child := exec.Command("sh", "-c", `ulimit -v 4000000 2>/dev/null; exec "$0" -test.run '^TestOracle$'`, os.Args[0])
		child.Env = append(os.Environ(), oracle+"="+path)
		text, err := child.Output()
		last := begin - 1
		for line := range strings.Lines(string(text)) {
			var index int
			if n, _ := fmt.Sscanf(line, "oracle %d", &index); n == 1 {
				lines[index], last = strings.Fields(line)[2:], index
			}
		}
		if err == nil {
			return lines
		}
		delete(lines, last) // of which it died
		begin = max(begin, last) + 1
	}
	return lines
}

// Mutants of what many programs wrote are refused, or read as parquet-go reads them, within the memory of a few pages.
// With CREDENCE_HOSTILE they are 30,000.
func TestMutants(t *testing.T) {
	files := bombs.Written(120_000)
	files["parquet-go"] = encoded(t, rows(300))
	files["parquet-go, version 1"] = encoded(t, rows(300), parquetgo.DataPageVersion(1), parquetgo.PageBufferSize(500))
	files["parquet-go, brotli"] = encoded(t, rows(300), parquetgo.Compression(&parquetgo.Brotli))
	var own bytes.Buffer
	w := NewWriter(&own, []string{"x", "t"}, []bool{false, true})
	for i := range 300 {
		w.Number(0, math.Sqrt(float64(i)))
		w.Text(1, []byte(strings.Repeat("t", i%5)))
		w.EndRow()
	}
	w.Close()
	files["credence"] = own.Bytes()
	names := slices.Sorted(maps.Keys(files))
	n, batch := 200, 500
	if os.Getenv("CREDENCE_HOSTILE") != "" {
		n = 30_000
	}
	rng, counts := rand.New(rand.NewPCG(1, 27)), map[string]int{}
	for begin := 0; begin < n; begin += batch {
		mutants, from := [][]byte(nil), []string(nil)
		for range min(batch, n-begin) {
			name := names[rng.IntN(len(names))]
			mutants, from = append(mutants, bombs.Mutant(rng, files[name])), append(from, name)
		}
		theirs := library(t, mutants)
		for i, content := range mutants {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			begun, read := time.Now(), 0
			f, err := Open(bytes.NewReader(content), int64(len(content)))
			if err == nil && f.Rows > 100_000 { // as it says
				err = drain(f, 100_000)
				f.Columns = nil
			}
			if err == nil {
				for j, c := range f.Columns {
					if c.Repetition > 0 || c.Type == format.FixedLenByteArray {
						continue
					}
					got, bad := cells(f, j)
					if err = cmp.Or(err, bad); bad != nil {
						continue
					}
					read++
					if len(got) == 0 {
						continue
					} else if header, err := group(f, 0).Pages(j).header(); err == nil && header.DataPageHeader.V.DefinitionLevelEncoding == format.BitPacked {
						continue // parquet-go takes a length for the first levels
					}
					// else it has other rows than the file says
					if want := theirs[i]; j < len(want) && strings.HasPrefix(want[j], fmt.Sprintf("%d=", f.Rows)) {
						counts["columns compared"]++
						if ours := told(got); ours != want[j] {
							counts["columns that differ"]++
							t.Logf("mutant %d of %s: column %s is %s, parquet-go has %s", begin+i, from[i], c.Name, ours, want[j])
							save(begin+i, content)
						}
					}
				}
			}
			runtime.ReadMemStats(&after)
			if err != nil {
				counts["refused"]++
			} else {
				counts["read"]++
			}
			if _, alive := theirs[i]; !alive {
				counts["parquet-go died"]++
			}
			if taken := (after.TotalAlloc - before.TotalAlloc) >> 20; taken > 150 {
				t.Errorf("mutant %d of %s takes %d MB: %v", begin+i, from[i], taken, err)
				save(begin+i, content)
			}
			if took := time.Since(begun); took > time.Minute {
				t.Errorf("mutant %d of %s takes %v", begin+i, from[i], took)
			}
		}
	}
	t.Logf("hostile: %d mutants of %d files: %v", n, len(files), counts)
	// Of 30,000, parquet-go read four otherwise than the format says: texts that begin like others, where one adds
	// nothing, and decimals.
	if counts["columns that differ"] > n/5000 {
		t.Errorf("%d columns differ from what parquet-go reads", counts["columns that differ"])
	}
	if counts["refused"] < n/5 || counts["read"] < n/20 || counts["columns compared"] < n/4 {
		t.Errorf("%v", counts)
	}
}

// save keeps a mutant that failed, where the environment names a folder.
func save(index int, content []byte) {
	if folder := os.Getenv("CREDENCE_MUTANTS"); folder != "" {
		os.WriteFile(filepath.Join(folder, fmt.Sprintf("%d.parquet", index)), content, 0o600)
	}
}
