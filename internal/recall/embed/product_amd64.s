#include "textflag.h"

DATA ones<>+0(SB)/8, $0x0001000100010001
DATA ones<>+8(SB)/8, $0x0001000100010001
DATA ones<>+16(SB)/8, $0x0001000100010001
DATA ones<>+24(SB)/8, $0x0001000100010001
GLOBL ones<>(SB), RODATA|NOPTR, $32

// QUARTER turns four registers by four numbers: in each part of 128 bits, row becomes column.
#define QUARTER(a, b, c, d, s, t, u, v) \
	VUNPCKLPS b, a, s; \
	VUNPCKHPS b, a, t; \
	VUNPCKLPS d, c, u; \
	VUNPCKHPS d, c, v; \
	VSHUFPS $0x44, u, s, a; \
	VSHUFPS $0xee, u, s, b; \
	VSHUFPS $0x44, v, t, c; \
	VSHUFPS $0xee, v, t, d

// HALVES sorts the halves of two registers: the lower ones into a, the upper ones into b.
#define HALVES(a, b, t) \
	VPERM2F128 $0x31, b, a, t; \
	VPERM2F128 $0x20, b, a, a; \
	VMOVAPS t, b

// TURN8 turns eight rows of eight numbers in Y0 to Y7: row becomes column.
#define TURN8 \
	QUARTER(Y0, Y1, Y2, Y3, Y8, Y9, Y10, Y11); \
	QUARTER(Y4, Y5, Y6, Y7, Y8, Y9, Y10, Y11); \
	HALVES(Y0, Y4, Y8); \
	HALVES(Y1, Y5, Y9); \
	HALVES(Y2, Y6, Y10); \
	HALVES(Y3, Y7, Y11)

// PARTS sorts the four parts of four registers: the first ones into a, the last ones into d.
#define PARTS(a, b, c, d) \
	VSHUFF32X4 $0x88, b, a, Z16; \
	VSHUFF32X4 $0xdd, b, a, Z17; \
	VSHUFF32X4 $0x88, d, c, Z18; \
	VSHUFF32X4 $0xdd, d, c, Z19; \
	VSHUFF32X4 $0x88, Z18, Z16, a; \
	VSHUFF32X4 $0x88, Z19, Z17, b; \
	VSHUFF32X4 $0xdd, Z18, Z16, c; \
	VSHUFF32X4 $0xdd, Z19, Z17, d

// func turnAVX2(to unsafe.Pointer, toStride int, from unsafe.Pointer, fromStride, n int)
TEXT ·turnAVX2(SB), NOSPLIT, $0-40
	MOVQ to+0(FP), DI
	MOVQ toStride+8(FP), BX
	MOVQ from+16(FP), SI
	MOVQ fromStride+24(FP), R8
	MOVQ n+32(FP), CX
	SHLQ $2, BX
	SHLQ $2, R8
	LEAQ (BX)(BX*2), R12
	LEAQ (R8)(R8*2), R9
	LEAQ (R8)(R8*4), R10
	LEAQ (R9)(R8*4), R11

turn:
	VMOVUPS (SI), Y0
	VMOVUPS (SI)(R8*1), Y1
	VMOVUPS (SI)(R8*2), Y2
	VMOVUPS (SI)(R9*1), Y3
	VMOVUPS (SI)(R8*4), Y4
	VMOVUPS (SI)(R10*1), Y5
	VMOVUPS (SI)(R9*2), Y6
	VMOVUPS (SI)(R11*1), Y7
	TURN8
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, (DI)(BX*1)
	VMOVUPS Y2, (DI)(BX*2)
	VMOVUPS Y3, (DI)(R12*1)
	LEAQ (DI)(BX*4), DI
	VMOVUPS Y4, (DI)
	VMOVUPS Y5, (DI)(BX*1)
	VMOVUPS Y6, (DI)(BX*2)
	VMOVUPS Y7, (DI)(R12*1)
	LEAQ (DI)(BX*4), DI
	ADDQ $32, SI
	SUBQ $8, CX
	JG   turn
	VZEROUPPER
	RET

