package journal_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/test/crashfs"
	"github.com/amber-memory/amber/internal/test/errfs"
	"github.com/amber-memory/amber/internal/test/must"
)

const (
	headerSize = 64
	frameSize  = 47 // of entry(1) to entry(9)
)

// session is a session on a simulated disk whose bytes a test changes.
type session struct {
	t    *testing.T
	dir  string
	disk *crashfs.FS
}

// newSession returns a session with the entries 1 to n.
func newSession(t *testing.T, o journal.Options, n int) *session {
	t.Helper()
	s := &session{t: t, dir: lockedSpool(t)}
	s.disk = newDisk(t, s.dir)
	o.FS = s.disk
	fill(t, open(t, s.dir, o), one, n)
	return s
}

// with is the same session with other bytes in a segment.
func (s *session) with(n int, b []byte) *session {
	disk := s.disk.CrashClone(rand.New(rand.NewPCG(0, 0))) // everything is durable
	put(s.t, disk, segment(s.dir, n), b)
	return &session{t: s.t, dir: s.dir, disk: disk}
}

func (s *session) bytes(n int) []byte { return slurp(s.t, s.disk, segment(s.dir, n)) }

func (s *session) journal() *journal.Journal { return on(s.t, s.disk, s.dir) }

// check checks what is read before and after another entry is appended, and returns the damage before.
func (s *session) check(next int64, want ...string) journal.Damage {
	s.t.Helper()
	j := s.journal()
	reports, err := j.Verify(s.t.Context())
	if err != nil || len(reports) != 1 || reports[0].Error != "" || reports[0].Frames != int64(len(want)) {
		s.t.Errorf("verify: %+v, %v, want %d frames", reports, err, len(want))
		return journal.Damage{}
	}
	must.Equal(s.t, "next sequence", mustAppend(s.t, j, one, journal.Entry{Payload: []byte("new")}), next)
	want = append(slices.Clone(want), fmt.Sprintf("%d new", next))
	frames, after, err := readAll(j, one.Key(), 0)
	must.Do(s.t, err)
	must.Equal(s.t, "frames", texts(frames), want)
	if before := reports[0].Damage; after.Missing < before.Missing || after.Places != before.Places || after.Headers != before.Headers {
		s.t.Errorf("damage was %+v and is %+v", before, after)
	}
	return reports[0].Damage
}

// kept returns all bytes in quarantine.
func (s *session) kept() (b []byte) {
	s.t.Helper()
	for _, name := range files(s.t, s.disk, s.dir, string(one.Key()), "quarantine") {
		b = append(b, slurp(s.t, s.disk, filepath.Join(s.dir, string(one.Key()), "quarantine", name))...)
	}
	return b
}

// TestTornTails cuts a segment at every byte of its last two frames, and lengthens it by everything a crash can
// leave. No intact frame is lost, nothing is taken for damage, and the torn bytes are kept.
func TestTornTails(t *testing.T) {
	t.Parallel()
	s := newSession(t, journal.Options{}, 4)
	whole := s.bytes(1)
	check := func(name string, b, torn []byte, intact int) {
		t.Helper()
		s := s.with(1, b)
		d := s.check(int64(intact+1), numbered(1, intact)...)
		must.Equal(t, "damage", d, journal.Damage{Torn: int64(len(torn))})
		must.Equal(t, "kept", string(s.kept()), string(torn))
		if t.Failed() {
			t.Fatal(name)
		}
	}
	for cut := headerSize + 2*frameSize; cut <= len(whole); cut++ {
		intact := (cut - headerSize) / frameSize
		check(fmt.Sprintf("cut at %d", cut), whole[:cut], whole[headerSize+intact*frameSize:cut], intact)
	}
	random := rand.New(rand.NewPCG(1, 0))
	for _, n := range []int{1, 3, 4, 7, 8, 39, 40, 41, 47, 512, 4096, 70_000} {
		zeros, garbage := make([]byte, n), make([]byte, n)
		for i := range garbage {
			garbage[i] = byte(random.Uint32())
		}
		check(fmt.Sprintf("%d zeros", n), append(bytes.Clone(whole), zeros...), zeros, 4)
		check(fmt.Sprintf("%d random bytes", n), append(bytes.Clone(whole), garbage...), garbage, 4)
	}
	for n := 1; n < frameSize; n++ {
		half := whole[len(whole)-frameSize:][:n]
		check(fmt.Sprintf("%d bytes of a frame", n), append(bytes.Clone(whole), half...), half, 4)
		// A frame again in another place is no frame either.
		twice := append(bytes.Clone(whole[len(whole)-frameSize:]), half...)
		check(fmt.Sprintf("a frame and %d bytes", n), append(bytes.Clone(whole), twice...), twice, 4)
	}
}

// TestEveryFlippedByte flips every byte of a segment. Every other frame is read, the damage is counted, and the
// sequence of a frame that can no longer be read is not given to another.
func TestEveryFlippedByte(t *testing.T) {
	t.Parallel()
	const n = 3
	s := newSession(t, journal.Options{}, n)
	whole := s.bytes(1)
	for at := range whole {
		for _, mask := range []byte{0x01, 0x80, 0xff} {
			b := bytes.Clone(whole)
			b[at] ^= mask
			var intact []string
			want := journal.Damage{Headers: 1}
			for i := range n {
				if start := headerSize + i*frameSize; at < start || at >= start+frameSize {
					intact = append(intact, numbered(i+1, i+1)...)
				}
			}
			if at >= headerSize {
				want = journal.Damage{Places: 1, Bytes: frameSize, Missing: 1}
			}
			must.Equal(t, "damage", s.with(1, b).check(n+1, intact...), want)
			if t.Failed() {
				t.Fatalf("byte %d, mask %#x", at, mask)
			}
		}
	}
}

