package setup_test

import (
	"encoding/json"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/capture/hook/setup"
	"github.com/amber-memory/amber/internal/test/must"
)

type droidHooks map[string][]struct {
	Hooks []struct{ Command string }
}

// droidRuns returns the commands that Droid would run, by event: those of
// hooks.json, or of hooks/hooks.json where there is no hooks.json; and of
// settings.json those for events that are not listed there.
func (u *user) droidRuns() map[string]string {
	u.t.Helper()
	load := func(name string, v any) bool {
		b, err := os.ReadFile(u.in(name))
		if err != nil {
			return false
		}
		if err := json.Unmarshal(b, v); err != nil {
			u.t.Fatalf("%s: %v", name, err)
		}
		return true
	}
	var shared struct{ Hooks droidHooks }
	load("home/.factory/settings.json", &shared)
	list := droidHooks{}
	if !load("home/.factory/hooks.json", &list) {
		load("home/.factory/hooks/hooks.json", &list)
	}
	if shared.Hooks == nil {
		shared.Hooks = droidHooks{}
	}
	maps.Copy(shared.Hooks, list)
	runs := map[string]string{}
	for event, groups := range shared.Hooks {
		for _, g := range groups {
			for _, h := range g.Hooks {
				runs[event] += h.Command + "\n"
			}
		}
	}
	return runs
}

func droidEntry(event, command string) string {
	return `"` + event + `": [ {"hooks": [ {"type":"command", "command":"` + command + `"} ]} ]`
}

// TestDroidRunsTheUsersHooks: whichever of its three files the user's hooks are
// in, all of them run as before, and so do Amber's.
func TestDroidRunsTheUsersHooks(t *testing.T) {
	t.Parallel()
	const list, older, shared = "home/.factory/hooks.json", "home/.factory/hooks/hooks.json", "home/.factory/settings.json"
	stop, tool := droidEntry("Stop", "my-stop"), droidEntry("PreToolUse", "my-tool")
	for name, files := range map[string]map[string]string{
		"nothing":               {},
		"settings":              {shared: `{"model": "x", "hooks": {` + stop + `}}`},
		"settings without any":  {shared: `{"model": "x"}`},
		"hooks.json":            {list: "{" + stop + "}\n"},
		"empty hooks.json":      {list: "{}", older: "{" + stop + "}"},
		"older file":            {older: "{\n\t" + stop + "\n}\n"},
		"older file, no event":  {older: "{ }"},
		"older and settings":    {older: "{" + tool + "}", shared: `{"hooks": {` + stop + `}}`},
		"both, other events":    {list: "{" + tool + "}", shared: `{"hooks": {` + stop + `}}`},
		"both, the same events": {list: "{" + stop + "}", shared: `{"hooks": {` + stop + "," + tool + `}}`},
		"all three":             {list: "{" + tool + "}", older: "{" + stop + "}", shared: `{"hooks": {` + droidEntry("SessionEnd", "my-end") + `}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			for path, text := range files {
				u.write(path, text)
			}
			before, tree := u.droidRuns(), u.tree()
			u.install("droid", setup.User)
			u.droidKeeps(before)
			if p := u.install("droid", setup.User); p.Any() {
				t.Errorf("a second time changes %s", p.Changes[0].Diff())
			}
			u.uninstall("droid", setup.User)
			must.Equal(t, "after uninstalling", u.tree(), tree)
		})
	}
}

// droidKeeps checks that the user's commands run as before, and Amber's once
// for each event.
func (u *user) droidKeeps(before map[string]string) {
	u.t.Helper()
	runs := u.droidRuns()
	for event, commands := range before {
		if !strings.HasPrefix(runs[event], commands) {
			u.t.Errorf("%s runs %q, before it ran %q", event, runs[event], commands)
		}
	}
	for _, event := range strings.Fields("SessionStart UserPromptSubmit PostToolUse SubagentStop PreCompact Stop SessionEnd") {
		if strings.Count(runs[event], "hook droid --event "+event+" ") != 1 {
			u.t.Errorf("%s runs %q", event, runs[event])
		}
	}
}

// TestDroidIsCorrected: an earlier version made a hooks.json that switched the
// user's older file off; and a user may list an event elsewhere later.
func TestDroidIsCorrected(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.o.MCP = false
	u.mkdir("home/.factory")
	tree := u.tree()
	u.install("droid", setup.User) // makes hooks.json
	u.write("home/.factory/hooks/hooks.json", "{"+droidEntry("Stop", "my-stop")+"}")
	u.install("droid", setup.User)
	u.droidKeeps(map[string]string{"Stop": "my-stop\n"})
	u.write("home/.factory/settings.json", `{"hooks": {`+droidEntry("SessionEnd", "my-end")+`}}`)
	u.install("droid", setup.User)
	u.droidKeeps(map[string]string{"Stop": "my-stop\n", "SessionEnd": "my-end\n"})
	u.uninstall("droid", setup.User)
	for name, text := range map[string]string{
		"home/.factory/hooks/hooks.json": "{" + droidEntry("Stop", "my-stop") + "}",
		"home/.factory/settings.json":    `{"hooks": {` + droidEntry("SessionEnd", "my-end") + `}}`,
	} {
		must.Equal(t, name, u.read(name), text)
		os.Remove(u.in(name))
	}
	os.Remove(u.in("home/.factory/hooks"))
	must.Equal(t, "after uninstalling", u.tree(), tree)
}
