#include "textflag.h"

// SCORE adds the product of number d of a key with that of the queries, in Y8.
#define SCORE(key, Yt, Ysum) \
	VBROADCASTSS key, Yt; \
	VMULPS Y8, Yt, Yt; \
	VADDPS Yt, Ysum, Ysum

// func scoresAVX2(out, queries, keys *float32, stride, n int)
// Y0 to Y7: the scores of a key, of 8 queries each. R8 to R11: 1, 3, 5 and 7 strides.
TEXT ·scoresAVX2(SB), NOSPLIT, $0-40
	MOVQ out+0(FP), DI
	MOVQ queries+8(FP), BX
	MOVQ keys+16(FP), DX
	MOVQ stride+24(FP), R8
	MOVQ n+32(FP), CX
	SHLQ $2, R8
	LEAQ (R8)(R8*2), R9
	LEAQ (R8)(R8*4), R10
	LEAQ (R9)(R8*4), R11

keys:
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7
	MOVQ DX, SI
	MOVQ BX, R12
	MOVQ $32, AX

number:
	VMOVUPS (R12), Y8
	SCORE((SI), Y9, Y0)
	SCORE((SI)(R8*1), Y10, Y1)
	SCORE((SI)(R8*2), Y11, Y2)
	SCORE((SI)(R9*1), Y12, Y3)
	SCORE((SI)(R8*4), Y13, Y4)
	SCORE((SI)(R10*1), Y14, Y5)
	SCORE((SI)(R9*2), Y15, Y6)
	SCORE((SI)(R11*1), Y9, Y7)
	ADDQ $32, R12
	ADDQ $4, SI
	DECQ AX
	JNZ  number
	VMOVUPS Y0, 0(DI)
	VMOVUPS Y1, 32(DI)
	VMOVUPS Y2, 64(DI)
	VMOVUPS Y3, 96(DI)
	VMOVUPS Y4, 128(DI)
	VMOVUPS Y5, 160(DI)
	VMOVUPS Y6, 192(DI)
	VMOVUPS Y7, 224(DI)
	ADDQ $256, DI
	LEAQ (DX)(R8*8), DX
	SUBQ $8, CX
	JG   keys
	VZEROUPPER
	RET

// What exp is made of, in float.go.
DATA ·expNumbers+0(SB)/4, $0xc2ae0000 // -87
DATA ·expNumbers+4(SB)/4, $0x3fb8aa3b // log2e
DATA ·expNumbers+8(SB)/4, $0x3f000000 // 0.5
DATA ·expNumbers+12(SB)/4, $0x3f318000 // hi
DATA ·expNumbers+16(SB)/4, $0xb95e8083 // lo
DATA ·expNumbers+20(SB)/4, $0x39506967
DATA ·expNumbers+24(SB)/4, $0x3ab743ce
DATA ·expNumbers+28(SB)/4, $0x3c088908
DATA ·expNumbers+32(SB)/4, $0x3d2aa9c1
DATA ·expNumbers+36(SB)/4, $0x3e2aaaaa
DATA ·expNumbers+40(SB)/4, $0x3f000000
DATA ·expNumbers+44(SB)/4, $0x3f800000 // 1
DATA ·expNumbers+48(SB)/4, $127
GLOBL ·expNumbers(SB), RODATA|NOPTR, $52

// TERM multiplies the sum with x, and adds the next number.
#define TERM(number) \
	VBROADCASTSS number, Y5; \
	VMULPS Y2, Y4, Y4; \
	VADDPS Y5, Y4, Y4

// func sharesAVX2(x *float32, n int)
// Y0: the most, then the sum. Y1: a number less the most. Y2: what is left of it. Y3: the power of 2.
TEXT ·sharesAVX2(SB), NOSPLIT, $0-16
	MOVQ x+0(FP), DI
	MOVQ n+8(FP), CX
	VMOVUPS (DI), Y6
	MOVQ DI, SI
	MOVQ CX, AX

