package postgres_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/store/postgres/postgrestest"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/pgtest"
)

// refuse has the server refuse some rows of a table.
const refuse = `CREATE FUNCTION %[1]s_refused() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$;
CREATE TRIGGER refused BEFORE INSERT ON amber.%[1]s FOR EACH ROW WHEN (%[2]s) EXECUTE FUNCTION %[1]s_refused()`

// crowd has writers write while the head is locked, so that most of them are in one transaction, and returns
// what each was told.
func crowd(t *testing.T, c *pgx.Conn, writers int, write func(n int) error) []error {
	t.Helper()
	tx := must.Get(c.Begin(t.Context()))(t)
	must.Do(t, must.Err(tx.Exec(t.Context(), `SELECT 1 FROM amber.heads FOR UPDATE`)))
	errs := make([]error, writers)
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() { errs[i] = write(i) })
	}
	time.Sleep(100 * time.Millisecond) // they come to stand in the line; nothing depends on it
	must.Do(t, tx.Commit(t.Context()))
	wg.Wait()
	return errs
}

// TestTogether has writers of one transaction who write the same, write again what is there, and ask for what cannot be.
func TestTogether(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	name := postgrestest.Database(t, server)
	s := must.Get(connect(t, server.DSN(name)).Open(t.Context(), amber.DefaultTenant, "together", postgres.Options{}))(t)
	c := dial(t, server.DSN(name))
	must.Do(t, must.Err(s.Write(t.Context(), amber.WriteRequest{Content: "there before"})))
	var mu sync.Mutex
	ids := map[string]map[amber.MemoryID]int{}
	errs := crowd(t, c, 48, func(n int) error {
		r := amber.WriteRequest{Content: fmt.Sprint("of one ", n)}
		switch n % 4 {
		case 0:
			r.Content = "of many"
		case 1:
			r.Content, r.Tags = "there before", []string{fmt.Sprint("tag ", n)}
		case 2:
			r.UpdatedAt = amber.At(time.Now().Add(100 * time.Hour)) // is refused
		}
		ack, err := s.Write(t.Context(), r)
		if err == nil {
			mu.Lock()
			defer mu.Unlock()
			if ids[r.Content] == nil {
				ids[r.Content] = map[amber.MemoryID]int{}
			}
			ids[r.Content][ack.ID]++
		}
		return err
	})
	for i, err := range errs {
		if i%4 == 2 {
			must.Equal(t, "kind of a date that is to come", amber.KindOf(err), amber.KindInvalid)
			continue
		}
		must.NoError(t, err)
	}
	must.Equal(t, "contents", len(ids), 14)
	for content, of := range ids {
		must.Equal(t, "memories of "+content, len(of), 1)
		for id, times := range of {
			m := must.Get(s.Get(t.Context(), id))(t)
			before := 1
			if content == "there before" {
				before = 0
				must.Equal(t, "tags", len(m.Tags), 12)
			}
			must.Equal(t, "written again", m.DuplicateCount, int64(times-before))
		}
	}
	must.Equal(t, "memories", must.Get(s.Stats(t.Context()))(t).Memories, 14)
	must.Do(t, s.VerifyIndex(t.Context()))
}

// TestOneOfManyIsRefused has the server refuse a row of one writer: the others are not kept from writing, and nothing is there twice.
func TestOneOfManyIsRefused(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	name := postgrestest.Database(t, server)
	s := must.Get(connect(t, server.DSN(name)).Open(t.Context(), amber.DefaultTenant, "refused", postgres.Options{}))(t)
	c := dial(t, server.DSN(name))
	do(t, c, fmt.Sprintf(refuse, "memories", `new.title = 'poison'`))
	errs := crowd(t, c, 16, func(n int) error {
		r := amber.WriteRequest{Title: "good", Content: fmt.Sprint("of one ", n)}
		if n == 7 {
			r.Title = "poison"
		}
		return must.Err(s.Write(t.Context(), r))
	})
	for i, err := range errs {
		must.Equal(t, fmt.Sprintf("writer %d was refused", i), err != nil, i == 7)
	}
	must.Equal(t, "memories", must.Get(s.Stats(t.Context()))(t).Memories, 15)
	must.Do(t, s.VerifyIndex(t.Context()))
}

// TestTheLastRowIsRefused has the server refuse what is sent with COMMIT: the index, without which a memory is stored.
func TestTheLastRowIsRefused(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	name := postgrestest.Database(t, server)
	s := must.Get(connect(t, server.DSN(name)).Open(t.Context(), amber.DefaultTenant, "refused", postgres.Options{}))(t)
	c := dial(t, server.DSN(name))
	do(t, c, fmt.Sprintf(refuse, "index_tail", "true"))
	written := must.Get(s.Write(t.Context(), amber.WriteRequest{Content: "a memory without an index"}))(t)
	must.Equal(t, "content", must.Get(s.Get(t.Context(), written.ID))(t).Content, "a memory without an index")
	must.Equal(t, "waiting", must.Get(s.IndexStatus(t.Context()))(t).Waiting, int64(1))
	do(t, c, "DROP TRIGGER refused ON amber.index_tail")
	must.Do(t, must.Err(s.Write(t.Context(), amber.WriteRequest{Content: "another"})))
	must.Equal(t, "waiting", must.Get(s.IndexStatus(t.Context()))(t).Waiting, int64(0))
	must.Equal(t, "memories", must.Get(s.Stats(t.Context()))(t).Memories, 2)
}
