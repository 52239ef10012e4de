package sqlcore

import "testing"

func TestFencedOff(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                  string
		fence, issued, stored int64
		refused               bool
	}{
		{"no queue", 0, 0, 0, false},
		{"the last lease", 7, 7, 3, false},
		{"the last lease again", 7, 7, 7, false},
		{"an older lease", 6, 7, 0, true},
		{"no lease where there was one", 0, 7, 0, true},
		{"a lease of another node", 8, 7, 0, true},
		{"a newer result came from elsewhere", 7, 7, 9, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if why := fencedOff(c.fence, c.issued, c.stored); (why != "") != c.refused {
				t.Errorf("got %q, want refused %v", why, c.refused)
			}
		})
	}
}
