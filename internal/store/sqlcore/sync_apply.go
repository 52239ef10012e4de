package sqlcore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

const (
	selectLastImport = `SELECT first_seq, last_seq FROM sync_imports WHERE place = ? ORDER BY first_seq DESC LIMIT 1`
	putImport        = `INSERT OR REPLACE INTO sync_imports (place, first_seq, last_seq) VALUES (?, ?, ?)`
	isWaiting        = `SELECT EXISTS (SELECT 1 FROM sync_waiting)`
)

// Apply implements [amber.SyncImporter].
func (s *Contracts) Apply(ctx context.Context, c amber.Incoming) (amber.Applied, error) {
	const op = "apply chunk"
	switch {
	case c.Place == "" || c.Chunk == "":
		return amber.Applied{}, amber.Errorf(amber.KindInvalid, op, c.Chunk, "the chunk needs a name and a place")
	case !slices.Contains([]amber.Trust{amber.TrustImported, amber.TrustSigned, amber.TrustOwn}, c.Trust):
		return amber.Applied{}, amber.Errorf(amber.KindInvalid, op, c.Chunk, "trust is %q, want imported, signed or own", c.Trust)
	}
	var n intent
	// The transaction scrubs at its very end what the chunk erases. No other entries may lie within
	// the range of the chunk in the change log, so it shares the transaction with none.
	err := s.memory.UpdateAlone(ctx, op, c.Chunk, func(t *Tx) error {
		n = intent{Tx: t, chunk: c, dropped: map[amber.SyncRef]bool{}, disputed: map[amber.MemoryID]int{}}
		return n.apply()
	})
	if err != nil {
		return amber.Applied{}, err
	}
	if c.Stored != nil {
		for _, i := range n.stored {
			c.Stored(i)
		}
	}
	if n.cleared {
		// The chunk is applied, whatever comes of this: what was erased is gone
		// from the database, and the log is emptied sooner or later.
		_, _ = s.memory.Forget(ctx)
	}
	return n.result, nil
}

// intent is a chunk while it is applied.
type intent struct {
	*Tx
	chunk  amber.Incoming
	result amber.Applied
	drift  int64 // milliseconds
	from   int64 // entries of the change log after this one are due to the chunk

	waiting  bool                   // relations wait for memories
	arrived  []amber.MemoryID       // memories that relations may have waited for
	dropped  map[amber.SyncRef]bool // records of ids that were erased
	disputed map[amber.MemoryID]int // versions that were in conflict when they came
	cleared  bool                   // text was erased
	again    bool                   // the chunk itself has more to bring by now
	stored   []int                  // records that were not known
}

func (n *intent) apply() error {
	var before bool // it was applied, and is read once more
	if err := n.Row(isApplied, n.chunk.Chunk, n.chunk.Place).Scan(&n.result.Already, &before); err != nil || n.result.Already {
		return err
	}
	defer func() { n.result.Already = before && n.result == (amber.Applied{Again: n.result.Again}) }()
	if err := n.Row(isWaiting).Scan(&n.waiting); err != nil {
		return err
	}
	n.from = n.Seq
	n.listen()
	if err := n.records(); err != nil {
		return err
	}
	if err := n.forgetSettled(); err != nil {
		return err
	}
	if err := n.relateArrived(); err != nil {
		return err
	}
	if err := n.noteImport(); err != nil {
		return err
	}
	if err := n.note(); err != nil || !n.cleared {
		return err
	}
	// Nothing is written after the traces are removed.
	return n.Scrub()
}

// hear sets the clock past a stamp from elsewhere, though never far past the time
// of day: a device whose clock is ahead does not move the others.
func (t *Tx) hear(clock amber.Stamp) {
	most := amber.StampAt(t.Now.Add(amber.MaxClockLead * time.Millisecond).Time())
	t.Stamp = max(t.Stamp, min(clock, most))
}

// listen sets the clock past every stamp of the chunk.
func (n *intent) listen() {
	for _, r := range n.chunk.Records {
		clock := r.Origin().Clock
		n.hear(clock)
		n.drift = max(n.drift, clock.Time().UnixMilli()-n.Now.UnixMilli())
	}
}

