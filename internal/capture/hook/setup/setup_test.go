package setup_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/hook/setup"
	"github.com/amber-memory/amber/internal/test/must"
)

// user is a person with a home, a project and an amber.
type user struct {
	t    *testing.T
	root string
	o    setup.Options
}

func newUser(t *testing.T) *user {
	t.Helper()
	root := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	u := &user{t: t, root: root}
	u.o = setup.Options{
		Home: u.in("home"), Dir: u.in("project"), StateDir: u.in("state/setup"), Executable: u.in("bin dir/amber"), MCP: true,
		Plugin: testPlugin, GOOS: "linux",
	}
	for _, dir := range []string{"home", "project"} {
		u.mkdir(dir)
	}
	u.write("bin dir/amber", "#!/bin/sh\n")
	return u
}

func testPlugin(command []string) string {
	b, err := json.Marshal(command)
	if err != nil {
		panic(err)
	}
	return "// " + setup.PluginMark + "\nconst command = " + string(b) + "\n"
}

func (u *user) in(name string) string { return filepath.Join(u.root, filepath.FromSlash(name)) }

func (u *user) mkdir(name string) {
	u.t.Helper()
	must.Do(u.t, os.MkdirAll(u.in(name), 0o755))
}

func (u *user) write(name, text string) {
	u.t.Helper()
	u.mkdir(filepath.Dir(name))
	must.Do(u.t, os.WriteFile(u.in(name), []byte(text), 0o644))
}

func (u *user) read(name string) string {
	u.t.Helper()
	return string(must.Get(os.ReadFile(u.in(name)))(u.t))
}

// tree returns every file and folder of the user, but for Amber's own.
func (u *user) tree() map[string]string {
	u.t.Helper()
	tree := map[string]string{}
	for _, top := range []string{"home", "project"} {
		err := filepath.WalkDir(u.in(top), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			rel, _ := filepath.Rel(u.root, path)
			info, err := d.Info()
			if err != nil {
				return err
			}
			tree[rel] = info.Mode().String()
			if d.Type().IsRegular() {
				b, err := os.ReadFile(path)
				tree[rel] += "\n" + string(b)
				return err
			}
			return nil
		})
		must.Do(u.t, err)
	}
	return tree
}

// leavesNothing reports what is left in the state folder.
func (u *user) leavesNothing() {
	u.t.Helper()
	if left, _ := os.ReadDir(u.o.StateDir); len(left) > 0 {
		u.t.Errorf("%s is left in the state folder", left[0].Name())
	}
}

func (u *user) install(host string, s setup.Scope) *setup.Plan {
	u.t.Helper()
	return u.apply(setup.Install(host, s, u.o))
}

func (u *user) uninstall(host string, s setup.Scope) *setup.Plan {
	u.t.Helper()
	return u.apply(setup.Uninstall(host, s, u.o))
}

func (u *user) apply(p *setup.Plan, err error) *setup.Plan {
	u.t.Helper()
	must.Do(u.t, err)
	must.Do(u.t, p.Apply())
	return p
}

// sample is a settings file that a user has.
type sample struct {
	file  string // of testdata
	host  string
	scope setup.Scope
	path  string // where the user has it
	// old is a piece of it, and edit what the user makes of that later.
	old, edit string
}

