package stream

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// benchmarkParser parses rows of 30 features and looks them up, as a reader does.
func benchmarkParser(b *testing.B, p Parser, line func(rng *rand.Rand) []byte) {
	rng := rand.New(rand.NewPCG(1, 1))
	var lines [][]byte
	bytes := 0
	for range 512 {
		text := line(rng)
		lines = append(lines, append(text, make([]byte, padding)...)[:len(text)])
		bytes += len(text)
	}
	var rows Rows
	index := &Index{}
	slots := make([]int32, 0, 512*32)
	b.SetBytes(int64(bytes))
	b.ReportAllocs()
	for b.Loop() {
		rows.Reset()
		for _, text := range lines {
			if err := p.Parse(&rows, text); err != nil {
				b.Fatal(err)
			}
		}
		index.addAll(slots[:len(rows.Keys)], rows.Keys)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/512, "ns/row")
}

func BenchmarkLibSVM(b *testing.B) {
	benchmarkParser(b, &LibSVM{}, func(rng *rand.Rand) []byte {
		text := []byte("-1")
		for k := range 30 {
			text = fmt.Appendf(text, " %d:1", 30000*k+rng.IntN(30000)+1)
		}
		return text
	})
}

func BenchmarkVW(b *testing.B) {
	p, _ := (&Plan{Format: FormatVW, All: true}).NewParser(true, false)
	benchmarkParser(b, p, func(rng *rand.Rand) []byte {
		text := []byte("-1 |")
		for k := range 30 {
			text = fmt.Appendf(text, " %d", 30000*k+rng.IntN(30000)+1)
		}
		return text
	})
}

func BenchmarkCSV(b *testing.B) {
	p, _ := (&Plan{Format: FormatCSV, Target: "y", All: true, Tokens: true}).NewParser(true, false)
	header := "y"
	for k := range 30 {
		header += fmt.Sprintf(",c%d", k)
	}
	if err := p.(Headed).Header([]byte(header)); err != nil {
		b.Fatal(err)
	}
	benchmarkParser(b, p, func(rng *rand.Rand) []byte {
		text := []byte("1")
		for range 30 {
			text = fmt.Appendf(text, ",%d", rng.IntN(30000))
		}
		return text
	})
}
