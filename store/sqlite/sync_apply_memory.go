package sqlite

import (
	"slices"
	"strings"

	"github.com/amber-memory/amber"
)

const (
	// makeRoom leaves the text alone, and so the full-text indexes.
	makeRoom   = `UPDATE memories SET revision = revision + 1 WHERE id = ?`
	raiseTrust = `UPDATE memories SET trust = ? WHERE id = ?`
	isHead     = `SELECT head FROM versions WHERE memory_id = ? AND version = ?`
)

// maxRevision bounds the number that somebody else gives a version, so that
// there is always a next one.
const maxRevision = 1 << 53

// applyMemory stores one version of a memory.
func (n *intent) applyMemory(in amber.SyncMemory) error {
	in.Trust = n.trust(in.Memory)
	in.Revision = min(max(in.Revision, 1), maxRevision)
	in.DuplicateCount = 0
	now, found, err := n.load(in.ID)
	if err != nil {
		return err
	}
	if !found {
		return n.firstVersion(in)
	}
	if passed, err := n.passesOver(now, in.Memory); err != nil || passed {
		return err
	}
	if err := mayFollow(string(in.ID), in.Origin, now.Origin.Counter); err != nil {
		return err
	}
	if n.waiting {
		n.arrived = append(n.arrived, in.ID)
	}
	switch {
	case in.Origin == now.Origin:
		return n.sameVersion(now, in.Memory)
	case in.Origin.After(now.Origin):
		return n.laterVersion(now, in)
	}
	known, err := n.knowsVersion(in.ID, in.Origin)
	if err != nil || known {
		return err
	}
	return n.earlierVersion(now, in)
}

// passesOver reports whether a version has no say about the memory that is
// there: the memory is somebody's own, or never was where the version comes
// from.
func (n *intent) passesOver(now, in amber.Memory) (bool, error) {
	switch {
	case now.Scope == amber.ScopeUser:
		return in.Scope != amber.ScopeUser, nil
	case in.DeletedAt.IsZero():
		return false, nil
	}
	return n.spares(now.Trust, now.ProjectID)
}

// trust is what a version is trusted with here. What its author calls signed
// was signed by somebody else, unless the author has changed it since. What this
// device made is here, or it did not make it: from here it would go on as own.
// That a rule found it, and not a person, is a claim like any other: it counts
// where its author has signed it.
func (n *intent) trust(m amber.Memory) amber.Trust {
	switch {
	case m.Origin.Device == n.current.Device && !n.chunk.Own,
		m.Trust == amber.TrustDerived && (n.chunk.Trust != amber.TrustSigned || m.Origin.Device != n.chunk.Device):
		return amber.TrustImported
	case m.Trust == amber.TrustOwn, m.Trust == amber.TrustSigned && m.Origin.Device == n.chunk.Device:
		return n.chunk.Trust
	case m.Trust == amber.TrustSigned:
		return amber.TrustImported
	}
	return m.Trust
}

// firstVersion stores a version of a memory that is not there, unless it was
// erased.
func (n *intent) firstVersion(in amber.SyncMemory) error {
	var erased bool
	if err := n.row(isErased, in.ID).Scan(&erased); err != nil {
		return err
	}
	if erased {
		n.dropped[amber.SyncRef{Scope: amber.ChangeMemory, ID: string(in.ID)}] = true
		return nil
	}
	if err := mayFollow(string(in.ID), in.Origin, 0); err != nil {
		return err
	}
	args, err := memoryArgs(in.Memory)
	if err != nil {
		return err
	}
	if _, err := n.exec(insertMemory, args...); err != nil {
		return err
	}
	n.indexed = true
	if len(in.Saw) > 0 {
		if err := n.noteVersion(in.ID, in.Origin, in.Saw); err != nil {
			return err
		}
	}
	if n.waiting {
		n.arrived = append(n.arrived, in.ID)
	}
	n.result.Memories++
	op := amber.OpInsert
	if !in.DeletedAt.IsZero() {
		op = amber.OpDelete
	}
	return n.log(change{op, amber.ChangeMemory, string(in.ID), "", in.ContentDigest})
}

// laterVersion makes a version the newest: the one before goes to the history.
func (n *intent) laterVersion(now amber.Memory, in amber.SyncMemory) error {
	body, err := marshal(now)
	if err != nil {
		return err
	}
	if _, err := n.exec(insertRevision, now.ID, now.Revision, body); err != nil {
		return err
	}
	in.Revision = max(in.Revision, now.Revision+1)
	in.DuplicateCount = now.DuplicateCount
	if err := n.replace(now, in.Memory); err != nil {
		return err
	}
	return n.noteIncoming(now, in)
}

