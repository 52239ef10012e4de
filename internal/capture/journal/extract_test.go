package journal_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/test/must"
)

// extract returns what Extract writes.
func extract(t testing.TB, j *journal.Journal, key journal.Key, after, upto int64) ([]byte, int64) {
	t.Helper()
	var b bytes.Buffer
	n, d, err := j.Extract(context.Background(), key, after, upto, &b)
	if err != nil || d != (journal.Damage{}) {
		t.Fatalf("extract: %+v, %v", d, err)
	}
	return b.Bytes(), n
}

// readExtract returns what ReadExtract hands out, with payloads of its own.
func readExtract(b []byte, key journal.Key) (frames []journal.Frame, err error) {
	n, err := journal.ReadExtract(bytes.NewReader(b), key, func(f journal.Frame) error {
		f.Payload = bytes.Clone(f.Payload)
		frames = append(frames, f)
		return nil
	})
	if err == nil && n != int64(len(frames)) {
		err = fmt.Errorf("counted %d of %d", n, len(frames))
	}
	return frames, err
}

func TestExtractHoldsTheEntriesBetween(t *testing.T) {
	t.Parallel()
	j := open(t, spoolDir(t), journal.Options{SegmentBytes: 200})
	fill(t, j, one, 9)
	for _, tt := range []struct{ after, upto int64 }{{0, 9}, {0, 0}, {3, 7}, {8, 9}, {9, 9}, {0, 100}, {5, 4}} {
		b, n := extract(t, j, one.Key(), tt.after, tt.upto)
		frames := must.Get(readExtract(b, one.Key()))(t)
		want := numbered(int(tt.after)+1, int(min(tt.upto, 9)))
		if diff := cmp.Diff(want, texts(frames)); diff != "" || n != int64(len(want)) {
			t.Errorf("(%d, %d]: %d entries (-want +got):\n%s", tt.after, tt.upto, n, diff)
		}
	}
	// The same entries give the same bytes, however they lie in segments.
	k := open(t, spoolDir(t), journal.Options{})
	fill(t, k, one, 9)
	a, _ := extract(t, j, one.Key(), 2, 8)
	b, _ := extract(t, k, one.Key(), 2, 8)
	must.Equal(t, "bytes of the same entries", a, b)
	if got, n := extract(t, j, journal.Session{Host: "none", ID: "none"}.Key(), 0, 9); n != 0 || len(got) != 64 {
		t.Errorf("a session that is not there gives %d entries in %d bytes", n, len(got))
	}
}

// TestExtractNoticesEveryByte mangles an extract in every place.
func TestExtractNoticesEveryByte(t *testing.T) {
	t.Parallel()
	j := open(t, spoolDir(t), journal.Options{})
	fill(t, j, one, 3)
	good, _ := extract(t, j, one.Key(), 1, 3)
	check := func(what string, b []byte) {
		t.Helper()
		_, err := readExtract(b, one.Key())
		if kind := amber.KindOf(err); kind != amber.KindDamaged && kind != amber.KindTooNew {
			t.Errorf("%s: got %v, want damaged", what, err)
		}
	}
	ends := map[int]bool{64: true, len(good): true, 64 + (len(good)-64)/2: true}
	for at := range good {
		b := bytes.Clone(good)
		b[at] ^= 1
		check(fmt.Sprintf("byte %d flipped", at), b)
		if !ends[at] { // between entries it is whole, and a reader who knows the number of entries notices
			check(fmt.Sprintf("cut to %d bytes", at), good[:at])
		}
	}
	check("a byte more", append(bytes.Clone(good), 0))
	must.Fail(readExtract(good, journal.Session{Host: "test", ID: "two"}.Key()))(t, "read as another session", amber.KindDamaged)
	twice := append(bytes.Clone(good), good[64:]...)
	check("entries repeated", twice)
}

