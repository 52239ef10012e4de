package storetest_test

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/amber-memory/amber"
)

func sessionMutants() []mutant {
	return []mutant{
		{"appends a turn twice", "turn/append-is-idempotent", true, appending(func(t *amber.Turn) { t.ID = "" })},
		{"strips control characters", "turn/control-characters-are-kept", true, appending(func(t *amber.Turn) {
			t.Content = strings.ReplaceAll(t.Content, "\x1b", "")
		})},
		{"takes a NUL", "turn/refuses-invalid", false, appending(func(t *amber.Turn) {
			t.Content = strings.ReplaceAll(t.Content, "\x00", "")
		})},
		{"overwrites the time of a turn", "turn/append-keeps-every-field", true, appending(func(t *amber.Turn) { t.CreatedAt = amber.Time{} })},
		{"loads the first turns", "turn/load-the-last-oldest-first", true, func(p *amber.Parts) {
			p.Turns = oldestTurns{p.Turns}
		}},
		{"pages turns oldest first", "turn/pages-from-both-ends", false, func(p *amber.Parts) { p.Turns = oldestTurns{p.Turns} }},
		{"finds a turn that is not there", "turn/one-by-its-id", false, func(p *amber.Parts) { p.Turns = anyTurn{p.Turns} }},
		{"renames a session started twice", "session/start-is-idempotent", true, func(p *amber.Parts) {
			next, names := p.Sessions, p.Names
			p.Sessions = catalogue{Sessions: next, start: func(ctx context.Context, s amber.SessionStart) (amber.Session, error) {
				got, err := next.StartSession(ctx, s)
				if err == nil && s.Name != "" && got.Name != s.Name {
					return names.RenameSession(ctx, got.ID, s.Name)
				}
				return got, err
			}}
		}},
		{"lists the sessions of every project", "session/list-of-a-project", false, func(p *amber.Parts) { p.Sessions = everywhere{p.Sessions} }},
		{"leaves the turns of a deleted session", "session/delete-removes-what-is-its-own", true, func(p *amber.Parts) {
			next, turns := p.Sessions, p.Turns
			p.Sessions = catalogue{Sessions: next, delete: func(ctx context.Context, id amber.SessionID) error {
				kept, err := amber.LastTurns(ctx, turns, id, 1000)
				if err == nil {
					err = next.DeleteSession(ctx, id)
				}
				for _, t := range kept {
					if err == nil {
						_, err = turns.AppendTurn(ctx, t)
					}
				}
				return err
			}}
		}},
		{"keeps an ended session active", "active/ended-is-not-active", true, func(p *amber.Parts) {
			next, active := p.Names, p.Active
			p.Names = endFunc{next, func(ctx context.Context, e amber.SessionEnd) (amber.Session, error) {
				got, err := next.EndSession(ctx, e)
				if err != nil {
					return got, err
				}
				return active.SelectSession(ctx, got.ID)
			}}
		}},
		{"saves a state over any version", "state/save-compares-versions", true, func(p *amber.Parts) {
			next := p.States
			p.States = stateFunc{next, func(ctx context.Context, id amber.SessionID, doc json.RawMessage, _ int64) (amber.SessionState, error) {
				return saveAnyState(ctx, next, id, doc)
			}}
		}},
		{"changes the bytes of a document", "state/bytes-are-kept", false, func(p *amber.Parts) {
			next := p.States
			p.States = stateFunc{next, func(ctx context.Context, id amber.SessionID, doc json.RawMessage, ifVersion int64) (amber.SessionState, error) {
				var v any
				if err := json.Unmarshal(doc, &v); err == nil {
					doc, _ = json.Marshal(v)
				}
				return next.SaveState(ctx, id, doc, ifVersion)
			}}
		}},
		{"clears another run's loop", "loop/clear", true, func(p *amber.Parts) {
			next := p.Loops
			p.Loops = loopStore{Loops: next, clear: func(ctx context.Context, id amber.SessionID, _ string) error { return next.ClearLoop(ctx, id, "") }}
		}},
		{"saves a loop over any run", "loop/save-compares-run-and-revision", true, func(p *amber.Parts) {
			next := p.Loops
			p.Loops = loopStore{Loops: next, save: func(ctx context.Context, l amber.LoopSave) (amber.PendingLoop, error) {
				if stored, err := next.LoadLoop(ctx, l.SessionID); err == nil {
					l.IfRunID = stored.RunID
				}
				return next.SaveLoop(ctx, l)
			}}
		}},
	}
}

func appending(f func(t *amber.Turn)) func(*amber.Parts) {
	return func(p *amber.Parts) {
		next := p.Turns
		p.Turns = turnLog{Turns: next, append: func(ctx context.Context, t amber.Turn) (amber.Turn, error) {
			f(&t)
			return next.AppendTurn(ctx, t)
		}}
	}
}

func saveAnyState(ctx context.Context, next amber.SessionStates, id amber.SessionID, doc json.RawMessage) (amber.SessionState, error) {
	for {
		stored, err := next.LoadState(ctx, id)
		if err != nil && amber.KindOf(err) != amber.KindNotFound {
			return stored, err
		}
		got, err := next.SaveState(ctx, id, doc, stored.Version)
		if amber.KindOf(err) != amber.KindConflict {
			return got, err
		}
	}
}

// oldestTurns lists turns from the first one always.
type oldestTurns struct{ amber.Turns }

func (o oldestTurns) ListTurns(ctx context.Context, q amber.TurnQuery) (amber.Page[amber.ListedTurn], error) {
	q.Oldest = true
	return o.Turns.ListTurns(ctx, q)
}

// anyTurn answers with a turn for every id.
type anyTurn struct{ amber.Turns }

func (a anyTurn) Turn(ctx context.Context, id amber.TurnID) (amber.Turn, error) {
	t, err := a.Turns.Turn(ctx, id)
	if amber.KindOf(err) == amber.KindNotFound {
		err = nil
	}
	return t, err
}
