package journal_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"slices"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/test/must"
)

// three returns a session with nine entries in three segments.
func three(t *testing.T) *session {
	t.Helper()
	s := newSession(t, journal.Options{SegmentBytes: headerSize + 3*frameSize}, 9)
	must.Equal(t, "files", len(files(t, s.disk, s.dir, string(one.Key()))), 4)
	return s
}

func (s *session) remove(n int) {
	s.t.Helper()
	must.Do(s.t, s.disk.Remove(segment(s.dir, n)))
}

// TestMisplacedSegments swaps, removes, copies and exchanges segments.
func TestMisplacedSegments(t *testing.T) {
	t.Parallel()
	all := numbered(1, 9)
	tests := []struct {
		name   string
		change func(s *session)
		next   int64
		want   []string
		damage journal.Damage
	}{
		{"two swapped", func(s *session) {
			a, b := s.bytes(1), s.bytes(2)
			put(s.t, s.disk, segment(s.dir, 1), b)
			put(s.t, s.disk, segment(s.dir, 2), a)
		}, 10, all, journal.Damage{Headers: 2}},
		{"the newest swapped", func(s *session) {
			a, b := s.bytes(1), s.bytes(3)
			put(s.t, s.disk, segment(s.dir, 1), b)
			put(s.t, s.disk, segment(s.dir, 3), a)
		}, 10, all, journal.Damage{Headers: 2}},
		{"the middle one missing", func(s *session) { s.remove(2) }, 10, append(numbered(1, 3), numbered(7, 9)...), journal.Damage{Missing: 3}},
		{"the first missing", func(s *session) { s.remove(1) }, 10, numbered(4, 9), journal.Damage{}},
		{"the newest missing", func(s *session) { s.remove(3) }, 7, numbered(1, 6), journal.Damage{}},
		{"a copy of the first as the newest", func(s *session) { put(s.t, s.disk, segment(s.dir, 4), s.bytes(1)) }, 10, all, journal.Damage{Headers: 1}},
		{"a copy of the newest", func(s *session) { put(s.t, s.disk, segment(s.dir, 9), s.bytes(3)) }, 10, all, journal.Damage{Headers: 1}},
		{"half a copy of the middle one", func(s *session) { put(s.t, s.disk, segment(s.dir, 7), s.bytes(2)[:130]) }, 10, all, journal.Damage{Headers: 1, Torn: 130 - headerSize - frameSize}},
		{"renamed up", func(s *session) { put(s.t, s.disk, segment(s.dir, 5), s.bytes(3)); s.remove(3) }, 10, all, journal.Damage{Headers: 1}},
		{"renamed down", func(s *session) {
			put(s.t, s.disk, segment(s.dir, 1), s.bytes(3))
			s.remove(2)
			s.remove(3)
		}, 10, numbered(7, 9), journal.Damage{Headers: 1}},
		{"no header in the newest", func(s *session) {
			put(s.t, s.disk, segment(s.dir, 3), append(make([]byte, headerSize), s.bytes(3)[headerSize:]...))
		}, 10, all, journal.Damage{Headers: 1}},
		{"no header in any", func(s *session) {
			for n := 1; n <= 3; n++ {
				put(s.t, s.disk, segment(s.dir, n), append(bytes.Repeat([]byte("?"), headerSize), s.bytes(n)[headerSize:]...))
			}
		}, 10, all, journal.Damage{Headers: 3}},
		{"an empty newest", func(s *session) { put(s.t, s.disk, segment(s.dir, 4), nil) }, 10, all, journal.Damage{Headers: 1}},
		{"half a header", func(s *session) { put(s.t, s.disk, segment(s.dir, 4), s.bytes(3)[:40]) }, 10, all, journal.Damage{Headers: 1}},
		{"a folder in the place of the next", func(s *session) {
			must.Do(s.t, s.disk.Mkdir(segment(s.dir, 4), 0o700))
		}, 10, all, journal.Damage{Headers: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := three(t)
			tt.change(s)
			must.Equal(t, "damage", s.check(tt.next, tt.want...), tt.damage)
			// And once more through a clear of everything: sequences go on, nothing that could not be read is gone.
			j := s.journal()
			must.Get(j.Clear(t.Context(), one.Key(), tt.next))(t)
			must.Equal(t, "sequence after clearing", mustAppend(t, j, one, entry(1)), tt.next+1)
		})
	}
}

