package gitsync_test

import (
	"database/sql"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/gitsync/chunk"
)

// version is a version of a memory, a relation or a session that a store has acknowledged. The test reads it back at
// the moment it is made.
type version struct {
	key     string
	origin  amber.Origin
	deleted bool
	fields  string // what everybody must see of it
	text    string // of a memory
	project string
	// shared: it was exported. Maybe: an export of another project may have
	// taken it along. Told: it was exported with its text. Kept: it was passed
	// over, as its memory was deleted then or in between.
	shared, maybe, told, kept bool
	// unsure: it was passed over, and then restored without what deleted it.
	unsure bool
}

// prompt is a prompt that a store has acknowledged.
type prompt struct {
	fields, project string
	shared          bool
	// goneShared: its deletion was exported. PerhapsGone: an export of another
	// project may have taken that along.
	goneShared, perhapsGone bool
}

// erasure is that of a memory.
type erasure struct{ shared, maybe bool }

// oracle knows all that was ever acknowledged. It knows nothing of how sync
// works: the latest origin of what was shared wins, and that is all.
type oracle struct {
	versions map[string]map[amber.Origin]*version
	erased   map[amber.MemoryID]*erasure
	prompts  map[amber.TurnID]*prompt
	answers  map[amber.TurnID]int // whose they are
	personal map[amber.MemoryID]int
	memories map[amber.MemoryID]amber.Memory // any version: scope and project never change
	adopted  map[string]string               // what the first clone shows where the oracle cannot know
	// tainted are the records that the adversary wrote about, by key. A member who
	// wrote to the folder may have said anything of them.
	tainted map[string]bool
	forged  map[string]bool // versions of the adversary, by key and origin
}

func newOracle() *oracle {
	return &oracle{
		versions: map[string]map[amber.Origin]*version{}, erased: map[amber.MemoryID]*erasure{}, prompts: map[amber.TurnID]*prompt{},
		answers: map[amber.TurnID]int{}, personal: map[amber.MemoryID]int{}, memories: map[amber.MemoryID]amber.Memory{},
		adopted: map[string]string{}, tainted: map[string]bool{}, forged: map[string]bool{},
	}
}

// made is what a home has that it has not exported.
type made struct {
	versions map[*version]bool
	erased   map[amber.MemoryID]bool
	prompts  map[amber.TurnID]bool
	gone     map[amber.TurnID]bool
}

func newMade() made {
	return made{map[*version]bool{}, map[amber.MemoryID]bool{}, map[amber.TurnID]bool{}, map[amber.TurnID]bool{}}
}

func (o *oracle) addErased(id amber.MemoryID) {
	if o.erased[id] == nil {
		o.erased[id] = &erasure{}
	}
}

// add returns the version, and whether no clone has seen it before. Two with one origin say the same.
func (o *oracle) add(w *world, v version) (*version, bool) {
	all := o.versions[v.key]
	if all == nil {
		all = map[amber.Origin]*version{}
		o.versions[v.key] = all
	}
	old := all[v.origin]
	switch {
	case old == nil && o.forged[fmt.Sprint(v.key, v.origin)]:
		return &v, false
	case old == nil:
		all[v.origin] = &v
		return &v, true
	case o.tainted[v.key], v.deleted && v.text == "" && o.isErased(v.key): // a part was erased
		return old, false
	}
	if old.deleted != v.deleted || !v.deleted && old.fields != v.fields {
		w.failf("%s has two versions %v:\n%s %v\n%s %v", v.key, v.origin, old.fields, old.deleted, v.fields, v.deleted)
	}
	return old, false
}

// isErased reports whether a clone erased the memory of a key.
func (o *oracle) isErased(key string) bool {
	id, ok := strings.CutPrefix(key, "memory ")
	return ok && o.erased[amber.MemoryID(id)] != nil
}

