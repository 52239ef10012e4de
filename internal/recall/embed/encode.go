package embed

import (
	"context"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
)

// Vectors are compared by their angle alone; every one has the length 1. They are the same to
// the bit on every platform: a product is converted before it is added to something, so that no
// compiler makes one operation of two (Go does on arm64).

// encode is the mean of what the last layer makes of the tokens; nothing of use where ctx
// ends before.
func (m *Model) encode(ctx context.Context, text string) []float32 {
	ids := m.words.tokenize(text, m.MaxTokens)
	w := m.work(len(ids))
	defer pool.Put(w)
	m.begin(w, ids)
	for i := range m.layers {
		if ctx.Err() != nil {
			break
		}
		m.layer(w, &m.layers[i])
	}
	mean := make([]float32, m.Dim)
	for t := range len(ids) {
		for i, x := range w.x[t*m.Dim : (t+1)*m.Dim] {
			mean[i] += x
		}
	}
	length := float64(0)
	for _, x := range mean {
		length += float64(float64(x) * float64(x))
	}
	by := float32(1 / math.Sqrt(math.Max(length, 1e-24)))
	for i := range mean {
		mean[i] *= by
	}
	return mean
}

// work is the memory of one text on its way through the layers.
type work struct {
	tokens, padded int       // padded: tokens, up to a multiple of 16; what stands in other rows does not count
	wide           int       // tokens, up to a multiple of 32
	x, y           []float32 // tokens x dim
	qkv            []float32 // tokens x 3 dim
	keys           []float32 // dim x wide: keys of all heads, one dimension a row; where there is no kernel
	queries        []float32 // headDim x 16: queries of a head, one dimension a row, for kernels
	scores         []float32 // of 16 queries
	inner          []float32 // tokens x inner
	q              []byte    // padded x inner
	turned         []uint32  // q as kernels need it
	steps          []float32 // of the rows of q: what 1 of a byte counts, and what is added
	pairs          []int64   // q, two tokens in one, where there is no kernel
	least, scale   float32   // of q
	factors        []float32 // of the rows of a matrix and q
	offsets        []float32 // of the rows of a matrix: bias, and what the least of q makes
}

var pool = sync.Pool{New: func() any { return new(work) }}

func (m *Model) work(tokens int) *work {
	w := pool.Get().(*work)
	w.tokens, w.padded, w.wide = tokens, (tokens+15)&^15, (tokens+31)&^31
	grow(&w.x, w.padded*m.Dim)
	grow(&w.y, w.padded*m.Dim)
	grow(&w.qkv, w.padded*3*m.Dim)
	grow(&w.scores, 16*w.wide)
	grow(&w.inner, w.padded*m.Inner)
	grow(&w.factors, max(3*m.Dim, m.Inner))
	grow(&w.offsets, max(3*m.Dim, m.Inner))
	wide := max(m.Dim, m.Inner)
	grow(&w.q, w.padded*wide)
	if isPlain() {
		grow(&w.pairs, w.padded/2*wide)
		grow(&w.keys, m.Dim*w.wide)
	} else {
		grow(&w.queries, 16*headDim)
		grow(&w.turned, w.padded*wide/4)
	}
	return w
}

func grow[T any](b *[]T, n int) {
	if cap(*b) < n {
		*b = make([]T, n)
	}
	*b = (*b)[:n]
}

// begin fills x with what the tokens mean and where they stand.
func (m *Model) begin(w *work, ids []int32) {
	for t, id := range ids {
		row, scale := m.tokens.rows[int(id)*m.Dim:], m.tokens.scale[id]
		x, at := w.x[t*m.Dim:(t+1)*m.Dim], m.positions[t*m.Dim:]
		for i := range x {
			x[i] = float32(float32(row[i])*scale) + at[i]
		}
	}
	clear(w.x[len(ids)*m.Dim:])
	m.first.apply(w.x, w.tokens)
}

func (m *Model) layer(w *work, l *layer) {
	w.times(w.qkv, w.x, &l.qkv, nil)
	m.attend(w)
	w.times(w.y, w.y, &l.out, w.x)
	l.outNorm.apply(w.y, w.tokens)
	w.times(w.inner, w.y, &l.inner, nil)
	gelu(w.inner[:w.tokens*m.Inner])
	w.times(w.x, w.inner, &l.outer, w.y)
	l.outerNorm.apply(w.x, w.tokens)
}