// TestForeignSegment puts the segment of another session into the folder: its frames are not this session's.
func TestForeignSegment(t *testing.T) {
	t.Parallel()
	s := newSession(t, journal.Options{}, 2)
	two := journal.Session{Host: "test", ID: "two"}
	dir := lockedSpool(t, two)
	disk := newDisk(t, dir)
	fill(t, on(t, disk, dir), two, 5)
	foreign := slurp(t, disk, filepath.Join(dir, string(two.Key()), "000001.seg"))
	put(t, s.disk, segment(s.dir, 2), foreign)
	got := s.check(3, numbered(1, 2)...)
	if got.Headers != 1 || got.Places+got.Torn == 0 {
		t.Errorf("damage %+v", got)
	}
}

// newer returns a segment as a later version might begin it.
func newer(b []byte) []byte {
	b = bytes.Clone(b)
	binary.LittleEndian.PutUint32(b[8:], 2)
	binary.LittleEndian.PutUint32(b[60:], crc32.Checksum(b[:60], crc32.MakeTable(crc32.Castagnoli)))
	return append(b, "what a later version writes"...)
}

// TestNewerSegmentIsLeftAlone makes one segment too new. Nothing about it is changed, and nothing appended.
func TestNewerSegmentIsLeftAlone(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 3; n++ {
		s := three(t)
		b := newer(s.bytes(n))
		put(t, s.disk, segment(s.dir, n), b)
		j := s.journal()
		if n == 3 {
			must.Fail(j.Append(t.Context(), one, entry(10)))(t, "append", amber.KindTooNew)
			must.Kind(t, "start", j.Start(t.Context(), one), amber.KindTooNew)
		}
		_, _, err := readAll(j, one.Key(), 0)
		must.Kind(t, "read", err, amber.KindTooNew)
		_, err = j.Clear(t.Context(), one.Key(), 9)
		must.Kind(t, "clear", err, amber.KindTooNew)
		if amber.HintOf(err) == "" {
			t.Error("too new without a hint")
		}
		st, err := j.Status(t.Context(), one.Key(), 0)
		if err != nil || st.LastError == "" {
			t.Errorf("status: %+v, %v", st, err)
		}
		must.Equal(t, fmt.Sprintf("segment %d", n), s.bytes(n), b)
	}
}

// TestNewerMetaIsLeftAlone has a session whose meta file a later version wrote.
func TestNewerMetaIsLeftAlone(t *testing.T) {
	t.Parallel()
	s := newSession(t, journal.Options{}, 2)
	path := filepath.Join(s.dir, string(one.Key()), "meta")
	b := []byte(`{"format":2,"who":"knows"}`)
	put(t, s.disk, path, b)
	must.Fail(s.journal().Append(t.Context(), one, entry(3)))(t, "append", amber.KindTooNew)
	must.Equal(t, "the meta file", slurp(t, s.disk, path), b)
}

// TestAMetaFileWithOtherFieldsIsRead has fields of a later version, and lacks one.
func TestAMetaFileWithOtherFieldsIsRead(t *testing.T) {
	t.Parallel()
	s := newSession(t, journal.Options{}, 2)
	for _, content := range []string{
		`{"format":1,"host":"test","session_id":"one","started_at":"2026-01-02T03:04:05.678Z","later":{"added":[1]}}`,
		`{"format":1,"host":"test","session_id":"one"}`,
	} {
		put(t, s.disk, filepath.Join(s.dir, string(one.Key()), "meta"), []byte(content))
		if st, err := s.journal().Status(t.Context(), one.Key(), 0); err != nil || st.LastError != "" || st.SessionID != "one" || st.Entries != 2 {
			t.Errorf("%s: %+v, %v", content, st, err)
		}
	}
}

