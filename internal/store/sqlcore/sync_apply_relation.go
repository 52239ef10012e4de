package sqlcore

import (
	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
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

// applyRelation stores a relation, or lets it wait for its memories. An erased memory has no
// relations.
func (n *intent) applyRelation(in amber.Relation) error {
	in.Trust = n.trust(sqlrows.StoredTrust(in.Trust), in.Origin)
	return n.relate(n.sender(), in)
}

// relate does so for a relation that came from a place, which must have a say in
// both memories and in the relation that is here.
func (n *intent) relate(from sqlrows.Sender, in amber.Relation) error {
	for _, id := range []amber.MemoryID{in.From, in.To} {
		if erased, err := n.isErasedAt(from.Place, id); err != nil || erased {
			return err
		}
	}
	var ends int
	if err := n.Row(selectEnds, in.From, in.To).Scan(&ends); err != nil {
		return err
	}
	if ends < 2 {
		return n.wait(from, in)
	}
	now, found, err := sqlrows.Optional(sqlrows.ScanRelation(n.Row(selectRelationBetween, in.From, in.To, in.Type)))
	if err != nil {
		return err
	}
	if err := mayFollow(in.ID, in.Origin, now.Origin.Counter); err != nil {
		return err
	}
	mark := amber.SyncRecord{Relation: &in}.Mark()
	if found && in.Origin == now.Origin && now.Origin.Device != n.Current.Device {
		if in.Trust.Outranks(now.Trust) { // it was signed since
			now.Trust, now.Author = in.Trust, in.Author
			if err := n.PutRelation(now); err != nil {
				return err
			}
		}
		return n.holdAt(from.Place, mark)
	}
	if found && !in.Origin.After(now.Origin) {
		return nil
	}
	if say, err := n.mayRelate(from, in, now, found); err != nil || !say {
		return err
	}
	if free, err := n.freeRelationID(from.Place, in); err != nil || !free {
		return err
	}
	if found && now.ID != in.ID {
		if err := n.Do(deleteRelation, now.ID); err != nil {
			return err
		}
	}
	if err := n.arrives(from.Place, mark); err != nil {
		return err
	}
	if err := n.PutRelation(in); err != nil {
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
	err = n.Row(sqlrows.IsErased, id).Scan(&erased)
	return erased && here, err
}

// mayRelate reports whether a place has a say in two memories, and in how they are
// related. Where it has none the chunk waits for that.
func (n *intent) mayRelate(from sqlrows.Sender, in, now amber.Relation, found bool) (bool, error) {
	var marks []amber.SyncMark
	for _, id := range []amber.MemoryID{in.From, in.To} {
		m, _, err := n.Load(id)
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
		say, err := n.Tx.holds(from.Place, m)
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
	now, found, err := sqlrows.Optional(sqlrows.ScanRelation(n.Row(sqlrows.SelectRelation, in.ID)))
	if err != nil || !found || now.From == in.From && now.To == in.To && now.Type == in.Type {
		return true, err
	}
	say, err := n.Tx.holds(place, amber.SyncRecord{Relation: &now}.Mark())
	if err != nil || !say || !in.Origin.After(now.Origin) {
		return false, err
	}
	if err := n.Do(deleteRelation, now.ID); err != nil {
		return false, err
	}
	return true, n.logRelation(now.From)
}

// logRelation logs a change of a relation beside the memory it begins at.
func (n *intent) logRelation(from amber.MemoryID) error {
	var digest string
	if err := n.Row(sqlrows.SelectDigest, from).Scan(&digest); err != nil {
		return err
	}
	return n.LogBeside(from, digest)
}

// wait keeps a relation until both its ends are there.
func (n *intent) wait(from sqlrows.Sender, in amber.Relation) error {
	now, found, err := sqlrows.Optional(sqlrows.ScanWaiting(n.Row(selectWaiting, in.From, in.To, in.Type)))
	if err != nil {
		return err
	}
	// A waiting relation has proved nothing, so its counter must not raise the limit for later
	// ones.
	if err := mayFollow(in.ID, in.Origin, 0); err != nil {
		return err
	}
	if found && !in.Origin.After(now.Origin) {
		return nil
	}
	body, err := sqlrows.Marshal(in)
	if err != nil {
		return err
	}
	return n.Do(putWaiting, in.From, in.To, in.Type, body, from.Place, from.Chunk)
}

// relateArrived tries the waiting relations again whose memories have arrived. It drops a relation
// that breaks a rule and reports no error: the chunk that brought the memory has no part in it.
func (n *intent) relateArrived() error {
	for _, id := range n.arrived {
		waiting, err := sqlrows.ReadRows(n.Tx.Tx, "sync_waiting", sqlrows.ScanWaiting, waitingFor, id)
		if err != nil {
			return err
		}
		for _, r := range waiting {
			from := r.Sender
			if from.Place == "" { // it has waited since before places were noted
				from = n.sender()
			}
			if from.Place == "" {
				continue
			}
			if err := n.Do(stopWaiting, r.From, r.To, r.Type); err != nil {
				return err
			}
			if r.Trust == "" { // it has waited since before relations had trust
				r.Trust = amber.TrustImported
			}
			if err := n.relate(from, r.Relation); err != nil && amber.KindOf(err) != amber.KindInvalid {
				return err
			}
		}
	}
	return nil
}

// written tries the relations again that waited for a memory which was written here under an id that others know. A place that
// has no say in the memory reads the chunk of the relation once more when it has one.
func (t *Tx) written(id amber.MemoryID) error {
	n := &intent{Tx: t, arrived: []amber.MemoryID{id}, dropped: map[amber.SyncRef]bool{}}
	return n.relateArrived()
}