// attendPlain fills y with what every token takes from the others.
func (m *Model) attendPlain(w *work) {
	for t := range w.tokens {
		keys := w.qkv[t*3*m.Dim+m.Dim : t*3*m.Dim+2*m.Dim]
		for d, x := range keys {
			w.keys[d*w.wide+t] = x
		}
	}
	for t := range w.tokens {
		row := w.qkv[t*3*m.Dim:]
		for h := range m.Heads {
			query := row[h*headDim : (h+1)*headDim]
			keys := w.keys[h*headDim*w.wide:]
			for at := 0; at < w.wide; at += 32 {
				weighPlain((*[32]float32)(w.scores[at:]), query, keys[at:], w.wide)
			}
			scores := w.scores[:w.tokens]
			softmax(scores)
			out := (*[32]float32)(w.y[t*m.Dim+h*headDim:])
			weighPlain(out, scores, w.qkv[2*m.Dim+h*headDim:], 3*m.Dim)
		}
	}
}

// times fills out with in times the matrix, plus the bias, plus add where there is
// one. The products are of integers, and so the same on every machine.
func (w *work) times(out, in []float32, l *linear, add []float32) {
	w.quantize(in, l.k)
	for i, scale := range l.scale {
		w.factors[i] = w.scale * scale
		w.offsets[i] = l.bias[i] + float32(float32(float32(l.sum[i])*w.least)*scale)
	}
	w.product(out, l, add)
}

// quantize fills q with the rows of in as bytes, as the published model does: one scale
// for the whole text, and 0 is a byte. The byte q means (q - zero) * scale.
func (w *work) quantize(in []float32, k int) {
	n := w.tokens * k
	least, most := bounds(in[:n])
	clear(w.q[n : w.padded*k])
	w.scale, w.least = (most-least)/255, 0
	if w.scale == 0 {
		clear(w.q[:n])
		return
	}
	zero := float32(math.RoundToEven(float64(-least / w.scale)))
	w.least = -zero * w.scale
	toBytes(w.q[:n], in[:n], 1/w.scale, int32(zero))
}

// boundsPlain returns the least and the most of numbers and 0.
func boundsPlain(in []float32) (least, most float32) {
	for _, x := range in {
		least, most = min(least, x), max(most, x)
	}
	return least, most
}

// toBytesPlain fills q with numbers times by, rounded, plus zero.
func toBytesPlain(q []byte, in []float32, by float32, zero int32) {
	for i, x := range in {
		q[i] = byte(max(0, min(255, roundEven(float32(x*by))+zero)))
	}
}

// roundEven rounds to the nearest whole number, and a half to the even one. It is for
// numbers below 1<<22.
func roundEven(x float32) int32 {
	const magic = 3 << 22
	return int32(float32(x+magic) - magic)
}

// applyPlain norms rows of x.
func (n layerNorm) applyPlain(x []float32, rows int) {
	width := len(n.weight)
	for t := range rows {
		n.row(x[t*width : (t+1)*width])
	}
}

func (n layerNorm) row(x []float32) {
	const epsilon = 1e-12
	sum := float64(0)
	for _, v := range x {
		sum += float64(v)
	}
	mean := sum / float64(len(x))
	sum = 0
	for _, v := range x {
		d := float64(v) - mean
		sum += float64(d * d)
	}
	by, middle := float32(1/math.Sqrt(sum/float64(len(x))+epsilon)), float32(mean)
	for i, v := range x {
		x[i] = float32(float32((v-middle)*by)*n.weight[i]) + n.bias[i]
	}
}

// softmax makes shares of scores.
func softmax(x []float32) {
	most := x[0]
	for _, v := range x {
		if v > most {
			most = v
		}
	}
	sum := float32(0)
	for i, v := range x {
		e := exp(v - most)
		x[i] = e
		sum += e
	}
	by := 1 / sum
	for i := range x {
		x[i] *= by
	}
}

// Name tells the model apart from others.
func (m *Model) Name() string { return m.Header.Name + "@" + m.digest[:16] }

// Embed returns the vectors of texts, of questions or of passages, on all processors. It
// stops when ctx ends.
func (m *Model) Embed(ctx context.Context, texts []string, question bool) ([][]float32, error) {
	prefix := m.PassagePrefix
	if question {
		prefix = m.QueryPrefix
	}
	return each(ctx, texts, func(text string) []float32 { return m.encode(ctx, prefix+text) })
}

// each returns what encode makes of texts, on all processors. It stops when ctx ends.
func each(ctx context.Context, texts []string, encode func(string) []float32) ([][]float32, error) {
	out := make([][]float32, len(texts))
	var next atomic.Int64
	work := func() {
		for ctx.Err() == nil {
			i := int(next.Add(1)) - 1
			if i >= len(texts) {
				return
			}
			out[i] = encode(texts[i])
		}
	}
	var others sync.WaitGroup
	for range min(len(texts), runtime.GOMAXPROCS(0)) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return out, nil
}
