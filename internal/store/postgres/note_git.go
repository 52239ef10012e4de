package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/store/notefile"
)

// GitOptions say how git is run where notes become a repository in a folder, and come from one.
type GitOptions struct {
	Git     string        // the program; default "git"
	Timeout time.Duration // how long it may run; default ten minutes
	Temp    string        // an existing folder for temporary files; default that of the system
}

func (o GitOptions) of(dir string) gitobj.Options {
	return gitobj.Options{Dir: dir, Git: o.Git, Timeout: o.Timeout, Temp: o.Temp}
}

// Export writes the notes into a folder that is empty or does not exist: a repository with their whole history and all
// branches and tags, and the files of the notes. Package notes can work on that folder. Everything is durable when
// Export returns. Errors: conflict when the folder holds something, or when another generation of the agent became live
// meanwhile; damaged; unsupported when there is no git; those of the file system. An export that fails leaves no
// repository.
func (n *Notes) Export(ctx context.Context, dir string, o GitOptions) error {
	const op = "export notes"
	fsys := fsx.OS()
	if err := notefile.NewFolder(fsys, dir); err != nil {
		return notefile.Wrap(op, "", err)
	}
	none, first := "", ""
	var refs gitobj.Refs
	err := n.view(ctx, op, &none, func(r *noteRepo) (err error) {
		first = r.t.Current.Incarnation
		refs, err = r.refs()
		return err
	})
	if err != nil {
		return err
	}
	// Objects never go, so those that are added meanwhile do no harm.
	same := func(fn func(*noteRepo) error) error {
		return n.view(ctx, op, &none, func(r *noteRepo) error {
			if r.t.Current.Incarnation != first {
				return errReplaced()
			}
			return fn(r)
		})
	}
	err = gitobj.Build(ctx, o.of(dir), dir, refs, func(yield func(string, []byte) error) error {
		return same(func(r *noteRepo) error {
			return r.eachObject(func(o gitobj.Object) error { return yield(o.OID, o.Raw) })
		})
	})
	if err != nil {
		return notefile.Wrap(op, "", err)
	}
	err = same(func(r *noteRepo) error {
		h, err := r.At(refs.OID)
		if err == nil {
			err = h.Checkout(ctx, fsys, dir)
		}
		return err
	})
	if err == nil {
		err = fsys.SyncAll(dir)
	}
	if err != nil {
		return errors.Join(notefile.Wrap(op, "", err), fsx.RemoveAll(fsys, filepath.Join(dir, ".git")))
	}
	return nil
}

// errReplaced is the answer where another generation became live between two transactions.
func errReplaced() error {
	return notefile.Error(amber.KindConflict, "", errors.New("the notes were replaced meanwhile"), "try again")
}

// checkNoteRefs checks that refs can be those of notes.
func checkNoteRefs(refs gitobj.Refs) error {
	if err := refs.Check(); err != nil {
		return notefile.Error(amber.KindInvalid, "", err, "")
	}
	if refs.Head != gitobj.MainBranch {
		return notefile.NotMain()
	}
	for _, ref := range refs.Refs {
		if len(ref.OID) != len(gitobj.ZeroOID) {
			return notefile.Error(amber.KindUnsupported, "", errors.New("the ids of the repository are not SHA-1"), "")
		}
	}
	return nil
}

// Check looks for damage: objects that are not what their ids say, objects that something names and that are missing, refs that name
// nothing, and a copy that is not what the branch ends with. The error is of kind damaged.
func (n *Notes) Check(ctx context.Context) error {
	none := ""
	return n.view(ctx, "check notes", &none, func(r *noteRepo) error {
		refs, err := r.refs()
		if err != nil {
			return err
		}
		have, need := map[string]bool{}, map[string]bool{}
		for _, ref := range refs.Refs {
			need[ref.OID] = true
		}
		err = r.eachObject(func(o gitobj.Object) error {
			have[o.OID] = true
			named, err := o.Named()
			for _, oid := range named {
				need[oid] = true
			}
			return notefile.Unreadable(err)
		})
		if err != nil {
			return err
		}
		for _, oid := range slices.Sorted(maps.Keys(need)) {
			if !have[oid] {
				return notefile.Unreadable(gitobj.Missing(oid))
			}
		}
		return r.checkCopy()
	})
}

// checkCopy compares the copy with what the branch ends with. Files that are no text of a note are not in it.
func (r *noteRepo) checkCopy() error {
	if r.copied != r.Head() {
		return damagedCopy("is of commit %.40q, want %.40q", r.copied, r.Head())
	}
	want, err := r.Blobs(r.t.Ctx)
	if err != nil {
		return err
	}
	got, err := r.t.NoteBlobs()
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if want[name] != got[name] {
			return damagedCopy("has a note %.80q that says something else than the branch, or is not on it", name)
		}
		delete(want, name)
	}
	lacks, err := r.Lacks(want)
	if err == nil && lacks != "" {
		err = damagedCopy("lacks the note %.80q", lacks)
	}
	return err
}

func damagedCopy(format string, args ...any) error {
	return notefile.Error(amber.KindDamaged, "", fmt.Errorf("the copy of the notes "+format, args...), "amber index rebuild")
}