// TestDamageInTheMiddle destroys stretches of a segment.
func TestDamageInTheMiddle(t *testing.T) {
	t.Parallel()
	s := newSession(t, journal.Options{}, 6)
	whole := s.bytes(1)
	start := func(n int) int { return headerSize + (n-1)*frameSize }
	tests := []struct {
		name     string
		from, to int
		with     byte
		intact   []string
		want     journal.Damage
	}{
		{"one frame zeroed", start(3), start(4), 0, append(numbered(1, 2), numbered(4, 6)...), journal.Damage{Places: 1, Bytes: frameSize, Missing: 1}},
		{"across two frames", start(3) + 20, start(4) + 20, 'A', append(numbered(1, 2), numbered(5, 6)...), journal.Damage{Places: 1, Bytes: 2 * frameSize, Missing: 2}},
		{"header and first frame", 0, start(2), 'F', numbered(2, 6), journal.Damage{Places: 1, Bytes: frameSize, Headers: 1}},
		{"last two frames, lengths spared", start(5) + 33, start(6) + 35, '?', numbered(1, 4), journal.Damage{Places: 1, Bytes: 2 * frameSize, Missing: 2}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := bytes.Clone(whole)
			for i := tt.from; i < tt.to; i++ {
				if i < start(6) || i >= start(6)+8 { // the beginning of the last frame stays
					b[i] = tt.with
				}
			}
			if tt.from == start(5)+33 { // and the end of the one before
				copy(b[start(6)-8:], whole[start(6)-8:start(6)])
			}
			s := s.with(1, b)
			s.t = t
			must.Equal(t, "damage", s.check(7, tt.intact...), tt.want)
		})
	}
}

// TestPayloadsCannotForgeFrames appends payloads that are segments themselves, the session's own and another's, and
// tears the frame around them at every place. Nothing inside them is ever read.
func TestPayloadsCannotForgeFrames(t *testing.T) {
	t.Parallel()
	s := newSession(t, journal.Options{}, 3)
	own := s.bytes(1)
	two := journal.Session{Host: "test", ID: "two"}
	dir := spoolDir(t)
	fill(t, on(t, nil, dir), two, 9)
	other := slurp(t, fsx.OS(), filepath.Join(dir, string(two.Key()), "000001.seg"))
	payload := bytes.Join([][]byte{own, other, own[headerSize:], {0}, own[headerSize:]}, nil)
	mustAppend(t, s.journal(), one, journal.Entry{Payload: payload})
	whole := s.bytes(1)
	for cut := len(own) + 1; cut < len(whole); cut += 7 {
		s := s.with(1, whole[:cut])
		if got := s.check(4, numbered(1, 3)...); got.Any() {
			t.Fatalf("cut at %d: %+v", cut, got)
		}
	}
	for at := len(own); at < len(whole); at += 5 {
		b := bytes.Clone(whole)
		b[at] ^= 0x10
		if got := s.with(1, b).check(5, numbered(1, 3)...); !got.Any() {
			t.Fatalf("byte %d: %+v", at, got)
		}
	}
}

// TestLongTornTailStays leaves a tail where it is that is too long to be copied.
func TestLongTornTailStays(t *testing.T) {
	t.Parallel()
	s := newSession(t, journal.Options{}, 2)
	tail := bytes.Repeat([]byte("no frame"), 600_000)
	s = s.with(1, append(s.bytes(1), tail...))
	must.Equal(t, "damage", s.check(3, numbered(1, 2)...), journal.Damage{Torn: int64(len(tail))})
	if len(s.bytes(1)) < len(tail) || len(s.kept()) > 0 {
		t.Error("the tail was cut")
	}
}

// TestMovedFramesAreDamage removes and inserts bytes in the middle: what lies
// behind has moved, cannot be believed, and was acknowledged nevertheless.
func TestMovedFramesAreDamage(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(b []byte) []byte{
		"bytes are gone": func(b []byte) []byte { return append(b[:200:200], b[210:]...) },
		"bytes came in":  func(b []byte) []byte { return append(append(b[:200:200], "0123456789"...), b[200:]...) },
	} {
		dir, j := newSpool(t, journal.Options{})
		fill(t, j, one, 9)
		put(t, fsx.OS(), segment(dir, 1), change(slurp(t, fsx.OS(), segment(dir, 1))))
		reports, err := j.Verify(t.Context())
		if err != nil || len(reports) != 1 || !reports[0].Damage.Any() {
			t.Errorf("%s: %+v, %v", name, reports, err)
		}
		must.Equal(t, name+": sequence", mustAppend(t, j, one, entry(10)), 10)
	}
}

// TestALossIsCountedOnAFullDisk has nothing left but the reserve.
func TestALossIsCountedOnAFullDisk(t *testing.T) {
	t.Parallel()
	dir := spoolDir(t)
	fill(t, open(t, dir, journal.Options{}), one, 1)
	bad := errfs.Wrap(fsx.OS(), errfs.Rule{Op: errfs.OpWrite, Nth: 1, Err: syscall.ENOSPC})
	j := open(t, dir, journal.Options{FS: bad})
	must.Do(t, j.CountLoss(syscall.ENOSPC))
	must.Equal(t, "losses", must.Get(j.Losses())(t).Count, 1)
	must.Is(t, "the reserve", must.Err(os.Stat(filepath.Join(dir, "reserve"))), os.ErrNotExist)
	fill(t, open(t, dir, journal.Options{}), journal.Session{Host: "test", ID: "another"}, 1)
	must.Equal(t, "the new reserve", must.Get(os.Stat(filepath.Join(dir, "reserve")))(t).Size(), 16<<10)
}
