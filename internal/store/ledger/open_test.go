package ledger_test

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/ledger"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// A file that is not ours, or not whole, is an error and stays as it is.
func TestDamagedFilesAreLeftAsTheyAre(t *testing.T) {
	t.Parallel()
	whole := newPlace(t)
	d := whole.open(t)
	newToken(t, d, wire.TokenRequest{})
	record(t, d, "one")
	must.Do(t, d.Close())
	bytes := must.Get(os.ReadFile(whole.path()))(t)
	query := func(queries ...string) func(t *testing.T, p place) {
		return func(t *testing.T, p place) {
			db := must.Get(sql.Open("sqlite", "file:"+p.path()))(t)
			defer db.Close()
			for _, q := range queries {
				p.exec(t, db, q)
			}
		}
	}
	write := func(b []byte) func(t *testing.T, p place) {
		return func(t *testing.T, p place) { must.Do(t, os.WriteFile(p.path(), b, 0o600)) }
	}
	garbled := append([]byte{}, bytes...)
	for i := 100; i < 4096; i++ {
		garbled[i] ^= 0xff
	}
	for name, c := range map[string]struct {
		harm func(t *testing.T, p place)
		kind amber.Kind
	}{
		"empty":           {write(nil), amber.KindDamaged},
		"text":            {write([]byte("hello, world")), amber.KindDamaged},
		"zeros":           {write(make([]byte, 8192)), amber.KindDamaged},
		"first page":      {write(garbled), amber.KindDamaged},
		"cut":             {write(bytes[:4096]), amber.KindDamaged},
		"missing":         {func(t *testing.T, p place) { must.Do(t, os.Remove(p.path())) }, amber.KindDamaged},
		"a folder":        {func(t *testing.T, p place) { must.Do(t, os.Remove(p.path())); must.Do(t, os.Mkdir(p.path(), 0o700)) }, amber.KindDamaged},
		"another program": {query(`PRAGMA application_id = 1`), amber.KindDamaged},
		"no version":      {query(`PRAGMA user_version = 0`), amber.KindDamaged},
		"newer":           {query(`PRAGMA user_version = 99`, `CREATE TABLE future (x)`), amber.KindTooNew},
		"a table less":    {query(`DROP TABLE outbox`), amber.KindDamaged},
		"a table more":    {query(`CREATE TABLE more (x)`), amber.KindDamaged},
		"a trigger more":  {query(`CREATE TRIGGER t AFTER INSERT ON tokens BEGIN UPDATE tokens SET scopes = 'admin'; END`), amber.KindDamaged},
		"a trigger less":  {query(`DROP TRIGGER audit_stays`), amber.KindDamaged},
		"a column more":   {query(`ALTER TABLE tokens ADD COLUMN x TEXT`), amber.KindDamaged},
	} {
		p := whole.copy(t)
		c.harm(t, p)
		before := p.bytes(t)
		for _, look := range []bool{false, true} {
			o := p.options()
			o.Look = look
			d, err := ledger.Open(t.Context(), p.path(), o)
			must.Kind(t, name, err, c.kind)
			if err == nil {
				must.Do(t, d.Close())
			}
		}
		must.Equal(t, name+": the files", string(p.bytes(t)), string(before))
	}
}

// A database that is gone is not made anew while another file shows that there was one: without its
// tokens every caller would get in.
func TestAMissingDatabaseIsNotMadeAnew(t *testing.T) {
	t.Parallel()
	for _, trace := range []string{"home.db-wal", "keys/audit-head"} {
		p := newPlace(t)
		file := filepath.Join(p.dir, filepath.FromSlash(trace))
		must.Do(t, os.MkdirAll(filepath.Dir(file), 0o700))
		must.Do(t, os.WriteFile(file, []byte("x"), 0o600))
		must.Fail(ledger.Open(t.Context(), p.path(), p.options()))(t, trace, amber.KindDamaged)
		must.Is(t, trace+": the file", must.Err(os.Lstat(p.path())), fs.ErrNotExist)
	}
}

func TestLinksAreRefused(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("making links needs a privilege on Windows")
	}
	p := newPlace(t)
	must.Do(t, p.open(t).Close())
	q := newPlace(t)
	must.Do(t, os.Symlink(p.path(), q.path()))
	must.Fail(ledger.Open(t.Context(), q.path(), q.options()))(t, "a link", amber.KindDamaged)
}

func TestLookingMakesNothing(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	o := p.options()
	o.Look = true
	must.Fail(ledger.Open(t.Context(), p.path(), o))(t, "nothing there", amber.KindNotFound)
	must.Equal(t, "files it made", len(must.Get(os.ReadDir(p.dir))(t)), 0)
}

