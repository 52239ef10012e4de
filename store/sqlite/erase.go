package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/sqlconn"
)

const (
	insertErased    = `INSERT INTO erased (id, device, counter, clock) VALUES (?, ?, ?, ?)`
	deleteMemory    = `DELETE FROM memories WHERE id = ?` // revisions, embeddings, concepts and relations go with it
	deleteAnswers   = `DELETE FROM idempotency WHERE memory_id = ?`
	selectKeys      = `SELECT key, expires_at FROM idempotency WHERE memory_id = ? AND operation = 'write'`
	isKeyErased     = `SELECT EXISTS (SELECT 1 FROM idempotency WHERE operation = ? AND key = ? AND expires_at > ?)`
	deleteTurnsWith = `DELETE FROM turns WHERE id = ?`
	blankChanges    = `UPDATE changes SET old_digest = '', new_digest = '' WHERE scope = 'memory' AND key = ?`
	blankTurn       = `UPDATE changes SET old_digest = '', new_digest = '' WHERE scope = 'turn' AND key = ?`
	deleteLinks     = `DELETE FROM sync_links WHERE record = ? AND scope = ?` // a fingerprint is a digest of the text
	deleteWaiting   = `DELETE FROM sync_waiting WHERE from_id = ?1 OR to_id = ?1`
	turnsContaining = `SELECT id FROM turns WHERE instr(content, ?) > 0`

	deleteActivityWith = `DELETE FROM activity WHERE instr(name || char(10) || detail, ?) > 0`
	// Digests are made by rule of what was said; nobody wrote them.
	digestsContaining = `SELECT id FROM memories WHERE kind = 'session_summary' AND trust = 'derived'
AND instr(title || char(10) || summary || char(10) || content, ?) > 0`
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

var _ amber.Eraser = (*Store)(nil)

// Erase implements [amber.Eraser]. Secure delete overwrites what the
// transaction frees, and scrub what it passes over; emptying the write-ahead
// log afterwards removes the copies it holds.
func (s *Store) Erase(ctx context.Context, id amber.MemoryID) (amber.EraseReport, error) {
	report := amber.EraseReport{ID: id, Removed: []string{}, Remaining: []string{}}
	err := s.memory.update(ctx, "erase memory", string(id), func(t *tx) error { return t.erase(id, &report) })
	if err != nil {
		return report, err
	}
	emptied, err := s.emptyLog(ctx)
	if err != nil {
		return report, err
	}
	if !emptied {
		report.Remaining = append(report.Remaining, "write-ahead log, until its readers are done")
	}
	return report, nil
}

func (t *tx) erase(id amber.MemoryID, report *amber.EraseReport) error {
	m, found, err := t.loadLoosely(id)
	if err != nil {
		return err
	}
	if !found {
		var erased bool
		if err := t.row(isErased, id).Scan(&erased); err != nil {
			return err
		}
		if !erased {
			return notFound("erase memory", string(id))
		}
		return nil
	}
	texts, err := t.texts(m)
	if err != nil {
		return err
	}
	report.Removed = append(report.Removed, fmt.Sprintf("%d revisions", m.Revision))
	for _, p := range erasedParts {
		var n int64
		if err := t.row(p.count, id).Scan(&n); err != nil {
			return err
		}
		if n > 0 {
			report.Removed = append(report.Removed, fmt.Sprintf("%d %s", n, p.name))
		}
	}
	turns, err := t.eraseTurns(texts)
	if err != nil {
		return err
	}
	if turns > 0 {
		report.Removed = append(report.Removed, fmt.Sprintf("%d turns", turns))
	}
	if err := t.eraseOwn(m); err != nil {
		return err
	}
	if err := t.eraseDerived(texts, report); err != nil {
		return err
	}
	if err := t.scrub(); err != nil {
		return err
	}
	report.Remaining, err = t.copiesOf(texts)
	if err != nil || m.Scope == amber.ScopeUser {
		return err
	}
	places, err := all(t, scanText, selectPlaces)
	for _, p := range places {
		report.Remaining = append(report.Remaining, "chunks in "+p+", until the erasure is exported there and the folder compacted; and in the history of git")
	}
	return err
}

// texts returns every different content the memory ever had.
func (t *tx) texts(m amber.Memory) ([]string, error) {
	revisions, err := readRows(t, "revisions", scanRevision, selectRevisions, m.ID)
	if err != nil {
		return nil, err
	}
	var texts []string
	seen := map[string]bool{"": true} // of a tombstone that came from elsewhere; everything contains it
	for _, r := range append(revisions, m) {
		if !seen[r.Content] {
			seen[r.Content] = true
			texts = append(texts, r.Content)
		}
	}
	return texts, nil
}

// eraseTurns removes the turns that quote one of the texts in full.
func (t *tx) eraseTurns(texts []string) (n int, err error) {
	for _, text := range texts {
		ids, err := all(t, scanText, turnsContaining, text)
		if err != nil {
			return n, err
		}
		for _, id := range ids {
			if err := t.eraseTurn(id); err != nil {
				return n, err
			}
			n++
		}
	}
	return n, nil
}

func (t *tx) eraseTurn(id string) error {
	if err := t.departTurns(departTurn, id); err != nil {
		return err
	}
	for _, q := range []string{deleteTurnsWith, blankTurn} {
		if _, err := t.exec(q, id); err != nil {
			return err
		}
	}
	if _, err := t.exec(deleteLinks, id, amber.ChangeTurn); err != nil {
		return err
	}
	return t.log(change{amber.OpDelete, amber.ChangeTurn, id, "", ""})
}

// eraseDerived removes what was derived from the same words: activity and
// digests of sessions that quote one of the texts in full.
func (t *tx) eraseDerived(texts []string, report *amber.EraseReport) error {
	var activity, digests int64
	var ids []string
	for _, text := range texts {
		n, err := t.exec(deleteActivityWith, text)
		if err != nil {
			return err
		}
		activity += n
		found, err := all(t, scanText, digestsContaining, text)
		if err != nil {
			return err
		}
		ids = append(ids, found...)
	}
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		digest, found, err := t.loadLoosely(amber.MemoryID(id))
		if err != nil {
			return err
		}
		if found {
			if err := t.eraseOwn(digest); err != nil {
				return err
			}
			digests++
		}
	}
	for _, part := range []struct {
		n    int64
		name string
	}{{activity, "activities"}, {digests, "session digests"}} {
		if part.n > 0 {
			report.Removed = append(report.Removed, fmt.Sprintf("%d %s", part.n, part.name))
		}
	}
	return nil
}

