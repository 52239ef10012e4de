package measure

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/capture/hook"
	"github.com/amber-memory/amber/internal/recall/eval"
)

// evalProject is the project of conversations that are loaded: sessions are shown to
// their project only.
const evalProject = "eval"

// evalAgent is an agent of a temporary home whose clock is set to what a set says.
type evalAgent struct {
	*agent.Agent
	dir   string
	clock *Clock
	warn  func(text string)
}

var _ eval.Agent = (*evalAgent)(nil)

// newEvalAgent makes an agent as every command opens one, in a home of its own.
func (a *app) newEvalAgent(ctx context.Context, c config.Config, f evalFlags, begin amber.Time) (*evalAgent, error) {
	name, err := evalName(a.Random)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "amber-eval-")
	if err != nil {
		return nil, &amber.Error{Op: "make temporary home", Kind: amber.KindInternal, Err: err}
	}
	e := &evalAgent{dir: dir, clock: &Clock{}, warn: func(text string) { a.Out.Warn("%s", text) }}
	e.clock.Set(begin)
	if err := withPacks(filepath.Join(dir, "home"), f.models); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	e.Agent, err = agent.Open(ctx, agent.Options{
		Home: filepath.Join(dir, "home"), Agent: name, Config: &c, Clock: e.clock.Now, ServerClock: a.Clock, Random: a.Random,
		MeaningOnly: f.only == OnlyMeaning, Warn: e.warn,
	})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return e, nil
}

// Remember implements [eval.Agent].
func (e *evalAgent) Remember(ctx context.Context, m eval.Memory) (string, error) {
	e.clock.Set(m.CreatedAt)
	ack, err := e.Store().LongTerm.Write(ctx, amber.WriteRequest{Kind: m.Kind, Scope: amber.ScopeGlobal, Title: m.Title, Content: m.Content})
	return string(ack.ID), err
}

// Hear implements [eval.Agent]: the session comes in as the drain of the journal
// brings one.
func (e *evalAgent) Hear(ctx context.Context, s eval.Session) error {
	step := amber.IngestStep{
		At: s.At, Start: amber.SessionStart{ID: s.ID, Project: evalProject},
		End: &amber.SessionEnd{ID: s.ID, Reason: amber.EndEnded},
	}
	for _, t := range s.Turns {
		step.Turns = append(step.Turns, amber.Turn{
			ID: t.ID, SessionID: s.ID, Role: t.Role, Content: t.Content, ProjectID: evalProject, CreatedAt: t.At,
		})
	}
	e.clock.Set(s.Turns[len(s.Turns)-1].At)
	journal := sha256.Sum256([]byte(s.ID))
	_, err := e.Store().Ingest.Ingest(ctx, amber.Ingestion{
		Journal: hex.EncodeToString(journal[:16]), Host: string(hook.ClaudeCode), Session: s.ID, Through: 1, LastAt: s.At,
		Steps: []amber.IngestStep{step},
	})
	return err
}

// Index implements [eval.Agent]: words were indexed with what was written, vectors are made
// now, and a server beside the store gets everything.
func (e *evalAgent) Index(ctx context.Context) error {
	x, err := e.Agent.Index()
	if err != nil {
		return err
	}
	if err := x.SyncIndex(ctx, nil, nil); err != nil {
		return err
	}
	return e.feed(ctx)
}

// Ask implements [eval.Agent].
func (e *evalAgent) Ask(ctx context.Context, text string, at amber.Time, layers []amber.RecallLayer, limit int) (eval.Answer, error) {
	e.clock.Set(at)
	found, err := e.Store().LongTerm.Recall(ctx, amber.Query{
		Text: text, Layers: layers, Limit: limit,
		Filter: amber.Filter{Identities: amber.Identities{ProjectID: evalProject}},
	})
	answer := eval.Answer{Degraded: found.Degraded}
	for _, h := range found.Hits {
		owner := h.Owner
		if owner == "" {
			owner = string(h.ID)
		}
		answer.Hits = append(answer.Hits, eval.Hit{Owner: owner, Session: string(h.SessionID), Score: h.Score})
	}
	return answer, err
}

// Size implements [eval.Agent].
func (e *evalAgent) Size() (total int64, err error) {
	err = filepath.WalkDir(e.dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	if err != nil {
		return 0, &amber.Error{Op: "measure temporary home", Kind: amber.KindInternal, Err: err}
	}
	return total, nil
}

// Close implements [eval.Agent].
func (e *evalAgent) Close() error {
	e.leave()
	return errors.Join(e.Agent.Close(), os.RemoveAll(e.dir))
}
