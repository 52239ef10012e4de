package drain_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/capture/journal/drain"
	"github.com/amber-memory/amber/internal/test/must"
)

// capture is a mark and the entries that go with it.
type capture struct {
	drain.Mark
	frames []byte
}

// hold holds the journal until the test ends.
func (w *world) hold() *drain.View {
	w.t.Helper()
	v := must.Get(drain.NewSpool(w.journal, w.store).Hold(context.Background()))(w.t)
	w.t.Cleanup(func() {
		must.NoError(w.t, v.Close())
	})
	return v
}

// taken returns what a marked view hands out.
func taken(t testing.TB, v *drain.View) (all []capture) {
	t.Helper()
	err := v.Frames(context.Background(), func(m drain.Mark, r io.Reader) error {
		b, err := io.ReadAll(r)
		all = append(all, capture{m, b})
		return err
	})
	must.Do(t, err)
	return all
}

// replay replays into a store and returns the report.
func (c capture) replay(t testing.TB, into drain.Store) drain.Report {
	t.Helper()
	return must.Get(drain.Replay(context.Background(), c.Mark, bytes.NewReader(c.frames), into, clock))(t)
}

func TestHeldJournalIsCapturedUpToTheMark(t *testing.T) {
	t.Parallel()
	w := newWorld(t, prompt(1, "one"))
	w.once(drain.Options{})
	w.keep(prompt(2, "two"), prompt(3, "three"))
	v := w.hold()
	w.keep(prompt(4, "four")) // hooks go on
	other := prompt(5, "elsewhere")
	other.SessionID = "s-2"
	w.keep(other)
	must.Do(t, v.Mark(t.Context()))
	w.keep(prompt(6, "too late"))
	all := taken(t, v)
	if len(all) != 2 || len(v.Unread()) != 0 {
		t.Fatalf("got %d sessions, %v", len(all), v.Unread())
	}
	for _, c := range all {
		want := drain.Mark{Key: string(one.Key()), Host: one.Host, SessionID: one.ID, Cursor: c.Cursor, Drained: 1, Last: 4, Frames: 3}
		if c.SessionID != one.ID {
			s := journal.Session{Host: one.Host, ID: "s-2"}
			want = drain.Mark{Key: string(s.Key()), Host: s.Host, SessionID: s.ID, Cursor: c.Cursor, Last: 1, Frames: 1}
		}
		must.Equal(t, "mark", c.Mark, want)
	}
	// No worker can drain while the view is open, and one can afterwards.
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	must.Error(t, "draining a journal that is held", must.Err(w.worker(drain.Options{}).Once(ctx)))
	must.NoError(t, errors.Join(v.Close(), v.Close()))
	w.once(drain.Options{})
	w.wantSaid("user: one", "user: two", "user: three", "user: four", "user: too late")
}

// Where the store cannot be asked, entries that were drained and cleared are no
// damage: only what is still there is captured.
func TestClearedEntriesAreNoDamageWhereNobodyKnowsTheCursor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, prompt(1, "one"), prompt(2, "two"))
	must.Get(w.journal.Clear(t.Context(), one.Key(), w.once(drain.Options{}).Applied))(t)
	w.keep(prompt(3, "three"))
	v := must.Get(drain.NewSpool(w.journal, nil).Hold(t.Context()))(t)
	defer v.Close()
	must.Do(t, v.Mark(t.Context()))
	all := taken(t, v)
	must.Equal(t, "unread", len(v.Unread()), 0)
	if len(all) != 1 || all[0].Frames != 1 || all[0].Drained != 2 || all[0].Last != 3 {
		t.Errorf("captured %+v", all[0].Mark)
	}
}

func TestHoldOfAJournalThatWasNeverMade(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.hold()
	must.Do(t, v.Mark(t.Context()))
	must.Equal(t, "taken", len(taken(t, v)), 0)
	must.Equal(t, "park", must.Get(v.Park(t.Context(), filepath.Join(t.TempDir(), "parked"), nil))(t).Frames, 0)
	// Its first entry is not drained either before the hold ends.
	w.keep(prompt(1, "one"))
	must.Do(t, v.Mark(t.Context()))
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	must.Error(t, "draining a journal that is held", must.Err(w.worker(drain.Options{}).Once(ctx)))
	if all := taken(t, v); len(all) != 1 || all[0].Frames != 1 {
		t.Errorf("got %v", all)
	}
}

