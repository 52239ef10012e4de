package transfer

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/wire"
)

// fate says what becomes of a row, or of a record of Amber.
type fate int

const (
	isNew         fate = iota // nothing is stored under its id
	isChanged                 // the row says something else than at its last import
	isAgain                   // the import of the row was undone, and the row is new once more
	isRecord                  // a record: what is stored decides whether it is new or changed
	recordChanged             // a record that is a version of a stored memory
	recordAgain               // a record whose import was undone, and that is new once more
)

// ofRow reports whether a row takes the place of what is stored.
func (f fate) ofRow() bool { return f == isChanged || f == isAgain }

// again reports whether an undone import comes back.
func (f fate) again() bool { return f == isAgain || f == recordAgain }

// pending is a memory that waits for its transaction.
type pending struct {
	at     foreign.Place
	key    foreign.Key
	fate   fate
	digest string
	known  string // the digest of what the row said last, where that needs not be said again
	epoch  int
	// vouched tells that files which are the caller's own say what came from files that were not.
	vouched bool
	memory  amber.SyncMemory
	before  []amber.SyncMemory // earlier texts
	record  int                // its index in the chunk
	link    amber.SyncLink
}

// Memory implements [foreign.Sink].
func (c *carrier) Memory(m foreign.Memory) error {
	if !c.o.wants(Memories) {
		return nil
	}
	if err := c.look(); err != nil {
		return err
	}
	c.report.Memories.Read++
	plain := c.rowKey(m.Key)
	m.Key = c.userKey(m, plain)
	print := foreign.Fingerprint(c.format, "memory", m.Key)
	if c.met[print] {
		c.Skip(m.Place, "row has the key of another row of this import")
		return nil
	}
	c.met[print] = true
	shaped, ok := c.shape(m)
	if !ok {
		return nil
	}
	if !c.o.Since.IsZero() && shaped.UpdatedAt.Before(c.o.Since) {
		c.report.Older++
		return nil
	}
	c.sample("memory", cmp.Or(shaped.Title, firstLine(shaped.Content)))
	if err := c.settle(m, shaped); err != nil {
		return err
	}
	c.follow(plain, m.Key)
	return nil
}

// userKey is the key of a row about a user. A user whom the caller names is part of it: what one user's files say never takes
// the place of what another's said.
func (c *carrier) userKey(m foreign.Memory, plain foreign.Key) foreign.Key {
	if c.o.User == "" || m.Scope != amber.ScopeUser && m.UserID == "" {
		return plain
	}
	return append(slices.Clone(plain), "user "+c.o.User)
}