// eraseOwn replaces the memory by a tombstone of this agent's own, whoever else
// erased it before.
func (t *tx) eraseOwn(m amber.Memory) error {
	for _, q := range []string{deleteRemoved, deleteHeld} {
		if _, err := t.exec(q, amber.ChangeMemory, m.ID); err != nil {
			return err
		}
	}
	return t.eraseRow(m)
}

// eraseRow replaces the memory by a tombstone without text.
func (t *tx) eraseRow(m amber.Memory) error {
	if err := t.eraseAnswers(m.ID); err != nil {
		return err
	}
	for _, q := range []string{deleteMemory, blankChanges} {
		if _, err := t.exec(q, m.ID); err != nil {
			return err
		}
	}
	if err := t.forgetSync(m.ID); err != nil {
		return err
	}
	o := t.origin(m.Origin.Counter + 1)
	if _, err := t.exec(insertErased, m.ID, o.Device, int64(o.Counter), o.Clock); err != nil {
		return err
	}
	return t.log(change{amber.OpDelete, amber.ChangeMemory, string(m.ID), "", ""})
}

// erasedOperation is the operation of keys whose memory was erased. Their key is
// the digest of the key that was given, which may have been made of the text; they
// have neither the digest of a request nor an answer.
const erasedOperation = "erased"

func erasedKey(key string) string { return amber.ContentDigest("amber idempotency key\n" + key) }

// eraseAnswers removes the answers that tell of a memory, and notes that their
// keys were used, so that a retry does not store the memory anew.
func (t *tx) eraseAnswers(id amber.MemoryID) error {
	type used struct {
		key     string
		expires int64
	}
	keys, err := all(t, func(s scanner) (u used, err error) {
		err = s.Scan(&u.key, &u.expires)
		return u, err
	}, selectKeys, id)
	if err != nil {
		return err
	}
	if _, err := t.exec(deleteAnswers, id); err != nil {
		return err
	}
	for _, u := range keys {
		if _, err := t.exec(upsertAnswer, erasedOperation, erasedKey(u.key), "", id, "{}", u.expires); err != nil {
			return err
		}
	}
	return nil
}

// keyErased returns the conflict that a write is told whose key stored a memory
// that was erased since.
func (t *tx) keyErased(key string) error {
	var erased bool
	if err := t.row(isKeyErased, erasedOperation, erasedKey(key), t.now.UnixMilli()).Scan(&erased); err != nil || !erased {
		return err
	}
	return &amber.Error{Op: "write memory", Kind: amber.KindConflict, ID: key, Err: amber.ErrKeyErased}
}

// forgetSync removes what is kept for sync of a memory that is erased.
func (t *tx) forgetSync(id amber.MemoryID) error {
	for _, q := range []string{deleteVersions, deleteWaiting} {
		if _, err := t.exec(q, id); err != nil {
			return err
		}
	}
	_, err := t.exec(deleteLinks, id, amber.ChangeMemory)
	return err
}

// copiesOf names the places that still quote one of the texts in full.
func (t *tx) copiesOf(texts []string) ([]string, error) {
	names := []string{}
	for _, c := range copies {
		for _, text := range texts {
			ids, err := all(t, scanText, c.find, text)
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

// emptyLog copies the write-ahead log into the database and cuts it to zero.
// A reader on an old view, in this process or another, holds it up for as
// long as it reads; emptyLog tries for about a second, lets writers in between
// and reports whether the log is empty in the end.
func (s *Store) emptyLog(ctx context.Context) (emptied bool, err error) {
	for wait := 10 * time.Millisecond; ; wait *= 2 {
		err = s.memory.direct(ctx, func(c *sqlconn.Conn) (err error) {
			emptied, err = emptyLog(ctx, c, s.o.BusyTimeout)
			return err
		})
		if err != nil || emptied || wait > time.Second {
			return emptied, sqlconn.Wrap("empty the write-ahead log", s.memory.schema.file, err)
		}
		select {
		case <-ctx.Done():
			return false, sqlconn.Wrap("empty the write-ahead log", s.memory.schema.file, ctx.Err())
		case <-time.After(wait):
		}
	}
}

// emptyLog tries once and does not wait for readers: nobody could write
// meanwhile.
func emptyLog(ctx context.Context, c *sqlconn.Conn, busyTimeout time.Duration) (emptied bool, err error) {
	if _, err := c.SQL.ExecContext(ctx, "PRAGMA busy_timeout=0"); err != nil {
		return false, err
	}
	defer func() {
		restore := fmt.Sprintf("PRAGMA busy_timeout=%d", busyTimeout.Milliseconds())
		_, rerr := c.SQL.ExecContext(context.WithoutCancel(ctx), restore)
		err = errors.Join(err, rerr)
	}()
	var busy, frames, done int
	err = c.SQL.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &done)
	return err == nil && busy == 0, err
}
