package s3_test

import (
	"io"
	"runtime"
	"testing"
	"time"

	"github.com/amber-memory/amber/internal/freeze/target/s3"
	"github.com/amber-memory/amber/internal/test/must"
)

// TestNothingIsLeftRunning counts goroutines, so it runs alone.
func TestNothingIsLeftRunning(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Run("use", func(t *testing.T) {
		s, target := prepared(t)
		impatient := s.open(t)
		impatient.SetStall(30 * time.Millisecond)
		for _, f := range []fault{nil, drops, stalls(0), breaks(1), answers(500, ""), answers(403, "")} {
			s.set(f)
			for _, c := range calls {
				_ = c.do(t.Context(), impatient)
			}
			s.set(nil)
			put(t, target, "kept", noise(100_000))
			// A reader that is closed before its end.
			r := must.Get(target.Get(t.Context(), "kept", 0, -1))(t)
			_, _ = io.ReadFull(r, make([]byte, 10))
			must.Do(t, r.Close())
		}
		o := options()
		o.Getenv = env()
		must.Error(t, "opened without credentials", must.Err(s3.Open(t.Context(), s.config(t), o)))
	})
	// Connections take a moment to go.
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(deadline) {
			buf := make([]byte, 1<<20)
			t.Fatalf("%d goroutines became %d:\n%s", before, runtime.NumGoroutine(), buf[:runtime.Stack(buf, true)])
		}
	}
}
