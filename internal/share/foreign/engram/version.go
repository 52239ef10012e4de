package engram

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
)

// version is what an observation says about a memory: a text, that it was deleted, or both.
type version struct {
	memory  amber.SyncMemory // without text when there is only a deletion
	deleted amber.Time       // zero: it was not
	rank    int              // rows come before mutations
	counter uint64           // as the row has it
	print   string
	link    amber.SyncLink
	tomb    *amber.SyncMemory // made by order
	exact   bool              // the row says which version it is
}

// hasText reports whether there is a live version to write down.
func (v *version) hasText() bool { return v.memory.DeletedAt.IsZero() }

// maxCounter leaves room above every counter that is taken from a row: a higher one would win for ever.
const maxCounter = 1 << 18

// goneCounter is the counter of a deletion that does not name the deleted version. It is above all counters of rows,
// as Engram does not let a deleted row come back.
const goneCounter = maxCounter + 1

// version reads an observation.
func (r *reader) version(o Observation) (*version, error) {
	if m, ok := o.memoryOf(); ok {
		return r.exactly(m, o)
	}
	m, err := r.identify(o)
	if err != nil {
		return nil, err
	}
	if err := setText(&m, o); err != nil {
		return nil, err
	}
	print := o.Fingerprint()
	sync := strings.TrimSpace(deref(o.SyncID))
	m.ID = memoryID(m, sync, print)
	m.Trust = amber.TrustImported
	m.Tags, m.Metadata, m.SourceRefs = []string{}, map[string]string{}, []amber.SourceRef{}
	if o.pinned() {
		m.Metadata["pinned"] = "true"
	}
	counter := min(max(o.RevisionCount, 1), maxCounter)
	m.Origin = amber.Origin{Device: tool, Counter: uint64(counter), Clock: stamp(m.UpdatedAt, print)}
	m.Revision = counter
	v := &version{memory: amber.SyncMemory{Memory: m}, counter: m.Origin.Counter, print: print}
	if o.DeletedAt != nil {
		v.deleted = latest(parseTime(*o.DeletedAt), m.UpdatedAt)
	}
	rec := amber.SyncRecord{Memory: &v.memory}
	v.link = LinkOf(Entity{Observation: &o}, rec)
	if err := errors.Join(rec.Check(), checkKept(v.link)); err != nil {
		return nil, err
	}
	if sync != "" {
		r.ofSync[sync] = m.ID
	}
	return v, nil
}

// exactly returns the version that the row says it is.
func (r *reader) exactly(m amber.SyncMemory, o Observation) (*version, error) {
	v := &version{memory: m, counter: m.Origin.Counter, print: o.Fingerprint(), exact: true}
	v.link = LinkOf(Entity{Observation: &o}, amber.SyncRecord{Memory: &m})
	if sync := strings.TrimSpace(deref(o.SyncID)); sync != "" {
		r.ofSync[sync] = m.ID
	}
	return v, checkKept(v.link)
}

// identify reads everything but the text: whose it is, of what kind, when.
func (r *reader) identify(o Observation) (m amber.Memory, err error) {
	session, err := cleanID("session id", o.SessionID)
	if err != nil {
		return m, err
	}
	project, err := cleanID("project id", deref(o.Project))
	if err != nil {
		return m, err
	}
	project = r.project.Of(project)
	m.Kind, m.Scope = kindOf(o.Type), scopeOf(o.Scope, project)
	m.Identities = amber.Identities{SessionID: amber.SessionID(session), ProjectID: project}
	if m.Scope == amber.ScopeUser {
		m.UserID = r.user
	}
	created, updated, seen := parseTime(o.CreatedAt), parseTime(o.UpdatedAt), parseTime(deref(o.LastSeenAt))
	m.UpdatedAt = latest(created, updated)
	if m.UpdatedAt.IsZero() {
		m.UpdatedAt = seen
	}
	if m.CreatedAt = created; created.IsZero() {
		m.CreatedAt = m.UpdatedAt
	}
	if m.CreatedAt.IsZero() {
		return m, errors.New("the row has no valid time")
	}
	if topic := deref(o.TopicKey); topic != "" {
		// A topic that Amber does not take stays with the row.
		if n, err := (amber.WriteRequest{Content: "-", Topic: topic}).Normalize(); err == nil {
			m.Topic = n.Topic
		}
	}
	return m, nil
}

