package storetest_test

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

func ingestMutants() []mutant {
	return []mutant{
		{"ingests wherever the cursor is", "ingest/cursor-is-compared", true, ingesting(ingestAnywhere)},
		{"looks at the cursor, then ingests", "concurrent/ingesters-of-one-journal", false, ingesting(
			func(ctx context.Context, next amber.Ingester, in amber.Ingestion) (amber.IngestResult, error) {
				if c, err := next.JournalCursor(ctx, in.Journal); err != nil || c.Seq != in.After {
					return next.Ingest(ctx, in)
				}
				letOthersIn()
				return ingestAnywhere(ctx, next, in)
			})},
		{"moves the cursor before it looks", "ingest/conflict-applies-nothing", true, ingesting(
			func(ctx context.Context, next amber.Ingester, in amber.Ingestion) (amber.IngestResult, error) {
				got, err := next.Ingest(ctx, in)
				if amber.KindOf(err) == amber.KindConflict {
					c, _ := next.JournalCursor(ctx, in.Journal)
					in.After, in.Through, in.Steps = c.Seq, c.Seq, nil
					_, _ = next.Ingest(ctx, in)
				}
				return got, err
			})},
		{"applies step by step", "ingest/a-bad-step-undoes-everything", true, ingesting(ingestStepByStep)},
		{"knows no events", "ingest/native-events-once", true, stepping(func(s *amber.IngestStep) { s.Event = amber.EventRef{} })},
		{"forgets native events after a while", "ingest/native-events-once", true, stepping(func(s *amber.IngestStep) {
			if s.Event.Native && !s.Event.At.IsZero() {
				s.Event.Native = false
			}
		})},
		{"knows events of any time", "ingest/equal-events-once-in-a-window", true, stepping(func(s *amber.IngestStep) {
			s.Event.Native = s.Event.ID != ""
		})},
		{"looks at the last event seen", "ingest/equal-events-once-in-a-window", true, looksAtLastSeen},
		{"does not look back", "ingest/window-reaches-back", false, doesNotLookBack},
		{"knows events of other batches only", "ingest/duplicates-inside", true, ingesting(
			func(ctx context.Context, next amber.Ingester, in amber.Ingestion) (amber.IngestResult, error) {
				in.Steps = slices.Clone(in.Steps)
				seen := map[string]bool{}
				for i := range in.Steps {
					e := &in.Steps[i].Event
					id := e.ID
					if seen[id] {
						*e = amber.EventRef{}
					}
					seen[id] = true
				}
				return next.Ingest(ctx, in)
			})},
		{"reopens whatever has ended", "ingest/reopens-only-when-asked", true, stepping(func(s *amber.IngestStep) { s.Reopen = true })},
		{"never reopens", "ingest/reopens-only-when-asked", true, stepping(func(s *amber.IngestStep) { s.Reopen = false })},
		{"loses the directory", "ingest/fills-in-what-is-missing", true, stepping(func(s *amber.IngestStep) { s.Start.Directory = "" })},
		{"takes its own time for the event's", "ingest/starts-a-session", true, stepping(func(s *amber.IngestStep) { s.At = amber.Time{} })},
		{"loses the summary of the end", "ingest/ends-a-session", true, stepping(func(s *amber.IngestStep) {
			if s.End != nil {
				s.End = &amber.SessionEnd{ID: s.End.ID, Reason: s.End.Reason}
			}
		})},
		{"overwrites the time of an ingested turn", "ingest/appends-turns", true, stepping(func(s *amber.IngestStep) {
			s.Turns = slices.Clone(s.Turns)
			for i := range s.Turns {
				s.Turns[i].CreatedAt = amber.Time{}
			}
		})},
		{"drops memories", "ingest/writes-memories", true, stepping(func(s *amber.IngestStep) { s.Memories = nil })},
		{"drops links", "ingest/links-memories", false, stepping(func(s *amber.IngestStep) { s.Links = nil })},
		{"drops compactions", "ingest/adds-compactions", true, stepping(func(s *amber.IngestStep) { s.Compaction = nil })},
		{"counts each thing once", "activity/counts-what-is-done-again", true, listingActivity(func(a []amber.Activity) []amber.Activity {
			for i := range a {
				a[i].Count = 1
			}
			return a
		})},
		{"lists activity by name", "activity/in-the-order-first-done", true, listingActivity(func(a []amber.Activity) []amber.Activity {
			slices.SortStableFunc(a, func(x, y amber.Activity) int { return strings.Compare(x.Name, y.Name) })
			return a
		})},
		{"lists what was done last last", "activity/in-the-order-first-done", true, listingActivity(func(a []amber.Activity) []amber.Activity {
			slices.SortStableFunc(a, func(x, y amber.Activity) int { return int(x.LastAt.UnixMilli() - y.LastAt.UnixMilli()) })
			return a
		})},
		{"lists names done first first", "activity/of-one-name-in-every-session", false, func(p *amber.Parts) {
			next := p.Activities
			p.Activities = activityFunc{Activities: next, named: func(ctx context.Context, kind amber.ActivityKind, name string) ([]amber.Activity, error) {
				all, err := next.ActivityNamed(ctx, kind, name)
				slices.Reverse(all)
				return all, err
			}}
		}},
		{"keeps less activity", "activity/is-bounded", false, listingActivity(func(a []amber.Activity) []amber.Activity { return a[max(0, len(a)-amber.MaxActivity+1):] })},
		{"keeps all activity", "activity/is-bounded", false, keepsAllActivity},
		{"has open journals of ended sessions", "journal/open-are-those-not-ended", true, opensAll},
		{"loses the cursor with the session", "journal/deleting-a-session-keeps-the-cursor", true, losesCursors},
		{"forgets the process", "journal/cursor-keeps-every-field", true, func(p *amber.Parts) {
			next := p.Ingest
			p.Ingest = intake{Ingester: next, cursor: func(ctx context.Context, journal string) (amber.JournalCursor, error) {
				c, err := next.JournalCursor(ctx, journal)
				c.Process = amber.HostProcess{}
				return c, err
			}}
		}},
	}
}

