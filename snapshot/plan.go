package snapshot

import (
	"context"
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/survey"
	"github.com/amber-memory/amber/repo"
)

// plan tells what a restore would change: from the agent as it is to what the
// snapshot holds. Nothing is written and no lock of the agent is taken.
func (s *restoration) plan(ctx context.Context, v *vault) error {
	if err := s.check(ctx, v); err != nil {
		return err
	}
	if p := s.report.Plan; p.SpaceFree < p.SpaceNeeded {
		s.report.Warnings = append(s.report.Warnings, fmt.Sprintf("it needs %d bytes and %d are free: it would be refused", p.SpaceNeeded, p.SpaceFree))
	}
	s.tellEntries()
	c, err := s.agent.Current()
	if err != nil {
		return err
	}
	live := places(s.agent.GenDir(c))
	d := &differ{e: s.e, v: v, rows: true}
	s.report.Plan.Store.Tables = []amber.TableDiff{}
	for _, db := range s.inner.Databases {
		if !s.restores(partOf(db.Name)) {
			continue
		}
		to, err := d.file(ctx, db)
		if err != nil {
			return err
		}
		from := DatabaseFile{Agent: s.agent}
		diff, err := s.e.o.Viewer.Diff(ctx, db.Name, from, to, true)
		switch amber.KindOf(err) {
		case amber.KindDamaged, amber.KindConflict, amber.KindRefused:
			s.report.Warnings = append(s.report.Warnings, fmt.Sprintf("the live %s cannot be compared with: %v", db.Name, err))
			err = nil
		}
		if err != nil {
			return fail("compare with the live agent", db.Name, err)
		}
		s.report.Plan.Store = merge(s.report.Plan.Store, diff)
		s.report.Restored = append(s.report.Restored, partOf(db.Name))
		s.report.Checks = append(s.report.Checks, s.e.recorded(db)...)
	}
	for _, p := range []struct {
		part, root string
		files      *repo.FilesEntry
		into       *amber.FilesDiff
	}{
		{amber.PartNotes, live.Notes, s.inner.Notes, &s.report.Plan.Notes},
		{amber.PartState, live.State, s.inner.State, &s.report.Plan.State},
	} {
		if !s.restores(p.part) {
			continue
		}
		to, err := d.tree(ctx, p.files)
		if err != nil {
			return err
		}
		from, err := s.e.liveFiles(ctx, p.part, p.root)
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
	for _, m := range s.inner.Marks {
		frames += m.Frames
	}
	if frames > 0 && s.restores(amber.PartMemory) {
		s.report.Warnings = append(s.report.Warnings,
			fmt.Sprintf("%d journal entries of the snapshot were not drained yet: the sessions and turns they bring are not counted here", frames))
	}
}

// planNew is the plan for an agent that does not exist: everything is new.
func (s *restoration) planNew() error {
	s.tellEntries()
	s.report.Plan.Store.Tables = []amber.TableDiff{}
	for _, db := range s.inner.Databases {
		s.report.Restored = append(s.report.Restored, partOf(db.Name))
		s.report.Checks = append(s.report.Checks, s.e.recorded(db)...)
	}
	for _, p := range []struct {
		part  string
		files *repo.FilesEntry
		into  *amber.FilesDiff
	}{{amber.PartNotes, s.inner.Notes, &s.report.Plan.Notes}, {amber.PartState, s.inner.State, &s.report.Plan.State}} {
		s.report.Restored = append(s.report.Restored, p.part)
		if p.files != nil {
			p.into.Added = p.files.Files
		}
	}
	return nil
}

// liveFiles reads a live folder as a tree would hold it. What cannot be read
// counts as different from everything.
func (e *Engine) liveFiles(ctx context.Context, part, root string) (map[string]content, error) {
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
		w := &partHasher{}
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
		h.parts = append(h.parts, repo.BlobID(repo.KindFile, h.buf))
		h.buf = h.buf[:0]
	}
	return h.parts
}
