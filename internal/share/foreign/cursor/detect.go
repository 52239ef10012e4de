package cursor

import (
	"bytes"
	"strings"

	"github.com/amber-memory/amber/internal/share/foreign"
)

const (
	headBytes = 64 << 10
	headLines = 20
	headFiles = 5
)

// detect recognises a home of Cursor, its folders and files, and folders with rules for it.
func detect(t *foreign.Tree) foreign.Match {
	l := look(t)
	for _, f := range l.sessions[:min(len(l.sessions), headFiles)] {
		if isTranscript(f) {
			return foreign.Sure
		}
	}
	for _, f := range l.rules[:min(len(l.rules), 100)] {
		own := !strings.Contains(f.Name, "/") || strings.HasPrefix(f.Name, ".cursor/") || strings.HasPrefix(f.Name, "rules/")
		if own && (f.Is(".cursorrules") || f.Is(".mdc") && isHead(f.Head(headBytes))) {
			return foreign.Partly
		}
	}
	return foreign.No
}

// isTranscript looks at the first lines of a file: messages of a role, and nothing that tells whose.
func isTranscript(f foreign.File) bool {
	head := f.Head(headBytes)
	for n := 0; n < headLines && len(head) > 0; n++ {
		b, rest, whole := bytes.Cut(head, []byte("\n"))
		head = rest
		b = bytes.TrimSpace(b)
		if !whole && len(b) > headBytes/2 { // a line that is longer than the head
			return bytes.HasPrefix(b, []byte(`{"role":`)) && bytes.Contains(b[:200], []byte(`"message":`))
		}
		if l, err := parseLine(b); err == nil && (l.role == "user" || l.role == "assistant") {
			return l.content != nil && !l.others
		}
	}
	return false
}

// isHead reports whether a file begins as rules do, which need not have a head.
func isHead(b []byte) bool {
	front, _, err := foreign.SplitFront(b)
	if err != nil || front == nil {
		return err == nil
	}
	for _, field := range []string{"description", "globs", "alwaysApply"} {
		if _, ok := front[field]; ok {
			return true
		}
	}
	return false
}