// TestWhatCannotBeHandedOutIsNamed spoils one session and takes its owner from another: what is intact is handed out, and
// both are named.
func TestWhatCannotBeHandedOutIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, prompt(1, "one"), prompt(2, "two"), prompt(3, "three"))
	flip(t, w.dir)
	nobodys := journal.Session{Host: one.Host, ID: "s-2"}
	must.Get(w.journal.Append(t.Context(), nobodys, journal.Entry{Payload: []byte("no event")}))(t)
	must.Do(t, os.Remove(filepath.Join(w.dir, string(nobodys.Key()), "meta")))
	whole := prompt(4, "four")
	whole.SessionID = "s-3"
	w.keep(whole)
	v := w.hold()
	must.Do(t, v.Mark(t.Context()))
	var frames int64
	for _, c := range taken(t, v) {
		frames += c.Frames
	}
	unread := v.Unread()
	if len(unread) != 2 || unread[one.Key()] == "" || unread[nobodys.Key()] == "" || frames != 3 {
		t.Errorf("got %d entries, %v", frames, unread)
	}
}

// TestReplayAppliesWhatWasCaptured replays into a store as it was when the journal was held, twice, and drains
// the journal itself into it afterwards: everything is there once.
func TestReplayAppliesWhatWasCaptured(t *testing.T) {
	t.Parallel()
	w := newWorld(t, prompt(1, "one"), answer(2, "first"))
	w.once(drain.Options{})
	w.keep(prompt(3, "two"), answer(4, "second"), event(5, journal.HostSessionEnd))
	v := w.hold()
	must.Do(t, v.Mark(t.Context()))
	c := taken(t, v)[0]
	must.Equal(t, "captured", c.Frames, 3)
	must.Equal(t, "replay", c.replay(t, w.store), drain.Report{Sessions: 1, Events: 3, Applied: 3, Memories: 1}, sameReport)
	want := []string{"user: one", "assistant: first", "user: two", "assistant: second"}
	w.wantSaid(want...)
	if w.session().EndedAt.IsZero() {
		t.Error("the end was not replayed")
	}
	must.Equal(t, "replayed twice", c.replay(t, w.store).Applied, 0)
	must.Do(t, v.Close())
	must.Equal(t, "drained after the replay", w.once(drain.Options{}).Applied, 0)
	w.wantSaid(want...)

	// A store that knows nothing of the session takes it, too; one that knows the events under another cursor
	// does not take them again.
	fresh := newStore(t)
	must.Equal(t, "into an empty store", c.replay(t, fresh).Applied, 3)
	c.Cursor = strings.Repeat("0", 32)
	must.Equal(t, "under another cursor", c.replay(t, fresh), drain.Report{Sessions: 1, Events: 3, Duplicates: 3}, sameReport)
}

// TestReplayRefusesWhatWasNotCaptured gives it marks and entries that do not belong together.
func TestReplayRefusesWhatWasNotCaptured(t *testing.T) {
	t.Parallel()
	w := newWorld(t, prompt(1, "one"), prompt(2, "two"))
	v := w.hold()
	must.Do(t, v.Mark(t.Context()))
	good := taken(t, v)[0]
	for name, spoil := range map[string]func(c *capture){
		"another host":    func(c *capture) { c.Host = "codex" },
		"another session": func(c *capture) { c.SessionID = "s-9" },
		"a path as a key": func(c *capture) { c.Key = "../../etc" },
		"fewer entries":   func(c *capture) { c.Frames = 1 },
		"more entries":    func(c *capture) { c.Frames, c.Last = 3, 9 },
		"an earlier mark": func(c *capture) { c.Last, c.Frames = 1, 1 },
		"a later cursor":  func(c *capture) { c.Drained, c.Frames = 1, 1 },
		"negative":        func(c *capture) { c.Drained = -1 },
		"cut off":         func(c *capture) { c.frames = c.frames[:len(c.frames)-1] },
		"nothing":         func(c *capture) { c.frames = nil },
		"flipped":         func(c *capture) { c.frames[100] ^= 1 },
	} {
		c := capture{good.Mark, bytes.Clone(good.frames)}
		spoil(&c)
		store := newStore(t)
		_, err := drain.Replay(t.Context(), c.Mark, bytes.NewReader(c.frames), store, clock)
		if amber.KindOf(err) != amber.KindDamaged {
			t.Errorf("%s: got %v, want damaged", name, err)
		}
	}
	bad := good
	bad.Cursor = "no cursor"
	if _, err := drain.Replay(t.Context(), bad.Mark, bytes.NewReader(bad.frames), newStore(t), clock); err == nil {
		t.Error("a cursor that is not valid was accepted")
	}
}

