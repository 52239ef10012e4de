package claudecode

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/amber-memory/amber/internal/share/foreign"
)

const (
	headBytes = 64 << 10
	headLines = 20
	headFiles = 5
)

// detect recognises a home of Claude Code, its folders and files, and folders with instructions for it.
func detect(t *foreign.Tree) foreign.Match {
	if f, ok := t.Single(); ok {
		return single(f)
	}
	l := look(t)
	heads := l.sessions[:min(len(l.sessions), headFiles)]
	if slices.ContainsFunc(heads, isTranscript) || slices.ContainsFunc(l.folders, l.isSure) {
		return foreign.Sure
	}
	if slices.ContainsFunc(l.instructions, l.isForHere) {
		return foreign.Partly
	}
	return fallback(l)
}

// isSure reports whether a folder of memories is Claude Code's. No other program has projects/<path with ->/memory and
// agent-memory/<name>.
func (l *layout) isSure(f *folder) bool {
	if f.agent != "" || f.beside != "" && (f.path != "memory" || slugged().MatchString(l.tree.Base())) {
		return true
	}
	return slices.ContainsFunc(f.files[:min(len(f.files), headFiles)], func(file foreign.File) bool { return isMemory(file.Head(headBytes)) })
}

// isForHere reports whether an instruction makes its folder one of Claude Code. A vault of Obsidian is more than that.
func (l *layout) isForHere(f foreign.File) bool {
	dir, base := path.Split(f.Name)
	return (dir == "" && base != "AGENTS.md" || strings.HasPrefix(dir, ".claude/")) && len(l.tree.Under(".obsidian")) == 0
}

// fallback matches a folder that only its name or its index marks as one of memories: other programs have such
// folders.
func fallback(l *layout) foreign.Match {
	for _, f := range l.folders {
		if hasIndex(f.files) && (f.path == "memory" || l.tree.Base() == "memory") {
			return foreign.Fallback
		}
	}
	return foreign.No
}

func single(f foreign.File) foreign.Match {
	base := path.Base(f.Name)
	switch {
	case f.Is(".jsonl") && isTranscript(f), f.Is(".md") && isMemory(f.Head(headBytes)):
		return foreign.Sure
	case base == "CLAUDE.md", base == "CLAUDE.local.md":
		return foreign.Partly
	case base == indexFile:
		return foreign.Fallback
	}
	return foreign.No
}

// onlyHere are lines that no other program writes.
var onlyHere = map[string]bool{
	"permission-mode": true, "queue-operation": true, "custom-title": true, "ai-title": true,
	"last-prompt": true, "pr-link": true, "agent-name": true,
}

// chained are lines that follow each other.
var chained = map[string]bool{"user": true, "assistant": true, "system": true, "progress": true, "attachment": true}

// isTranscript looks at the first lines of a file.
func isTranscript(f foreign.File) bool {
	head := f.Head(headBytes)
	for n := 0; n < headLines && len(head) > 0; n++ {
		b, rest, whole := bytes.Cut(head, []byte("\n"))
		head = rest
		if !whole && len(b) > headBytes/2 { // a line that is longer than the head
			return bytes.Contains(b, []byte(`"parentUuid":`)) && bytes.Contains(b, []byte(`"sessionId":`))
		}
		l, err := parseLine(bytes.TrimSpace(b))
		if err != nil {
			continue
		}
		if l.typ == "file-history-snapshot" || l.session != "" && (onlyHere[l.typ] || l.uuid != "" && chained[l.typ]) {
			return true
		}
	}
	return false
}

// isMemory reports whether the head of a file is that of a memory, in one of its generations.
func isMemory(b []byte) bool {
	front, _, err := foreign.SplitFront(b)
	if err != nil || front == nil {
		return false
	}
	if front.Sub("metadata").Text("node_type") == "memory" {
		return true
	}
	return kinds[front.Text("type")] != "" && front.Text("name") != "" && front["description"] != nil
}
