package schema

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/pgerr"
	"github.com/amber-memory/amber/internal/test/must"
)

// sorted compares lists in any order.
var sorted = cmpopts.SortSlices(func(a, b string) bool { return a < b })

var casts = regexp.MustCompile(`::text|[()"]`)

// shaped compares definitions without the brackets and casts that PostgreSQL adds.
var shaped = cmp.Transformer("shaped", func(s string) string { return lists.ReplaceAllString(casts.ReplaceAllString(s, ""), "IN $1") })

// lists are lists of values as PostgreSQL writes them.
var lists = regexp.MustCompile(`= ANY ARRAY\[([^\]]*)\]`)

func codeOf(err error) string { return pgerr.Code(err) }

// with are the released migrations and others behind them.
func with(t *testing.T, more map[string]string) set {
	t.Helper()
	all := fstest.MapFS{}
	for _, m := range must.Get(known())(t) {
		text := must.Get(files.ReadFile("migrations/" + m.name + ".sql"))(t)
		all["m/"+m.name+".sql"] = &fstest.MapFile{Data: text}
	}
	for name, text := range more {
		all["m/"+name+".sql"] = &fstest.MapFile{Data: []byte(text)}
	}
	return must.Get(parse(all, "m"))(t)
}

func names(steps []Step) (out []string) {
	for _, s := range steps {
		out = append(out, s.Name+"/"+string(rune('0'+s.Step)))
	}
	return out
}

// planned are the steps that a database lacks.
func planned(t *testing.T, c *pgx.Conn) []Step {
	t.Helper()
	_, steps, err := Plan(t.Context(), c)
	must.Do(t, err)
	return steps
}

func TestRunTwice(t *testing.T) {
	_, c := database(t, "")
	err := must.Err(Check(t.Context(), c))
	must.Kind(t, "empty", err, amber.KindConflict, "the database has no tables of Amber", "amber migrate --run")
	must.Is(t, "empty", err, ErrEmpty)
	must.Is(t, "empty", err, ErrOlder)

	must.Equal(t, "plan", names(planned(t, c)), []string{"0001-expand-first/1", "0002-expand-ledger/1", "0003-expand-authors/1", "0003-expand-authors/2"})
	first := must.Get(Run(t.Context(), c, Options{By: "amber test"}))(t)
	must.Equal(t, "versions", []Version{first.From, first.To}, []Version{{}, {Number: Newest(), Needs: 1}})
	must.Equal(t, "done", names(first.Done), []string{"0001-expand-first/1", "0002-expand-ledger/1", "0003-expand-authors/1", "0003-expand-authors/2"})
	must.Equal(t, "record", list[string](t, c, `SELECT name || ' ' || phase || ' ' || state || ' ' || steps || ' ' || by FROM amber_meta.migrations ORDER BY number`), []string{"0001-expand-first expand applied 1 amber test", "0002-expand-ledger expand applied 1 amber test", "0003-expand-authors expand applied 2 amber test"})

	must.Equal(t, "plan of the newest", len(planned(t, c)), 0)
	second := must.Get(Run(t.Context(), c, Options{}))(t)
	must.Equal(t, "second run", second, Report{From: first.To, To: first.To})
	must.Equal(t, "check", must.Get(Check(t.Context(), c))(t), first.To)
	must.Equal(t, "settings left on the connection", list[string](t, c, `SELECT current_setting('lock_timeout') || ' ' || current_user`), []string{"0 postgres"})
}

func TestTwoMigrators(t *testing.T) {
	name, _ := database(t, "")
	all := with(t, map[string]string{"0004-expand-more": "-- step\nCREATE TABLE amber_meta.more (x int8);\n-- step concurrently\nCREATE INDEX CONCURRENTLY more_x ON amber_meta.more (x);"})
	type result struct {
		Report
		error
	}
	results := make(chan result)
	const n = 4
	for range n {
		c := connect(t, name, "postgres")
		go func() {
			r, err := all.run(t.Context(), c, Options{Attempts: 1000, Pause: 10 * time.Millisecond})
			results <- result{r, err}
		}()
	}
	var done []string
	for range n {
		r := <-results
		must.NoError(t, r.error)
		must.Equal(t, "version", r.To, Version{Number: 4, Needs: 1})
		done = append(done, names(r.Done)...)
	}
	slices.Sort(done)
	must.Equal(t, "each step once", done, []string{"0001-expand-first/1", "0002-expand-ledger/1", "0003-expand-authors/1", "0003-expand-authors/2", "0004-expand-more/1", "0004-expand-more/2"})
}