var samples = []sample{
	{"claude-settings.json", "claude-code", setup.User, "home/.claude/settings.json", `"opus"`, `"sonnet"`},
	{"claude-settings.json", "claude-code", setup.Project, "project/.claude/settings.json", `"deny": [`, `"deny": [ // none`},
	{"claude-empty-hooks.json", "claude-code", setup.User, "home/.claude/settings.json", `"theme": "dark"`, `"theme": "light"`},
	{"claude-one-line.json", "claude-code", setup.User, "home/.claude/settings.json", `"dark"`, `"light"`},
	{"claude-state.json", "claude-code", setup.User, "home/.claude.json", `412`, `413`},
	{"gemini-settings.json", "gemini", setup.User, "home/.gemini/settings.json", `"GitHub", // the light one`, `"Dracula", // not the light one`},
	{"gemini-settings.json", "gemini", setup.Project, "project/.gemini/settings.json", `// nothing else yet`, `// really nothing`},
	{"cursor-hooks.json", "cursor", setup.User, "home/.cursor/hooks.json", `format.sh`, `prettier.sh`},
	{"cursor-mcp.json", "cursor", setup.Project, "project/.cursor/mcp.json", `/sse`, `/mcp`},
	{"codex-hooks.json", "codex", setup.User, "home/.codex/hooks.json", `Loading notes`, `Loading`},
	{"codex-config.toml", "codex", setup.User, "home/.codex/config.toml", `"high"`, `"low"`},
	{"codex-inline.toml", "codex", setup.User, "home/.codex/config.toml", `timeout = 30`, `timeout = 60`},
	{"codex-inline.toml", "codex", setup.Project, "project/.codex/config.toml", `"o3"`, `"o4"`},
	{"opencode.jsonc", "opencode", setup.User, "home/.config/opencode/opencode.jsonc", `// cheap`, `// very cheap`},
	{"opencode.jsonc", "opencode", setup.Project, "project/opencode.jsonc", `// needs a login`, ``},
	{"vscode-mcp.json", "vscode", setup.Project, "project/.vscode/mcp.json", `// local build`, `// old build`},
	{"droid-settings.json", "droid", setup.User, "home/.factory/settings.json", `gate.sh`, `door.sh`},
	{"droid-hooks.json", "droid", setup.Project, "project/.factory/hooks.json", `/opt/format`, `/opt/fmt`},
	{"copilot-mcp.json", "copilot", setup.User, "home/.copilot/mcp-config.json", `"1"`, `"2"`},
}

// manners are ways in which the same file may be written.
var manners = map[string]func(text string) string{
	"as it is":              func(s string) string { return s },
	"windows line breaks":   func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
	"no line break at end":  func(s string) string { return strings.TrimSuffix(s, "\n") },
	"many line breaks":      func(s string) string { return s + "\n\n" },
	"byte order mark":       func(s string) string { return "\ufeff" + s },
	"indented with a tab":   func(s string) string { return strings.ReplaceAll(s, "  ", "\t") },
	"indented with 4 space": func(s string) string { return strings.ReplaceAll(s, "  ", "    ") },
}

// eachSample runs a test with every sample, and with wide in every manner.
func eachSample(t *testing.T, wide bool, test func(t *testing.T, u *user, s sample)) {
	t.Parallel()
	for _, s := range samples {
		b := must.Get(os.ReadFile(filepath.Join("testdata", s.file)))(t)
		for manner, write := range manners {
			if (!wide || testing.Short()) && manner != "as it is" {
				continue
			}
			t.Run(s.path+" "+s.file+" "+manner, func(t *testing.T) {
				t.Parallel()
				u := newUser(t)
				u.write(s.path, write(string(b)))
				test(t, u, s)
			})
		}
	}
}

// TestUninstallGivesEverythingBack sets up and uninstalls hosts that people
// use already: every file, folder and mode is as before.
func TestUninstallGivesEverythingBack(t *testing.T) {
	eachSample(t, true, func(t *testing.T, u *user, s sample) {
		before := u.tree()
		p := u.install(s.host, s.scope)
		if !p.Any() {
			t.Fatal("nothing was set up")
		}
		u.uninstall(s.host, s.scope)
		must.Equal(t, "after uninstalling", u.tree(), before)
		u.leavesNothing()
	})
}

// TestUninstallKeepsWhatChangedSince changes the file between setting up and
// uninstalling, so that no backup may be restored. None is left either.
func TestUninstallKeepsWhatChangedSince(t *testing.T) {
	eachSample(t, true, func(t *testing.T, u *user, s sample) {
		before := u.read(s.path)
		if !strings.Contains(before, s.old) {
			t.Fatalf("%q is not in the file", s.old)
		}
		u.install(s.host, s.scope)
		u.write(s.path, strings.Replace(u.read(s.path), s.old, s.edit, 1))
		u.uninstall(s.host, s.scope)
		want := strings.Replace(before, s.old, s.edit, 1)
		must.Equal(t, "after uninstalling", u.read(s.path), want)
		u.leavesNothing()
	})
}

// TestUninstallWithoutRecord has nothing but the file to go by.
func TestUninstallWithoutRecord(t *testing.T) {
	eachSample(t, false, func(t *testing.T, u *user, s sample) {
		before := u.read(s.path)
		u.install(s.host, s.scope)
		must.Do(t, os.RemoveAll(u.o.StateDir))
		u.uninstall(s.host, s.scope)
		switch s.file {
		case "claude-empty-hooks.json", "copilot-mcp.json":
			return // without the record, setup does not know that there was an empty container
		}
		must.Equal(t, "after uninstalling", u.read(s.path), before)
	})
}