// setText sets title and content, and keeps what had to be changed of them.
func setText(m *amber.Memory, o Observation) error {
	f := observed{kept: keepObservation(o)}
	if m.Title = cleanTitle(o.Title); m.Title != o.Title {
		f.Title = &o.Title
	}
	content := o.Content
	if strings.TrimSpace(content) == "" {
		content, f.Blank = o.Title, &o.Content
	}
	if strings.TrimSpace(content) == "" {
		return errors.New("the row has neither title nor content")
	}
	if len(content) > amber.MaxContentBytes {
		return fmt.Errorf("the content has %d bytes, want at most %d", len(content), amber.MaxContentBytes)
	}
	m.Content, f.Lost = clean(content, control)
	m.ContentDigest = amber.ContentDigest(m.Content)
	m.Foreign = map[string]json.RawMessage{tool: marshal(f)}
	return nil
}

// keep takes a version in, or says why not.
func (r *reader) keep(what string, ordinal int, v *version, err error) {
	if err != nil {
		r.drop(fmt.Sprintf("%s in row %d", what, ordinal), err)
		return
	}
	v.link.Chunk, v.link.Ordinal = r.chunk.ID, ordinal
	r.observed = append(r.observed, v)
	r.versions[v.memory.ID] = append(r.versions[v.memory.ID], v)
	r.said[saying{v.memory.ID, v.print, v.deleted.IsZero()}] = true
}

// saying is what a version says, by whatever counter.
type saying struct {
	id    amber.MemoryID
	print string
	live  bool
}

// order makes the versions of each memory follow each other: one database had all of them before it. A row that is live in
// it comes after those that were deleted, whenever that was.
func (r *reader) order() {
	for _, all := range r.versions {
		slices.SortStableFunc(all, func(a, b *version) int {
			return cmp.Or(
				cmp.Compare(a.rank, b.rank), cmp.Compare(a.live(), b.live()),
				cmp.Compare(a.memory.Origin.Clock, b.memory.Origin.Clock),
			)
		})
		var last amber.Origin
		for i, v := range all {
			if v.exact {
				if v.memory.Origin.After(last) {
					last = v.memory.Origin
				}
				continue
			}
			if i > 0 && v.sameAs(all[i-1]) {
				v.share(all[i-1])
				continue
			}
			v.follow(last)
			last = v.finish()
		}
	}
}

// live returns 1 for a row that was not deleted, and 0 for one that was.
func (v *version) live() int {
	if v.deleted.IsZero() {
		return 1
	}
	return 0
}

// sameAs reports whether two rows are one: 1.7.0 has a row twice when it imported it twice.
func (v *version) sameAs(w *version) bool {
	return !w.exact && v.hasText() && w.hasText() && v.print == w.print && v.counter == w.counter && v.deleted == w.deleted &&
		v.memory.Origin.Clock == w.memory.Origin.Clock
}

func (v *version) share(w *version) {
	v.memory.Origin, v.memory.Revision, v.memory.Saw = w.memory.Origin, w.memory.Revision, w.memory.Saw
	v.tomb, v.link.Version = w.tomb, w.link.Version
}

// follow makes the version one that comes after last, if there is one.
func (v *version) follow(last amber.Origin) {
	m := &v.memory
	if last.Counter == 0 {
		return
	}
	if !m.Origin.After(last) {
		m.Origin.Counter = last.Counter + 1
		m.Revision = int64(m.Origin.Counter)
	}
	m.Saw = []amber.Origin{last}
}

// finish adds the tombstone of a version with text that was deleted. It returns the origin of the last of the two.
func (v *version) finish() amber.Origin {
	v.link.Version = v.memory.Origin
	if v.deleted.IsZero() || !v.hasText() {
		return v.memory.Origin
	}
	o := amber.Origin{Device: tool, Counter: v.memory.Origin.Counter + 1, Clock: max(stamp(v.deleted, v.print), v.memory.Origin.Clock)}
	t := tombstone(v.memory.Memory, v.deleted, o)
	t.Saw = []amber.Origin{v.memory.Origin}
	v.tomb, v.link.Version = &t, o
	return o
}

// tombstone returns what is left of a memory that was deleted.
func tombstone(m amber.Memory, at amber.Time, o amber.Origin) amber.SyncMemory {
	return amber.SyncMemory{Memory: amber.Memory{
		ID: m.ID, Kind: m.Kind, Scope: m.Scope, Identities: m.Identities, Trust: amber.TrustImported,
		Tags: []string{}, Metadata: map[string]string{}, SourceRefs: []amber.SourceRef{},
		Origin: o, Revision: int64(o.Counter), CreatedAt: m.CreatedAt, UpdatedAt: at, DeletedAt: at,
	}}
}

// emit writes the records of a version down. The link is that of the last one.
func (r *reader) emit(v *version) {
	live := Row{Record: amber.SyncRecord{Memory: &v.memory}, Exact: v.exact}
	if v.tomb == nil {
		live.Link = v.link
		r.rows = append(r.rows, live)
		return
	}
	r.rows = append(r.rows, live, Row{Record: amber.SyncRecord{Memory: v.tomb}, Link: v.link})
}
