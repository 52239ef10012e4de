package embed

import (
	"encoding/json"
	"math"

	"github.com/amber-memory/amber"
)

// endpointAnswer is what a server answers.
type endpointAnswer struct {
	Data []struct {
		Index     *int      `json:"index"`
		Embedding []float64 `json:"embedding"`
	} `json:"data"`
}

// vectors checks an answer about n texts and brings it into their order.
func (e *Endpoint) vectors(data []byte, n int) ([][]float32, error) {
	var answer endpointAnswer
	if err := json.Unmarshal(data, &answer); err != nil {
		return nil, e.failed(amber.KindDamaged, "the answer is not JSON of the form {\"data\":[{\"index\":0,\"embedding\":[0.1]}]}")
	}
	if len(answer.Data) != n {
		return nil, e.failed(amber.KindDamaged, "the answer has %d vectors, want %d", len(answer.Data), n)
	}
	out := make([][]float32, n)
	for at, v := range answer.Data {
		index := at
		if v.Index != nil {
			index = *v.Index
		}
		if index < 0 || index >= n || out[index] != nil {
			return nil, e.failed(amber.KindDamaged, "vector %d of the answer has the index %d, want each of 0 to %d once", at, index, n-1)
		}
		var err error
		if out[index], err = e.vector(v.Embedding); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// vector checks a vector and gives it the length 1.
func (e *Endpoint) vector(v []float64) ([]float32, error) {
	if len(v) < minDim || len(v) > maxDim {
		return nil, e.failed(amber.KindDamaged, "a vector has %d numbers, want %d to %d", len(v), minDim, maxDim)
	}
	if dim := int64(len(v)); !e.dim.CompareAndSwap(0, dim) && e.dim.Load() != dim {
		return nil, e.failed(amber.KindDamaged, "a vector has %d numbers, earlier ones have %d", dim, e.dim.Load())
	}
	most := 0.0
	for _, x := range v {
		most = max(most, math.Abs(x))
	}
	if most == 0 || math.IsInf(most, 0) || math.IsNaN(most) {
		return nil, e.failed(amber.KindDamaged, "a vector has no direction: its largest number is %v", most)
	}
	length := 0.0
	for _, x := range v { // by the largest, so that no square overflows
		length += float64(x / most * (x / most))
	}
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x / most / math.Sqrt(length))
	}
	return out, nil
}
