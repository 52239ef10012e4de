package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/image"
	"github.com/amber-memory/amber/internal/store/sqlfile"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/wire"
)

// freeze freezes the live generation until the test ends.
func freeze(t *testing.T, s *Store) (frozen []wire.FrozenDatabase) {
	t.Helper()
	must.Do(t, s.agent.Exclusive(t.Context(), func(c home.Current) (err error) {
		frozen, err = image.FreezeBoth(t.Context(), s.agent.GenDir(c), s.o.BusyTimeout)
		return err
	}))
	t.Cleanup(func() {
		for _, f := range frozen {
			must.Do(t, f.Close())
		}
	})
	return frozen
}

// thaw writes the pages of a frozen database to a file.
func thaw(t *testing.T, f wire.FrozenDatabase, path string) string {
	t.Helper()
	var b bytes.Buffer
	size := f.Info().PageSize
	must.Do(t, f.ReadPages(t.Context(), func(pages []byte) error {
		if len(pages) == 0 || len(pages)%size != 0 {
			t.Errorf("%d bytes are handed out, not whole pages of %d", len(pages), size)
		}
		b.Write(pages)
		return nil
	}))
	if want := f.Info().Pages * int64(size); int64(b.Len()) != want {
		t.Errorf("%d bytes in all, want %d", b.Len(), want)
	}
	must.Do(t, os.WriteFile(path, b.Bytes(), 0o600))
	return path
}

// query reads a file that no other process uses.
func query[T any](t *testing.T, path, q string) (v T) {
	t.Helper()
	db := must.Get(sql.Open("sqlite", "file:"+path+"?mode=ro&immutable=1"))(t)
	defer db.Close()
	must.Do(t, db.QueryRow(q).Scan(&v))
	return v
}

func TestFrozenDatabaseIsOfItsInstant(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t, amber.QueueOptions{})
	for i := range 300 {
		save(t, s, amber.WriteRequest{Content: fmt.Sprintf("before %d", i)})
	}
	must.Get(s.SaveTask(ctx, amber.Task{ID: "before", Goal: "g"}, 0))(t)
	frozen := freeze(t, s)
	// Enough that the log is taken into the file again and again.
	for i := range scale(400) {
		save(t, s, amber.WriteRequest{Content: fmt.Sprintf("after %d %s", i, strings.Repeat("x", 3000))})
	}
	must.Get(s.SaveTask(ctx, amber.Task{ID: "after", Goal: "g"}, 0))(t)
	must.Do(t, s.memory.tidy(ctx, s.memory.live))

	old := must.Get(s.agent.Current())(t)
	restore(t, s.agent, nil)
	save(t, s, amber.WriteRequest{Content: "in the new generation"})
	must.Do(t, os.RemoveAll(s.agent.GenDir(old))) // as a restore does when it is done
	must.Do(t, s.Close())

	dir := t.TempDir()
	memory, control := thaw(t, frozen[0], filepath.Join(dir, "memory.db")), thaw(t, frozen[1], filepath.Join(dir, "control.db"))
	must.Equal(t, "frozen memories", query[int](t, memory, `SELECT count(*) FROM memories`), 300)
	must.Equal(t, "frozen tasks", query[int](t, control, `SELECT count(*) FROM tasks`), 1)
	for _, path := range []string{memory, control} {
		must.Equal(t, path, query[string](t, path, `PRAGMA integrity_check`), "ok")
	}
	for i, want := range []wire.DatabaseInfo{
		{Name: "memory.db", ApplicationID: 0x416d6272, Schema: sqlfile.MemorySchema.Version()},
		{Name: "control.db", ApplicationID: 0x416d6263, Schema: sqlfile.ControlSchema.Version()},
	} {
		got := frozen[i].Info()
		if got.PageSize != 4096 || got.Pages == 0 {
			t.Errorf("%s has %d pages of %d bytes", got.Name, got.Pages, got.PageSize)
		}
		got.PageSize, got.Pages = 0, 0
		must.Equal(t, "", got, want)
	}
}

// A checkpoint that a frozen reader holds up is not waited for, and is made
// once the reader is gone.
func TestFrozenReaderHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t, amber.QueueOptions{})
	save(t, s, amber.WriteRequest{Content: "before"})
	frozen := freeze(t, s)
	text := strings.Repeat("x", 3000)
	for i := range 300 {
		save(t, s, amber.WriteRequest{Content: fmt.Sprintf("%d %s", i, text)})
	}
	left := func() int {
		conn := must.Get(s.memory.live.keeper.Get(ctx))(t)
		defer s.memory.live.keeper.Put(conn)
		log, done, err := checkpoint(ctx, conn, "NOOP")
		must.Do(t, err)
		return log - done
	}
	if left() < checkpointFrames {
		t.Fatalf("%d frames wait, too few to tell", left())
	}
	for _, f := range frozen {
		must.Do(t, f.Close())
		must.Do(t, f.Close())
	}
	save(t, s, amber.WriteRequest{Content: "after"})
	must.Equal(t, "frames that wait after the reader is gone", left(), 0)
}

