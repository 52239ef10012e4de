package ovfake_test

import (
	"math"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/ovfake"
)

func TestVectors(t *testing.T) {
	t.Parallel()
	got := map[int]float64{}
	for i, x := range (ovfake.Embedder{}).Vector("Ünïcode gateways use port 8443") {
		if x != 0 {
			got[i] = math.Round(float64(x)*1e6) / 1e6
		}
	}
	const one = 0.204124
	want := map[int]float64{23: 0.408248}
	for _, i := range []int{33, 35, 46, 49, 63, 66, 78, 79, 83, 88, 101, 120, 122, 80, 85, 86, 105, 126, 127, 27} {
		want[i] = one
	}
	for _, i := range []int{27, 80, 85, 86, 105, 126, 127} {
		want[i] = -one
	}
	must.Equal(t, "vector", got, want)
}

func TestSynonymsHaveOneVector(t *testing.T) {
	t.Parallel()
	for _, dimensions := range []int{128, 4096} {
		e := ovfake.Embedder{Dimensions: dimensions, Synonyms: map[string]string{"car": "automobile"}}
		must.Equal(t, "vector", e.Vector("my car"), e.Vector("My automobile!"))
		must.Equal(t, "dimensions", len(e.Vector("")), dimensions)
	}
}

func TestModelMakesTheVectors(t *testing.T) {
	t.Parallel()
	north := ovfake.Embedder{Dimensions: 2, Model: func(string) []float32 { return []float32{0, 1} }}
	must.Equal(t, "vector", north.Vector("anything"), []float32{0, 1})
}