func TestChangedFile(t *testing.T) {
	_, c := migrated(t)
	do(t, c, "UPDATE amber_meta.migrations SET sha256 = 'abc'")
	must.Kind(t, "check", must.Err(Check(t.Context(), c)), amber.KindRefused, "0001-expand-first", "another file")
	must.Kind(t, "run", must.Err(Run(t.Context(), c, Options{})), amber.KindRefused)
	_, _, err := Plan(t.Context(), c)
	must.Kind(t, "plan", err, amber.KindRefused)
}

// A database that newer programs added to is worked on; one from which they took something
// away is not.
func TestNewerDatabase(t *testing.T) {
	_, c := migrated(t)
	newer := Newest() + 1
	do(t, c, "INSERT INTO amber_meta.migrations VALUES ($1, 'later', 'x', 'expand', 'applied', 1, now(), 'x')", newer)
	do(t, c, "UPDATE amber_meta.version SET number = $1", newer)
	must.Equal(t, "added to", must.Get(Check(t.Context(), c))(t), Version{Number: newer, Needs: 1})
	must.Equal(t, "run", must.Get(Run(t.Context(), c, Options{}))(t).To, Version{Number: newer, Needs: 1})
	do(t, c, "UPDATE amber_meta.version SET needs = $1", newer)
	must.Kind(t, "check", must.Err(Check(t.Context(), c)), amber.KindTooNew, "restart")
	must.Kind(t, "run", must.Err(Run(t.Context(), c, Options{})), amber.KindTooNew)
	must.Kind(t, "judge", Judge(Version{Number: newer, Needs: newer}), amber.KindTooNew)
}

func TestOlderDatabase(t *testing.T) {
	err := judge(Version{Number: 2, Needs: 1}, 5, 3)
	must.Kind(t, "", err, amber.KindConflict, "schema 2", "at least 3", "amber migrate --run")
	must.Hold(t, errors.Is(err, ErrOlder) && !errors.Is(err, ErrEmpty), "got %v", err)
	must.NoError(t, judge(Version{Number: 4, Needs: 1}, 5, 3))
}

func TestForeignDatabase(t *testing.T) {
	for name, sql := range map[string]string{
		"another meta":    "CREATE SCHEMA amber_meta",
		"another amber":   "CREATE SCHEMA amber",
		"another home":    "CREATE SCHEMA amber_home",
		"another version": "CREATE SCHEMA amber_meta; CREATE TABLE amber_meta.version (v int); CREATE TABLE amber_meta.migrations (v int); INSERT INTO amber_meta.version VALUES (1)",
	} {
		_, c := database(t, "")
		do(t, c, sql)
		must.Kind(t, name, must.Err(Check(t.Context(), c)), amber.KindDamaged, "not one of Amber")
		must.Kind(t, name, must.Err(Run(t.Context(), c, Options{})), amber.KindDamaged)
	}
	for name, sql := range map[string]string{
		"no version":       "DELETE FROM amber_meta.version",
		"no migration":     "DELETE FROM amber_meta.migrations",
		"no table":         "DROP TABLE amber_meta.migrations",
		"no column":        "ALTER TABLE amber_meta.migrations DROP COLUMN sha256",
		"senseless number": "UPDATE amber_meta.version SET number = 0",
	} {
		_, c := migrated(t)
		do(t, c, sql)
		must.Kind(t, name, must.Err(Check(t.Context(), c)), amber.KindDamaged)
	}
	_, c := database(t, "ENCODING 'LATIN1' TEMPLATE template0")
	must.Kind(t, "encoding", must.Err(Check(t.Context(), c)), amber.KindRefused, "LATIN1", "UTF8")
}

// A statement that waits for a lock makes every statement wait that comes after it. The migration gives up soon, other
// sessions go on, and the migration tries again.
func TestLongLock(t *testing.T) {
	name, c := migrated(t)
	all := with(t, map[string]string{"0004-expand-column": "ALTER TABLE amber.turns ADD COLUMN mood text;"})
	reader := connect(t, name, "postgres")
	long := must.Get(reader.Begin(t.Context()))(t)
	run(t, long, "LOCK TABLE amber.turns IN ACCESS SHARE MODE")

	r, err := all.run(t.Context(), c, Options{Attempts: 1})
	must.Kind(t, "one attempt", err, amber.KindBusy, "0004-expand-column", "no lock", "long transactions")
	must.Equal(t, "nothing was done", len(r.Done), 0)

	other := connect(t, name, "postgres")
	attempts := 0
	r, err = all.run(t.Context(), c, Options{Attempts: 5, Pause: time.Millisecond, Locked: func(s Step) {
		attempts++
		must.Equal(t, "step", s.Number, 4)
		// Nothing is left in the way of others, and the lock is given back.
		as(t, other, 1, func(tx pgx.Tx) {
			run(t, tx, "SET LOCAL lock_timeout = '1s'")
			run(t, tx, turn+`('a', 's', 'user', '', '', 1)`)
		})
		must.Do(t, long.Commit(context.Background()))
	}})
	must.NoError(t, err)
	must.Equal(t, "attempts that got no lock", attempts, 1)
	must.Equal(t, "done", names(r.Done), []string{"0004-expand-column/1"})
}

