package openviking

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// Await waits for vectors as long as the server goes on. It has the server make lost vectors again, and returns an
// error for vectors that cannot be made.
func TestAwaitVectors(t *testing.T) {
	t.Parallel()
	away := amber.Errorf(amber.KindUnreachable, "ask", "", "the server is busy")
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
		"one cannot be made":    {blind: 1, stubborn: true, kind: amber.KindUnreachable, made: awaitVain},
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

// A server names few of many files. Await sees by their number whether the server goes on, and has the lost vectors
// made again in several parts.
func TestAwaitVectorsThatAreNotAllNamed(t *testing.T) {
	t.Parallel()
	crowd := []string{"viking://user/a/1", "viking://user/a/2"}
	for name, c := range map[string]struct {
		crowd []string
		slow  bool // the server makes one with each question
		stays bool // the crowd
		kind  amber.Kind
		made  int
	}{
		"all are lost":        {made: 50},
		"they come":           {slow: true},
		"none of ours named":  {slow: true, crowd: crowd},
		"others are lacking":  {slow: true, crowd: crowd, stays: true, kind: amber.KindUnreachable},
		"nobody knows of any": {crowd: crowd, stays: true, kind: amber.KindUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.many(50)
			w.feed()
			for _, uri := range w.uris() {
				w.server.blind[uri] = true
			}
			w.server.part, w.server.crowd = 2, c.crowd
			w.server.set(func(op, _ string, _ int) (error, bool) {
				if op != "missing" || !c.slow {
					return nil, false
				}
				w.now.pass(awaitPatience / 2)
				left := slices.Sorted(maps.Keys(w.server.blind))
				if len(left) > 0 {
					delete(w.server.blind, left[len(left)-1])
				}
				if len(left) <= 1 && !c.stays {
					w.server.part, w.server.crowd = 0, nil
				}
				return nil, false
			})
			begun, first := w.now.read(), 0
			err := w.Await(t.Context(), func(missing int) { first = max(first, missing) })
			must.Equal(t, "kind", amber.KindOf(err), c.kind)
			must.Equal(t, "made again", w.server.count("reindex"), c.made)
			must.Hold(t, first > 45, "told of %d", first)
			if c.made > 0 {
				must.Hold(t, w.now.read().Sub(begun) < 3*awaitPatience, "it took %s", w.now.read().Sub(begun))
			}
			if c.kind == "" {
				must.Equal(t, "files without a vector", len(w.server.blind), 0)
			}
		})
	}
}

// To make vectors again may help for a part of the files only: then Await tries once more before it gives up.
func TestAwaitGivesUpAfterTwoAttemptsInVain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.many(6)
	w.feed()
	uris := w.uris()
	for _, uri := range uris {
		w.server.blind[uri] = true
	}
	tries := 0
	w.server.stubborn = func(uri string) bool {
		if uri != uris[0] {
			return false
		}
		tries++
		return tries < 3
	}
	begun := w.now.read()
	must.Do(t, w.Await(t.Context(), nil)) // the first helps the others, the third the last one
	must.Equal(t, "tries", tries, 3)
	must.Hold(t, w.now.read().Sub(begun) < time.Minute, "it took %s", w.now.read().Sub(begun))
}

// Vectors that were waited for need no check later, and vectors of files that were fed meanwhile do.
func TestAwaitedVectorsAreChecked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say("one")
	w.feed()
	unchecked := func() bool { return must.Get(w.Status(t.Context()))(t).Unchecked }
	must.Equal(t, "unchecked after a feed", unchecked(), true)
	must.Do(t, w.Await(t.Context(), nil))
	must.Equal(t, "unchecked after the wait", unchecked(), false)
	w.say("two")
	w.feed()
	w.say("three")
	asked := false
	w.server.set(func(op, _ string, _ int) (error, bool) {
		if op == "missing" && !asked {
			asked = true
			w.server.mu.Unlock()
			defer w.server.mu.Lock()
			w.feed()
		}
		return nil, false
	})
	must.Do(t, w.Await(t.Context(), nil))
	must.Hold(t, asked && unchecked(), "a file that was fed during the wait counts as checked")
}
