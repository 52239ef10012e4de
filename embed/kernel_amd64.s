#include "textflag.h"

DATA ones<>+0(SB)/8, $0x0001000100010001
DATA ones<>+8(SB)/8, $0x0001000100010001
DATA ones<>+16(SB)/8, $0x0001000100010001
DATA ones<>+24(SB)/8, $0x0001000100010001
GLOBL ones<>(SB), RODATA|NOPTR, $32

// SUM stores the sums of the four registers Y(a) to Y(d), one behind the other; X(a) and X(b) are
// their lower halves.
#define SUM(Ya, Yb, Yc, Yd, Xa, Xb, to) \
	VPHADDD Yb, Ya, Ya; \
	VPHADDD Yd, Yc, Yc; \
	VPHADDD Yc, Ya, Ya; \
	VEXTRACTI128 $1, Ya, Xb; \
	VPADDD Xb, Xa, Xa; \
	VMOVDQU Xa, to

// FOLD adds the upper half of a register to its lower half.
#define FOLD(Z, Y) \
	VEXTRACTI32X8 $1, Z, Y16; \
	VPADDD Y16, Y, Y

// ROW adds what a row times each of the four activations is.
#define ROW(row, a, b, c, d) \
	VPDPBUSD row, Z16, a; \
	VPDPBUSD row, Z17, b; \
	VPDPBUSD row, Z18, c; \
	VPDPBUSD row, Z19, d

// func dotsVNNI(acc *[16]int32, a *byte, w *int8, k int)
// Z0 to Z15: row i times activation t in Z(4i+t). Z16 to Z19: activations. Z20 to Z23: rows.
TEXT ·dotsVNNI(SB), NOSPLIT, $0-32
	MOVQ acc+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ w+16(FP), DX
	MOVQ k+24(FP), CX
	LEAQ (SI)(CX*1), R8
	LEAQ (R8)(CX*1), R9
	LEAQ (R9)(CX*1), R10
	LEAQ (DX)(CX*1), R11
	LEAQ (R11)(CX*1), R12
	LEAQ (R12)(CX*1), R13
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	VPXORD Z2, Z2, Z2
	VPXORD Z3, Z3, Z3
	VPXORD Z4, Z4, Z4
	VPXORD Z5, Z5, Z5
	VPXORD Z6, Z6, Z6
	VPXORD Z7, Z7, Z7
	VPXORD Z8, Z8, Z8
	VPXORD Z9, Z9, Z9
	VPXORD Z10, Z10, Z10
	VPXORD Z11, Z11, Z11
	VPXORD Z12, Z12, Z12
	VPXORD Z13, Z13, Z13
	VPXORD Z14, Z14, Z14
	VPXORD Z15, Z15, Z15
	XORQ AX, AX

vnni:
	VMOVDQU32 (SI)(AX*1), Z16
	VMOVDQU32 (R8)(AX*1), Z17
	VMOVDQU32 (R9)(AX*1), Z18
	VMOVDQU32 (R10)(AX*1), Z19
	VMOVDQU32 (DX)(AX*1), Z20
	VMOVDQU32 (R11)(AX*1), Z21
	VMOVDQU32 (R12)(AX*1), Z22
	VMOVDQU32 (R13)(AX*1), Z23
	ROW(Z20, Z0, Z1, Z2, Z3)
	ROW(Z21, Z4, Z5, Z6, Z7)
	ROW(Z22, Z8, Z9, Z10, Z11)
	ROW(Z23, Z12, Z13, Z14, Z15)
	ADDQ $64, AX
	CMPQ AX, CX
	JLT  vnni
	FOLD(Z0, Y0)
	FOLD(Z1, Y1)
	FOLD(Z2, Y2)
	FOLD(Z3, Y3)
	FOLD(Z4, Y4)
	FOLD(Z5, Y5)
	FOLD(Z6, Y6)
	FOLD(Z7, Y7)
	FOLD(Z8, Y8)
	FOLD(Z9, Y9)
	FOLD(Z10, Y10)
	FOLD(Z11, Y11)
	FOLD(Z12, Y12)
	FOLD(Z13, Y13)
	FOLD(Z14, Y14)
	FOLD(Z15, Y15)
	SUM(Y0, Y1, Y2, Y3, X0, X1, 0(DI))
	SUM(Y4, Y5, Y6, Y7, X4, X5, 16(DI))
	SUM(Y8, Y9, Y10, Y11, X8, X9, 32(DI))
	SUM(Y12, Y13, Y14, Y15, X12, X13, 48(DI))
	VZEROUPPER
	RET

// BOTH adds what an activation times each of the two rows is.
#define BOTH(activation, first, second) \
	VMOVDQU activation, Y10; \
	VPMADDUBSW Y8, Y10, Y11; \
	VPMADDUBSW Y9, Y10, Y12; \
	VPMADDWD Y15, Y11, Y11; \
	VPMADDWD Y15, Y12, Y12; \
	VPADDD Y11, first, first; \
	VPADDD Y12, second, second

// func dotsAVX2(acc *[16]int32, a *byte, w *int8, k int)
// Two rows at a time. Y0 to Y7: row i times activation t in Y(4i+t). Y8, Y9: the rows. Y10: an activation.
TEXT ·dotsAVX2(SB), NOSPLIT, $0-32
	MOVQ acc+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ w+16(FP), DX
	MOVQ k+24(FP), CX
	LEAQ (SI)(CX*1), R8
	LEAQ (R8)(CX*1), R9
	LEAQ (R9)(CX*1), R10
	VMOVDQU ones<>(SB), Y15
	MOVQ $2, BX

