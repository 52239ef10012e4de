package sqlite

import (
	"crypto/rand"
	"fmt"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/recall/search"
	"github.com/amber-memory/amber/internal/test/must"
)

// saveMany stores memories in batches as the command line does, some time after each other.
func saveMany(t *testing.T, s *Store, name string, batches int, between func()) {
	t.Helper()
	for b := range batches {
		rs := make([]amber.WriteRequest, amber.DefaultBatchSize)
		for i := range rs {
			rs[i].Content = fmt.Sprintf("%s%dx%d is about plants", name, b, i)
		}
		must.Get(s.WriteBatch(t.Context(), rs))(t)
		between()
	}
}

// Memories that come by the thousand are found when they are acknowledged, wait for a large
// segment, and are in one when the store is closed.
func TestManyMemoriesWaitForALargeSegment(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	a, clock := agentIn(t, t.TempDir()+"/home"), newHandClock()
	o := Options{Clock: clock.Now, Random: rand.Reader}
	s := openAgent(t, a, o)
	const batches = search.ManyWait/amber.DefaultBatchSize + 64
	saveMany(t, s, "unique", batches, func() { clock.Advance(time.Millisecond) })
	status := must.Get(s.IndexStatus(ctx))(t)
	must.Equal(t, "segments", status.Segments, 1)
	must.Equal(t, "documents that wait", status.Tail, 64*amber.DefaultBatchSize)
	for _, word := range []string{"unique0x0", "unique200x7", fmt.Sprintf("unique%dx15", batches-1)} {
		r := must.Get(s.Recall(ctx, amber.Query{Text: word}))(t)
		must.Hold(t, len(r.Hits) != 0, "%s is not found", word)
	}
	must.Do(t, s.VerifyIndex(ctx))
	must.Do(t, s.Close())
	s = openAgent(t, a, o)
	status = must.Get(s.IndexStatus(ctx))(t)
	must.Equal(t, "documents that wait after the end", status.Tail, 0)
	must.Equal(t, "segments after the end", status.Segments, 2)
	must.Do(t, s.VerifyIndex(ctx))
}

// Where few come at a time, or seldom, no more than a few wait; what a process has left that
// was killed becomes a segment with the next write.
func TestFewMemoriesWait(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, clock := freshStore(t, amber.QueueOptions{})
	saveMany(t, s, "slow", 40, func() { clock.Advance(time.Second) })
	if n := must.Get(s.IndexStatus(ctx))(t).Tail; n >= search.FewWait {
		t.Errorf("%d documents wait although they came slowly", n)
	}
	for i := range 300 {
		save(t, s, amber.WriteRequest{Content: fmt.Sprintf("alone number %d", i)})
	}
	if n := must.Get(s.IndexStatus(ctx))(t).Tail; n >= search.FewWait {
		t.Errorf("%d documents wait although they came one by one", n)
	}
	saveMany(t, s, "fast", 60, func() {})
	if n := must.Get(s.IndexStatus(ctx))(t).Tail; n < 2*search.FewWait {
		t.Fatalf("%d documents wait, want more: they came fast", n)
	}
	clock.Advance(time.Minute)
	save(t, s, amber.WriteRequest{Content: "the first one after a while"})
	if n := must.Get(s.IndexStatus(ctx))(t).Tail; n != 0 {
		t.Errorf("%d documents wait after the next write", n)
	}
}

// A time in the future, as a clock leaves it that was set back, holds nothing up.
func TestPaceOfAnotherClock(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, clock := freshStore(t, amber.QueueOptions{})
	saveMany(t, s, "fast", 60, func() {})
	meddle(t, s.memory, `UPDATE index_state SET number = number + 1000000000 WHERE key = 'pace'`)
	clock.Advance(time.Millisecond)
	save(t, s, amber.WriteRequest{Content: "one more"})
	if n := must.Get(s.IndexStatus(ctx))(t).Tail; n != 0 {
		t.Errorf("%d documents wait", n)
	}
	meddle(t, s.memory, `UPDATE index_state SET data = x'ff' WHERE key = 'pace'`)
	saveMany(t, s, "last", 2, func() {})
	must.Do(t, s.VerifyIndex(ctx))
}

// A counter of rows that cannot be right, in a file that was tampered with, stops neither
// writing nor finding, and making the index anew.
func TestAWrongCounterOfRowsIsFoundOut(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for _, number := range []string{"-1", "0", "3", "9223372036854775807", "-9223372036854775808"} {
		s, _ := freshStore(t, amber.QueueOptions{})
		if number == "-1" { // also in a store that has no passage yet
			meddle(t, s.memory, `INSERT OR REPLACE INTO index_state (key, number, data) VALUES ('row', -1, x'')`)
		}
		for i := range 10 {
			save(t, s, amber.WriteRequest{Content: fmt.Sprintf("before%d", i)})
		}
		meddle(t, s.memory, `UPDATE index_state SET number = `+number+` WHERE key = 'row'`)
		for i := range 10 {
			save(t, s, amber.WriteRequest{Content: fmt.Sprintf("after%d", i)})
		}
		for _, word := range []string{"before9", "after0", "after9"} {
			if r := must.Get(s.Recall(ctx, amber.Query{Text: word}))(t); len(r.Hits) == 0 {
				t.Errorf("counter %s: %s is not found", number, word)
			}
		}
		status := must.Get(s.IndexStatus(ctx))(t)
		must.Equal(t, "waiting with "+number, status.Waiting, 0)
		must.Do(t, s.VerifyIndex(ctx))
		meddle(t, s.memory, `UPDATE index_state SET number = `+number+` WHERE key = 'row'`)
		must.Do(t, s.RebuildIndex(ctx))
		must.Do(t, s.VerifyIndex(ctx))
	}
}
