package journal_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/test/must"
)

// output is a droppable entry of so many bytes.
func output(n int) journal.Entry {
	return journal.Entry{Payload: bytes.Repeat([]byte("x"), n), Droppable: true, About: "tool output"}
}

// gaps returns what the gap frames say.
func gaps(t *testing.T, frames []journal.Frame) (out []journal.Gap) {
	t.Helper()
	for _, f := range frames {
		if f.Type != journal.TypeGap {
			continue
		}
		var g journal.Gap
		must.Do(t, json.Unmarshal(f.Payload, &g))
		out = append(out, g)
	}
	return out
}

// TestFullSessionDropsToolOutputFirst fills a session with tool output and then with prompts. Everything is kept,
// named in a gap, or refused; nothing vanishes.
func TestFullSessionDropsToolOutputFirst(t *testing.T) {
	t.Parallel()
	const bound = 40_000
	j := open(t, spoolDir(t), journal.Options{MaxSessionBytes: bound, SegmentBytes: 10_000})
	var outputs int
	for range 60 {
		mustAppend(t, j, one, output(1000))
		outputs++
	}
	frames := mustRead(t, j, one.Key(), 0)
	dropped := gaps(t, frames)
	if len(frames) != outputs || len(dropped) == 0 || len(dropped) == outputs {
		t.Fatalf("%d frames, %d of them gaps, for %d entries", len(frames), len(dropped), outputs)
	}
	for _, g := range dropped {
		must.Equal(t, "a gap", g, journal.Gap{DroppedBytes: 1000, About: "tool output"})
	}
	prompts := 0
	for ; ; prompts++ {
		_, err := j.Append(t.Context(), one, journal.Entry{Payload: bytes.Repeat([]byte("p"), 300)})
		if err == nil {
			continue
		}
		must.Kind(t, "prompt", err, amber.KindQuota)
		if amber.HintOf(err) == "" {
			t.Error("quota without a hint")
		}
		break
	}
	if prompts < 3 {
		t.Errorf("only %d prompts were kept after the tool output", prompts)
	}
	must.Equal(t, "frames", len(mustRead(t, j, one.Key(), 0)), outputs+prompts)
	st, err := j.Status(t.Context(), one.Key(), 0)
	if err != nil || st.Gaps != int64(len(dropped)) || st.Bytes > bound+3*headerSize {
		t.Errorf("status: %+v, %v", st, err)
	}
	// Draining makes room again.
	must.Get(j.Clear(t.Context(), one.Key(), int64(outputs+prompts)))(t)
	seq := mustAppend(t, j, one, output(1000))
	if got := mustRead(t, j, one.Key(), seq-1); len(got) != 1 || got[0].Type != journal.TypeEvent {
		t.Errorf("after clearing: %v", texts(got))
	}
}

// TestGapSaysNoMoreThanItMay gives a gap a description that must not be in a file as it is.
func TestGapSaysNoMoreThanItMay(t *testing.T) {
	t.Parallel()
	for _, about := range []string{"", "a \"quoted\"\x00\a\u2028 text", strings.Repeat("ä", 500), "bad \xff bytes", strings.Repeat("x", 199) + "ä"} {
		j := open(t, spoolDir(t), journal.Options{MaxSessionBytes: 2000})
		mustAppend(t, j, one, journal.Entry{Payload: make([]byte, 1900), Droppable: true, About: about})
		got := gaps(t, mustRead(t, j, one.Key(), 0))
		if len(got) != 1 || got[0].DroppedBytes != 1900 || len(got[0].About) > 200 || !strings.HasPrefix(strings.ToValidUTF8(about, ""), got[0].About) {
			t.Errorf("%.20q: got %+v", about, got)
		}
	}
}

