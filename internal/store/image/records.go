package image

import (
	"context"
	"errors"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/sqlconn"
	"github.com/amber-memory/amber/internal/store/sqlfile"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

const (
	// eachMemory reads in the order of creation, concepts as one text.
	eachMemory = `SELECT (SELECT coalesce(group_concat(concept, char(10) ORDER BY concept), '') FROM concepts c WHERE c.memory_id = m.id), ` + sqlrows.MemoryColumns + `
FROM memories m WHERE deleted_at IS NULL ORDER BY m.rowid`
	eachRelation = `SELECT ` + sqlrows.RelationColumns + ` FROM relations r WHERE deleted_at IS NULL
AND NOT EXISTS (SELECT 1 FROM memories m WHERE m.id IN (r.from_id, r.to_id) AND m.deleted_at IS NOT NULL) ORDER BY r.created_at, r.id`
	eachTurn       = `SELECT seq, ` + sqlrows.TurnColumns + ` FROM turns WHERE trust <> 'imported' ORDER BY seq`
	eachSession    = `SELECT ` + sqlrows.SessionColumns + ` FROM sessions ORDER BY created_at, id`
	eachCompaction = `SELECT seq, ` + sqlrows.CompactionColumns + ` FROM compactions ORDER BY seq`
	eachModel      = `SELECT model, dimension, count(*) FROM embeddings e JOIN memories m ON m.id = e.memory_id
WHERE m.deleted_at IS NULL GROUP BY 1, 2`
	eachEmbedding = `SELECT e.memory_id, e.model, e.dimension, e.vector FROM embeddings e JOIN memories m ON m.id = e.memory_id
WHERE m.deleted_at IS NULL ORDER BY m.rowid, e.model`
)

// Records reads the records of a memory.db that is not written meanwhile, of
// whichever schema. Each method calls fn for every record, with ok false for
// one that cannot be read; deleted records are left out.
type Records struct {
	t       *sqlrows.Tx
	opened  *sqlconn.Untrusted
	version int64 // of the schema
}

// OpenRecords opens a memory.db. Errors: those of [Examine]; invalid for a
// control.db.
func OpenRecords(ctx context.Context, path string) (*Records, error) {
	h, err := ReadFile(path)
	if err == nil && h.Schema.File != sqlfile.MemorySchema.File {
		err = amber.Errorf(amber.KindInvalid, "read records", path, "the file is a %s, want a %s", h.Schema.File, sqlfile.MemorySchema.File)
	}
	if err != nil {
		return nil, AboutFile(path, err)
	}
	u, err := sqlconn.OpenUntrusted(ctx, sqlconn.UntrustedURI(path, nil))
	if err != nil {
		return nil, sqlconn.Wrap("read records", path, err)
	}
	if err := h.checkShape(ctx, u); err != nil {
		return nil, errors.Join(AboutFile(path, err), u.Close())
	}
	return &Records{t: h.reader(ctx, u), opened: u, version: h.Version}, nil
}

// Close closes the file.
func (r *Records) Close() error { return r.opened.Close() }

// Memories reads in the order of creation.
func (r *Records) Memories(fn func(m amber.Memory, concepts []string, ok bool) error) error {
	return r.t.Each(eachMemory, nil, func(s scanner) error {
		var concepts string
		m, err := sqlrows.ScanMemory(sqlrows.FirstColumn{Row: s, Into: &concepts})
		return given(err, func(ok bool) error { return fn(m, sqlrows.SplitLines(concepts), ok) })
	})
}

// Relations reads those between live memories.
func (r *Records) Relations(fn func(r amber.Relation, ok bool) error) error {
	return r.t.Each(eachRelation, nil, func(s scanner) error {
		rel, err := sqlrows.ScanRelation(s)
		return given(err, func(ok bool) error { return fn(rel, ok) })
	})
}

// Turns reads turns in the order in which they were spoken. It leaves out
// imported turns, which other people said.
func (r *Records) Turns(fn func(seq int64, t amber.Turn, ok bool) error) error {
	return r.t.Each(r.trusting(eachTurn), nil, func(s scanner) error {
		var seq int64
		turn, err := sqlrows.ScanTurn(sqlrows.FirstColumn{Row: s, Into: &seq})
		return given(err, func(ok bool) error { return fn(seq, turn, ok) })
	})
}

// Sessions reads in the order of creation.
func (r *Records) Sessions(fn func(s amber.Session, ok bool) error) error {
	return r.t.Each(r.trusting(eachSession), nil, func(s scanner) error {
		session, err := sqlrows.ScanSession(s)
		return given(err, func(ok bool) error { return fn(session, ok) })
	})
}

// Compactions reads in the order of creation.
func (r *Records) Compactions(fn func(seq int64, c amber.Compaction, ok bool) error) error {
	return r.t.Each(eachCompaction, nil, func(s scanner) error {
		var seq int64
		c, err := sqlrows.ScanCompaction(sqlrows.FirstColumn{Row: s, Into: &seq})
		return given(err, func(ok bool) error { return fn(seq, c, ok) })
	})
}

// Embeddings reads the vectors of live memories.
func (r *Records) Embeddings(fn func(e amber.Embedding, ok bool) error) error {
	return r.t.Each(eachEmbedding, nil, func(s scanner) error {
		e, err := sqlrows.ScanEmbedding(s)
		return given(err, func(ok bool) error { return fn(e, ok) })
	})
}

// Models counts the vectors of each model and dimension.
func (r *Records) Models(fn func(model string, dimension int, vectors int64) error) error {
	return r.t.Each(eachModel, nil, func(s scanner) error {
		var model string
		var dimension int
		var n int64
		if err := s.Scan(&model, &dimension, &n); err != nil {
			return err
		}
		return fn(model, dimension, n)
	})
}

// Rest counts what the other methods do not show.
func (r *Records) Rest(fn func(what string, n int64) error) error {
	for _, c := range []struct {
		since       int64 // the first schema that has it
		what, query string
	}{
		{1, "deleted memories", `SELECT count(*) FROM memories WHERE deleted_at IS NOT NULL`},
		{1, "earlier revisions", `SELECT count(*) FROM revisions r JOIN memories m ON m.id = r.memory_id WHERE m.deleted_at IS NULL`},
		{1, "names of erased memories", `SELECT count(*) FROM erased`},
		{1, "deleted relations", `SELECT count(*) FROM relations WHERE deleted_at IS NOT NULL`},
		{1, "marks of active sessions", `SELECT count(*) FROM active_sessions`},
		{1, "states of sessions", `SELECT count(*) FROM session_states`},
		{1, "loops", `SELECT count(*) FROM loops`},
		{2, "activities", `SELECT count(*) FROM activity`},
		{2, "cursors of the journal", `SELECT count(*) FROM journal_cursors`},
		{3, "prompts of others", `SELECT count(*) FROM turns WHERE trust = 'imported'`},
	} {
		if r.version < c.since {
			continue
		}
		var n int64
		if err := r.t.Row(c.query).Scan(&n); err != nil {
			return err
		}
		if err := fn(c.what, n); err != nil {
			return err
		}
	}
	return nil
}

// trusting returns a query for a file that may not know the column trust:
// everything in it is its owner's.
func (r *Records) trusting(query string) string {
	if r.version >= 3 {
		return query
	}
	return strings.Replace(strings.Replace(query, ", trust FROM", ", 'own' FROM", 1), "WHERE trust <> 'imported' ", "", 1)
}

// given calls fn with whether a row can be read, unless err is about more than
// the row.
func given(err error, fn func(ok bool) error) error {
	if _, bad := sqlrows.AsBadRow(err); err != nil && !bad {
		return err
	}
	return fn(err == nil)
}
