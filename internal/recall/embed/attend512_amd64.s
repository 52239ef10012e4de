#include "textflag.h"

// SCORE adds the product of number d of a key with that of the queries, in Z8.
#define SCORE(key, Zt, Zsum) \
	VMULPS.BCST key, Z8, Zt; \
	VADDPS Zt, Zsum, Zsum

// func scoresAVX512(out, queries, keys *float32, stride, n int)
// Z0 to Z7: the scores of a key, of 16 queries each. R8 to R11: 1, 3, 5 and 7 strides.
TEXT ·scoresAVX512(SB), NOSPLIT, $0-40
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
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	VPXORD Z2, Z2, Z2
	VPXORD Z3, Z3, Z3
	VPXORD Z4, Z4, Z4
	VPXORD Z5, Z5, Z5
	VPXORD Z6, Z6, Z6
	VPXORD Z7, Z7, Z7
	MOVQ DX, SI
	MOVQ BX, R12
	MOVQ $32, AX

number:
	VMOVUPS (R12), Z8
	SCORE((SI), Z9, Z0)
	SCORE((SI)(R8*1), Z10, Z1)
	SCORE((SI)(R8*2), Z11, Z2)
	SCORE((SI)(R9*1), Z12, Z3)
	SCORE((SI)(R8*4), Z13, Z4)
	SCORE((SI)(R10*1), Z14, Z5)
	SCORE((SI)(R9*2), Z15, Z6)
	SCORE((SI)(R11*1), Z16, Z7)
	ADDQ $64, R12
	ADDQ $4, SI
	DECQ AX
	JNZ  number
	VMOVUPS Z0, 0(DI)
	VMOVUPS Z1, 64(DI)
	VMOVUPS Z2, 128(DI)
	VMOVUPS Z3, 192(DI)
	VMOVUPS Z4, 256(DI)
	VMOVUPS Z5, 320(DI)
	VMOVUPS Z6, 384(DI)
	VMOVUPS Z7, 448(DI)
	ADDQ $512, DI
	LEAQ (DX)(R8*8), DX
	SUBQ $8, CX
	JG   keys
	VZEROUPPER
	RET

// TERM multiplies the sum with x, and adds the next number.
#define TERM(number) \
	VMULPS Z2, Z4, Z4; \
	VADDPS.BCST number, Z4, Z4

// func sharesAVX512(x *float32, n int)
// As sharesAVX2, for 16 queries.
TEXT ·sharesAVX512(SB), NOSPLIT, $0-16
	MOVQ x+0(FP), DI
	MOVQ n+8(FP), CX
	VMOVUPS (DI), Z6
	MOVQ DI, SI
	MOVQ CX, AX

most:
	VMAXPS (SI), Z6, Z6
	ADDQ $64, SI
	DECQ AX
	JNZ  most
	VPXORD Z0, Z0, Z0
	VBROADCASTSS ·expNumbers+0(SB), Z15
	VBROADCASTSS ·expNumbers+44(SB), Z10
	VBROADCASTSS ·expNumbers+20(SB), Z8
	MOVQ DI, SI
	MOVQ CX, AX

exp:
	VMOVUPS (SI), Z1
	VSUBPS Z6, Z1, Z1
	VMULPS.BCST ·expNumbers+4(SB), Z1, Z3
	VSUBPS.BCST ·expNumbers+8(SB), Z3, Z3
	VCVTTPS2DQ Z3, Z3
	VCVTDQ2PS Z3, Z4
	VMULPS.BCST ·expNumbers+12(SB), Z4, Z5
	VMULPS.BCST ·expNumbers+16(SB), Z4, Z4
	VSUBPS Z5, Z1, Z2
	VSUBPS Z4, Z2, Z2
	VMOVAPS Z8, Z4
	TERM(·expNumbers+24(SB))
	TERM(·expNumbers+28(SB))
	TERM(·expNumbers+32(SB))
	TERM(·expNumbers+36(SB))
	TERM(·expNumbers+40(SB))
	VMULPS Z2, Z4, Z4
	VMULPS Z2, Z4, Z4
	VADDPS Z2, Z4, Z4
	VADDPS Z10, Z4, Z4
	VPADDD.BCST ·expNumbers+48(SB), Z3, Z3
	VPSLLD $23, Z3, Z3
	VCMPPS $5, Z15, Z1, K1 // not below -87
	VMULPS.Z Z3, Z4, K1, Z4
	VMOVUPS Z4, (SI)
	VADDPS Z4, Z0, Z0
	ADDQ $64, SI
	DECQ AX
	JNZ  exp
	VDIVPS Z0, Z10, Z0

share:
	VMULPS (DI), Z0, Z1
	VMOVUPS Z1, (DI)
	ADDQ $64, DI
	DECQ CX
	JNZ  share
	VZEROUPPER
	RET

// MIX adds a row of values, in Z8 and Z9, times the share of a query.
#define MIX(share, Zt, Zu, Zsum, Zother) \
	VMULPS.BCST share, Z8, Zt; \
	VMULPS.BCST share, Z9, Zu; \
	VADDPS Zt, Zsum, Zsum; \
	VADDPS Zu, Zother, Zother

// PUT stores the sums of a query.
#define PUT(Za, Zb) \
	VMOVUPS Za, 0(DI); \
	VMOVUPS Zb, 64(DI); \
	ADDQ R9, DI

// func mixAVX512(out *float32, outStride int, shares, values *float32, stride, n int)
// Four queries at a time: Z0 and Z1 for the first, Z6 and Z7 for the last.
TEXT ·mixAVX512(SB), NOSPLIT, $0-48
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
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	VPXORD Z2, Z2, Z2
	VPXORD Z3, Z3, Z3
	VPXORD Z4, Z4, Z4
	VPXORD Z5, Z5, Z5
	VPXORD Z6, Z6, Z6
	VPXORD Z7, Z7, Z7

value:
	VMOVUPS 0(DX), Z8
	VMOVUPS 64(DX), Z9
	MIX(0(AX), Z10, Z11, Z0, Z1)
	MIX(4(AX), Z12, Z13, Z2, Z3)
	MIX(8(AX), Z14, Z15, Z4, Z5)
	MIX(12(AX), Z16, Z17, Z6, Z7)
	ADDQ $64, AX
	ADDQ R8, DX
	DECQ CX
	JNZ  value
	PUT(Z0, Z1)
	PUT(Z2, Z3)
	PUT(Z4, Z5)
	PUT(Z6, Z7)
	ADDQ $16, SI
	DECQ BX
	JNZ  queries
	VZEROUPPER
	RET
