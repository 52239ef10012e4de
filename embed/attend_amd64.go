package embed

// attend is attendPlain. It takes the queries of 8 tokens at once, one a lane: so the sums
// of each have their order.
func (m *Model) attend(w *work) {
	if !hasAVX2 {
		m.attendPlain(w)
		return
	}
	stride := 3 * m.Dim
	for t := 0; t < w.tokens; t += 8 {
		for h := range m.Heads {
			at := h * headDim
			turn(w.queries, 8, w.qkv[t*stride+at:], stride, headDim)
			scores(w.scores, w.queries, w.qkv[m.Dim+at:], stride, (w.tokens+7)&^7)
			shares(w.scores, w.tokens)
			mix(w.y[t*m.Dim+at:], m.Dim, w.scores, w.qkv[2*m.Dim+at:], stride, w.tokens)
		}
	}
}

// scores fills out with n keys, a multiple of 8, stride apart, times 8 queries each.
func scores(out, queries, keys []float32, stride, n int) {
	_, _, _ = out[n*8-1], queries[headDim*8-1], keys[(n-1)*stride+headDim-1]
	scoresAVX2(&out[0], &queries[0], &keys[0], stride, n)
}

// scoresAVX2 is scores.
//
//go:noescape
func scoresAVX2(out, queries, keys *float32, stride, n int)

// shares is softmax for 8 queries with n scores.
func shares(x []float32, n int) {
	_ = x[n*8-1]
	sharesAVX2(&x[0], n)
}

// sharesAVX2 is shares.
//
//go:noescape
func sharesAVX2(x *float32, n int)

// mix fills 8 rows of out with the sums of n rows of values, times the shares of a query.
func mix(out []float32, outStride int, shares, values []float32, stride, n int) {
	_, _, _ = out[7*outStride+headDim-1], shares[n*8-1], values[(n-1)*stride+headDim-1]
	mixAVX2(&out[0], outStride, &shares[0], &values[0], stride, n)
}

// mixAVX2 is mix.
//
//go:noescape
func mixAVX2(out *float32, outStride int, shares, values *float32, stride, n int)
