package home_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/test/errfs"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
)

func TestOpenMakesAPrivateFolderOnce(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", "home")
	for _, want := range []bool{true, false} {
		h, created, err := home.Open(dir, options(nil))
		must.Do(t, err)
		if created != want || h.Dir() != dir {
			t.Errorf("got %s, made now %v; want %s, %v", h.Dir(), created, dir, want)
		}
	}
	for _, d := range []string{dir, filepath.Dir(dir)} {
		info := must.Get(os.Lstat(d))(t)
		if got, want := info.Mode(), fs.ModeDir|0o700; runtime.GOOS != "windows" && got != want {
			t.Errorf("%s: got mode %v, want %v", d, got, want)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	must.Do(t, os.WriteFile(file, []byte("mine"), 0o600))
	tests := []struct {
		name string
		dir  string
		o    home.Options
		want amber.Kind
	}{
		{"an empty path", "", options(nil), amber.KindInvalid},
		{"a relative path", filepath.Join("some", "home"), options(nil), amber.KindInvalid},
		{"a file", file, options(nil), amber.KindInvalid},
		{"a folder below a file", filepath.Join(file, "home"), options(nil), amber.KindInvalid},
		{"a folder far below a file", filepath.Join(file, "some", "home"), options(nil), amber.KindInvalid},
		{"no clock", homeDir(t), home.Options{Random: strings.NewReader("")}, amber.KindInvalid},
		{"no randomness", homeDir(t), home.Options{Clock: today}, amber.KindInvalid},
		{"a parent that may not be written", homeDir(t), failing(errfs.OpMkdir, syscall.EACCES), amber.KindRefused},
		{"a read-only disk", homeDir(t), failing(errfs.OpMkdir, syscall.EROFS), amber.KindRefused},
		{"a parent that may not be read", homeDir(t), failing(errfs.OpLstat, syscall.EACCES), amber.KindRefused},
		{"a broken disk", homeDir(t), failing(errfs.OpLstat, syscall.EIO), amber.KindInternal},
		{"a full disk", homeDir(t), failing(errfs.OpMkdir, syscall.ENOSPC), amber.KindInternal},
		{"a folder that does not last", homeDir(t), failing(errfs.OpSyncDir, syscall.EIO), amber.KindInternal},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h, created, err := home.Open(tt.dir, tt.o)
			must.Kind(t, "open", err, tt.want)
			must.Hold(t, h == nil && !created, "got %v, made now %v beside the error", h, created)
			must.Hold(t, amber.KindOf(err) != amber.KindRefused || amber.HintOf(err) != "", "refused without a hint")
		})
	}
	must.Equal(t, "file in the way", string(must.Get(os.ReadFile(file))(t)), "mine")
}

// failing returns options whose file system fails every call of one kind.
func failing(op errfs.Op, err error) home.Options {
	return options(errfs.Wrap(fsx.OS(), errfs.Rule{Op: op, Err: err}))
}

var hostileIDs = []struct{ name, id string }{
	{"empty", ""},
	{"this folder", "."},
	{"parent", ".."},
	{"way up", "../../etc"},
	{"slash", "a/b"},
	{"absolute", "/etc"},
	{"backslash", `a\b`},
	{"drive", "c:"},
	{"stream", "a:b"},
	{"nul", "a\x00b"},
	{"newline", "a\n"},
	{"space", "a b"},
	{"capital", "Agent"},
	{"hidden", ".agent"},
	{"dot inside", "a.b"},
	{"dash first", "-agent"},
	{"dash last", "agent-"},
	{"underscore first", "_agent"},
	{"not ASCII", "ägent"},
	{"not UTF-8", "a\xffb"},
	{"65 characters", strings.Repeat("a", 65)},
	{"a megabyte", strings.Repeat("a", 1<<20)},
}

func TestHostileIDsTouchNoPath(t *testing.T) {
	t.Parallel()
	for _, tt := range hostileIDs {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			// The first call is that of Open; the next one, of whatever kind, would be noticed.
			disk := errfs.Wrap(fsx.OS(), errfs.Rule{Nth: 2, Err: syscall.EIO})
			h, _, err := home.Open(t.TempDir(), options(disk))
			must.Do(t, err)
			must.Fail(h.Agent(amber.TenantID(tt.id), amber.DefaultAgent))(t, "tenant", amber.KindInvalid)
			must.Fail(h.Agent(amber.DefaultTenant, amber.AgentID(tt.id)))(t, "agent", amber.KindInvalid)
			_, err = h.Agents(amber.TenantID(tt.id))
			must.Kind(t, "agents of tenant", err, amber.KindInvalid)
			if got := disk.Injected(); len(got) != 0 {
				t.Errorf("calls on the disk: %v", got)
			}
			must.Hold(t, len(err.Error()) <= 500, "the error repeats %d bytes", len(err.Error()))
		})
	}
}

func TestAgentHandle(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h, _, err := home.Open(dir, options(nil))
	must.Do(t, err)
	longest := strings.Repeat("a", 64)
	a := must.Get(h.Agent("acme-2", amber.AgentID(longest)))(t)
	if a.Tenant() != "acme-2" || string(a.ID()) != longest {
		t.Errorf("got %s and %s", a.Tenant(), a.ID())
	}
	want := filepath.Join(dir, "tenants", "acme-2", "agents", longest)
	must.Equal(t, "folder", a.Dir(), want)
	must.Equal(t, "folder of a generation", a.GenDir(home.Current{Generation: 12}), filepath.Join(want, "gen", "12"))
	must.Is(t, "folder of tenants", must.Err(os.Lstat(filepath.Join(dir, "tenants"))), fs.ErrNotExist)
}

func TestAgents(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h, _, err := home.Open(dir, options(nil))
	must.Do(t, err)
	for _, id := range []struct{ tenant, agent string }{{"acme", "writer"}, {"acme", "b-2"}, {"acme", "0"}, {"other", "coder"}} {
		a := must.Get(h.Agent(amber.TenantID(id.tenant), amber.AgentID(id.agent)))(t)
		makeAgent(t, fsx.OS(), a)
	}
	agents := filepath.Join(dir, "tenants", "acme", "agents")
	for _, name := range []string{".hidden", "UPPER", "-dash", "made but empty"} {
		must.Do(t, os.Mkdir(filepath.Join(agents, name), 0o700))
	}
	must.Do(t, os.WriteFile(filepath.Join(agents, "file"), nil, 0o600))
	tests := []struct {
		tenant amber.TenantID
		want   []amber.AgentID
	}{
		{"acme", []amber.AgentID{"0", "b-2", "writer"}},
		{"other", []amber.AgentID{"coder"}},
		{"nobody", nil},
	}
	for _, tt := range tests {
		t.Run(string(tt.tenant), func(t *testing.T) {
			t.Parallel()
			got := must.Get(h.Agents(tt.tenant))(t)
			must.Equal(t, "agents", got, tt.want)
		})
	}
}

func TestAgentsReportsTheDisk(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err  error
		want amber.Kind
	}{{syscall.EIO, amber.KindInternal}, {syscall.EACCES, amber.KindRefused}} {
		h, _, err := home.Open(t.TempDir(), failing(errfs.OpReadDir, tt.err))
		must.Do(t, err)
		must.Fail(h.Agents("acme"))(t, tt.err.Error(), tt.want)
	}
}
