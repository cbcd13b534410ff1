package dataset

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/study"
)

const (
	benchRows    = 200_000
	benchColumns = 20
)

// benchmarkLoad reports rows per second of processor time, all threads added.
func benchmarkLoad(b *testing.B, path string, options Options) {
	options.CacheDir = b.TempDir()
	table, err := Open(context.Background(), []string{path}, options)
	if err != nil {
		b.Fatal(err)
	}
	defer table.Close()
	info, _ := os.Stat(path)
	b.SetBytes(info.Size())
	b.ReportAllocs()
	before := study.Processor().Seconds()
	for b.Loop() {
		os.RemoveAll(filepath.Join(options.CacheDir, "rows"))
		source, err := table.Load(context.Background(), nil)
		if err != nil || source.Rows() != benchRows {
			b.Fatal(source, err)
		}
	}
	b.ReportMetric(float64(b.N)*benchRows/(study.Processor().Seconds()-before)/1e6, "Mrows/cpu-s")
}

// benchCSV writes rows of random numbers with the given digits behind the point;
// -1 writes the shortest form that reads back the same, up to 17 digits.
func benchCSV(b *testing.B, digits int, delimiter string) string {
	rng := rand.New(rand.NewPCG(1, 2))
	var content []byte
	for j := range benchColumns {
		content = append(content, fmt.Sprintf("x%d%s", j, delimiter)...)
	}
	content[len(content)-1] = '\n'
	for range benchRows {
		for range benchColumns {
			content = strconv.AppendFloat(content, rng.NormFloat64(), 'f', digits, 64)
			content = append(content, delimiter...)
		}
		content[len(content)-1] = '\n'
	}
	return write(b, "rows.csv", string(content))
}

func BenchmarkReadCSV(b *testing.B) {
	for name, digits := range map[string]int{"digits=4": 4, "digits=17": -1} {
		path := benchCSV(b, digits, ",")
		b.Run(name+"/memory", func(b *testing.B) { benchmarkLoad(b, path, Options{MemoryLimit: 1 << 30}) })
		b.Run(name+"/cache", func(b *testing.B) { benchmarkLoad(b, path, Options{MemoryLimit: -1}) })
	}
}

func BenchmarkReadCSVCategories(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	content := []byte("a,b,c,d,e,x,y,z\n")
	for range benchRows {
		for _, levels := range []int{2, 10, 100, 1000, 100_000} {
			content = fmt.Appendf(content, "level%d,", rng.IntN(levels))
		}
		content = fmt.Appendf(content, "%d,%.2f,%.3f\n", rng.IntN(100), rng.Float64(), rng.NormFloat64())
	}
	path := write(b, "rows.csv", string(content))
	benchmarkLoad(b, path, Options{MemoryLimit: 1 << 30})
}

func BenchmarkReadLibSVM(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, ones := range []bool{false, true} {
		var content []byte
		for range benchRows {
			content = strconv.AppendInt(content, int64(rng.IntN(2)), 10)
			index := 0
			for range benchColumns {
				index += 1 + rng.IntN(50)
				if ones {
					content = fmt.Appendf(content, " %d:1", index)
				} else {
					content = fmt.Appendf(content, " %d:%.4f", index, rng.NormFloat64())
				}
			}
			content = append(content, '\n')
		}
		path := write(b, "rows.libsvm", string(content))
		b.Run(fmt.Sprintf("ones=%v", ones), func(b *testing.B) { benchmarkLoad(b, path, Options{MemoryLimit: 1 << 30}) })
	}
}

type benchRow struct {
	X00, X01, X02, X03, X04, X05, X06, X07, X08, X09 float64
	X10, X11, X12, X13, X14, X15, X16, X17, X18, X19 float64
}

type benchOptionalRow struct {
	X00, X01, X02, X03, X04, X05, X06, X07, X08, X09 *float64 `parquet:",optional,dict"`
	X10, X11, X12, X13, X14, X15, X16, X17, X18, X19 *float64 `parquet:",optional,dict"`
}

func BenchmarkReadParquet(b *testing.B) {
	zstd := parquet.Compression(&parquet.Zstd)
	path := writeParquet(b, benchParquetRows(), zstd)
	b.Run("plain/memory", func(b *testing.B) { benchmarkLoad(b, path, Options{MemoryLimit: 1 << 30}) })
	b.Run("plain/cache", func(b *testing.B) { benchmarkLoad(b, path, Options{MemoryLimit: -1}) })
	path = writeParquet(b, benchOptionalRows(), zstd)
	b.Run("dictionary/memory", func(b *testing.B) { benchmarkLoad(b, path, Options{MemoryLimit: 1 << 30}) })
}

func benchParquetRows() []benchRow {
	rng := rand.New(rand.NewPCG(1, 2))
	rows := make([]benchRow, benchRows)
	for i := range rows {
		r := &rows[i]
		for _, p := range []*float64{&r.X00, &r.X01, &r.X02, &r.X03, &r.X04, &r.X05, &r.X06, &r.X07, &r.X08, &r.X09,
			&r.X10, &r.X11, &r.X12, &r.X13, &r.X14, &r.X15, &r.X16, &r.X17, &r.X18, &r.X19} {
			*p = rng.NormFloat64()
		}
	}
	return rows
}

// benchOptionalRows are as pandas writes them: every column nullable and with a
// dictionary.
func benchOptionalRows() []benchOptionalRow {
	rng := rand.New(rand.NewPCG(1, 2))
	rows := make([]benchOptionalRow, benchRows)
	for i := range rows {
		r := &rows[i]
		for _, p := range []**float64{&r.X00, &r.X01, &r.X02, &r.X03, &r.X04, &r.X05, &r.X06, &r.X07, &r.X08, &r.X09,
			&r.X10, &r.X11, &r.X12, &r.X13, &r.X14, &r.X15, &r.X16, &r.X17, &r.X18, &r.X19} {
			v := float64(rng.IntN(1000)) / 10
			*p = &v
		}
	}
	return rows
}

// BenchmarkRead goes through all rows in blocks as an engine does.
func BenchmarkRead(b *testing.B) {
	path := benchCSV(b, 4, ",")
	for name, limit := range map[string]int64{"memory": 1 << 30, "cache": -1} {
		source, _, err := load(b, Options{MemoryLimit: limit}, nil, path)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(8 * benchRows * benchColumns)
			b.ReportAllocs()
			before := study.Processor().Seconds()
			var chunk credence.Chunk
			for b.Loop() {
				for first := 0; first < benchRows; first += credence.BlockRows {
					if err := source.Read(&chunk, first, min(credence.BlockRows, benchRows-first)); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.N)*benchRows/(study.Processor().Seconds()-before)/1e6, "Mrows/cpu-s")
		})
	}
}
