package search

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// A vector says what a text means; the angle between two says how near they are. It is
// stored as a scale (float32, little-endian) and one signed byte per dimension. A scan
// reads only its signs, one bit per dimension.

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
// those that are allowed; nil allows all. Among equals the newest come first. It looks at
// every row.
func Nearest(question Vector, chunks []Signs, allowed func(row int64) bool, n int) []Near {
	signs := question.AppendSigns(nil)
	width := len(signs)
	if width == 0 || n <= 0 {
		return nil
	}
	words := make([]uint64, width/8)
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(signs[8*i:])
	}
	found := nearestSoFar{n: n, limit: 8 * width, count: make([]int, 8*width+1)}
	var distances [scanned]uint16
	for _, c := range chunks {
		if len(c.Bits) != width*len(c.Rows) {
			continue // of vectors with other dimensions
		}
		for rows, bits := c.Rows, c.Bits; len(rows) > 0; {
			part := min(len(rows), scanned)
			if width == usualWidth {
				usualDistances(distances[:part], bits[:part*width], (*[usualWidth / 8]uint64)(words))
			} else {
				for i := range part {
					distances[i] = uint16(distance(bits[i*width:(i+1)*width], signs, words))
				}
			}
			for i, d := range distances[:part] {
				if int(d) <= found.limit && (allowed == nil || allowed(rows[i])) {
					found.add(Near{rows[i], int(d)})
				}
			}
			rows, bits = rows[part:], bits[part*width:]
		}
	}
	return found.best()
}

// scanned is how many distances are taken at a time.
const scanned = 256

// nearestSoFar are rows among which the n nearest are.
type nearestSoFar struct {
	n     int
	limit int // farther ones do not count any more
	rows  []Near
	count []int // of rows by distance
	near  int   // rows that are not beyond the limit
}

// add adds a row that is not beyond the limit.
func (f *nearestSoFar) add(x Near) {
	f.rows = append(f.rows, x)
	f.count[x.Distance]++
	for f.near++; f.near-f.count[f.limit] >= f.n; f.limit-- {
		f.near -= f.count[f.limit]
	}
}

func (f *nearestSoFar) best() []Near {
	return nearest(slices.DeleteFunc(f.rows, func(x Near) bool { return x.Distance > f.limit }), f.n)
}

func nearest(found []Near, n int) []Near {
	slices.SortFunc(found, func(a, b Near) int { return cmp.Or(cmp.Compare(a.Distance, b.Distance), cmp.Compare(b.Row, a.Row)) })
	return found[:min(n, len(found))]
}

// usualWidth is the width of the signs of 384 dimensions.
const usualWidth = 48

// plainDistances fills in how many signs of each row differ, for rows of the usual width.
func plainDistances(out []uint16, signs []byte, words *[usualWidth / 8]uint64) {
	for i := range out {
		b := (*[usualWidth]byte)(signs[i*usualWidth:])
		n := bits.OnesCount64(binary.LittleEndian.Uint64(b[0:])^words[0]) + bits.OnesCount64(binary.LittleEndian.Uint64(b[8:])^words[1]) +
			bits.OnesCount64(binary.LittleEndian.Uint64(b[16:])^words[2]) + bits.OnesCount64(binary.LittleEndian.Uint64(b[24:])^words[3]) +
			bits.OnesCount64(binary.LittleEndian.Uint64(b[32:])^words[4]) + bits.OnesCount64(binary.LittleEndian.Uint64(b[40:])^words[5])
		out[i] = uint16(n)
	}
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
