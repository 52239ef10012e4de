package snapshot

import (
	"cmp"
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/permit"
	"github.com/amber-memory/amber/internal/freeze/keyring"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/internal/freeze/target"
	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/internal/recall/search"
	"github.com/amber-memory/amber/internal/store/notes"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/wire"
	"github.com/amber-memory/amber/wire/sign"
)

// DefaultGrace is how long a pack that nothing needs is kept before gc deletes
// it.
const DefaultGrace = 24 * time.Hour

// Options are what an engine works with. Home, Clock and Random are required.
type Options struct {
	Home   *home.Home
	Clock  amber.Clock
	Random io.Reader

	// Root is the folder that holds the repositories, one for each tenant; "":
	// inside the home. Remote keeps them elsewhere; nil: in Root.
	Root    string
	Remote  *Remote
	Wait    time.Duration     // for locks of the repository and of the journal; 0: [home.DefaultWait]
	Grace   time.Duration     // 0: DefaultGrace
	Sources map[string]Source // by name
	Git     string            // the git program; "": the one in PATH
	Place   Place             // where the agents are; nil: in the home
	FS      fsx.FS            // nil: the operating system's

	Keys Keys
	// Model makes the vectors of questions to a snapshot; nil: they are answered by words
	// alone.
	Model search.Model
	// Redact finds the secrets that no bundle may hold; nil: by Amber's rules.
	Redact *redact.Redactor
	// Publisher receives events on subjects that begin with LifecyclePrefix;
	// nil: no events.
	Publisher       events.Publisher
	LifecyclePrefix string

	Version string // of Amber, for manifests; "": not said

	// Disabled says why no snapshot may be taken; "" when snapshots may be.
	Disabled string
	// BeforeConsolidation says how much [Engine.BeforeConsolidation] insists; "": Try. Warn
	// receives the failures that the engine did not insist on; nil: nothing receives them.
	BeforeConsolidation Insistence
	Warn                func(string)
	// Progress is told the step and how far it is; total is 0 when unknown. It
	// returns at once; nil: not told.
	Progress func(step string, done, total int64)
}

// Source is memory that is not Amber's: it is read and never written.
type Source struct {
	Git    string   // a repository, or the folder it is in
	SQLite []string // database files
	Files  []string // files and folders
}

// Engine is the snapshotter of one home. It is safe for concurrent use, also
// by several processes.
type Engine struct {
	o         Options
	place     Place
	keys      *keys
	book      notebook
	manifests *repo.Manifests // of all repositories of the home
	outer     []permit.Permit // of work that this program shares with others, see [Engine.Under]
}

var (
	_ wire.Snapshotter       = (*Engine)(nil)
	_ wire.RepositoryChecker = (*Engine)(nil)
	_ wire.GenerationReader  = (*Engine)(nil)
)

// New returns the snapshot engine of a home. It touches no disk. The error is
// of kind invalid.
func New(o Options) (*Engine, error) {
	if o.Home == nil || o.Clock == nil || o.Random == nil {
		return nil, amber.Errorf(amber.KindInvalid, "make snapshot engine", "", "home, clock and random source are required")
	}
	if o.FS == nil {
		o.FS = fsx.OS()
	}
	if o.Publisher == nil {
		o.Publisher = events.NoopPublisher{}
	}
	o.Wait, o.Grace = cmp.Or(o.Wait, home.DefaultWait), cmp.Or(o.Grace, DefaultGrace)
	o.BeforeConsolidation = cmp.Or(o.BeforeConsolidation, Try)
	dir := o.Home.KeysDir()
	if o.Place == nil {
		o.Place = folders{o}
	}
	return &Engine{o: o, place: o.Place, book: notebook{o}, manifests: &repo.Manifests{}, keys: &keys{
		Ring: keyring.Open(dir, keyring.Options{FS: o.FS, Random: o.Random}), o: o.Keys,
	}}, nil
}

// progress tells the owner of the engine and the caller of ctx how far a step is.
func (e *Engine) progress(ctx context.Context, step string, done, total int64) {
	wire.Progress(ctx, step, done, total)
	if e.o.Progress != nil {
		e.o.Progress(step, done, total)
	}
}

func (e *Engine) now() amber.Time { return amber.At(e.o.Clock()) }

// Under returns the engine for work that this program may do only under a permit, beside the locks and leases that the engine takes: the
// permit is asked, too, right before each effect that others see. These are the manifest of a snapshot, each deletion and each pin of
// one, the first change of a collection of garbage and its first deletion, the switch to another generation and the removal of one.
//
// A target has no transactions that a check could be part of, so one case remains. A program may
// pause between a check and the end of the one effect that follows, for longer than the check is
// good for. Its effect is then done beside the work of the next program: one snapshot more, one
// deletion by rules that were read earlier, or a deletion of packs that were condemned a grace time
// before.
func (e *Engine) Under(p permit.Permit) *Engine {
	under := *e
	under.outer = append(slices.Clone(e.outer), p)
	return &under
}

// permitFor returns the permit for a lock or lease that the engine has just taken, and the function that ends the permit. Outer are
// the permits that the engine works under.
func permitFor(check func(context.Context) error, outer []permit.Permit) (p permit.Permit, end func()) {
	p, end = permit.New(check)
	return p.And(outer...), end
}

// repository is the repository of one tenant, open and locked.
type repository struct {
	*repo.Repo
	e       *Engine
	tenant  amber.TenantID
	target  target.Target
	catalog *repo.Catalog
	signer  sign.Signer // nil: nothing is signed
	permit  permit.Permit
	release func()
}

