#include "textflag.h"

DATA geluNumbers<>+0(SB)/4, $0x40c00000 // 6
DATA geluNumbers<>+4(SB)/4, $0xc0c00000 // -6
DATA geluNumbers<>+8(SB)/4, $0x44000000 // 512
DATA geluNumbers<>+12(SB)/4, $0x45c00000 // 6144
GLOBL geluNumbers<>(SB), RODATA|NOPTR, $16

// PAIR loads two numbers that follow each other in the table, for two numbers of x.
#define PAIR(first, second, X) \
	MOVL first(SP), AX; \
	MOVL second(SP), BX; \
	VMOVSD (DX)(AX*4), X; \
	VMOVHPS (DX)(BX*4), X, X

// func geluAVX2(x *float32, n int, table *float32)
// The table is read with plain loads: the instruction that gathers is slow on many processors.
TEXT ·geluAVX2(SB), NOSPLIT, $32-24
	MOVQ x+0(FP), SI
	MOVQ n+8(FP), CX
	MOVQ table+16(FP), DX
	VBROADCASTSS geluNumbers<>+0(SB), Y12
	VBROADCASTSS geluNumbers<>+4(SB), Y13
	VBROADCASTSS geluNumbers<>+8(SB), Y14
	VBROADCASTSS geluNumbers<>+12(SB), Y15
	VXORPS Y11, Y11, Y11

gelu:
	VMOVUPS (SI), Y0
	VADDPS Y12, Y0, Y1
	VMULPS Y14, Y1, Y1
	VMAXPS Y11, Y1, Y1 // what is beyond an end is replaced below, but it is looked up before
	VMINPS Y15, Y1, Y1
	VCVTTPS2DQ Y1, Y2
	VMOVDQU Y2, 0(SP)
	VCVTDQ2PS Y2, Y2
	VSUBPS Y2, Y1, Y1
	PAIR(0, 4, X3)
	PAIR(8, 12, X4)
	PAIR(16, 20, X5)
	PAIR(24, 28, X6)
	VINSERTF128 $1, X5, Y3, Y3
	VINSERTF128 $1, X6, Y4, Y4
	VSHUFPS $0x88, Y4, Y3, Y5
	VSHUFPS $0xdd, Y4, Y3, Y6
	VSUBPS Y5, Y6, Y6
	VMULPS Y1, Y6, Y6
	VADDPS Y6, Y5, Y5
	VCMPPS $1, Y0, Y13, Y7 // above the lower end
	VANDPS Y7, Y5, Y5
	VCMPPS $5, Y12, Y0, Y7 // not below the upper end
	VBLENDVPS Y7, Y0, Y5, Y5
	VMOVUPS Y5, (SI)
	ADDQ $32, SI
	SUBQ $8, CX
	JG   gelu
	VZEROUPPER
	RET

// FOUR loads four numbers of each of four rows, and turns them: Ya to Yd hold one number of each row.
#define FOUR(row, Ya, Yb, Yc, Yd) \
	VCVTPS2PD (row), Y8; \
	VCVTPS2PD (row)(R8*1), Y9; \
	VCVTPS2PD (row)(R8*2), Y10; \
	VCVTPS2PD (row)(R9*1), Y11; \
	VUNPCKLPD Y9, Y8, Y12; \
	VUNPCKHPD Y9, Y8, Y13; \
	VUNPCKLPD Y11, Y10, Y14; \
	VUNPCKHPD Y11, Y10, Y15; \
	VPERM2F128 $0x20, Y14, Y12, Ya; \
	VPERM2F128 $0x20, Y15, Y13, Yb; \
	VPERM2F128 $0x31, Y14, Y12, Yc; \
	VPERM2F128 $0x31, Y15, Y13, Yd

// SQUARE adds the square of the distance to the mean.
#define SQUARE(Y, mean, sum) \
	VSUBPD mean, Y, Y; \
	VMULPD Y, Y, Y; \
	VADDPD Y, sum, sum

