package setup

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestParseCall(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]call{
		"/usr/bin/amber hook codex --event Stop":                             {"/usr/bin/amber", nil, "codex", "Stop"},
		"/usr/bin/amber hook codex --event Stop || true":                     {"/usr/bin/amber", nil, "codex", "Stop"},
		"'/a b/it'\\''s/amber' hook codex --event Stop":                      {"/a b/it's/amber", nil, "codex", "Stop"},
		`"C:/Program Files/amber.exe" hook gemini --event AfterTool`:         {"C:/Program Files/amber.exe", nil, "gemini", "AfterTool"},
		`& "C:/Program Files/amber.exe" hook copilot --event Stop`:           {"C:/Program Files/amber.exe", nil, "copilot", "Stop"},
		`C:\bin\amber.exe hook codex --event Stop`:                           {`C:\bin\amber.exe`, nil, "codex", "Stop"},
		"amber --home /x --agent=me hook claude-code  --event   Stop":        {"amber", []string{"--home", "/x", "--agent=me"}, "claude-code", "Stop"},
		"/opt/amber --config '/a b.yaml' --tenant t hook droid --event Stop": {"/opt/amber", []string{"--config", "/a b.yaml", "--tenant", "t"}, "droid", "Stop"},
		"/opt/amber hook droid":                                              {},
		"/opt/amber hook droid --event Stop;date":                            {},
		"/opt/amber hook droid --event $(date)":                              {},
		"/opt/amber hook droid --event":                                      {},
		"/opt/amber hook droid --event Stop extra":                           {},
		"/opt/amber hook droid --event Stop || exit 2":                       {},
		"/opt/amber hook droid --event Stop; rm -rf /":                       {},
		"/opt/amber --json hook droid --event Stop":                          {},
		"/opt/amber-hook hook droid --event Stop":                            {},
		"/opt/amber.sh hook droid --event Stop":                              {},
		"bash -c '/opt/amber hook droid --event Stop'":                       {},
		"echo amber hook droid --event Stop":                                 {},
		"/opt/amber recall hook --event Stop":                                {},
		"/opt/amber hook droid --event 'Stop":                                {},
		"'/opt/amber hook' droid --event Stop":                               {},
		"":                                                                   {},
		"&":                                                                  {},
		"|| true":                                                            {},
		"--home x":                                                           {},
		"amber --home":                                                       {},
	} {
		got, ok := parseCall(command)
		if diff := cmp.Diff(got, want, cmpopts.EquateEmpty()); diff != "" || ok != (want.Host != "") {
			t.Errorf("%s: %v (-got +want):\n%s", command, ok, diff)
		}
	}
}

// FuzzCommand shows that what setup writes is recognised, whatever the path.
func FuzzCommand(f *testing.F) {
	for _, seed := range []string{"/usr/bin", "/a b", "/it's", `/q"q`, "/$HOME`id`", `/back\slash`, "/ä", "C:/x", "/-x;&|<>()*?"} {
		f.Add(seed, false)
		f.Add(seed, true)
	}
	f.Fuzz(func(t *testing.T, dir string, windows bool) {
		o := Options{Home: "/h", Dir: "/p", StateDir: "/s", Executable: "/" + dir + "/amber", Flags: []string{"--home", dir}}
		if windows {
			o.GOOS = "windows"
		}
		if _, err := o.check(); err != nil {
			return
		}
		if windows {
			for _, c := range dir {
				if c == '"' || c == '$' || c == '`' || c == '\\' {
					return // no names of files there, or written otherwise
				}
			}
		}
		for _, command := range []string{o.command("codex", "Stop"), o.powershell("codex", "Stop")} {
			got, ok := parseCall(command)
			if want := (call{o.Executable, o.Flags, "codex", "Stop"}); !ok || !cmp.Equal(got, want) {
				t.Fatalf("%q is read as %q, %v", command, got, ok)
			}
		}
	})
}
