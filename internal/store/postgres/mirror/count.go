package mirror

import (
	"context"
	"fmt"

	"github.com/amber-memory/amber/internal/base/pgdb"
	"github.com/amber-memory/amber/internal/base/pgerr"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/store/rowfile"
)

// Count returns how many rows an agent has in each table that is carried, and how many bytes they are. The tables are
// without digests.
func Count(ctx context.Context, a Agent) (tables []Table, bytes int64, err error) {
	if err := a.check(); err != nil {
		return nil, 0, err
	}
	gen, _, err := a.Server.Live(ctx, a.Tenant, a.ID)
	if err != nil {
		return nil, 0, err
	}
	files, err := rowfile.Files()
	if err != nil {
		return nil, 0, err
	}
	err = a.Server.DB().View(ctx, postgres.Enter(gen)+"; "+longRead+"; SELECT 1", func(c *pgdb.Conn, _ []string) error {
		for _, f := range files {
			for _, t := range f.Tables {
				x := Table{File: f.Name, Name: t.Name}
				var size int64
				if err := c.PG().QueryRow(ctx, fmt.Sprintf(`SELECT count(*), coalesce(sum(pg_column_size(r)), 0) FROM %s r`, name(f.Name, t))).Scan(&x.Rows, &size); err != nil {
					return err
				}
				tables, bytes = append(tables, x), bytes+size
			}
		}
		return nil
	})
	return tables, bytes, pgerr.Wrap("count rows", string(a.ID), err)
}