most:
	VMAXPS (SI), Y6, Y6
	ADDQ $32, SI
	DECQ AX
	JNZ  most
	VXORPS Y0, Y0, Y0
	VBROADCASTSS ·expNumbers+0(SB), Y15
	VBROADCASTSS ·expNumbers+4(SB), Y14
	VBROADCASTSS ·expNumbers+8(SB), Y13
	VBROADCASTSS ·expNumbers+12(SB), Y12
	VBROADCASTSS ·expNumbers+16(SB), Y11
	VBROADCASTSS ·expNumbers+44(SB), Y10
	VPBROADCASTD ·expNumbers+48(SB), Y9
	VBROADCASTSS ·expNumbers+20(SB), Y8
	MOVQ DI, SI
	MOVQ CX, AX

exp:
	VMOVUPS (SI), Y1
	VSUBPS Y6, Y1, Y1
	VMULPS Y14, Y1, Y3
	VSUBPS Y13, Y3, Y3
	VCVTTPS2DQ Y3, Y3
	VCVTDQ2PS Y3, Y4
	VMULPS Y12, Y4, Y5
	VMULPS Y11, Y4, Y4
	VSUBPS Y5, Y1, Y2
	VSUBPS Y4, Y2, Y2
	VMOVAPS Y8, Y4
	TERM(·expNumbers+24(SB))
	TERM(·expNumbers+28(SB))
	TERM(·expNumbers+32(SB))
	TERM(·expNumbers+36(SB))
	TERM(·expNumbers+40(SB))
	VMULPS Y2, Y4, Y4
	VMULPS Y2, Y4, Y4
	VADDPS Y2, Y4, Y4
	VADDPS Y10, Y4, Y4
	VPADDD Y9, Y3, Y3
	VPSLLD $23, Y3, Y3
	VMULPS Y3, Y4, Y4
	VCMPPS $1, Y15, Y1, Y5 // below -87
	VANDNPS Y4, Y5, Y4
	VMOVUPS Y4, (SI)
	VADDPS Y4, Y0, Y0
	ADDQ $32, SI
	DECQ AX
	JNZ  exp
	VDIVPS Y0, Y10, Y0

share:
	VMULPS (DI), Y0, Y1
	VMOVUPS Y1, (DI)
	ADDQ $32, DI
	DECQ CX
	JNZ  share
	VZEROUPPER
	RET

// MIX adds a quarter of a row of values, times the share in Y8, to one sum, and times that in Y9 to another.
#define MIX(value, Yt, Yu, Ysum, Yother) \
	VMOVUPS value, Yt; \
	VMULPS Yt, Y9, Yu; \
	VMULPS Yt, Y8, Yt; \
	VADDPS Yu, Yother, Yother; \
	VADDPS Yt, Ysum, Ysum

// func mixAVX2(out *float32, outStride int, shares, values *float32, stride, n int)
// Two queries at a time: Y0 to Y3 for the first, Y4 to Y7 for the second.
TEXT ·mixAVX2(SB), NOSPLIT, $0-48
	MOVQ out+0(FP), DI
	MOVQ outStride+8(FP), R9
	MOVQ shares+16(FP), SI
	MOVQ stride+32(FP), R8
	SHLQ $2, R8
	SHLQ $2, R9
	MOVQ $4, BX

queries:
	MOVQ values+24(FP), DX
	MOVQ n+40(FP), CX
	MOVQ SI, AX
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7

value:
	VBROADCASTSS (AX), Y8
	VBROADCASTSS 4(AX), Y9
	MIX(0(DX), Y10, Y11, Y0, Y4)
	MIX(32(DX), Y12, Y13, Y1, Y5)
	MIX(64(DX), Y14, Y15, Y2, Y6)
	MIX(96(DX), Y10, Y11, Y3, Y7)
	ADDQ $32, AX
	ADDQ R8, DX
	DECQ CX
	JNZ  value
	VMOVUPS Y0, 0(DI)
	VMOVUPS Y1, 32(DI)
	VMOVUPS Y2, 64(DI)
	VMOVUPS Y3, 96(DI)
	ADDQ R9, DI
	VMOVUPS Y4, 0(DI)
	VMOVUPS Y5, 32(DI)
	VMOVUPS Y6, 64(DI)
	VMOVUPS Y7, 96(DI)
	ADDQ R9, DI
	ADDQ $8, SI
	DECQ BX
	JNZ  queries
	VZEROUPPER
	RET