// ingesting replaces Ingest.
func ingesting(f func(ctx context.Context, next amber.Ingester, in amber.Ingestion) (amber.IngestResult, error)) func(*amber.Parts) {
	return func(p *amber.Parts) {
		next := p.Ingest
		p.Ingest = intake{Ingester: next, ingest: func(ctx context.Context, in amber.Ingestion) (amber.IngestResult, error) { return f(ctx, next, in) }}
	}
}

// stepping changes each step before it is applied.
func stepping(f func(s *amber.IngestStep)) func(*amber.Parts) {
	return ingesting(func(ctx context.Context, next amber.Ingester, in amber.Ingestion) (amber.IngestResult, error) {
		in.Steps = slices.Clone(in.Steps)
		for i := range in.Steps {
			f(&in.Steps[i])
		}
		return next.Ingest(ctx, in)
	})
}

// listingActivity changes each list of activity.
func listingActivity(f func([]amber.Activity) []amber.Activity) func(*amber.Parts) {
	return func(p *amber.Parts) {
		next := p.Activities
		p.Activities = activityFunc{Activities: next, list: func(ctx context.Context, id amber.SessionID, kind amber.ActivityKind) ([]amber.Activity, error) {
			all, err := next.ListActivity(ctx, id, kind)
			return f(all), err
		}}
	}
}

func ingestAnywhere(ctx context.Context, next amber.Ingester, in amber.Ingestion) (amber.IngestResult, error) {
	for {
		c, err := next.JournalCursor(ctx, in.Journal)
		if err != nil {
			return amber.IngestResult{}, err
		}
		in.After, in.Through = c.Seq, max(c.Seq, in.Through)
		got, err := next.Ingest(ctx, in)
		if now, _ := next.JournalCursor(ctx, in.Journal); err == nil || now.Seq == c.Seq {
			return got, err
		}
	}
}

func ingestStepByStep(ctx context.Context, next amber.Ingester, in amber.Ingestion) (amber.IngestResult, error) {
	var sum amber.IngestResult
	one := in
	one.Through = in.After
	for i := range in.Steps {
		one.Steps = in.Steps[i : i+1]
		got, err := next.Ingest(ctx, one)
		if err != nil {
			return sum, err
		}
		sum.Applied += got.Applied
		sum.Duplicates += got.Duplicates
		sum.Memories += got.Memories
	}
	in.Steps = nil
	return sum, must.Err(next.Ingest(ctx, in))
}