// TestSecondSetupChangesNothing also shows that what was written is found
// again.
func TestSecondSetupChangesNothing(t *testing.T) {
	eachSample(t, false, func(t *testing.T, u *user, s sample) {
		u.install(s.host, s.scope)
		before := u.tree()
		if p := u.install(s.host, s.scope); p.Any() {
			t.Errorf("the second setup changes %s", p.Changes[0].Diff())
		}
		must.Equal(t, "after the second setup", u.tree(), before)
	})
}

// TestSetupOnlyAddsLines looks at the difference: every line that is taken
// away comes back with a comma.
func TestSetupOnlyAddsLines(t *testing.T) {
	eachSample(t, false, func(t *testing.T, u *user, s sample) {
		if s.file == "claude-one-line.json" {
			return
		}
		for _, c := range must.Get(setup.Install(s.host, s.scope, u.o))(t).Changes {
			if c.Path != u.in(s.path) {
				continue
			}
			plus := map[string]bool{}
			for line := range strings.Lines(c.Diff()) {
				if strings.HasPrefix(line, "+") {
					plus[squeeze(line[1:])] = true
				}
			}
			for line := range strings.Lines(c.Diff()) {
				if strings.HasPrefix(line, "-") && !strings.HasPrefix(line, "---") && !plus[squeeze(line[1:])] && !strings.ContainsAny(line, "{}[]") {
					t.Errorf("setup takes away %q", line)
				}
			}
		}
	})
}

func squeeze(line string) string {
	return strings.NewReplacer(",", "", "\r", "", "\n", "").Replace(line)
}

// TestMovedProgram sets up, moves amber and sets up again: entries are
// corrected where they are, and uninstalling gives back what was there first.
func TestMovedProgram(t *testing.T) {
	eachSample(t, false, func(t *testing.T, u *user, s sample) {
		before := u.tree()
		u.install(s.host, s.scope)
		old := u.read(s.path)
		from := u.o.Executable
		u.o.Executable, u.o.Flags = u.in("opt/amber"), []string{"--home", "/srv/amber"}
		u.install(s.host, s.scope)
		if got := u.read(s.path); strings.Contains(got, "bin dir") || got == old && strings.Contains(got, "amber") {
			t.Errorf("%s still names %s:\n%s", s.path, from, got)
		}
		if p := u.install(s.host, s.scope); p.Any() {
			t.Error("the third setup changes something")
		}
		u.uninstall(s.host, s.scope)
		must.Equal(t, "after uninstalling", u.tree(), before)
	})
}

// TestMovedProgramAndChangedFile does both.
func TestMovedProgramAndChangedFile(t *testing.T) {
	eachSample(t, false, func(t *testing.T, u *user, s sample) {
		before := u.read(s.path)
		u.install(s.host, s.scope)
		u.write(s.path, strings.Replace(u.read(s.path), s.old, s.edit, 1))
		u.o.Executable = u.in("opt/amber")
		u.install(s.host, s.scope)
		u.uninstall(s.host, s.scope)
		want := strings.Replace(before, s.old, s.edit, 1)
		must.Equal(t, "after uninstalling", u.read(s.path), want)
	})
}

// TestHostsWithoutAnySettings sets up hosts that have no files yet: those that
// are made go again, with their folders.
func TestHostsWithoutAnySettings(t *testing.T) {
	t.Parallel()
	for _, host := range setup.Hosts() {
		for _, scope := range []setup.Scope{setup.User, setup.Project} {
			t.Run(host+" "+string(scope), func(t *testing.T) {
				t.Parallel()
				u := newUser(t)
				before := u.tree()
				p := must.Get(setup.Install(host, scope, u.o))(t)
				for _, c := range p.Changes {
					if c.Action != setup.Created || !strings.HasPrefix(c.Diff(), "--- /dev/null\n+++ "+c.Path+"\n@@ -0,0 +1,") {
						t.Errorf("%s is %s:\n%s", c.Path, c.Action, c.Diff())
					}
				}
				must.Equal(t, "after the plan alone", u.tree(), before)
				if _, err := os.Stat(u.o.StateDir); err == nil {
					t.Error("the plan alone made the state folder")
				}
				u.apply(p, nil)
				if p := u.install(host, scope); p.Any() {
					t.Error("the second setup changes something")
				}
				u.uninstall(host, scope)
				must.Equal(t, "after uninstalling", u.tree(), before)
			})
		}
	}
}

