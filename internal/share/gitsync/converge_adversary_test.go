package gitsync_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/gitsync/chunk"
)

// The adversary may write to the folder and knows every id and every origin of
// everybody, also of what was never exported. Nothing that a home made and never
// exported may be lost or changed by what the adversary writes; and what is not
// about records that the adversary wrote of converges as if there were none.

// attack adds a chunk to the repository that is about records of a clone, or one
// that was there once more.
func (w *world) attack(victim *party, r *rand.Rand) {
	records := w.hostile
	if len(records) == 0 || r.IntN(6) > 0 {
		records = w.forge(victim, r)
	}
	if len(records) == 0 {
		return
	}
	h := chunk.Header{Device: "mallory", Incarnation: "i", CreatedBy: fmt.Sprint("mallory ", r.Uint64()), CreatedAt: amber.At(victim.clock.now())}
	if r.IntN(2) == 0 {
		h.Device = victim.device()
	}
	id, b, err := chunk.Encode(w.t.Context(), h, records, nil)
	w.check(err)
	w.central[id.FileName()] = b
	w.hostile = records
	for _, rec := range records {
		w.known.taint(rec)
	}
}

// taint notes what the adversary wrote about.
func (o *oracle) taint(r amber.SyncRecord) {
	m := r.Mark()
	key := fmt.Sprint(m.Ref.Scope, " ", m.Ref.ID)
	o.tainted[key] = true
	o.forged[fmt.Sprint(key, m.Origin)] = true
	if m.Ref.Scope == amber.ChangeTurn {
		o.tainted["prompt "+m.Ref.ID] = true
	}
}

func (p *party) device() string {
	c, err := p.agent.Current()
	p.check(err)
	return c.Device
}

// forge makes up records, each version once.
func (w *world) forge(victim *party, r *rand.Rand) []amber.SyncRecord {
	var all []amber.SyncRecord
	seen := map[amber.SyncMark]bool{}
	add := func(rec amber.SyncRecord) {
		kinds := rec.Mark()
		if rec.Erased != nil {
			kinds.Ref.ID += " erased"
		}
		if rec.Check() == nil && !seen[kinds] {
			seen[kinds] = true
			all = append(all, rec)
		}
	}
	memories := append(victim.memories(), guessed(r))
	m := pick(r, memories)
	for range 1 + r.IntN(4) {
		switch r.IntN(8) {
		case 0, 1:
			add(amber.SyncRecord{Erased: &amber.SyncErased{ID: m.ID, Origin: w.later(victim, r, m.Origin)}})
		case 2, 3:
			add(w.forgedVersion(victim, r, m))
		case 4:
			gone := w.forgedVersion(victim, r, m)
			add(tombstoneOf(gone))
		case 5:
			w.forgeSession(victim, r, add)
		case 6:
			w.forgePrompt(victim, r, add)
		case 7:
			other := pick(r, memories)
			rel := amber.Relation{
				ID: fmt.Sprint("forged-", r.IntN(9)), From: m.ID, To: other.ID, Type: "supersedes", Strength: 1,
				Origin: w.later(victim, r, amber.Origin{}), CreatedAt: amber.UnixMilli(1),
			}
			if r.IntN(3) == 0 {
				rel.DeletedAt = amber.UnixMilli(2)
			}
			add(amber.SyncRecord{Relation: &rel})
		}
	}
	return all
}

// guessed is a topic that anybody may write about, or none yet.
func guessed(r *rand.Rand) amber.Memory {
	m := amber.Memory{
		Kind: amber.ProjectFact, Scope: amber.ScopeProject, Topic: fmt.Sprint("topic-", r.IntN(4)), CreatedAt: amber.UnixMilli(1), UpdatedAt: amber.UnixMilli(1),
	}
	m.ProjectID = pick(r, projects)
	m.ID = amber.TopicID(m.ProjectID, m.Scope, m.Identity(), m.Topic, 0)
	return m
}

// later returns an origin at or after one, of the adversary or of the victim.
func (w *world) later(victim *party, r *rand.Rand, o amber.Origin) amber.Origin {
	n := amber.Origin{Device: "mallory", Counter: max(o.Counter, 1) + uint64(r.IntN(3)), Clock: max(o.Clock, amber.StampAt(victim.clock.now()))}
	if r.IntN(3) == 0 {
		n.Counter += uint64(r.IntN(5000))
	}
	if r.IntN(3) == 0 {
		n.Device = victim.device()
	}
	return n
}

