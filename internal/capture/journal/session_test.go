package journal_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/test/crashfs"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// TestHostileSessionIDs appends under ids that would like to be paths. They reach nothing but the hash.
func TestHostileSessionIDs(t *testing.T) {
	t.Parallel()
	dir, j := newSpool(t, journal.Options{})
	good := []amber.SessionID{
		"../x", "/etc/passwd", "..", ".", "C:\\x", "a/b", "con", "-rf", "meta", "lock", "000001.seg", "résumé ☃ 記憶",
		"b549bfaf0c93dd5885a7c2b6e290ab24", amber.SessionID(strings.Repeat("x", amber.MaxIDBytes)),
	}
	keys := map[journal.Key]bool{}
	for _, id := range good {
		s := journal.Session{Host: "../host", ID: id}
		fill(t, j, s, 2)
		must.Equal(t, fmt.Sprintf("%.20q: read", id), texts(mustRead(t, j, s.Key(), 0)), numbered(1, 2))
		if st, err := j.Status(t.Context(), s.Key(), 0); err != nil || st.SessionID != id || st.Host != s.Host {
			t.Errorf("%.20q: %+v, %v", id, st, err)
		}
		keys[s.Key()] = true
	}
	bad := []amber.SessionID{"", "\x00", "a\x00b", "a\nb", " a", "a\u202e", "\xff", amber.SessionID(strings.Repeat("x", 10_000))}
	for _, id := range bad {
		for _, s := range []journal.Session{{Host: "test", ID: id}, {Host: string(id), ID: "x"}} {
			must.Fail(j.Append(t.Context(), s, entry(1)))(t, fmt.Sprintf("append to %.20q", id), amber.KindInvalid)
			must.Kind(t, fmt.Sprintf("start %.20q", id), j.Start(t.Context(), s), amber.KindInvalid)
		}
	}
	for _, name := range files(t, fsx.OS(), dir) {
		if !keys[journal.Key(name)] && name != "reserve" {
			t.Errorf("%q is in the spool", name)
		}
	}
	must.Equal(t, "beside the spool", files(t, fsx.OS(), filepath.Dir(dir)), []string{"spool"})
	must.Equal(t, "keys", len(keys), len(good))
}

// TestKeyIsTheHash pins how a session gets its folder.
func TestKeyIsTheHash(t *testing.T) {
	t.Parallel()
	must.Equal(t, "key", one.Key(), "b549bfaf0c93dd5885a7c2b6e290ab24")
	a, b := journal.Session{Host: "ab", ID: "c"}, journal.Session{Host: "a", ID: "bc"}
	if a.Key() == b.Key() {
		t.Error("two sessions share a folder")
	}
	must.Equal(t, "parsed key", must.Get(journal.ParseKey(string(a.Key())))(t), a.Key())
}

// TestClockGoesBack orders by sequence, whatever the clock says.
func TestClockGoesBack(t *testing.T) {
	t.Parallel()
	now := today()
	j := open(t, spoolDir(t), journal.Options{SegmentBytes: 100, Clock: func() time.Time { now = now.Add(-time.Hour); return now }})
	fill(t, j, one, 4)
	frames := mustRead(t, j, one.Key(), 0)
	must.Equal(t, "frames", texts(frames), numbered(1, 4))
	if !frames[3].At.Before(frames[0].At) {
		t.Errorf("the clock did not go back: %v, %v", frames[0].At, frames[3].At)
	}
	st, err := j.Status(t.Context(), one.Key(), 2)
	if err != nil || st.Undrained != 2 || st.Oldest != frames[2].At || st.LastSync != frames[3].At {
		t.Errorf("status: %+v, %v", st, err)
	}
}

// TestStartMakesEverythingDurable starts a session and cuts the power: the first entry then waits for its own sync only.
func TestStartMakesEverythingDurable(t *testing.T) {
	t.Parallel()
	dir := lockedSpool(t)
	disk := newDisk(t, dir)
	must.Do(t, on(t, disk, dir).Start(t.Context(), one))
	for seed := range uint64(seeds) {
		after := disk.CrashClone(newRand(seed))
		st, err := on(t, after, dir).Status(t.Context(), one.Key(), 0)
		if err != nil || st.SessionID != one.ID || st.StartedAt != amber.At(today()) || st.LastError != "" || st.Entries != 0 {
			t.Fatalf("seed %d: %+v, %v", seed, st, err)
		}
	}
	before := disk.Calls()
	mustAppend(t, on(t, disk, dir), one, entry(1))
	must.Equal(t, "calls of the first append", disk.Calls()-before, 4)
	for range 2 {
		must.Do(t, on(t, disk, dir).Start(t.Context(), one))
	}
	checkTexts(t, mustRead(t, on(t, disk, dir), one.Key(), 0), "1 entry 1")
}

// TestStatus counts what is on disk.
func TestStatus(t *testing.T) {
	t.Parallel()
	s := three(t)
	j := s.journal()
	must.Do(t, j.Quarantine(t.Context(), one.Key(), 4, []byte("entry 4"), "no use"))
	b := s.bytes(1)
	b[headerSize+40] ^= 1
	put(t, s.disk, segment(s.dir, 1), b)
	got, err := j.Status(t.Context(), one.Key(), 7)
	want := wire.JournalStatus{
		Key: string(one.Key()), Host: "test", SessionID: "one", StartedAt: amber.At(today()),
		Entries: 8, Bytes: 3*headerSize + 9*frameSize, Undrained: 2, Oldest: amber.At(today()), LastSync: amber.At(today()),
		Quarantined: 1, Damaged: 1,
	}
	must.Do(t, err)
	must.Equal(t, "status", got, want, cmp.Comparer(func(a, b amber.Time) bool { return a == b }))
	if got, err = j.Status(t.Context(), one.Key(), 0); err != nil || got.Damaged != 1 {
		t.Errorf("with nothing drained: %+v, %v", got, err)
	}
}