// A run that fails between two steps goes on with the second.
func TestGoesOn(t *testing.T) {
	_, c := migrated(t)
	all := with(t, map[string]string{"0004-expand-two": "-- What it is for.\n-- step\nCREATE TABLE amber_meta.two (x int8);\n-- step\nINSERT INTO amber_meta.two SELECT 1 / (SELECT count(*) FROM amber_meta.servers);"})
	r, err := all.run(t.Context(), c, Options{})
	must.Kind(t, "", err, amber.KindInternal, "0004-expand-two", "22012")
	must.Equal(t, "done", names(r.Done), []string{"0004-expand-two/1"})
	must.Equal(t, "records", list[string](t, c, `SELECT state || ' ' || steps FROM amber_meta.migrations WHERE number = 4`), []string{"begun 1"})
	must.Equal(t, "version", must.Get(all.read(t.Context(), c))(t).Number, 3)
	must.Equal(t, "plan", names(all.missing(must.Get(all.readAll(t.Context(), c))(t))), []string{"0004-expand-two/2"})
	do(t, c, "INSERT INTO amber_meta.servers (id, schema_known) VALUES ('s', 2)")
	r = must.Get(all.run(t.Context(), c, Options{}))(t)
	must.Equal(t, "done", names(r.Done), []string{"0004-expand-two/2"})
	must.Equal(t, "version", r.To, Version{Number: 4, Needs: 1})
}

// An index that a broken attempt left is made again.
func TestInvalidIndex(t *testing.T) {
	_, c := migrated(t)
	all := with(t, map[string]string{"0004-expand-index": "-- step concurrently\nCREATE UNIQUE INDEX CONCURRENTLY servers_name ON amber_meta.servers (name);"})
	do(t, c, "INSERT INTO amber_meta.servers (id, name, schema_known) VALUES ('a', 'x', 2), ('b', 'x', 2)")
	must.Kind(t, "two alike", must.Err(all.run(t.Context(), c, Options{})), amber.KindInternal, "servers_name")
	const valid = `SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('amber_meta.servers_name')`
	must.Equal(t, "left behind", list[bool](t, c, valid), []bool{false})
	do(t, c, "DELETE FROM amber_meta.servers WHERE id = 'b'")
	r := must.Get(all.run(t.Context(), c, Options{}))(t)
	must.Equal(t, "done", names(r.Done), []string{"0004-expand-index/1"})
	must.Equal(t, "made again", list[bool](t, c, valid), []bool{true})
	must.Equal(t, "version", r.To.Number, 4)

	// Made, and not recorded: it is taken as it is.
	do(t, c, "DELETE FROM amber_meta.migrations WHERE number = 4")
	do(t, c, "UPDATE amber_meta.version SET number = 3")
	was := list[int64](t, c, `SELECT 'amber_meta.servers_name'::regclass::oid::int8`)
	must.Get(all.run(t.Context(), c, Options{}))(t)
	must.Equal(t, "the same index", list[int64](t, c, `SELECT 'amber_meta.servers_name'::regclass::oid::int8`), was)
}

func TestRepeat(t *testing.T) {
	_, c := migrated(t)
	do(t, c, "INSERT INTO amber_meta.servers (id, schema_known) SELECT n::text, 2 FROM generate_series(1, 25) n")
	all := with(t, map[string]string{"0004-backfill-names": "-- step repeat\nUPDATE amber_meta.servers SET name = 'n' WHERE id IN (SELECT id FROM amber_meta.servers WHERE name = '' LIMIT 10);"})
	r := must.Get(all.run(t.Context(), c, Options{ExpandOnly: true}))(t)
	must.Equal(t, "a backfill is no expand", len(r.Done), 0)
	r = must.Get(all.run(t.Context(), c, Options{}))(t)
	must.Equal(t, "done", names(r.Done), []string{"0004-backfill-names/1"})
	must.Equal(t, "names", list[int](t, c, "SELECT count(*)::int FROM amber_meta.servers WHERE name = 'n'"), []int{25})
	must.Equal(t, "transactions", list[int](t, c, "SELECT count(DISTINCT xmin::text)::int FROM amber_meta.servers"), []int{3})
}