// forgedVersion is another text of a memory, of the next version or of one that is
// there, in another scope and with a trust that is not its own.
func (w *world) forgedVersion(victim *party, r *rand.Rand, m amber.Memory) amber.SyncRecord {
	v := m
	v.Content = fmt.Sprint("forged ", r.Uint64())
	v.ContentDigest, v.Revision, v.DuplicateCount, v.DeletedAt = amber.ContentDigest(v.Content), int64(1+r.IntN(9)), 0, amber.Time{}
	v.Trust = pick(r, []amber.Trust{amber.TrustOwn, amber.TrustSigned, amber.TrustImported, amber.TrustDerived})
	v.Origin = w.later(victim, r, m.Origin)
	if r.IntN(5) == 0 && m.Origin.Counter > 0 {
		v.Origin = m.Origin
	}
	if v.Scope == amber.ScopeUser || r.IntN(3) == 0 {
		v.Topic, v.Scope, v.UserID, v.ProjectID = "", amber.ScopeProject, "", pick(r, []string{shop, "evil/project"})
	}
	rec := amber.SyncMemory{Memory: v}
	if r.IntN(2) == 0 && v.Origin.After(m.Origin) && m.Origin.Counter > 0 {
		rec.Saw = []amber.Origin{m.Origin}
	}
	return amber.SyncRecord{Memory: &rec}
}

// tombstoneOf deletes what a version says.
func tombstoneOf(r amber.SyncRecord) amber.SyncRecord {
	m := r.Memory
	return amber.SyncRecord{Memory: &amber.SyncMemory{Memory: amber.Memory{
		ID: m.ID, Kind: m.Kind, Scope: m.Scope, Identities: m.Identities, Trust: m.Trust, Origin: m.Origin, Revision: m.Revision,
		CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt, DeletedAt: amber.UnixMilli(5),
	}, Saw: m.Saw}}
}

// forgeSession changes or deletes a session.
func (w *world) forgeSession(victim *party, r *rand.Rand, add func(amber.SyncRecord)) {
	id := victim.anySession(r)
	o := w.later(victim, r, victim.rows()["session "+string(id)].origin)
	if r.IntN(2) == 0 {
		add(amber.SyncRecord{Gone: &amber.SyncGone{Scope: amber.ChangeSession, ID: string(id), Origin: o}})
		return
	}
	at := amber.UnixMilli(9)
	add(amber.SyncRecord{Session: &amber.SyncSession{Session: amber.Session{
		ID: id, Name: "forged", Binding: "cli", Project: "evil/project", StartedAt: at, EndedAt: at, EndReason: amber.EndEnded,
		Summary: "forged", CreatedAt: at, UpdatedAt: at,
	}, Origin: o}})
}

// forgePrompt deletes a prompt, or forges a prompt that another person is said to have typed.
func (w *world) forgePrompt(victim *party, r *rand.Rand, add func(amber.SyncRecord)) {
	ids := slices.Sorted(maps.Keys(victim.prompts()))
	if len(ids) == 0 {
		return
	}
	id := pick(r, ids)
	if r.IntN(2) == 0 {
		add(amber.SyncRecord{Gone: &amber.SyncGone{Scope: amber.ChangeTurn, ID: string(id), Origin: w.later(victim, r, amber.Origin{})}})
		return
	}
	add(amber.SyncRecord{Prompt: &amber.Turn{
		ID: id, SessionID: victim.anySession(r), Role: amber.RoleUser, Content: fmt.Sprint("forged ", r.Uint64()), ProjectID: shop, CreatedAt: amber.UnixMilli(3),
	}})
}

// belongings are what a home made and never exported, as it is there.
type belongings struct {
	newest  map[amber.MemoryID]string // memories whose newest version it is
	texts   map[*version]bool         // versions whose text never left
	rows    map[string]string         // sessions and relations
	prompts map[amber.TurnID]bool
	answers map[amber.TurnID]bool
}

// owns returns what an import must leave as it is. Where there is no adversary
// the other checks say as much.
func (p *party) owns() (b belongings) {
	if len(p.hostile) == 0 {
		return b
	}
	b = belongings{map[amber.MemoryID]string{}, map[*version]bool{}, map[string]string{}, maps.Clone(p.made.prompts), p.answers()}
	here := p.prompts()
	maps.DeleteFunc(b.prompts, func(id amber.TurnID, _ bool) bool { return here[id] == "" })
	for v := range p.mine {
		if strings.HasPrefix(v.key, "memory ") && !v.told && !v.unsure && !v.deleted {
			b.texts[v] = true
		}
	}
	for _, m := range p.memories() {
		if v := p.known.versions["memory "+string(m.ID)][m.Origin]; v != nil && p.mine[v] && !v.shared && !v.maybe && !v.unsure {
			b.newest[m.ID] = wholeMemory(m)
		}
	}
	for key, row := range p.rows() {
		if v := p.known.versions[key][row.origin]; v != nil && p.mine[v] && !v.shared && !v.maybe && !row.deleted {
			b.rows[key] = fmt.Sprint(row.fields, row.origin)
		}
	}
	return b
}

