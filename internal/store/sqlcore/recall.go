package sqlcore

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/recall/analyze"
	"github.com/amber-memory/amber/internal/recall/search"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

// snippetBytes is the length of a snippet.
const snippetBytes = 240

const (
	selectNewest = `SELECT id FROM memories INDEXED BY memories_updated WHERE deleted_at IS NULL AND `
	orderNewest  = ` ORDER BY updated_at DESC, id DESC LIMIT ?`
)

// Recall implements [amber.LongTerm]. It finds out what the question means while it looks up the
// words of the question.
func (s *Contracts) Recall(ctx context.Context, q amber.Query) (amber.RecallResult, error) {
	q, clamped, err := q.Normalize()
	if err != nil {
		return amber.RecallResult{Hits: []amber.Hit{}}, err
	}
	return answer(ctx, s, q, clamped, false)
}

// everything answers questions to everything.
type everything struct{ s *Contracts }

// Ask implements [amber.Everything].
func (e everything) Ask(ctx context.Context, q amber.Query, leave amber.Leave) (amber.RecallResult, error) {
	q, clamped, err := q.NormalizeAll(leave)
	if err != nil {
		return amber.RecallResult{Hits: []amber.Hit{}}, err
	}
	return answer(ctx, e.s, q, clamped, true)
}

// answer answers a query that was normalized: from what its identities see, or from everything.
func answer(ctx context.Context, s *Contracts, q amber.Query, clamped []amber.Clamp, all bool) (amber.RecallResult, error) {
	result, err := amber.RecallResult{Hits: []amber.Hit{}, Clamped: clamped}, error(nil)
	r := recaller{ask: q, all: all, parsed: analyze.Parse(q.Text), past: s.past, notes: !s.noNotes, meaningOnly: s.o.MeaningOnly}
	r.of = askedOf(s.o.Model, q)
	if l, ok := s.o.Model.(search.Lacking); ok && !q.Prompted() {
		r.lacks = l.Lacks(q.Text)
	}
	defer r.stop()
	if err := r.begin(ctx, s, false); err != nil {
		return result, err
	}
	for _, m := range r.meanings {
		m.wait() // neither a turn nor the transaction waits for a network
	}
	if !q.Prompted() { // for the others an agent waits
		pass, err := s.turns.take(ctx)
		if err != nil {
			return result, err
		}
		defer pass()
	}
	err = s.memory.View(ctx, "recall", "", func(t *Tx) error {
		t.briefly()
		r.tx = t
		if err := r.begin(ctx, s, true); err != nil {
			return err
		}
		result.Hits, err = r.hits()
		result.SetAside = t.Aside
		if r.full {
			result.Clamped = append(result.Clamped, amber.Clamp{Key: "limit", Requested: int64(q.Limit), Effective: int64(len(result.Hits))})
		}
		if err == nil {
			result.Degraded, err = r.degraded()
		}
		return err
	})
	if search.IsDamaged(err) {
		err = &amber.Error{Op: "recall", Kind: amber.KindDamaged, ID: s.memory.Name(), Err: err, Hint: "amber index rebuild"}
	}
	return result, err
}

// turns lets as many questions be answered at once as there are processors, first come, first
// served: more of them at once are all slow.
type turns chan struct{}

func newTurns() turns { return make(turns, runtime.GOMAXPROCS(0)) }

// take waits for a turn, and returns what passes it on. Errors: unreachable when ctx ends.
func (t turns) take(ctx context.Context) (pass func(), err error) {
	if t == nil {
		return func() {}, nil
	}
	select {
	case t <- struct{}{}:
		return func() { <-t }, nil
	case <-ctx.Done():
		return nil, &amber.Error{Op: "recall", Kind: amber.KindUnreachable, Err: ctx.Err()}
	}
}

// recaller answers one query inside one read transaction.
type recaller struct {
	tx       *Tx
	ask      amber.Query
	all      bool // the identities of the query narrow nothing
	parsed   analyze.Query
	of       []search.Model // that know the question
	meanings []spaceMeaning // what the question means, in each of them that has vectors
	lacks    string         // why no model reads the question; "" where one does
	past     *pastIndex     // of a file that has no index
	notes    bool           // the file can hold notes

	// meaningOnly leaves words out.
	meaningOnly bool
	full        bool // the hits have as much text as an answer holds, and there are more
}

// hits returns the best matches that can be read. Where one cannot, it looks for
// more.
func (r *recaller) hits() ([]amber.Hit, error) {
	if strings.TrimSpace(r.ask.Text) == "" {
		return r.newest()
	}
	for limit := r.ask.Limit; ; limit *= 2 {
		r.tx.Aside = nil
		answer, err := r.find(limit)
		if err != nil {
			return nil, err
		}
		hits, err := r.load(answer)
		if err != nil || r.full || len(hits) >= r.ask.Limit || len(answer.Ranked) < limit || limit > amber.MaxTopK*amber.MaxSetAside {
			return hits[:min(len(hits), r.ask.Limit)], err
		}
	}
}