func (o *oracle) addMemory(w *world, m amber.Memory) (*version, bool) {
	o.memories[m.ID] = m
	return o.add(w, version{
		key: "memory " + string(m.ID), origin: m.Origin, deleted: !m.DeletedAt.IsZero(),
		fields: memoryFields(m), text: m.Content, project: m.ProjectID,
	})
}

func memoryFields(m amber.Memory) string {
	return fmt.Sprintf("%v %v %q %q %q %q %v %q %q %v", m.Kind, m.Scope, m.Title, m.Content, m.Summary, m.Topic, m.Tags, m.ProjectID, m.SessionID, m.CreatedAt)
}

func promptFields(t amber.Turn) string {
	return fmt.Sprintf("%q %q %q %v", t.SessionID, t.Content, t.ProjectID, t.CreatedAt)
}

// memories lists what the store has, tombstones too, by id.
func (p *party) memories() (out []amber.Memory) {
	for q := (amber.ListQuery{All: true, Deleted: true, Limit: amber.MaxPageSize}); ; {
		page, err := p.store.List(p.t.Context(), q)
		p.check(err)
		out = append(out, page.Items...)
		if q.Cursor = page.Next; q.Cursor == "" {
			slices.SortFunc(out, func(a, b amber.Memory) int { return strings.Compare(string(a.ID), string(b.ID)) })
			return out
		}
	}
}

func (p *party) live() []amber.Memory {
	return slices.DeleteFunc(p.memories(), func(m amber.Memory) bool { return !m.DeletedAt.IsZero() })
}

// reading returns what the store has, by id.
func (p *party) reading() map[amber.MemoryID]amber.Memory {
	out := map[amber.MemoryID]amber.Memory{}
	for _, m := range p.memories() {
		out[m.ID] = m
	}
	return out
}

// database opens the file of the store: origins of relations and sessions are
// not to be had otherwise.
func (p *party) database() *sql.DB {
	c, err := p.agent.Current()
	p.check(err)
	db, err := sql.Open("sqlite", "file:"+filepath.Join(p.agent.GenDir(c), "memory.db")+"?_pragma=busy_timeout(10000)&_pragma=synchronous(OFF)")
	p.check(err)
	db.SetMaxOpenConns(1)
	return db
}

// rows returns relations, sessions and sessions that departed.
func (p *party) rows() map[string]version {
	out := map[string]version{}
	p.query(`SELECT 'relation ' || from_id || ' ' || to_id || ' ' || type, device, counter, clock, coalesce(deleted_at, 0) > 0, strength, '' FROM relations
UNION ALL SELECT 'session ' || id, device, counter, clock, 0, json_array(name, binding, project, directory, started_at, ended_at, end_reason, summary, parent), project FROM sessions
UNION ALL SELECT 'session ' || id, device, counter, clock, 1, '', project FROM departed WHERE scope = 'session' AND id NOT IN (SELECT id FROM sessions)`,
		func(scan func(...any)) {
			var v version
			scan(&v.key, &v.origin.Device, &v.origin.Counter, &v.origin.Clock, &v.deleted, &v.fields, &v.project)
			out[v.key] = v
		})
	return out
}

func (p *party) query(q string, each func(scan func(...any))) {
	db := p.database()
	defer db.Close()
	rows, err := db.Query(q)
	p.check(err)
	defer rows.Close()
	for rows.Next() {
		each(func(dest ...any) { p.check(rows.Scan(dest...)) })
	}
	p.check(rows.Err())
}

// ids returns what a query finds.
func (p *party) ids(q string) (out []string) {
	p.query(q, func(scan func(...any)) {
		var id string
		scan(&id)
		out = append(out, id)
	})
	return out
}

// prompts returns the prompts of all sessions there are. Answers are where
// they were given, and nowhere else.
func (p *party) prompts() map[amber.TurnID]string {
	out := map[amber.TurnID]string{}
	for n := range sessionNames {
		turns, err := amber.LastTurns(p.t.Context(), p.store, amber.SessionID(fmt.Sprint("session-", n)), 1000)
		p.check(err)
		for _, turn := range turns {
			if turn.Role == amber.RoleUser {
				out[turn.ID] = promptFields(turn)
			} else if p.known.answers[turn.ID] != p.n {
				p.failf("clone %d has the answer %s of clone %d", p.n, turn.ID, p.known.answers[turn.ID])
			}
		}
	}
	return out
}

