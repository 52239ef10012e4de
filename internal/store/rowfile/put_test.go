package rowfile

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

// Rows are put beside those that are there, and those whose keys are not named go.
func TestPutAndKeep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tail, sessions := table(t, "memory.db", "index_tail"), table(t, "memory.db", "sessions")
	var rows [][]any
	for i := range 100 {
		rows = append(rows, []any{int64(i), []byte(fmt.Sprint("document ", i))})
	}
	w := must.Get(Create(t.Context(), dir, "memory.db"))(t)
	must.Get(w.Insert(t.Context(), tail, each(rows...)))(t)
	must.Do(t, w.Finish(t.Context()))
	u := must.Get(Update(t.Context(), dir, "memory.db"))(t)
	put := func(what string, want [2]int64, rows ...[]any) {
		t.Helper()
		n, changed, err := u.Put(t.Context(), tail, each(rows...))
		must.Do(t, err)
		must.Equal(t, what, [2]int64{n, changed}, want)
	}
	put("nothing", [2]int64{0, 0})
	put("as they are, in any order", [2]int64{2, 0}, rows[7], rows[3])
	rows[5] = []any{int64(5), []byte{}}
	rows = append(rows, []any{int64(200), []byte("new")})
	put("one changed, one new, one as it is", [2]int64{3, 2}, rows[100], rows[5], rows[9])
	must.Equal(t, "rows", must.Get(u.Count(t.Context(), tail))(t), 101)

	// A row that the table does not take leaves it as it is, and what was put before stays.
	_, _, err := u.Put(t.Context(), tail, each([]any{int64(6), []byte("other")}, []any{int64(300), nil}))
	must.Hold(t, errors.Is(err, ErrOutdated), "no document: %v", err)
	boom := errors.New("the source is gone")
	_, _, err = u.Put(t.Context(), tail, func() ([]any, error) { return nil, boom })
	must.Hold(t, errors.Is(err, boom) && !errors.Is(err, ErrOutdated), "the error is %v", err)
	var seen [][]any
	must.Do(t, u.Each(t.Context(), tail, func(row []any) error {
		seen = append(seen, append([]any{}, row...))
		return nil
	}))
	must.Equal(t, "rows", seen, rows)
	must.Hold(t, errors.Is(u.Each(t.Context(), tail, func([]any) error { return boom }), boom), "the error is another one")

	must.Equal(t, "key", sessions.Keys().Names(), sessions.Key)
	keys := func(rows [][]any) (keys [][]any) {
		for _, r := range rows {
			keys = append(keys, r[:1])
		}
		return keys
	}
	must.Equal(t, "gone", must.Get(u.Keep(t.Context(), tail, each(keys(rows)...)))(t), 0)
	_, err = u.Keep(t.Context(), tail, each(keys(append(rows, []any{int64(999)}))...))
	must.Hold(t, errors.Is(err, ErrOutdated), "a key that is not there: %v", err)
	rows = append(rows[:40], rows[42:]...)
	must.Equal(t, "gone", must.Get(u.Keep(t.Context(), tail, each(keys(rows)...)))(t), 2)
	must.Do(t, u.Finish(t.Context()))
	r := must.Get(Open(t.Context(), filepath.Join(dir, "memory.db"), "memory.db", ""))(t)
	must.Equal(t, "rows", read(t, r, tail), rows)
	must.Do(t, r.Close())
}
