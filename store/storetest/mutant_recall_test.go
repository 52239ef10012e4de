package storetest_test

import (
	"context"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
)

// recallFunc replaces Recall. Its parameter next is the store's own implementation.
type recallFunc func(ctx context.Context, next amber.LongTerm, q amber.Query) (amber.RecallResult, error)

// recalling replaces Recall.
func recalling(f recallFunc) func(*amber.Parts) {
	return func(p *amber.Parts) {
		next := p.LongTerm
		p.LongTerm = longTerm{LongTerm: next, recall: func(ctx context.Context, q amber.Query) (amber.RecallResult, error) {
			return f(ctx, next, q)
		}}
	}
}

// querying changes what Recall is asked.
func querying(f func(q *amber.Query)) func(*amber.Parts) {
	return recalling(func(ctx context.Context, next amber.LongTerm, q amber.Query) (amber.RecallResult, error) {
		f(&q)
		return next.Recall(ctx, q)
	})
}

// ranking changes the hits of a recall.
func ranking(f func(q amber.Query, hits []amber.Hit) []amber.Hit) func(*amber.Parts) {
	return recalling(func(ctx context.Context, next amber.LongTerm, q amber.Query) (amber.RecallResult, error) {
		r, err := next.Recall(ctx, q)
		r.Hits = f(q, r.Hits)
		return r, err
	})
}

// hitting changes each hit of a recall.
func hitting(f func(h *amber.Hit)) func(*amber.Parts) {
	return ranking(func(_ amber.Query, hits []amber.Hit) []amber.Hit {
		for i := range hits {
			f(&hits[i])
		}
		return hits
	})
}

func recallMutants() []mutant {
	return []mutant{
		{"scores all alike", "recall/scores", true, hitting(func(h *amber.Hit) { h.Score = 0.9 })},
		{"scores all as best", "recall/scores", false, hitting(func(h *amber.Hit) { h.Score = 1 })},
		{"puts the best last", "recall/scores", true, ranking(func(_ amber.Query, hits []amber.Hit) []amber.Hit {
			slices.Reverse(hits)
			return hits
		})},
		{"wants the question verbatim", "recall/natural-question", true, ranking(func(q amber.Query, hits []amber.Hit) []amber.Hit {
			return slices.DeleteFunc(hits, func(h amber.Hit) bool {
				return !strings.Contains(strings.ToLower(h.Title+h.Content), strings.ToLower(q.Text))
			})
		})},
		{"returns nil for nothing", "recall/no-match-is-an-empty-result", false, ranking(func(_ amber.Query, hits []amber.Hit) []amber.Hit {
			if len(hits) == 0 {
				return nil
			}
			return hits
		})},
		{"fails on quotes", "recall/nasty-text-never-fails", true, recalling(failsOnQuotes)},
		{"ignores the scope's identity", "recall/scope-needs-equal-identity", false, seesEverything},
		{"falls back to global without an identity", "recall/scope-without-identity-is-refused", true, querying(func(q *amber.Query) {
			if q.Scope != amber.ScopeGlobal && q.For(q.Scope) == "" {
				q.Scope = ""
			}
		})},
		{"trusts everything found", "recall/trusted", true, querying(func(q *amber.Query) { q.Trusted = false })},
		{"finds what was imported", "recall/trusted", true, querying(func(q *amber.Query) { q.Local = false })},
		{"does not say what it clamped", "recall/limit", true, querying(func(q *amber.Query) { q.Limit = min(q.Limit, amber.MaxTopK) })},
		{"filters after the limit", "recall/filter-before-limit", true, recalling(filtersLate)},
		{"explains nothing", "recall/explain", true, hitting(func(h *amber.Hit) { h.Why = nil })},
		{"shows the beginning as the snippet", "recall/hit-tells-the-memory", false, hitting(func(h *amber.Hit) {
			h.Snippet = h.Content[:min(80, len(h.Content))]
		})},
		{"leaves what was said where it was before its session", "recall/what-was-said-before-its-session-started", false, staysEarly},
		{"finds whole words only", "recall/parts-of-words", false, ranking(wholeWordsOnly)},
	}
}

func failsOnQuotes(ctx context.Context, next amber.LongTerm, q amber.Query) (amber.RecallResult, error) {
	if strings.Count(q.Text, `"`)%2 == 1 || strings.HasSuffix(q.Text, "(") {
		return amber.RecallResult{}, amber.Errorf(amber.KindInternal, "recall", "", "unterminated string")
	}
	return next.Recall(ctx, q)
}

// filtersLate drops hits that do not pass the filter from the best of all.
func filtersLate(ctx context.Context, next amber.LongTerm, q amber.Query) (amber.RecallResult, error) {
	all := q
	all.Tags, all.Kinds = nil, nil
	some, err := next.Recall(ctx, all)
	if err != nil {
		return some, err
	}
	q.Limit = amber.MaxTopK
	right, err := next.Recall(ctx, q)
	pass := map[amber.MemoryID]bool{}
	for _, h := range right.Hits {
		pass[h.ID] = true
	}
	some.Hits = slices.DeleteFunc(some.Hits, func(h amber.Hit) bool { return !pass[h.ID] })
	return some, err
}

// seesEverything asks once more with the identities of every memory.
func seesEverything(p *amber.Parts) {
	memories := p.Memories
	recalling(func(ctx context.Context, next amber.LongTerm, q amber.Query) (amber.RecallResult, error) {
		result, err := next.Recall(ctx, q)
		if err != nil || q.Scope != "" {
			return result, err
		}
		page, err := memories.List(ctx, amber.ListQuery{All: true})
		for _, m := range page.Items {
			q.Identities = m.Identities
			more, err := next.Recall(ctx, q)
			if err != nil {
				return more, err
			}
			for _, h := range more.Hits {
				if !slices.ContainsFunc(result.Hits, func(k amber.Hit) bool { return k.ID == h.ID }) {
					result.Hits = append(result.Hits, h)
				}
			}
		}
		return result, err
	})(p)
}

// staysEarly lets a session that starts after its turns see them as long as it lives, as if it had no project.
func staysEarly(p *amber.Parts) {
	turns, sessions := p.Turns, p.Sessions
	early := map[amber.SessionID]bool{}
	p.Sessions = catalogue{Sessions: sessions, start: func(ctx context.Context, s amber.SessionStart) (amber.Session, error) {
		if said, err := amber.LastTurns(ctx, turns, s.ID, 1); err == nil && len(said) > 0 {
			early[s.ID] = true
		}
		return sessions.StartSession(ctx, s)
	}}
	recalling(func(ctx context.Context, next amber.LongTerm, q amber.Query) (amber.RecallResult, error) {
		if early[q.SessionID] {
			if s, err := sessions.Session(ctx, q.SessionID); err == nil {
				q.ProjectID = s.Project
			}
		}
		return next.Recall(ctx, q)
	})(p)
}

// wholeWordsOnly drops hits that do not hold any word of the question.
func wholeWordsOnly(q amber.Query, hits []amber.Hit) []amber.Hit {
	words := strings.Fields(strings.ToLower(q.Text))
	return slices.DeleteFunc(hits, func(h amber.Hit) bool {
		held := strings.Fields(strings.ToLower(h.Title + " " + h.Content))
		return !slices.ContainsFunc(words, func(w string) bool { return slices.Contains(held, w) })
	})
}
