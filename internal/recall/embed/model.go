// Package embed turns text into vectors whose angle tells how near two texts are in
// meaning. The built-in model is a small BERT that runs in pure Go, with int8 weights
// and integer products, so that every platform gives the same numbers to the bit.
package embed

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"unsafe"
)

// Magic begins every model file.
const Magic = "AMBERMD1"

// Header says what a model file holds.
type Header struct {
	Name          string `json:"name"`
	Licence       string `json:"licence"`
	Source        string `json:"source"`
	SourceSHA256  string `json:"source_sha256"`
	Dim           int    `json:"dim"`
	Layers        int    `json:"layers"`
	Heads         int    `json:"heads"`
	Inner         int    `json:"inner"`
	Vocabulary    int    `json:"vocabulary"`
	MaxTokens     int    `json:"max_tokens"`
	QueryPrefix   string `json:"query_prefix"`
	PassagePrefix string `json:"passage_prefix"`
}

// Bounds of a header: a file is not trusted before it is checked.
const (
	maxHeader = 1 << 16
	maxLayers = 48
	maxWide   = 1 << 13
	maxWords  = 1 << 20
	maxTokens = 4096
	headDim   = 32
)

// digestSize is the size of the digest at the end of a model file.
const digestSize = sha256.Size

// MaxWeight bounds the weights of layers: two products of one with a byte fit into 16
// bits, as some vector instructions have them.
const MaxWeight = 64

func (h Header) check() error {
	switch {
	case h.Dim < 64 || h.Dim > maxWide || h.Dim%64 != 0 || h.Inner < 64 || h.Inner > maxWide || h.Inner%64 != 0:
		return fmt.Errorf("the model is %d and %d wide, want multiples of 64 up to %d", h.Dim, h.Inner, maxWide)
	case h.Heads < 1 || h.Dim != h.Heads*headDim:
		return fmt.Errorf("%d heads for a width of %d, want heads of %d", h.Heads, h.Dim, headDim)
	case h.Layers < 1 || h.Layers > maxLayers:
		return fmt.Errorf("%d layers, want 1 to %d", h.Layers, maxLayers)
	case h.Vocabulary < 200 || h.Vocabulary > maxWords:
		return fmt.Errorf("%d words, want 200 to %d", h.Vocabulary, maxWords)
	case h.MaxTokens < 4 || h.MaxTokens > maxTokens:
		return fmt.Errorf("%d tokens, want 4 to %d", h.MaxTokens, maxTokens)
	}
	return nil
}

// matrix is n rows of k int8 numbers; row i counts scale[i] times.
type matrix struct {
	n, k  int
	scale []float32
	sum   []int32
	rows  []int8
}

// layerNorm is a layer norm.
type layerNorm struct{ weight, bias []float32 }

// linear is a matrix with what is added to its product.
type linear struct {
	matrix
	bias []float32
}

// layer is one block of the encoder.
type layer struct {
	qkv, out     linear
	outNorm      layerNorm
	inner, outer linear
	outerNorm    layerNorm
}

// Model is a model that was read. It is safe for concurrent use.
type Model struct {
	Header
	digest    string
	words     vocabulary
	tokens    matrix
	positions []float32
	first     layerNorm
	layers    []layer
}

// Parse reads a model file. The model keeps data, which must not change.
func Parse(data []byte) (*Model, error) {
	m := &Model{}
	r, err := open(data, Magic, &m.Header)
	if err != nil {
		return nil, err
	}
	m.digest = hex.EncodeToString(data[len(r.data):])
	if err := m.check(); err != nil {
		return nil, err
	}
	m.read(r)
	switch {
	case r.err != nil:
		return nil, r.err
	case r.at != len(r.data):
		return nil, fmt.Errorf("%d bytes follow the last layer, want none", len(r.data)-r.at)
	}
	return m, m.words.check()
}

func (m *Model) read(r *reader) {
	m.words = r.words(m.Vocabulary)
	m.tokens = r.matrix(m.Vocabulary, m.Dim)
	m.positions = numbers[float32](r, m.MaxTokens*m.Dim)
	m.first = r.norm(m.Dim)
	m.layers = make([]layer, m.Layers)
	for i := range m.layers {
		m.layers[i] = layer{
			qkv: r.linear(3*m.Dim, m.Dim), out: r.linear(m.Dim, m.Dim), outNorm: r.norm(m.Dim),
			inner: r.linear(m.Inner, m.Dim), outer: r.linear(m.Dim, m.Inner), outerNorm: r.norm(m.Dim),
		}
	}
}

// reader reads a model file. After the first error it returns nothing.
type reader struct {
	data []byte
	at   int
	err  error
}

func (r *reader) bytes(n int) []byte {
	if r.err == nil && (n < 0 || n > len(r.data)-r.at) {
		r.err = fmt.Errorf("the model file is cut off: %d bytes are wanted at %d, found %d", n, r.at, len(r.data)-r.at)
	}
	if r.err != nil {
		return nil
	}
	b := r.data[r.at : r.at+n : r.at+n]
	r.at += n
	return b
}

func (r *reader) u32() uint32 {
	if b := r.bytes(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (r *reader) align() { r.bytes(-r.at & 63) }

// numbers reads n numbers of four bytes.
func numbers[T uint32 | int32 | float32](r *reader, n int) []T {
	r.align()
	b := r.bytes(4 * n)
	if b == nil {
		return make([]T, n)
	}
	if littleEndian && uintptr(unsafe.Pointer(unsafe.SliceData(b)))%4 == 0 {
		return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
	}
	out := make([]T, n)
	for i := range out {
		v := binary.LittleEndian.Uint32(b[4*i:])
		out[i] = *(*T)(unsafe.Pointer(&v))
	}
	return out
}

// littleEndian reports whether numbers in the file are as they are in memory.
var littleEndian = func() bool {
	one := uint16(1)
	return *(*byte)(unsafe.Pointer(&one)) == 1
}()

func (r *reader) matrix(n, k int) matrix {
	m := matrix{n: n, k: k, scale: numbers[float32](r, n), sum: numbers[int32](r, n)}
	r.align()
	if b := r.bytes(n * k); b != nil {
		m.rows = unsafe.Slice((*int8)(unsafe.Pointer(unsafe.SliceData(b))), n*k)
	}
	return m
}

func (r *reader) linear(n, k int) linear {
	m := r.matrix(n, k)
	return linear{m, numbers[float32](r, n)}
}

func (r *reader) norm(n int) layerNorm {
	return layerNorm{numbers[float32](r, n), numbers[float32](r, n)}
}
