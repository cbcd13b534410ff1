//go:build !purego

#include "textflag.h"

// func prefetch(n int, items *int32, chunks unsafe.Pointer, shift uint)
TEXT ·prefetch(SB), NOSPLIT, $0-32
	MOVQ n+0(FP), DX
	MOVQ items+8(FP), SI
	MOVQ chunks+16(FP), DI
	MOVQ shift+24(FP), CX
	TESTQ DX, DX
	JLE  done
next:
	MOVL (SI), AX
	SHLQ CX, AX
	MOVQ AX, BX
	SHRQ $20, BX
	MOVQ (DI)(BX*8), BX
	ANDQ $0xfffff, AX
	PREFETCHT0 (BX)(AX*1)
	ADDQ $4, SI
	DECQ DX
	JNZ  next
done:
	RET

// func prefetchNumbers(n int, places *uint64, list *uint32, length uint64)
TEXT ·prefetchNumbers(SB), NOSPLIT, $0-32
	MOVQ n+0(FP), DX
	MOVQ places+8(FP), SI
	MOVQ list+16(FP), DI
	MOVQ length+24(FP), CX
	LEAQ (SI)(DX*8), DX
number:
	MOVQ (SI), AX
	ADDQ $8, SI
	CMPQ AX, CX
	JAE  behind
	PREFETCHT0 (DI)(AX*4)
behind:
	CMPQ SI, DX
	JNE  number
	RET
