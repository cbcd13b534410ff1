//go:build !purego

package kernel

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

//go:generate sh -c "go run gen/fit/main.go > coefficient/coefficient.go.new && mv coefficient/coefficient.go.new coefficient/coefficient.go"
//go:generate go run -modfile=../../tools.mod gen/main.go gen/product.go gen/level1.go gen/elementwise.go gen/normal.go gen/trigonometric.go -set product -out product_amd64.s -stubs product_amd64.go -pkg kernel
//go:generate go run -modfile=../../tools.mod gen/main.go gen/product.go gen/level1.go gen/elementwise.go gen/normal.go gen/trigonometric.go -set level1 -out level1_amd64.s -stubs level1_amd64.go -pkg kernel
//go:generate go run -modfile=../../tools.mod gen/main.go gen/product.go gen/level1.go gen/elementwise.go gen/normal.go gen/trigonometric.go -set elementwise -out elementwise_amd64.s -stubs elementwise_amd64.go -pkg kernel

// detect relies on x/sys/cpu, which reports a feature only if the operating
// system saves the registers it needs (XCR0).
func detect() ISA {
	x := &cpu.X86
	switch {
	case x.HasAVX512F && x.HasAVX512DQ && x.HasAVX512BW && x.HasAVX512VL && x.HasAVX2 && x.HasFMA:
		return AVX512
	case x.HasAVX2 && x.HasFMA:
		return AVX2
	}
	return PureGo
}

func micro64(s ISA) *micro[float64] {
	switch s {
	case AVX512:
		return &micro[float64]{
			mr: 8, nr: 24, tile: tile64AVX512, narrow: [2]func(int, float64, *float64, int, *float64, *float64, int, int){tile64By2AVX512, tile64By1AVX512},
			strip: copyStrip64AVX512, solve: solveAVX512, solveBack: solveBackAVX512,
			flip: flipAVX512, flipRows: 8,
			panel: func(kc int, src *float64, ld int, dst *float64) {
				copyWideAVX512(kc, (*byte)(unsafe.Pointer(src)), 8*ld, (*byte)(unsafe.Pointer(dst)))
			},
		}
	case AVX2:
		return &micro[float64]{
			mr: 4, nr: 12, tile: tile64AVX2, narrow: [2]func(int, float64, *float64, int, *float64, *float64, int, int){tile64By2AVX2, tile64By1AVX2},
			strip: copyStrip64AVX2, solve: solveAVX2, solveBack: solveBackAVX2,
			flip: flipAVX2, flipRows: 4,
			panel: func(kc int, src *float64, ld int, dst *float64) {
				copyWideAVX2(kc, (*byte)(unsafe.Pointer(src)), 8*ld, (*byte)(unsafe.Pointer(dst)))
			},
		}
	}
	return microGo[float64]()
}

func micro32(s ISA) *micro[float32] {
	switch s {
	case AVX512:
		return &micro[float32]{
			mr: 8, nr: 48, tile: tile32AVX512, narrow: [2]func(int, float64, *float32, int, *float32, *float64, int, int){tile32By2AVX512, tile32By1AVX512},
			strip: copyStrip32AVX512,
			panel: func(kc int, src *float32, ld int, dst *float32) {
				copyWideAVX512(kc, (*byte)(unsafe.Pointer(src)), 4*ld, (*byte)(unsafe.Pointer(dst)))
			},
		}
	case AVX2:
		return &micro[float32]{
			mr: 4, nr: 24, tile: tile32AVX2, narrow: [2]func(int, float64, *float32, int, *float32, *float64, int, int){tile32By2AVX2, tile32By1AVX2},
			strip: copyStrip32AVX2,
			panel: func(kc int, src *float32, ld int, dst *float32) {
				copyWideAVX2(kc, (*byte)(unsafe.Pointer(src)), 4*ld, (*byte)(unsafe.Pointer(dst)))
			},
		}
	}
	return microGo[float32]()
}

func dotOn(s ISA, x, y []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	switch s {
	case AVX512:
		return dotAVX512(len(x), &x[0], &y[0])
	case AVX2:
		return dotAVX2(len(x), &x[0], &y[0])
	}
	return dotGo(x, y)
}