// TestUninstallOfNothing changes nothing.
func TestUninstallOfNothing(t *testing.T) {
	eachSample(t, false, func(t *testing.T, u *user, s sample) {
		before := u.tree()
		if p := u.uninstall(s.host, s.scope); p.Any() {
			t.Error("something was uninstalled")
		}
		must.Equal(t, "after uninstalling", u.tree(), before)
	})
}

// TestRefusals are files that are left as they are.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, host, path, text string
		kind                   amber.Kind
		want                   string
	}{
		{"syntax error", "claude-code", "home/.claude/settings.json", "{\n  \"a\": 1\n  \"b\": 2\n}", amber.KindInvalid, "line 3, column 3"},
		{"toml syntax error", "codex", "home/.codex/config.toml", "model = \"x", amber.KindInvalid, "this string does not end"},
		{"hooks of the wrong type", "claude-code", "home/.claude/settings.json", `{"hooks": []}`, amber.KindInvalid, "hooks is of type array"},
		{"event of the wrong type", "cursor", "home/.cursor/hooks.json", `{"hooks": {"stop": {}}}`, amber.KindInvalid, "hooks.stop is of type object"},
		{"root of the wrong type", "gemini", "home/.gemini/settings.json", `[]`, amber.KindInvalid, "value of type array"},
		{"key twice", "gemini", "home/.gemini/settings.json", `{"hooks": {}, "hooks": {}}`, amber.KindInvalid, "there twice"},
		{"too deep", "gemini", "home/.gemini/settings.json", strings.Repeat("[", 1000), amber.KindInvalid, "nested deeper"},
		{"too large", "gemini", "home/.gemini/settings.json", strings.Repeat(" ", 10<<20), amber.KindQuota, "too large"},
		{"foreign server", "cursor", "home/.cursor/mcp.json", `{"mcpServers": {"amber": {"command": "other"}}}`, amber.KindConflict, "another MCP server"},
		{"foreign server in toml", "codex", "home/.codex/config.toml", "[mcp_servers.amber]\nurl = 'x'", amber.KindConflict, "another MCP server"},
		{"servers in one value", "codex", "home/.codex/config.toml", "mcp_servers = { x = { command = 'y' } }", amber.KindInvalid, "written as one value"},
		{"hooks in one value", "codex", "home/.codex/config.toml", "[hooks]\nStop = [{ hooks = [] }]", amber.KindInvalid, "hooks.Stop is written as one value"},
		{"foreign plugin", "opencode", "home/.config/opencode/plugins/amber.js", "export const Other = 1", amber.KindConflict, "another plugin"},
		{"broken settings of droid", "droid", "home/.factory/settings.json", "{", amber.KindInvalid, "line 1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			u.write(tc.path, tc.text)
			before := u.tree()
			_, err := setup.Install(tc.host, setup.User, u.o)
			if amber.KindOf(err) != tc.kind || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), u.in(tc.path)) {
				t.Errorf("%s: %v, want %s with %q and the path", amber.KindOf(err), err, tc.kind, tc.want)
			}
			must.Equal(t, "after the refusal", u.tree(), before)
		})
	}
}

func TestOddFiles(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, text string }{
		{"empty", ""},
		{"blank", " \n\n"},
		{"only a byte order mark", "\ufeff"},
		{"empty object", "{}"},
		{"empty object with a space", "{ }"},
		{"empty object on two lines", "{\n}\n"},
		{"empty hooks with a space", "{\n  \"hooks\": { }\n}\n"},
		{"empty hooks on two lines", "{\n  \"hooks\": {\n  }\n}\n"},
		{"empty event", "{\n  \"hooks\": {\n    \"Stop\": [ ]\n  }\n}\n"},
		{"only a comment", "{\n  // nothing yet\n}\n"},
		{"all on one line with spaces", `{ "hooks": { "Stop": [ ] }, "a": [ 1, 2 ] }`},
		{"comma at the end", "{\n  \"hooks\": {\n    \"Stop\": [],\n  },\n}"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			u.write("home/.claude/settings.json", tc.text)
			u.install("claude-code", setup.User)
			installed := u.read("home/.claude/settings.json")
			u.uninstall("claude-code", setup.User)
			must.Equal(t, "settings after uninstalling", u.read("home/.claude/settings.json"), tc.text)
			// The same with the inverse edits: something unimportant is different.
			u.install("claude-code", setup.User)
			u.write("home/.claude/settings.json", installed+"\n")
			u.uninstall("claude-code", setup.User)
			want := tc.text + "\n"
			if strings.Trim(tc.text, "\ufeff \n") == "" {
				want = tc.text // all that was there is white space
			}
			must.Equal(t, "settings after cutting out", u.read("home/.claude/settings.json"), want)
		})
	}
}

