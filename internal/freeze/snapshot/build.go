package snapshot

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/names"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/internal/store/image"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/wire"
)

// build puts the parts that come from the origin into the folder of the new
// generation, each page and file compared while it is written, and examines
// them. Nothing there is durable yet.
func (s *restoration) build(ctx context.Context, dir string) error {
	for _, d := range s.from.databases() {
		if !s.restores(partOf(d.name)) {
			continue
		}
		if err := s.database(ctx, d, dir); err != nil {
			return err
		}
	}
	if s.restores(wire.PartNotes) {
		s.e.progress(ctx, "write notes", 0, 0)
		lost, err := s.from.notes(ctx, places(dir).Notes)
		if err != nil {
			return err
		}
		if lost != "" {
			s.warn("the notes come back WITHOUT their history, which stays where it is: %s", lost)
		}
		s.report.Restored = append(s.report.Restored, wire.PartNotes)
	}
	if s.restores(wire.PartState) {
		s.e.progress(ctx, "write state", 0, 0)
		if err := s.from.state(ctx, places(dir).State); err != nil {
			return err
		}
		s.report.Restored = append(s.report.Restored, wire.PartState)
	}
	return nil
}

// database writes one database and examines it, unless these very pages have
// been examined before.
func (s *restoration) database(ctx context.Context, d storedDatabase, dir string) error {
	if d.name != memoryDB && d.name != controlDB {
		return amber.Errorf(amber.KindRefused, "restore", d.name, "not a database of an agent: want memory.db or control.db")
	}
	path := filepath.Join(dir, d.name)
	if err := s.from.database(ctx, d.name, path); err != nil {
		return err
	}
	checks := s.e.book.recorded(d.digest)
	if len(checks) == 0 {
		var err error
		s.e.progress(ctx, "check "+d.name, 0, 0)
		if checks, err = s.e.examine(ctx, d.name, d.digest, path); err != nil {
			return err
		}
	} else if _, err := examineFile(ctx, path, false); err != nil {
		return err
	}
	s.report.Checks = append(s.report.Checks, checks...)
	if c := failed(checks); c != nil {
		return amber.Errorf(amber.KindDamaged, "restore", d.name, "%s: %s", c.Name, c.Detail).WithHint("amber snapshot list, and restore an earlier snapshot")
	}
	for _, c := range checks {
		if !c.OK {
			s.warn("%s: %s", d.name, c.Detail)
		}
	}
	s.report.Restored = append(s.report.Restored, partOf(d.name))
	return nil
}

// writeDatabase builds a database file from its pages.
func (e *Engine) writeDatabase(ctx context.Context, rep *repository, d repo.DatabaseEntry, path string) error {
	total := d.Ref.Pages * int64(d.Ref.PageSize)
	var done int64
	return fail("write database", path, fsx.BuildWith(e.o.FS, path, 0o600, func(f fsx.File) error {
		return rep.ReadDatabase(ctx, d.Ref, func(offset int64, pages []byte) error {
			done += int64(len(pages))
			e.progress(ctx, "write "+d.Name, done, total)
			_, err := f.WriteAt(pages, offset)
			return err
		})
	}))
}

// buildFiles writes a tree of files below dir. Nil is no folder at all.
func (e *Engine) buildFiles(ctx context.Context, rep *repository, files *repo.FilesEntry, dir string) error {
	if files == nil {
		return nil
	}
	if err := fsx.MkdirAll(e.o.FS, dir, 0o700); err != nil {
		return fail("make folder", dir, err)
	}
	err := rep.WalkTree(ctx, files.Tree, func(rel string, entry repo.TreeEntry) error {
		if err := mayWrite(rel); err != nil {
			return err
		}
		return e.buildFile(ctx, rep, filepath.Join(dir, filepath.FromSlash(rel)), entry)
	})
	return fail("write files", dir, err)
}

// mayWrite refuses files that a restore must not write: those that tell git what
// to do, and names that mean something else to this system.
func mayWrite(rel string) error {
	if inGit(rel) || !filepath.IsLocal(filepath.FromSlash(rel)) {
		return amber.Errorf(amber.KindRefused, "write files", rel, "a snapshot must not write to this path")
	}
	return nil
}

// inGit reports whether a path is the git folder of the folder it is in, to
// whatever file system, or below that.
func inGit(rel string) bool {
	first, _, _ := strings.Cut(rel, "/")
	return names.IsGitFolder(first)
}

func (e *Engine) buildFile(ctx context.Context, rep *repository, path string, entry repo.TreeEntry) error {
	mode := fs.FileMode(0o600)
	switch entry.Mode {
	case repo.ModeDir:
		return e.o.FS.Mkdir(path, 0o700)
	case repo.ModeExec:
		mode = 0o700
	}
	return fsx.BuildWith(e.o.FS, path, mode, func(f fsx.File) error { return rep.ReadFile(ctx, entry, f) })
}