// TestQuarantineKeepsEntries keeps entries that could not be stored, through a power cut.
func TestQuarantineKeepsEntries(t *testing.T) {
	t.Parallel()
	s := newSession(t, journal.Options{}, 3)
	j := s.journal()
	payload := []byte("line one\nline two\x00\xff")
	keep := func(seq int64, payload []byte, reason string) {
		t.Helper()
		must.Do(t, j.Quarantine(t.Context(), one.Key(), seq, payload, reason))
	}
	keep(2, []byte("first try"), "first reason")
	keep(2, payload, "the store said \"no\"\n")
	keep(3, nil, strings.Repeat("ä", 3000))
	after := s.disk.CrashClone(newRand(1))
	var got []journal.Held
	if err := on(t, after, s.dir).Quarantined(t.Context(), one.Key(), func(h journal.Held) error {
		got = append(got, h)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].Seq != 2 || string(got[0].Payload) != string(payload) || got[0].Reason != "the store said \"no\"\n" || got[0].At != amber.At(today()) {
		t.Errorf("kept %+v", got)
	}
	if len(got) == 2 && (got[1].Seq != 3 || len(got[1].Reason) != 2000 || len(got[1].Payload) != 0) {
		t.Errorf("kept %+v", got[1])
	}
	stop := errors.New("stop")
	must.Is(t, "", j.Quarantined(t.Context(), one.Key(), func(journal.Held) error { return stop }), stop)
	must.Kind(t, "a session that is not there", j.Quarantine(t.Context(), journal.Session{Host: "test", ID: "x"}.Key(), 1, nil, ""), amber.KindNotFound)
	must.Kind(t, "a payload that is too large", j.Quarantine(t.Context(), one.Key(), 1, make([]byte, journal.MaxPayload+1), ""), amber.KindInvalid)
	must.Kind(t, "no sequence", j.Quarantine(t.Context(), one.Key(), -1, nil, ""), amber.KindInvalid)
	small := open(t, s.dir, journal.Options{FS: s.disk, MaxSessionBytes: 100})
	must.Kind(t, "a full quarantine", small.Quarantine(t.Context(), one.Key(), 9, payload, ""), amber.KindQuota)
}

// TestDamagedQuarantine changes every byte of a kept entry: a payload that is not what was kept is not handed out.
func TestDamagedQuarantine(t *testing.T) {
	t.Parallel()
	s := newSession(t, journal.Options{}, 1)
	j := s.journal()
	must.Do(t, j.Quarantine(t.Context(), one.Key(), 1, []byte("payload"), "reason"))
	path := filepath.Join(s.dir, string(one.Key()), "quarantine", "00000000000000000001.entry")
	whole := slurp(t, s.disk, path)
	for at := range whole {
		b := slices.Clone(whole)
		b[at] ^= 0x04
		put(t, s.disk, path, b)
		if err := j.Quarantined(t.Context(), one.Key(), func(h journal.Held) error {
			if h.Payload != nil && string(h.Payload) != "payload" {
				t.Errorf("byte %d: got %q", at, h.Payload)
			}
			return nil
		}); err != nil {
			t.Errorf("byte %d: %v", at, err)
		}
	}
}

// TestLosses counts what could not be kept, from several processes, on a disk that is full or gone too.
func TestLosses(t *testing.T) {
	t.Parallel()
	dir := lockedSpool(t)
	disk := newDisk(t, dir)
	must.Equal(t, "at first", must.Get(on(t, disk, dir).Losses())(t).Count, 0)
	quota := amber.Errorf(amber.KindQuota, "append", "", "full")
	for _, cause := range []error{syscall.EIO, quota, quota, amber.Errorf("new kind", "", "", ""), nil} {
		must.Do(t, on(t, disk, dir).CountLoss(cause))
	}
	want := map[amber.Kind]int64{amber.KindInternal: 3, amber.KindQuota: 2}
	for seed := range uint64(seeds) {
		got, err := on(t, disk.CrashClone(newRand(seed)), dir).Losses()
		if diff := cmp.Diff(got.ByKind, want); diff != "" || err != nil || got.Count != 5 || got.Last.IsZero() {
			t.Fatalf("seed %d: %+v, %v, by kind (-got +want):\n%s", seed, got, err, diff)
		}
	}
	put(t, disk, filepath.Join(dir, "losses"), make([]byte, 1<<20))
	must.Do(t, on(t, disk, dir).CountLoss(quota))
	must.Equal(t, "at the bound", must.Get(on(t, disk, dir).Losses())(t).Count, 1<<20)
	disk.StopAt(1)
	must.Is(t, "on a broken disk", on(t, disk, dir).CountLoss(quota), crashfs.ErrCrashed)
	must.Equal(t, "keys beside the losses", len(must.Get(on(t, disk.CrashClone(newRand(0)), dir).Keys())(t)), 0)
}
