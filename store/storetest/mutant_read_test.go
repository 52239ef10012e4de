package storetest_test

import (
	"context"
	"slices"
	"time"

	"github.com/amber-memory/amber"
)

// memoryPage is short for what List returns.
type memoryPage = amber.Page[amber.Memory]

// listing changes what List is asked.
func listing(f func(q *amber.ListQuery)) func(*amber.Parts) {
	return func(p *amber.Parts) {
		next := p.Memories
		p.Memories = reader{MemoryReader: next, list: func(ctx context.Context, q amber.ListQuery) (memoryPage, error) {
			f(&q)
			return next.List(ctx, q)
		}}
	}
}

// paging changes what List answers.
func paging(f func(page *memoryPage)) func(*amber.Parts) {
	return func(p *amber.Parts) {
		next := p.Memories
		p.Memories = reader{MemoryReader: next, list: func(ctx context.Context, q amber.ListQuery) (memoryPage, error) {
			page, err := next.List(ctx, q)
			f(&page)
			return page, err
		}}
	}
}

// logging replaces Changes.
func logging(f func(ctx context.Context, next amber.ChangeLog, after amber.Position, limit int) ([]amber.Change, error)) func(*amber.Parts) {
	return func(p *amber.Parts) {
		next := p.Changes
		p.Changes = changeFunc{next, func(ctx context.Context, after amber.Position, limit int) ([]amber.Change, error) {
			return f(ctx, next, after, limit)
		}}
	}
}

func readMutants() []mutant {
	return []mutant{
		{"reads the log backwards without regard to layers", "change/newest-first", false, func(p *amber.Parts) { p.Changes = everyLayer{p.Changes} }},
		{"lists oldest first", "list/newest-first", true, paging(func(page *memoryPage) { slices.Reverse(page.Items) })},
		{"loses the last of each page", "list/pages-are-complete", true, paging(func(page *memoryPage) {
			if page.Next != "" && len(page.Items) > 1 {
				page.Items = page.Items[:len(page.Items)-1]
			}
		})},
		{"lists what has the first of the tags", "list/filters", true, listing(func(q *amber.ListQuery) { q.Tags = q.Tags[:min(1, len(q.Tags))] })},
		{"lists until inclusive", "list/filters", false, listing(func(q *amber.ListQuery) {
			if !q.Until.IsZero() {
				q.Until = q.Until.Add(time.Millisecond)
			}
		})},
		{"lists every identity", "list/scopes-fail-closed", true, listing(func(q *amber.ListQuery) { q.All = q.All || q.Scope == "" })},
		{"lists pages without end", "list/default-and-largest-page", false, func(p *amber.Parts) {
			next := p.Memories
			p.Memories = reader{MemoryReader: next, list: func(ctx context.Context, q amber.ListQuery) (memoryPage, error) {
				return unbounded(ctx, next, q)
			}}
		}},
		{"shows the history newest first", "edit/keeps-earlier-revisions", true, func(p *amber.Parts) {
			next := p.Memories
			p.Memories = reader{MemoryReader: next, history: func(ctx context.Context, id amber.MemoryID, p amber.Paging) (amber.Page[amber.Memory], error) {
				page, err := next.History(ctx, id, p)
				slices.Reverse(page.Items)
				return page, err
			}}
		}},
		{"shows a timeline without its pivot", "timeline/around-a-memory", true, func(p *amber.Parts) {
			next := p.Memories
			p.Memories = reader{MemoryReader: next, timeline: func(ctx context.Context, id amber.MemoryID, before, after int) ([]amber.Memory, error) {
				line, err := next.Timeline(ctx, id, before, after)
				return slices.DeleteFunc(line, func(m amber.Memory) bool { return m.ID == id }), err
			}}
		}},
		{"shows everybody's memories of a session", "timeline/shows-nothing-of-others-in-the-session", false, func(p *amber.Parts) {
			next := p.Memories
			p.Memories = reader{MemoryReader: next, timeline: func(ctx context.Context, id amber.MemoryID, before, after int) ([]amber.Memory, error) {
				line, err := next.Timeline(ctx, id, before, after)
				if err != nil || before+after == 0 {
					return line, err
				}
				all, err := next.List(ctx, amber.ListQuery{All: true})
				slices.Reverse(all.Items)
				return all.Items, err
			}}
		}},
		{"starts over at a foreign position", "change/refuses-foreign-positions", false, logging(
			func(ctx context.Context, next amber.ChangeLog, after amber.Position, limit int) ([]amber.Change, error) {
				got, err := next.Changes(ctx, after, limit)
				if amber.KindOf(err) == amber.KindConflict {
					return next.Changes(ctx, "", limit)
				}
				return got, err
			})},
		{"logs no turns", "change/of-sessions", true, logging(
			func(ctx context.Context, next amber.ChangeLog, after amber.Position, limit int) ([]amber.Change, error) {
				got, err := next.Changes(ctx, after, limit)
				return slices.DeleteFunc(got, func(c amber.Change) bool { return c.Scope == amber.ChangeTurn }), err
			})},
		{"logs inserts as updates", "change/one-entry-per-write", true, logging(
			func(ctx context.Context, next amber.ChangeLog, after amber.Position, limit int) ([]amber.Change, error) {
				got, err := next.Changes(ctx, after, limit)
				for i := range got {
					got[i].Op = amber.OpUpdate
				}
				return got, err
			})},
		{"keeps one log", "control/log-is-apart", true, func(p *amber.Parts) { p.ControlChanges = p.Changes }},
		{"counts no tombstones", "stats/counts", true, func(p *amber.Parts) {
			next := p.Stats
			p.Stats = statsFunc(func(ctx context.Context) (amber.Stats, error) {
				s, err := next.Stats(ctx)
				s.Deleted = 0
				return s, err
			})
		}},
	}
}

// unbounded joins pages past the largest size.
func unbounded(ctx context.Context, next amber.MemoryReader, q amber.ListQuery) (memoryPage, error) {
	page, err := next.List(ctx, q)
	for err == nil && q.Limit > amber.MaxPageSize && page.Next != "" {
		var more memoryPage
		q.Cursor = page.Next
		more, err = next.List(ctx, q)
		page.Items, page.Next = append(page.Items, more.Items...), more.Next
	}
	return page, err
}

// everyLayer reads the changes of all layers backwards.
type everyLayer struct{ amber.ChangeLog }

func (e everyLayer) ChangesBefore(ctx context.Context, q amber.ChangeQuery) ([]amber.Change, error) {
	q.Scopes = nil
	return e.ChangeLog.ChangesBefore(ctx, q)
}
