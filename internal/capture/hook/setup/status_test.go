package setup_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/capture/hook/setup"
	"github.com/amber-memory/amber/internal/test/errfs"
	"github.com/amber-memory/amber/internal/test/must"
)

func (u *user) status(host string) setup.HostStatus {
	u.t.Helper()
	all := must.Get(setup.Status(u.o))(u.t)
	i := slices.IndexFunc(all, func(st setup.HostStatus) bool { return st.Host == host })
	return all[i]
}

func TestStatusOfNothing(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	all, err := setup.Status(u.o)
	if err != nil || len(all) != len(setup.Hosts()) {
		t.Fatalf("%d hosts, %v", len(all), err)
	}
	for _, st := range all {
		if st.Found || st.Installed || st.Doubled || st.Path == "" || len(st.Scopes) != 2 || st.Trust != "" {
			t.Errorf("%+v", st)
		}
	}
}

func TestStatusFindsHosts(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.mkdir("home/.claude")
	u.o.LookPath = func(name string) (string, error) {
		if name == "droid" {
			return "/usr/bin/droid", nil
		}
		return "", os.ErrNotExist
	}
	for host, want := range map[string]bool{"claude-code": true, "droid": true, "codex": false} {
		if st := u.status(host); st.Found != want {
			t.Errorf("%s found: %v", host, st.Found)
		}
	}
}

func TestStatusOfEveryHost(t *testing.T) {
	t.Parallel()
	for _, host := range setup.Hosts() {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			u.install(host, setup.User)
			st := u.status(host)
			if sc := st.Scopes[0]; !st.Installed || !sc.Installed || sc.Outdated || sc.Missing != "" || sc.Error != "" || st.Path != sc.Path {
				t.Errorf("after setup: %+v", st)
			}
			if sc := st.Scopes[0]; sc.MCP != (host != "vscode") {
				t.Errorf("MCP: %+v", sc)
			}
			// Looked at by an amber for another agent: nothing to do.
			u.o.Flags = []string{"--agent", "other"}
			if st := u.status(host); st.Scopes[0].Outdated {
				t.Errorf("another agent: %+v", st)
			}
			// The program is elsewhere now.
			u.o.Executable = u.in("opt/amber")
			must.Do(t, os.Remove(u.in("bin dir/amber")))
			if sc := u.status(host).Scopes[0]; !sc.Outdated || sc.Missing != u.in("bin dir/amber") {
				t.Errorf("moved: %+v", sc)
			}
			// A development build under another name can still look.
			u.o.Executable = u.in("opt/amber.test")
			if sc := u.status(host).Scopes[0]; !sc.Installed || sc.Outdated || sc.Error != "" {
				t.Errorf("another name: %+v", sc)
			}
		})
	}
}

func TestStatusOfBrokenFiles(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.install("claude-code", setup.User)
	u.write("home/.claude/settings.json", u.read("home/.claude/settings.json")+"}")
	u.write("home/.codex/config.toml", "x")
	if sc := u.status("claude-code").Scopes[0]; !strings.Contains(sc.Error, "settings.json") {
		t.Errorf("%+v", sc)
	}
	if sc := u.status("codex").Scopes[0]; !strings.Contains(sc.Error, "config.toml") {
		t.Errorf("%+v", sc)
	}
	if st := u.status("gemini"); st.Scopes[0].Error != "" {
		t.Errorf("%+v", st)
	}
}

func TestStatusFindsDoubles(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, host string
		install    func(u *user)
		want       bool
	}{
		{"cursor alone", "cursor", func(u *user) { u.install("cursor", setup.User) }, false},
		{"cursor and claude", "cursor", func(u *user) { u.install("cursor", setup.User); u.install("claude-code", setup.User) }, true},
		{"cursor and claude's project", "cursor", func(u *user) { u.install("cursor", setup.User); u.install("claude-code", setup.Project) }, true},
		{"claude alone", "cursor", func(u *user) { u.install("claude-code", setup.User) }, false},
		{"vscode and claude", "vscode", func(u *user) { u.install("vscode", setup.User); u.install("claude-code", setup.User) }, true},
		{"copilot and claude's user", "copilot", func(u *user) { u.install("copilot", setup.User); u.install("claude-code", setup.User) }, false},
		{"copilot and claude's project", "copilot", func(u *user) { u.install("copilot", setup.User); u.install("claude-code", setup.Project) }, true},
		{"both scopes", "gemini", func(u *user) { u.install("gemini", setup.User); u.install("gemini", setup.Project) }, true},
		{"both scopes of claude", "claude-code", func(u *user) { u.install("claude-code", setup.User); u.install("claude-code", setup.Project) }, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			tc.install(u)
			if st := u.status(tc.host); st.Doubled != tc.want || tc.want && len(st.Notes) == 0 {
				t.Errorf("doubled %v, want %v: %+v", st.Doubled, tc.want, st)
			}
		})
	}
	u := newUser(t)
	u.install("claude-code", setup.User)
	if p := u.install("cursor", setup.User); len(p.Notes) != 1 || !strings.Contains(p.Notes[0], "twice") {
		t.Errorf("notes: %q", p.Notes)
	}
}