// STEP adds the products of four activations of 16 tokens with four weights of 16 rows.
#define STEP(at) \
	VMOVDQU32 (16*at)(SI), Z16; \
	VPDPBUSD.BCST at(DX), Z16, Z0; \
	VPDPBUSD.BCST at(DX)(R8*1), Z16, Z1; \
	VPDPBUSD.BCST at(DX)(R8*2), Z16, Z2; \
	VPDPBUSD.BCST at(DX)(R9*1), Z16, Z3; \
	VPDPBUSD.BCST at(DX)(R8*4), Z16, Z4; \
	VPDPBUSD.BCST at(DX)(R10*1), Z16, Z5; \
	VPDPBUSD.BCST at(DX)(R9*2), Z16, Z6; \
	VPDPBUSD.BCST at(DX)(R11*1), Z16, Z7; \
	VPDPBUSD.BCST at(R12), Z16, Z8; \
	VPDPBUSD.BCST at(R12)(R8*1), Z16, Z9; \
	VPDPBUSD.BCST at(R12)(R8*2), Z16, Z10; \
	VPDPBUSD.BCST at(R12)(R9*1), Z16, Z11; \
	VPDPBUSD.BCST at(R12)(R8*4), Z16, Z12; \
	VPDPBUSD.BCST at(R12)(R10*1), Z16, Z13; \
	VPDPBUSD.BCST at(R12)(R9*2), Z16, Z14; \
	VPDPBUSD.BCST at(R12)(R11*1), Z16, Z15

// SCALE16 makes the result of sums of row i. There is no fused operation: each is rounded.
#define SCALE16(i, Z) \
	VCVTDQ2PS Z, Z; \
	VMULPS.BCST (4*i)(AX), Z, Z; \
	VADDPS.BCST (4*i)(BX), Z, Z

// PUT stores the results of a token; PUTSUM adds what is added to them before.
#define PUT(r) \
	VMOVUPS r, (DI); \
	ADDQ R13, DI

#define PUTSUM(r) \
	VADDPS (CX), r, r; \
	ADDQ R13, CX; \
	VMOVUPS r, (DI); \
	ADDQ R13, DI

// func timesVNNI(out, add *float32, q *uint32, rows *int8, scale, bias *float32, k, n, blocks int)
// Z0 to Z15: the sums of a row, of 16 tokens each. R8 to R11: 1, 3, 5 and 7 times k. DX, R12: rows 0
// and 8. R13: bytes of a row of out. AX, BX: scale and bias. CX: add. R15: what is used next.
TEXT ·timesVNNI(SB), NOSPLIT, $0-72
	MOVQ out+0(FP), DI
	MOVQ add+8(FP), CX
	MOVQ q+16(FP), SI
	MOVQ scale+32(FP), AX
	MOVQ bias+40(FP), BX
	MOVQ k+48(FP), R8
	MOVQ n+56(FP), R13
	SHLQ $2, R13
	LEAQ (R8)(R8*2), R9
	LEAQ (R8)(R8*4), R10
	LEAQ (R9)(R8*4), R11

block:
	MOVQ rows+24(FP), DX
	LEAQ (DX)(R8*8), R12
	LEAQ (R12)(R8*8), R15
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
	MOVQ R8, R14

vnni:
	PREFETCHT1 (R15)
	PREFETCHT1 64(R15)
	PREFETCHT1 128(R15)
	PREFETCHT1 192(R15)
	STEP(0)
	STEP(4)
	STEP(8)
	STEP(12)
	ADDQ $256, R15
	ADDQ $256, SI
	ADDQ $16, DX
	ADDQ $16, R12
	SUBQ $16, R14
	JG   vnni
	SCALE16(0, Z0)
	SCALE16(1, Z1)
	SCALE16(2, Z2)
	SCALE16(3, Z3)
	SCALE16(4, Z4)
	SCALE16(5, Z5)
	SCALE16(6, Z6)
	SCALE16(7, Z7)
	SCALE16(8, Z8)
	SCALE16(9, Z9)
	SCALE16(10, Z10)
	SCALE16(11, Z11)
	SCALE16(12, Z12)
	SCALE16(13, Z13)
	SCALE16(14, Z14)
	SCALE16(15, Z15)
	QUARTER(Z0, Z1, Z2, Z3, Z16, Z17, Z18, Z19)
	QUARTER(Z4, Z5, Z6, Z7, Z16, Z17, Z18, Z19)
	QUARTER(Z8, Z9, Z10, Z11, Z16, Z17, Z18, Z19)
	QUARTER(Z12, Z13, Z14, Z15, Z16, Z17, Z18, Z19)
	PARTS(Z0, Z4, Z8, Z12)
	PARTS(Z1, Z5, Z9, Z13)
	PARTS(Z2, Z6, Z10, Z14)
	PARTS(Z3, Z7, Z11, Z15)
	TESTQ CX, CX
	JNZ  sum
	PUT(Z0)
	PUT(Z1)
	PUT(Z2)
	PUT(Z3)
	PUT(Z4)
	PUT(Z5)
	PUT(Z6)
	PUT(Z7)
	PUT(Z8)
	PUT(Z9)
	PUT(Z10)
	PUT(Z11)
	PUT(Z12)
	PUT(Z13)
	PUT(Z14)
	PUT(Z15)
	DECQ blocks+64(FP)
	JNZ  block
	VZEROUPPER
	RET

