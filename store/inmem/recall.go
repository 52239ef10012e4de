package inmem

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/recall/analyze"
	"github.com/amber-memory/amber/internal/recall/search"
)

const (
	backendName  = "inmem"
	snippetBytes = 240
)

// Recall implements [amber.LongTerm]: it makes an index of everything there is, and asks it.
func (s *Store) Recall(ctx context.Context, q amber.Query) (amber.RecallResult, error) {
	q, clamped, err := q.Normalize()
	if err != nil {
		return amber.RecallResult{Hits: []amber.Hit{}}, err
	}
	return answered(ctx, s, q, clamped, false)
}

// everything answers questions to everything.
type everything struct{ s *Store }

// Ask implements [amber.Everything].
func (e everything) Ask(ctx context.Context, q amber.Query, leave amber.Leave) (amber.RecallResult, error) {
	q, clamped, err := q.NormalizeAll(leave)
	if err != nil {
		return amber.RecallResult{Hits: []amber.Hit{}}, err
	}
	return answered(ctx, e.s, q, clamped, true)
}

// answered answers a query that was normalized: from what its identities see, or from everything.
func answered(ctx context.Context, s *Store, q amber.Query, clamped []amber.Clamp, all bool) (amber.RecallResult, error) {
	return run(ctx, s, "recall", func() (result amber.RecallResult, err error) {
		result = amber.RecallResult{Hits: []amber.Hit{}, Clamped: clamped}
		if strings.TrimSpace(q.Text) == "" {
			result.Hits = s.newest(q, all)
		} else if result.Hits, err = s.find(q, all); err != nil {
			return result, err
		}
		all := len(result.Hits)
		result.Hits = firstPage(result.Hits, all, func(amber.Hit) amber.Cursor { return "" }).Items
		if n := len(result.Hits); n < all {
			result.Clamped = append(result.Clamped, amber.Clamp{Key: "limit", Requested: int64(q.Limit), Effective: int64(n)})
		}
		return result, nil
	})
}

// newest answers a query without words.
func (s *Store) newest(q amber.Query, all bool) []amber.Hit {
	found := []amber.Memory{}
	if !slices.Contains(q.Layers, amber.LayerMemory) {
		return []amber.Hit{}
	}
	for _, r := range s.records {
		m := r.present()
		if r.live() && (all || q.Sees(m.Scope, m.Identities)) && passes(q.Filter, m) && q.Believes(m.Trust) {
			found = append(found, m)
		}
	}
	slices.SortFunc(found, func(a, b amber.Memory) int {
		return cmp.Or(cmp.Compare(b.UpdatedAt.UnixMilli(), a.UpdatedAt.UnixMilli()), cmp.Compare(b.ID, a.ID))
	})
	hits := []amber.Hit{}
	for _, m := range found[:min(len(found), q.Limit)] {
		h := signed(memoryHit(m), search.Passage{Source: search.SourceMemory, Owner: string(m.ID)}, analyze.Query{})
		if h.Score = 1; q.Explain {
			h.Why = &amber.Why{Terms: []amber.TermMatch{}}
		}
		hits = append(hits, h)
	}
	return hits
}

// owned is what a passage was taken from.
type owned struct {
	hit    amber.Hit
	fields []search.NamedText
}

// find asks the index.
func (s *Store) find(q amber.Query, all bool) ([]amber.Hit, error) {
	index, owners := s.index()
	r := search.Request{Text: q.Text, Filter: search.FilterOf(q), Now: s.now().UnixMilli(), Prompt: q.Prompted(), Limit: q.Limit}
	if all {
		r.Filter = search.FilterOfAll(q)
	}
	if !q.Since.IsZero() {
		r.Since = q.Since.UnixMilli()
	}
	if !q.Until.IsZero() {
		r.Until = q.Until.UnixMilli()
	}
	answer, err := search.Recall(index, nil, r)
	hits := []amber.Hit{}
	for _, p := range answer.Ranked {
		if p.Score < q.MinScore {
			continue
		}
		o := owners[ownerKey(p.Passage)]
		h := signed(o.hit, p.Passage, analyze.Parse(q.Text))
		if h.Score = p.Score; q.Explain {
			fields := slices.DeleteFunc(slices.Clone(o.fields), func(f search.NamedText) bool { return strings.TrimSpace(f.Text) == "" })
			h.Why = search.Explain(answer.Asked, p, fields)
		}
		hits = append(hits, h)
	}
	return hits, err
}

// signed says where a hit comes from.
func signed(h amber.Hit, p search.Passage, q analyze.Query) amber.Hit {
	if h.Layer, h.Owner = search.LayerOf(p.Source), p.Owner; h.Layer == amber.LayerActivity {
		h.Owner = string(h.SessionID)
	}
	if p.Source == search.SourceNote {
		p.Part = 0 // the hit has no more than the part
	}
	parts := search.Cut(h.Content)
	h.Snippet = analyze.Snippet(parts[min(p.Part, len(parts)-1)], q, snippetBytes)
	h.Provenance = amber.Provenance{Backend: backendName, Locator: p.Source + "/" + p.Owner}
	return h
}

