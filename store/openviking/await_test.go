package openviking

import (
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/must"
)

// Who waits for vectors waits as long as the server goes on, has those made again that it lost,
// and learns of those that cannot be made.
func TestAwaitVectors(t *testing.T) {
	t.Parallel()
	away := amber.Errorf(amber.KindUnreachable, "ask", "", "it is busy")
	for name, c := range map[string]struct {
		blind    int // files that have no vector at first
		makes    int // how many the server makes by itself
		stubborn bool
		busy     int // questions that are not answered
		kind     amber.Kind
		made     int // again, by hand
	}{
		"all are there":         {},
		"they come":             {blind: 3, makes: 3},
		"they are lost":         {blind: 3, made: 3},
		"one is lost":           {blind: 3, makes: 2, made: 1},
		"one cannot be made":    {blind: 1, stubborn: true, kind: amber.KindUnreachable, made: 1},
		"the server is busy":    {blind: 1, makes: 1, busy: 5},
		"the server stays busy": {busy: 1000, kind: amber.KindUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for _, text := range []string{"one", "two", "three"} {
				w.say(text)
			}
			w.feed()
			var lost []string
			for _, uri := range w.uris()[:c.blind] {
				w.server.blind[uri] = true
				lost = append(lost, uri)
			}
			w.server.stubborn = func(string) bool { return c.stubborn }
			asked, made := 0, 0
			w.server.fault = func(op, _ string, _ int) (error, bool) {
				switch op {
				case "missing":
					if asked++; asked <= c.busy {
						return away, false
					}
					if made < c.makes {
						delete(w.server.blind, lost[made])
						made++
					}
				case "reindex":
					c.made--
				}
				return nil, false
			}
			err := w.Await(t.Context(), nil)
			must.Equal(t, "kind", amber.KindOf(err), c.kind)
			must.Equal(t, "made again by hand, left", c.made, 0)
		})
	}
}
