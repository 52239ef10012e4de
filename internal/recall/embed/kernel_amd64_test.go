//go:build !nomodel

package embed

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

// with runs fn with what a processor may have, and sets it back.
func with(t testing.TB, vnni, avx2 bool, fn func()) {
	t.Helper()
	v, a := hasVNNI, hasAVX2
	if vnni && !v || avx2 && !a {
		t.Log("this processor does not have the instructions")
		return
	}
	defer func() { hasVNNI, hasAVX2 = v, a }()
	hasVNNI, hasAVX2 = vnni, avx2
	fn()
}

// kernels runs fn with each kind of kernel this processor has.
func kernels(t *testing.T, fn func(name string)) {
	t.Helper()
	with(t, false, true, func() { fn("AVX2") })
	with(t, true, true, func() { fn("VNNI") })
}

// sameBits compares to the bit: -0 is not 0.
func sameBits(t *testing.T, name string, got, want []float32) {
	t.Helper()
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Fatalf("%s: number %d is %g, want %g", name, i, got[i], want[i])
		}
	}
}

// The plain way to multiply gives the sums of products.
func TestPlainDotsAreSums(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	for _, k := range []int{64, 384, 1536} {
		for round := range 20 {
			a, w := operands(r, 4, 4, k, round)
			pairs := make([]int64, 2*k)
			pack(pairs, a, k)
			var got [16]int32
			dotsPlain(&got, pairs, w, k)
			for i := range 4 {
				for j := range 4 {
					sum := int32(0)
					for n := range k {
						sum += int32(w[i*k+n]) * int32(a[j*k+n])
					}
					must.Equal(t, "sum", got[4*i+j], sum)
				}
			}
		}
	}
}

// operands are random activations and weights; those of the first rounds are at the bounds.
func operands(r *rand.Rand, tokens, rows, k, round int) ([]byte, []int8) {
	a, w := make([]byte, tokens*k), make([]int8, rows*k)
	for i := range a {
		if a[i] = byte(r.IntN(256)); round < 2 {
			a[i] = 255
		}
	}
	for i := range w {
		switch w[i] = int8(r.IntN(2*MaxWeight+1) - MaxWeight); round {
		case 0:
			w[i] = -MaxWeight
		case 1:
			w[i] = MaxWeight
		}
	}
	return a, w
}

// Every way to multiply gives the same to the bit, at the bounds of activations and weights as
// well. The test changes what the processor is said to have, so it does not run beside others.
func TestEveryKernelGivesTheSame(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for round, tokens := range []int{1, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 40, 48} {
		for _, k := range []int{64, 384, 1536} {
			const n = 64
			padded := (tokens + 15) &^ 15
			q, rows := operands(r, padded, n, k, round)
			l := &linear{matrix: matrix{n: n, k: k, rows: rows}}
			w := &work{
				tokens: tokens, padded: padded, q: q, turned: make([]uint32, padded*k/4), pairs: make([]int64, padded/2*k),
				factors: floats(r, n), offsets: floats(r, n),
			}
			for _, add := range [][]float32{nil, floats(r, padded*n)} {
				want, got := make([]float32, padded*n), make([]float32, padded*n)
				w.productPlain(want, l, add)
				kernels(t, func(name string) {
					clear(got)
					w.product(got, l, add)
					sameBits(t, name, got[:tokens*n], want[:tokens*n])
				})
			}
		}
	}
}

// floats are random numbers of every size, and zeros.
func floats(r *rand.Rand, n int) []float32 {
	out := make([]float32, n)
	for i := range out {
		switch r.IntN(8) {
		case 0:
			out[i] = float32(math.Copysign(0, r.NormFloat64()))
		case 1:
			out[i] = float32(r.NormFloat64()) * math.SmallestNonzeroFloat32 * 1000 // few digits
		case 2:
			out[i] = float32(r.NormFloat64()) * 1e12
		default:
			out[i] = float32(r.NormFloat64())
		}
	}
	return out
}

// Numbers become the same bytes, halves and bounds included.
func TestEveryKernelMakesTheSameBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	for _, n := range []int{0, 1, 31, 32, 384, 1536, 1537} {
		for round := range 20 {
			in := make([]float32, n)
			for i := range in {
				switch in[i] = float32(r.NormFloat64()); round {
				case 0:
					in[i] = float32(r.IntN(512)-256) / 2 // halves
				case 1:
					in[i] = 0
				case 2:
					in[i] = max(in[i], 0)
				}
			}
			by, zero := float32(1+r.IntN(40)), int32(r.IntN(256))
			if round == 0 {
				by = 1
			}
			least, most := boundsPlain(in)
			want, got := make([]byte, n), make([]byte, n)
			toBytesPlain(want, in, by, zero)
			with(t, false, true, func() {
				if l, m := bounds(in); l != least || m != most {
					t.Errorf("%d numbers: bounds are %g and %g, want %g and %g", n, l, m, least, most)
				}
				if toBytes(got, in, by, zero); !slices.Equal(got, want) {
					t.Errorf("%d numbers, round %d: the bytes differ", n, round)
				}
			})
		}
	}
}

