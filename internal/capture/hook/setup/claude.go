package setup

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amber-memory/amber/internal/capture/settings"
)

func claude() host {
	return host{
		name: "claude-code", title: "Claude Code", programs: []string{"claude"},
		folders: func(o Options) []string { return []string{o.claudeDir()} },
		places: func(o Options, s Scope) ([]place, error) {
			file, servers := filepath.Join(o.claudeDir(), "settings.json"), o.claudeState()
			if s == Project {
				file, servers = filepath.Join(o.Dir, ".claude", "settings.json"), filepath.Join(o.Dir, ".mcp.json")
			}
			events := eventsOf(claudeAlways)
			for _, name := range o.claudeNew(file) {
				events = append(events, event{name, usual})
			}
			h := hooks{host: "claude-code", at: []string{"hooks"}, nested: true, events: events, entry: o.entries("claude-code", 1)}
			return []place{
				{path: file, text: jsonFile{add: []part{h}, all: []part{h}}},
				o.serverFile(servers, o.typed("stdio", "mcpServers")),
			}, nil
		},
		next: "start a new session of Claude Code; /hooks lists what runs",
	}
}

func (o Options) claudeDir() string { return o.folder("CLAUDE_CONFIG_DIR", ".claude") }

// claudeState returns where Claude Code keeps its own notes, and the servers
// of the user.
func (o Options) claudeState() string {
	if o.Env("CLAUDE_CONFIG_DIR") != "" {
		return filepath.Join(o.claudeDir(), ".claude.json")
	}
	return filepath.Join(o.Home, ".claude.json")
}

// claudeAlways are the events that every Claude Code with hooks knows. It
// gives all SessionEnd hooks 1.5 s together, and more when one of them asks for
// it, as Amber's does.
const claudeAlways = "SessionStart UserPromptSubmit PostToolUse SubagentStop PreCompact Stop SessionEnd"

// claudeLater are events that came later, the last one with claudeLaterVersion.
// A Claude Code that does not know an event once rejected the whole settings
// file, with the permissions in it; today's pass over it.
const (
	claudeLater        = "PostToolUseFailure SubagentStart PostCompact StopFailure"
	claudeLaterVersion = "2.1.78"
)

// claudeNew returns which of the later events may be asked for: all of them,
// unless Claude Code has noted that it is too old for them; then those that are in
// the file already.
func (o Options) claudeNew(file string) (names []string) {
	if !o.claudeIsOld() {
		return strings.Fields(claudeLater)
	}
	f, err := o.read(file)
	if err != nil {
		return nil // the edit reports the error
	}
	j, err := settings.ParseJSON(f.text)
	if err != nil {
		return nil
	}
	for name := range strings.FieldsSeq(claudeLater) {
		if j.Get("hooks", name) != nil {
			names = append(names, name)
		}
	}
	return names
}

// claudeVersions is where Claude Code notes a version of itself: the one whose
// news were read, the one that welcomed the user, and the first one that ran.
var claudeVersions = []string{"lastReleaseNotesSeen", "lastOnboardingVersion", "firstStartVersion"}

// claudeIsOld reports whether Claude Code has noted versions, none of which knows
// all events.
func (o Options) claudeIsOld() bool {
	f, err := o.read(o.claudeState())
	if err != nil {
		return false
	}
	j, err := settings.ParseJSON(f.text)
	if err != nil || j.Root() == nil {
		return false
	}
	old := false
	for _, key := range claudeVersions {
		n := j.Root().Member(key)
		if n == nil {
			continue
		}
		if _, ok := numbers(n.Text); ok {
			old = true
		}
		if atLeast(n.Text, claudeLaterVersion) {
			return false
		}
	}
	return old
}

// atLeast compares versions of three numbers.
func atLeast(version, least string) bool {
	a, ok := numbers(version)
	b, _ := numbers(least)
	return ok && slices.Compare(a[:], b[:]) >= 0
}

func numbers(version string) (n [3]int, ok bool) {
	got, err := fmt.Sscanf(version, "%d.%d.%d", &n[0], &n[1], &n[2])
	return n, err == nil && got == 3
}
