package local

import (
	"io"
	"path/filepath"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/home"
	"github.com/amber-memory/amber/internal/fsx"
	"github.com/amber-memory/amber/internal/redact"
	"github.com/amber-memory/amber/keyring"
	"github.com/amber-memory/amber/snapshot"
	"github.com/amber-memory/amber/store/sqlite"
)

// Options are what an engine works with. Home, Clock and Random are required.
type Options struct {
	Home   *home.Home
	Clock  amber.Clock
	Random io.Reader

	// Root is the folder that holds the repositories, one for each tenant; "":
	// inside the home.
	Root string
	// Remote keeps the repositories elsewhere; nil: in Root.
	Remote  *Remote
	Wait    time.Duration // for the lock of a repository, and for whoever drains; 0: [home.DefaultWait]
	Grace   time.Duration // of gc; 0: [snapshot.DefaultGrace]
	Sources map[string]snapshot.Source
	Git     string // the git program; "": the one in PATH
	FS      fsx.FS // nil: the operating system's
	// Disabled says why no snapshot may be taken; "" when one may.
	Disabled string
	Progress func(step string, done, total int64)
	// BeforeConsolidation and Warn are those of [snapshot.Options].
	BeforeConsolidation snapshot.Insistence
	Warn                func(string)

	Keys Keys
	// Redact finds the secrets that no bundle holds; nil: by the rules of Amber.
	Redact *redact.Redactor
	// Publisher and LifecyclePrefix are those of [snapshot.Options].
	Publisher       amber.Publisher
	LifecyclePrefix string
}

// Open returns the snapshot engine of a home. It touches no disk. The error is
// of kind invalid.
func Open(o Options) (*snapshot.Engine, error) {
	if o.Home == nil {
		return nil, amber.Errorf(amber.KindInvalid, "open snapshots", "", "there is no home")
	}
	if o.FS == nil {
		o.FS = fsx.OS()
	}
	if o.Wait == 0 {
		o.Wait = home.DefaultWait
	}
	path := o.Home.RepoDir
	if o.Root != "" {
		path = func(t amber.TenantID) string { return filepath.Join(o.Root, string(t)) }
	}
	var repos snapshot.Repositories = repositories{fs: o.FS, path: path, wait: o.Wait}
	if o.Remote != nil {
		repos = remotes{Remote: *o.Remote, fs: o.FS, dir: filepath.Join(o.Home.CacheDir(), "locks"), wait: o.Wait}
	}
	db := databases{clock: o.Clock, random: o.Random}
	keysDir := o.Home.KeysDir()
	return snapshot.New(snapshot.Options{
		Home: o.Home, Clock: o.Clock, Random: o.Random,
		Repositories: repos,
		Databases:    db, Examiner: db, Adopter: db, Viewer: db,
		Spool:   spool{fs: o.FS, clock: o.Clock, store: db.options(), wait: o.Wait},
		Sources: o.Sources, Git: o.Git, FS: o.FS, Grace: o.Grace,
		Keys: &keys{
			Ring: keyring.Open(keysDir, keyring.Options{FS: o.FS, Random: o.Random}),
			o:    o.Keys,
		},
		NoSign: o.Keys.NoSign, RequireSigned: o.Keys.RequireSigned, Redactor: newRedactor(o.Redact), Nexo: db,
		Publisher: o.Publisher, LifecyclePrefix: o.LifecyclePrefix,
		Disabled: o.Disabled, Progress: o.Progress, BeforeConsolidation: o.BeforeConsolidation, Warn: o.Warn,
	})
}

// options are those of a store that is only looked at: nothing is made or
// migrated by freezing.
func (d databases) options() sqlite.Options {
	return sqlite.Options{Clock: d.clock, Random: d.random, KeepSchema: true}
}
