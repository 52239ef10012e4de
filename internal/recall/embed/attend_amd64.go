package embed

// attend is attendPlain. It takes the queries of 16 tokens at once, or of 8, one a lane: so the
// sums of each have their order.
func (m *Model) attend(w *work) {
	if !hasAVX2 {
		m.attendPlain(w)
		return
	}
	stride, lanes := 3*m.Dim, 0
	for t := 0; t < w.tokens; t += lanes {
		if lanes = 8; hasVNNI && w.tokens-t > 8 {
			lanes = 16
		}
		for h := range m.Heads {
			at := h * headDim
			for s := 0; s < lanes; s += 8 {
				turn(w.queries[s:], lanes, w.qkv[(t+s)*stride+at:], stride, headDim)
			}
			scores(w.scores, w.queries, w.qkv[m.Dim+at:], stride, (w.tokens+7)&^7, lanes)
			shares(w.scores, w.tokens, lanes)
			mix(w.y[t*m.Dim+at:], m.Dim, w.scores, w.qkv[2*m.Dim+at:], stride, w.tokens, lanes)
		}
	}
}

// scores fills out with n keys, a multiple of 8, stride apart, times a query a lane.
func scores(out, queries, keys []float32, stride, n, lanes int) {
	_, _, _ = out[n*lanes-1], queries[headDim*lanes-1], keys[(n-1)*stride+headDim-1]
	if lanes == 16 {
		scoresAVX512(&out[0], &queries[0], &keys[0], stride, n)
	} else {
		scoresAVX2(&out[0], &queries[0], &keys[0], stride, n)
	}
}

// shares is softmax for the queries of lanes, with n scores each.
func shares(x []float32, n, lanes int) {
	_ = x[n*lanes-1]
	if lanes == 16 {
		sharesAVX512(&x[0], n)
	} else {
		sharesAVX2(&x[0], n)
	}
}

// mix fills a row of out for each lane with the sums of n rows of values, times the shares of its query.
func mix(out []float32, outStride int, shares, values []float32, stride, n, lanes int) {
	_, _, _ = out[(lanes-1)*outStride+headDim-1], shares[n*lanes-1], values[(n-1)*stride+headDim-1]
	if lanes == 16 {
		mixAVX512(&out[0], outStride, &shares[0], &values[0], stride, n)
	} else {
		mixAVX2(&out[0], outStride, &shares[0], &values[0], stride, n)
	}
}

// scoresAVX2 is scores with 8 lanes.
//
//go:noescape
func scoresAVX2(out, queries, keys *float32, stride, n int)

// sharesAVX2 is shares with 8 lanes.
//
//go:noescape
func sharesAVX2(x *float32, n int)

// mixAVX2 is mix with 8 lanes.
//
//go:noescape
func mixAVX2(out *float32, outStride int, shares, values *float32, stride, n int)

// scoresAVX512 is scores with 16 lanes.
//
//go:noescape
func scoresAVX512(out, queries, keys *float32, stride, n int)

// sharesAVX512 is shares with 16 lanes.
//
//go:noescape
func sharesAVX512(x *float32, n int)

// mixAVX512 is mix with 16 lanes.
//
//go:noescape
func mixAVX512(out *float32, outStride int, shares, values *float32, stride, n int)
