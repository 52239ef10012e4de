package mirror

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/amber-memory/amber/internal/base/pgdb"
	"github.com/amber-memory/amber/internal/store/rowfile"
)

// Digests reads all rows that a transaction sees.
func Digests(ctx context.Context, c *pgdb.Conn) (tables []Table, err error) {
	files, err := rowfile.Files()
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		for _, t := range f.Tables {
			_, carried, err := (&export{}).table(ctx, c, func(_ rowfile.Table, next func() ([]any, error)) error {
				for {
					if row, err := next(); row == nil {
						return err
					}
				}
			}, f.Name, t)
			if err != nil {
				return nil, err
			}
			tables = append(tables, carried)
		}
	}
	return tables, nil
}

// FileDigests reads all rows of files.
func FileDigests(ctx context.Context, dir string) (tables []Table, err error) {
	for _, file := range []string{memoryDB, controlDB} {
		r, err := rowfile.Open(ctx, filepath.Join(dir, file), file, "")
		if err != nil {
			return nil, err
		}
		for _, t := range r.File().Tables {
			d := newDigest(t)
			if err := r.Each(ctx, t, d.add); err != nil {
				return nil, errors.Join(err, r.Close())
			}
			tables = append(tables, d.table(file, t))
		}
		if err := r.Close(); err != nil {
			return nil, err
		}
	}
	return tables, nil
}

// Since says why files of one instant are not brought up to date by what came after, up to another; "" where they are.
func Since(m, now Instant) string {
	_, why := m.since(now)
	return why
}
