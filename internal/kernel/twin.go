package kernel

import (
	"math"
	"unsafe"
)

// The plain Go twins of the micro-kernels: they define what the assembly must
// compute, and serve every processor without it. The 4×4 tile keeps sixteen
// sums in registers where the architecture has them (arm64).

const goTile = 4

func microGo[T float]() *micro[T] {
	return &micro[T]{
		mr: goTile, nr: goTile, tile: tileGo[T], solve: solveGo[T], solveBack: solveBackGo[T],
		panel: func(kc int, src *T, ld int, dst *T) { stripGo(kc, src, ld, nil, dst) },
		strip: stripGo[T],
	}
}

func tileGo[T float](kc int, alpha float64, a *T, lda int, b *T, c *float64, ldc int, add int) {
	if lda != goTile {
		panic("kernel: tile: a strip of the plain Go tile is as wide as its panels")
	}
	var s [goTile][goTile]T
	tileSums(unsafe.Slice(a, goTile*kc), unsafe.Slice(b, goTile*kc), &s)
	cs := unsafe.Slice(c, (goTile-1)*ldc+goTile)
	for i := range s {
		row := cs[i*ldc : i*ldc+goTile]
		for j := range row {
			v := alpha * float64(s[i][j])
			if add != 0 {
				v += row[j]
			}
			row[j] = v
		}
	}
}

// tileSums computes the tile as two halves of eight sums each: all that fit
// the sixteen scalar registers of amd64 beside the operands.
func tileSums[T float](a, b []T, s *[goTile][goTile]T) {
	for h := 0; h < goTile; h += 2 {
		var s00, s01, s02, s03, s10, s11, s12, s13 T
		for x, y := a, b; len(x) >= goTile && len(y) >= goTile; x, y = x[goTile:], y[goTile:] {
			a0, a1 := x[h], x[h+1]
			b0, b1, b2, b3 := y[0], y[1], y[2], y[3]
			s00 += a0 * b0
			s01 += a0 * b1
			s02 += a0 * b2
			s03 += a0 * b3
			s10 += a1 * b0
			s11 += a1 * b1
			s12 += a1 * b2
			s13 += a1 * b3
		}
		s[h] = [goTile]T{s00, s01, s02, s03}
		s[h+1] = [goTile]T{s10, s11, s12, s13}
	}
}

func stripGo[T float](kc int, src *T, ld int, w *T, dst *T) {
	if kc == 0 {
		return
	}
	x, y := unsafe.Slice(src, (kc-1)*ld+goTile), unsafe.Slice(dst, kc*goTile)
	if w == nil {
		for k := range kc {
			*(*[goTile]T)(y[k*goTile:]) = [goTile]T(x[k*ld:])
		}
		return
	}
	for k, v := range unsafe.Slice(w, kc) {
		from, to := x[k*ld:k*ld+goTile], y[k*goTile:k*goTile+goTile]
		for j := range to {
			to[j] = v * from[j]
		}
	}
}

func solveGo[T float](tri, c *T) {
	t := unsafe.Slice(tri, goTile*goTile)
	x := unsafe.Slice(c, goTile*goTile)
	for i := range goTile {
		row := (*[goTile]T)(x[i*goTile:])
		for j := range row {
			row[j] *= t[i*goTile+i]
		}
		for r := i + 1; r < goTile; r++ {
			u := t[i*goTile+r]
			below := (*[goTile]T)(x[r*goTile:])
			for j := range below {
				below[j] -= u * row[j]
			}
		}
	}
}

func solveBackGo[T float](tri, c *T) {
	t := unsafe.Slice(tri, goTile*goTile)
	x := unsafe.Slice(c, goTile*goTile)
	for i := goTile - 1; i >= 0; i-- {
		row := (*[goTile]T)(x[i*goTile:])
		for j := range row {
			row[j] *= t[i*goTile+i]
		}
		for r := range i {
			u := t[r*goTile+i]
			above := (*[goTile]T)(x[r*goTile:])
			for j := range above {
				above[j] -= u * row[j]
			}
		}
	}
}

func rowSumsGo(x []float64, rows *[columnRows][]float64, sums *[columnRows]float64) {
	for r, row := range rows {
		s := 0.0
		for j, v := range x {
			s = math.FMA(v, row[j], s)
		}
		sums[r] = s
	}
}
