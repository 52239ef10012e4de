package sqlrows

import (
	"encoding/json"
	"fmt"

	"github.com/amber-memory/amber"
)

const (
	ApprovalColumns = `id, task_id, node_id, summary, status, payload, digest, decided_by, comment, created_at, coalesce(decided_at, 0), requested_by, claimed_by`
	selectMiscounts = `SELECT * FROM (
 SELECT c.state, c.entries, (SELECT count(*) FROM queue q WHERE q.state = c.state) AS there FROM queue_counts c
) AS counted WHERE entries <> there ORDER BY state`
)

// ScanApproval reads an approval and checks that its payload is still the one
// that was asked about.
func ScanApproval(s scanner) (amber.Approval, error) {
	var a amber.Approval
	var payload string
	var createdAt, decidedAt int64
	err := s.Scan(&a.ID, &a.TaskID, &a.NodeID, &a.Summary, &a.Status, &payload, &a.Digest,
		&a.DecidedBy, &a.Comment, &createdAt, &decidedAt, &a.RequestedBy, &a.ClaimedBy)
	if err != nil {
		return a, err
	}
	if amber.ContentDigest(payload) != a.Digest {
		return amber.Approval{}, unreadable("approvals", a.ID, "the payload does not match its digest")
	}
	a.Payload = json.RawMessage(payload)
	if payload != "" && !json.Valid(a.Payload) {
		return amber.Approval{}, NotJSON("approvals", a.ID, "payload")
	}
	a.CreatedAt, a.DecidedAt = amber.UnixMilli(createdAt), amber.UnixMilli(decidedAt)
	return a, fit("approvals", a.ID, nil, []int64{createdAt, decidedAt})
}

func ScanEvent(s scanner) (e amber.TaskEvent, err error) {
	var id, body string
	if err := s.Scan(&id, &body); err != nil {
		return e, err
	}
	if err := json.Unmarshal([]byte(body), &e); err != nil {
		return e, NotJSON("events", id, "body")
	}
	return e, fit("events", id, []int64{e.Seq}, []int64{e.At.UnixMilli()})
}

// maxAttempts is more than any entry was ever claimed.
const maxAttempts = 1 << 31

// FitEntry returns what is wrong with the numbers of an entry.
func FitEntry(id string, attempt int64, times ...int64) error {
	if attempt > maxAttempts {
		return unreadable("queue", id, "a counter is out of range")
	}
	return fit("queue", id, []int64{attempt}, times)
}

// CheckCounters compares the counts with the entries that are there.
func (t *Tx) CheckCounters() error {
	return t.Each(selectMiscounts, nil, func(s scanner) error {
		var state EntryState
		var counted, there int64
		if err := s.Scan(&state, &counted, &there); err != nil {
			return err
		}
		return Damaged("check counters", "", fmt.Errorf("the counter of %[2]s entries is %[1]d, the queue holds %[3]d", counted, state, there))
	})
}

func ScanDead(s scanner) (d amber.DeadEntry, err error) {
	var reasons string
	var notBefore, deadAt int64
	e := &d.Envelope
	err = s.Scan(&e.EntryID, &e.TaskID, &e.NodeID, &e.Attempt, &e.Payload, &e.Priority, &notBefore, &reasons, &deadAt)
	if err != nil {
		return d, err
	}
	e.NotBefore, d.DeadAt = amber.UnixMilli(notBefore), amber.UnixMilli(deadAt)
	if err := json.Unmarshal([]byte(reasons), &d.Reasons); err != nil {
		return d, NotJSON("queue", e.EntryID, "reasons")
	}
	return d, FitEntry(e.EntryID, int64(e.Attempt), notBefore, deadAt)
}

// EntryState is where an entry of the queue stands.
type EntryState string

func ScanResult(s scanner) (r amber.Result, err error) {
	var id, body string
	if err := s.Scan(&id, &body); err != nil {
		return r, err
	}
	if err := json.Unmarshal([]byte(body), &r); err != nil {
		return r, NotJSON("results", id, "body")
	}
	return r, fit("results", id, []int64{r.Fence}, []int64{r.UpdatedAt.UnixMilli()})
}

func ScanTask(s scanner) (task amber.Task, err error) {
	var id, body, extra string
	if err := s.Scan(&id, &body, &extra); err != nil {
		return task, err
	}
	if err := json.Unmarshal([]byte(body), &task); err != nil {
		return task, NotJSON("tasks", id, "body")
	}
	if extra != "" {
		task.Extra = json.RawMessage(extra)
	}
	switch {
	case task.ID != id:
		return task, unreadable("tasks", id, "the body belongs to another task")
	case extra != "" && !json.Valid(task.Extra):
		return task, NotJSON("tasks", id, "extra")
	}
	return task, fit("tasks", id, []int64{task.Version}, []int64{task.CreatedAt.UnixMilli(), task.UpdatedAt.UnixMilli()})
}
