package journal_test

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/test/must"
)

// TestReadingHoldsOneFrame reads a session of 64 MiB. All that is allocated on the way is less than a few frames, so
// no more than that is ever held. It does not run beside others, which allocate too.
func TestReadingHoldsOneFrame(t *testing.T) {
	const n = 63
	j := open(t, spoolDir(t), journal.Options{MaxSessionBytes: 128 << 20, SegmentBytes: 16 << 20})
	payload := bytes.Repeat([]byte("payload "), journal.MaxPayload/8)
	for range n {
		mustAppend(t, j, one, journal.Entry{Payload: payload})
	}
	passes := map[string]func() error{
		"read": func() error {
			frames := 0
			_, err := j.Read(t.Context(), one.Key(), 0, func(f journal.Frame) error { frames++; return nil })
			must.Equal(t, "frames", frames, n)
			return err
		},
		"verify": func() error { _, err := j.Verify(t.Context()); return err },
		"status": func() error { _, err := j.Status(t.Context(), one.Key(), 0); return err },
	}
	for name, pass := range passes {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		must.Do(t, pass())
		runtime.ReadMemStats(&after)
		// A buffer for each of five segments, and the last frame once more.
		if got := after.TotalAlloc - before.TotalAlloc; got > 8*journal.MaxPayload {
			t.Errorf("%s allocated %d bytes for %d", name, got, n*journal.MaxPayload)
		}
	}
}