// looksAtLastSeen lets every event that is known prolong its window.
func looksAtLastSeen(p *amber.Parts) {
	var mu sync.Mutex
	first, last := map[string]amber.Time{}, map[string]amber.Time{}
	stepping(func(s *amber.IngestStep) {
		mu.Lock()
		defer mu.Unlock()
		e := &s.Event
		if e.ID == "" || e.Native {
			return
		}
		if prev, seen := last[e.ID]; seen && !prev.Add(amber.SameEventWindow).Before(e.At) {
			last[e.ID], e.At = e.At, first[e.ID]
			return
		}
		first[e.ID], last[e.ID] = e.At, e.At
	})(p)
}

// doesNotLookBack takes an event that was observed before all others for a
// new one.
func doesNotLookBack(p *amber.Parts) {
	var mu sync.Mutex
	first := map[string]amber.Time{}
	stepping(func(s *amber.IngestStep) {
		mu.Lock()
		defer mu.Unlock()
		if s.Event.ID == "" || s.Event.Native {
			return
		}
		if prev, seen := first[s.Event.ID]; !seen || s.Event.At.Before(prev) {
			first[s.Event.ID] = s.Event.At
			if seen {
				s.Event = amber.EventRef{}
			}
		}
	})(p)
}

// keepsAllActivity lists what went with the rest.
func keepsAllActivity(p *amber.Parts) {
	var mu sync.Mutex
	seen := map[amber.SessionID][]amber.Activity{}
	stepping(func(s *amber.IngestStep) {
		mu.Lock()
		defer mu.Unlock()
		for _, a := range s.Activity {
			seen[a.SessionID] = append(seen[a.SessionID], a)
		}
	})(p)
	next := p.Activities
	p.Activities = activityFunc{Activities: next, list: func(ctx context.Context, id amber.SessionID, kind amber.ActivityKind) ([]amber.Activity, error) {
		all, err := next.ListActivity(ctx, id, kind)
		mu.Lock()
		defer mu.Unlock()
		for _, a := range seen[id] {
			same := func(b amber.Activity) bool { return b.Kind == a.Kind && b.Name == a.Name }
			if (kind == "" || a.Kind == kind) && !slices.ContainsFunc(all, same) {
				all = append(all, a)
			}
		}
		return all, err
	}}
}

// opensAll counts every journal that was ever drained as open.
func opensAll(p *amber.Parts) {
	var mu sync.Mutex
	var journals []string
	next := p.Ingest
	p.Ingest = intake{
		Ingester: next,
		ingest: func(ctx context.Context, in amber.Ingestion) (amber.IngestResult, error) {
			got, err := next.Ingest(ctx, in)
			mu.Lock()
			defer mu.Unlock()
			if err == nil && !slices.Contains(journals, in.Journal) {
				journals = append(journals, in.Journal)
			}
			return got, err
		},
		open: func(ctx context.Context) ([]amber.JournalCursor, error) {
			mu.Lock()
			defer mu.Unlock()
			open := []amber.JournalCursor{}
			for _, j := range journals {
				c, err := next.JournalCursor(ctx, j)
				if err != nil {
					return nil, err
				}
				open = append(open, c)
			}
			slices.SortStableFunc(open, func(a, b amber.JournalCursor) int { return int(a.LastAt.UnixMilli() - b.LastAt.UnixMilli()) })
			return open, nil
		},
	}
}

// losesCursors has no cursor of a session that was deleted.
func losesCursors(p *amber.Parts) {
	var mu sync.Mutex
	gone := map[amber.SessionID]bool{}
	ingest, catalog := p.Ingest, p.Sessions
	p.Sessions = catalogue{Sessions: catalog, delete: func(ctx context.Context, id amber.SessionID) error {
		err := catalog.DeleteSession(ctx, id)
		mu.Lock()
		defer mu.Unlock()
		gone[id] = err == nil
		return err
	}}
	p.Ingest = intake{Ingester: ingest, cursor: func(ctx context.Context, journal string) (amber.JournalCursor, error) {
		c, err := ingest.JournalCursor(ctx, journal)
		mu.Lock()
		defer mu.Unlock()
		if gone[c.Session] {
			return amber.JournalCursor{Journal: journal}, err
		}
		return c, err
	}}
}
