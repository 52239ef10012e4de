package ovfake_test

import (
	"math"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/ovfake"
)

// TestScores compares with what OpenViking 0.5.2 answered for the same texts.
func TestScores(t *testing.T) {
	t.Parallel()
	_, c := start(t, ovfake.Options{})
	for _, tc := range []struct {
		query, text string
		want        float64
	}{
		{"gateway port", "Gateway uses port 8443", 0.8557440042495728},
		{"gateway port", "Gateway uses port 8443 on the edge.", 0.7689172029495239},
		{"gateway port", "Gateway of another type.", 0.6568688750267029},
		{"gateway port", "zebra yellow xylophone", 0.5452841520309448},
		{"gateway port", "Berlin office closes at six.", 0.46302562952041626},
		{"gateway port", "Gateway, port!", 0.9952942132949829},
		{"gateway port", "gateway port of berlin", 0.8726641535758972},
		{"Gateway uses port 8443", "Gateway uses port 8443", 1},
		{"Gateway uses port 8443", "Gateway uses port 8443 on the edge.", 0.8824461698532104},
		{"gateway", "Gateway uses port 8443", 0.6889764070510864},
		{"words", "fine words", 0.8535534143447876},
		{"!!!", "fine words", 0.5},
	} {
		c.write("notes/a.md", tc.text, true)
		_, doc := c.find(tc.query)
		hits := doc["result"].(map[string]any)["memories"].([]any)
		got := hits[0].(map[string]any)["score"].(float64)
		must.Hold(t, math.Abs(got-tc.want) < 1e-6, "%q and %q: got %v, want %v", tc.query, tc.text, got, tc.want)
	}
}
