package embed

import (
	"math"
	"sync"
)

// exp is e to the power of x, for x up to 0, to about seven digits. It is made of single
// operations, each rounded, so that every platform gives the same bits.
func exp(x float32) float32 {
	if x < -87 {
		return 0
	}
	const (
		log2e = 1.44269504
		hi    = 0.693359375
		lo    = -2.12194440e-4
	)
	k := int32(float32(x*log2e) - 0.5)
	f := float32(k)
	x = float32(x-float32(f*hi)) - float32(f*lo)
	p := float32(1.9875691500e-4)
	p = float32(p*x) + 1.3981999507e-3
	p = float32(p*x) + 8.3334519073e-3
	p = float32(p*x) + 4.1665795894e-2
	p = float32(p*x) + 1.6666665459e-1
	p = float32(p*x) + 5.0000001201e-1
	p = float32(float32(p*x)*x) + x + 1
	return p * math.Float32frombits(uint32(k+127)<<23)
}

// The table of gelu: steps of 1/geluSteps from -geluEnd to geluEnd.
const (
	geluEnd   = 6
	geluSteps = 512
)

var geluTable = sync.OnceValue(func() *[2*geluEnd*geluSteps + 2]float32 {
	var t [2*geluEnd*geluSteps + 2]float32
	for i := range t {
		x := float64(i-geluEnd*geluSteps) / geluSteps
		t[i] = float32(0.5 * x * (1 + math.Erf(x/math.Sqrt2)))
	}
	return &t
})

// geluPlain replaces numbers by their gelu, read off a table between whose steps it is
// nearly straight.
func geluPlain(x []float32) {
	table := geluTable()
	for i, v := range x {
		switch {
		case v <= -geluEnd:
			x[i] = 0
		case v < geluEnd:
			at := float32(float32(v+geluEnd) * geluSteps)
			k := int32(at)
			low := table[k]
			x[i] = low + float32((table[k+1]-low)*(at-float32(k)))
		}
	}
}