// replay drains the journal entries that were captured into the new memory. All
// databases of the generation are there.
func (s *restoration) replay(ctx context.Context, c home.Current) error {
	s.covered = map[string]int64{}
	if !s.restores(wire.PartMemory) {
		return nil
	}
	for _, m := range s.from.journal() {
		frames, err := s.from.frames(ctx, m)
		if err != nil {
			return err
		}
		if frames == nil {
			continue
		}
		if err := s.e.replayInto(ctx, s.agent, c, m, frames); err != nil {
			return fail("drain captured journal", m.Key, err)
		}
		s.covered[m.Cursor] = m.Last
	}
	return nil
}

// partsReader reads a file of the repository, one part at a time.
type partsReader struct {
	ctx   context.Context
	repo  *repo.Repo
	parts []repo.ID
	part  bytes.Reader
}

func (r *partsReader) Read(p []byte) (int, error) {
	for r.part.Len() == 0 {
		if len(r.parts) == 0 {
			return 0, io.EOF
		}
		b, err := r.repo.Get(r.ctx, r.parts[0])
		if err != nil {
			return 0, err
		}
		r.parts = r.parts[1:]
		r.part.Reset(b.Data)
	}
	return r.part.Read(p)
}

// carry copies the parts that a restore leaves as they are into the new generation. No process
// writes meanwhile.
func (s *restoration) carry(ctx context.Context, live home.Current, dir string) error {
	if err := s.carryDatabases(ctx, live, dir); err != nil {
		return err
	}
	old := s.agent.GenDir(live)
	for part, folder := range map[string]func(string) string{
		wire.PartNotes: func(gen string) string { return places(gen).Notes },
		wire.PartState: func(gen string) string { return places(gen).State },
	} {
		if s.restores(part) {
			continue
		}
		left, err := copyFolder(s.e.o.FS, folder(old), folder(dir))
		if err != nil {
			return fail("carry "+part, folder(old), err)
		}
		for _, path := range left {
			s.whole = false
			s.warn("%s is neither a file nor a folder and was left in the old generation, which stays", path)
		}
	}
	return nil
}

// carryDatabases copies the live databases that are not restored, page by page.
func (s *restoration) carryDatabases(ctx context.Context, live home.Current, dir string) (err error) {
	if s.restores(wire.PartMemory) && s.restores(partControl) {
		return nil
	}
	frozen, lost, err := s.e.freezeDatabases(ctx, s.agent.GenDir(live))
	if err != nil {
		return err
	}
	defer func() {
		for _, d := range frozen {
			err = errors.Join(err, d.Close())
		}
	}()
	for name := range lost {
		if !s.restores(partOf(name)) {
			return amber.Errorf(amber.KindDamaged, "restore", name, "the live database cannot be read, and this restore does not replace it").
				WithHint("restore all parts: add --with-control, leave out --only")
		}
	}
	for _, d := range frozen {
		if name := d.Info().Name; !s.restores(partOf(name)) {
			if err := image.WriteFile(ctx, s.e.o.FS, d, filepath.Join(dir, name)); err != nil {
				return fail("carry database", name, err)
			}
		}
	}
	return nil
}

// copyFolder copies a folder with everything in it, while no process writes there. It returns the
// entries that are neither files nor folders; it leaves them out. If the folder does not exist,
// copyFolder makes none.
func copyFolder(disk fsx.FS, from, to string) (left []string, err error) {
	entries, err := disk.ReadDir(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = disk.Mkdir(to, 0o700)
	}
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		src, dst := filepath.Join(from, entry.Name()), filepath.Join(to, entry.Name())
		switch {
		case entry.IsDir():
			more, err := copyFolder(disk, src, dst)
			left = append(left, more...)
			if err != nil {
				return left, err
			}
		case entry.Type().IsRegular():
			if err := copyFile(disk, src, dst); err != nil {
				return left, err
			}
		default:
			left = append(left, src)
		}
	}
	return left, nil
}

// copyFile copies one file with its mode.
func copyFile(disk fsx.FS, from, to string) error {
	in, err := disk.OpenFile(from, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	return fsx.BuildWith(disk, to, info.Mode().Perm(), func(out fsx.File) error {
		_, err := io.Copy(out, in)
		return err
	})
}

// adopt makes the databases those of the new generation and returns the latest
// stamp in them.
func (s *restoration) adopt(ctx context.Context, dir, live string, c home.Current, cursors map[string]int64) (clock amber.Stamp, err error) {
	for _, name := range []string{memoryDB, controlDB} {
		r := image.AdoptRequest{
			Path: filepath.Join(dir, name), Current: c,
			Carried: !s.restores(partOf(name)), LocalOnly: s.request.LocalOnly,
		}
		if live != "" {
			r.Live = filepath.Join(live, name)
		}
		if name == memoryDB {
			r.Cursors = cursors
		}
		latest, warnings, err := s.e.adoptFile(ctx, name, r)
		if err != nil {
			return 0, fail("adopt database", name, err)
		}
		clock = max(clock, latest)
		s.report.Warnings = append(s.report.Warnings, warnings...)
	}
	return clock, nil
}