// index makes an index of everything there is.
func (s *Store) index() (*search.Memory, map[string]owned) {
	x := &indexing{index: search.NewMemory(), owners: map[string]owned{}}
	for _, r := range s.records {
		if m := r.present(); r.live() {
			x.add(r.analysed(), owned{memoryHit(m), search.MemoryTexts(m, r.concepts)})
		}
	}
	before := map[amber.SessionID]string{}
	for _, t := range s.turns {
		texts := search.OfTurn(t, s.sessions[t.SessionID].Project, before[t.SessionID])
		for i := range texts {
			texts[i].Place = s.places[t.ID] + int64(i)
		}
		if texts != nil {
			before[t.SessionID] = t.Content
		}
		h := amber.Hit{
			SessionID: t.SessionID, ProjectID: t.ProjectID, Role: t.Role, Content: t.Content, Trust: search.TurnTrust(t),
			CreatedAt: t.CreatedAt, UpdatedAt: t.CreatedAt,
		}
		x.add(analysed(texts), s.ofSession(h))
	}
	for _, c := range s.compactions {
		h := amber.Hit{SessionID: c.SessionID, Content: c.Summary, Trust: amber.TrustDerived, CreatedAt: c.CreatedAt, UpdatedAt: c.CreatedAt}
		x.add(analysed(search.OfCompaction(c, s.sessions[c.SessionID].Project)), s.ofSession(h))
	}
	for _, n := range s.sessions {
		h := amber.Hit{
			SessionID: n.ID, ProjectID: n.Project, Title: n.Name, Content: n.Summary, Trust: cmp.Or(n.Trust, amber.TrustDerived),
			CreatedAt: n.StartedAt, UpdatedAt: n.UpdatedAt,
		}
		x.add(analysed(search.OfSession(n)), s.ofSession(h))
	}
	for id, done := range s.activity {
		for i, a := range done {
			h := amber.Hit{SessionID: id, Title: a.Name, Content: a.Detail, Trust: amber.TrustDerived, CreatedAt: a.FirstAt, UpdatedAt: a.LastAt}
			x.add(analysed(search.OfActivity(fmt.Sprintf("%s/%d", id, i), a, s.sessions[id].Project)), s.ofSession(h))
		}
	}
	for name := range s.notes {
		for _, p := range s.partsOf(name) {
			x.add([]passage{p.passage}, p.owned)
		}
	}
	return x.index, x.owners
}

// notePart is a part of a note with its words.
type notePart struct {
	passage passage
	owned   owned
}

// partsOf returns the parts of a note, made on first use.
func (s *Store) partsOf(name string) []notePart {
	parts, made := s.noteParts[name]
	if made {
		return parts
	}
	n := s.notes[name]
	hits := search.NoteHits(n)
	for i, p := range analysed(search.OfNote(n)) {
		h := hits[i]
		parts = append(parts, notePart{p, owned{h, []search.NamedText{{Name: "title", Text: h.Title}, {Name: "name", Text: name}, {Name: "content", Text: h.Content}}}})
	}
	s.noteParts[name] = parts
	return parts
}

// indexing is an index that is being made.
type indexing struct {
	index  *search.Memory
	owners map[string]owned
	row    int64
}

func (x *indexing) add(passages []passage, o owned) {
	for _, p := range passages {
		x.row++
		p.document.Row = x.row
		x.index.Add(p.document, p.Passage, nil)
		x.owners[ownerKey(p.Passage)] = o
	}
}

// ownerKey names what a passage was taken from: of a note, the section.
func ownerKey(p search.Passage) string {
	if p.Source == search.SourceNote {
		return fmt.Sprintf("%s/%s/%d", p.Source, p.Owner, p.Part)
	}
	return p.Source + "/" + p.Owner
}

// passage is a passage with its words.
type passage struct {
	search.Passage
	document search.Document
}

func analysed(texts []search.Text) []passage {
	out := make([]passage, len(texts))
	for i, t := range texts {
		out[i] = passage{t.Passage, t.Document(0)}
	}
	return out
}

// analysed returns the passages of the record's newest revision.
func (r *record) analysed() []passage {
	if r.passages == nil {
		p := analysed(search.OfMemory(r.present(), r.concepts))
		r.passages = &p
	}
	return *r.passages
}

func memoryHit(m amber.Memory) amber.Hit {
	return amber.Hit{
		ID: m.ID, SessionID: m.SessionID, ProjectID: m.ProjectID, Title: m.Title, Kind: m.Kind, Scope: m.Scope,
		Content: m.Content, Trust: m.Trust, CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt,
	}
}

// ofSession says where something of a session is visible.
func (s *Store) ofSession(h amber.Hit) owned {
	h.ProjectID = cmp.Or(h.ProjectID, s.sessions[h.SessionID].Project)
	h.Scope = amber.ScopeProject
	if h.ProjectID == "" {
		h.Scope = amber.ScopeSession
	}
	return owned{h, []search.NamedText{{Name: "title", Text: h.Title}, {Name: "content", Text: h.Content}}}
}

// placeTurn notes where a turn stands in its session: behind those that are there.
func (s *Store) placeTurn(t amber.Turn) {
	last := int64(0)
	for _, o := range s.turns {
		if o.SessionID == t.SessionID && o.ID != t.ID && (o.Role == amber.RoleUser || o.Role == amber.RoleAssistant) {
			last = max(last, s.places[o.ID]+int64(len(search.Cut(o.Content)))-1)
		}
	}
	s.places[t.ID] = last + 1
}