// TestMetaIsMadeAgain loses and damages the meta file: the next append knows whose session it is.
func TestMetaIsMadeAgain(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"empty": "", "no JSON": "{", "no format": `{"host":"test","session_id":"one"}`,
		"another session": `{"format":1,"host":"test","session_id":"two"}`,
		"no object":       `[1]`, "too large": string(bytes.Repeat([]byte(" "), 5000)),
	}
	for name, content := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSession(t, journal.Options{}, 2)
			path := filepath.Join(s.dir, string(one.Key()), "meta")
			put(t, s.disk, path, []byte(content))
			st, err := s.journal().Status(t.Context(), one.Key(), 0)
			if err != nil || st.LastError == "" || st.Entries != 2 {
				t.Errorf("before: %+v, %v", st, err)
			}
			mustAppend(t, s.journal(), one, entry(3))
			st, err = s.journal().Status(t.Context(), one.Key(), 0)
			if err != nil || st.LastError != "" || st.SessionID != one.ID || st.Entries != 3 || st.Quarantined != 1 {
				t.Errorf("after: %+v, %v", st, err)
			}
			must.Equal(t, "kept", string(s.kept()), content)
		})
	}
	s := newSession(t, journal.Options{}, 2)
	must.Do(t, s.disk.Remove(filepath.Join(s.dir, string(one.Key()), "meta")))
	mustAppend(t, s.journal(), one, entry(3))
	must.Equal(t, "after a loss", must.Get(s.journal().Status(t.Context(), one.Key(), 0))(t).SessionID, one.ID)
}

// TestOneBadSessionBlocksNoOther puts sessions beside one another that are broken in every way.
func TestOneBadSessionBlocksNoOther(t *testing.T) {
	t.Parallel()
	ids := []amber.SessionID{"a", "b", "c", "d", "e", "f"}
	var sessions []journal.Session
	for _, id := range ids {
		sessions = append(sessions, journal.Session{Host: "test", ID: id})
	}
	dir := lockedSpool(t, sessions...)
	disk := newDisk(t, dir)
	j := on(t, disk, dir)
	path := func(i int, name string) string { return filepath.Join(dir, string(sessions[i].Key()), name) }
	for _, s := range sessions {
		fill(t, j, s, 3)
	}
	first := func(i int) []byte { return slurp(t, disk, path(i, "000001.seg")) }
	put(t, disk, path(0, "000001.seg"), newer(first(0)))
	put(t, disk, path(1, "000001.seg"), []byte("nothing"))
	put(t, disk, path(2, "meta"), []byte("nothing"))
	put(t, disk, path(3, "000001.seg"), append(first(3), "torn"...))
	put(t, disk, path(4, "000001.seg"), append(first(4)[:headerSize+60], 0))

	reports, err := j.Verify(t.Context())
	if err != nil || len(reports) != len(ids) {
		t.Fatalf("verify: %+v, %v", reports, err)
	}
	wantFrames := map[journal.Key]int64{sessions[2].Key(): 3, sessions[3].Key(): 3, sessions[4].Key(): 1, sessions[5].Key(): 3}
	for _, r := range reports {
		must.Equal(t, "frames of "+string(r.Key), r.Frames, wantFrames[r.Key])
		must.Equal(t, "error of "+string(r.Key), r.Error != "", r.Key == sessions[0].Key())
	}
	list, err := j.List(t.Context(), func(k journal.Key) (int64, error) {
		if k == sessions[5].Key() {
			return 0, context.DeadlineExceeded
		}
		return 2, nil
	})
	if err != nil || len(list) != len(ids) {
		t.Fatalf("list: %+v, %v", list, err)
	}
	var undrained, told int64
	for _, st := range list {
		undrained += st.Undrained
		if st.LastError != "" {
			told++
		}
	}
	must.Equal(t, "undrained", undrained, 1+1+3)
	must.Equal(t, "told", told, 3)
	for _, s := range sessions[1:] {
		must.NoError(t, must.Err(j.Append(t.Context(), s, entry(9))))
	}
}

// TestKeys lists only what is a session's folder.
func TestKeys(t *testing.T) {
	t.Parallel()
	s := newSession(t, journal.Options{}, 1)
	for _, name := range []string{"x", "../x", string(one.Key()) + "0", "B549BFAF0C93DD5885A7C2B6E290AB24"} {
		must.Do(t, s.disk.Mkdir(filepath.Join(s.dir, name), 0o700))
	}
	empty := journal.Session{Host: "test", ID: "a folder and nothing else"}
	must.Do(t, s.disk.Mkdir(filepath.Join(s.dir, string(empty.Key())), 0o700))
	keys, err := s.journal().Keys()
	want := []journal.Key{one.Key(), empty.Key()}
	slices.Sort(want)
	must.Do(t, err)
	must.Equal(t, "keys", keys, want)
	list, err := s.journal().List(t.Context(), func(journal.Key) (int64, error) { return 0, nil })
	if err != nil || len(list) != 1 {
		t.Errorf("list: %+v, %v", list, err)
	}
}
