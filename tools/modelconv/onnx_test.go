package main

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

// field encodes a field of a protocol buffer that has bytes.
func field(n int, data []byte) []byte {
	b := binary.AppendUvarint(nil, uint64(n)<<3|2)
	return append(binary.AppendUvarint(b, uint64(len(data))), data...)
}

func number(n int, v uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(nil, uint64(n)<<3), v)
}

func join(parts ...[]byte) (b []byte) {
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

// small is a graph with one matrix of int8, its scales, and a bias.
func small() []byte {
	floats := func(v ...float32) (b []byte) {
		for _, x := range v {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
		}
		return b
	}
	tensor := func(name string, kind uint64, dims []uint64, raw []byte) []byte {
		var b []byte
		for _, d := range dims {
			b = append(b, number(1, d)...)
		}
		return field(5, join(b, number(2, kind), field(8, []byte(name)), field(9, raw)))
	}
	return field(7, join(
		field(1, join(field(1, []byte("x")), field(1, []byte("m_quantized")), field(3, []byte("/layer.0/dense/MatMul_quant")), field(4, []byte("MatMulInteger")))),
		tensor("m_quantized", kindInt8, []uint64{2, 3}, []byte{1, 2, 3, 0xff, 0xfe, 0xfd}),
		tensor("m_scale", kindFloat, []uint64{3}, floats(0.5, 0.25, 2)),
		tensor("m_zero_point", kindInt8, []uint64{3}, []byte{0, 0, 0}),
		tensor("layer.0.dense.bias", kindFloat, []uint64{3}, floats(1, 2, 3)),
	))
}

func TestALayerIsRead(t *testing.T) {
	t.Parallel()
	g := must.Get(readONNX(small()))(t)
	l := must.Get(g.linear("layer.0.dense", 3, 2))(t)
	must.Equal(t, "rows", l.rows, []int8{1, -1, 2, -2, 3, -3})
	must.Equal(t, "scale", l.scale, []float32{0.5, 0.25, 2})
	must.Equal(t, "bias", l.bias, []float32{1, 2, 3})
	must.Error(t, "another shape", must.Err(g.linear("layer.0.dense", 2, 3)))
	must.Error(t, "no such layer", must.Err(g.linear("layer.1.dense", 3, 2)))
}

func TestAFileThatIsCutOffIsRefused(t *testing.T) {
	t.Parallel()
	whole := small()
	for n := 1; n < len(whole); n++ {
		must.Error(t, "cut off", must.Err(readONNX(whole[:n])))
	}
}