// find returns the best passages that pass the filter, best first.
func (r *recaller) find(limit int) (search.Answer, error) {
	request := search.Request{
		Text: r.ask.Text, Filter: search.FilterOf(r.ask), Now: r.tx.Now.UnixMilli(), Limit: limit,
		Prompt: r.ask.Prompted(), MeaningOnly: r.meaningOnly,
	}
	if r.all {
		request.Filter = search.FilterOfAll(r.ask)
	}
	if !r.ask.Since.IsZero() {
		request.Since = r.ask.Since.UnixMilli()
	}
	if !r.ask.Until.IsZero() {
		request.Until = r.ask.Until.UnixMilli()
	}
	if r.past != nil {
		return r.past.recall(r.tx, request)
	}
	for _, m := range r.meanings {
		request.Meanings = append(request.Meanings, search.Meaning{Model: m.of, Later: m.wait, Level: m.level})
	}
	return search.Recall(sqlrows.IndexRows{Tx: r.tx.Tx}, r.tx.Index, request)
}

// newest answers a query without words.
func (r *recaller) newest() ([]amber.Hit, error) {
	if !slices.Contains(r.ask.Layers, amber.LayerMemory) {
		return []amber.Hit{}, nil
	}
	var filter conditions
	if err := filter.filter(r.ask.Filter, r.all); err != nil {
		return nil, err
	}
	switch {
	case r.ask.Trusted:
		filter.add(isTrusted)
	case r.ask.Local:
		filter.add("trust IN ('own', 'signed', 'agent', 'derived')")
	}
	hits := []amber.Hit{}
	for limit := r.ask.Limit; ; limit *= 2 {
		r.tx.Aside, hits, r.full = nil, hits[:0], false
		ids, err := sqlrows.All(r.tx.Tx, sqlrows.ScanText, selectNewest+filter.String()+orderNewest, append(filter.args, limit)...)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			if r.full = enough(hits); r.full {
				return hits, nil
			}
			h, ok, err := r.hit(search.Passage{Source: search.SourceMemory, Owner: id})
			if err != nil {
				return nil, err
			}
			if h.Score = 1; r.ask.Explain {
				h.Why = &amber.Why{Terms: []amber.TermMatch{}}
			}
			if ok {
				hits = append(hits, h)
			}
		}
		if len(hits) >= r.ask.Limit || len(ids) < limit || limit > amber.MaxTopK*amber.MaxSetAside {
			return hits[:min(len(hits), r.ask.Limit)], nil
		}
	}
}

// load turns passages into hits.
func (r *recaller) load(a search.Answer) ([]amber.Hit, error) {
	hits := make([]amber.Hit, 0, len(a.Ranked))
	for _, p := range a.Ranked {
		if p.Score < r.ask.MinScore || len(hits) == r.ask.Limit {
			continue
		}
		if r.full = enough(hits); r.full {
			break
		}
		h, ok, err := r.hit(p.Passage)
		if err != nil {
			return nil, fmt.Errorf("load hit: %w", err)
		}
		if !ok {
			continue
		}
		if h.Score = p.Score; r.ask.Explain {
			if h.Why, err = r.explain(a.Asked, p, h); err != nil {
				return nil, fmt.Errorf("explain hit: %w", err)
			}
		}
		hits = append(hits, h)
	}
	return hits, nil
}

// enough reports whether hits have as much text as an answer holds.
func enough(hits []amber.Hit) bool {
	bytes := 0
	for i := range hits {
		bytes += len(hits[i].Content)
	}
	return bytes >= amber.MaxPageBytes
}

// hit loads the owner of a passage; ok is false where it cannot be read.
func (r *recaller) hit(p search.Passage) (h amber.Hit, ok bool, err error) {
	switch p.Source {
	case search.SourceTurn:
		h, err = r.tx.turnHit(p.Owner)
	case search.SourceCompaction:
		h, err = r.tx.compactionHit(p.Owner)
	case search.SourceSession:
		h, err = r.tx.sessionHit(p.Owner)
	case search.SourceActivity:
		h, err = r.tx.activityHit(p.Owner)
	case search.SourceNote:
		h, err = r.tx.noteHit(p.Owner, p.Part)
		p.Part = 0 // the hit has no more than the part
	default:
		h, err = r.tx.memoryHit(p.Owner)
	}
	if r.tx.SetAside(tables[p.Source], err) || sqlrows.Absent(err) {
		return h, false, nil
	}
	if h.Layer, h.Owner = search.LayerOf(p.Source), p.Owner; h.Layer == amber.LayerActivity {
		h.Owner = string(h.SessionID)
	}
	parts := search.Cut(h.Content)
	h.Snippet = analyze.Snippet(parts[min(p.Part, len(parts)-1)], r.parsed, snippetBytes)
	h.Provenance = amber.Provenance{Backend: r.tx.o.Backend, Locator: p.Source + "/" + p.Owner}
	return h, err == nil, err
}

// tables are where the owners of passages are stored.
var tables = map[string]string{
	search.SourceMemory: "memories", search.SourceTurn: "turns", search.SourceCompaction: "compactions",
	search.SourceSession: "sessions", search.SourceActivity: "activity", search.SourceNote: "notes",
}
