package cursor

import (
	"context"
	"path"
	"path/filepath"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// maxRule bounds a file of rules.
const maxRule = amber.MaxContentBytes + 128<<10

// read gives out what a tree holds: rules and transcripts.
func read(ctx context.Context, t *foreign.Tree, o foreign.Options, to foreign.Sink) error {
	l := look(t)
	for _, f := range l.rules {
		if err := l.note(f, o, to); err != nil {
			return err
		}
	}
	for _, f := range l.texts {
		to.Skip(foreign.Place{File: f.Name}, "transcript is plain text, want JSON Lines")
	}
	read := map[string]string{}
	for _, f := range l.sessions {
		if err := ctx.Err(); err != nil {
			return err
		}
		if first, twice := read[f.Stem()]; twice {
			to.Skip(foreign.Place{File: f.Name}, "session %s was read from %s", f.Stem(), first)
			continue
		}
		read[f.Stem()] = f.Name
		if err := l.transcript(ctx, f, o, to); err != nil {
			return err
		}
	}
	return nil
}

// note gives out a file of rules: standing orders of a person, not something an agent has learnt.
func (l *layout) note(f foreign.File, o foreign.Options, to foreign.Sink) error {
	return f.GiveNote(l.noteName(f, o), maxRule, to)
}

// noteName returns the name of a note. Elements of it do not begin with a dot.
func (l *layout) noteName(f foreign.File, o foreign.Options) string {
	dir, rel := l.tree.Root(), f.Name
	switch {
	case strings.HasPrefix(rel, "rules/"):
		rel = "cursor/" + rel
		if filepath.Base(dir) == ".cursor" {
			dir = filepath.Dir(dir)
		}
	case l.flat() && strings.HasSuffix(rel, ".mdc"):
		rel = "cursor/rules/" + rel
		if at := strings.LastIndex(filepath.ToSlash(dir), "/.cursor/rules"); at >= 0 {
			dir = dir[:at]
		}
	}
	project := o.ProjectFor(dir)
	if l.home && o.Project == "" {
		project = "user"
	}
	rel = strings.TrimSuffix(strings.TrimSuffix(rel, ".mdc"), ".md")
	parts := strings.Split(path.Join("instructions", project, rel), "/")
	for i, p := range parts {
		parts[i] = strings.TrimLeft(p, ".")
	}
	return path.Join(parts...)
}