func TestOpeningNeedsItsOptions(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	good := p.options()
	noClock, noRandom, head, network := good, good, good, good
	noClock.Clock, noRandom.Random, head.Head = nil, nil, "head"
	network.NetworkFS = func(string) (string, bool) { return "nfs", true }
	for name, c := range map[string]struct {
		path string
		o    ledger.Options
		kind amber.Kind
	}{
		"no clock":        {p.path(), noClock, amber.KindInvalid},
		"no random":       {p.path(), noRandom, amber.KindInvalid},
		"a relative path": {"home.db", good, amber.KindInvalid},
		"a relative head": {p.path(), head, amber.KindInvalid},
		"a network":       {p.path(), network, amber.KindRefused},
		"no folder":       {filepath.Join(p.dir, "none", "home.db"), good, amber.KindInternal},
	} {
		must.Fail(ledger.Open(t.Context(), c.path, c.o))(t, name, c.kind)
	}
	must.Equal(t, "files it made", len(must.Get(os.ReadDir(p.dir))(t)), 0)
}

func TestFilesAreForTheirOwnerAlone(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there are no modes on Windows")
	}
	p, d := opened(t)
	record(t, d, "one")
	begin(t, d, keyNamed("k"))
	verified(t, d, 1)
	files := 0
	must.Do(t, filepath.WalkDir(p.dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || path == p.dir {
			return err
		}
		info := must.Get(e.Info())(t)
		must.Hold(t, info.Mode().Perm()&0o077 == 0, "%s has mode %v", path, info.Mode())
		files++
		return nil
	}))
	must.Hold(t, files >= 6, "only %d files", files)
}

func TestManyOpenANewHomeAtOnce(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	const openers = 8
	var wg sync.WaitGroup
	for i := range openers {
		wg.Go(func() {
			d, err := ledger.Open(context.Background(), p.path(), p.options())
			if err != nil {
				t.Error(err)
				return
			}
			must.NoError(t, d.Record(context.Background(), entry(fmt.Sprint(i))))
			must.NoError(t, d.Close())
		})
	}
	wg.Wait()
	d := p.open(t)
	verified(t, d, openers)
	must.Do(t, d.Check(t.Context()))
}

func TestAClosedDatabaseSaysSo(t *testing.T) { both(t, testAClosedDatabaseSaysSo) }

func testAClosedDatabaseSaysSo(t *testing.T, p place) {
	d := p.open(t)
	must.Do(t, d.Close())
	must.Do(t, d.Close())
	ctx := t.Context()
	for name, err := range map[string]error{
		"create":    must.Err(d.CreateToken(ctx, wire.TokenRequest{Name: "x", Scopes: wire.TokenScopes()})),
		"list":      must.Err(d.ListTokens(ctx, "")),
		"revoke":    must.Err(d.RevokeToken(ctx, "aaaaaaaa")),
		"has":       must.Err(d.HasTokens(ctx)),
		"record":    d.Record(ctx, entry("x")),
		"audit":     must.Err(d.ListAudit(ctx, wire.AuditQuery{})),
		"verify":    must.Err(d.VerifyAudit(ctx)),
		"begin":     must.Err(d.BeginAnswer(ctx, keyNamed("k"), "", true)),
		"finish":    d.FinishAnswer(ctx, keyNamed("k"), 200, nil),
		"abandon":   d.AbandonAnswer(ctx, keyNamed("k")),
		"forget":    d.ForgetAnswers(ctx, "", ""),
		"publish":   d.Publish(ctx, event("x", nil)),
		"pending":   must.Err(d.PendingEvents(ctx, 1)),
		"published": d.EventsPublished(ctx, 1),
		"check":     d.Check(ctx),
	} {
		must.Kind(t, name, err, amber.KindInvalid)
	}
}

// Close waits for those who are inside.
func TestClosingBesideCallersLosesNothing(t *testing.T) {
	both(t, testClosingBesideCallersLosesNothing)
}

func testClosingBesideCallersLosesNothing(t *testing.T, p place) {
	for range 5 {
		d := p.open(t)
		made := newToken(t, d, wire.TokenRequest{})
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				for {
					err := d.Record(context.Background(), entry(fmt.Sprint(i)))
					if err == nil {
						_, err = d.Authenticate(context.Background(), made.Secret)
					}
					if amber.KindOf(err) == amber.KindInvalid {
						return
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		record(t, d, "one")
		must.Do(t, d.Close())
		wg.Wait()
	}
	if r := report(t, p); !r.OK() {
		t.Errorf("%q", r.Damaged)
	}
}

func TestABrokenRandomSourceIsAnError(t *testing.T) { both(t, testABrokenRandomSourceIsAnError) }

func testABrokenRandomSourceIsAnError(t *testing.T, p place) {
	o := p.options()
	o.Random = io.LimitReader(o.Random, 20) // enough to open, not for a token
	d := p.openWith(t, o)
	_, err := d.CreateToken(t.Context(), wire.TokenRequest{Name: "x", Scopes: wire.TokenScopes()})
	must.Kind(t, "no random bytes", err, amber.KindInternal)
	must.Equal(t, "a token was made", must.Get(d.HasTokens(t.Context()))(t), false)
}