func TestContractWaits(t *testing.T) {
	_, c := migrated(t)
	all := with(t, map[string]string{"0004-contract-address": "ALTER TABLE amber_meta.servers DROP COLUMN address;"})
	do(t, c, `INSERT INTO amber_meta.servers (id, name, version, schema_known, seen_at) VALUES ('a', 'old', '1.0', 3, now() - interval '23 hours'), ('b', 'new', '2.0', 4, now()), ('c', 'gone', '1.0', 2, now() - interval '25 hours')`)
	r := must.Get(all.run(t.Context(), c, Options{}))(t)
	must.Equal(t, "servers that hold it back", r.Held, []Older{{Name: "old", Version: "1.0"}}, cmpopts.IgnoreFields(Older{}, "SeenAt"))
	must.Equal(t, "version", r.To, Version{Number: 3, Needs: 1})
	do(t, c, `UPDATE amber_meta.servers SET seen_at = seen_at - interval '2 hours' WHERE id = 'a'`)
	r = must.Get(all.run(t.Context(), c, Options{}))(t)
	must.Equal(t, "version", r.To, Version{Number: 4, Needs: 4})
	must.Equal(t, "held", len(r.Held), 0)
	must.Kind(t, "the older program", must.Err(Check(t.Context(), c)), amber.KindTooNew)
}

// For an operator without the right to make roles, the error names the statements to ask for; once an administrator has
// run them, an ordinary user can migrate.
func TestRoles(t *testing.T) {
	name, admin := database(t, "")
	do(t, admin, "CREATE ROLE plain LOGIN")
	do(t, admin, "ALTER DATABASE "+name+" OWNER TO plain")
	c := connect(t, name, "plain")
	if len(list[int](t, admin, "SELECT 1 FROM pg_roles WHERE rolname = 'amber_app'")) == 0 {
		do(t, admin, "CREATE ROLE amber_app NOLOGIN")
	}
	must.Kind(t, "no member", must.Err(Run(t.Context(), c, Options{})), amber.KindRefused, "amber_app", "CREATE ROLE amber_app NOLOGIN; GRANT amber_app TO plain;")
	do(t, admin, "GRANT amber_app TO plain")
	must.Get(Run(t.Context(), c, Options{}))(t)
	as(t, c, 1, func(tx pgx.Tx) { run(t, tx, turn+`('a', 's', 'user', '', '', 1)`) })
	// The policies hold for the owner of the tables, too.
	must.Equal(t, "owner without a generation", codeOf(must.Err(c.Exec(t.Context(), "SELECT * FROM amber.turns"))), "22P02")
}

func TestFiles(t *testing.T) {
	all := must.Get(known())(t)
	must.Equal(t, "newest", Newest(), int64(len(all)))
	must.Hold(t, oldest >= 1 && oldest <= Newest(), "oldest is %d", oldest)
	for _, m := range all {
		for _, p := range m.steps {
			for _, word := range []string{"LISTEN", "NOTIFY", "pg_advisory_lock", "SET SESSION", "\nSET "} {
				must.Hides(t, m.name, p.sql, word)
			}
		}
	}
	for name, bad := range map[string]map[string]string{
		"gap":          {"0002-expand-x": "SELECT 1;"},
		"no phase":     {"0001-x": "SELECT 1;"},
		"empty":        {"0001-expand-x": "-- nothing\n"},
		"empty step":   {"0001-expand-x": "SELECT 1;\n-- step\n-- nothing\n"},
		"no index":     {"0001-expand-x": "-- step concurrently\nSELECT 1;"},
		"two in one":   {"0001-expand-x": "-- step concurrently\nCREATE INDEX CONCURRENTLY i ON a.b (c); SELECT 1;"},
		"not in place": {"0001-expand-x": "-- step concurrently\nCREATE INDEX i ON a.b (c);"},
	} {
		files := fstest.MapFS{}
		for file, text := range bad {
			files["m/"+file+".sql"] = &fstest.MapFile{Data: []byte(text)}
		}
		_, err := parse(files, "m")
		must.Error(t, name, err)
	}
}

// An attempt at a lock keeps writers waiting for less than 2 s, and the rest after it is four times as long and more. The last ones wait longer than PostgreSQL
// takes to end its own vacuum.
func TestPace(t *testing.T) {
	t.Parallel()
	var waits, rests []time.Duration
	for attempt := 1; attempt <= 30; attempt++ {
		patience, rest := pace(attempt, time.Second)
		must.Hold(t, patience < 2*time.Second && rest >= 4*patience, "attempt %d waits %s and rests %s", attempt, patience, rest)
		waits, rests = append(waits, patience), append(rests, rest)
	}
	must.Equal(t, "waits", waits[:5], []time.Duration{250 * time.Millisecond, 500 * time.Millisecond, time.Second, longest, longest})
	must.Equal(t, "rests", rests[:5], []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 8 * time.Second})
	must.Hold(t, waits[29] > time.Second, "the last attempt waits %s", waits[29])
}
