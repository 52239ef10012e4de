package mirror

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/base/pgdb"
	"github.com/amber-memory/amber/internal/base/pgerr"
	"github.com/amber-memory/amber/internal/store/postgres"
)

const (
	opNotes       = "read notes into the database"
	insertObjects = `INSERT INTO amber.note_objects (oid, type, raw) SELECT * FROM unnest($1::text[], $2::text[], $3::bytea[]) ON CONFLICT DO NOTHING`
	insertRef     = `INSERT INTO amber.note_refs (name, oid) VALUES ($1, $2)`
	selectObjects = `SELECT oid, raw FROM amber.note_objects ORDER BY oid`
	selectRefs    = `SELECT name, oid FROM amber.note_refs ORDER BY name`
	// Objects of one statement, and their bytes.
	notesObjects = 512
	notesBytes   = 8 << 20
)

// PutNotes puts a repository of notes into the generation, objects and references as they are, reads them back and returns how many
// objects there are. The copy of the notes that makes them found is in the files. The objects have been found to be a whole
// repository. Errors: damaged for an object that is not what its id says; unsupported for another branch than main; those of objects and of the database.
func (b *Building) PutNotes(ctx context.Context, refs gitobj.Refs, objects gitobj.ObjectSource) (n int, err error) {
	if len(refs.Refs) > 0 && refs.Head != gitobj.MainBranch {
		return 0, amber.Errorf(amber.KindUnsupported, opNotes, string(b.agent.ID), "the notes are on %.80q, want %s", refs.Head, gitobj.MainBranch).
			WithHint("check out main in the folder of the notes")
	}
	seen := map[string]bool{}
	var oids, types []string
	var raws [][]byte
	size := 0
	flush := func() error {
		if len(oids) == 0 {
			return nil
		}
		err := b.step(ctx, func(c *pgx.Conn) error {
			_, err := c.Exec(ctx, insertObjects, oids, types, raws)
			return err
		})
		oids, types, raws, size = nil, nil, nil, 0
		return err
	}
	err = objects(func(oid string, raw []byte) error {
		o, err := gitobj.CheckObject(oid, raw)
		if err != nil || seen[oid] {
			return err
		}
		seen[oid] = true
		oids, types, raws = append(oids, oid), append(types, o.Type), append(raws, slices.Clone(raw))
		if size += len(raw); len(oids) < notesObjects && size < notesBytes {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	if err == nil {
		err = b.step(ctx, func(c *pgx.Conn) error {
			for _, ref := range refs.Refs {
				if _, err := c.Exec(ctx, insertRef, ref.Name, ref.OID); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err == nil {
		err = b.compareNotes(ctx, refs, seen)
	}
	return len(seen), pgerr.Wrap(opNotes, string(b.agent.ID), err)
}

// compareNotes reads all objects and references back.
func (b *Building) compareNotes(ctx context.Context, refs gitobj.Refs, want map[string]bool) error {
	return b.agent.Server.DB().View(ctx, postgres.Enter(b.Gen)+"; "+longRead+"; SELECT 1", func(c *pgdb.Conn, _ []string) error {
		left := maps.Clone(want)
		rows, err := c.PG().Query(ctx, selectObjects)
		if err != nil {
			return err
		}
		var oid string
		var raw []byte
		if _, err := pgx.ForEachRow(rows, []any{&oid, &raw}, func() error {
			if !left[oid] {
				return differ(opNotes, "note_objects", fmt.Sprintf("the object %.40q was not put there", oid))
			}
			delete(left, oid)
			_, err := gitobj.CheckObject(oid, raw)
			return err
		}); err != nil {
			return err
		}
		if len(left) > 0 {
			return differ(opNotes, "note_objects", fmt.Sprintf("%d objects are missing", len(left)))
		}
		if rows, err = c.PG().Query(ctx, selectRefs); err != nil {
			return err
		}
		have, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (ref gitobj.Ref, err error) {
			return ref, r.Scan(&ref.Name, &ref.OID)
		})
		if err == nil && !slices.Equal(have, refs.Refs) {
			err = differ(opNotes, "note_refs", "the references are others")
		}
		return err
	})
}
