package transfer

import (
	"context"
	"fmt"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// UndoOptions are what undoing needs.
type UndoOptions struct {
	// Settle is that of [Options]: what waits may belong to a session of the import, which then stays.
	Settle func(ctx context.Context) []string
	Clock  amber.Clock
	NewID  func() (string, error)
}

// Undo takes an import back: it deletes what the import made, and restores what the import changed. It leaves and
// names records that were edited since. Then the files can be imported again. Undoing twice does nothing. Errors:
// not_found.
func Undo(ctx context.Context, store amber.Store, id string, o UndoOptions) (wire.ImportUndo, error) {
	r, err := find(ctx, store, id)
	if err != nil {
		return wire.ImportUndo{}, err
	}
	u := &undoing{ctx: ctx, store: store, record: r, now: amber.At(o.Clock())}
	u.report = wire.ImportUndo{ID: id, Format: r.Format, Already: r.Undone, Kept: []wire.ImportKept{}}
	if r.Undone {
		return u.report, nil
	}
	if o.Settle != nil {
		o.Settle(ctx) // a session whose events it could not bring in is not deleted
	}
	if u.id, err = o.NewID(); err == nil {
		err = u.run()
	}
	if err != nil {
		return u.report, &amber.Error{Op: "undo import", Kind: amber.KindOf(err), ID: id, Err: err, Hint: "amber import undo " + id + " goes on"}
	}
	return u.report, nil
}

// undoing is one undo while it runs.
type undoing struct {
	ctx    context.Context
	store  amber.Store
	record wire.ImportRecord
	id     string // of its chunks
	chunks int
	now    amber.Time
	in     amber.Incoming
	marks  []amber.SyncMark // versions of the chunk that the other place of the format has a say in, too
	report wire.ImportUndo
}

// run undoes record by record. A link is emptied in the transaction that undoes its record, or after it, so that an undo
// that is killed goes on.
func (u *undoing) run() error {
	links, err := u.store.Sync.Links(u.ctx, amber.LinkQuery{Tool: u.record.Format, Chunk: u.record.ID})
	if err != nil {
		return err
	}
	order := []amber.ChangeScope{amber.SyncRelation, amber.ChangeMemory, amber.ChangeSession, noteScope}
	slices.SortStableFunc(links, func(a, b amber.SyncLink) int {
		return slices.Index(order, a.Ref.Scope) - slices.Index(order, b.Ref.Scope)
	})
	u.begin()
	for _, l := range links {
		e := parseExtra(l.Extra)
		if e.Met || e.Digest == "" && l.Ref.Scope != amber.ChangeSession && l.Ref.Scope != noteScope {
			continue // it was here before the import, or was undone
		}
		if err := u.link(l); err != nil {
			return err
		}
		if len(u.in.Links) >= batchRecords {
			if err := u.flush(); err != nil {
				return err
			}
		}
	}
	head := u.record
	head.Undone = true
	u.in.Links = append(u.in.Links, headLink(head))
	return u.flush()
}

func (u *undoing) begin() {
	u.chunks++
	u.marks = nil
	trust := amber.Trust(u.record.Trust)
	u.in = amber.Incoming{
		Place: place(u.record.Format, trust), Chunk: fmt.Sprintf("%s-%06d", u.id, u.chunks), Device: u.record.Format, CreatedBy: toolImport,
		At: u.now, Trust: trust,
	}
}

func (u *undoing) flush() error {
	if len(u.in.Links) > 0 {
		if err := u.release(); err != nil { // first: an undo that goes on does not come back to these records
			return err
		}
		if _, err := u.store.Sync.Apply(u.ctx, u.in); err != nil {
			return err
		}
	}
	u.begin()
	return nil
}

// release lets files that are one's own, and files that are not, bring back what is deleted now: nothing is left of it that
// one of them had to be kept from. In what is restored they have the say that they had before.
func (u *undoing) release() error {
	if len(u.marks) == 0 {
		return nil
	}
	return u.store.Sync.Exported(u.ctx, amber.ExportNote{Place: u.otherPlace(), CreatedBy: toolImport, Marks: u.marks})
}

// otherPlace is where files of the format come from that are one's own if those of the import are not, and the other way round.
func (u *undoing) otherPlace() string {
	if u.record.Trust == string(amber.TrustOwn) {
		return place(u.record.Format, amber.TrustImported)
	}
	return place(u.record.Format, amber.TrustOwn)
}

// put adds a record to the chunk.
func (u *undoing) put(r amber.SyncRecord, released bool) {
	u.in.Records = append(u.in.Records, r)
	if released {
		u.marks = append(u.marks, r.Mark())
	}
}

func (u *undoing) link(l amber.SyncLink) error {
	switch l.Ref.Scope {
	case amber.ChangeMemory:
		return u.memory(l)
	case amber.SyncRelation:
		return u.relation(l)
	case amber.ChangeSession:
		return u.session(l)
	case noteScope:
		return u.note(l)
	}
	return nil
}

// forget empties a link, with the version that its record has now, and the links of imports that met what this one had made.
func (u *undoing) forget(l amber.SyncLink, version amber.Origin) error {
	links, err := u.store.Sync.Links(u.ctx, amber.LinkQuery{Tool: l.Tool, Fingerprint: l.Fingerprint})
	if err != nil {
		return err
	}
	epoch := parseExtra(l.Extra).Epoch + 1
	for _, o := range links {
		if e := parseExtra(o.Extra); o.Chunk == l.Chunk && o.Ordinal == l.Ordinal || e.Met && o.Version == l.Version {
			o.Version, o.Extra = version, extra{Epoch: epoch}.String()
			u.in.Links = append(u.in.Links, o)
		}
	}
	return nil
}

func (u *undoing) keep(l amber.SyncLink, reason string) {
	u.report.Kept = append(u.report.Kept, wire.ImportKept{Kind: string(l.Ref.Scope), ID: l.Ref.ID, Reason: reason})
}

// memory deletes a memory that the import made, or gives it back the text it had before.
func (u *undoing) memory(l amber.SyncLink) error {
	now, err := u.store.Sync.SyncRecords(u.ctx, []amber.SyncRef{l.Ref})
	if err != nil {
		return err
	}
	m := now[0].Memory
	switch {
	case m == nil, !m.DeletedAt.IsZero():
		u.report.Gone++
		return nil
	case m.Origin != l.Version:
		return u.passOn(l, m.Origin)
	}
	before, earlier, err := u.before(l)
	if err != nil {
		return err
	}
	next := amber.SyncMemory{Memory: m.Memory, Saw: []amber.Origin{m.Origin}}
	next.Origin, next.Revision = u.after(m.Origin), m.Revision+1
	if earlier != nil {
		return u.restore(l, next, before, *earlier)
	}
	if err := u.as(amber.Trust(u.record.Trust)); err != nil {
		return err
	}
	next.Trust = amber.TrustOwn // the chunk decides what it becomes
	bury(&next, u.now)
	u.report.Deleted++
	u.put(amber.SyncRecord{Memory: &next}, true)
	return u.forget(l, next.Origin)
}

// restore makes the next version of a memory say what it said before.
func (u *undoing) restore(l amber.SyncLink, next amber.SyncMemory, before amber.Memory, earlier amber.SyncLink) error {
	held, err := u.store.Sync.Held(u.ctx, u.otherPlace(), []amber.SyncMark{{Ref: l.Ref, Origin: before.Origin}})
	if err == nil {
		err = u.as(u.keeping(before.Trust))
	}
	if err != nil {
		return err
	}
	origin, revision := next.Origin, next.Revision
	next.Memory = before
	next.Origin, next.Revision, next.DuplicateCount = origin, revision, 0
	earlier.Version = origin // the import before is what brought the memory as it is now
	u.in.Links = append(u.in.Links, earlier)
	u.report.Restored++
	u.put(amber.SyncRecord{Memory: &next}, held[0])
	return u.forget(l, origin)
}

// as changes the trust of the chunk. It first stores the records that are in the chunk already.
func (u *undoing) as(trust amber.Trust) error {
	if u.in.Trust != trust {
		if err := u.flush(); err != nil {
			return err
		}
		u.in.Trust = trust
	}
	return nil
}

// keeping is the trust of a chunk whose records keep a trust; see [amber.Incoming].
func (u *undoing) keeping(trust amber.Trust) amber.Trust {
	switch trust {
	case amber.TrustImported:
		return u.in.Trust // any will do
	case amber.TrustDerived:
		return amber.TrustSigned
	}
	return trust
}

// passOn is for a record that has changed since the import. If a later import changed it, the undo of that one takes
// it back, and this one has no part in it any more; otherwise it stays, since a person or an agent edited it here.
func (u *undoing) passOn(l amber.SyncLink, now amber.Origin) error {
	links, err := u.store.Sync.Links(u.ctx, amber.LinkQuery{Tool: l.Tool, Fingerprint: l.Fingerprint})
	if err != nil {
		return err
	}
	for _, other := range links {
		if other.Chunk > l.Chunk && other.Version == now && parseExtra(other.Extra).Digest != "" {
			u.in.Links = append(u.in.Links, released(l))
			return nil
		}
	}
	u.keep(l, "was changed since")
	return nil
}

// after is the version that follows one.
func (u *undoing) after(o amber.Origin) amber.Origin {
	return amber.Origin{Device: u.record.Format, Counter: o.Counter + 1, Clock: max(o.Clock+1, amber.StampAt(u.now.Time()))}
}

// before returns what the memory said before the import, with the link of the import that brought it; nil if none did.
func (u *undoing) before(l amber.SyncLink) (amber.Memory, *amber.SyncLink, error) {
	last, err := u.earlierLink(l)
	if err != nil {
		return amber.Memory{}, nil, err
	}
	if last == nil {
		return amber.Memory{}, nil, nil
	}
	history, err := amber.All(u.ctx, u.store.Memories.History, amber.MemoryID(l.Ref.ID))
	if err != nil {
		return amber.Memory{}, nil, err
	}
	for _, v := range history {
		if v.Origin == last.Version && v.DeletedAt.IsZero() {
			return v, last, nil
		}
	}
	return amber.Memory{}, nil, nil
}

func (u *undoing) relation(l amber.SyncLink) error {
	now, err := u.store.Sync.SyncRecords(u.ctx, []amber.SyncRef{l.Ref})
	if err != nil {
		return err
	}
	r := now[0].Relation
	switch {
	case r == nil, !r.DeletedAt.IsZero():
		u.report.Gone++
		return nil
	case r.Origin != l.Version:
		u.keep(l, "was changed since")
		return nil
	}
	next := *r
	next.DeletedAt = u.now
	next.Origin = u.after(r.Origin)
	u.put(amber.SyncRecord{Relation: &next}, true)
	u.report.Deleted++
	return u.forget(l, next.Origin)
}

// session deletes a session that the import made. A session that an earlier import made and this one made longer
// stays.
func (u *undoing) session(l amber.SyncLink) error {
	e := parseExtra(l.Extra)
	if e.Digest == "" && e.Epoch > 0 && l.Version == (amber.Origin{}) {
		return nil // it was undone before
	}
	now, err := u.store.Sync.SyncRecords(u.ctx, []amber.SyncRef{l.Ref})
	if err != nil {
		return err
	}
	s := now[0].Session
	earlier, err := u.earlierLink(l)
	switch {
	case err != nil:
		return err
	case s == nil:
		u.report.Gone++
		return nil
	case s.Origin != l.Version:
		return u.passOn(l, s.Origin)
	case earlier != nil:
		u.keep(l, "an earlier import made it, and this one made it longer: turns are not taken out of a session")
		earlier.Version = s.Origin // so that undoing the earlier one deletes it
		u.in.Links = append(u.in.Links, *earlier, released(l))
		return nil
	}
	if here, err := spoken(u.ctx, u.store, u.record.Format, s.ID); here || err != nil {
		if here {
			u.keep(l, "something was said or kept in it here")
		}
		return err
	}
	if err := u.store.Sessions.DeleteSession(u.ctx, s.ID); err != nil {
		return err
	}
	u.report.Deleted++
	if err := u.forget(l, amber.Origin{}); err != nil {
		return err
	}
	return u.flush()
}

// earlierLink returns the link of the import before that brought the record, too; nil if none did.
func (u *undoing) earlierLink(l amber.SyncLink) (last *amber.SyncLink, err error) {
	links, err := u.store.Sync.Links(u.ctx, amber.LinkQuery{Tool: l.Tool, Fingerprint: l.Fingerprint})
	for i, o := range links {
		e := parseExtra(o.Extra)
		if o.Chunk < l.Chunk && e.Digest != "" && !(e.Met && o.Version == l.Version) {
			last = &links[i]
		}
	}
	return last, err
}
