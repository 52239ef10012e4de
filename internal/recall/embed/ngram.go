package embed

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"unsafe"
)

// MagicNgram begins the file of a model of n-grams.
const MagicNgram = "AMBERMD2"

// NgramHeader describes the file of a model of n-grams.
type NgramHeader struct {
	Name         string `json:"name"`
	Licence      string `json:"licence"`
	Source       string `json:"source"`
	SourceSHA256 string `json:"source_sha256"`
	Dim          int    `json:"dim"`
	Inner        int    `json:"inner"`  // of each order of n-grams
	Hidden       int    `json:"hidden"` // of the layers behind the sum
	Vocabulary   int    `json:"vocabulary"`
	Shards       int    `json:"shards"` // of the table of pieces: piece i belongs to shard i mod shards
	MaxTokens    int    `json:"max_tokens"`
	// Languages are the tags (BCP 47) of the languages that the model knows.
	Languages []string `json:"languages"`
}

// maxShards bounds the shards of a table.
const maxShards = 1 << 10

func (h NgramHeader) check() error {
	switch {
	case slices.ContainsFunc([]int{h.Dim, h.Inner, h.Hidden}, func(n int) bool { return n < 64 || n > maxWide || n%64 != 0 }):
		return fmt.Errorf("the model is %d, %d and %d wide, want multiples of 64 up to %d", h.Dim, h.Inner, h.Hidden, maxWide)
	case h.Vocabulary < 3 || h.Vocabulary > maxWords:
		return fmt.Errorf("%d pieces, want 3 to %d", h.Vocabulary, maxWords)
	case h.Shards < 1 || h.Shards > maxShards:
		return fmt.Errorf("%d shards, want 1 to %d", h.Shards, maxShards)
	case h.MaxTokens < 4 || h.MaxTokens > maxTokens:
		return fmt.Errorf("%d tokens, want 4 to %d", h.MaxTokens, maxTokens)
	}
	return nil
}

// orders are the n-grams that a model looks at: of so many pieces, of which so many stand before the one in question.
var orders = [...]struct{ pieces, before int }{{2, 0}, {3, 1}, {5, 2}}

// convolution looks at n-grams of one order, twice.
type convolution struct{ first, second rowLinear }

// Ngram is a sentence model that adds up what the pieces of a text and their n-grams mean, and puts the sum through a few
// layers. It is read where it lies in memory, and safe for concurrent use.
type Ngram struct {
	NgramHeader
	digest       string
	pieces       unigram
	scale, least []float32 // of each shard
	table        []byte    // four numbers of six bits in three bytes
	project      rowLinear
	projectNorm  layerNorm
	orders       [len(orders)]convolution
	norm         layerNorm
	sum          rowLinear
	// The layers behind the sum: two with a way around them.
	in, inAround, inner, out, outAround, outer rowLinear
}

