package main

import (
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/freeze/keyring"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// sickHome is a home with one of everything.
type sickHome struct {
	t     *testing.T
	world cli.World
	home  string
}

func newSickHome(t *testing.T) *sickHome {
	return newHome(t, [][]string{
		{"remember", "We chose PostgreSQL for JSONB"},
		{"note", "write", "plan", "ship it"},
		{"queue", "publish", "e1", "--task", "t", "--node", "n", "{}"},
		{"index", "sync"}, // a busy machine makes vectors later
	})
}

// newHome is a home after a few commands.
func newHome(t *testing.T, commands [][]string) *sickHome {
	t.Helper()
	p := &sickHome{t: t, home: filepath.Join(t.TempDir(), "home")}
	p.world = testWorld(t.TempDir(), "AMBER_HOME="+p.home, "HOME="+t.TempDir())
	for _, args := range commands {
		p.run(args...).line()
	}
	return p
}

func (p *sickHome) run(args ...string) ran { return runIn(p.t.Context(), p.t, p.world, args...) }

// snapshot freezes the agent and returns the id.
func (p *sickHome) snapshot() string {
	p.t.Helper()
	return p.run("--quiet", "snapshot", "create").line()
}

func (p *sickHome) agent(name ...string) string {
	return filepath.Join(append([]string{p.home, "tenants", "default", "agents", "default"}, name...)...)
}

// sql runs a statement on one of the databases behind Amber's back.
func (p *sickHome) sql(file, statement string) {
	p.t.Helper()
	db := must.Get(sql.Open("sqlite", p.agent("gen", "1", file)))(p.t)
	defer db.Close()
	db.SetMaxOpenConns(1)
	must.Get(db.Exec(statement))(p.t)
}

// key writes a file into the folder of keys.
func (p *sickHome) key(name, content string) {
	p.t.Helper()
	dir := filepath.Join(p.home, "keys")
	p.must(os.MkdirAll(dir, 0o700))
	p.must(os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
}

func (p *sickHome) must(err error) {
	p.t.Helper()
	must.Do(p.t, err)
}

// doctor runs the command and returns its findings by code.
func (p *sickHome) doctor(args ...string) (code int, found map[string]wire.Finding) {
	p.t.Helper()
	r := p.run(append([]string{"doctor", "--json"}, args...)...)
	var report wire.Checkup
	if err := json.Unmarshal([]byte(r.stdout), &report); err != nil {
		p.t.Fatalf("%v in %s", err, r.stdout)
	}
	found = map[string]wire.Finding{}
	for _, f := range report.Checks {
		found[f.Code] = f
	}
	return r.code, found
}

// finds checks how the doctor exits, the outcome of one check, and that the finding has all
// these words in its detail or hint.
func (p *sickHome) finds(exit int, check string, want wire.FindingStatus, words ...string) {
	p.t.Helper()
	code, found := p.doctor()
	f := found[check]
	if code != exit || f.Status != want {
		p.t.Errorf("exit %d, %+v, want exit %d, %s", code, f, exit, want)
	}
	says(p.t, check, f.Detail+"\n"+f.Hint, words...)
}

// Codes of checks, by what they look at.
var (
	keyCodes      = []string{"key_modes", "signing_key", "trusted_keys", "encryption", "repositories"}
	spoolCodes    = []string{"spool", "spool.losses", "spool.quarantine", "spool.undrained", "spool.parked"}
	databaseCodes = []string{
		"schema", "memory.integrity", "memory.foreign_keys", "memory.full_text", "memory.counters", "memory.rows",
		"control.integrity", "control.counters", "control.rows",
	}
)

const (
	stateCode      = "state"
	vaultFilesCode = "vault_files"
)

// allCodes are the checks of a complete examination.
var allCodes = slices.Concat([]string{"config", "home", "home_modes", "disk", "file_system", "git", "current", "restore", "locks"}, keyCodes, spoolCodes, databaseCodes, []string{"clock", "consolidation", "notes", stateCode, "index", "hosts"})

func TestDoctorFindsNothingWrong(t *testing.T) {
	code, found := newSickHome(t).doctor()
	if code != 0 || len(found) != len(allCodes) {
		t.Errorf("exit %d, %d findings, want 0 and %d", code, len(found), len(allCodes))
	}
	for _, c := range allCodes {
		if found[c].Status != wire.FindingOK {
			t.Errorf("%s: %+v", c, found[c])
		}
	}
}

// TestDoctorFails makes every check fail, each by what it is there to find.
func TestDoctorFails(t *testing.T) {
	for _, tc := range []struct {
		code string
		harm func(p *sickHome)
		exit int
	}{
		{"config", func(p *sickHome) { p.world.Environ = append(p.world.Environ, "AMBER_MEMORY__NONSENSE=1") }, 2},
		{"home", func(p *sickHome) {
			p.must(os.RemoveAll(p.home))
			p.must(os.WriteFile(p.home, nil, 0o600))
		}, 2},
		{"home_modes", func(p *sickHome) { p.must(os.Chmod(p.home, 0o755)) }, 6},
		{"disk", func(p *sickHome) {
			p.world.FSInfo = func(string) (fsx.FSInfo, error) { return fsx.FSInfo{Type: "ext4", FreeBytes: 1 << 20}, nil }
		}, 1},
		{"file_system", func(p *sickHome) {
			p.world.FSInfo = func(string) (fsx.FSInfo, error) {
				return fsx.FSInfo{Type: "nfs", Network: true, FreeBytes: 1 << 40}, nil
			}
		}, 6},
		{"git", func(p *sickHome) { p.t.Setenv("PATH", p.t.TempDir()) }, 6},
		{"key_modes", func(p *sickHome) {
			p.key(keyring.SeedFile, strings.Repeat("s", 32))
			p.must(os.Chmod(filepath.Join(p.home, "keys", keyring.SeedFile), 0o640))
		}, 6},
		{"signing_key", func(p *sickHome) { p.key(keyring.SeedFile, "no seed") }, 5},
		{"trusted_keys", func(p *sickHome) { p.key(keyring.TrustedFile, "did:key:nonsense") }, 5},
		{"encryption", func(p *sickHome) {
			p.world.Environ = append(p.world.Environ, "AMBER_SNAPSHOT__ENCRYPTION__IDENTITY="+filepath.Join(p.home, "nowhere"))
		}, 3},
		{"repositories", func(p *sickHome) {
			p.must(os.WriteFile(filepath.Join(p.home, "repositories.json"), []byte("{}"), 0o600))
		}, 5},
		{"current", func(p *sickHome) { p.must(os.Truncate(p.agent("CURRENT"), 40)) }, 5},
		{"locks", func(p *sickHome) {
			p.must(os.Remove(p.agent("gate")))
			p.must(os.Mkdir(p.agent("gate"), 0o700))
		}, 5},
		{"schema", func(p *sickHome) { p.sql("memory.db", "PRAGMA user_version=99") }, 6},
		{"memory.integrity", func(p *sickHome) {
			p.sql("memory.db", "PRAGMA writable_schema=1; DELETE FROM sqlite_schema WHERE name = 'memories_created'")
		}, 5},
		{"memory.foreign_keys", func(p *sickHome) { p.sql("memory.db", "INSERT INTO concepts VALUES ('nobody', 'x')") }, 5},
		{"memory.full_text", func(p *sickHome) { p.sql("memory.db", "DELETE FROM index_tail") }, 5},
		{"memory.counters", func(p *sickHome) { p.sql("memory.db", "UPDATE incarnations SET ordinal = 9223372036854775807") }, 5},
		{"memory.rows", func(p *sickHome) { p.sql("memory.db", "UPDATE memories SET metadata = '{'") }, 5},
		{"control.rows", func(p *sickHome) {
			p.sql("control.db", "INSERT INTO replays VALUES ('t', 1, '{')")
		}, 5},
		{"control.integrity", func(p *sickHome) {
			p.sql("control.db", "PRAGMA writable_schema=1; DELETE FROM sqlite_schema WHERE name = 'tasks_created'")
		}, 5},
		{"control.counters", func(p *sickHome) { p.sql("control.db", "UPDATE queue_counts SET entries = entries + 1") }, 5},
		{"clock", func(p *sickHome) {
			p.world.Clock = func() time.Time { return time.Now().Add(-time.Hour) }
		}, 4},
		{"notes", func(p *sickHome) {
			p.must(os.WriteFile(p.agent("gen", "1", "memdir", ".git", "config"), []byte("[core]\n\tfsmonitor = evil\n"), 0o600))
		}, 5},
	} {
		t.Run(tc.code, func(t *testing.T) {
			p := newSickHome(t)
			tc.harm(p)
			code, found := p.doctor()
			if f := found[tc.code]; f.Status != wire.FindingFailed || f.Detail == "" || f.Kind == "" {
				t.Errorf("%s: %+v, want failed", tc.code, f)
			}
			if code != tc.exit {
				t.Errorf("exit %d, want %d", code, tc.exit)
			}
			for c, f := range found {
				if c != tc.code && f.Status == wire.FindingFailed {
					t.Errorf("%s fails, too: %s", c, f.Detail)
				}
			}
		})
	}
}

// TestDoctorComparesText finds a text that changed behind the index's back,
// which a comparison of rows does not.
func TestDoctorComparesText(t *testing.T) {
	p := newSickHome(t)
	p.sql("memory.db", "DROP TRIGGER index_memory_update; UPDATE memories SET content = 'something else'")
	p.finds(5, "memory.full_text", wire.FindingFailed)
}

func TestDoctorDeep(t *testing.T) {
	t.Parallel()
	p := newSickHome(t)
	code, found := p.doctor("--deep")
	must.Equal(t, "exit", code, 0)
	must.Equal(t, "promises", found["promises"].Status, wire.FindingOK)
}

func TestDoctorDeepNeedsATemporaryFolder(t *testing.T) {
	p := newSickHome(t)
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
	code, found := p.doctor("--deep")
	must.Equal(t, "exit", code, 1)
	must.Equal(t, "promises", found["promises"].Status, wire.FindingFailed)
}

// TestDoctorChangesNothing examines a home that is not there.
func TestDoctorChangesNothing(t *testing.T) {
	p := newSickHome(t)
	p.must(os.RemoveAll(p.home))
	p.finds(0, "home", wire.FindingWarning)
	if _, err := os.Lstat(p.home); err == nil {
		t.Error("the doctor made a home")
	}
}

// TestDoctorMissesNotes looks at an agent without notes that had some when it
// was frozen, and at one that never had any.
func TestDoctorMissesNotes(t *testing.T) {
	p := newHome(t, [][]string{{"remember", "We chose PostgreSQL for JSONB"}})
	p.snapshot()
	p.finds(0, "notes", wire.FindingOK, "no notes yet")
	p.run("note", "write", "plan", "ship it").line()
	id := p.snapshot()
	p.must(os.RemoveAll(p.agent("gen", "1", "memdir")))
	hint := "amber snapshot restore " + cli.ShortID(id) + " --only notes"
	p.finds(0, "notes", wire.FindingWarning, "the history of the notes is gone; snapshot "+cli.ShortID(id), hint)
	p.run("snapshot", "restore", id, "--only", "notes", "--yes").line()
	p.finds(0, "notes", wire.FindingOK, "every commit is whole")
	// The snapshot before that restore has no notes and is newer.
	p.must(os.RemoveAll(p.agent("gen", "2", "memdir")))
	p.finds(0, "notes", wire.FindingWarning, hint)
	manifests, err := filepath.Glob(filepath.Join(p.home, "tenants", "default", "repo", "snapshots", "default", "*.json"))
	p.must(err)
	for _, m := range manifests {
		p.must(os.WriteFile(m, []byte("garbage"), 0o600))
	}
	if _, found := p.doctor(); len(manifests) == 0 || found["notes"].Status != wire.FindingNotChecked {
		t.Errorf("of %d snapshots none can be read: %+v", len(manifests), found["notes"])
	}
}
