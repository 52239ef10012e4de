package codex

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/pattern"
	"github.com/amber-memory/amber/internal/share/foreign"
)

func (r *reader) readMemories(ctx context.Context) error {
	if err := r.readSummaries(ctx); err != nil {
		return err
	}
	roots := r.memoryRoots()
	for _, f := range r.tree.Files() {
		if err := ctx.Err(); err != nil {
			return err
		}
		dir, base := path.Split(f.Name)
		root, _, inSkills := strings.Cut("./"+f.Name, "/skills/")
		var err error
		switch {
		case isNoteFile(f):
			err = r.readNote(f)
		case roots[path.Clean(dir)] && (base == "MEMORY.md" || base == "memory_summary.md"):
			err = f.GiveNote("codex/"+strings.TrimSuffix(base, ".md"), maxText, r.to)
		case inSkills && roots[path.Clean(root)] && base == "SKILL.md":
			r.to.Skip(foreign.Place{File: f.Name}, "a skill is no memory")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// memoryRoots returns the folders that are such as ~/.codex/memories.
func (r *reader) memoryRoots() map[string]bool {
	roots := map[string]bool{}
	for _, f := range r.tree.Files() {
		dir := path.Dir(f.Name)
		switch base := path.Base(f.Name); {
		case isNoteFile(f):
			roots[path.Join(dir, "../../..")] = true
		case inFolder(f, "rollout_summaries"):
			roots[path.Dir(dir)] = true
		case base == "raw_memories.md" || base == "memory_summary.md":
			roots[dir] = true
		case base == "MEMORY.md" && path.Base(dir) == "memories" && r.isHome(path.Dir(dir)):
			roots[dir] = true
		}
	}
	return roots
}

// summary is the file about one thread.
type summary struct {
	file foreign.File
	head map[string]string
	body string
	at   amber.Time
}

// readSummaries reads the newest summary of each thread.
func (r *reader) readSummaries(ctx context.Context) error {
	newest := map[string]summary{}
	for _, f := range r.tree.Files() {
		if !inFolder(f, "rollout_summaries") && (strings.Contains(f.Name, "/") || !isSummary(f)) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		s, ok := r.parseSummary(f)
		if !ok {
			continue
		}
		thread := s.head["thread_id"]
		if before, twice := newest[thread]; twice && s.at.Before(before.at) {
			s, before = before, s
			r.older(before)
		} else if twice {
			r.older(before)
		}
		newest[thread] = summary{file: s.file, head: s.head, at: s.at}
	}
	return r.giveSummaries(newest)
}

func (r *reader) older(s summary) {
	r.to.Skip(foreign.Place{File: s.file.Name}, "a newer summary of thread %s is there", s.head["thread_id"])
}

func (r *reader) giveSummaries(newest map[string]summary) error {
	for _, thread := range slices.Sorted(maps.Keys(newest)) {
		text, ok := r.text(newest[thread].file)
		if !ok {
			continue
		}
		s := newest[thread]
		_, s.body = splitHead(text)
		if err := r.to.Memory(r.summaryMemory(thread, s)); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) parseSummary(f foreign.File) (s summary, ok bool) {
	text, ok := r.text(f)
	if !ok {
		return s, false
	}
	place := foreign.Place{File: f.Name}
	s.file = f
	s.head, s.body = splitHead(text)
	if s.head["thread_id"] == "" || strings.TrimSpace(s.body) == "" {
		r.to.Skip(place, "want the lines thread_id and updated_at, an empty line and a text")
		return s, false
	}
	s.at = f.ModifiedAt()
	if text := s.head["updated_at"]; text != "" {
		at, err := foreign.Text(text)
		if err != nil {
			r.to.Skip(place, "updated_at: %v", err)
			return s, false
		}
		s.at = at
	}
	return s, true
}

// headLine is a line of the head of a summary.
var headLine = pattern.Of(`^([a-z_]+): (.*)$`)

// splitHead cuts the lines "name: value" from the text behind the first empty line.
func splitHead(text string) (head map[string]string, body string) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	top, body, _ := strings.Cut(text, "\n\n")
	head = map[string]string{}
	for l := range strings.SplitSeq(top, "\n") {
		if m := headLine().FindStringSubmatch(l); m != nil {
			head[m[1]] = strings.TrimSpace(m[2])
		}
	}
	return head, body
}

func (r *reader) summaryMemory(thread string, s summary) foreign.Memory {
	rest := map[string]string{}
	for name, v := range s.head {
		if name != "thread_id" && name != "updated_at" {
			rest[name] = v
		}
	}
	session := sessionID(thread)
	m := foreign.Memory{
		Place: foreign.Place{File: s.file.Name}, Key: foreign.Key{"summary", thread}, Kind: amber.SessionSummary,
		Identities: amber.Identities{SessionID: session, ProjectID: r.o.ProjectFor(s.head["cwd"])},
		Title:      summaryTitle(s.file), Content: strings.TrimSpace(s.body),
		SourceRefs: []amber.SourceRef{{Kind: "session", Value: string(session)}}, UpdatedAt: s.at,
	}
	if len(rest) > 0 {
		m.Foreign = rest
	}
	return m
}

var summaryName = pattern.Of(`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}-[0-9]{2}-[0-9]{2}-[0-9A-Za-z]{4}-(.+)$`)

// summaryTitle returns the words of a file name.
func summaryTitle(f foreign.File) string {
	if m := summaryName().FindStringSubmatch(f.Stem()); m != nil {
		return words(m[1])
	}
	return ""
}

func words(slug string) string {
	return strings.Join(strings.FieldsFunc(slug, func(r rune) bool { return r == '_' || r == '-' }), " ")
}
