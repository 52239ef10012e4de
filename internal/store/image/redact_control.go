package image

import (
	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

func (d *redaction) task(r *redactedRow) error {
	return record(r, "body", func(before, after *amber.Task) {
		after.ID = d.quietly(before.ID)
		after.RequestID = d.quietly(before.RequestID)
		after.SessionID = amber.SessionID(d.quietly(string(before.SessionID)))
		after.CompletedNodes = d.quietlyAll(before.CompletedNodes)
		after.PendingApprovalID = d.quietly(before.PendingApprovalID)
	})
}

func (d *redaction) event(r *redactedRow) error {
	return record(r, "body", func(before, after *amber.TaskEvent) {
		after.TaskID = d.quietly(before.TaskID)
		after.NodeID = d.quietly(before.NodeID)
		after.ApprovalID = d.quietly(before.ApprovalID)
	})
}

func (d *redaction) replayed(r *redactedRow) error {
	return record(r, "body", func(before, after *amber.ReplaySnapshot) {
		after.TaskID = d.quietly(before.TaskID)
		after.CompletedNodes = d.quietlyAll(before.CompletedNodes)
		after.OpenNodes = d.quietlyAll(before.OpenNodes)
		after.PendingApprovalID = d.quietly(before.PendingApprovalID)
	})
}

func (d *redaction) resulted(r *redactedRow) error {
	return record(r, "body", func(before, after *amber.Result) {
		after.TaskID = d.quietly(before.TaskID)
		after.NodeID = d.quietly(before.NodeID)
		after.Producer = d.quietly(before.Producer)
	})
}

// quietlyAll renames a list of keys, nil where there is none.
func (d *redaction) quietlyAll(keys []string) []string {
	if keys == nil {
		return nil
	}
	out := make([]string, len(keys))
	for i, key := range keys {
		out[i] = d.quietly(key)
	}
	return out
}

// entry makes the digest of what was published again. Once the entry is acked
// its payload is gone, and no check can prove it.
func (d *redaction) entry(r *redactedRow) error {
	before, err := published(r, r.was)
	if err != nil {
		return err
	}
	switch after, err := published(r, r.is); {
	case err != nil:
		return err
	case r.was("digest") == before:
		d.allow(after)
		r.set("digest", after)
	case r.was("digest") != "":
		d.emptied++
		r.set("digest", "")
	}
	return nil
}

// published returns the digest of an entry as Store.Publish of the store makes it.
func published(r *redactedRow, column func(string) string) (string, error) {
	body, err := sqlrows.Marshal(amber.Envelope{
		EntryID: column("entry_id"), TaskID: column("task_id"), NodeID: column("node_id"), Payload: column("payload"),
		Priority: int(r.more[0]), NotBefore: amber.UnixMilli(r.more[1]),
	})
	return amber.ContentDigest(body), err
}
