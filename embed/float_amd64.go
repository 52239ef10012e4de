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
