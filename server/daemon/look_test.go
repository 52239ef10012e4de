package daemon

import (
	"testing"

	"github.com/amber-memory/amber"
)

func TestBetweenTwoPlacesOfALog(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		from, to amber.Position
		want     int64
	}{
		{"", "", 0},
		{"", "a/3", 3},
		{"a/3", "a/7", 4},
		{"a/7", "a/3", 0},
		{"a/3", "b/7", 0}, // a restore came between
		{"nonsense", "a/3", 0},
	} {
		if got := between(tt.from, tt.to); got != tt.want {
			t.Errorf("from %q to %q: %d, want %d", tt.from, tt.to, got, tt.want)
		}
	}
}
