package embed

// productPlain fills out with the rows of q times the matrix, times factors, plus offsets,
// plus add where there is one.
func (w *work) productPlain(out []float32, l *linear, add []float32) {
	tokens := (w.tokens + 3) &^ 3
	pack(w.pairs, w.q[:tokens*l.k], l.k)
	var acc [16]int32
	for i := 0; i < l.n; i += 4 {
		for t := 0; t < tokens; t += 4 {
			dotsPlain(&acc, w.pairs[t/2*l.k:], l.rows[i*l.k:], l.k)
			for j := range 4 {
				scale, bias := w.factors[i+j], w.offsets[i+j]
				for s := range min(4, w.tokens-t) {
					at := (t+s)*l.n + i + j
					v := float32(float32(acc[4*j+s])*scale) + bias
					if add != nil {
						v += add[at]
					}
					out[at] = v
				}
			}
		}
	}
}

// pack pairs the activations of every two tokens, k each, in one number: one product
// is two then.
func pack(out []int64, q []byte, k int) {
	for t := 0; 2*t*k < len(q); t++ {
		first, second := q[2*t*k:(2*t+1)*k], q[(2*t+1)*k:(2*t+2)*k]
		pair := out[t*k : (t+1)*k]
		for i := range pair {
			pair[i] = int64(first[i]) | int64(second[i])<<32
		}
	}
}

// dotsPlain multiplies 4 rows of activations, packed, with 4 rows of a matrix, k
// numbers each: acc[4*i+t] is row i times activation t.
func dotsPlain(acc *[16]int32, pairs []int64, w []int8, k int) {
	p0, p1 := pairs[:k], pairs[k:2*k]
	for i := range 4 {
		var s0, s1 int64
		for j, x := range w[i*k : (i+1)*k] {
			s0 += int64(x) * p0[j]
			s1 += int64(x) * p1[j]
		}
		acc[4*i], acc[4*i+1] = unpack(s0)
		acc[4*i+2], acc[4*i+3] = unpack(s1)
	}
}

// unpack takes two sums apart; the lower one may have borrowed from the higher.
func unpack(s int64) (low, high int32) {
	low = int32(s)
	return low, int32((s - int64(low)) >> 32)
}

// weighPlain fills out with the sum of rows of 32 numbers, stride apart, each times its
// weight: in this order, with every product and every sum rounded.
func weighPlain(out *[32]float32, weights, rows []float32, stride int) {
	*out = [32]float32{}
	for i, by := range weights {
		row := rows[i*stride : i*stride+32]
		for j := range out {
			out[j] += float32(by * row[j])
		}
	}
}
