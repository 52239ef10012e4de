package transfer

import (
	"cmp"
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// Turn implements [foreign.Sink].
func (c *carrier) Turn(t foreign.Turn) error {
	sp := c.session
	if sp == nil {
		return nil // the session is not wanted
	}
	if err := c.look(); err != nil {
		return err
	}
	c.report.Turns.Read++
	step, err := c.step(sp, t)
	if err != nil {
		c.refuse(t.Place, err)
		return nil
	}
	if sp.known {
		c.report.Turns.Known++
		return nil
	}
	sp.turns++
	if c.o.DryRun {
		return nil
	}
	sp.steps = append(sp.steps, step)
	if sp.bytes += len(t.Content); len(sp.steps) < batchRecords && sp.bytes < batchBytes {
		return nil
	}
	return c.ingest(sp)
}

// step is what a turn means to the store.
func (c *carrier) step(sp *speaking, t foreign.Turn) (amber.IngestStep, error) {
	key := t.Key
	if sp.epoch > 0 { // what was undone comes back under other names: the old ones are used up
		key = append(foreign.Key{fmt.Sprint("again ", sp.epoch)}, key...)
	}
	at := cmp.Or(t.At, sp.session.StartedAt)
	step := amber.IngestStep{
		Event: amber.EventRef{ID: foreign.Hex(foreign.Digest(append([]string{"amber import 1", c.format, "event"}, key...)...)), Native: true, At: at},
		At:    at, Start: amber.SessionStart{ID: sp.session.ID, Binding: sp.session.Binding},
	}
	trust := c.trust
	if trust == amber.TrustOwn {
		trust = "" // as turns spell it
	}
	if t.Content != "" {
		step.Turns = []amber.Turn{{
			ID: foreign.TurnID(c.format, key), SessionID: sp.session.ID, Role: t.Role, Content: c.text(t.Content),
			ProjectID: sp.session.Project, CreatedAt: at, Trust: trust,
		}}
	}
	for _, a := range t.Activity {
		a.SessionID, a.FirstAt, a.LastAt = sp.session.ID, cmp.Or(a.FirstAt, at), cmp.Or(a.LastAt, at)
		a.Name, a.Detail = clip.Bytes(c.text(a.Name), amber.MaxActivityNameBytes), clip.Bytes(c.text(a.Detail), amber.MaxActivityDetailBytes)
		step.Activity = append(step.Activity, a)
	}
	if t.Compaction != "" {
		step.Compaction = &amber.Compaction{
			ID: string(foreign.TurnID(c.format, append(foreign.Key{"compaction"}, key...))), SessionID: sp.session.ID,
			Summary: c.text(t.Compaction), CreatedAt: at,
		}
	}
	_, err := amber.Ingestion{Journal: sp.journal, Host: c.format, Session: sp.session.ID, Through: 1, Steps: []amber.IngestStep{step}, Past: true}.Normalize()
	return step, err
}

// ingest stores the turns that wait.
func (c *carrier) ingest(sp *speaking) error {
	if c.o.DryRun {
		fresh := sp.turns
		if !sp.fresh {
			fresh = max(0, sp.turns-sp.cursor)
		}
		c.report.Turns.New += fresh
		c.report.Turns.Known += sp.turns - fresh
		return nil
	}
	if len(sp.steps) == 0 {
		return nil
	}
	done, err := c.ingestSteps(sp)
	for amber.KindOf(err) == amber.KindConflict {
		// Another import of the same files may have moved the cursor. Each event is stored once.
		cursor, err2 := c.store.Ingest.JournalCursor(c.ctx, sp.journal)
		if err2 != nil || cursor.Seq == sp.cursor {
			return cmp.Or(err2, err)
		}
		sp.cursor = cursor.Seq
		done, err = c.ingestSteps(sp)
	}
	if err != nil {
		return err
	}
	c.report.Turns.New += int64(done.Applied)
	c.report.Turns.Known += int64(done.Duplicates)
	sp.cursor, sp.steps, sp.bytes = max(sp.cursor, sp.turns), nil, 0
	return nil
}

func (c *carrier) ingestSteps(sp *speaking) (amber.IngestResult, error) {
	return c.store.Ingest.Ingest(c.ctx, amber.Ingestion{
		Journal: sp.journal, Host: c.format, Session: sp.session.ID, After: sp.cursor, Through: max(sp.cursor, sp.turns),
		LastAt: sp.session.EndedAt, Steps: sp.steps, Past: true,
	})
}
