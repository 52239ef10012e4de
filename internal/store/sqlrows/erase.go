package sqlrows

import (
	"fmt"
	"slices"

	"github.com/amber-memory/amber"
)

const (
	SelectErased       = `SELECT device, counter, clock FROM main.erased WHERE id = ?`
	PutErased          = `INSERT OR REPLACE INTO erased (id, device, counter, clock) VALUES (?, ?, ?, ?)`
	DeleteConcepts     = `DELETE FROM concepts WHERE memory_id = ?`
	insertErased       = `INSERT INTO erased (id, device, counter, clock) VALUES (?, ?, ?, ?)`
	DeleteMemory       = `DELETE FROM memories WHERE id = ?` // revisions, embeddings, concepts and relations go with it
	DeleteAnswers      = `DELETE FROM idempotency WHERE memory_id = ?`
	selectKeys         = `SELECT key, expires_at FROM idempotency WHERE memory_id = ? AND operation = 'write'`
	DeleteTurnsWith    = `DELETE FROM turns WHERE id = ?`
	blankChanges       = `UPDATE changes SET old_digest = '', new_digest = '' WHERE scope = 'memory' AND key = ?`
	blankShown         = `UPDATE activity SET detail = '' WHERE kind = 'context' AND name = 'memory ' || ?` // a digest of the text
	blankShownTurn     = `UPDATE activity SET detail = '' WHERE kind = 'context' AND name = 'exchange ' || ?`
	blankTurn          = `UPDATE changes SET old_digest = '', new_digest = '' WHERE scope = 'turn' AND key = ?`
	DeleteLinks        = `DELETE FROM sync_links WHERE record = ? AND scope = ?` // a fingerprint is a digest of the text
	DeleteWaiting      = `DELETE FROM sync_waiting WHERE from_id = ?1 OR to_id = ?1`
	turnsContaining    = `SELECT id FROM turns WHERE instr(content, ?) > 0`
	deleteActivityWith = `DELETE FROM activity WHERE instr(name || char(10) || detail, ?) > 0`
	// A rule makes digests from what was said; no person wrote them.
	digestsContaining = `SELECT id FROM memories WHERE kind = 'session_summary' AND trust = 'derived'
AND instr(title || char(10) || summary || char(10) || content, ?) > 0`
	IsErased       = `SELECT EXISTS (SELECT 1 FROM erased WHERE id = ?)`
	UpsertAnswer   = `INSERT OR REPLACE INTO idempotency (operation, key, digest, memory_id, answer, expires_at) VALUES (?, ?, ?, ?, ?, ?)`
	DeleteRevision = `DELETE FROM revisions WHERE memory_id = ? AND revision = ?`
	HeldVersions   = `SELECT version FROM sync_held WHERE scope = ?1 AND record = ?2 AND place = ?3`
	deleteHeld     = `DELETE FROM sync_held WHERE scope = ? AND record = ?`
	IsRemovedByAny = `SELECT EXISTS (SELECT 1 FROM sync_removed WHERE scope = ? AND record = ?)`
	lastRemoved    = `SELECT coalesce(max(counter), 0) FROM sync_removed WHERE scope = ? AND record = ?`
	deleteRemoved  = `DELETE FROM sync_removed WHERE scope = ? AND record = ?`
)

func ScanOrigin(s scanner) (o amber.Origin, err error) {
	if err = s.Scan(&o.Device, &o.Counter, &o.Clock); err != nil {
		return o, err
	}
	return o, fitOrigin("erased", "", o)
}