// readMemory takes down what a change here made of a memory. It wins over all
// that the store has of it.
func (p *party) readMemory(id amber.MemoryID, changed bool) {
	all, err := amber.All(p.t.Context(), p.store.History, id)
	if amber.KindOf(err) == amber.KindNotFound {
		return
	}
	p.check(err)
	var fresh []*version
	for _, m := range all {
		v, isNew := p.known.addMemory(p.world, m)
		if !isNew {
			continue
		}
		if m.Scope == amber.ScopeUser {
			p.known.personal[id] = p.n
		}
		p.makes(v)
		fresh = append(fresh, v)
	}
	if changed && len(fresh) > 1 {
		p.failf("one change made %d versions of %s", len(fresh), id)
	}
	for _, v := range fresh {
		for _, m := range all {
			if m.Origin != v.origin && !v.origin.After(m.Origin) && changed && !p.known.tainted[v.key] {
				p.failf("memory %s was changed to %v, which is not after %v", id, v.origin, m.Origin)
			}
		}
	}
}

// makes takes down a version that was made here now.
func (p *party) makes(v *version) {
	if v.origin.Clock <= p.last {
		p.failf("%s was stamped %v, which is not after %v", v.key, v.origin, p.last)
	}
	p.newest = max(p.newest, v.origin.Clock)
	p.made.versions[v], p.mine[v] = true, true
}

// readRows takes down what a change made of relations and sessions.
func (p *party) readRows(before map[string]version) {
	now := p.rows()
	for _, key := range slices.Sorted(maps.Keys(now)) {
		v, isNew := p.known.add(p.world, now[key])
		if !isNew {
			continue
		}
		p.makes(v)
		if old, there := before[key]; there && !v.origin.After(old.origin) {
			p.failf("%s was changed to %v, which is not after %v", key, v.origin, old.origin)
		}
	}
}

// readAll takes down everything after a restore: versions that the store has and perhaps no other clone are to be
// exported again, and all the rest was never made.
func (p *party) readAll(before map[amber.MemoryID]amber.Memory, rows map[string]version, locally bool) {
	old := p.made
	p.made = newMade()
	p.readRows(rows)
	defer p.keepMine()
	after := p.reading()
	for _, id := range slices.Sorted(maps.Keys(after)) {
		p.readMemory(id, false)
		all, err := amber.All(p.t.Context(), p.store.History, id)
		p.check(err)
		for _, m := range all {
			if v, _ := p.known.addMemory(p.world, m); !v.shared && !v.kept {
				p.made.versions[v] = true
			}
		}
	}
	current, err := p.agent.Current()
	p.check(err)
	for key, v := range p.rows() {
		if v, _ := p.known.add(p.world, v); !v.shared {
			p.made.versions[v] = true
		}
		then, there := rows[key]
		// A session that was deleted in the snapshot, and that others have brought
		// back since, comes back with the next import.
		theirs := v.deleted && !then.deleted && then.origin.Device != current.Device
		if there && !theirs && !locally && then.origin.After(v.origin) {
			p.failf("the restore leaves %s at %v, and the next import would undo it with %v", key, v.origin, then.origin)
		}
	}
	erased := p.ids(`SELECT id FROM erased`)
	for id, then := range before {
		now, there := after[id]
		// Versions that others made come back with the next import. Where the adversary has erased what the folder had
		// of a memory, nothing is left of it in a snapshot that had no more than that.
		forged := p.known.tainted["memory "+string(id)] && slices.Contains(erased, string(id))
		if !there && !locally && !forged && p.known.erased[id] == nil && then.Origin.Device == current.Device {
			p.failf("the restore leaves nothing of %s", id)
		}
		if there && !locally && then.Origin.After(now.Origin) {
			p.failf("the restore leaves %s at %v, and the next import would undo it with %v", id, now.Origin, then.Origin)
		}
	}
	for id := range p.prompts() {
		if !p.known.prompts[id].shared {
			p.made.prompts[id] = true
		}
	}
	for _, id := range p.ids(`SELECT id FROM departed WHERE scope = 'turn'`) {
		if known := p.known.prompts[amber.TurnID(id)]; known != nil && !known.goneShared {
			p.made.gone[amber.TurnID(id)] = true
		}
	}
	p.made.erased = old.erased // no restore takes an erasure back
	for id := range old.erased {
		if _, there := after[id]; there {
			p.failf("the restore brought %s back, which was erased", id)
		}
	}
}

