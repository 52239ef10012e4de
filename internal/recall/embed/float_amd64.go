package embed

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

// gelu is geluPlain.
func gelu(x []float32) {
	if !hasAVX2 || len(x) == 0 || len(x)%8 != 0 {
		geluPlain(x)
		return
	}
	geluAVX2(&x[0], len(x), &geluTable()[0])
}

// geluAVX2 is geluPlain for n numbers, a multiple of 8.
//
//go:noescape
func geluAVX2(x *float32, n int, table *float32)

// apply norms rows of x; rows up to the next multiple of 8 may change as well.
func (n layerNorm) apply(x []float32, rows int) {
	width := len(n.weight)
	if !hasAVX2 || width%8 != 0 || len(n.bias) != width || (rows+7)&^7*width > len(x) {
		n.applyPlain(x, rows)
		return
	}
	for t := 0; t < rows; t += 8 {
		_ = x[(t+8)*width-1]
		normAVX2(&x[t*width], width, &n.weight[0], &n.bias[0])
	}
}

// normAVX2 is applyPlain for 8 rows of n numbers, a multiple of 8.
//
//go:noescape
func normAVX2(x *float32, n int, weight, bias *float32)