// Texts returns every different content the memory ever had.
func (t *Tx) Texts(m amber.Memory) ([]string, error) {
	revisions, err := ReadRows(t, "revisions", ScanRevision, SelectRevisions, m.ID)
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

// EraseTurns removes the turns that quote one of the texts in full.
func (t *Tx) EraseTurns(texts []string) (n int, err error) {
	for _, text := range texts {
		ids, err := All(t, ScanText, turnsContaining, text)
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

func (t *Tx) eraseTurn(id string) error {
	if err := t.DepartTurns(departTurn, id); err != nil {
		return err
	}
	for _, q := range []string{DeleteTurnsWith, blankTurn, blankShownTurn} {
		if err := t.Do(q, id); err != nil {
			return err
		}
	}
	if err := t.Do(DeleteLinks, id, amber.ChangeTurn); err != nil {
		return err
	}
	return t.Log(Change{amber.OpDelete, amber.ChangeTurn, id, "", ""})
}

// EraseDerived removes what was derived from the same words: activity and
// digests of sessions that quote one of the texts in full.
func (t *Tx) EraseDerived(texts []string, report *amber.EraseReport) error {
	var activity, digests int64
	var ids []string
	for _, text := range texts {
		n, err := t.Exec(deleteActivityWith, text)
		if err != nil {
			return err
		}
		activity += n
		found, err := All(t, ScanText, digestsContaining, text)
		if err != nil {
			return err
		}
		ids = append(ids, found...)
	}
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		digest, found, err := t.LoadLoosely(amber.MemoryID(id))
		if err != nil {
			return err
		}
		if found {
			if err := t.EraseOwn(digest); err != nil {
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

// EraseOwn replaces the memory by a tombstone of this agent's own, also where another device
// erased it before. It is later than every erasure that is known.
func (t *Tx) EraseOwn(m amber.Memory) error {
	var removed uint64
	if err := t.Row(lastRemoved, amber.ChangeMemory, m.ID).Scan(&removed); err != nil {
		return err
	}
	m.Origin.Counter = max(m.Origin.Counter, min(removed, MaxCount-1))
	for _, q := range []string{deleteRemoved, deleteHeld} {
		if err := t.Do(q, amber.ChangeMemory, m.ID); err != nil {
			return err
		}
	}
	return t.EraseRow(m)
}

// EraseRow replaces the memory by a tombstone without text.
func (t *Tx) EraseRow(m amber.Memory) error {
	if err := t.eraseAnswers(m.ID); err != nil {
		return err
	}
	for _, q := range []string{DeleteMemory, blankChanges, blankShown} {
		if err := t.Do(q, m.ID); err != nil {
			return err
		}
	}
	if err := t.ForgetSync(m.ID); err != nil {
		return err
	}
	o := t.Origin(m.Origin.Counter + 1)
	if err := t.Do(insertErased, m.ID, o.Device, int64(o.Counter), o.Clock); err != nil {
		return err
	}
	return t.Log(Change{amber.OpDelete, amber.ChangeMemory, string(m.ID), "", ""})
}

// ErasedOperation is the operation of keys whose memory was erased. Their key is
// the digest of the key that was given, which may have been made of the text; they
// have neither the digest of a request nor an answer.
const ErasedOperation = "erased"

func ErasedKey(key string) string { return amber.ContentDigest("amber idempotency key\n" + key) }

// eraseAnswers removes the answers about a memory, and notes that their keys were used, so that a
// retry does not store the memory anew.
func (t *Tx) eraseAnswers(id amber.MemoryID) error {
	type used struct {
		key     string
		expires int64
	}
	keys, err := All(t, func(s scanner) (u used, err error) {
		err = s.Scan(&u.key, &u.expires)
		return u, err
	}, selectKeys, id)
	if err != nil {
		return err
	}
	if err := t.Do(DeleteAnswers, id); err != nil {
		return err
	}
	for _, u := range keys {
		if err := t.Do(UpsertAnswer, ErasedOperation, ErasedKey(u.key), "", id, "{}", u.expires); err != nil {
			return err
		}
	}
	return nil
}

// ForgetSync removes what is kept for sync of a memory that is erased.
func (t *Tx) ForgetSync(id amber.MemoryID) error {
	for _, q := range []string{deleteVersions, DeleteWaiting} {
		if err := t.Do(q, id); err != nil {
			return err
		}
	}
	return t.Do(DeleteLinks, id, amber.ChangeMemory)
}

const (
	deleteEmbeddings = `DELETE FROM embeddings WHERE memory_id = ?`
	// forgetVersion is for a version whose text is erased.
	forgetVersion = `UPDATE versions SET head = 0, stored = 0 WHERE memory_id = ? AND version = ?`
)

// MemoryParts are the versions of a memory, parted by whether a place has a say in
// them.
type MemoryParts struct{ Held, Rest []amber.Memory }

// PartsAt parts the versions of a memory.
func (t *Tx) PartsAt(place string, m amber.Memory) (p MemoryParts, err error) {
	history, err := All(t, ScanRevision, SelectRevisions, m.ID)
	if err != nil {
		return p, err
	}
	names, err := All(t, ScanText, HeldVersions, amber.ChangeMemory, m.ID, place)
	held := map[string]bool{}
	for _, name := range names {
		held[name] = true
	}
	for _, v := range append(history, m) {
		if held[VersionOf(v.Origin)] {
			p.Held = append(p.Held, v)
		} else {
			p.Rest = append(p.Rest, v)
		}
	}
	return p, err
}

// ErasePart removes some versions of a memory. Where the newest is among them, the
// remaining versions become the history of a deleted memory, because nothing says
// that one of them should be shown.
func (t *Tx) ErasePart(m amber.Memory, parts MemoryParts) error {
	for _, q := range []string{DeleteAnswers, blankChanges, blankShown} {
		if err := t.Do(q, m.ID); err != nil {
			return err
		}
	}
	if err := t.Do(DeleteLinks, m.ID, amber.ChangeMemory); err != nil {
		return err
	}
	op := amber.OpUpdate
	for _, v := range parts.Held {
		if v.Origin == m.Origin && v.Revision == m.Revision {
			op = amber.OpDelete
			if err := t.bareRow(m); err != nil {
				return err
			}
			continue
		}
		if err := t.Do(DeleteRevision, v.ID, v.Revision); err != nil {
			return err
		}
		if err := t.Do(forgetVersion, v.ID, VersionOf(v.Origin)); err != nil {
			return err
		}
	}
	return t.Log(Change{op, amber.ChangeMemory, string(m.ID), "", ""})
}

// bareRow leaves of a memory that it was deleted.
func (t *Tx) bareRow(m amber.Memory) error {
	for _, q := range []string{deleteEmbeddings, DeleteConcepts} {
		if err := t.Do(q, m.ID); err != nil {
			return err
		}
	}
	if m.DeletedAt.IsZero() {
		m.DeletedAt = t.Now
	}
	user := m.UserID
	m = Tombstone(m)
	m.UserID, m.Tags = user, []string{}
	args, err := MemoryArgs(m)
	if err != nil {
		return err
	}
	return t.Do(UpdateMemory, args...)
}

// Tombstone is what leaves of a version that deletes.
func Tombstone(m amber.Memory) amber.Memory {
	m.UserID = ""
	return amber.Memory{
		ID: m.ID, Kind: m.Kind, Scope: m.Scope, Identities: m.Identities, Trust: m.Trust, Origin: m.Origin,
		Revision: m.Revision, CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt, DeletedAt: m.DeletedAt,
	}
}