func TestModeAndLinkStay(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.write("home/dotfiles/claude/settings.json", "{}\n")
	if err := os.Chmod(u.in("home/dotfiles/claude/settings.json"), 0o666); err != nil { // more than the umask allows
		t.Fatal(err)
	}
	u.mkdir("home/.claude")
	must.Do(t, os.Symlink("../dotfiles/claude/settings.json", u.in("home/.claude/settings.json")))
	before := u.tree()
	u.o.MCP = false
	u.install("claude-code", setup.User)
	if !strings.Contains(u.read("home/dotfiles/claude/settings.json"), "hook claude-code") {
		t.Error("the file behind the link has no hooks")
	}
	after := u.tree()
	for _, name := range []string{"home/.claude/settings.json", "home/dotfiles/claude/settings.json"} {
		got, _, _ := strings.Cut(after[name], "\n")
		want, _, _ := strings.Cut(before[name], "\n")
		if got != want {
			t.Errorf("the mode of %s is %s, want %s", name, got, want)
		}
	}
	u.uninstall("claude-code", setup.User)
	must.Equal(t, "after uninstalling", u.tree(), before)
}

func TestLinkedFolder(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.mkdir("home/dotfiles/claude")
	must.Do(t, os.Symlink("dotfiles/claude", u.in("home/.claude")))
	before := u.tree()
	u.install("claude-code", setup.User)
	if !strings.Contains(u.read("home/dotfiles/claude/settings.json"), "hook claude-code") {
		t.Error("the folder behind the link has no settings")
	}
	u.uninstall("claude-code", setup.User)
	must.Equal(t, "after uninstalling", u.tree(), before)
}

// TestLinksInACircle are refused, as the file itself and as a folder above it.
func TestLinksInACircle(t *testing.T) {
	t.Parallel()
	for _, link := range []string{"home/.claude", "home/.claude/settings.json"} {
		u := newUser(t)
		u.mkdir(filepath.Dir(link))
		if err := os.Symlink(u.in(link), u.in(link)); err != nil {
			if runtime.GOOS == "windows" {
				t.Skip("on Windows only some users may make links")
			}
			t.Fatal(err)
		}
		for name, plan := range map[string]func(string, setup.Scope, setup.Options) (*setup.Plan, error){"install": setup.Install, "uninstall": setup.Uninstall} {
			_, err := plan("claude-code", setup.User, u.o)
			if amber.KindOf(err) != amber.KindInvalid || !strings.Contains(err.Error(), "lead in a circle") {
				t.Errorf("%s with %s: %v", name, link, err)
			}
		}
	}
}

// TestUninstallForgetsWithoutAFile has records left, of a file that is gone and one that cannot be believed.
func TestUninstallForgetsWithoutAFile(t *testing.T) {
	t.Parallel()
	for _, broken := range []bool{false, true} {
		u := newUser(t)
		u.o.MCP = false
		u.write("home/.claude/settings.json", "{\n  \"key\": \"secret\"\n}\n")
		u.install("claude-code", setup.User)
		records, err := filepath.Glob(filepath.Join(u.o.StateDir, "*.json"))
		if err != nil || len(records) != 1 {
			t.Fatalf("records: %v %v", records, err)
		}
		if broken {
			must.Do(t, os.WriteFile(records[0], []byte("{"), 0o600))
		}
		must.Do(t, os.Remove(u.in("home/.claude/settings.json")))
		u.uninstall("claude-code", setup.User)
		u.leavesNothing()
	}
}