func TestExtractPassesErrorsOn(t *testing.T) {
	t.Parallel()
	j := open(t, spoolDir(t), journal.Options{})
	fill(t, j, one, 3)
	stop := errors.New("stop")
	r, w := io.Pipe()
	r.CloseWithError(stop)
	if _, _, err := j.Extract(t.Context(), one.Key(), 0, 3, w); !errors.Is(err, stop) {
		t.Errorf("got %v, want that of the writer", err)
	}
	good, _ := extract(t, j, one.Key(), 0, 3)
	if n, err := journal.ReadExtract(bytes.NewReader(good), one.Key(), func(journal.Frame) error { return stop }); n != 0 || !errors.Is(err, stop) {
		t.Errorf("got %d, %v, want that of the callback", n, err)
	}
	_, _, err := j.Extract(t.Context(), "nonsense", 0, 3, io.Discard)
	must.Kind(t, "extract of no key", err, amber.KindInvalid)
	_, _, err = j.Extract(t.Context(), one.Key(), -1, 3, io.Discard)
	must.Kind(t, "extract after -1", err, amber.KindInvalid)
	_, _, err = j.Extract(t.Context(), one.Key(), 0, -1, io.Discard)
	must.Kind(t, "extract up to -1", err, amber.KindInvalid)
}

// TestExtractGoesOnBehindDamage checks that damage costs what is damaged and is counted.
func TestExtractGoesOnBehindDamage(t *testing.T) {
	t.Parallel()
	dir, j := newSpool(t, journal.Options{})
	fill(t, j, one, 3)
	b := slurp(t, fsx.OS(), segment(dir, 1))
	b[bytes.Index(b, []byte("entry 2"))] ^= 1
	put(t, fsx.OS(), segment(dir, 1), b)
	var out bytes.Buffer
	n, d, err := j.Extract(t.Context(), one.Key(), 0, 3, &out)
	if n != 2 || d.Count() != 1 || err != nil {
		t.Fatalf("got %d entries, %+v, %v", n, d, err)
	}
	frames := must.Get(readExtract(out.Bytes(), one.Key()))(t)
	must.Equal(t, "frames", texts(frames), []string{"1 entry 1", "3 entry 3"})
}

func FuzzReadExtract(f *testing.F) {
	j := open(f, spoolDir(f), journal.Options{})
	fill(f, j, one, 3)
	good, _ := extract(f, j, one.Key(), 0, 3)
	f.Add(good)
	f.Add(good[:len(good)-5])
	f.Add(good[:64])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		last := int64(0)
		n, err := journal.ReadExtract(bytes.NewReader(b), one.Key(), func(f journal.Frame) error {
			if f.Seq <= last || len(f.Payload) > journal.MaxPayload {
				t.Fatalf("got sequence %d with %d bytes after %d", f.Seq, len(f.Payload), last)
			}
			last = f.Seq
			return nil
		})
		if kind := amber.KindOf(err); err != nil && kind != amber.KindDamaged && kind != amber.KindTooNew {
			t.Fatalf("%d entries, %v", n, err)
		}
	})
}

func TestLastIsTheHighestSequence(t *testing.T) {
	t.Parallel()
	dir, j := newSpool(t, journal.Options{SegmentBytes: 200})
	want := func(what string, n int64) {
		t.Helper()
		must.Equal(t, what, must.Get(open(t, dir, journal.Options{}).Last(t.Context(), one.Key()))(t), n)
	}
	want("nothing there", 0)
	must.Do(t, j.Start(t.Context(), one))
	want("started", 0)
	for i := range 7 {
		mustAppend(t, j, one, entry(i+1))
		want("appended", int64(i+1))
	}
	must.Get(j.Clear(t.Context(), one.Key(), 7))(t)
	want("cleared", 7)
	mustAppend(t, j, one, entry(8))
	names := files(t, fsx.OS(), dir, string(one.Key()))
	newest := fmt.Sprintf("%s/%s/%s", dir, one.Key(), names[len(names)-1])
	if names[len(names)-1] == "quarantine" || names[len(names)-1] == "meta" {
		newest = fmt.Sprintf("%s/%s/%s", dir, one.Key(), names[0])
	}
	b := slurp(t, fsx.OS(), newest)
	put(t, fsx.OS(), newest, append(bytes.Clone(b), "AFr1 torn"...))
	want("a torn tail", 8)
	if got := slurp(t, fsx.OS(), newest); len(got) == len(b) {
		t.Error("looking has changed the journal")
	}
	damaged := bytes.Clone(b)
	damaged[3] ^= 1
	put(t, fsx.OS(), newest, damaged)
	want("a damaged header", 8)
	must.Fail(j.Last(t.Context(), "nonsense"))(t, "last of no key", amber.KindInvalid)
}