// earlierVersion puts a version into the history, behind those that are there
// and before the newest, which becomes one revision more.
func (n *intent) earlierVersion(now amber.Memory, in amber.SyncMemory) error {
	in.Revision = now.Revision
	body, err := marshal(in.Memory)
	if err != nil {
		return err
	}
	if _, err := n.exec(insertRevision, now.ID, now.Revision, body); err != nil {
		return err
	}
	if _, err := n.exec(makeRoom, now.ID); err != nil {
		return err
	}
	if err := n.noteIncoming(now, in); err != nil {
		return err
	}
	return n.logBeside(now.ID, now.ContentDigest)
}

// noteIncoming notes a version that has come beside now, and whether the two
// are in conflict: it is one head more, and says something else.
func (n *intent) noteIncoming(now amber.Memory, in amber.SyncMemory) error {
	n.result.Memories++
	if _, err := n.exec(keepVersion, now.ID, versionOf(now.Origin)); err != nil {
		return err
	}
	grows, err := n.addsHead(in)
	if err != nil {
		return err
	}
	if grows && !saysAlike(now, in.Memory) {
		n.result.Conflicts++
	}
	return n.noteVersion(in.ID, in.Origin, in.Saw)
}

// addsHead reports whether a version that is not here yet will be a head
// beside all that are heads now: nobody has seen it, and it has seen none of
// them.
func (n *intent) addsHead(in amber.SyncMemory) (bool, error) {
	_, seen, err := n.isHead(in.ID, in.Origin)
	if err != nil || seen {
		return false, err
	}
	for _, o := range in.Saw {
		if head, _, err := n.isHead(in.ID, o); err != nil || head {
			return false, err
		}
	}
	return true, nil
}

func (n *intent) isHead(id amber.MemoryID, o amber.Origin) (head, known bool, err error) {
	err = n.row(isHead, id, versionOf(o)).Scan(&head)
	if absent(err) {
		return false, false, nil
	}
	return head, err == nil, err
}

// saysAlike reports whether two versions need nobody to choose between them.
func saysAlike(a, b amber.Memory) bool {
	if !a.DeletedAt.IsZero() || !b.DeletedAt.IsZero() {
		return !a.DeletedAt.IsZero() && !b.DeletedAt.IsZero()
	}
	return a.Title == b.Title && a.Content == b.Content
}

// sameVersion is for a version that is the newest here already. Somebody whose
// word counts more may vouch for it. Two texts of one version are a forgery, or
// the fault of a tool: everybody must choose alike.
func (n *intent) sameVersion(now, in amber.Memory) error {
	in.DuplicateCount = now.DuplicateCount
	vouched := now.Trust == amber.TrustImported && in.Trust != amber.TrustImported
	mine, theirs, err := tieKeys(now, in)
	switch {
	case err != nil:
		return err
	case mine == theirs:
		if !vouched {
			return nil
		}
		if _, err := n.exec(raiseTrust, in.Trust, in.ID); err != nil {
			return err
		}
		return n.logBeside(in.ID, now.ContentDigest)
	case now.Origin.Device == n.current.Device,
		now.Trust != amber.TrustImported && in.Trust == amber.TrustImported,
		!vouched && mine > theirs:
		return nil
	}
	// What it said before is kept: two texts under one origin are a forgery, or
	// a fault, and a person may want to know.
	body, err := marshal(now)
	if err != nil {
		return err
	}
	if _, err := n.exec(insertRevision, now.ID, now.Revision, body); err != nil {
		return err
	}
	in.Revision = now.Revision + 1
	n.result.Memories++
	return n.replace(now, in)
}

// tieKeys returns what two texts of one version are compared by: the digest of
// the content, then everything else that a person wrote.
func tieKeys(a, b amber.Memory) (mine, theirs string, err error) {
	keys := [2]string{}
	for i, m := range [2]amber.Memory{a, b} {
		if !m.DeletedAt.IsZero() {
			m = tombstone(m)
		}
		rest, err := marshal([]any{
			m.DeletedAt.IsZero(), m.Title, m.Summary, m.Topic, m.Kind, m.Scope, m.Identities,
			strings.Join(m.Tags, "\n"), orEmpty(m.Metadata), slices.Concat([]amber.SourceRef{}, m.SourceRefs), orEmpty(m.Foreign),
		})
		if err != nil {
			return "", "", err
		}
		keys[i] = m.ContentDigest + "\x00" + rest
	}
	return keys[0], keys[1], nil
}

// replace stores a version over the newest one and logs it.
func (n *intent) replace(now, next amber.Memory) error {
	args, err := memoryArgs(next)
	if err != nil {
		return err
	}
	if _, err := n.exec(updateMemory, args...); err != nil {
		return err
	}
	n.indexed = true
	op := amber.OpUpdate
	if !next.DeletedAt.IsZero() {
		op = amber.OpDelete
	}
	return n.log(change{op, amber.ChangeMemory, string(next.ID), now.ContentDigest, next.ContentDigest})
}
