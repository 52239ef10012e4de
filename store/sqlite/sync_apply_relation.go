package sqlite

import (
	"encoding/json"

	"github.com/amber-memory/amber"
)

const (
	// selectEnds tells how many of two memories are there, and whether one of
	// them was erased.
	selectEnds = `SELECT (SELECT count(*) FROM memories WHERE id IN (?1, ?2)), EXISTS (SELECT 1 FROM erased WHERE id IN (?1, ?2))`

	deleteRelation = `DELETE FROM relations WHERE id = ?`
	selectWaiting  = `SELECT body FROM sync_waiting WHERE from_id = ? AND to_id = ? AND type = ?`
	putWaiting     = `INSERT OR REPLACE INTO sync_waiting (from_id, to_id, type, body) VALUES (?, ?, ?, ?)`
	waitingFor     = `SELECT body FROM sync_waiting WHERE from_id = ?1 OR to_id = ?1`
	stopWaiting    = `DELETE FROM sync_waiting WHERE from_id = ? AND to_id = ? AND type = ?`
)

// applyRelation stores a relation, or lets it wait for the memories it is
// about. What was erased is related to nothing.
func (n *intent) applyRelation(in amber.Relation) error {
	var ends int
	var erased bool
	if err := n.row(selectEnds, in.From, in.To).Scan(&ends, &erased); err != nil || erased {
		return err
	}
	if ends < 2 {
		return n.wait(in)
	}
	now, found, err := optional(scanRelation(n.row(selectRelationBetween, in.From, in.To, in.Type)))
	if err != nil {
		return err
	}
	if err := mayFollow(in.ID, in.Origin, now.Origin.Counter); err != nil {
		return err
	}
	if found && !in.Origin.After(now.Origin) {
		return nil
	}
	if free, err := n.freeRelationID(in); err != nil || !free {
		return err
	}
	if found && now.ID != in.ID {
		if _, err := n.exec(deleteRelation, now.ID); err != nil {
			return err
		}
	}
	if err := n.putRelation(in); err != nil {
		return err
	}
	n.result.Relations++
	return n.logRelation(in.From)
}

// freeRelationID makes the id of a relation free where it is that of two other
// memories, which only a fault can bring about. The later one keeps it.
func (n *intent) freeRelationID(in amber.Relation) (bool, error) {
	now, found, err := optional(scanRelation(n.row(selectRelation, in.ID)))
	if err != nil || !found || now.From == in.From && now.To == in.To && now.Type == in.Type {
		return true, err
	}
	if !in.Origin.After(now.Origin) {
		return false, nil
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
func (n *intent) wait(in amber.Relation) error {
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
	_, err = n.exec(putWaiting, in.From, in.To, in.Type, body)
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
			if err := n.applyRelation(r); err != nil && amber.KindOf(err) != amber.KindInvalid {
				return err
			}
		}
	}
	return nil
}

func scanWaiting(s scanner) (r amber.Relation, err error) {
	var body string
	if err := s.Scan(&body); err != nil {
		return r, err
	}
	if err := json.Unmarshal([]byte(body), &r); err != nil {
		return r, notJSON("sync_waiting", "", "body")
	}
	return r, fitOrigin("sync_waiting", "", r.Origin)
}