func TestFilesThatMayNotBeWritten(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.write("home/.claude/settings.json", "{}")
	must.Do(t, os.Chmod(u.in("home/.claude/settings.json"), 0o444))
	must.Fail(setup.Install("claude-code", setup.User, u.o))(t, "read-only file", amber.KindRefused)
	u.mkdir("home/.cursor")
	must.Do(t, os.Symlink("nowhere", u.in("home/.cursor/hooks.json")))
	must.Fail(setup.Install("cursor", setup.User, u.o))(t, "link to nothing", amber.KindInvalid)
	u.mkdir("home/.gemini/settings.json")
	must.Fail(setup.Install("gemini", setup.User, u.o))(t, "folder", amber.KindInvalid)
}

func TestChangedSinceThePlan(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.write("home/.claude/settings.json", "{}")
	p := must.Get(setup.Install("claude-code", setup.User, u.o))(t)
	u.write("home/.claude/settings.json", `{"theme": "dark"}`)
	must.Kind(t, "apply", p.Apply(), amber.KindConflict)
	must.Equal(t, "file", u.read("home/.claude/settings.json"), `{"theme": "dark"}`)
}

// TestUserAddsBesideOurs adds hooks of the user's own to files and lists that
// setup made: they stay.
func TestUserAddsBesideOurs(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.o.MCP = false
	u.install("cursor", setup.User)
	text := u.read("home/.cursor/hooks.json")
	text = strings.Replace(text, "    \"stop\": [\n", "    \"afterFileEdit\": [{ \"command\": \"mine\" }],\n    \"stop\": [\n      { \"command\": \"also mine\" },\n", 1)
	u.write("home/.cursor/hooks.json", text)
	u.uninstall("cursor", setup.User)
	want := `{
  "version": 1,
  "hooks": {
    "afterFileEdit": [{ "command": "mine" }],
    "stop": [
      { "command": "also mine" }
    ]
  }
}
`
	must.Equal(t, "after uninstalling", u.read("home/.cursor/hooks.json"), want)
}

// TestUserTunesOurs changes the timeout and the matcher of Amber's entries;
// setting up again does not undo that.
func TestUserTunesOurs(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.install("claude-code", setup.User)
	text := strings.Replace(u.read("home/.claude/settings.json"), `"timeout": 10`, `"timeout": 60`, 1)
	u.write("home/.claude/settings.json", text)
	if p := u.install("claude-code", setup.User); p.Any() {
		t.Errorf("setup changes %s", p.Changes[0].Diff())
	}
}

// TestClaudeEventsFollowItsVersion: an old Claude Code rejects the whole file
// for an event that it does not know; today's pass over it, so only one that has
// said that it is old is spared.
func TestClaudeEventsFollowItsVersion(t *testing.T) {
	t.Parallel()
	later := map[string]bool{"SessionEnd": true, "StopFailure": true, "PostCompact": true, "SubagentStart": true, "PostToolUseFailure": true}
	none := map[string]bool{"SessionEnd": true, "StopFailure": false, "PostCompact": false, "SubagentStart": false, "PostToolUseFailure": false}
	for _, tc := range []struct {
		name, state, settings string
		want                  map[string]bool
	}{
		{"never started", "", "{}", later},
		{"broken", "{", "{}", later},
		{"no version", `{"lastReleaseNotesSeen": "new"}`, "{}", later},
		{"old", `{"lastReleaseNotesSeen": "2.1.77"}`, "{}", none},
		{"old from the start", `{"firstStartVersion": "2.1.9", "lastOnboardingVersion": "2.1.77"}`, "{}", none},
		{"new", `{"lastReleaseNotesSeen": "2.1.78"}`, "{}", later},
		{"newer", `{"lastOnboardingVersion": "2.10.0"}`, "{}", later},
		{"new from the start", `{"firstStartVersion": "2.1.197"}`, "{}", later},
		{"updated", `{"firstStartVersion": "1.0.3", "lastReleaseNotesSeen": "2.1.325"}`, "{}", later},
		{"in use", `{"lastReleaseNotesSeen": "2.1.77"}`, `{"hooks": {"StopFailure": []}}`, map[string]bool{"StopFailure": true, "PostCompact": false}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			u.o.MCP = false
			u.write("home/.claude.json", tc.state)
			u.write("home/.claude/settings.json", tc.settings)
			p := u.install("claude-code", setup.User)
			for event, want := range tc.want {
				must.Equal(t, event, strings.Contains(u.read("home/.claude/settings.json"), "--event "+event+" "), want)
			}
			if said := len(p.Notes) > 0; said == tc.want["PostCompact"] {
				t.Errorf("notes: %q", p.Notes)
			}
			u.uninstall("claude-code", setup.User)
			must.Equal(t, "settings after uninstalling", u.read("home/.claude/settings.json"), tc.settings)
		})
	}
}