func (rep *repository) close() { rep.release() }

// opening says how a repository is opened.
type opening int

const (
	waiting  opening = iota // for the lock, as long as is configured
	creating                // also makes it
	atOnce                  // does not wait for the lock
)

// open opens the repository of a tenant under its local lock: shared keeps gc
// from deleting, exclusive is for gc. Errors: not_found when there is none.
func (e *Engine) open(ctx context.Context, tenant amber.TenantID, mode fsx.LockMode, how opening) (*repository, error) {
	target, err := e.openTarget(ctx, tenant, how == creating)
	if err != nil {
		return nil, err
	}
	rep := &repository{e: e, tenant: tenant, target: target}
	if rep.signer, err = e.keys.signer(ctx, how == creating && !e.o.Keys.NoSign); err != nil {
		return nil, err
	}
	unlock, err := e.lock(ctx, tenant, mode, how != atOnce)
	if err != nil {
		return nil, err
	}
	var end func()
	rep.permit, end = permitFor(nil, e.outer)
	rep.release = func() {
		end()
		unlock()
	}
	if err := rep.reopen(ctx); err != nil {
		rep.release()
		return nil, err
	}
	return rep, nil
}

// reopen reads a repository with the keys there are now.
func (rep *repository) reopen(ctx context.Context) error {
	identities, err := rep.e.keys.identities()
	if err != nil {
		return err
	}
	r, err := repo.Open(ctx, rep.target, &repo.Options{Identities: identities, Signer: rep.signer, Manifests: rep.e.manifests})
	if err != nil {
		return err
	}
	rep.Repo, rep.catalog = r, r.Catalog(rep.tenant)
	return nil
}

// checkRef checks the ids of a reference: they become parts of names.
func checkRef(ref wire.SnapshotRef) error {
	_, tenant := amber.ParseTenantID(string(ref.Tenant))
	_, agent := amber.ParseAgentID(string(ref.Agent))
	_, id := amber.ParseSnapshotID(string(ref.ID))
	return cmp.Or(tenant, agent, id)
}

// with opens the repository of a tenant for reading and runs fn.
func (e *Engine) with(ctx context.Context, tenant amber.TenantID, fn func(*repository) error) error {
	return e.within(ctx, tenant, waiting, fn)
}

// within is like with, but the caller chooses how the repository is opened.
func (e *Engine) within(ctx context.Context, tenant amber.TenantID, how opening, fn func(*repository) error) error {
	rep, err := e.open(ctx, tenant, fsx.Shared, how)
	if err != nil {
		return err
	}
	defer rep.close()
	return fn(rep)
}

// find returns a snapshot that may be used and what it holds. Errors:
// not_found, damaged, too_new; untrusted, refused for its signature.
func (rep *repository) find(ctx context.Context, ref wire.SnapshotRef) (repo.Entry, repo.Inner, error) {
	entry, err := rep.catalog.Get(ctx, ref.Agent, ref.ID)
	if err != nil {
		return repo.Entry{}, repo.Inner{}, err
	}
	signature, err := rep.e.signature(ctx, entry)
	if err == nil {
		err = rep.e.Acceptable(string(ref.ID), signature)
	}
	if err != nil {
		return repo.Entry{}, repo.Inner{}, err
	}
	inner, err := rep.inner(ctx, entry.Manifest)
	return entry, inner, err
}

// inner reads what a snapshot holds. Names of databases become names of files,
// so an agent has no others than these. Errors: damaged, too_new.
func (rep *repository) inner(ctx context.Context, m repo.Manifest) (repo.Inner, error) {
	inner, err := rep.Inner(ctx, m)
	if err != nil {
		return repo.Inner{}, err
	}
	for _, d := range inner.Databases {
		if d.Name != memoryDB && d.Name != controlDB {
			return repo.Inner{}, amber.Errorf(amber.KindDamaged, "read inner manifest", string(m.ID), "database %q is not one of an agent: want memory.db or control.db", d.Name)
		}
	}
	return inner, nil
}

// noRepository turns the absence of a repository into an empty answer.
func noRepository(err error) bool { return amber.KindOf(err) == amber.KindNotFound }

// layout is where the parts of an agent lie in one generation. Everything that
// captures and restores asks places for it, so that all of them look in the same
// place.
type layout struct {
	Notes string // a folder, under git or not
	State string // a folder of JSON documents, and of the vault
}

func places(gen string) layout {
	return layout{
		Notes: filepath.Join(gen, "memdir"),
		State: filepath.Join(gen, "state"),
	}
}

// NotesGuard lets the notes of an agent's live generation be written in their
// turn.
func NotesGuard(agent *home.Agent) notes.Guard { return notesGuard{agent} }

type notesGuard struct{ agent *home.Agent }

func (g notesGuard) Write(ctx context.Context, fn func(dir string) error) error {
	return g.agent.Write(ctx, "notes", func(c home.Current) error { return fn(places(g.agent.GenDir(c)).Notes) })
}

func (g notesGuard) Read(_ context.Context, fn func(dir string) error) error {
	c, err := g.agent.Current()
	if err == nil {
		err = g.agent.Gone(c)
	}
	if err != nil {
		return err
	}
	return fn(places(g.agent.GenDir(c)).Notes)
}

// fail adds what was being done to an error that does not say it.
func fail(op, id string, err error) error {
	var e *amber.Error
	if err == nil || errors.As(err, &e) {
		return err
	}
	return &amber.Error{Op: op, Kind: amber.KindOf(err), ID: id, Err: err}
}