// wholeMemory is everything but how many versions are beside it.
func wholeMemory(m amber.Memory) string {
	m.Revision, m.DuplicateCount = 0, 0
	return fmt.Sprintf("%+v", m)
}

func (p *party) answers() map[amber.TurnID]bool {
	out := map[amber.TurnID]bool{}
	for _, id := range p.ids(`SELECT id FROM turns WHERE role <> 'user'`) {
		out[amber.TurnID(id)] = true
	}
	return out
}

// mustStillOwn checks that nothing was taken away or changed.
func (p *party) mustStillOwn(b belongings) {
	if b.newest == nil {
		return
	}
	now, rows, prompts, answers := p.reading(), p.rows(), p.prompts(), p.answers()
	for id, was := range b.newest {
		if got := wholeMemory(now[id]); got != was {
			p.failf("an import changed memory %s of clone %d, which was never exported:\n%s\n%s", id, p.n, was, got)
		}
	}
	p.mustHaveTexts(b.texts)
	for key, was := range b.rows {
		row, there := rows[key]
		if got := fmt.Sprint(row.fields, row.origin); got != was && (there || strings.HasPrefix(key, "session ") || p.bothEnds(now, key)) {
			p.failf("an import changed %s of clone %d, which was never exported:\n%s\n%s", key, p.n, was, got)
		}
	}
	for id := range b.prompts {
		if prompts[id] != p.known.prompts[id].fields {
			p.failf("an import changed prompt %s of clone %d, which was never exported: %q", id, p.n, prompts[id])
		}
	}
	for id := range b.answers {
		if !answers[id] {
			p.failf("an import took the answer %s away from clone %d", id, p.n)
		}
	}
	p.done["own records kept"] += len(b.newest) + len(b.texts) + len(b.rows) + len(b.prompts) + len(b.answers)
	p.done["own records lost"] += 0
}

// bothEnds reports whether the memories of a relation are there.
func (p *party) bothEnds(now map[amber.MemoryID]amber.Memory, key string) bool {
	from, to := p.known.ends(key)
	_, a := now[from.ID]
	_, b := now[to.ID]
	return a && b
}

// mustHaveTexts checks that versions are in the history of their memories.
func (p *party) mustHaveTexts(texts map[*version]bool) {
	have := map[amber.MemoryID]map[string]bool{}
	for v := range texts {
		_, name, _ := strings.Cut(v.key, " ")
		id := amber.MemoryID(name)
		if have[id] == nil {
			have[id] = map[string]bool{}
			all, err := amber.All(p.t.Context(), p.store.History, id)
			if amber.KindOf(err) != amber.KindNotFound {
				p.check(err)
			}
			for _, m := range all {
				have[id][fmt.Sprint(m.Origin, m.Content)] = true
			}
		}
		if !have[id][fmt.Sprint(v.origin, v.text)] {
			p.failf("an import took %q of %s away from clone %d, which was never exported", v.text, id, p.n)
		}
	}
}

// keepMine forgets what a restore took away.
func (p *party) keepMine() {
	there := map[string]bool{}
	for _, m := range p.memories() {
		all, err := amber.All(p.t.Context(), p.store.History, m.ID)
		p.check(err)
		for _, v := range all {
			there[fmt.Sprint("memory ", v.ID, v.Origin)] = true
		}
	}
	for _, row := range p.rows() {
		there[fmt.Sprint(row.key, row.origin)] = true
	}
	maps.DeleteFunc(p.mine, func(v *version, _ bool) bool { return !there[fmt.Sprint(v.key, v.origin)] })
	for v := range p.mine {
		v.unsure = v.unsure || v.kept
	}
}

// mayKeep reports whether a version is this home's own and its text was never in
// the folder, as far as the home knows.
func (p *party) mayKeep(m amber.Memory) bool {
	v := p.known.versions["memory "+string(m.ID)][m.Origin]
	return v != nil && p.mine[v] && (!v.told || p.forgetful)
}

// readErasures takes down which memories an import was told are erased.
func (p *party) readErasures() {
	for name, b := range p.files() {
		ids, known := p.erasures[name]
		if !known {
			ids = []amber.MemoryID{}
			id, _ := chunk.ParseFileName(name)
			parts, err := chunk.Open(id, b)
			p.check(err)
			for _, part := range parts {
				c, err := chunk.Decode(part.ID, part.Bytes)
				p.check(err)
				for _, r := range c.Records {
					if r.Erased != nil {
						ids = append(ids, r.Erased.ID)
					}
				}
			}
			p.erasures[name] = ids
		}
		for _, id := range ids {
			p.erased[id] = true
		}
	}
}