// TestWhatOpenCodeAddsByItself: it adds "$schema" to any opencode.json. A file
// that setup made goes nevertheless; one that the user had, or has added something
// to, stays.
func TestWhatOpenCodeAddsByItself(t *testing.T) {
	t.Parallel()
	const path, schema = "home/.config/opencode/opencode.json", `  "$schema": "https://opencode.ai/config.json",`
	add := func(u *user, line string) {
		u.write(path, strings.Replace(u.read(path), "{\n", "{\n"+line+"\n", 1))
	}
	for _, tc := range []struct {
		name, before, more string
		want               string // "": no file
	}{
		{"made by setup", "", "", ""},
		{"changed by the user", "", `  "theme": "dark",`, "{\n  \"theme\": \"dark\",\n" + schema[:len(schema)-1] + "\n}\n"},
		{"of the user", "{\n  \"theme\": \"dark\"\n}\n", "", "{\n" + schema + "\n  \"theme\": \"dark\"\n}\n"},
		{"of the user, empty", "{\n}\n", "", "{\n" + schema[:len(schema)-1] + "\n}\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			u.mkdir("home/.config/opencode")
			if tc.before != "" {
				u.write(path, tc.before)
			}
			u.install("opencode", setup.User)
			add(u, schema)
			if tc.more != "" {
				add(u, tc.more)
			}
			if p := u.install("opencode", setup.User); p.Any() {
				t.Errorf("a second time changes %s", p.Changes[0].Diff())
			}
			u.uninstall("opencode", setup.User)
			got, err := os.ReadFile(u.in(path))
			if string(got) != tc.want || (err == nil) != (tc.want != "") {
				t.Errorf("%q, %v, want %q", got, err, tc.want)
			}
		})
	}
}

// TestDuplicatesAndOldEvents cleans up what other versions left.
func TestDuplicatesAndOldEvents(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.o.MCP = false
	u.write("home/.claude/settings.json", `{
  "hooks": {
    "PreToolUse": [
      { "hooks": [{ "type": "command", "command": "/old/amber hook claude-code --event PreToolUse" }] }
    ],
    "Stop": [
      { "hooks": [{ "type": "command", "command": "/old/amber hook claude-code --event Stop" }] },
      { "hooks": [{ "type": "command", "command": "mine" }, { "type": "command", "command": "/old/amber hook claude-code --event Stop || true" }] }
    ]
  }
}
`)
	u.install("claude-code", setup.User)
	got := u.read("home/.claude/settings.json")
	if strings.Contains(got, "/old/amber") || strings.Contains(got, "PreToolUse") || strings.Count(got, "--event Stop ") != 1 || !strings.Contains(got, `"mine"`) {
		t.Errorf("the file is\n%s", got)
	}
	u.uninstall("claude-code", setup.User)
	want := `{
  "hooks": {
    "Stop": [
      { "hooks": [{ "type": "command", "command": "mine" }] }
    ]
  }
}
`
	must.Equal(t, "after uninstalling", u.read("home/.claude/settings.json"), want)
}

// TestServerIsOptional shows that without the option no server is added, and
// that one from another time is removed.
func TestServerIsOptional(t *testing.T) {
	t.Parallel()
	for _, host := range setup.Hosts() {
		u := newUser(t)
		before := u.tree()
		u.o.MCP = false
		p := u.install(host, setup.User)
		if len(p.Changes) != 1 {
			t.Errorf("%s: %d files, want 1", host, len(p.Changes))
		}
		for name, text := range u.tree() {
			if strings.Contains(text, `"mcp"`) {
				t.Errorf("%s has a server", name)
			}
		}
		u.o.MCP = true
		u.install(host, setup.User)
		u.o.MCP = false
		u.uninstall(host, setup.User)
		must.Equal(t, host+": after uninstalling", u.tree(), before)
	}
}

