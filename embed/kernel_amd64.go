package embed

import "golang.org/x/sys/cpu"

// What this processor can do. Tests switch it off.
var (
	hasVNNI = cpu.X86.HasAVX512VNNI && cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512DQ
	hasAVX2 = cpu.X86.HasAVX2
)

// isPlain reports whether nothing but Go is used.
func isPlain() bool { return !hasVNNI && !hasAVX2 }

// dots is dotsPlain with activations that are not packed.
func dots(acc *[16]int32, a []byte, w []int8, k int) {
	_, _ = a[4*k-1], w[4*k-1]
	if hasVNNI {
		dotsVNNI(acc, &a[0], &w[0], k)
	} else {
		dotsAVX2(acc, &a[0], &w[0], k)
	}
}

func weigh(out *[32]float32, weights, rows []float32, stride int) {
	if !hasAVX2 || len(weights) == 0 {
		weighPlain(out, weights, rows, stride)
		return
	}
	_ = rows[(len(weights)-1)*stride+31]
	weighAVX2(out, &weights[0], len(weights), &rows[0], stride)
}

// atOnce is how many numbers the kernels below take at a time.
const atOnce = 32

func bounds(in []float32) (least, most float32) {
	if !hasAVX2 || len(in) == 0 || len(in)%atOnce != 0 {
		return boundsPlain(in)
	}
	return boundsAVX2(&in[0], len(in))
}

func toBytes(q []byte, in []float32, by float32, zero int32) {
	if !hasAVX2 || len(in) == 0 || len(in)%atOnce != 0 {
		toBytesPlain(q, in, by, zero)
		return
	}
	_ = q[len(in)-1]
	toBytesAVX2(&q[0], &in[0], len(in), by, zero)
}

// boundsAVX2 is boundsPlain for n numbers, a multiple of 32.
//
//go:noescape
func boundsAVX2(in *float32, n int) (least, most float32)

// toBytesAVX2 is toBytesPlain for n numbers, a multiple of 32.
//
//go:noescape
func toBytesAVX2(q *byte, in *float32, n int, by float32, zero int32)

// dotsVNNI is dots for k a multiple of 64.
//
//go:noescape
func dotsVNNI(acc *[16]int32, a *byte, w *int8, k int)

// dotsAVX2 is dots for k a multiple of 32 and weights up to [MaxWeight].
//
//go:noescape
func dotsAVX2(acc *[16]int32, a *byte, w *int8, k int)

// weighAVX2 is weighPlain.
//
//go:noescape
func weighAVX2(out *[32]float32, weights *float32, n int, rows *float32, stride int)
