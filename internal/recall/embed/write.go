package embed

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"
	"strings"
)

// File is a model file that grows.
type File struct{ b []byte }

// NewFile begins a model file.
func NewFile(magic string, header any) (*File, error) {
	head, err := json.Marshal(header)
	if err != nil {
		return nil, err
	}
	f := &File{b: []byte(magic)}
	f.U32(uint32(len(head)))
	f.b = append(f.b, head...)
	return f, nil
}

// End returns the bytes of the file, with their digest behind them.
func (f *File) End() []byte {
	sum := sha256.Sum256(f.b)
	return append(f.b, sum[:]...)
}

// U32 writes a number.
func (f *File) U32(v uint32) { f.b = binary.LittleEndian.AppendUint32(f.b, v) }

// Align fills up to where an array may begin.
func (f *File) Align() { f.b = append(f.b, make([]byte, -len(f.b)&63)...) }

// Bytes writes bytes as they are.
func (f *File) Bytes(b ...byte) { f.b = append(f.b, b...) }

// Floats writes an array of numbers.
func (f *File) Floats(v []float32) {
	f.Align()
	for _, x := range v {
		f.U32(math.Float32bits(x))
	}
}

// Matrix writes rows of numbers: what 1 of each row counts, sums, numbers.
func (f *File) Matrix(rows []int8, scale []float32) {
	k := len(rows) / len(scale)
	f.Floats(scale)
	f.Align()
	for i := range scale {
		sum := int32(0)
		for _, x := range rows[i*k : (i+1)*k] {
			sum += int32(x)
		}
		f.U32(uint32(sum))
	}
	f.Align()
	for _, x := range rows {
		f.b = append(f.b, byte(x))
	}
}

// Vocabulary writes where each word begins, the ids in the order of their words, and the words.
func (f *File) Vocabulary(words []string) {
	f.Align()
	at := uint32(0)
	for _, w := range words {
		f.U32(at)
		at += uint32(len(w))
	}
	f.U32(at)
	ids := make([]uint32, len(words))
	for i := range ids {
		ids[i] = uint32(i)
	}
	slices.SortFunc(ids, func(a, b uint32) int { return strings.Compare(words[a], words[b]) })
	f.Align()
	for _, id := range ids {
		f.U32(id)
	}
	f.Align()
	f.b = append(f.b, strings.Join(words, "")...)
}
