//go:build !amd64 || purego

package kernel

func detect() ISA { return PureGo }

func micro64(ISA) *micro[float64] { return microGo[float64]() }

func micro32(ISA) *micro[float32] { return microGo[float32]() }

func dotOn(_ ISA, x, y []float64) float64 { return dotGo(x, y) }

func sumOn(_ ISA, x []float64) float64 { return sumGo(x) }

func axpyOn(_ ISA, alpha float64, x, y []float64) { axpyGo(alpha, x, y) }

func axpy4On(_ ISA, alpha []float64, x []float64, ld int, y []float64) { axpy4Go(alpha, x, ld, y) }

func gatherOn(ISA, []float64, []int32, []float64, int, []float64) bool { return false }

func rowSumsOn(_ ISA, x []float64, rows *[columnRows][]float64, sums *[columnRows]float64) {
	rowSumsGo(x, rows, sums)
}

func scaleOn(_ ISA, alpha float64, x []float64) { scaleGo(alpha, x) }

func butterflyOn(_ ISA, x []float64, ld, n, rows int) { butterflyGo(x, ld, n, rows) }

func unaryOn(ISA, unary, int, *float64, *float64) { panic("kernel: no vector kernels in this build") }

func sinCosVectors(ISA, int, *float64, *float64, *float64) int {
	panic("kernel: no vector kernels in this build")
}
