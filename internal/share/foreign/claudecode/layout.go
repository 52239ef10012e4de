package claudecode

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/amber-memory/amber/internal/base/pattern"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// layout is where things lie in a tree, which may be the home of Claude Code, a part of it, or a folder that people
// work in.
type layout struct {
	tree         *foreign.Tree
	homes        map[string]bool // folders that hold projects/
	sessions     []foreign.File  // transcripts, those of agents last
	folders      []*folder       // of memories
	instructions []foreign.File
}

// folder is a folder of memories.
type folder struct {
	path   string // in the tree; "" for the root
	within string // what the paths of its files begin with in keys: memory, agent-memory/<name>
	beside string // the folder of transcripts it belongs to; "" for none
	agent  string // whose memories they are, where that is not the main agent
	user   bool   // they are of the user, not of a project
	files  []foreign.File
}

var (
	slugged = pattern.Of(`^(-|[A-Za-z]--)[A-Za-z0-9-]*$`)
	uuids   = pattern.Of(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
)

func look(t *foreign.Tree) *layout {
	l := &layout{tree: t, homes: map[string]bool{}}
	for _, f := range t.Files() {
		if parts := strings.Split(f.Name, "/"); isSession(parts) || memoryAt(parts) > 0 {
			if at := slices.Index(parts, "projects"); at >= 0 && len(parts) > at+2 {
				l.homes[path.Join(parts[:at]...)] = true
			}
		}
	}
	folders := map[string]*folder{}
	for _, f := range t.Files() {
		l.place(f, folders)
	}
	l.rootFolder(folders)
	for _, at := range slices.Sorted(maps.Keys(folders)) {
		l.folders = append(l.folders, folders[at])
	}
	slices.SortStableFunc(l.sessions, func(a, b foreign.File) int {
		if x, y := isAgent(a), isAgent(b); x != y {
			return map[bool]int{false: -1, true: 1}[x]
		}
		return a.Modified.Compare(b.Modified) // a copy is younger than what it copies
	})
	return l
}

// place finds out what a file is.
func (l *layout) place(f foreign.File, folders map[string]*folder) {
	parts := strings.Split(f.Name, "/")
	switch {
	case f.Is(".jsonl"):
		if isSession(parts) || len(parts) == 1 && isTranscript(f) {
			l.sessions = append(l.sessions, f)
		}
	case !f.Is(".md"):
	case l.agentMemory(parts, f, folders):
	case memoryAt(parts) > 0:
		at := memoryAt(parts)
		dir := path.Join(parts[:at+1]...)
		add(folders, folder{path: dir, within: "memory", beside: path.Dir(dir)}, f)
	case isInstruction(parts) && l.isOurs(parts):
		l.instructions = append(l.instructions, f)
	}
}

func add(folders map[string]*folder, as folder, f foreign.File) {
	if folders[as.path] == nil {
		folders[as.path] = &as
	}
	folders[as.path].files = append(folders[as.path].files, f)
}

// isSession reports whether a file has the name of a transcript. An agent that shortens a conversation writes
// agent-acompact-*.jsonl; its result is in the conversation, so that file is none.
func isSession(parts []string) bool {
	base, ok := strings.CutSuffix(parts[len(parts)-1], ".jsonl")
	if !ok || strings.HasPrefix(base, "agent-acompact-") {
		return false
	}
	return uuids().MatchString(base) || strings.HasPrefix(base, "agent-") || len(parts) >= 3 && parts[len(parts)-3] == "projects"
}

func isAgent(f foreign.File) bool { return strings.HasPrefix(path.Base(f.Name), "agent-") }

// memoryAt returns where in a path the folder of memories of a project is; 0 where it is none.
func memoryAt(parts []string) int {
	for i := 1; i < len(parts)-1; i++ {
		if parts[i] == "memory" && (slugged().MatchString(parts[i-1]) || i > 1 && parts[i-2] == "projects") {
			return i
		}
	}
	return 0
}

// agentMemory places a memory of a subagent.
func (l *layout) agentMemory(parts []string, f foreign.File, folders map[string]*folder) bool {
	for i, part := range parts[:max(len(parts)-2, 0)] {
		if part != "agent-memory" && part != "agent-memory-local" {
			continue
		}
		at := path.Join(parts[:i]...)
		if at != "" && path.Base(at) != ".claude" {
			continue
		}
		agent := parts[i+1]
		add(folders, folder{
			path: path.Join(parts[:i+2]...), within: part + "/" + agent, agent: agent, user: l.homes[at],
		}, f)
		return true
	}
	return false
}

// isInstruction reports whether people write a file for agents to follow.
func isInstruction(parts []string) bool {
	switch base := parts[len(parts)-1]; base {
	case "CLAUDE.md", "CLAUDE.local.md", "AGENTS.md":
		return true
	}
	i := slices.Index(parts, "rules")
	return i == 0 && len(parts) > 1 || i > 0 && parts[i-1] == ".claude"
}

// isOurs reports whether an instruction is for the folder that the tree is, or of its user. The home of Claude Code also
// holds those of plugins and others, and a folder of rules is one only in a home or in .claude.
func (l *layout) isOurs(parts []string) bool {
	if parts[0] == "rules" {
		return l.homes[""] || l.tree.Base() == ".claude"
	}
	for home := range l.homes {
		rest := parts
		if home != "" {
			if !strings.HasPrefix(path.Join(parts...), home+"/") {
				continue
			}
			rest = parts[strings.Count(home, "/")+1:]
		}
		return len(rest) == 1 || rest[0] == "rules"
	}
	return true
}

// rootFolder takes the tree itself for a folder of memories, or for one that holds it, where nothing else was found.
func (l *layout) rootFolder(folders map[string]*folder) {
	if len(l.homes) > 0 || len(folders) > 0 {
		return
	}
	beside := ""
	if len(l.sessions) > 0 || slugged().MatchString(l.tree.Base()) {
		beside = "."
	}
	inner := l.tree.Under("memory")
	switch {
	case beside != "" || hasIndex(inner):
		for _, f := range inner {
			if f.Is(".md") {
				add(folders, folder{path: "memory", within: "memory", beside: beside}, f)
			}
		}
	case len(l.sessions) == 0 && len(l.instructions) == 0:
		for _, f := range l.tree.Files() {
			if f.Is(".md") {
				add(folders, folder{within: "memory"}, f)
			}
		}
	}
}

func hasIndex(files []foreign.File) bool {
	return slices.ContainsFunc(files, func(f foreign.File) bool { return path.Base(f.Name) == indexFile })
}

// slugOf returns the project that the name of a folder ends in; "" where the name is no path. A path of which every
// other character became "-" cannot be read back.
func slugOf(dir string) string {
	if !slugged().MatchString(dir) {
		return ""
	}
	parts := strings.FieldsFunc(dir, func(r rune) bool { return r == '-' })
	if len(parts) == 0 {
		return ""
	}
	return parts[len(parts)-1]
}
