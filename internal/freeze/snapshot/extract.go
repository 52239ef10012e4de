package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/wire"
)

// Extraction says what was written of a source.
type Extraction struct {
	From    amber.SnapshotID `json:"from"`
	Source  string           `json:"source"`
	To      string           `json:"to"`
	Files   int64            `json:"files"`
	Bytes   int64            `json:"bytes"`
	Fenced  bool             `json:"fenced"`
	Checks  []wire.Check     `json:"checks"`
	Skipped []wire.Skipped   `json:"skipped"` // not captured, so they are not there
	DryRun  bool             `json:"dry_run"` // it is a plan: nothing was written
}

// ExtractSource writes what a snapshot holds of a source into dir, which is not
// there or empty, and returns once it is durable:
//
//	databases/<n>-<name>   each database
//	git/                   a repository with the objects and refs
//	files/<n>-<name>       each file and folder that was named
//
// On error dir may hold a part of it. Errors: not_found when the snapshot does
// not hold the source; conflict when dir holds something; damaged.
func (e *Engine) ExtractSource(ctx context.Context, ref wire.SnapshotRef, name, dir string) (Extraction, error) {
	x := Extraction{From: ref.ID, Source: name, To: dir, Checks: []wire.Check{}, Skipped: []wire.Skipped{}}
	if err := checkRef(ref); err != nil {
		return x, err
	}
	err := e.with(ctx, ref.Tenant, func(rep *repository) error {
		_, inner, err := rep.find(ctx, ref)
		if err != nil {
			return err
		}
		for _, s := range inner.Sources {
			if s.Name != name {
				continue
			}
			for _, sk := range inner.Skipped {
				if sk.Part == "source:"+name {
					x.Skipped = append(x.Skipped, sk)
				}
			}
			return e.extract(ctx, rep, s, &x)
		}
		return amber.Errorf(amber.KindNotFound, "extract source", name, "the snapshot does not hold this source")
	})
	return x, fail("extract source", name, err)
}

func (e *Engine) extract(ctx context.Context, rep *repository, s repo.SourceEntry, x *Extraction) error {
	if err := emptyFolder(e.o.FS, x.To); err != nil {
		return err
	}
	report := sourceReport(s)
	x.Files, x.Bytes, x.Fenced = report.Files, report.Bytes, report.Fenced
	if len(s.Databases) > 0 {
		if err := e.o.FS.Mkdir(filepath.Join(x.To, "databases"), 0o700); err != nil {
			return err
		}
	}
	for n, d := range s.Databases {
		file := filepath.Join(x.To, "databases", fmt.Sprintf("%d-%s", n+1, safeBase(d.Name)))
		if err := e.writeDatabase(ctx, rep, d, file); err != nil {
			return err
		}
		x.Checks = append(x.Checks, wire.Check{
			Name: "pages", Part: d.Name, Digest: d.Ref.Digest.String(), At: e.now(), OK: true,
			Detail: fmt.Sprintf("%d pages compared; their content was not checked", d.Ref.Pages),
		})
	}
	if s.Git != nil {
		dir := filepath.Join(x.To, "git")
		if err := fsx.MkdirAll(e.o.FS, dir, 0o700); err != nil {
			return err
		}
		if err := gitobj.Build(ctx, gitobj.Options{Git: e.o.Git, FS: e.o.FS}, dir, refsOf(s.Git), e.objects(ctx, rep, s.Git)); err != nil {
			return err
		}
	}
	if err := e.buildFiles(ctx, rep, s.Files, filepath.Join(x.To, "files")); err != nil {
		return err
	}
	return e.o.FS.SyncAll(x.To)
}

// safeBase returns the last part of a name that came out of a repository, fit
// to be the name of a file.
func safeBase(name string) string {
	base := path.Base(name)
	if base == "." || base == ".." || base == "/" {
		return "database"
	}
	return base
}

// emptyFolder makes a folder, or makes sure that it is empty.
func emptyFolder(disk fsx.FS, dir string) error {
	entries, err := disk.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return fsx.MkdirAll(disk, dir, 0o700)
	}
	if err == nil && len(entries) > 0 {
		return amber.Errorf(amber.KindConflict, "extract source", dir, "the folder is not empty")
	}
	return err
}