pair:
	LEAQ (DX)(CX*1), R11
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	VPXOR Y4, Y4, Y4
	VPXOR Y5, Y5, Y5
	VPXOR Y6, Y6, Y6
	VPXOR Y7, Y7, Y7
	XORQ AX, AX

avx2:
	VMOVDQU (DX)(AX*1), Y8
	VMOVDQU (R11)(AX*1), Y9
	BOTH((SI)(AX*1), Y0, Y4)
	BOTH((R8)(AX*1), Y1, Y5)
	BOTH((R9)(AX*1), Y2, Y6)
	BOTH((R10)(AX*1), Y3, Y7)
	ADDQ $32, AX
	CMPQ AX, CX
	JLT  avx2
	SUM(Y0, Y1, Y2, Y3, X0, X1, 0(DI))
	SUM(Y4, Y5, Y6, Y7, X4, X5, 16(DI))
	ADDQ $32, DI
	LEAQ (R11)(CX*1), DX
	DECQ BX
	JNZ  pair
	VZEROUPPER
	RET

// func weighAVX2(out *[32]float32, weights *float32, n int, rows *float32, stride int)
TEXT ·weighAVX2(SB), NOSPLIT, $0-40
	MOVQ out+0(FP), DI
	MOVQ weights+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ rows+24(FP), DX
	MOVQ stride+32(FP), BX
	SHLQ $2, BX
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3

weigh:
	VBROADCASTSS (SI), Y8
	VMULPS 0(DX), Y8, Y4
	VMULPS 32(DX), Y8, Y5
	VMULPS 64(DX), Y8, Y6
	VMULPS 96(DX), Y8, Y7
	VADDPS Y4, Y0, Y0
	VADDPS Y5, Y1, Y1
	VADDPS Y6, Y2, Y2
	VADDPS Y7, Y3, Y3
	ADDQ $4, SI
	ADDQ BX, DX
	DECQ CX
	JNZ  weigh
	VMOVUPS Y0, 0(DI)
	VMOVUPS Y1, 32(DI)
	VMOVUPS Y2, 64(DI)
	VMOVUPS Y3, 96(DI)
	VZEROUPPER
	RET

// func boundsAVX2(in *float32, n int) (least, most float32)
// Y0 and Y2: least so far. Y1 and Y3: most.
TEXT ·boundsAVX2(SB), NOSPLIT, $0-24
	MOVQ in+0(FP), SI
	MOVQ n+8(FP), CX
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3

bounds:
	VMOVUPS (SI), Y4
	VMOVUPS 32(SI), Y5
	VMOVUPS 64(SI), Y6
	VMOVUPS 96(SI), Y7
	VMINPS Y4, Y0, Y0
	VMAXPS Y4, Y1, Y1
	VMINPS Y5, Y2, Y2
	VMAXPS Y5, Y3, Y3
	VMINPS Y6, Y0, Y0
	VMAXPS Y6, Y1, Y1
	VMINPS Y7, Y2, Y2
	VMAXPS Y7, Y3, Y3
	ADDQ $128, SI
	SUBQ $32, CX
	JG   bounds
	VMINPS Y2, Y0, Y0
	VMAXPS Y3, Y1, Y1
	VEXTRACTF128 $1, Y0, X2
	VMINPS X2, X0, X0
	VEXTRACTF128 $1, Y1, X3
	VMAXPS X3, X1, X1
	VPERMILPS $0x4e, X0, X2
	VMINPS X2, X0, X0
	VPERMILPS $0x4e, X1, X3
	VMAXPS X3, X1, X1
	VPERMILPS $0xb1, X0, X2
	VMINPS X2, X0, X0
	VPERMILPS $0xb1, X1, X3
	VMAXPS X3, X1, X1
	VMOVSS X0, least+16(FP)
	VMOVSS X1, most+20(FP)
	VZEROUPPER
	RET

DATA order<>+0(SB)/8, $0x0000000400000000
DATA order<>+8(SB)/8, $0x0000000500000001
DATA order<>+16(SB)/8, $0x0000000600000002
DATA order<>+24(SB)/8, $0x0000000700000003
GLOBL order<>(SB), RODATA|NOPTR, $32

// func toBytesAVX2(q *byte, in *float32, n int, by float32, zero int32)
// Packing works in halves of a register, so the order is set right at the end.
TEXT ·toBytesAVX2(SB), NOSPLIT, $0-32
	MOVQ q+0(FP), DI
	MOVQ in+8(FP), SI
	MOVQ n+16(FP), CX
	VBROADCASTSS by+24(FP), Y8
	MOVL zero+28(FP), AX
	VMOVD AX, X9
	VPBROADCASTD X9, Y9
	VMOVDQU order<>(SB), Y10

bytes:
	VMULPS (SI), Y8, Y0
	VMULPS 32(SI), Y8, Y1
	VMULPS 64(SI), Y8, Y2
	VMULPS 96(SI), Y8, Y3
	VCVTPS2DQ Y0, Y0
	VCVTPS2DQ Y1, Y1
	VCVTPS2DQ Y2, Y2
	VCVTPS2DQ Y3, Y3
	VPADDD Y9, Y0, Y0
	VPADDD Y9, Y1, Y1
	VPADDD Y9, Y2, Y2
	VPADDD Y9, Y3, Y3
	VPACKSSDW Y1, Y0, Y0
	VPACKSSDW Y3, Y2, Y2
	VPACKUSWB Y2, Y0, Y0
	VPERMD Y0, Y10, Y0
	VMOVDQU Y0, (DI)
	ADDQ $128, SI
	ADDQ $32, DI
	SUBQ $32, CX
	JG   bytes
	VZEROUPPER
	RET