// follow lets relations, which name a row by its plain key, find the memory of that row.
func (c *carrier) follow(plain, key foreign.Key) {
	from, id := foreign.MemoryID(c.format, plain), foreign.MemoryID(c.format, key)
	if to := cmp.Or(c.moved[id], id); to != from {
		c.moved[from] = to
	}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// settle finds out whether a row is new, changed or known, and puts it into the batch.
func (c *carrier) settle(m foreign.Memory, shaped amber.Memory) error {
	digest := rowDigest(shaped, m.DeletedAt)
	link, was, linked, err := c.linked("memory", m.Key)
	switch {
	case err != nil:
		return err
	case linked && was.Digest == digest && (was.Own || !c.o.AsOwn):
		c.report.Memories.Known++
		return nil
	}
	if here, err := c.recognise(m, shaped); here || err != nil {
		return err
	}
	p := pending{at: m.Place, key: m.Key, digest: digest, epoch: was.Epoch, memory: amber.SyncMemory{Memory: shaped}}
	p.vouched = linked && c.o.AsOwn && !was.Own
	if !p.vouched {
		p.known = was.Digest
	}
	p.memory.ID = foreign.MemoryID(c.format, m.Key)
	sum := foreign.Digest(digest)
	p.memory.Origin = amber.Origin{Device: c.format, Counter: 1, Clock: foreign.Stamp(shaped.UpdatedAt, sum)}
	if linked {
		if p.fate = isChanged; was.Digest == "" {
			p.fate = isAgain
		}
		p.memory.Origin.Counter = link.Version.Counter + 1
		p.memory.Origin.Clock = max(p.memory.Origin.Clock, link.Version.Clock)
		p.memory.Saw = []amber.Origin{link.Version}
	}
	if !m.DeletedAt.IsZero() {
		if !linked {
			c.Skip(m.Place, "the program deleted the row")
			return nil
		}
		bury(&p.memory, m.DeletedAt)
	} else if !linked {
		p.before = c.earlier(&p.memory, m.Earlier)
	}
	return c.add(p)
}

// recognise finds a memory that was exported from here: a row names its id, and says what it says. Whatever else a row
// says about an id counts for nothing.
func (c *carrier) recognise(m foreign.Memory, shaped amber.Memory) (done bool, err error) {
	id, err := amber.ParseMemoryID(m.AmberID)
	if err != nil {
		return false, nil
	}
	here, err := c.store.Memories.Get(c.ctx, id)
	switch {
	case amber.KindOf(err) == amber.KindNotFound:
		return c.isGone(m.Place, id)
	case err != nil:
		return false, err
	case strings.TrimSpace(here.Content) != strings.TrimSpace(shaped.Content):
		return false, nil
	}
	c.moved[foreign.MemoryID(c.format, m.Key)] = id
	c.report.Memories.Known++
	return true, nil
}

// isGone reports, also to Skip, a row of an export from here whose memory was forgotten or erased since.
func (c *carrier) isGone(at foreign.Place, id amber.MemoryID) (bool, error) {
	now, err := c.store.Sync.SyncRecords(c.ctx, []amber.SyncRef{memoryRef(id)})
	if err != nil || now[0].Erased == nil && now[0].Memory == nil {
		return false, err
	}
	c.Skip(at, "memory %s was forgotten or erased here", id)
	return true, nil
}

// bury makes a version one that says the memory is deleted.
func bury(m *amber.SyncMemory, at amber.Time) {
	m.Memory = amber.Memory{
		ID: m.ID, Kind: m.Kind, Scope: m.Scope, Identities: m.Identities, Trust: m.Trust, Origin: m.Origin, Revision: m.Revision,
		CreatedAt: m.CreatedAt, UpdatedAt: later(m.UpdatedAt, at), DeletedAt: at,
	}
	foreign.FillLists(&m.Memory)
}

func later(a, b amber.Time) amber.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// earlier makes versions of what a row said before, and m the last of them.
func (c *carrier) earlier(m *amber.SyncMemory, texts []foreign.Earlier) (out []amber.SyncMemory) {
	if len(texts) > maxEarlier {
		texts = texts[len(texts)-maxEarlier:]
	}
	saw := m.Saw
	for i, t := range texts {
		v := *m
		v.Content = c.text(t.Content)
		v.ContentDigest = amber.ContentDigest(v.Content)
		v.UpdatedAt = cmp.Or(t.At, m.CreatedAt)
		v.Revision = int64(i + 1)
		v.Origin.Counter = uint64(i + 1)
		v.Origin.Clock = foreign.Stamp(v.UpdatedAt, foreign.Digest(t.Content))
		v.Saw = saw
		saw = []amber.Origin{v.Origin}
		out = append(out, v)
	}
	m.Saw, m.Revision, m.Origin.Counter = saw, int64(len(texts)+1), uint64(len(texts)+1)
	return out
}

// maxEarlier bounds the earlier texts of a row that are kept.
const maxEarlier = 100

// rowDigest distinguishes two contents of a row. Times are not in it: a file that was only touched says nothing new.
func rowDigest(m amber.Memory, deleted amber.Time) string {
	m.CreatedAt, m.UpdatedAt, m.Trust, m.Origin, m.Revision = amber.Time{}, amber.Time{}, "", amber.Origin{}, 0
	b, err := json.Marshal(m)
	if err != nil {
		return "" // never equal to a digest that is stored
	}
	mark := "live"
	if !deleted.IsZero() {
		mark = "deleted"
	}
	return foreign.Hex(foreign.Digest("row", mark, string(b)))
}

// add puts a memory into the batch, and stores the batch when that is full.
func (c *carrier) add(p pending) error {
	for _, v := range append(slices.Clone(p.before), p.memory) {
		if err := (amber.SyncRecord{Memory: &v}).Check(); err != nil {
			c.refuse(p.at, err)
			return nil
		}
		c.bytes += len(v.Content) + len(v.Summary)
	}
	c.batch = append(c.batch, p)
	if len(c.batch) < batchRecords && c.bytes < batchBytes {
		return nil
	}
	return c.flush()
}

// flush stores the batch and the links that wait.
func (c *carrier) flush() error {
	batch := c.batch
	c.batch, c.bytes = nil, 0
	batch, err := c.compare(batch)
	if err != nil {
		return err
	}
	if c.o.DryRun {
		return c.foresee(batch)
	}
	if err := c.vouch(batch); err != nil {
		return err
	}
	in := c.incoming()
	for i := range batch {
		p := &batch[i]
		for i := range p.before {
			in.Records = append(in.Records, amber.SyncRecord{Memory: &p.before[i]})
		}
		p.record = len(in.Records)
		in.Records = append(in.Records, amber.SyncRecord{Memory: &p.memory})
		p.link = c.link("memory", p.key, memoryRef(p.memory.ID), p.memory.Origin, extra{Digest: p.digest, Epoch: p.epoch})
		in.Links = append(in.Links, p.link)
	}
	stored, err := c.applyTold(in)
	if err != nil {
		return err
	}
	return c.tellStored(batch, stored)
}

// vouch gives files that are the caller's own a say in what came from files of the format that were not.
func (c *carrier) vouch(batch []pending) error {
	var marks []amber.SyncMark
	for _, p := range batch {
		if p.vouched {
			for _, o := range p.memory.Saw {
				marks = append(marks, amber.SyncMark{Ref: memoryRef(p.memory.ID), Origin: o})
			}
		}
	}
	if len(marks) == 0 {
		return nil
	}
	return c.store.Sync.Exported(c.ctx, amber.ExportNote{Place: place(c.format, c.trust), CreatedBy: toolImport, Marks: marks})
}

func memoryRef(id amber.MemoryID) amber.SyncRef {
	return amber.SyncRef{Scope: amber.ChangeMemory, ID: string(id)}
}

// compare holds a batch against what is stored: what was erased here stays erased, and what came here by another way
// is followed.
func (c *carrier) compare(batch []pending) (out []pending, err error) {
	now, err := c.stored(batch)
	if err != nil {
		return nil, err
	}
	for i := range batch {
		p := &batch[i]
		if now[i].Erased != nil {
			c.Skip(p.at, "memory %s was erased here", p.memory.ID)
			continue
		}
		known, err := c.meet(p, now[i].Memory)
		if err == nil && !known {
			known, err = c.keepReach(p, now[i].Memory)
		}
		if err != nil {
			return nil, err
		}
		if known {
			c.report.Memories.Known++
			continue
		}
		if m := now[i].Memory; m != nil && m.CreatedAt.Before(p.memory.CreatedAt) {
			p.memory.CreatedAt = m.CreatedAt // a program that keeps one time keeps that of the last change
		}
		out = append(out, *p)
	}
	return out, nil
}

// meet decides about a row that may be here without a link. Known tells that there is nothing to store.
func (c *carrier) meet(p *pending, now *amber.SyncMemory) (known bool, err error) {
	switch {
	case p.fate == isRecord && now == nil:
		p.fate = isNew
	case p.fate == isRecord:
		p.fate = recordChanged
		return c.knows(*p, now)
	case now != nil && p.fate == isNew && p.says(now):
		c.links = append(c.links, c.link("memory", p.key, memoryRef(p.memory.ID), now.Origin, extra{Digest: p.digest, Met: true}))
		return true, nil
	case now != nil && p.fate == isNew:
		p.follow(now)
	}
	return false, nil
}

// keepReach leaves the user and the project of a memory that is the caller's own as they are, which the store would do, too.
// Known tells that there is nothing to store then.
func (c *carrier) keepReach(p *pending, now *amber.SyncMemory) (known bool, err error) {
	if now == nil || !p.fate.ofRow() || !p.memory.DeletedAt.IsZero() || p.memory.Scope == now.Scope && p.memory.Identities == now.Identities {
		return false, nil
	}
	own, err := c.isOwn(now)
	if err != nil || !own {
		return false, err
	}
	c.unmoved++
	row := p.memory.Memory
	row.ID, row.Scope, row.Identities = "", now.Scope, now.Identities
	p.memory.Scope, p.memory.Identities, p.digest = now.Scope, now.Identities, rowDigest(row, amber.Time{})
	return p.digest == p.known, nil
}

// isOwn reports whether a version of a memory is the caller's own.
func (c *carrier) isOwn(m *amber.SyncMemory) (bool, error) {
	if m.Trust == amber.TrustOwn {
		return true, nil
	}
	history, err := amber.All(c.ctx, c.store.Memories.History, m.ID)
	if amber.KindOf(err) == amber.KindNotFound {
		return false, nil
	}
	return slices.ContainsFunc(history, func(v amber.Memory) bool { return v.Trust == amber.TrustOwn }), err
}

// says reports whether a memory that is here without a link is what the row says: another machine has imported the
// row, and sync brought it.
func (p *pending) says(now *amber.SyncMemory) bool {
	return p.memory.Origin == now.Origin || now.ContentDigest == p.memory.ContentDigest && now.DeletedAt.IsZero()
}

// follow makes such a row a later version of the memory that is here.
func (p *pending) follow(now *amber.SyncMemory) {
	p.fate = isChanged
	p.memory.Origin.Counter = now.Origin.Counter + 1
	p.memory.Origin.Clock = max(p.memory.Origin.Clock, now.Origin.Clock)
	p.memory.Saw = []amber.Origin{now.Origin}
}

func (c *carrier) stored(batch []pending) ([]amber.SyncRecord, error) {
	refs := make([]amber.SyncRef, len(batch))
	for i, p := range batch {
		refs[i] = memoryRef(p.memory.ID)
	}
	return c.store.Sync.SyncRecords(c.ctx, refs)
}

// tellStored counts the rows of a batch that were stored: those that are new, and those that took the place of what
// was there. A row that is not stored by now was stored by another import meanwhile, which takes it back on its undo,
// or was changed here, too.
func (c *carrier) tellStored(batch []pending, stored map[int]bool) error {
	rest := slices.DeleteFunc(slices.Clone(batch), func(p pending) bool { return p.fate == isNew && stored[p.record] })
	c.report.Memories.New += int64(len(batch) - len(rest))
	if len(rest) == 0 {
		return nil
	}
	now, err := c.stored(rest)
	if err != nil {
		return err
	}
	for i, p := range rest {
		follows := now[i].Memory != nil && now[i].Memory.Origin == p.memory.Origin
		if follows && !stored[p.record] {
			c.report.Memories.Known++
			c.links = append(c.links, met(p.link))
			continue
		}
		c.countChanged(p, follows)
	}
	return nil
}

// met is a link to what another import has stored.
func met(l amber.SyncLink) amber.SyncLink {
	e := parseExtra(l.Extra)
	e.Met = true
	l.Extra = e.String()
	return l
}

func (c *carrier) countChanged(p pending, follows bool) {
	switch {
	case follows && p.fate.again():
		c.report.Memories.New++
		return
	case follows:
		c.report.Memories.Changed++
		return
	}
	c.conflict(wire.ImportConflict{Kind: "memory", ID: string(p.memory.ID), Title: cmp.Or(p.memory.Title, firstLine(p.memory.Content)), Place: p.at.String()})
}

func (c *carrier) conflict(x wire.ImportConflict) {
	c.report.Conflicts++
	x.Title = clip.Marked(x.Title, maxReported)
	if len(c.report.ConflictList) < wire.MaxImportSkips {
		c.report.ConflictList = append(c.report.ConflictList, x)
	}
}

// shape makes a memory of a row, without its secrets. It reports the values that do not fit.
func (c *carrier) shape(m foreign.Memory) (amber.Memory, bool) {
	out := amber.Memory{
		Kind: cmp.Or(m.Kind, amber.WorkspaceFact), Identities: m.Identities,
		Title: m.Title, Content: m.Content, Summary: m.Summary, Tags: slices.Clone(m.Tags), Metadata: maps.Clone(m.Metadata),
		SourceRefs: slices.Clone(m.SourceRefs), Trust: amber.TrustOwn, Revision: 1,
		CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt,
	}
	if m.Topic != "" {
		if out.Metadata == nil {
			out.Metadata = map[string]string{}
		}
		out.Metadata["topic"] = m.Topic
	}
	if raw := foreign.Raw(m.Foreign); raw != nil {
		out.Foreign = map[string]json.RawMessage{c.format: raw}
	}
	c.date(m, &out)
	if !c.reach(m, &out) {
		return out, false
	}
	if c.secret(string(out.SessionID), out.UserID, out.ProjectID, out.WorkspaceID) {
		c.Skip(m.Place, "the session, user or project of the memory has a secret in its name")
		return out, false
	}
	if n := len(out.Content); n > maxCleaned { // what is cleaned of it would be refused
		c.Skip(m.Place, "content has %d bytes, want at most %d", n, amber.MaxContentBytes)
		return out, false
	}
	c.clean(&out)
	return c.canonical(m.Place, out)
}

// maxCleaned is how long a text may be to be looked through for secrets. Without these it may be short enough.
const maxCleaned = 2 * amber.MaxContentBytes

// date fills in the times that a row lacks.
func (c *carrier) date(m foreign.Memory, out *amber.Memory) {
	fallback := amber.At(c.o.Clock())
	if f, ok := c.tree.File(m.Place.File); ok {
		fallback = cmp.Or(f.ModifiedAt(), fallback)
	}
	out.UpdatedAt = cmp.Or(out.UpdatedAt, out.CreatedAt, fallback)
	out.CreatedAt = cmp.Or(out.CreatedAt, out.UpdatedAt)
	if out.UpdatedAt.Before(out.CreatedAt) {
		out.UpdatedAt = out.CreatedAt
	}
}

// reach decides who sees a memory.
func (c *carrier) reach(m foreign.Memory, out *amber.Memory) bool {
	if c.o.Project != "" {
		out.ProjectID = c.o.Project
	}
	if c.o.User != "" && (m.Scope == amber.ScopeUser || out.UserID != "") {
		out.UserID = c.o.User
	}
	out.Scope = m.Scope
	if out.Scope == "" {
		out.Scope = amber.ScopeGlobal
		for _, s := range []amber.Scope{amber.ScopeUser, amber.ScopeProject} {
			if out.For(s) != "" {
				out.Scope = s
				break
			}
		}
	}
	if out.Scope == amber.ScopeGlobal || out.For(out.Scope) != "" {
		return true
	}
	if out.Scope == amber.ScopeUser {
		if c.o.NeedUser {
			c.Skip(m.Place, "memory is about a user and no user is named")
			return false
		}
		c.homeless++
	}
	out.Scope = amber.ScopeGlobal
	if out.ProjectID != "" {
		out.Scope = amber.ScopeProject
	}
	return true
}

// canonical brings a memory into the form that the store keeps.
func (c *carrier) canonical(at foreign.Place, m amber.Memory) (amber.Memory, bool) {
	n, err := m.AsRequest().Normalize()
	if err != nil {
		c.refuse(at, err)
		return m, false
	}
	m.Kind, m.Title, m.Tags, m.ContentDigest = n.Kind, n.Title, n.Tags, amber.ContentDigest(m.Content)
	foreign.FillLists(&m)
	return m, true
}
