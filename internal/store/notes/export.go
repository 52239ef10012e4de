package notes

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/store/notefile"
)

// Export writes the notes into a folder that is empty or does not exist: a repository with the whole history, all
// branches and tags, and the files of the notes. Commits keep their ids. Export first commits what is in the folder of
// notes and in no commit. All is durable when Export returns; an Export that fails leaves no repository. Errors:
// not_found where there are no notes; conflict when the folder holds something; those of [Dir.CommitAll].
func (d *Dir) Export(ctx context.Context, dir string) error {
	const op = "export notes"
	if err := notefile.NewFolder(d.fsys, dir); err != nil {
		return wrap(op, "", err)
	}
	if err := d.CommitAll(ctx); err != nil {
		return err
	}
	err := d.read(ctx, func(r *repo) error { return r.export(ctx, dir) })
	if err == nil {
		err = d.fsys.SyncAll(dir)
	}
	if err != nil {
		return errors.Join(wrap(op, "", err), fsx.RemoveAll(d.fsys, filepath.Join(dir, ".git")))
	}
	return nil
}

// export copies the repository and writes the files of its last commit.
func (r *repo) export(ctx context.Context, dir string) error {
	refs, found, err := gitobj.ReadRefs(r.fsys, r.dir)
	if err == nil && (!found || refs.OID == "") {
		err = amber.Errorf(amber.KindNotFound, "export notes", "", "the folder has no notes yet").WithHint("amber note write NAME TEXT")
	}
	if err != nil {
		return err
	}
	h, err := notefile.OpenHistory(r.objects, refs.OID)
	if err != nil {
		return err
	}
	o := gitobj.Options{Dir: r.dir, FS: r.fsys}
	err = gitobj.Build(ctx, o, dir, refs, func(yield func(string, []byte) error) error {
		return gitobj.Objects(ctx, o, refs, gitobj.Refs{}, yield)
	})
	if err != nil {
		return err
	}
	return h.Checkout(ctx, r.fsys, dir)
}