sum:
	PUTSUM(Z0)
	PUTSUM(Z1)
	PUTSUM(Z2)
	PUTSUM(Z3)
	PUTSUM(Z4)
	PUTSUM(Z5)
	PUTSUM(Z6)
	PUTSUM(Z7)
	PUTSUM(Z8)
	PUTSUM(Z9)
	PUTSUM(Z10)
	PUTSUM(Z11)
	PUTSUM(Z12)
	PUTSUM(Z13)
	PUTSUM(Z14)
	PUTSUM(Z15)
	DECQ blocks+64(FP)
	JNZ  block
	VZEROUPPER
	RET

// ROW adds the products of four activations of 8 tokens, in Y8, with four weights of a row.
#define ROW(row, Yt, Ysum) \
	VPBROADCASTD row, Yt; \
	VPMADDUBSW Yt, Y8, Yt; \
	VPMADDWD Y15, Yt, Yt; \
	VPADDD Yt, Ysum, Ysum

// STEP8 is STEP for 8 tokens and 8 rows.
#define STEP8(at) \
	VMOVDQU (8*at)(SI), Y8; \
	ROW(at(DX), Y9, Y0); \
	ROW(at(DX)(R8*1), Y10, Y1); \
	ROW(at(DX)(R8*2), Y11, Y2); \
	ROW(at(DX)(R9*1), Y12, Y3); \
	ROW(at(DX)(R8*4), Y13, Y4); \
	ROW(at(DX)(R10*1), Y14, Y5); \
	ROW(at(DX)(R9*2), Y9, Y6); \
	ROW(at(DX)(R11*1), Y10, Y7)

// SCALE8 is SCALE16 for 8 tokens.
#define SCALE8(i, Y) \
	VBROADCASTSS (4*i)(AX), Y8; \
	VBROADCASTSS (4*i)(BX), Y9; \
	VCVTDQ2PS Y, Y; \
	VMULPS Y8, Y, Y; \
	VADDPS Y9, Y, Y

// func timesAVX2(out, add *float32, q *uint32, rows *int8, scale, bias *float32, k, n, blocks int)
// As timesVNNI, with Y0 to Y7 for 8 rows and 8 tokens each. Y15: ones.
TEXT ·timesAVX2(SB), NOSPLIT, $0-72
	MOVQ out+0(FP), DI
	MOVQ add+8(FP), CX
	MOVQ q+16(FP), SI
	MOVQ scale+32(FP), AX
	MOVQ bias+40(FP), BX
	MOVQ k+48(FP), R8
	MOVQ n+56(FP), R13
	SHLQ $2, R13
	LEAQ (R8)(R8*2), R9
	LEAQ (R8)(R8*4), R10
	LEAQ (R9)(R8*4), R11
	VMOVDQU ones<>(SB), Y15

block:
	MOVQ rows+24(FP), DX
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	VPXOR Y4, Y4, Y4
	VPXOR Y5, Y5, Y5
	VPXOR Y6, Y6, Y6
	VPXOR Y7, Y7, Y7
	MOVQ R8, R12

avx2:
	STEP8(0)
	STEP8(4)
	STEP8(8)
	STEP8(12)
	ADDQ $128, SI
	ADDQ $16, DX
	SUBQ $16, R12
	JG   avx2
	SCALE8(0, Y0)
	SCALE8(1, Y1)
	SCALE8(2, Y2)
	SCALE8(3, Y3)
	SCALE8(4, Y4)
	SCALE8(5, Y5)
	SCALE8(6, Y6)
	SCALE8(7, Y7)
	TURN8
	TESTQ CX, CX
	JNZ  sum
	PUT(Y0)
	PUT(Y1)
	PUT(Y2)
	PUT(Y3)
	PUT(Y4)
	PUT(Y5)
	PUT(Y6)
	PUT(Y7)
	DECQ blocks+64(FP)
	JNZ  block
	VZEROUPPER
	RET

sum:
	PUTSUM(Y0)
	PUTSUM(Y1)
	PUTSUM(Y2)
	PUTSUM(Y3)
	PUTSUM(Y4)
	PUTSUM(Y5)
	PUTSUM(Y6)
	PUTSUM(Y7)
	DECQ blocks+64(FP)
	JNZ  block
	VZEROUPPER
	RET