func TestStatusThroughTheOtherHost(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.install("copilot", setup.Project)
	if sc := u.status("vscode").Scopes[1]; !sc.Installed || sc.Through != "copilot" || sc.Outdated {
		t.Errorf("%+v", sc)
	}
}

// TestTrustIsNeverClaimed: the most that is said is that there are notes.
func TestTrustIsNeverClaimed(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.write("home/.codex/hooks.json", u.testdata("codex-hooks.json"))
	u.install("codex", setup.User)
	must.Equal(t, "without notes", u.status("codex").Trust, setup.TrustMissing)
	config := u.read("home/.codex/config.toml")
	var notes strings.Builder
	for i, event := range strings.Fields("session_start user_prompt_submit post_tool_use subagent_start subagent_stop pre_compact post_compact stop session_end") {
		group := 0
		if i == 0 {
			group = 1 // behind the user's own
		}
		fmt.Fprintf(&notes, "\n[hooks.state.%q]\ntrusted_hash = \"sha256:00\"\n", fmt.Sprintf("%s:%s:%d:0", u.in("home/.codex/hooks.json"), event, group))
	}
	u.write("home/.codex/config.toml", config+notes.String())
	must.Equal(t, "with notes", u.status("codex").Trust, setup.TrustRecorded)
	if st := u.status("codex"); st.Scopes[0].Outdated {
		t.Errorf("the notes make it %+v", st)
	}
	u.write("home/.codex/config.toml", config+strings.Replace(notes.String(), ":stop:0:0", ":stop:1:0", 1))
	must.Equal(t, "with another note", u.status("codex").Trust, setup.TrustMissing)
	u.write("home/.codex/config.toml", "x")
	if got := u.status("codex").Trust; got != setup.TrustUnknown && got != "" {
		t.Errorf("with a broken file: %s", got)
	}
}

// onlyFolderLeft reports whether the state folder is there and empty. Uninstalling
// need not report that to the user.
func (u *user) onlyFolderLeft() bool {
	left, err := os.ReadDir(u.o.StateDir)
	return err == nil && len(left) == 0
}

func (u *user) testdata(name string) string {
	u.t.Helper()
	return string(must.Get(os.ReadFile("testdata/" + name))(u.t))
}

func TestSwitchedOffIsSaid(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.write("home/.codex/config.toml", "[features]\nhooks = false\n")
	if p := u.install("codex", setup.User); len(p.Notes) != 1 || !strings.Contains(p.Notes[0], "switches hooks off") {
		t.Errorf("notes: %q", p.Notes)
	}
}

// TestDiskErrors fails every call of the disk in turn: a settings file is the
// old one or the new one, and a second attempt succeeds.
func TestDiskErrors(t *testing.T) {
	t.Parallel()
	const path = "home/.gemini/settings.json"
	for n := 1; ; n++ {
		u := newUser(t)
		before := u.testdata("gemini-settings.json")
		u.write(path, before)
		tree := u.tree()
		e := errfs.Wrap(fsx.OS(), errfs.Rule{Nth: n, Err: syscall.EIO})
		u.o.FS = e
		attempt := func(do func(string, setup.Scope, setup.Options) (*setup.Plan, error)) error {
			p, err := do("gemini", setup.User, u.o)
			if err == nil {
				err = p.Apply()
			}
			return err
		}
		err1 := attempt(setup.Install)
		err2 := attempt(setup.Uninstall)
		if got := u.read(path); got != before && !strings.Contains(got, "hook gemini") {
			t.Fatalf("error %d leaves %s", n, got)
		}
		injected := len(e.Injected()) > 0
		// Setup does without the part of a record that it cannot read.
		harmless := []errfs.Op{errfs.OpClose, errfs.OpOpen, errfs.OpStat, errfs.OpRead}
		if injected && err1 == nil && err2 == nil && !slices.Contains(harmless, e.Injected()[0]) && !u.onlyFolderLeft() {
			t.Errorf("error %d is hidden: %v", n, e.Injected())
		}
		u.o.FS = nil
		u.install("gemini", setup.User)
		u.uninstall("gemini", setup.User)
		if diff := cmp.Diff(u.tree(), tree); diff != "" {
			t.Fatalf("after error %d (-got +want):\n%s", n, diff)
		}
		if !injected {
			break
		}
	}
}
