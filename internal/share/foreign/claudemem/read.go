package claudemem

import (
	"context"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// reader reads all databases and exports of a tree as one: an export can be in several files, and repeats what the
// database holds.
type reader struct {
	to      foreign.Sink
	o       foreign.Options
	sources []source
	said    foreign.Seen

	sessions  []*session
	byContent map[string]*session
	byMemory  map[string]*session
	exported  int // sessions that Amber wrote
	modified  map[string]amber.Time
}

func read(ctx context.Context, t *foreign.Tree, o foreign.Options, to foreign.Sink) (err error) {
	r := &reader{to: to, o: o, said: foreign.Seen{}, byContent: map[string]*session{}, byMemory: map[string]*session{}, modified: map[string]amber.Time{}}
	closeAll := r.open(ctx, t)
	defer func() { err = errors.Join(err, closeAll()) }()
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{r.readSessions, r.readPrompts} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if err := r.each(ctx, observations, r.observation); err != nil {
		return err
	}
	if err := r.each(ctx, summaries, r.summary); err != nil {
		return err
	}
	if r.exported > 0 {
		to.Warn("%d conversations are not imported: Amber exported them", r.exported)
	}
	return nil
}

// open opens the databases and documents of a tree. The report names a file that cannot be opened.
func (r *reader) open(ctx context.Context, t *foreign.Tree) (closeAll func() error) {
	var open []*foreign.Database
	for _, f := range databases(t) {
		db, err := foreign.OpenDatabase(ctx, t, f)
		if err != nil {
			r.to.Skip(foreign.Place{File: f.Name}, "%v", err)
			continue
		}
		open = append(open, db)
		if !isOurs(db) {
			r.to.Skip(foreign.Place{File: f.Name}, "database lacks the tables %s, %s and %s of claude-mem", sessions.sql, observations.sql, summaries.sql)
			continue
		}
		r.add(database{db}, f)
	}
	_, single := t.Single()
	for _, f := range documents(t) {
		if single || isExport(f) {
			r.add(&document{file: f}, f)
		}
	}
	return func() error {
		var errs []error
		for _, db := range open {
			errs = append(errs, db.Close())
		}
		return errors.Join(errs...)
	}
}

func (r *reader) add(s source, f foreign.File) {
	r.sources = append(r.sources, s)
	r.modified[f.Name] = f.ModifiedAt()
}

// each calls fn with every row of a table. Each reading of a document meets all its broken rows, so only the reading
// of the sessions, which is the first, reports them.
func (r *reader) each(ctx context.Context, t table, fn func(foreign.Place, row) error) error {
	for _, s := range r.sources {
		skip := r.to.Skip
		if _, ok := s.(*document); ok && t != sessions {
			skip = r.skipRow(t)
		}
		if err := s.each(ctx, t, skip, fn); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// skipRow reports only rows of a table that are whole and no objects.
func (r *reader) skipRow(t table) foreign.SkipFunc {
	return func(at foreign.Place, format string, args ...any) {
		if strings.HasPrefix(at.At, t.list) && !strings.Contains(at.At, ", line ") {
			r.to.Skip(at, format, args...)
		}
	}
}

// memory gives out a memory, unless it was given out. The program keeps one time for all it writes at once, so that two
// rows without a title can share a key: the second gets one of its own.
func (r *reader) memory(m foreign.Memory) error {
	if strings.TrimSpace(m.Content) == "" {
		r.to.Skip(m.Place, "row has no text")
		return nil
	}
	if m.CreatedAt.IsZero() {
		m.CreatedAt, m.UpdatedAt = r.modified[m.Place.File], r.modified[m.Place.File]
	}
	switch r.said.Add(m.Key, m.Content) {
	case foreign.Same:
		return nil
	case foreign.Other:
		m.Key = append(m.Key, digest(m.Content))
		if r.said.Add(m.Key, m.Content) != foreign.First {
			return nil
		}
	}
	return r.to.Memory(m)
}

func digest(text string) string {
	sum := foreign.Digest(text)
	return hex.EncodeToString(sum[:8])
}

// sessionOf returns the session of a memory session id; "" where it is not known.
func (r *reader) sessionOf(memorySession string) amber.SessionID {
	if s := r.byMemory[memorySession]; s != nil {
		return s.id
	}
	return ""
}