// TestOneEntryIsRefusedAlone has one entry of a batch that does not fit; the others do.
func TestOneEntryIsRefusedAlone(t *testing.T) {
	t.Parallel()
	dir := spoolDir(t)
	gate := newGate(fsx.OS())
	j := open(t, dir, journal.Options{FS: gate, MaxSessionBytes: 5000})
	first := start(t, j, one, entry(1))
	gate.waitForSync() // the others gather
	var others []*appending
	for n := 2; n <= 9; n++ {
		e := entry(n)
		if n == 5 {
			e.Payload = make([]byte, 4990)
		}
		others = append(others, start(t, j, one, e))
		waitFor(t, func() bool { return journal.Waiting(j, one.Key()) == len(others) })
	}
	_, err := j.Append(t.Context(), one, journal.Entry{Payload: make([]byte, journal.MaxPayload+1)})
	must.Kind(t, "an entry that is too large", err, amber.KindInvalid)
	gate.open()
	want := int64(1)
	for i, a := range append([]*appending{first}, others...) {
		seq, err := a.result()
		if i == 4 {
			must.Kind(t, "the entry that does not fit", err, amber.KindQuota)
			continue
		}
		if err != nil || seq != want {
			t.Errorf("entry %d: sequence %d, %v, want %d", i+1, seq, err, want)
		}
		want++
	}
	must.Equal(t, "syncs for two batches", gate.syncs(), 2)
}

// TestFullJournal reaches the bound of all sessions together.
func TestFullJournal(t *testing.T) {
	t.Parallel()
	dir := spoolDir(t)
	o := journal.Options{MaxBytes: 20_000, SegmentBytes: 2000}
	j := open(t, dir, o)
	session := func(n int) journal.Session {
		return journal.Session{Host: "test", ID: amber.SessionID(fmt.Sprint("session ", n))}
	}
	var refused error
	kept := map[journal.Key]int{}
	for i := range 200 {
		s := session(i % 4)
		if _, refused = j.Append(t.Context(), s, journal.Entry{Payload: make([]byte, 500)}); refused != nil {
			break
		}
		kept[s.Key()]++
	}
	must.Kind(t, "the last entry", refused, amber.KindQuota)
	must.Fail(j.Append(t.Context(), session(99), entry(1)))(t, "a new session", amber.KindQuota)
	must.Kind(t, "starting a session", j.Start(t.Context(), session(99)), amber.KindQuota)
	must.Is(t, "the folder of the new session", must.Err(os.Lstat(filepath.Join(dir, string(session(99).Key())))), os.ErrNotExist)
	// Where there is a segment it says what was dropped.
	said := 0
	for i := range 4 {
		s := session(i)
		seq := must.Get(j.Append(t.Context(), s, output(700)))(t)
		kept[s.Key()]++
		frames := mustRead(t, j, s.Key(), 0)
		if len(frames) != kept[s.Key()] || frames[len(frames)-1].Seq != seq {
			t.Errorf("session %d has %v", i, texts(frames))
		}
		said += len(gaps(t, frames))
	}
	if said == 0 {
		t.Error("no tool output was dropped")
	}
	// Clearing one session makes room for the others.
	for i := range 3 {
		must.Get(j.Clear(t.Context(), session(i).Key(), int64(kept[session(i).Key()])))(t)
	}
	mustAppend(t, j, session(99), entry(1))
	mustAppend(t, j, session(3), entry(1))
}

// TestLargestPayload appends payloads around the bound.
func TestLargestPayload(t *testing.T) {
	t.Parallel()
	dir, j := newSpool(t, journal.Options{})
	must.Fail(j.Append(t.Context(), one, journal.Entry{Payload: make([]byte, journal.MaxPayload+1)}))(t, "one byte more", amber.KindInvalid)
	must.Equal(t, "sessions", len(must.Get(j.Keys())(t)), 0)
	most := bytes.Repeat([]byte("m"), journal.MaxPayload)
	mustAppend(t, j, one, journal.Entry{Payload: most}, journal.Entry{}, journal.Entry{Payload: most})
	var sizes []int
	for _, f := range mustRead(t, on(t, nil, dir), one.Key(), 0) {
		sizes = append(sizes, len(f.Payload))
	}
	must.Equal(t, "sizes of payloads", sizes, []int{journal.MaxPayload, 0, journal.MaxPayload})
}

// TestOptions refuses what makes no sense.
func TestOptions(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		dir  string
		o    journal.Options
	}{
		{"no clock", "/spool", journal.Options{}},
		{"a relative path", "spool", journal.Options{Clock: today}},
		{"a negative wait", "/spool", journal.Options{Clock: today, Wait: -1}},
		{"a negative bound", "/spool", journal.Options{Clock: today, MaxBytes: -1}},
		{"a negative number", "/spool", journal.Options{Clock: today, MaxEntries: -1}},
	}
	for _, tt := range tests {
		must.Fail(journal.Open(tt.dir, tt.o))(t, tt.name, amber.KindInvalid)
	}
}