// A vector is the same to the bit, whatever the processor has.
func TestEveryKernelGivesTheSameVector(t *testing.T) {
	m := model(t)
	for _, text := range []string{
		"yes", "We deploy to production on Tuesdays, after lunch.", "", "?", "0x7A0 to 0x7AF are reserved", "Die Rechner stehen im Keller.",
		"which executor does Airflow use today?", "The alarm threshold was raised to 0.38 because the nurses got too many false alarms; it is looked at again in spring.",
	} {
		var want []float32
		with(t, false, false, func() { want = passage(m, text) })
		for _, vnni := range []bool{false, true} {
			with(t, vnni, true, func() {
				if got := passage(m, text); !slices.Equal(got, want) {
					t.Errorf("%q: with vnni %t the vector differs", text, vnni)
				}
			})
		}
	}
}

// near are numbers on both sides of those given, to the bit, and the numbers.
func near(of ...float32) (out []float32) {
	for _, x := range of {
		below, above := x, x
		for range 40 {
			below, above = math.Nextafter32(below, -math.MaxFloat32), math.Nextafter32(above, math.MaxFloat32)
			out = append(out, below, above)
		}
		out = append(out, x)
	}
	return out
}

func TestEveryKernelGivesTheSameGelu(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	x := append(floats(r, 4096), near(-geluEnd, geluEnd, 0, 1, -1, 0.5, 1e30, -1e30, 3e38, -3e38)...)
	for range 100_000 {
		x = append(x, float32(r.Float64()-0.5)*2.2*geluEnd)
	}
	x = append(x, float32(math.Inf(1)), float32(math.Inf(-1)))
	x = append(x, make([]float32, -len(x)&7)...)
	want := slices.Clone(x)
	geluPlain(want)
	kernels(t, func(name string) {
		got := slices.Clone(x)
		gelu(got)
		sameBits(t, name, got, want)
	})
}

func TestEveryKernelNormsTheSame(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 1))
	for _, width := range []int{64, 384, 1024} {
		for _, rows := range []int{1, 7, 8, 9, 16} {
			n := layerNorm{floats(r, width), floats(r, width)}
			x := floats(r, 16*width)
			for i := range width { // a row of small numbers, one of nothing and one of the same
				x[i] = x[i] * 1e-20
				if rows > 2 {
					x[width+i], x[2*width+i] = 0, 3
				}
			}
			want := slices.Clone(x)
			n.applyPlain(want, rows)
			kernels(t, func(name string) {
				got := slices.Clone(x)
				n.apply(got, rows)
				sameBits(t, name, got[:rows*width], want[:rows*width])
			})
		}
	}
}

func TestEveryKernelGivesTheSameShares(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	below := near(0, -0.3465736, -0.6931472, -1, -86, -87, -88, -100, -1e9) // what exp takes
	for round := range 300 {
		n := 1 + r.IntN(300)
		x := make([]float32, n*16)
		for i := range x {
			switch x[i] = float32(r.NormFloat64()) * float32(round); {
			case round < 2:
				x[i] = -below[r.IntN(len(below))] - 200 // the most differs
			case round < 100:
				x[i] = min(0, below[r.IntN(len(below))])
			case round < 110:
				x[i] = floats(r, 1)[0]
			}
		}
		if round >= 2 && round < 100 { // the most is 0, so each number is what exp takes
			clear(x[r.IntN(n)*16:][:16])
		}
		kernels(t, func(name string) {
			got, lanes := slices.Clone(x), lanes()
			shares(got, n, lanes)
			for q := range lanes {
				want, one := make([]float32, n), make([]float32, n)
				for s := range n {
					want[s], one[s] = x[s*lanes+q], got[s*lanes+q]
				}
				softmax(want)
				sameBits(t, name, one, want)
			}
		})
	}
}

func TestEveryKernelAttendsTheSame(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 1))
	m := &Model{Header: Header{Dim: 2 * headDim, Heads: 2, Inner: 64}}
	for _, tokens := range []int{1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 100} {
		for round := range 3 {
			var want []float32
			qkv := make([]float32, (tokens+15)&^15*3*m.Dim)
			for i := range qkv {
				qkv[i] = float32(r.NormFloat64())
			}
			if round == 0 {
				for i, x := range floats(r, tokens*3*m.Dim) {
					qkv[i] = max(-1e3, min(1e3, x))
				}
			}
			attend := func() []float32 {
				w := m.work(tokens)
				copy(w.qkv, qkv)
				m.attend(w)
				return w.y[:tokens*m.Dim]
			}
			with(t, false, false, func() { want = attend() })
			kernels(t, func(name string) { sameBits(t, name, attend(), want) })
		}
	}
}

func TestColumnsAreRows(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	kernels(t, func(name string) {
		for _, n := range []int{8, 16, 96} {
			const toStride, more = 16, 5
			from, to := make([]uint32, 8*(n+more)), make([]uint32, n*toStride)
			for i := range from {
				from[i] = r.Uint32()
			}
			turn(to, toStride, from, n+more, n)
			for i := range to {
				want := uint32(0)
				if i%toStride < 8 {
					want = from[i%toStride*(n+more)+i/toStride]
				}
				must.Equal(t, name, to[i], want)
			}
		}
	})
}

// The test changes what the processor is said to have, so it does not run beside others.
func TestNgramsAreTheSameInEveryKernel(t *testing.T) {
	kernels(t, func(name string) { must.Equal(t, name, ngramDigest(t), ngramBits) })
	with(t, false, false, func() { must.Equal(t, "Go alone", ngramDigest(t), ngramBits) })
}
