package claudecode

import (
	"context"

	"github.com/amber-memory/amber/internal/share/foreign"
)

// read gives out what a tree holds: instructions, memories, sessions.
func read(ctx context.Context, t *foreign.Tree, o foreign.Options, to foreign.Sink) error {
	l := look(t)
	if f, ok := t.Single(); ok && f.Is(".jsonl") {
		l.sessions = []foreign.File{f} // its name does not matter
	}
	in := &instructions{l: l, project: o.Project, to: to, told: map[string]bool{}}
	if in.project == "" && len(l.homes) == 0 {
		in.project = l.here(o)
	}
	if err := in.read(); err != nil {
		return err
	}
	for _, f := range l.folders {
		if err := ctx.Err(); err != nil {
			return err
		}
		m := &memories{folder: f, project: l.projectOf(ctx, f, o), user: o.User, to: to}
		if err := m.read(); err != nil {
			return err
		}
	}
	sessions := newTranscripts(l.sessions, o, to)
	for _, f := range l.sessions {
		if err := sessions.read(ctx, f, 0); err != nil {
			return err
		}
	}
	return nil
}
