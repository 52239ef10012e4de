package snapshot

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/survey"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/wire"
)

// plan reports what a restore would change, from the agent as it is to the content of the snapshot.
// It writes nothing and takes no lock of the agent.
func (s *restoration) plan(ctx context.Context) error {
	if p := s.report.Plan; p.SpaceFree < p.SpaceNeeded {
		s.warn("the restore needs %d bytes and %d are free: it would be refused", p.SpaceNeeded, p.SpaceFree)
	}
	s.tellEntries()
	c, err := s.agent.Current()
	if err != nil {
		return err
	}
	live := places(s.agent.GenDir(c))
	s.report.Plan.Store.Tables = []wire.TableDiff{}
	for _, db := range s.from.databases() {
		if !s.restores(partOf(db.name)) {
			continue
		}
		to, err := s.from.view(ctx, db.name)
		if err != nil {
			return err
		}
		diff, err := s.e.diffPages(ctx, db.name, s.agent, nil, to, true)
		switch amber.KindOf(err) {
		case amber.KindDamaged, amber.KindConflict, amber.KindRefused:
			s.warn("the live %s cannot be compared with the snapshot: %v", db.name, err)
			err = nil
		}
		if err != nil {
			return fail("compare with the live agent", db.name, err)
		}
		s.report.Plan.Store = merge(s.report.Plan.Store, diff)
		s.report.Restored = append(s.report.Restored, partOf(db.name))
		s.report.Checks = append(s.report.Checks, s.e.book.recorded(db.digest)...)
	}
	for _, p := range []struct {
		part, root string
		into       *wire.FilesDiff
	}{
		{wire.PartNotes, live.Notes, &s.report.Plan.Notes},
		{wire.PartState, live.State, &s.report.Plan.State},
	} {
		if !s.restores(p.part) {
			continue
		}
		to, err := s.from.files(ctx, p.part)
		if err != nil {
			return err
		}
		from, err := s.e.liveFiles(ctx, p.part, p.root, s.from.hasher)
		if err != nil {
			return err
		}
		*p.into = compareFiles(from, to, true)
		s.report.Restored = append(s.report.Restored, p.part)
	}
	return nil
}

// tellEntries says that the journal entries of the snapshot come in addition:
// what they mean is known only when they are drained.
func (s *restoration) tellEntries() {
	var frames int64
	for _, m := range s.from.journal() {
		frames += m.Frames
	}
	if frames > 0 && s.restores(wire.PartMemory) {
		s.warn("%d journal entries of the snapshot were not drained yet: their sessions and turns are not counted here", frames)
	}
}

// planNew is the plan for an agent that does not exist: everything is new.
func (s *restoration) planNew(ctx context.Context) error {
	s.tellEntries()
	s.report.Plan.Store.Tables = []wire.TableDiff{}
	for _, db := range s.from.databases() {
		s.report.Restored = append(s.report.Restored, partOf(db.name))
		s.report.Checks = append(s.report.Checks, s.e.book.recorded(db.digest)...)
	}
	for part, into := range map[string]*wire.FilesDiff{wire.PartNotes: &s.report.Plan.Notes, wire.PartState: &s.report.Plan.State} {
		files, err := s.from.files(ctx, part)
		if err != nil {
			return err
		}
		into.Added = int64(len(files))
	}
	s.report.Restored = append(s.report.Restored, wire.PartNotes, wire.PartState)
	return nil
}

// liveFiles reads a live folder as a tree would hold it. A file that cannot be read counts as
// different from every other.
func (e *Engine) liveFiles(ctx context.Context, part, root string, hasher func() contentHasher) (map[string]content, error) {
	f := &folder{fs: e.o.FS, part: part, root: root, skip: notTemporary}
	found, err := f.look()
	if err != nil {
		return nil, err
	}
	list := map[string]content{}
	for _, s := range found.Skipped { // no snapshot holds it, so it would be gone
		list[s.Path] = content{parts: []repo.ID{{}}}
	}
	for _, entry := range found.Entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if entry.Mode == survey.Dir {
			continue
		}
		c := content{mode: repo.ModeFile}
		if entry.Mode == survey.Exec {
			c.mode = repo.ModeExec
		}
		w := hasher()
		if err := survey.Read(e.o.FS, root, entry, w); err != nil {
			c.parts = []repo.ID{{}}
		} else {
			c.parts = w.end()
		}
		list[entry.Path] = c
	}
	return list, nil
}

// partHasher computes the ids under which the repository would hold a file.
type partHasher struct {
	id    func(repo.Kind, []byte) repo.ID
	buf   []byte
	parts []repo.ID
}

func (h *partHasher) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		k := min(len(p), repo.FilePartBytes-len(h.buf))
		h.buf = append(h.buf, p[:k]...)
		p = p[k:]
		if len(h.buf) == repo.FilePartBytes {
			h.end()
		}
	}
	return n, nil
}

// end closes the part that is open and returns all of them.
func (h *partHasher) end() []repo.ID {
	if len(h.buf) > 0 {
		h.parts = append(h.parts, h.id(repo.KindFile, h.buf))
		h.buf = h.buf[:0]
	}
	return h.parts
}