// exported notes what an export shared: everything that was made here, but for
// what a project's export leaves out, personal memories, and the text of
// memories that are deleted.
func (o *oracle) exported(p *party, now map[amber.MemoryID]amber.Memory, project string) {
	wanted := func(of string) bool { return project == "" || of == project }
	for v := range p.made.versions {
		kind, name, _ := strings.Cut(v.key, " ")
		switch kind {
		case "memory":
			m, there := now[amber.MemoryID(name)]
			switch {
			case p.erased[amber.MemoryID(name)]: // there, so it stays here
				continue
			case there && (m.Scope == amber.ScopeUser || !wanted(m.ProjectID)):
				continue
			case there && m.DeletedAt.IsZero() && !v.deleted && p.deletedSince(v):
				v.kept = true
			case there && m.DeletedAt.IsZero():
				v.shared, v.told = true, !v.deleted
			case there && m.Origin == v.origin:
				v.shared = true
			default:
				v.kept = true
			}
		case "relation":
			from, to := o.ends(v.key)
			if from.Scope == amber.ScopeUser || to.Scope == amber.ScopeUser || !wanted(from.ProjectID) || !wanted(to.ProjectID) {
				continue
			}
			v.shared = o.erased[from.ID] == nil && o.erased[to.ID] == nil
			v.maybe = true
		case "session":
			v.maybe = true
			if !wanted(v.project) {
				continue
			}
			v.shared = true
		}
		delete(p.made.versions, v)
	}
	share(p.made.erased, func(id amber.MemoryID) bool {
		o.erased[id].maybe = true
		o.erased[id].shared = o.erased[id].shared || project == ""
		return project == ""
	})
	share(p.made.prompts, func(id amber.TurnID) bool {
		known := o.prompts[id]
		known.shared = known.shared || wanted(known.project)
		return wanted(known.project)
	})
	share(p.made.gone, func(id amber.TurnID) bool {
		known := o.prompts[id]
		known.perhapsGone = true
		known.goneShared = known.goneShared || project == ""
		return project == ""
	})
}

// deletedSince reports whether this clone knows that the memory was deleted
// after a version of it: its text need not leave any more, also where the
// memory is back.
func (p *party) deletedSince(v *version) bool {
	_, id, _ := strings.Cut(v.key, " ")
	all, err := amber.All(p.t.Context(), p.store.History, amber.MemoryID(id))
	p.check(err)
	return slices.ContainsFunc(all, func(m amber.Memory) bool { return !m.DeletedAt.IsZero() && m.Origin.After(v.origin) })
}

// share takes out of a set what is shared.
func share[K comparable](set map[K]bool, shared func(K) bool) {
	for k := range set {
		if shared(k) {
			delete(set, k)
		}
	}
}

// ends returns the memories that a relation is between.
func (o *oracle) ends(key string) (from, to amber.Memory) {
	parts := strings.SplitN(key, " ", 4)
	return o.memories[amber.MemoryID(parts[1])], o.memories[amber.MemoryID(parts[2])]
}

