package engram

import (
	"github.com/amber-memory/amber"
)

// LinkName returns the sync_id of the row of a link, and false for a row without one.
func LinkName(link amber.SyncLink) (string, bool) {
	k, ok := keptIn[kept](link.Extra)
	return deref(k.SyncID), ok && deref(k.SyncID) != ""
}

// Deletion returns the mutation that tells later versions that the row of the link is gone; version 1.7.0 passes over it.
// It reports false for a row without a sync_id: there is no name to tell it by. Seq is the caller's to set.
func Deletion(r amber.SyncRecord, link amber.SyncLink) (Mutation, bool) {
	k, ok := keptIn[kept](link.Extra)
	if !ok || deref(k.SyncID) == "" {
		return Mutation{}, false
	}
	return deletion(deleted{SyncID: *k.SyncID, SessionID: k.SessionID, Project: deref(k.Project)}, r.Origin()), true
}

// Erasure returns the mutation that tells later versions to remove the row that was written for a memory of Amber, which
// has its id as sync_id. Nothing else is known of a memory that was erased. Seq is the caller's to set.
func Erasure(e amber.SyncErased) Mutation {
	return deletion(deleted{SyncID: string(e.ID), Hard: true}, e.Origin)
}

// deleted is the payload of a deletion.
type deleted struct {
	SyncID    string `json:"sync_id"`
	SessionID string `json:"session_id"`
	Project   string `json:"project"`
	Deleted   bool   `json:"deleted"`
	DeletedAt string `json:"deleted_at"`
	Hard      bool   `json:"hard_delete,omitempty"`
}

func deletion(d deleted, o amber.Origin) Mutation {
	d.Deleted, d.DeletedAt = true, formatTime(o.Clock.Time())
	return Mutation{
		TargetKey: "local", Entity: "observation", EntityKey: d.SyncID, Op: "delete", Payload: string(marshal(d)),
		Source: "local", Project: d.Project, OccurredAt: d.DeletedAt,
	}
}
