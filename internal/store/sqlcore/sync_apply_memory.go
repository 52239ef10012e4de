package sqlcore

import (
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

const (
	// makeRoom leaves the text alone, and so the full-text indexes.
	makeRoom   = `UPDATE memories SET revision = revision + 1 WHERE id = ?`
	raiseTrust = `UPDATE memories SET trust = ? WHERE id = ?`
	isHead     = `SELECT head FROM versions WHERE memory_id = ? AND version = ?`

	deleteErased = `DELETE FROM erased WHERE id = ?`
)

// maxRevision bounds the revision number that another device gives a version, so that there is
// always a next one.
const maxRevision = 1 << 53

// applyMemory stores one version of a memory. If the memory was erased at the place, no version
// comes from there any more.
func (n *intent) applyMemory(in amber.SyncMemory) error {
	in.Trust = n.trust(in.Trust, in.Origin)
	in.Revision = min(max(in.Revision, 1), maxRevision)
	in.DuplicateCount = 0
	now, found, err := n.Load(in.ID)
	if err != nil {
		return err
	}
	here, at, err := n.removedBy(n.chunk.Place, memoryRef(in.ID))
	switch {
	case err != nil:
		return err
	case at:
		n.drop(in.ID)
		return n.eraseBrought(now, found, in.Origin)
	case !found:
		return n.firstVersion(in, here)
	}
	if err := n.keepReach(now, &in.Memory); err != nil {
		return err
	}
	if err := n.mayFollowMemory(now, in.Origin); err != nil {
		return err
	}
	if n.waiting {
		n.arrived = append(n.arrived, in.ID)
	}
	if in.Origin == now.Origin {
		return n.sameVersion(now, in.Memory)
	}
	known, err := n.KnowsVersion(in.ID, in.Origin)
	switch {
	case err != nil:
		return err
	case known:
		return n.knownVersion(now, in.Origin)
	}
	return n.newVersion(now, in)
}

// drop leaves out the links of a memory that was erased.
func (n *intent) drop(id amber.MemoryID) { n.dropped[memoryRef(id)] = true }

// newVersion stores a version that is not here yet beside those that are. It is
// the newest where it is later, and the place has a say in the one that is.
func (n *intent) newVersion(now amber.Memory, in amber.SyncMemory) error {
	say, err := n.holds(memoryMark(now))
	if err != nil {
		return err
	}
	if !say { // what it has to say is asked for again when it has a say
		if err := n.spare(memoryRef(in.ID)); err != nil {
			return err
		}
		if !in.DeletedAt.IsZero() {
			return n.settleThere(in)
		}
	}
	if err := n.arrives(n.chunk.Place, memoryMark(in.Memory)); err != nil {
		return err
	}
	if say && in.Origin.After(now.Origin) {
		return n.laterVersion(now, in)
	}
	return n.earlierVersion(now, in, !say)
}

// settleThere is for a deletion at a place that has no say in the newest version:
// what it deleted there is no conflict any more, and nothing else happens.
func (n *intent) settleThere(in amber.SyncMemory) error {
	for _, o := range in.Saw {
		held, err := n.holds(amber.SyncMark{Ref: memoryRef(in.ID), Origin: o})
		if err != nil {
			return err
		}
		if !held {
			continue
		}
		if err := n.Do(sqlrows.SeeVersion, in.ID, sqlrows.VersionOf(o)); err != nil {
			return err
		}
	}
	return nil
}

// knownVersion is for a version that is in the history. It may be what the place
// had to say before it had a say.
func (n *intent) knownVersion(now amber.Memory, o amber.Origin) error {
	history, err := sqlrows.All(n.Tx.Tx, sqlrows.ScanRevision, sqlrows.SelectRevisions, now.ID)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(history, func(v amber.Memory) bool { return v.Origin == o })
	if at < 0 {
		return nil
	}
	if !n.isOwn(history[at]) {
		if err := n.hold(memoryMark(history[at])); err != nil {
			return err
		}
	}
	if !o.After(now.Origin) {
		return nil
	}
	if say, err := n.holds(memoryMark(now)); err != nil || !say {
		if err == nil {
			err = n.spare(memoryRef(now.ID))
		}
		return err
	}
	return n.promote(now, history[at])
}

// promote makes a version of the history the newest.
func (n *intent) promote(now, next amber.Memory) error {
	if err := n.Do(sqlrows.DeleteRevision, next.ID, next.Revision); err != nil {
		return err
	}
	body, err := sqlrows.Marshal(now)
	if err != nil {
		return err
	}
	if err := n.Do(sqlrows.InsertRevision, now.ID, now.Revision, body); err != nil {
		return err
	}
	n.result.Memories++
	next.Revision, next.DuplicateCount = now.Revision+1, now.DuplicateCount
	return n.replace(now, next)
}

// keepReach keeps the scope and the identities of a memory. A deletion has none of its own to give,
// and no import moves a memory that has a version from this device.
func (n *intent) keepReach(now amber.Memory, in *amber.Memory) error {
	if in.Scope == now.Scope && in.Identities == now.Identities {
		return nil
	}
	if in.DeletedAt.IsZero() {
		own, err := n.hasOwnVersion(now)
		if err != nil || !own {
			return err
		}
		if now.DeletedAt.IsZero() {
			in.Topic = now.Topic
		}
	}
	in.Scope, in.Identities = now.Scope, now.Identities
	return nil
}

// hasOwnVersion reports whether one of the versions of a memory was made here.
func (n *intent) hasOwnVersion(now amber.Memory) (bool, error) {
	if n.isOwn(now) {
		return true, nil
	}
	history, err := sqlrows.All(n.Tx.Tx, sqlrows.ScanRevision, sqlrows.SelectRevisions, now.ID)
	return slices.ContainsFunc(history, n.isOwn), err
}

// mayFollowMemory is mayFollow for a memory: of several heads the highest counts.
func (n *intent) mayFollowMemory(now amber.Memory, o amber.Origin) error {
	err := mayFollow(string(now.ID), o, now.Origin.Counter)
	if err == nil {
		return nil
	}
	highest, herr := n.Highest(now)
	if herr != nil {
		return herr
	}
	return mayFollow(string(now.ID), o, highest)
}

// trust returns how far this agent trusts a version. If the author calls the version signed,
// another device signed it, unless the author has changed it since. A version that names this
// device is here already, or this device did not make it: were it trusted, this device would pass
// it on as its own. An author may claim that a rule found the version, or that an agent said it and
// not a person. That is a claim like any other: it counts where the device that made the version
// has signed it.
func (n *intent) trust(t amber.Trust, from amber.Origin) amber.Trust {
	lower := t == amber.TrustAgent || t == amber.TrustDerived
	switch {
	case from.Device == n.Current.Device && !n.chunk.Own,
		lower && (n.chunk.Trust != amber.TrustSigned || from.Device != n.chunk.Device):
		return amber.TrustImported
	case t == amber.TrustOwn, t == amber.TrustSigned && from.Device == n.chunk.Device:
		return n.chunk.Trust
	case t == amber.TrustSigned:
		return amber.TrustImported
	}
	return t
}

// firstVersion stores a version of a memory that is not there, unless the memory was erased here. A
// memory that was erased at other places alone comes from this one.
func (n *intent) firstVersion(in amber.SyncMemory, here bool) error {
	var erased bool
	if err := n.Row(sqlrows.IsErased, in.ID).Scan(&erased); err != nil {
		return err
	}
	if erased && here {
		n.drop(in.ID)
		return nil
	}
	if err := mayFollow(string(in.ID), in.Origin, 0); err != nil {
		return err
	}
	if erased {
		if err := n.Do(deleteErased, in.ID); err != nil {
			return err
		}
	}
	if err := n.arrives(n.chunk.Place, memoryMark(in.Memory)); err != nil {
		return err
	}
	args, err := sqlrows.MemoryArgs(in.Memory)
	if err != nil {
		return err
	}
	if err := n.Do(sqlrows.InsertMemory, args...); err != nil {
		return err
	}
	if len(in.Saw) > 0 {
		if err := n.NoteVersion(in.ID, in.Origin, in.Saw); err != nil {
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
	return n.Log(sqlrows.Entry(op, amber.ChangeMemory, string(in.ID), "", in.ContentDigest))
}

// laterVersion makes a version the newest: the one before goes to the history.
func (n *intent) laterVersion(now amber.Memory, in amber.SyncMemory) error {
	body, err := sqlrows.Marshal(now)
	if err != nil {
		return err
	}
	if err := n.Do(sqlrows.InsertRevision, now.ID, now.Revision, body); err != nil {
		return err
	}
	in.Revision = max(in.Revision, now.Revision+1)
	in.DuplicateCount = now.DuplicateCount
	if err := n.replace(now, in.Memory); err != nil {
		return err
	}
	return n.noteIncoming(now, in, false)
}

// earlierVersion puts a version into the history, behind those that are there
// and before the newest, which becomes one revision more. Beside says that the
// place has no say in the newest.
func (n *intent) earlierVersion(now amber.Memory, in amber.SyncMemory, beside bool) error {
	in.Revision = now.Revision
	body, err := sqlrows.Marshal(in.Memory)
	if err != nil {
		return err
	}
	if err := n.Do(sqlrows.InsertRevision, now.ID, now.Revision, body); err != nil {
		return err
	}
	if err := n.Do(makeRoom, now.ID); err != nil {
		return err
	}
	if err := n.noteIncoming(now, in, beside); err != nil {
		return err
	}
	return n.LogBeside(now.ID, now.ContentDigest)
}

// noteIncoming notes a version that has come beside now, and whether the two
// are in conflict: it is one head more, and says something else.
func (n *intent) noteIncoming(now amber.Memory, in amber.SyncMemory, beside bool) error {
	n.result.Memories++
	if err := n.Do(sqlrows.KeepVersion, now.ID, sqlrows.VersionOf(now.Origin)); err != nil {
		return err
	}
	grows, err := n.addsHead(in, beside)
	if err != nil {
		return err
	}
	if grows && !saysAlike(now, in.Memory) {
		n.result.Conflicts++
		n.disputed[now.ID]++
	}
	return n.NoteVersion(in.ID, in.Origin, in.Saw)
}

// forgetSettled does not count conflicts that a later record of the chunk has settled: a row of Engram that was deleted brings its
// text first, which differs from a deletion here, and then its own deletion, which does not.
func (n *intent) forgetSettled() error {
	for id, versions := range n.disputed {
		c, err := n.conflict(id)
		if err != nil {
			return err
		}
		if len(c.Others) == 0 {
			n.result.Conflicts -= versions
		}
	}
	return nil
}

// addsHead reports whether a version that is not here yet will be a head beside all current heads.
// That is so if no known version has seen it and it has seen none of the heads. Beside the newest
// version, the new one may claim to have seen versions that were at its place, and no others.
func (n *intent) addsHead(in amber.SyncMemory, beside bool) (bool, error) {
	_, seen, err := n.isHead(in.ID, in.Origin)
	if err != nil || seen {
		return false, err
	}
	for _, o := range in.Saw {
		head, _, err := n.isHead(in.ID, o)
		if err == nil && head && beside {
			head, err = n.holds(amber.SyncMark{Ref: memoryRef(in.ID), Origin: o})
		}
		if err != nil || head {
			return false, err
		}
	}
	return true, nil
}

func (n *intent) isHead(id amber.MemoryID, o amber.Origin) (head, known bool, err error) {
	err = n.Row(isHead, id, sqlrows.VersionOf(o)).Scan(&head)
	if sqlrows.Absent(err) {
		return false, false, nil
	}
	return head, err == nil, err
}

// saysAlike reports whether two versions say the same, so that there is nothing to
// choose between them.
func saysAlike(a, b amber.Memory) bool {
	if !a.DeletedAt.IsZero() || !b.DeletedAt.IsZero() {
		return !a.DeletedAt.IsZero() && !b.DeletedAt.IsZero()
	}
	return a.Title == b.Title && a.Content == b.Content
}

// sameVersion is for a version that is the newest here already. A device whose word counts more may
// vouch for it. Two texts of one version are a forgery, or the fault of a tool: every device must
// choose the same text.
func (n *intent) sameVersion(now, in amber.Memory) error {
	in.DuplicateCount = now.DuplicateCount
	if n.isOwn(now) {
		return nil // to have it does not give a place a say in it
	}
	vouched := now.Trust == amber.TrustImported && in.Trust != amber.TrustImported
	mine, theirs, err := tieKeys(now, in)
	if err != nil {
		return err
	}
	say := mine == theirs
	if say {
		err = n.hold(memoryMark(now))
	} else {
		say, err = n.holds(memoryMark(now))
	}
	switch {
	case err != nil || !say:
		return err
	case mine == theirs:
		if !vouched {
			return nil
		}
		if err := n.Do(raiseTrust, in.Trust, in.ID); err != nil {
			return err
		}
		return n.LogBeside(in.ID, now.ContentDigest)
	case now.Origin.Device == n.Current.Device,
		now.Trust != amber.TrustImported && in.Trust == amber.TrustImported,
		!vouched && mine > theirs:
		return nil
	}
	// Keep the text that it had before: two texts under one origin are a forgery, or a fault, and a
	// person may want to know.
	body, err := sqlrows.Marshal(now)
	if err != nil {
		return err
	}
	if err := n.Do(sqlrows.InsertRevision, now.ID, now.Revision, body); err != nil {
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
			m = sqlrows.Tombstone(m)
		}
		rest, err := sqlrows.Marshal([]any{
			m.DeletedAt.IsZero(), m.Title, m.Summary, m.Topic, m.Kind, m.Scope, m.Identities,
			strings.Join(m.Tags, "\n"), sqlrows.OrEmpty(m.Metadata), slices.Concat([]amber.SourceRef{}, m.SourceRefs), sqlrows.OrEmpty(m.Foreign),
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
	args, err := sqlrows.MemoryArgs(next)
	if err != nil {
		return err
	}
	if err := n.Do(sqlrows.UpdateMemory, args...); err != nil {
		return err
	}
	op := amber.OpUpdate
	if !next.DeletedAt.IsZero() {
		op = amber.OpDelete
	}
	return n.Log(sqlrows.Entry(op, amber.ChangeMemory, string(next.ID), now.ContentDigest, next.ContentDigest))
}