// FACTOR makes of a sum of squares what four rows are multiplied with.
#define FACTOR(Y, X) \
	VDIVPD Y6, Y, Y; \
	VBROADCASTSD epsilon<>(SB), Y7; \
	VADDPD Y7, Y, Y; \
	VSQRTPD Y, Y; \
	VBROADCASTSD one<>(SB), Y7; \
	VDIVPD Y, Y7, Y; \
	VCVTPD2PSY Y, X

DATA epsilon<>+0(SB)/8, $0x3d719799812dea11 // 1e-12
GLOBL epsilon<>(SB), RODATA|NOPTR, $8
DATA one<>+0(SB)/8, $0x3ff0000000000000
GLOBL one<>(SB), RODATA|NOPTR, $8

// func normAVX2(x *float32, n int, weight, bias *float32)
// One lane is one row, so that each sum has its order. Y0 and Y1: the sums of rows 0 to 3 and 4 to 7. Y4 and
// Y5: the means. Y6: n.
TEXT ·normAVX2(SB), NOSPLIT, $64-32
	MOVQ x+0(FP), SI
	MOVQ n+8(FP), CX
	MOVQ weight+16(FP), R10
	MOVQ bias+24(FP), R11
	VCVTSI2SDQ CX, X6, X6
	VBROADCASTSD X6, Y6
	MOVQ CX, R8
	SHLQ $2, R8
	LEAQ (R8)(R8*2), R9
	LEAQ (SI)(R8*4), DI
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	MOVQ SI, AX
	MOVQ DI, BX
	MOVQ CX, DX

mean:
	FOUR(AX, Y8, Y9, Y10, Y11)
	VADDPD Y8, Y0, Y0
	VADDPD Y9, Y0, Y0
	VADDPD Y10, Y0, Y0
	VADDPD Y11, Y0, Y0
	FOUR(BX, Y8, Y9, Y10, Y11)
	VADDPD Y8, Y1, Y1
	VADDPD Y9, Y1, Y1
	VADDPD Y10, Y1, Y1
	VADDPD Y11, Y1, Y1
	ADDQ $16, AX
	ADDQ $16, BX
	SUBQ $4, DX
	JG   mean
	VDIVPD Y6, Y0, Y4
	VDIVPD Y6, Y1, Y5
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	MOVQ SI, AX
	MOVQ DI, BX
	MOVQ CX, DX

squares:
	FOUR(AX, Y8, Y9, Y10, Y11)
	SQUARE(Y8, Y4, Y0)
	SQUARE(Y9, Y4, Y0)
	SQUARE(Y10, Y4, Y0)
	SQUARE(Y11, Y4, Y0)
	FOUR(BX, Y8, Y9, Y10, Y11)
	SQUARE(Y8, Y5, Y1)
	SQUARE(Y9, Y5, Y1)
	SQUARE(Y10, Y5, Y1)
	SQUARE(Y11, Y5, Y1)
	ADDQ $16, AX
	ADDQ $16, BX
	SUBQ $4, DX
	JG   squares
	FACTOR(Y0, X0)
	FACTOR(Y1, X1)
	VCVTPD2PSY Y4, X4
	VCVTPD2PSY Y5, X5
	VMOVUPS X4, 0(SP)
	VMOVUPS X5, 16(SP)
	VMOVUPS X0, 32(SP)
	VMOVUPS X1, 48(SP)
	XORQ BX, BX

row:
	VBROADCASTSS 0(SP)(BX*4), Y0
	VBROADCASTSS 32(SP)(BX*4), Y1
	XORQ AX, AX

norm:
	VMOVUPS (SI)(AX*1), Y2
	VSUBPS Y0, Y2, Y2
	VMULPS Y1, Y2, Y2
	VMULPS (R10)(AX*1), Y2, Y2
	VADDPS (R11)(AX*1), Y2, Y2
	VMOVUPS Y2, (SI)(AX*1)
	ADDQ $32, AX
	CMPQ AX, R8
	JLT  norm
	ADDQ R8, SI
	INCQ BX
	CMPQ BX, $8
	JLT  row
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
