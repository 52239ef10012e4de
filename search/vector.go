package search

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// A vector says what a text means; the angle between two says how near they are. It is
// stored as a scale (float32, little-endian) and one signed byte per dimension. What a
// scan reads of it is the signs alone, one bit per dimension.

// Vector is a vector as it is stored.
type Vector []byte

const vectorHead = 4

// Quantize returns a vector as it is stored.
func Quantize(v []float32) Vector {
	most := float32(0)
	for _, x := range v {
		most = max(most, x, -x)
	}
	out := make(Vector, vectorHead+len(v))
	binary.LittleEndian.PutUint32(out, math.Float32bits(most/127))
	if most == 0 {
		return out
	}
	by := 127 / float64(most)
	for i, x := range v {
		out[vectorHead+i] = byte(int8(math.RoundToEven(float64(x) * by)))
	}
	return out
}

// Dim returns how many dimensions a vector has; 0 means that it is damaged.
func (v Vector) Dim() int { return max(0, len(v)-vectorHead) }

func (v Vector) scale() float64 { return float64(math.Float32frombits(binary.LittleEndian.Uint32(v))) }

// Cosine is how near two vectors of length 1 are: 1 is the same, 0 nothing in common.
func Cosine(a, b Vector) float64 {
	if a.Dim() == 0 || a.Dim() != b.Dim() {
		return 0
	}
	sum := int32(0)
	x, y := a[vectorHead:], b[vectorHead:]
	y = y[:len(x)]
	for i := range x {
		sum += int32(int8(x[i])) * int32(int8(y[i]))
	}
	return float64(float64(float64(sum)*a.scale()) * b.scale())
}

// AppendSigns appends the signs of a vector, eight dimensions a byte.
func (v Vector) AppendSigns(b []byte) []byte {
	for i := vectorHead; i < len(v); i += 8 {
		signs := byte(0)
		for k := range min(8, len(v)-i) {
			signs |= v[i+k] >> 7 << k
		}
		b = append(b, signs)
	}
	return b
}

// Signs are the signs of many vectors, one behind the other, with their rows.
type Signs struct {
	Rows []int64
	Bits []byte
}

// Near is a row and how many signs of its vector differ from those of a question.
type Near struct {
	Row      int64
	Distance int
}

// Nearest returns the n rows whose signs differ least from those of a question, among
// those that are allowed; nil allows all. Of equals the newest come first. It looks at
// every row.
func Nearest(question Vector, chunks []Signs, allowed func(row int64) bool, n int) []Near {
	signs := question.AppendSigns(nil)
	width := len(signs)
	if width == 0 {
		return nil
	}
	words := make([]uint64, width/8)
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(signs[8*i:])
	}
	var found []Near
	limit := 8 * width // farther ones do not count any more
	for _, c := range chunks {
		if len(c.Bits) != width*len(c.Rows) {
			continue // of vectors with other dimensions
		}
		for i, row := range c.Rows {
			var d int
			if width == usualWidth {
				d = usualDistance((*[usualWidth]byte)(c.Bits[i*width:]), (*[usualWidth / 8]uint64)(words))
			} else {
				d = distance(c.Bits[i*width:(i+1)*width], signs, words)
			}
			if d > limit || allowed != nil && !allowed(row) {
				continue
			}
			if found = append(found, Near{row, d}); len(found) >= 2*n+1024 {
				found = nearest(found, n)
				limit = found[n-1].Distance
			}
		}
	}
	return nearest(found, n)
}

func nearest(found []Near, n int) []Near {
	slices.SortFunc(found, func(a, b Near) int { return cmp.Or(cmp.Compare(a.Distance, b.Distance), cmp.Compare(b.Row, a.Row)) })
	return found[:min(n, len(found))]
}

// usualWidth is the width of the signs of 384 dimensions.
const usualWidth = 48

// usualDistance is distance for the usual width.
func usualDistance(b *[usualWidth]byte, words *[usualWidth / 8]uint64) int {
	return bits.OnesCount64(binary.LittleEndian.Uint64(b[0:])^words[0]) + bits.OnesCount64(binary.LittleEndian.Uint64(b[8:])^words[1]) +
		bits.OnesCount64(binary.LittleEndian.Uint64(b[16:])^words[2]) + bits.OnesCount64(binary.LittleEndian.Uint64(b[24:])^words[3]) +
		bits.OnesCount64(binary.LittleEndian.Uint64(b[32:])^words[4]) + bits.OnesCount64(binary.LittleEndian.Uint64(b[40:])^words[5])
}

func distance(b, signs []byte, words []uint64) (n int) {
	for i, w := range words {
		n += bits.OnesCount64(binary.LittleEndian.Uint64(b[8*i:]) ^ w)
	}
	for i := 8 * len(words); i < len(b); i++ {
		n += bits.OnesCount8(b[i] ^ signs[i])
	}
	return n
}
