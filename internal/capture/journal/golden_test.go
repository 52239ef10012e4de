package journal_test

import (
	"context"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/test/errfs"
	"github.com/amber-memory/amber/internal/test/golden"
	"github.com/amber-memory/amber/internal/test/must"
)

// TestIOOrder pins the order of writes, syncs, links and removals on the real file system. K is the folder of
// the session.
func TestIOOrder(t *testing.T) {
	t.Parallel()
	add := func(n int) func(*testing.T, *journal.Journal) error {
		return func(_ *testing.T, j *journal.Journal) error {
			return must.Err(j.Append(context.Background(), one, entry(n)))
		}
	}
	clearTo := func(n int64) func(*testing.T, *journal.Journal) error {
		return func(_ *testing.T, j *journal.Journal) error {
			return must.Err(j.Clear(context.Background(), one.Key(), n))
		}
	}
	small := journal.Options{SegmentBytes: 150} // two entries
	tests := []struct {
		name    string
		before  int // entries
		options journal.Options
		tear    bool
		rule    errfs.Rule
		do      func(*testing.T, *journal.Journal) error
	}{
		{name: "first_append", do: add(1)},
		{name: "later_append", before: 2, do: add(3)},
		{name: "rotation", before: 2, options: small, do: add(3)},
		{name: "start", do: func(_ *testing.T, j *journal.Journal) error { return j.Start(context.Background(), one) }},
		{name: "torn_tail", before: 2, tear: true, do: add(3)},
		{name: "failed_sync", before: 2, rule: errfs.Rule{Op: errfs.OpSync, Nth: 1, Err: syscall.EIO}, do: add(3)},
		{name: "clear_some", before: 5, options: small, do: clearTo(3)},
		{name: "clear_all", before: 5, options: small, do: clearTo(5)},
		{name: "clear_nothing", before: 5, options: small, do: clearTo(1)},
		{name: "remove", before: 2, do: func(t *testing.T, j *journal.Journal) error {
			if _, err := j.Clear(context.Background(), one.Key(), 2); err != nil {
				return err
			}
			removed, err := j.Remove(context.Background(), one.Key(), 2)
			if !removed {
				t.Error("nothing was removed")
			}
			return err
		}},
		{name: "read", before: 2, do: func(t *testing.T, j *journal.Journal) error { mustRead(t, j, one.Key(), 0); return nil }},
		{name: "quarantine", before: 1, do: func(_ *testing.T, j *journal.Journal) error {
			return j.Quarantine(context.Background(), one.Key(), 1, []byte("entry 1"), "no use")
		}},
		{name: "count_loss", before: 1, do: func(_ *testing.T, j *journal.Journal) error { return j.CountLoss(syscall.ENOSPC) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := spoolDir(t)
			for i := range tt.before {
				mustAppend(t, open(t, dir, tt.options), one, entry(i+1))
			}
			if tt.tear {
				b := slurp(t, fsx.OS(), segment(dir, 1))
				put(t, fsx.OS(), segment(dir, 1), append(b, b[64:90]...))
			}
			rec := &recorder{}
			o := tt.options
			o.FS = errfs.TraceRel(fsx.OS(), dir, rec.add)
			if tt.rule.Err != nil {
				o.FS = errfs.TraceRel(errfs.Wrap(fsx.OS(), tt.rule), dir, rec.add)
			}
			result := "ok"
			if err := tt.do(t, open(t, dir, o)); err != nil {
				result = "error"
			}
			checkGolden(t, "io_"+tt.name, strings.ReplaceAll(strings.Join(append(rec.lines, "= "+result), "\n")+"\n", string(one.Key()), "K"))
		})
	}
}

// recorder collects the lines of a trace.
type recorder struct {
	mu    sync.Mutex
	lines []string
}

func (r *recorder) add(line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, line)
}

// count returns how many lines begin with a word.
func (r *recorder) count(word string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, l := range r.lines {
		if strings.HasPrefix(l, word+" ") {
			n++
		}
	}
	return n
}

func checkGolden(t *testing.T, name, got string) {
	t.Helper()
	golden.Check(t, *update, name, got)
}
