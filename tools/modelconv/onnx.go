package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/amber-memory/amber/internal/recall/embed"
	"github.com/amber-memory/amber/internal/recall/packs"
)

// tensor is one array of numbers: floats, or bytes with or without a sign.
type tensor struct {
	dims  []int
	kind  uint64
	data  []float32
	bytes []byte
}

// The types of tensors that count.
const (
	kindFloat = 1
	kindUint8 = 2
	kindInt8  = 3
)

// graph is what is needed of a model: its numbers, and which matrix each product
// multiplies with.
type graph struct {
	tensors  map[string]tensor
	products map[string]string // name of the node -> name of the matrix
}

func (g *graph) has(name string) bool { _, ok := g.tensors[name]; return ok }

func (g *graph) tensor(name string) (tensor, error) {
	t, ok := g.tensors[name]
	if !ok {
		return t, fmt.Errorf("the model has no tensor %s", name)
	}
	return t, nil
}

// linear is the matrix of a layer as n rows of k numbers; row i counts scale[i] times.
type linear struct {
	rows        []int8
	scale, bias []float32
}

// linear returns the matrix of a layer. ONNX stores k rows of n.
func (g *graph) linear(name string, n, k int) (linear, error) {
	node := "/" + strings.Replace(strings.ReplaceAll(name, ".", "/"), "layer/", "layer.", 1) + "/MatMul_quant"
	matrix := strings.TrimSuffix(g.products[node], "_quantized")
	m, err1 := g.tensor(matrix + "_quantized")
	scale, err2 := g.tensor(matrix + "_scale")
	zero, err3 := g.tensor(matrix + "_zero_point")
	bias, err4 := g.tensor(name + ".bias")
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return linear{}, fmt.Errorf("%s: %w", node, err)
	}
	switch {
	case m.kind != kindInt8 || len(m.bytes) != n*k || m.dims[0] != k:
		return linear{}, fmt.Errorf("%s has type %d and shape %v, want int8 and [%d %d]", name, m.kind, m.dims, k, n)
	case len(scale.data) != n || len(bias.data) != n:
		return linear{}, fmt.Errorf("%s has %d scales and a bias of %d, want %d", name, len(scale.data), len(bias.data), n)
	case len(bytes.Trim(zero.bytes, "\x00")) > 0:
		return linear{}, fmt.Errorf("%s has a zero point, want none", name)
	}
	l := linear{rows: make([]int8, n*k), scale: slices.Clone(scale.data), bias: slices.Clone(bias.data)}
	for i := range n {
		for j := range k {
			x := int8(m.bytes[j*n+i])
			if x < -embed.MaxWeight || x > embed.MaxWeight {
				return linear{}, fmt.Errorf("%s has the weight %d, want at most %d", name, x, embed.MaxWeight)
			}
			l.rows[i*k+j] = x
		}
	}
	return l, nil
}

// table returns a matrix of bytes as numbers around 0, and what one of them counts.
func (g *graph) table(name string) (rows []int8, scale float32, dims []int, err error) {
	m, err1 := g.tensor(name + "_quantized")
	by, err2 := g.tensor(name + "_scale")
	zero, err3 := g.tensor(name + "_zero_point")
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, 0, nil, err
	}
	if m.kind != kindUint8 || len(by.data) != 1 || len(zero.bytes) != 1 || zero.bytes[0] != 128 || len(m.dims) != 2 {
		return nil, 0, nil, fmt.Errorf("%s has type %d and zero point %v, want uint8 and 128", name, m.kind, zero.bytes)
	}
	rows = make([]int8, len(m.bytes))
	for i, x := range m.bytes {
		rows[i] = int8(int(x) - 128)
	}
	return rows, by.data[0], m.dims, nil
}

func readONNX(b []byte) (*graph, error) {
	g := &graph{tensors: map[string]tensor{}, products: map[string]string{}}
	return g, packs.Fields(b, func(field int, _ uint64, data []byte) error {
		if field != 7 { // graph
			return nil
		}
		return packs.Fields(data, func(field int, _ uint64, data []byte) error {
			switch field {
			case 1:
				return g.readNode(data)
			case 5:
				return g.readTensor(data)
			}
			return nil
		})
	})
}

func (g *graph) readNode(b []byte) error {
	var inputs []string
	var name, kind string
	err := packs.Fields(b, func(field int, _ uint64, data []byte) error {
		switch field {
		case 1:
			inputs = append(inputs, string(data))
		case 3:
			name = string(data)
		case 4:
			kind = string(data)
		}
		return nil
	})
	if kind == "MatMulInteger" && len(inputs) > 1 {
		g.products[name] = inputs[1]
	}
	return err
}

func (g *graph) readTensor(b []byte) error {
	var t tensor
	var name string
	var raw, floats, ints []byte
	err := packs.Fields(b, func(field int, number uint64, data []byte) error {
		switch field {
		case 1:
			if data == nil {
				t.dims = append(t.dims, int(number))
				return nil
			}
			for len(data) > 0 {
				d, n := binary.Uvarint(data)
				if n <= 0 {
					return packs.ErrCut
				}
				t.dims, data = append(t.dims, int(d)), data[n:]
			}
		case 2:
			t.kind = number
		case 4:
			floats = data
		case 5:
			ints = data
		case 8:
			name = string(data)
		case 9:
			raw = data
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case t.kind == kindFloat:
		if raw == nil {
			raw = floats
		}
		t.data = make([]float32, len(raw)/4)
		for i := range t.data {
			t.data[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
		}
	case t.kind == kindUint8 || t.kind == kindInt8:
		t.bytes = raw
		for len(ints) > 0 {
			v, n := binary.Uvarint(ints)
			if n <= 0 {
				return packs.ErrCut
			}
			t.bytes, ints = append(t.bytes, byte(v)), ints[n:]
		}
	default:
		return nil
	}
	g.tensors[name] = t
	return nil
}
