package sqlite

import (
	"encoding/json"

	"github.com/amber-memory/amber"
)

const (
	// selectEnds tells how many of two memories are there.
	selectEnds = `SELECT count(*) FROM memories WHERE id IN (?, ?)`

	deleteRelation = `DELETE FROM relations WHERE id = ?`
	selectWaiting  = `SELECT body, place, chunk FROM sync_waiting WHERE from_id = ? AND to_id = ? AND type = ?`
	putWaiting     = `INSERT OR REPLACE INTO sync_waiting (from_id, to_id, type, body, place, chunk) VALUES (?, ?, ?, ?, ?, ?)`
	waitingFor     = `SELECT body, place, chunk FROM sync_waiting WHERE from_id = ?1 OR to_id = ?1`
	stopWaiting    = `DELETE FROM sync_waiting WHERE from_id = ? AND to_id = ? AND type = ?`
)

// applyRelation stores a relation, or lets it wait for the memories it is
// about. What was erased is related to nothing.
func (n *intent) applyRelation(in amber.Relation) error { return n.relate(n.sender(), in) }

// relate does so for a relation that came from a place, which must have a say in
// both memories and in the relation that is here.
func (n *intent) relate(from sender, in amber.Relation) error {
	for _, id := range []amber.MemoryID{in.From, in.To} {
		if erased, err := n.isErasedAt(from.place, id); err != nil || erased {
			return err
		}
	}
	var ends int
	if err := n.row(selectEnds, in.From, in.To).Scan(&ends); err != nil {
		return err
	}
	if ends < 2 {
		return n.wait(from, in)
	}
	now, found, err := optional(scanRelation(n.row(selectRelationBetween, in.From, in.To, in.Type)))
	if err != nil {
		return err
	}
	if err := mayFollow(in.ID, in.Origin, now.Origin.Counter); err != nil {
		return err
	}
	mark := amber.SyncRecord{Relation: &in}.Mark()
	if found && in.Origin == now.Origin && now.Origin.Device != n.current.Device {
		return n.holdAt(from.place, mark)
	}
	if found && !in.Origin.After(now.Origin) {
		return nil
	}
	if say, err := n.mayRelate(from, in, now, found); err != nil || !say {
		return err
	}
	if free, err := n.freeRelationID(from.place, in); err != nil || !free {
		return err
	}
	if found && now.ID != in.ID {
		if _, err := n.exec(deleteRelation, now.ID); err != nil {
			return err
		}
	}
	if err := n.arrives(from.place, mark); err != nil {
		return err
	}
	if err := n.putRelation(in); err != nil {
		return err
	}
	n.result.Relations++
	return n.logRelation(in.From)
}

// isErasedAt reports whether a memory was erased here or at a place.
func (n *intent) isErasedAt(place string, id amber.MemoryID) (bool, error) {
	here, at, err := n.removedBy(place, memoryRef(id))
	if err != nil || at {
		return at, err
	}
	var erased bool
	err = n.row(isErased, id).Scan(&erased)
	return erased && here, err
}

// mayRelate reports whether a place has a say in two memories, and in how they are
// related. Where it has none the chunk waits for that.
func (n *intent) mayRelate(from sender, in, now amber.Relation, found bool) (bool, error) {
	var marks []amber.SyncMark
	for _, id := range []amber.MemoryID{in.From, in.To} {
		m, _, err := n.load(id)
		if err != nil {
			return false, err
		}
		marks = append(marks, memoryMark(m))
	}
	if found {
		marks = append(marks, amber.SyncRecord{Relation: &now}.Mark())
	}
	may := true
	for _, m := range marks {
		say, err := n.tx.holds(from.place, m)
		if err != nil {
			return false, err
		}
		if say {
			continue
		}
		may = false
		if err := n.spareOf(from, m.Ref); err != nil {
			return false, err
		}
	}
	return may, nil
}

// freeRelationID makes the id of a relation free where it is that of two other
// memories, which only a fault can bring about. The later one keeps it.
func (n *intent) freeRelationID(place string, in amber.Relation) (bool, error) {
	now, found, err := optional(scanRelation(n.row(selectRelation, in.ID)))
	if err != nil || !found || now.From == in.From && now.To == in.To && now.Type == in.Type {
		return true, err
	}
	say, err := n.tx.holds(place, amber.SyncRecord{Relation: &now}.Mark())
	if err != nil || !say || !in.Origin.After(now.Origin) {
		return false, err
	}
	if _, err := n.exec(deleteRelation, now.ID); err != nil {
		return false, err
	}
	return true, n.logRelation(now.From)
}

// logRelation logs a change of a relation beside the memory it begins at.
func (n *intent) logRelation(from amber.MemoryID) error {
	var digest string
	if err := n.row(selectDigest, from).Scan(&digest); err != nil {
		return err
	}
	return n.logBeside(from, digest)
}

// wait keeps a relation until both its ends are there.
func (n *intent) wait(from sender, in amber.Relation) error {
	now, found, err := optional(scanWaiting(n.row(selectWaiting, in.From, in.To, in.Type)))
	if err != nil {
		return err
	}
	// What waits has proved nothing, and must not lift what comes after.
	if err := mayFollow(in.ID, in.Origin, 0); err != nil {
		return err
	}
	if found && !in.Origin.After(now.Origin) {
		return nil
	}
	body, err := marshal(in)
	if err != nil {
		return err
	}
	_, err = n.exec(putWaiting, in.From, in.To, in.Type, body, from.place, from.chunk)
	return err
}

// relateArrived tries the relations again that waited for memories which have
// arrived. One that breaks a rule is dropped: the chunk that brought the memory
// has no part in it.
func (n *intent) relateArrived() error {
	for _, id := range n.arrived {
		waiting, err := readRows(n.tx, "sync_waiting", scanWaiting, waitingFor, id)
		if err != nil {
			return err
		}
		for _, r := range waiting {
			if _, err := n.exec(stopWaiting, r.From, r.To, r.Type); err != nil {
				return err
			}
			from := r.sender
			if from.place == "" { // it has waited since before places were noted
				from = n.sender()
			}
			if err := n.relate(from, r.Relation); err != nil && amber.KindOf(err) != amber.KindInvalid {
				return err
			}
		}
	}
	return nil
}

// waiting is a relation that waits, and where it came from.
type waiting struct {
	amber.Relation
	sender
}

func scanWaiting(s scanner) (w waiting, err error) {
	var body string
	if err := s.Scan(&body, &w.place, &w.chunk); err != nil {
		return w, err
	}
	if err := json.Unmarshal([]byte(body), &w.Relation); err != nil {
		return w, notJSON("sync_waiting", "", "body")
	}
	return w, fitOrigin("sync_waiting", "", w.Origin)
}