func TestFreezeLocksOutOtherPrograms(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	clock := newHandClock()
	a := agentIn(t, filepath.Join(t.TempDir(), "home"))
	s := openAgent(t, a, Options{Clock: clock.Now, Random: zeros{}, BusyTimeout: 1})
	c := must.Get(a.Current())(t)
	other := must.Get(sql.Open("sqlite", "file:"+s.control.path(c)))(t)
	defer other.Close()
	conn := must.Get(other.Conn(ctx))(t)
	defer conn.Close()
	must.Get(conn.ExecContext(ctx, "BEGIN IMMEDIATE"))(t)
	must.Fail(image.FreezeBoth(ctx, s.agent.GenDir(c), s.o.BusyTimeout))(t, "freeze while another program writes", amber.KindBusy)
	must.Get(conn.ExecContext(ctx, "ROLLBACK"))(t)
	for _, f := range must.Get(image.FreezeBoth(ctx, s.agent.GenDir(c), s.o.BusyTimeout))(t) {
		must.Do(t, f.Close())
	}
	must.Get(conn.ExecContext(ctx, "BEGIN IMMEDIATE"))(t) // nothing stays locked
	must.Get(conn.ExecContext(ctx, "ROLLBACK"))(t)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestReadPagesStops(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	f := freeze(t, s)[0]
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must.Kind(t, "read after the end", f.ReadPages(ctx, func([]byte) error { return nil }), amber.KindUnreachable)
	stop := errors.New("stop")
	must.Is(t, "function that fails", f.ReadPages(t.Context(), func([]byte) error { return stop }), stop)
	thaw(t, f, filepath.Join(t.TempDir(), "again.db")) // it can still be read
}

// Freeze freezes a damaged database and reports the damage.
func TestFreezeOfDamagedDatabase(t *testing.T) {
	t.Parallel()
	tooNew := sqlfile.MemorySchema.Version() + 1
	for _, c := range []struct {
		name, want string
		harm       func(b []byte) []byte
	}{
		{"free pages", "free pages", func(b []byte) []byte { b[36] = 1; return b }},
		{"cut off", "header counts", func(b []byte) []byte { return b[:len(b)-8192] }},
		{"strange page", "page 5", func(b []byte) []byte { copy(b[4*4096:], "\xff\xff\xff\xff"); return b }},
		{"overfull page", "malformed", func(b []byte) []byte { b[103], b[104] = 0xff, 0xff; return b }},
		{"application id", "application id", func(b []byte) []byte { b[68] = 0; return b }},
		{"version", fmt.Sprint("schema ", tooNew), func(b []byte) []byte { b[63] = byte(tooNew); return b }},
		{"unreadable schema", "schema", func(b []byte) []byte {
			return bytes.ReplaceAll(b, []byte("CREATE TABLE turns"), []byte("CREATE TABEL turns"))
		}},
		{"another schema", "differs from Amber's", func(b []byte) []byte {
			return bytes.ReplaceAll(b, []byte("role       TEXT"), []byte("role       BLOB"))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := filledAgent(t)
			path := filepath.Join(a.GenDir(must.Get(a.Current())(t)), "memory.db")
			b := c.harm(must.Get(os.ReadFile(path))(t))
			must.Do(t, os.WriteFile(path, b, 0o600))
			s := newStore(a, a, must.Get(Options{Clock: newHandClock().Now, Random: zeros{}}.withDefaults())(t))
			f := freeze(t, s)[0]
			got := thaw(t, f, filepath.Join(t.TempDir(), "copy.db"))
			if damage := f.Info().Damage; !strings.Contains(damage, c.want) {
				t.Errorf("damage %q, want one that says %q", damage, c.want)
			}
			if c.name != "cut off" && !bytes.Equal(must.Get(os.ReadFile(got))(t), b) {
				t.Error("the pages are not those of the file")
			}
		})
	}
	t.Run("not a database", func(t *testing.T) {
		t.Parallel()
		a := filledAgent(t)
		c := must.Get(a.Current())(t)
		must.Do(t, os.WriteFile(filepath.Join(a.GenDir(c), "memory.db"), bytes.Repeat([]byte("not a database. "), 1000), 0o600))
		s := newStore(a, a, must.Get(Options{Clock: newHandClock().Now, Random: zeros{}}.withDefaults())(t))
		must.Fail(image.FreezeBoth(t.Context(), s.agent.GenDir(c), s.o.BusyTimeout))(t, "freeze", amber.KindDamaged)
	})
}