// winner returns the version that must be everywhere, nil if there is none.
// Known is false where an export may have shared a later one.
func (o *oracle) winner(key string) (best *version, known bool) {
	known = true
	for _, v := range o.versions[key] {
		if v.shared && (best == nil || v.origin.After(best.origin)) {
			best = v
		}
	}
	for _, v := range o.versions[key] {
		if v.maybe && !v.shared && (best == nil || v.origin.After(best.origin)) {
			known = false
		}
	}
	return best, known
}

func (v *version) String() string { return fmt.Sprintf("%s %v", v.fields, v.origin) }

// want returns what every clone must show under a kind of keys, and the keys
// about which the oracle does not know.
func (o *oracle) want(kind string) (want map[string]string, unknown map[string]bool) {
	want, unknown = map[string]string{}, map[string]bool{}
	for key := range o.versions {
		if !strings.HasPrefix(key, kind+" ") {
			continue
		}
		best, known := o.winner(key)
		if !known {
			unknown[key] = true
		} else if best != nil && !best.deleted {
			want[key] = best.String()
		}
	}
	return want, unknown
}

// compare checks what a clone shows against what it must show. A key that the oracle does not know must show the same
// as on the first clone.
func (o *oracle) compare(p *party, kind string, got, want map[string]string, unknown map[string]bool) {
	for key := range o.tainted {
		delete(want, key)
		delete(got, key)
		delete(unknown, key)
	}
	for key := range unknown {
		if _, there := o.adopted[key]; !there {
			o.adopted[key] = got[key]
		}
		if delete(want, key); o.adopted[key] != "" {
			want[key] = o.adopted[key]
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		p.failf("clone %d: %s (-want +got):\n%s", p.n, kind, diff)
	}
}

// verify checks that a clone holds exactly what was shared.
func (o *oracle) verify(p *party) {
	live := o.verifyMemories(p)
	o.verifyHistories(p, live)
	o.verifyRows(p, live)
	o.verifyPrompts(p)
}

func (o *oracle) verifyMemories(p *party) map[string]string {
	want, unknown := o.want("memory")
	for id, e := range o.erased {
		key := "memory " + string(id)
		if delete(want, key); !e.shared && e.maybe {
			unknown[key] = true
		} else if !e.shared {
			if best, _ := o.winner(key); best != nil && !best.deleted {
				want[key] = best.String()
			}
		}
	}
	got := map[string]string{}
	for _, m := range p.live() {
		if m.Scope == amber.ScopeUser {
			if o.personal[m.ID] != p.n {
				p.failf("clone %d has the personal memory %s of clone %d", p.n, m.ID, o.personal[m.ID])
			}
			continue
		}
		v := version{fields: memoryFields(m), origin: m.Origin}
		key := "memory " + string(m.ID)
		if o.erased[m.ID] != nil && p.mayKeep(m) { // erased elsewhere, and never there
			delete(want, key)
			delete(unknown, key)
			continue
		}
		got[key] = v.String()
	}
	o.compare(p, "memories", got, want, unknown)
	return got
}

// verifyHistories checks that every text that was shared of a live memory is there, that only clones made versions, and
// that erased text is gone.
func (o *oracle) verifyHistories(p *party, live map[string]string) {
	for _, m := range p.memories() {
		all, err := amber.All(p.t.Context(), p.store.History, m.ID)
		p.check(err)
		have := map[string]bool{}
		if o.tainted["memory "+string(m.ID)] {
			continue
		}
		for _, v := range all {
			if _, isNew := o.addMemory(p.world, v); isNew {
				p.failf("clone %d has a version of %s that nobody made: %+v", p.n, m.ID, v)
			}
			have[v.Content] = true
		}
		key := "memory " + string(m.ID)
		if live[key] == "" {
			continue
		}
		for origin, v := range o.versions[key] {
			if v.told && !have[v.text] {
				p.failf("clone %d lacks version %v of %s in its history: %s", p.n, origin, m.ID, v.fields)
			}
		}
	}
	for id, e := range o.erased {
		all, err := amber.All(p.t.Context(), p.store.History, id)
		if !e.shared || amber.KindOf(err) == amber.KindNotFound || o.tainted["memory "+string(id)] {
			continue
		}
		p.check(err)
		for _, m := range all {
			if !p.mayKeep(m) && (m.DeletedAt.IsZero() || m.Content != "") {
				p.failf("clone %d has version %v of %s, which was erased: %q", p.n, m.Origin, id, m.Content)
			}
		}
	}
}

func (o *oracle) verifyRows(p *party, live map[string]string) {
	relations, sessions := map[string]string{}, map[string]string{}
	shown := func(key string) bool {
		from, to := o.ends(key)
		a, b := "memory "+string(from.ID), "memory "+string(to.ID)
		return live[a] != "" && live[b] != "" && !o.tainted[a] && !o.tainted[b]
	}
	for key, v := range p.rows() {
		if _, isNew := o.add(p.world, v); isNew {
			p.failf("clone %d has a version of %s that nobody made: %v", p.n, key, v.origin)
		}
		switch {
		case v.deleted:
		case strings.HasPrefix(key, "session "):
			sessions[key] = v.String()
		case shown(key):
			relations[key] = v.String()
		}
	}
	want, unknown := o.want("relation")
	maps.DeleteFunc(want, func(key, _ string) bool { return !shown(key) })
	maps.DeleteFunc(unknown, func(key string, _ bool) bool { return !shown(key) })
	o.compare(p, "relations", relations, want, unknown)
	want, unknown = o.want("session")
	o.compare(p, "sessions", sessions, want, unknown)
}

func (o *oracle) verifyPrompts(p *party) {
	want, unknown, got := map[string]string{}, map[string]bool{}, map[string]string{}
	for id, known := range o.prompts {
		switch {
		case known.goneShared:
		case known.perhapsGone:
			unknown["prompt "+string(id)] = true
		case known.shared:
			want["prompt "+string(id)] = known.fields
		}
	}
	for id, fields := range p.prompts() {
		got["prompt "+string(id)] = fields
	}
	o.compare(p, "prompts", got, want, unknown)
}

// sameConflicts checks that all clones list the same conflicts, of memories
// all versions of which were shared.
func (o *oracle) sameConflicts(parties []*party) {
	var first map[string]string
	for _, p := range parties {
		got := map[string]string{}
		report, err := p.store.SyncReport(p.t.Context(), p.sync.Dir())
		p.check(err)
		for _, c := range report.Conflicts {
			if key := "memory " + string(c.ID); o.allShared(key) && !o.tainted[key] && o.erased[c.ID] == nil {
				var others []string
				for _, v := range c.Others {
					others = append(others, fmt.Sprint(v.Origin))
				}
				slices.Sort(others)
				got[key] = fmt.Sprint(c.Kept.Origin, others)
			}
		}
		if first == nil {
			first = got
		}
		if diff := cmp.Diff(first, got); diff != "" {
			p.failf("clones %d and %d list other conflicts:\n%s", parties[0].n, p.n, diff)
		}
	}
}

func (o *oracle) allShared(key string) bool {
	for _, v := range o.versions[key] {
		if !v.shared || !v.deleted && !v.told {
			return false
		}
	}
	return true
}

// mustHoldNothingErased checks that after a compaction no chunk holds text of
// a memory that was erased.
func (w *world) mustHoldNothingErased() {
	for name, b := range w.central {
		id, ok := chunk.ParseFileName(name)
		if !ok {
			w.failf("%s is no name of a chunk", name)
		}
		parts, err := chunk.Open(id, b)
		w.check(err)
		for _, part := range parts {
			c, err := chunk.Decode(part.ID, part.Bytes)
			w.check(err)
			for _, r := range c.Records {
				if r.Memory != nil && !w.known.tainted["memory "+string(r.Memory.ID)] && w.known.erased[r.Memory.ID] != nil && w.known.erased[r.Memory.ID].shared {
					w.failf("chunk %s still holds the erased memory %s", part.ID, r.Memory.ID)
				}
			}
		}
	}
}
