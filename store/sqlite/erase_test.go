package sqlite

import (
	"fmt"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

func erase(t *testing.T, s *Store, id amber.MemoryID) {
	t.Helper()
	if report := must.Get(s.Erase(t.Context(), id))(t); len(report.Remaining) > 0 {
		t.Errorf("copies of %s remain: %v", id, report.Remaining)
	}
}

func TestEraseLeavesNoTrace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		before, after int // how many memories are written before and after the secret ones
		secrets       int
		words         int // of content
		deleted       bool
	}{
		{"alone", 1, 0, 1, 12, false},
		{"few memories", 5, 5, 1, 12, false},
		{"deleted first", 5, 5, 1, 12, true},
		{"just written", *crowdSize, 0, 1, 12, false},
		{"many memories", *crowdSize / 2, *crowdSize / 2, 3, 12, false},
		{"a long text", *crowdSize / 4, *crowdSize / 4, 1, scale(600), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			st, _ := freshStore(t, amber.QueueOptions{})
			s, others := newSecrets(6), newCrowd()
			others.grow(t, st, c.before)
			var hidden []amber.MemoryID
			for range c.secrets {
				hidden = append(hidden, s.hide(t, st, others.ids[0], c.words))
			}
			others.grow(t, st, c.after)
			others.link(t, st)
			s.mustBeIn(t, st.agent.Dir())
			for _, id := range hidden {
				if c.deleted {
					must.Do(t, st.Delete(t.Context(), id))
				}
				erase(t, st, id)
			}
			s.mustNotBeIn(t, st.agent.Dir())
			others.grow(t, st, *crowdSize/4)
			s.mustNotBeIn(t, st.agent.Dir())
			others.mustBeIn(t, st)
		})
	}
}

// A full-text index leads to its pages by the beginning of their first word,
// all of it where the word before differs only at the end.
func TestEraseClearsSeparators(t *testing.T) {
	t.Parallel()
	st, _ := freshStore(t, amber.QueueOptions{})
	s, others := newSecrets(11), newCrowd()
	others.grow(t, st, 20)
	var plain, secret []string
	for range scale(800) {
		begin := s.word()[:10]
		plain, secret = append(plain, begin+"j"), append(secret, begin+"q")
	}
	clear(s.parts)
	for _, word := range secret {
		s.remember(word)
	}
	kept := save(t, st, amber.WriteRequest{Content: strings.Join(plain, " ")})
	id := save(t, st, amber.WriteRequest{Content: strings.Join(secret, " ")})
	others.grow(t, st, *crowdSize/2)
	if n := len(s.traces(t, st.agent.Dir())); n < len(secret)/2 { // the ends of pages cut some
		t.Fatalf("only %d words can be found before they are erased", n)
	}
	erase(t, st, id)
	s.mustNotBeIn(t, st.agent.Dir())
	for _, word := range plain[:50] {
		must.Equal(t, "memories with "+word, found(t, st, amber.Query{Text: word}), []amber.MemoryID{kept})
	}
	others.mustBeIn(t, st)
}

// Records of many sizes that are stored in the order of their keys move from
// page to page as others come in between.
func TestEraseClearsMovedRecords(t *testing.T) {
	t.Parallel()
	for _, seed := range []uint64{0, 1} { // without clearing, copies are left with these
		st, _ := freshStore(t, amber.QueueOptions{})
		random := mathrand.New(mathrand.NewPCG(seed, 2))
		s := newSecrets(6)
		content := s.words(10)
		var rs []amber.WriteRequest
		for i := range 400 {
			r := amber.WriteRequest{Content: fmt.Sprintf("plain %d", i%10), Metadata: map[string]string{"k": plainText(random, 1+random.IntN(60))}}
			r.IdempotencyKey = fmt.Sprintf("%x", random.Uint64())
			if i%4 == 3 { // one memory, written again and again
				r = amber.WriteRequest{Content: content, IdempotencyKey: r.IdempotencyKey}
			}
			rs = append(rs, r)
		}
		var id amber.MemoryID
		for chunk := range slices.Chunk(rs, 100) {
			id = must.Get(st.WriteBatch(t.Context(), chunk))(t)[3].ID
		}
		s.mustBeIn(t, st.agent.Dir())
		erase(t, st, id)
		s.mustNotBeIn(t, st.agent.Dir())
		sound(t, st)
	}
}

// A reader on an old view needs the write-ahead log. That is said, and writers
// do not wait for it.
func TestEraseBesideAReader(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	st, _ := freshStore(t, amber.QueueOptions{})
	s, others := newSecrets(6), newCrowd()
	others.grow(t, st, 5)
	id := s.hide(t, st, others.ids[0], 12)
	must.Do(t, st.memory.View(ctx, "hold", "", func(x *tx) error {
		var n int
		must.Do(t, x.Row(`SELECT count(*) FROM memories`).Scan(&n))
		report := must.Get(st.Erase(ctx, id))(t)
		if !slices.ContainsFunc(report.Remaining, func(r string) bool { return strings.Contains(r, "write-ahead log") }) {
			t.Errorf("remaining is %v, want the write-ahead log named", report.Remaining)
		}
		must.Hold(t, len(s.traces(t, st.agent.Dir())) != 0, "nothing is left, though the report says so")
		must.Do(t, x.Row(`SELECT count(*) FROM memories WHERE id = ?`, id).Scan(&n))
		must.Equal(t, "the reader's view", n, 1)
		return nil
	}))
	erase(t, st, id) // again: what it waits for is gone
	s.mustNotBeIn(t, st.agent.Dir())
	must.Do(t, st.memory.Update(ctx, "look", "", func(x *tx) error { return samePragmas(x, false) }))
	others.mustBeIn(t, st)
}