// TestCopilotAndVSCodeShareAFile sets up the two hosts that read the same
// folder.
func TestCopilotAndVSCodeShareAFile(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.o.MCP = false
	before := u.tree()
	u.install("copilot", setup.Project)
	text := u.read("project/.github/hooks/amber.json")
	if p := u.install("vscode", setup.Project); p.Any() || len(p.Notes) == 0 {
		t.Errorf("vscode: %+v", p)
	}
	if p := u.uninstall("vscode", setup.Project); p.Any() || len(p.Notes) == 0 {
		t.Errorf("vscode: %+v", p)
	}
	must.Equal(t, "file", u.read("project/.github/hooks/amber.json"), text)
	u.uninstall("copilot", setup.Project)
	must.Equal(t, "after uninstalling", u.tree(), before)
}

func TestHostsMoveTheirSettings(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.o.Env = func(name string) string {
		return map[string]string{
			"CLAUDE_CONFIG_DIR": u.in("home/x/claude"), "CODEX_HOME": u.in("home/x/codex"),
			"COPILOT_HOME": u.in("home/x/copilot"), "XDG_CONFIG_HOME": u.in("home/x"), "FACTORY": "relative",
		}[name]
	}
	for host, path := range map[string]string{
		"claude-code": "home/x/claude/settings.json", "codex": "home/x/codex/hooks.json",
		"copilot": "home/x/copilot/hooks/amber.json", "opencode": "home/x/opencode/plugins/amber.js",
	} {
		u.install(host, setup.User)
		if !strings.Contains(u.read(path), "amber") {
			t.Errorf("%s is not set up in %s", host, path)
		}
	}
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(o *setup.Options){
		"relative home":    func(o *setup.Options) { o.Home = "home" },
		"relative program": func(o *setup.Options) { o.Executable = "amber" },
		"other program":    func(o *setup.Options) { o.Executable = "/bin/setup.test" },
		"foreign flag":     func(o *setup.Options) { o.Flags = []string{"--json"} },
		"line break":       func(o *setup.Options) { o.Executable = "/a\nb/amber" },
	} {
		u := newUser(t)
		change(&u.o)
		must.Fail(setup.Install("gemini", setup.User, u.o))(t, name, amber.KindInvalid)
	}
	u := newUser(t)
	must.Fail(setup.Install("emacs", setup.User, u.o))(t, "unknown host", amber.KindInvalid)
	must.Fail(setup.Install("gemini", "world", u.o))(t, "unknown scope", amber.KindInvalid)
	u.o.Plugin = func([]string) string { return "nothing" }
	must.Fail(setup.Install("opencode", setup.User, u.o))(t, "plugin without mark", amber.KindInvalid)
}

// TestRecordsAreHostile breaks what is remembered: uninstalling works by the
// inverse edits then, and never writes what the record makes it.
func TestRecordsAreHostile(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(b []byte) []byte{
		"cut off":      func(b []byte) []byte { return b[:len(b)/2] },
		"other file":   func(b []byte) []byte { return bytes.Replace(b, []byte("settings.json"), []byte("settingz.json"), 1) },
		"other digest": func(b []byte) []byte { return bytes.Replace(b, []byte(`"original": "`), []byte(`"original": "0`), 1) },
		"blank is not": func(b []byte) []byte {
			return bytes.Replace(b, []byte(`"memory": {`), []byte(`"memory": {"blank": "evil",`), 1)
		},
		"interior is text": func(b []byte) []byte {
			return bytes.Replace(b, []byte(`"memory": {`), []byte(`"memory": {"empty": {"": "evil"},`), 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			u.o.MCP = false
			u.write("home/.claude/settings.json", "{\n  \"theme\": \"dark\"\n}\n")
			u.install("claude-code", setup.User)
			records, err := filepath.Glob(filepath.Join(u.o.StateDir, "*.json"))
			if err != nil || len(records) != 1 {
				t.Fatalf("records: %v %v", records, err)
			}
			b := must.Get(os.ReadFile(records[0]))(t)
			must.Do(t, os.WriteFile(records[0], harm(b), 0o600))
			u.uninstall("claude-code", setup.User)
			must.Equal(t, "file", u.read("home/.claude/settings.json"), "{\n  \"theme\": \"dark\"\n}\n")
			u.leavesNothing()
		})
	}
}
