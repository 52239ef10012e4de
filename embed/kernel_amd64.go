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
