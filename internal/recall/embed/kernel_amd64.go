package embed

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// The abilities of this processor. Tests switch them off. A processor with hasVNNI also has
// hasAVX2.
var (
	hasVNNI = hasAVX2 && cpu.X86.HasAVX512VNNI && cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512DQ
	hasAVX2 = cpu.X86.HasAVX2
)

// isPlain reports whether nothing but Go is used.
func isPlain() bool { return !hasAVX2 }

// lanes is how many tokens are multiplied at once; it divides work.padded.
func lanes() int {
	if hasVNNI {
		return 16
	}
	return 8
}

// product is productPlain.
func (w *work) product(out []float32, l *linear, add []float32) {
	if isPlain() {
		w.productPlain(out, l, add)
		return
	}
	at, blocks := lanes(), w.padded/lanes()
	for t := 0; t < w.padded; t += 8 { // four bytes of each token of a block, one token behind the other
		b, s := t/at, t%at
		turn(w.turned[(b*at*l.k/4)+s:], at, fours(w.q[t*l.k:]), l.k/4, l.k/4)
	}
	_, _, _ = out[w.padded*l.n-1], w.turned[w.padded*l.k/4-1], l.rows[l.n*l.k-1]
	_, _ = w.factors[l.n-1], w.offsets[l.n-1]
	if add != nil {
		_ = add[w.padded*l.n-1]
	}
	for i := 0; i < l.n; i += at {
		var sum *float32
		if add != nil {
			sum = &add[i]
		}
		if hasVNNI {
			timesVNNI(&out[i], sum, &w.turned[0], &l.rows[i*l.k], &w.factors[i], &w.offsets[i], l.k, l.n, blocks)
		} else {
			timesAVX2(&out[i], sum, &w.turned[0], &l.rows[i*l.k], &w.factors[i], &w.offsets[i], l.k, l.n, blocks)
		}
	}
}

// fours are bytes as they lie in memory, four in one.
func fours(b []byte) []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/4)
}

// turn makes columns of 8 rows of n numbers, a multiple of 8: row r stands at from[r*fromStride], column c
// then at to[c*toStride].
func turn[T uint32 | float32](to []T, toStride int, from []T, fromStride, n int) {
	_, _ = to[(n-1)*toStride+7], from[7*fromStride+n-1]
	turnAVX2(unsafe.Pointer(&to[0]), toStride, unsafe.Pointer(&from[0]), fromStride, n)
}

// turnAVX2 is turn.
//
//go:noescape
func turnAVX2(to unsafe.Pointer, toStride int, from unsafe.Pointer, fromStride, n int)

// timesVNNI multiplies blocks of 16 tokens with 16 rows of k weights, a multiple of 16. q holds four
// activations of each token of a block, then the next four. A result goes to out, whose rows are n
// numbers long: the sum times the scale of its row, plus its bias, plus add where that is not nil.
//
//go:noescape
func timesVNNI(out, add *float32, q *uint32, rows *int8, scale, bias *float32, k, n, blocks int)

// timesAVX2 is timesVNNI for 8 tokens and 8 rows, and weights up to [MaxWeight].
//
//go:noescape
func timesAVX2(out, add *float32, q *uint32, rows *int8, scale, bias *float32, k, n, blocks int)
