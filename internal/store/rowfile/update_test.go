package rowfile

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

// A file that is brought up to date has the rows it was given, and the pages of those that stay are as they were.
func TestUpdate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tail, turns, dirty := table(t, "memory.db", "index_tail"), table(t, "memory.db", "turns"), table(t, "memory.db", "index_dirty")
	rows := func(skip, change int) (list [][]any) {
		for i := range 3000 {
			if i == skip {
				continue
			}
			text := fmt.Sprint("document ", i)
			if i == change {
				text = "another text"
			}
			list = append(list, []any{int64(i), []byte(text)})
		}
		return list
	}
	w := must.Get(Create(t.Context(), dir, "memory.db"))(t)
	must.Get(w.Insert(t.Context(), tail, each(rows(7, -1)...)))(t)
	must.Do(t, w.Finish(t.Context()))
	path := filepath.Join(dir, "memory.db")
	before := must.Get(os.ReadFile(path))(t)

	want := append(rows(-1, 1500)[1:], []any{int64(5000), []byte{}})
	turn := make([]any, len(turns.Columns))
	for i, c := range turns.Columns {
		switch c.Type {
		case Integer:
			turn[i] = int64(1)
		case Text:
			turn[i] = "x"
		}
		if c.Null {
			turn[i] = nil
		}
	}
	u := must.Get(Update(t.Context(), dir, "memory.db"))(t)
	must.Equal(t, "changed", must.Get(u.Replace(t.Context(), tail, each(want...)))(t), 3) // one of four is gone
	must.Equal(t, "changed", must.Get(u.Replace(t.Context(), turns, each(turn)))(t), 1)
	// The trigger has noted the turn; the source has no such note.
	must.Equal(t, "changed", must.Get(u.Replace(t.Context(), dirty, each()))(t), 1)
	must.Do(t, u.Finish(t.Context()))
	r := must.Get(Open(t.Context(), path, "memory.db", ""))(t)
	must.Equal(t, "rows", read(t, r, tail), want)
	must.Equal(t, "rows", read(t, r, turns), [][]any{turn})
	must.Equal(t, "rows", len(read(t, r, dirty)), 0)
	must.Do(t, r.Close())
	after := must.Get(os.ReadFile(path))(t)
	differ := 0
	for at := 0; at < len(before); at += 4096 {
		if string(before[at:at+4096]) != string(after[at:min(at+4096, len(after))]) {
			differ++
		}
	}
	must.Hold(t, differ < 20, "%d of %d pages differ", differ, len(before)/4096)

	// A replacement that fails changes nothing.
	u = must.Get(Update(t.Context(), dir, "memory.db"))(t)
	boom := errors.New("the source is gone")
	_, err := u.Replace(t.Context(), tail, func() ([]any, error) { return nil, boom })
	must.Hold(t, errors.Is(err, boom) && !errors.Is(err, ErrOutdated), "the error is %v", err)
	must.Get(u.Replace(t.Context(), tail, each()))(t)
	must.Do(t, u.Abandon())
	r = must.Get(Open(t.Context(), path, "memory.db", ""))(t)
	must.Equal(t, "rows", read(t, r, tail), want)
	must.Do(t, r.Close())
}

func TestUpdateOfWhatIsNone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	refused := func(what string) {
		t.Helper()
		u, err := Update(t.Context(), dir, "memory.db")
		if err == nil {
			_, err = u.Replace(t.Context(), table(t, "memory.db", "index_tail"), each([]any{int64(1), []byte("x")}))
			must.Do(t, u.Abandon())
		}
		must.Hold(t, errors.Is(err, ErrOutdated), "%s: %v", what, err)
	}
	refused("no file")
	path := filepath.Join(dir, "memory.db")
	must.Do(t, os.WriteFile(path, []byte("something else"), 0o600))
	refused("another file")
	must.Do(t, os.Remove(path))
	w := must.Get(Create(t.Context(), dir, "memory.db"))(t)
	must.Do(t, w.Finish(t.Context()))
	db := must.Get(sql.Open("sqlite", path))(t)
	must.Get(db.Exec(`DROP TABLE index_tail; PRAGMA user_version = 99`))(t)
	must.Do(t, db.Close())
	refused("a later schema")
}
