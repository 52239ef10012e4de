package codex

import (
	"bytes"
	"path"
	"strings"

	"github.com/amber-memory/amber/internal/base/pattern"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// headBytes is how much of a file is looked at.
const headBytes = 64 << 10

// looked is how many files of a kind are looked into.
const looked = 3

func detect(t *foreign.Tree) foreign.Match {
	if f, ok := t.Single(); ok {
		return foreign.SureIf(isRollout(f) || isSummary(f))
	}
	rollouts, summaries := 0, 0
	for _, f := range t.Files() {
		_, named := parseName(f)
		switch {
		case named && rollouts < looked:
			if rollouts++; isRollout(f) {
				return foreign.Sure
			}
		case inFolder(f, "rollout_summaries") && summaries < looked:
			if summaries++; isSummary(f) {
				return foreign.Sure
			}
		case isNote(f):
			return foreign.Sure
		}
	}
	return foreign.SureIf(path.Base(t.Base()) == "rollout_summaries" && len(t.Files()) > 0 && isSummary(t.Files()[0]))
}

// metaLine is the first line of a rollout, which may be longer than what is looked at.
var metaLine = pattern.Of(`^\{("timestamp":\s*"[^"]*",\s*|"ordinal":\s*[0-9]+,\s*)*"type":\s*"session_meta",\s*"payload":\s*\{`)

// isRollout reports whether the first line of a file is that of a rollout.
func isRollout(f foreign.File) bool {
	if !f.Is(".jsonl", ".jsonl.zst") {
		return false
	}
	head := bytes.TrimSpace(f.Head(headBytes))
	if line, _, whole := bytes.Cut(head, []byte("\n")); whole || len(head) < headBytes {
		l, ok := parseLine(line)
		return ok && l.kind == kindMeta
	}
	return metaLine().Match(head)
}

// isSummary reports whether a file is the summary of a rollout.
func isSummary(f foreign.File) bool {
	head := string(f.Head(4 << 10))
	return f.Is(".md") && strings.HasPrefix(head, "thread_id: ") && strings.Contains(head, "\nupdated_at: ")
}

// inFolder reports whether a file of Markdown lies directly in a folder of a name.
func inFolder(f foreign.File, folder string) bool {
	return f.Is(".md") && path.Base(path.Dir(f.Name)) == folder
}

// noteName is how a note is named that a person asked the program to remember.
var noteName = pattern.Of(`^([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}-[0-9]{2}-[0-9]{2})-([a-z0-9-]{1,80})\.md$`)

// isNote reports whether a file is such a note.
func isNote(f foreign.File) bool { return isNoteFile(f) && noteName().MatchString(path.Base(f.Name)) }

// isNoteFile reports whether a file lies where the notes lie.
func isNoteFile(f foreign.File) bool {
	return f.Is(".md") && strings.HasSuffix("/"+path.Dir(f.Name), "/extensions/ad_hoc/notes")
}
