package cursor

import (
	"path"
	"slices"
	"strings"

	"github.com/amber-memory/amber/internal/share/foreign"
)

// transcriptFolder holds the transcripts of a project.
const transcriptFolder = "agent-transcripts"

// layout is where things lie in a tree, which may be the home of Cursor, a part of it, or a folder that people work in.
type layout struct {
	tree     *foreign.Tree
	home     bool // the tree holds projects/
	sessions []foreign.File
	texts    []foreign.File // transcripts of an older form
	rules    []foreign.File
}

func look(t *foreign.Tree) *layout {
	l := &layout{tree: t}
	_, single := t.Single()
	within := slices.Contains(l.tree.Around(""), transcriptFolder)
	for _, f := range t.Files() {
		parts := strings.Split(f.Name, "/")
		below := slices.Contains(parts[:len(parts)-1], transcriptFolder) || within
		l.home = l.home || len(parts) > 3 && parts[0] == "projects" && parts[2] == transcriptFolder
		switch {
		case f.Is(".jsonl") && (below || single || len(parts) == 1 && isTranscript(f)):
			l.sessions = append(l.sessions, f)
		case f.Is(".txt") && below:
			l.texts = append(l.texts, f)
		case isRule(parts, l.flat()):
			l.rules = append(l.rules, f)
		}
	}
	if l.home { // beside its rules it holds those of extensions
		l.rules = slices.DeleteFunc(l.rules, func(f foreign.File) bool { return !strings.HasPrefix(f.Name, "rules/") })
	}
	return l
}

// flat reports whether the tree is a file of rules, or the folder of them.
func (l *layout) flat() bool {
	_, single := l.tree.Single()
	return single || l.tree.Base() == "rules"
}

// isRule reports whether people write a file for Cursor to follow. Rules lie in .cursor, which the tree itself may be,
// or which it may lie in.
func isRule(parts []string, flat bool) bool {
	base := parts[len(parts)-1]
	if base == ".cursorrules" || base == "AGENTS.md" {
		return true
	}
	if !strings.HasSuffix(base, ".mdc") {
		return false
	}
	at := slices.Index(parts, "rules")
	return flat || at == 0 || at > 0 && parts[at-1] == ".cursor"
}

// projectOf returns the project of a transcript. It lies below a folder that is named after a path, every separator of
// which became "-": only the last part is sure to be one name.
func (l *layout) projectOf(f foreign.File, o foreign.Options) string {
	if o.Project != "" {
		return o.Project
	}
	around := l.tree.Around(path.Dir(f.Name))
	at := slices.Index(around, transcriptFolder)
	if at < 0 || at+1 >= len(around) {
		return ""
	}
	parts := strings.FieldsFunc(around[at+1], func(r rune) bool { return r == '-' })
	if len(parts) == 0 {
		return ""
	}
	return parts[len(parts)-1]
}
