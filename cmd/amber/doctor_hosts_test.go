package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber/wire"
)

// hostPatient is a home whose user has agent hosts and an amber in the path.
func hostPatient(t *testing.T, commands ...[]string) (p *sickHome, user string) {
	t.Helper()
	p = newHome(t, nil)
	user, bin := t.TempDir(), t.TempDir()
	exe, err := os.Executable()
	p.must(err)
	p.must(os.Symlink(exe, filepath.Join(bin, "amber")))
	dir := t.TempDir()
	p.world.Directory = func() (string, error) { return dir, nil }
	p.world.Environ = append(p.world.Environ, "HOME="+user, "PATH="+bin)
	for _, args := range commands {
		p.run(args...).line()
	}
	return p, user
}

// host returns the finding about one host.
func (p *sickHome) host(name string) wire.Finding {
	p.t.Helper()
	r := p.run("doctor", "--json").exits(0) // a host is no failure
	var report wire.Checkup
	p.must(json.Unmarshal([]byte(r.stdout), &report))
	for _, f := range report.Checks {
		if f.Code == "hosts" && strings.HasPrefix(f.Detail, name) {
			return f
		}
	}
	p.t.Fatalf("there is no finding about %s in %s", name, r.stdout)
	return wire.Finding{}
}

func TestDoctorKnowsHosts(t *testing.T) {
	for _, tc := range []struct {
		name, host string
		setup      [][]string
		harm       func(p *sickHome, user string)
		status     wire.FindingStatus
		detail     string
	}{
		{"none", "no agent host", nil, nil, wire.FindingOK, "was found"},
		{"found", "gemini", nil, func(p *sickHome, user string) { p.must(os.Mkdir(filepath.Join(user, ".gemini"), 0o700)) }, wire.FindingOK, "found, not set up"},
		{"set up", "gemini", [][]string{{"setup", "gemini"}}, nil, wire.FindingOK, "set up for user; last event never"},
		{"event", "gemini", [][]string{{"setup", "gemini"}, {"hook", "gemini", "--no-drain", `{"session_id":"s1","hook_event_name":"SessionStart"}`}}, nil, wire.FindingOK, "last event just now"},
		{"codex", "codex", [][]string{{"setup", "codex"}}, nil, wire.FindingWarning, "no note of trust"},
		{"doubled", "cursor", [][]string{{"setup", "cursor"}, {"setup", "claude-code"}}, nil, wire.FindingWarning, "comes twice"},
		{"program gone", "gemini", [][]string{{"setup", "gemini"}}, func(p *sickHome, user string) {
			p.must(os.Remove(strings.TrimPrefix(p.world.Environ[len(p.world.Environ)-1], "PATH=") + "/amber"))
		}, wire.FindingWarning, "which is not there"},
		{"outdated", "gemini", [][]string{{"setup", "gemini"}}, func(p *sickHome, user string) {
			file := filepath.Join(user, ".gemini", "settings.json")
			text, err := os.ReadFile(file)
			p.must(err)
			p.must(os.WriteFile(file, bytes.Replace(text, []byte(" || true"), nil, 1), 0o600))
		}, wire.FindingWarning, "not those of this Amber"},
		{"broken", "gemini", nil, func(p *sickHome, user string) {
			p.must(os.Mkdir(filepath.Join(user, ".gemini"), 0o700))
			p.must(os.WriteFile(filepath.Join(user, ".gemini", "settings.json"), []byte("{"), 0o600))
		}, wire.FindingWarning, "line 1"},
		{"no user", "find home of the user", nil, func(p *sickHome, _ string) { p.world.Environ = append(p.world.Environ, "HOME=") }, wire.FindingNotChecked, "HOME is not set"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, user := hostPatient(t, tc.setup...)
			if tc.harm != nil {
				tc.harm(p, user)
			}
			f := p.host(tc.host)
			if f.Status != tc.status || !strings.Contains(f.Detail, tc.detail) || (f.Hint != "") != (f.Status == wire.FindingWarning) {
				t.Errorf("%+v, want %s with %q", f, tc.status, tc.detail)
			}
		})
	}
}
