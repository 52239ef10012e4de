package agent

import (
	"context"
	"errors"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/journal"
)

// Discarded is what is removed from the journal of one session.
type Discarded struct {
	Key       journal.Key     `json:"key"`
	Host      string          `json:"host"`
	SessionID amber.SessionID `json:"session_id"`
	Entries   int64           `json:"entries"`
	Undrained int64           `json:"undrained"` // of which the store has nothing
	Bytes     int64           `json:"bytes"`
	through   int64           // the last sequence
}

// DiscardReport says what is removed from the journal.
type DiscardReport struct {
	Items     []Discarded `json:"items"`
	Entries   int64       `json:"entries"`
	Undrained int64       `json:"undrained"`
	DryRun    bool        `json:"dry_run"`
}

// PlanDiscard counts the entries of sessions. Nothing is changed.
func (a *Agent) PlanDiscard(ctx context.Context, keys []journal.Key) (DiscardReport, error) {
	report := DiscardReport{Items: []Discarded{}}
	j, err := a.Journal()
	if err != nil {
		return report, err
	}
	cursors, err := a.Cursors(ctx)
	if err != nil {
		return report, err
	}
	defer cursors.Close()
	for _, key := range keys {
		drained, err := cursors.Of(ctx, j, key)
		if err != nil {
			return report, err
		}
		origin, _ := j.Origin(key) // a session without one is named by its key, and refused by Discard
		d := Discarded{Key: key, Host: origin.Host, SessionID: origin.ID}
		if _, err := j.Look(ctx, key, func(f journal.Frame) error {
			d.Entries++
			d.Bytes += int64(len(f.Payload))
			if d.through = f.Seq; f.Seq > drained {
				d.Undrained++
			}
			return nil
		}); err != nil {
			return report, err
		}
		if d.Entries > 0 {
			report.Items = append(report.Items, d)
			report.Entries += d.Entries
			report.Undrained += d.Undrained
		}
	}
	return report, nil
}

// Discard removes planned entries for good. It tells the store that it has seen them
// first: if the process is killed in between they are never drained, and no reader
// takes their absence for damage.
func (a *Agent) Discard(ctx context.Context, items []Discarded) (err error) {
	j, err := a.Journal()
	if err != nil {
		return err
	}
	end, err := j.BeginDrain(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	for _, d := range items {
		if err := a.discard(ctx, j, d); err != nil {
			return err
		}
	}
	return nil
}

func (a *Agent) discard(ctx context.Context, j *journal.Journal, d Discarded) error {
	origin, err := j.Origin(d.Key)
	if err != nil {
		return &amber.Error{Op: "discard session", Kind: amber.KindOf(err), ID: string(d.Key), Err: err, Hint: "amber journal drain"}
	}
	cursor, err := a.plain.Ingest.JournalCursor(ctx, origin.Cursor)
	if err != nil {
		return err
	}
	if cursor.Seq < d.through {
		in := amber.Ingestion{Journal: origin.Cursor, Host: origin.Host, Session: origin.ID, After: cursor.Seq, Through: d.through}
		if _, err := a.plain.Ingest.Ingest(ctx, in); err != nil {
			return err
		}
	}
	if _, err := j.Clear(ctx, d.Key, d.through); err != nil {
		return err
	}
	_, err = j.Remove(ctx, d.Key, d.through)
	return err
}
