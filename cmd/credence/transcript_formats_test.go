package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// formatTables are tables in formats that a line of a transcript cannot write: halves of clicks.vw, 300 rows each;
// claims.csv as .gz, in two members, and as .zst; and odd.csv, 200 rows of what look and criticism find odd.
func formatTables(tables map[string]string) {
	clicks := strings.SplitAfter(tables["clicks.vw"], "\n")
	tables["half1.vw"], tables["half2.vw"] = strings.Join(clicks[:300], ""), strings.Join(clicks[300:], "")
	claims := tables["claims.csv"]
	var packed bytes.Buffer
	for _, part := range []string{claims[:5000], claims[5000:]} {
		w := gzip.NewWriter(&packed)
		w.Write([]byte(part))
		w.Close()
	}
	tables["claims.csv.gz"] = packed.String()
	encoder, _ := zstd.NewWriter(nil)
	tables["claims.csv.zst"] = string(encoder.EncodeAll([]byte(claims), nil))

	rng := rand.New(rand.NewPCG(5, 1))
	var b strings.Builder
	b.WriteString("id,zip,sex,same,copy,mostly,when,clock,amount,age,note,leak,count,shop,wave,y\n")
	walk := 0.0
	for i := range 200 {
		age, shop := 18+rng.IntN(60), rng.IntN(5)
		walk = 0.95*walk + 0.3*rng.NormFloat64()
		y := round3(0.02*float64(age) + walk + 0.3*rng.NormFloat64()*float64(1+3*(shop%2)))
		count := max(0, rng.IntN(9)-4) * (1 + rng.IntN(4))
		if i == 150 {
			y += 30
		}
		mostly := ""
		if i%9 == 0 {
			mostly = fmt.Sprint(i)
		}
		fmt.Fprintf(&b, "%d,%05d,%d,7,%d,%s,%02d.%02d.2023,%02d:%02d,%d %%,%d,\"text %d, of its own\",%g,%d,shop %d,%g,%g\n", 1000+i,
			8000+rng.IntN(40), 1+rng.IntN(2), 2*age, mostly, 1+i%28, 1+i/28, i%24, i%60, rng.IntN(100), age, i, 2*y+1, count, shop, round3(walk), y)
	}
	tables["odd.csv"] = b.String()
}
