package gemini

import (
	"path"
	"strings"

	"github.com/amber-memory/amber/internal/base/pattern"
	"github.com/amber-memory/amber/internal/share/foreign"
)

const (
	headBytes = 64 << 10 // so much of a file is looked at
	looked    = 3        // so many files of a kind
)

func detect(t *foreign.Tree) foreign.Match {
	chats, documents := 0, 0
	for _, f := range t.Files() {
		switch {
		case isChatFile(t, f):
			if chats++; chats <= looked && isChat(f) {
				return foreign.Sure
			}
		case path.Base(f.Name) == "GEMINI.md":
			if documents++; documents <= looked && hasFacts(f) {
				return foreign.Sure
			}
		case isPrivate(t, f) && path.Base(f.Name) == "MEMORY.md":
			return foreign.Sure
		}
	}
	return foreign.No
}

// whole returns the name of a file with the folder that was asked for before it.
func whole(t *foreign.Tree, f foreign.File) string {
	if _, single := t.Single(); single {
		return f.Name
	}
	return path.Join(t.Base(), f.Name)
}

// isChatFile reports whether a file lies where chats lie. Alone, its content decides.
func isChatFile(t *foreign.Tree, f foreign.File) bool {
	if !f.Is(".jsonl", ".json") {
		return false
	}
	if _, single := t.Single(); single {
		return true
	}
	dir, base := path.Split(whole(t, f))
	dir = path.Clean(dir)
	return path.Base(dir) == "chats" && strings.HasPrefix(base, "session-") || path.Base(path.Dir(dir)) == "chats"
}

// chatHead begins a chat: members with texts, among them the session and the project.
var chatHead = pattern.Of(`^\s*\{(\s*"[a-zA-Z]+"\s*:\s*("[^"\\]*"|\[[^\]]*\])\s*,)*\s*"projectHash"\s*:\s*"`)

// isChat reports whether a file begins as a chat does.
func isChat(f foreign.File) bool {
	head := f.Head(headBytes)
	return chatHead().Match(head) && strings.Contains(string(head), `"sessionId"`) && strings.Contains(string(head), `"startTime"`)
}

// hasFacts reports whether a file has the section of added memories.
func hasFacts(f foreign.File) bool { return section().Match(f.Head(headBytes)) }

// isPrivate reports whether a file is one of the private memory of a project.
func isPrivate(t *foreign.Tree, f foreign.File) bool {
	_, _, ok := private(t, f)
	return ok
}

var privateName = pattern.Of(`(?:^|/)(?:\.gemini|gemini)/tmp/([^/]+)/memory/(.+\.md)$`)

// private returns the short id of the project of a private memory, and the path below its folder.
func private(t *foreign.Tree, f foreign.File) (id, below string, ok bool) {
	m := privateName().FindStringSubmatch(whole(t, f))
	if m == nil && hasProjects(t) {
		m = privateName().FindStringSubmatch("gemini/" + f.Name)
	}
	if m == nil || strings.HasPrefix(m[2], ".inbox/") || strings.Contains(m[2], "/.inbox/") {
		return "", "", false
	}
	return m[1], m[2], true
}

func hasProjects(t *foreign.Tree) bool {
	_, ok := t.File("projects.json")
	return ok
}
