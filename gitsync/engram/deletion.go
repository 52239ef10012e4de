package engram

import (
	"github.com/amber-memory/amber"
)

// Deletion returns the mutation that tells later versions that the row of the link is gone; version 1.7.0 passes over it.
// It reports false for a row without a sync_id: there is no name to tell it by. Seq is the caller's to set.
func Deletion(r amber.SyncRecord, link amber.SyncLink) (Mutation, bool) {
	k, ok := keptIn[kept](link.Extra)
	if !ok || deref(k.SyncID) == "" {
		return Mutation{}, false
	}
	at := formatTime(r.Origin().Clock.Time())
	payload := struct {
		SyncID    string `json:"sync_id"`
		SessionID string `json:"session_id"`
		Project   string `json:"project"`
		Deleted   bool   `json:"deleted"`
		DeletedAt string `json:"deleted_at"`
	}{*k.SyncID, k.SessionID, deref(k.Project), true, at}
	return Mutation{
		TargetKey: "local", Entity: "observation", EntityKey: *k.SyncID, Op: "delete", Payload: string(marshal(payload)),
		Source: "local", Project: deref(k.Project), OccurredAt: at,
	}, true
}
