package journal_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/test/must"
)

// FuzzFrames scans anything as a segment. It ends, every byte is accounted for, and whatever is taken for a frame
// is, byte for byte, what would have been written there.
func FuzzFrames(f *testing.F) {
	for _, name := range []string{"000001.seg", "000002.seg"} {
		b := must.Get(os.ReadFile(vectorPath(name)))(f)
		f.Add(b)
		f.Add(b[:len(b)-5])
		f.Add(append(b[:len(b):len(b)], b[64:]...))
		f.Add(append(b[:len(b):len(b)], make([]byte, 600)...))
		b = bytes.Clone(b)
		b[100] ^= 1
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		key := vectorSession.Key()
		got := must.Get(journal.Scan(b, key))(t)
		at, last, sum := min(int64(len(b)), 64), int64(0), min(int64(len(b)), 64)
		for _, p := range got.Frames {
			if p.At < at || p.Seq <= last {
				t.Fatalf("frame %d at %d comes after %d at %d", p.Seq, p.At, last, at)
			}
			if again := journal.EncodeFrame(key, p.At, p.Frame); !bytes.Equal(again, b[p.At:p.At+p.Size]) {
				t.Fatalf("frame %d at %d is %x, would be written as %x", p.Seq, p.At, b[p.At:p.At+p.Size], again)
			}
			at, last, sum = p.At+p.Size, p.Seq, sum+p.Size
		}
		if sum += got.Skipped + got.Tail; sum != int64(len(b)) {
			t.Fatalf("%d bytes of %d are accounted for: %+v", sum, len(b), got)
		}
	})
}

// FuzzMeta reads anything as a meta file. An accepted meta file names the session and survives being written again.
func FuzzMeta(f *testing.F) {
	b := must.Get(os.ReadFile(vectorPath("meta")))(f)
	f.Add(b)
	f.Add(b[:len(b)-3])
	f.Add([]byte(`{"format":2}`))
	f.Add([]byte(`{"format":1,"host":"claude-code","session_id":"x"}`))
	f.Add(bytes.ToUpper(b))
	f.Fuzz(func(t *testing.T, b []byte) {
		key := vectorSession.Key()
		s, again, err := journal.ParseMeta(b, key)
		if err != nil {
			if k := amber.KindOf(err); k != amber.KindDamaged && k != amber.KindTooNew {
				t.Fatalf("kind %s: %v", k, err)
			}
			return
		}
		must.Equal(t, "session", s, vectorSession)
		if _, third, err := journal.ParseMeta(again, key); err != nil || !bytes.Equal(again, third) {
			t.Fatalf("%q was written again as %q and then as %q, %v", b, again, third, err)
		}
	})
}

func vectorPath(name string) string { return filepath.Join("testdata", "v1", name) }
