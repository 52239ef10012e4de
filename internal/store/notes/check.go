package notes

import (
	"context"

	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/store/notefile"
)

// Check looks for damage in the repository: settings and files that Amber did not put there, and objects that a
// commit needs and that are missing or are not what their ids say. It returns nil when there is no repository yet. Errors: damaged;
// conflict when another branch is checked out.
func (d *Dir) Check(ctx context.Context) error {
	err := d.read(ctx, func(r *repo) error {
		ready, err := r.vet()
		if err != nil || !ready {
			return err
		}
		refs, _, err := gitobj.ReadRefs(r.fsys, r.dir)
		if err == nil {
			err = gitobj.Whole(ctx, r.objects, refs)
		}
		return notefile.Unreadable(err)
	})
	return wrap("check notes", "", err)
}