// records stores the records. The outcome does not depend on their order, but
// the work does: what was erased or deleted first, so that it does not come
// and go; relations last, so that both their ends are there.
func (n *intent) records() error {
	for _, apply := range []func(amber.SyncRecord) error{n.deletion, n.session, n.memory, n.prompt, n.relation} {
		for i, r := range n.chunk.Records {
			before := n.result
			if err := apply(r); err != nil {
				err = n.o.Wrap("store", r.Ref().ID, err)
				return &amber.Error{Op: fmt.Sprintf("apply chunk: record %d", i+1), Kind: amber.KindOf(err), ID: n.chunk.Chunk, Err: err}
			}
			if before.Again = n.result.Again; n.result != before {
				n.stored = append(n.stored, i)
			}
		}
	}
	return nil
}

// deletion applies what removes records.
func (n *intent) deletion(r amber.SyncRecord) error {
	switch {
	case r.Erased != nil:
		return n.applyErased(*r.Erased)
	case r.Gone != nil && r.Gone.Scope == amber.ChangeTurn:
		return n.applyGoneTurn(*r.Gone)
	case r.Gone != nil:
		return n.applyGoneSession(*r.Gone)
	}
	return nil
}

func (n *intent) session(r amber.SyncRecord) error {
	if r.Session == nil {
		return nil
	}
	return n.applySession(*r.Session)
}

func (n *intent) memory(r amber.SyncRecord) error {
	if r.Memory == nil {
		return nil
	}
	return n.applyMemory(*r.Memory)
}

func (n *intent) prompt(r amber.SyncRecord) error {
	if r.Prompt == nil {
		return nil
	}
	return n.applyPrompt(*r.Prompt)
}

func (n *intent) relation(r amber.SyncRecord) error {
	if r.Relation == nil {
		return nil
	}
	return n.applyRelation(*r.Relation)
}

// arrives notes that a version which is new here is at the place it came from.
func (n *intent) arrives(place string, m amber.SyncMark) error {
	return n.Do(putHeld, m.Ref.Scope, m.Ref.ID, markVersion(m), place)
}

// hold notes that a version which is known here is at the place of the chunk,
// holdAt at any. Chunks that waited for that are read once more.
func (n *intent) hold(m amber.SyncMark) error { return n.holdAt(n.chunk.Place, m) }

func (n *intent) holdAt(place string, m amber.SyncMark) error {
	reopened, err := n.Tx.hold(place, m)
	if len(reopened) > 0 {
		n.result.Again = true
		n.again = n.again || slices.Contains(reopened, n.chunk.Chunk)
	}
	return err
}

// holds reports whether the place of the chunk has a say in a version.
func (n *intent) holds(m amber.SyncMark) (bool, error) { return n.Tx.holds(n.chunk.Place, m) }

// spare passes something over that the place has no say in. The chunk is read
// once more when the place has one.
func (n *intent) spare(ref amber.SyncRef) error { return n.spareOf(n.sender(), ref) }

func (n *intent) spareOf(from sqlrows.Sender, ref amber.SyncRef) error {
	return n.Do(putSpared, from.Place, ref.Scope, ref.ID, from.Chunk)
}

func (n *intent) sender() sqlrows.Sender {
	return sqlrows.Sender{Place: n.chunk.Place, Chunk: n.chunk.Chunk}
}

// mayFollow refuses a counter that is too far ahead to come from edits.
func mayFollow(id string, o amber.Origin, known uint64) error {
	if o.Counter <= known+amber.MaxCounterJump {
		return nil
	}
	return amber.Errorf(amber.KindInvalid, "apply record", id,
		"counter %d is more than %d above the highest known counter %d", o.Counter, amber.MaxCounterJump, known)
}

// noteImport notes which entries of the change log are due to the chunk. A
// range that goes on where the last one ended makes that longer.
func (n *intent) noteImport() error {
	if n.Seq == n.from {
		return nil
	}
	first := n.from + 1
	var begin, end int64
	err := n.Row(selectLastImport, n.chunk.Place).Scan(&begin, &end)
	switch {
	case err == nil && end == n.from:
		first = begin
	case err != nil && !sqlrows.Absent(err):
		return err
	}
	n.from = n.Seq
	return n.Do(putImport, n.chunk.Place, first, n.Seq)
}

// note notes that the chunk was applied, and its links. Those to what was
// erased hold digests of its text.
func (n *intent) note() error {
	c := n.chunk
	again := 0
	if n.again {
		again = 1
	}
	err := n.Do(insertChunk, c.Chunk, c.Place, c.Device, c.CreatedBy, c.At.UnixMilli(), n.Now.UnixMilli(), n.drift, again)
	if err != nil {
		return err
	}
	links := make([]amber.SyncLink, 0, len(c.Links))
	for _, l := range c.Links {
		if !n.dropped[l.Ref] {
			links = append(links, l)
		}
	}
	return n.putLinks(c.Chunk, links)
}
