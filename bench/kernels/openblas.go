//go:build openblas && cgo

package main

/*
#cgo LDFLAGS: -lopenblas
#include <cblas.h>
extern void dpotrf_(const char *, const int *, double *, const int *, int *);
extern char *openblas_get_corename(void);
extern void openblas_set_num_threads(int);
static void potrf(int n, double *a) { int info; dpotrf_("L", &n, a, &n, &info); }
*/
import "C"

func init() {
	others = func(threads int) []implementation { return []implementation{openBLAS(threads)} }
}

// openBLAS is the library as OPENBLAS_CORETYPE selects it, with a number of threads.
type openBLAS int

func (openBLAS) name() string { return "OpenBLAS " + C.GoString(C.openblas_get_corename()) }

func pointer(x []float64) *C.double { return (*C.double)(&x[0]) }

func (o openBLAS) gemm(n int, a, b, c []float64) {
	C.openblas_set_num_threads(C.int(o))
	k := C.int(n)
	C.cblas_dgemm(C.CblasRowMajor, C.CblasNoTrans, C.CblasNoTrans, k, k, k, 1, pointer(a), k, pointer(b), k, 0, pointer(c), k)
}

func (o openBLAS) gram(n, d int, x, weight, g []float64) bool {
	if weight != nil {
		return false
	}
	C.openblas_set_num_threads(C.int(o))
	C.cblas_dsyrk(C.CblasRowMajor, C.CblasUpper, C.CblasTrans, C.int(d), C.int(n), 1, pointer(x), C.int(d), 1, pointer(g), C.int(d))
	return true
}

// cholesky uses the lower triangle by columns, which is the upper by rows.
func (o openBLAS) cholesky(n int, a []float64) {
	C.openblas_set_num_threads(C.int(o))
	C.potrf(C.int(n), pointer(a))
}
