package notes

import (
	"context"
	"errors"

	"github.com/amber-memory/amber/internal/base/gitrun"
)

// Check looks for damage in the repository: settings and files that Amber did not put there, and objects that a
// commit needs and that are missing. It returns nil when there is no repository yet. Errors: damaged; conflict when
// another branch is checked out; unsupported when there is no git; unreachable when git hangs.
func (d *Dir) Check(ctx context.Context) error {
	err := d.guard.Read(ctx, func(dir string) error {
		r := d.repoAt(dir)
		ready, err := r.vet()
		if err != nil || !ready {
			return err
		}
		_, err = r.query(ctx, "fsck", "--no-dangling", "--connectivity-only", "--no-progress")
		if errors.Is(err, gitrun.ErrExit) {
			err = damagedRepo(err)
		}
		return err
	})
	return wrap("check notes", "", err)
}