// TestReplayGoesOnBehindAnEventNobodyCanStore keeps one event from the others.
func TestReplayGoesOnBehindAnEventNobodyCanStore(t *testing.T) {
	t.Parallel()
	w := newWorld(t, prompt(1, "one"))
	must.Get(w.journal.Append(t.Context(), one, journal.Entry{Payload: []byte("no event")}))(t)
	w.keep(prompt(2, "two"))
	v := w.hold()
	must.Do(t, v.Mark(t.Context()))
	want := drain.Report{Sessions: 1, Events: 3, Applied: 2, Quarantined: 1}
	must.Equal(t, "replay", taken(t, v)[0].replay(t, w.store), want, sameReport)
	w.wantSaid("user: one", "user: two")
}

// TestParkedEntriesAreDrainedOnRequest parks what waits, moves the cursors as a restore does, and drains the
// journal: only what came later arrives. The parked journal brings the rest, once, and is empty then.
func TestParkedEntriesAreDrainedOnRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, prompt(1, "one"))
	w.once(drain.Options{})
	w.keep(prompt(2, "two"), answer(3, "second"))
	v := w.hold()
	dest := filepath.Join(t.TempDir(), "parked", "1")
	report, err := v.Park(t.Context(), dest, nil)
	if err != nil || report.Frames != 2 || len(report.Floors) != 1 {
		t.Fatalf("got %+v, %v", report, err)
	}
	w.keep(prompt(4, "three"))
	for cursor, floor := range report.Floors {
		must.Get(w.store.Ingest(t.Context(), amber.Ingestion{Journal: cursor, Host: one.Host, Session: one.ID, After: 1, Through: floor}))(t)
	}
	must.Do(t, v.Close())
	w.once(drain.Options{})
	w.wantSaid("user: one", "user: three")

	parked := must.Get(journal.Open(dest, journal.Options{Clock: clock}))(t)
	got := w.once(drain.Options{Journal: parked, Final: true})
	must.Equal(t, "applied", got.Applied, 2)
	must.Equal(t, "ended", len(got.Ended), 0)
	w.wantSaid("user: one", "user: three", "user: two", "assistant: second")
	must.Equal(t, "left", len(must.Get(parked.Keys())(t)), 0)
	w.drains(drain.Options{Journal: parked, Final: true}, drain.Report{})
}

// TestHoldFindsAnOwner holds a journal whose meta file got lost: the entries tell whose they are.
func TestHoldFindsAnOwner(t *testing.T) {
	t.Parallel()
	w := newWorld(t, prompt(1, "one"))
	must.Do(t, os.Remove(filepath.Join(w.dir, string(one.Key()), "meta")))
	v := w.hold()
	report := must.Get(v.Park(t.Context(), filepath.Join(t.TempDir(), "parked"), nil))(t)
	must.Equal(t, "frames", report.Frames, 1)
	must.Equal(t, "failed", len(report.Failed), 0)
}

// TestFramesReaderMayBeLeft leaves the reader where it is, and fails.
func TestFramesReaderMayBeLeft(t *testing.T) {
	t.Parallel()
	w := newWorld(t, prompt(1, strings.Repeat("long ", 10_000)), prompt(2, strings.Repeat("long ", 10_000)))
	v := w.hold()
	must.Do(t, v.Mark(t.Context()))
	stop := errors.New("stop")
	for _, want := range []error{nil, stop} {
		err := v.Frames(t.Context(), func(_ drain.Mark, r io.Reader) error {
			_, err := io.ReadFull(r, make([]byte, 10))
			return errors.Join(err, want)
		})
		if !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
}

type mute struct{ amber.Ingester }

func (mute) JournalCursor(context.Context, string) (amber.JournalCursor, error) {
	return amber.JournalCursor{}, errMute
}

var errMute = errors.New("no answer")

// TestHoldNeedsTheStore refuses to guess how far the journal is drained.
func TestHoldNeedsTheStore(t *testing.T) {
	t.Parallel()
	w := newWorld(t, prompt(1, "one"))
	must.Is(t, "", must.Err(drain.NewSpool(w.journal, mute{w.store}).Hold(t.Context())), errMute)
	w.once(drain.Options{}) // and it has let go
}
