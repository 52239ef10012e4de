package sqlcore

import (
	"context"
	"fmt"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

const (
	isKeyErased = `SELECT EXISTS (SELECT 1 FROM idempotency WHERE operation = ? AND key = ? AND expires_at > ?)`
)

// erasedParts are counted before they go, in the order the report names them.
var erasedParts = []struct{ name, count string }{
	{"embeddings", `SELECT count(*) FROM embeddings WHERE memory_id = ?`},
	{"concepts", `SELECT count(*) FROM concepts WHERE memory_id = ?`},
	{"relations", `SELECT count(*) FROM relations WHERE from_id = ?1 OR to_id = ?1`},
	{"idempotency answers", `SELECT count(*) FROM idempotency WHERE memory_id = ?`},
}

// copies are places inside the store that may quote a memory and that erasing
// it does not touch; they are named instead.
var copies = []struct{ name, find string }{
	{"memory", `SELECT id FROM memories WHERE instr(title || char(10) || summary || char(10) || content, ?) > 0`},
	{"history of memory", `SELECT memory_id FROM revisions WHERE instr(json_extract(body, '$.title') || char(10) || json_extract(body, '$.summary') || char(10) || json_extract(body, '$.content'), ?) > 0`},
	{"summary of session", `SELECT id FROM sessions WHERE instr(summary, ?) > 0`},
	{"state of session", `SELECT session_id FROM session_states WHERE instr(document, ?) > 0`},
	{"suspended loop of session", `SELECT session_id FROM loops WHERE instr(state, ?) > 0`},
	{"compaction summary of session", `SELECT session_id FROM compactions WHERE instr(summary, ?) > 0`},
}

// selectPlaces finds the folders that may have been given a memory.
const selectPlaces = `SELECT DISTINCT place FROM sync_places WHERE chunk <> '' ORDER BY place`

var _ amber.Eraser = (*Contracts)(nil)

// Erase implements [amber.Eraser]. The transaction scrubs what it frees, as far as
// the engine can; the report names what is left to the engine.
func (s *Contracts) Erase(ctx context.Context, id amber.MemoryID) (amber.EraseReport, error) {
	report := amber.EraseReport{ID: id, Removed: []string{}, Remaining: []string{}}
	// No caller may write anything after the scrub, so the erasure shares its transaction with
	// none.
	err := s.memory.UpdateAlone(ctx, "erase memory", string(id), func(t *Tx) error { return t.erase(id, &report) })
	if err != nil {
		return report, err
	}
	remaining, err := s.memory.Forget(ctx)
	report.Remaining = append(report.Remaining, remaining...)
	return report, err
}

func (t *Tx) erase(id amber.MemoryID, report *amber.EraseReport) error {
	m, found, err := t.LoadLoosely(id)
	if err != nil {
		return err
	}
	if !found {
		var erased bool
		if err := t.Row(sqlrows.IsErased, id).Scan(&erased); err != nil {
			return err
		}
		if !erased {
			return sqlrows.NotFound("erase memory", string(id))
		}
		return nil
	}
	texts, err := t.Texts(m)
	if err != nil {
		return err
	}
	report.Removed = append(report.Removed, fmt.Sprintf("%d revisions", m.Revision))
	for _, p := range erasedParts {
		var n int64
		if err := t.Row(p.count, id).Scan(&n); err != nil {
			return err
		}
		if n > 0 {
			report.Removed = append(report.Removed, fmt.Sprintf("%d %s", n, p.name))
		}
	}
	turns, err := t.EraseTurns(texts)
	if err != nil {
		return err
	}
	if turns > 0 {
		report.Removed = append(report.Removed, fmt.Sprintf("%d turns", turns))
	}
	if err := t.EraseOwn(m); err != nil {
		return err
	}
	if err := t.EraseDerived(texts, report); err != nil {
		return err
	}
	if err := t.Scrub(); err != nil {
		return err
	}
	report.Remaining, err = t.copiesOf(texts)
	if err != nil || m.Scope == amber.ScopeUser {
		return err
	}
	places, err := sqlrows.All(t.Tx, sqlrows.ScanText, selectPlaces)
	for _, p := range places {
		report.Remaining = append(report.Remaining, "chunks in "+p+", until the erasure is exported there and the folder compacted; and in the history of git")
	}
	return err
}

// keyErased returns the conflict that a write is told whose key stored a memory
// that was erased since.
func (t *Tx) keyErased(key string) error {
	var erased bool
	if err := t.Row(isKeyErased, sqlrows.ErasedOperation, sqlrows.ErasedKey(key), t.Now.UnixMilli()).Scan(&erased); err != nil || !erased {
		return err
	}
	return &amber.Error{Op: "write memory", Kind: amber.KindConflict, ID: key, Err: amber.ErrKeyErased}
}

// copiesOf names the places that still quote one of the texts in full.
func (t *Tx) copiesOf(texts []string) ([]string, error) {
	names := []string{}
	for _, c := range copies {
		for _, text := range texts {
			ids, err := sqlrows.All(t.Tx, sqlrows.ScanText, c.find, text)
			if err != nil {
				return names, err
			}
			for _, id := range ids {
				names = append(names, c.name+" "+id)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