// ParseNgram reads the file of a model of n-grams. The model keeps data, which must not change.
func ParseNgram(data []byte) (*Ngram, error) {
	m := &Ngram{}
	r, err := open(data, MagicNgram, &m.NgramHeader)
	if err != nil {
		return nil, err
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	m.digest = hex.EncodeToString(data[len(r.data):])
	m.read(r)
	switch {
	case r.err != nil:
		return nil, r.err
	case r.at != len(r.data):
		return nil, fmt.Errorf("%d bytes follow the last layer, want none", len(r.data)-r.at)
	}
	return m, m.pieces.check()
}

func (m *Ngram) read(r *reader) {
	m.pieces.vocabulary = r.words(m.Vocabulary)
	m.pieces.scores = numbers[float32](r, m.Vocabulary)
	m.pieces.trie, m.pieces.texts = r.sized(), r.sized()
	m.scale, m.least = numbers[float32](r, m.Shards), numbers[float32](r, m.Shards)
	r.align()
	m.table = r.bytes(m.Vocabulary * m.Dim / 4 * 3)
	wide := len(orders) * m.Inner
	m.project, m.projectNorm = r.rowLinear(wide, m.Dim), r.norm(wide)
	for i, o := range orders {
		m.orders[i] = convolution{r.rowLinear(m.Inner, o.pieces*m.Inner), r.rowLinear(m.Inner, o.pieces*m.Inner)}
	}
	m.norm, m.sum = r.norm(m.Dim+wide), r.rowLinear(m.Dim, m.Dim+wide)
	m.in, m.inner, m.inAround = r.rowLinear(m.Hidden, m.Dim), r.rowLinear(m.Hidden, m.Hidden), r.rowLinear(m.Hidden, m.Dim)
	m.out, m.outer, m.outAround = r.rowLinear(m.Dim, m.Hidden), r.rowLinear(m.Dim, m.Dim), r.rowLinear(m.Dim, m.Hidden)
}

// rowLinear is a linear whose input is made bytes row by row: a piece that means much does not make the others coarse.
type rowLinear struct {
	linear
	ofLeast []float32 // what the least of a row adds to each number, for each 1 of it
}

func (r *reader) rowLinear(n, k int) rowLinear {
	l := rowLinear{linear: r.linear(n, k), ofLeast: make([]float32, n)}
	for i, sum := range l.sum {
		l.ofLeast[i] = float32(float32(sum) * l.scale[i])
	}
	return l
}

// rows fills out with the rows of in times the matrix, plus the bias. Out has room for rows up to a multiple of 16.
func (w *work) rows(out, in []float32, l *rowLinear, rows int) {
	w.tokens, w.padded = rows, (rows+15)&^15
	grow(&w.q, w.padded*l.k)
	if isPlain() {
		grow(&w.pairs, w.padded/2*l.k)
	} else {
		grow(&w.turned, w.padded*l.k/4)
	}
	grow(&w.factors, l.n)
	grow(&w.offsets, l.n)
	copy(w.factors, l.scale)
	clear(w.offsets)
	grow(&w.steps, 2*w.padded)
	for t := range rows {
		w.steps[2*t], w.steps[2*t+1] = rowBytes(w.q[t*l.k:(t+1)*l.k], in[t*l.k:(t+1)*l.k])
	}
	clear(w.q[rows*l.k:])
	w.product(out, &l.linear, nil)
	for t := range rows {
		step, least := w.steps[2*t], w.steps[2*t+1]
		row := out[t*l.n : (t+1)*l.n]
		for i := range row {
			row[i] = float32(row[i]*step) + float32(float32(l.ofLeast[i]*least)+l.bias[i])
		}
	}
}

// rowBytes fills q with a row as bytes: byte b means b times step, plus least.
func rowBytes(q []byte, in []float32) (step, least float32) {
	low, high := bounds(in)
	if low == high {
		clear(q)
		return 0, 0
	}
	step = (high - low) / 255
	zero := float32(math.RoundToEven(float64(-low / step)))
	toBytes(q, in, 1/step, int32(zero))
	return step, -zero * step
}

// Query returns the vector of a question; there is no difference to that of a passage.
func (m *Ngram) Query(text string) []float32 { return m.encode(context.Background(), text) }

// encode returns the vector of a text; nothing of use where ctx ends before.
func (m *Ngram) encode(_ context.Context, text string) []float32 {
	ids := m.pieces.tokenize(text, m.MaxTokens)
	n, inner, wide := len(ids), m.Inner, len(orders)*m.Inner
	padded := (n + 15) &^ 15
	w := pool.Get().(*work)
	defer pool.Put(w)
	grow(&w.x, padded*m.Dim)
	grow(&w.qkv, padded*wide)
	grow(&w.y, padded*inner)
	grow(&w.inner, padded*slices.Max([]int{5 * inner, m.Dim + wide}))
	features := make([]float32, n*(m.Dim+wide))
	for t, id := range ids {
		m.piece(w.x[t*m.Dim:(t+1)*m.Dim], int(id))
		copy(features[t*(m.Dim+wide):], w.x[t*m.Dim:(t+1)*m.Dim])
	}
	w.rows(w.qkv, w.x, &m.project, n)
	m.projectNorm.applyPlain(w.qkv, n)
	one := make([]float32, n*inner)
	for i, o := range orders {
		for t := range n {
			copy(one[t*inner:(t+1)*inner], w.qkv[t*wide+i*inner:])
		}
		for _, l := range []*rowLinear{&m.orders[i].first, &m.orders[i].second} {
			windows(w.inner, one, n, inner, o.pieces, o.before)
			w.rows(w.y, w.inner, l, n)
			for j, v := range w.y[:n*inner] {
				one[j] += max(v, 0)
			}
		}
		for t := range n {
			copy(features[t*(m.Dim+wide)+m.Dim+i*inner:], one[t*inner:(t+1)*inner])
		}
	}
	m.norm.applyPlain(features, n)
	for t := 1; t < n; t++ {
		for i, v := range features[t*(m.Dim+wide) : (t+1)*(m.Dim+wide)] {
			features[i] += v
		}
	}
	return m.behind(w, features[:m.Dim+wide], n)
}

// behind puts the sum of n pieces through the layers behind it.
func (m *Ngram) behind(w *work, sum []float32, n int) []float32 {
	room := func() []float32 { return make([]float32, 16*max(m.Dim, m.Hidden)) }
	mean, a, b := room(), room(), room()
	w.rows(mean, sum, &m.sum, 1)
	by := float32(1 / math.Sqrt(float64(n)))
	for i := range m.Dim {
		// The bias was added once, and counts for every piece.
		mean[i] = float32((mean[i] + float32(float32(n-1)*m.sum.bias[i])) * by)
	}
	w.rows(a, mean, &m.in, 1)
	relu(a[:m.Hidden])
	w.rows(b, a, &m.inner, 1)
	w.rows(a, mean, &m.inAround, 1)
	for i := range m.Hidden {
		a[i] = max(a[i]+b[i], 0)
	}
	w.rows(mean, a, &m.out, 1)
	relu(mean[:m.Dim])
	w.rows(b, mean, &m.outer, 1)
	w.rows(mean, a, &m.outAround, 1)
	length := float64(0)
	out := make([]float32, m.Dim)
	for i := range out {
		out[i] = tanh(mean[i] + b[i])
		length += float64(float64(out[i]) * float64(out[i]))
	}
	by = float32(1 / math.Sqrt(math.Max(length, 1e-24)))
	for i := range out {
		out[i] *= by
	}
	return out
}

// piece fills out with what a piece means.
func (m *Ngram) piece(out []float32, id int) {
	scale, least := m.scale[id%m.Shards], m.least[id%m.Shards]
	b := m.table[id*m.Dim/4*3 : (id+1)*m.Dim/4*3]
	for i := 0; i < len(out); i += 4 {
		four := uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16
		b = b[3:]
		for j := range 4 {
			out[i+j] = float32(float32(four>>(6*j)&63)*scale) + least
		}
	}
}

// windows fills out with the rows around each of n rows, one behind the other; those before the first and behind the last
// are zero.
func windows(out, in []float32, n, width, pieces, before int) {
	for t := range n {
		for k := range pieces {
			to := out[(t*pieces+k)*width : (t*pieces+k+1)*width]
			if from := t - before + k; from >= 0 && from < n {
				copy(to, in[from*width:(from+1)*width])
			} else {
				clear(to)
			}
		}
	}
}

func relu(x []float32) {
	for i, v := range x {
		x[i] = max(v, 0)
	}
}

// tanh is made of single operations, as exp is.
func tanh(x float32) float32 {
	e := exp(-2 * max(x, -x))
	y := (1 - e) / (1 + e)
	if x < 0 {
		return -y
	}
	return y
}

// Name tells the model apart from others.
func (m *Ngram) Name() string { return m.NgramHeader.Name + "@" + m.digest[:16] }

// Embed returns the vectors of texts, on all processors. It stops when ctx ends.
func (m *Ngram) Embed(ctx context.Context, texts []string, _ bool) ([][]float32, error) {
	return each(ctx, texts, func(text string) []float32 { return m.encode(ctx, text) })
}

// open returns a reader of what follows the header of a model file, up to its digest.
func open(data []byte, magic string, header any) (*reader, error) {
	if len(data) < len(magic)+4+digestSize || string(data[:len(magic)]) != magic {
		return nil, errors.New("the file is no model file: it does not begin with " + magic)
	}
	r := &reader{data: data[:len(data)-digestSize], at: len(magic)}
	size := int(r.u32())
	if size > maxHeader {
		return nil, fmt.Errorf("the header has %d bytes, want at most %d", size, maxHeader)
	}
	if err := json.Unmarshal(r.bytes(size), header); err != nil {
		return nil, fmt.Errorf("read header: %w", errors.Join(err, r.err))
	}
	return r, nil
}

// words reads a vocabulary of n words.
func (r *reader) words(n int) (v vocabulary) {
	v.ends, v.sorted = numbers[uint32](r, n+1), numbers[uint32](r, n)
	r.align()
	if b := r.bytes(int(v.ends[n])); b != nil {
		v.text = unsafe.String(unsafe.SliceData(b), len(b))
	}
	return v
}

// sized reads bytes that their number stands before.
func (r *reader) sized() []byte {
	r.align()
	return r.bytes(int(r.u32()))
}
