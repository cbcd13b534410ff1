package kernel

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The processor options of GODEBUG reach the detection: a child process with
// them set must find the narrower instruction set.
func TestDetectionHonoursGODEBUG(t *testing.T) {
	if os.Getenv("KERNEL_PRINT_ISA") != "" {
		fmt.Println("detected", Detected())
		return
	}
	for option, most := range map[string]ISA{"cpu.avx512f=off": AVX2, "cpu.avx2=off": PureGo} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestDetectionHonoursGODEBUG$", "-test.v")
		cmd.Env = append(os.Environ(), "GODEBUG="+option, "KERNEL_PRINT_ISA=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", option, err, out)
		}
		if want := "detected " + min(most, Detected()).String() + "\n"; !strings.Contains(string(out), want) {
			t.Errorf("%s: want %q in\n%s", option, want, out)
		}
	}
}

func TestNewISARefusesMissingInstructions(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Fatal("no panic")
		}
	}()
	NewISA(1, Detected()+1)
}

// FuzzTile checks that a tile reads mr columns of a panel as it reads a strip of
// their own, at every width of the tile: the same bits.
func FuzzTile(f *testing.F) {
	for kc := range uint16(40) {
		f.Add(kc, byte(kc), 0.75)
	}
	f.Fuzz(func(t *testing.T, kc uint16, q byte, alpha float64) {
		for _, isa := range isas() {
			checkTile(t, isa, micro64(isa), int(kc%600), q, alpha)
			checkTile(t, isa, micro32(isa), int(kc%600), q, alpha)
		}
	})
}

func checkTile[T float](t *testing.T, isa ISA, m *micro[T], kc int, q byte, alpha float64) {
	t.Helper()
	mr, nr := m.mr, m.nr
	a, b, strip := aligned[T]((kc+1)*nr), aligned[T]((kc+1)*nr), aligned[T]((kc+1)*mr)
	for i, v := range random(kc*nr, 1) {
		a[i] = T(v)
	}
	for i, v := range random(kc*nr, 2) {
		b[i] = T(v)
	}
	first, skip := int(q)%(nr/mr)*mr, int(q>>2)%nr
	for k := range kc {
		copy(strip[k*mr:(k+1)*mr], a[k*nr+first:])
	}
	ldc, add := nr+int(q>>7), int(q&1)
	want, got := random(mr*ldc, 3), random(mr*ldc, 3)
	end := nr - int(q>>4)%(nr-skip)
	m.tilePart(skip, end, kc, alpha, &strip[0], mr, &b[0], &want[0], ldc, add)
	m.tilePart(skip, end, kc, alpha, &a[first], nr, &b[0], &got[0], ldc, add)
	if i := sameBits(got, want); i >= 0 {
		t.Fatalf("%v tile of %T, depth %d, column %d of a panel, columns %d to %d: element %d is %v, want %v", isa, a[0], kc, first, skip, end, i, got[i], want[i])
	}
	whole := random(mr*ldc, 3)
	m.tile(kc, alpha, &strip[0], mr, &b[0], &whole[0], ldc, add)
	for r := range mr {
		if i := sameBits(got[r*ldc+skip:r*ldc+end], whole[r*ldc+skip:r*ldc+end]); i >= 0 {
			t.Fatalf("%v tile of %T, depth %d, columns %d to %d: row %d differs from the whole tile", isa, a[0], kc, skip, end, r)
		}
	}
}

// FuzzProducts checks Gemm, Gram and the solvers of every instruction set at
// shapes of the fuzzer's choice, against the definition or the plain Go twin.
func FuzzProducts(f *testing.F) {
	f.Add(uint16(9), uint16(25), uint16(300), byte(0))
	f.Add(uint16(69), uint16(3), uint16(1), byte(7))
	f.Fuzz(func(t *testing.T, m, n, k uint16, q byte) {
		rows, cols, inner := int(m%70), int(n%60), int(k%300) // small, so that many are tried
		for _, isa := range isas() {
			p := NewISA(1+int(q>>6), isa)
			checkGemm(t, p, isa, q&1 != 0, q&2 != 0, rows, cols, inner, 0.5, float64(q>>2&1))
			checkGram(t, p, isa, inner, cols, q&8 != 0)
			u := factorOf(rows, rows+1, 1)
			b := random(rows*cols+1, 2)
			want := append([]float64(nil), b...)
			if q&16 != 0 {
				p.TrsmRight(q&1 != 0, cols, rows, u, rows+1, b, max(rows, 1))
				NewISA(1, PureGo).TrsmRight(q&1 != 0, cols, rows, u, rows+1, want, max(rows, 1))
			} else {
				p.TrsmLeft(q&1 != 0, rows, cols, u, rows+1, b, max(cols, 1))
				NewISA(1, PureGo).TrsmLeft(q&1 != 0, rows, cols, u, rows+1, want, max(cols, 1))
			}
			for i := range b {
				if d := b[i] - want[i]; !(d*d <= 1e-20) {
					t.Fatalf("%v solve at %d: got %v, want %v", isa, i, b[i], want[i])
				}
			}
		}
	})
}

// FuzzElementwise checks the vector kernels against the plain Go twins at any
// bit patterns: together they are within five units of the last place.
func FuzzElementwise(f *testing.F) {
	f.Add(0.0, -38.5)
	f.Add(745.1, 1e300)
	f.Fuzz(func(t *testing.T, x, y float64) {
		for _, isa := range isas() {
			for fn := range unary(len(twins)) {
				for _, v := range []float64{x, y} {
					got := []float64{v}
					applyOn(isa, fn, "fuzz", got, got)
					want := twins[fn](v)
					if got[0] != got[0] && want != want || got[0] == want {
						continue
					}
					if d := got[0] - want; !(d*d <= 25*0x1p-104*want*want) && !(d < 5*5e-324 && d > -5*5e-324) {
						t.Fatalf("%v function %d at %v: got %v, want %v", isa, fn, v, got[0], want)
					}
				}
			}
		}
	})
}
