//go:build !nomodel

package embed

import (
	"math/rand/v2"
	"slices"
	"testing"
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

// Every way to multiply gives the same whole numbers, at the bounds of activations and
// weights as well. The test changes what the processor is said to have, so it does not
// run beside others.
func TestEveryKernelGivesTheSame(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, k := range []int{64, 384, 1536} {
		for round := range 20 {
			a, w := make([]byte, 4*k), make([]int8, 4*k)
			for i := range a {
				a[i], w[i] = byte(r.IntN(256)), int8(r.IntN(2*MaxWeight+1)-MaxWeight)
				if round == 0 {
					a[i], w[i] = 255, -MaxWeight
				} else if round == 1 {
					a[i], w[i] = 255, MaxWeight
				}
			}
			pairs := make([]int64, 2*k)
			pack(pairs, a, k)
			var want, got [16]int32
			dotsPlain(&want, pairs, w, k)
			for i := range 4 {
				for j := range 4 {
					sum := int32(0)
					for n := range k {
						sum += int32(w[i*k+n]) * int32(a[j*k+n])
					}
					if want[4*i+j] != sum {
						t.Fatalf("plain: got %d, want %d", want[4*i+j], sum)
					}
				}
			}
			with(t, false, true, func() {
				if dots(&got, a, w, k); got != want {
					t.Errorf("AVX2: got %v, want %v", got, want)
				}
			})
			with(t, true, true, func() {
				if dots(&got, a, w, k); got != want {
					t.Errorf("VNNI: got %v, want %v", got, want)
				}
			})
		}
	}
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
		with(t, false, false, func() { want = m.Passage(text) })
		for _, vnni := range []bool{false, true} {
			with(t, vnni, true, func() {
				if got := m.Passage(text); !slices.Equal(got, want) {
					t.Errorf("%q: with vnni %t the vector differs", text, vnni)
				}
			})
		}
	}
}