func sumOn(s ISA, x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	switch s {
	case AVX512:
		return sumAVX512(len(x), &x[0])
	case AVX2:
		return sumAVX2(len(x), &x[0])
	}
	return sumGo(x)
}

func axpyOn(s ISA, alpha float64, x, y []float64) {
	if len(x) == 0 {
		return
	}
	switch s {
	case AVX512:
		axpyAVX512(len(x), &alpha, &x[0], &y[0])
	case AVX2:
		axpyAVX2(len(x), &alpha, &x[0], &y[0])
	default:
		axpyGo(alpha, x, y)
	}
}

func scaleOn(s ISA, alpha float64, x []float64) {
	if len(x) == 0 {
		return
	}
	switch s {
	case AVX512:
		scaleAVX512(len(x), &alpha, &x[0])
	case AVX2:
		scaleAVX2(len(x), &alpha, &x[0])
	default:
		scaleGo(alpha, x)
	}
}

// butterflyOn multiplies two or four rows of n values, ld apart, by the Hadamard matrix of their number.
func butterflyOn(s ISA, x []float64, ld, n, rows int) {
	if n == 0 {
		return
	}
	_ = x[(rows-1)*ld+n-1]
	switch {
	case s == AVX512 && rows == 4:
		butterfly4AVX512(n, &x[0], ld)
	case s == AVX512:
		butterflyAVX512(n, &x[0], ld)
	case s == AVX2 && rows == 4:
		butterfly4AVX2(n, &x[0], ld)
	case s == AVX2:
		butterflyAVX2(n, &x[0], ld)
	default:
		butterflyGo(x, ld, n, rows)
	}
}

// axpy4On adds alpha[r] times row r of x, ld apart, to y, for four rows.
func axpy4On(s ISA, alpha []float64, x []float64, ld int, y []float64) {
	if len(y) == 0 {
		return
	}
	switch s {
	case AVX512:
		axpy4AVX512(len(y), &alpha[0], &x[0], ld, &y[0])
	case AVX2:
		axpy4AVX2(len(y), &alpha[0], &x[0], ld, &y[0])
	default:
		axpy4Go(alpha, x, ld, y)
	}
}

// gatherOn adds to the first values of y, as many as it takes together, and reports false where there is no kernel.
func gatherOn(s ISA, alpha []float64, index []int32, x []float64, ld int, y []float64) bool {
	var weights *float64
	if len(alpha) > 0 {
		weights = &alpha[0]
	}
	switch s {
	case AVX512:
		gatherAVX512(len(index), weights, &index[0], &x[0], ld, &y[0])
	case AVX2:
		gatherAVX2(len(index), weights, &index[0], &x[0], ld, &y[0])
	default:
		return false
	}
	return true
}

// rowSumsOn stores the sums of the products of x with each of eight rows, in the order of the elements.
func rowSumsOn(s ISA, x []float64, rows *[columnRows][]float64, sums *[columnRows]float64) {
	if s == PureGo || len(x) == 0 {
		rowSumsGo(x, rows, sums)
		return
	}
	var start [columnRows]*float64
	for r := range rows {
		start[r] = &rows[r][0]
	}
	rowSumsAVX2(len(x), &x[0], &start[0], &sums[0])
}

// unaryOn runs n elements, a multiple of 8, through a vector kernel.
func unaryOn(s ISA, f unary, n int, x, dst *float64) {
	if s == AVX512 {
		switch f {
		case exp:
			expAVX512(n, x, dst)
		case log1pExp:
			log1pExpAVX512(n, x, dst)
		case logistic:
			logisticAVX512(n, x, dst)
		case normalCDF:
			normalCDFAVX512(n, x, dst)
		case mills:
			millsAVX512(n, x, dst)
		}
		return
	}
	switch f {
	case exp:
		expAVX2(n, x, dst)
	case log1pExp:
		log1pExpAVX2(n, x, dst)
	case logistic:
		logisticAVX2(n, x, dst)
	case normalCDF:
		normalCDFAVX2(n, x, dst)
	case mills:
		millsAVX2(n, x, dst)
	}
}

// sinCosVectors returns how many of n elements, a multiple of 8, it did.
func sinCosVectors(s ISA, n int, x, sin, cos *float64) int {
	if s == AVX512 {
		return sinCosAVX512(n, x, sin, cos)
	}
	return sinCosAVX2(n, x, sin, cos)
}
