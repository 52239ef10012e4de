package capture

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/capture/hook"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/capture/project"
	"github.com/amber-memory/amber/internal/recall/contextblock"
	"github.com/amber-memory/amber/internal/serve/hooksocket"
	"github.com/amber-memory/amber/wire"
)

// injectContext answers a host with memories for a session or a prompt that begins, and
// keeps which passages these were. Without a store, or where it would have to be migrated
// or does not answer in time, the answer is empty; it says on stderr that the time was up.
// Served reports that the server of the home found the memories: it runs and knows the agent.
func (a *app) injectContext(ctx context.Context, f hookFlags, loaded config.Loaded, at *agent.Agent, j *journal.Journal, ev journal.HostEvent, has project.Grant) (served bool, err error) {
	budget := f.context
	if !f.contextSaid {
		budget = loaded.Config.Context.Budget
	}
	if budget <= 0 {
		return false, nil
	}
	block, served, err := a.hookContext(ctx, budget, loaded, at, j, ev)
	switch {
	case err != nil && (amber.KindOf(err) != amber.KindNotFound || loaded.Config.IsEdge()): // a server that has no such agent, or does not tell
		a.Out.Note("no memories were found for the agent: %v", err)
	case block.Late, block.Degraded != "" && block.Text != "":
		a.Out.Note("memories for the agent: %s", block.Degraded)
	}
	if has.Asks != "" && hook.OccasionOf(ev) == wire.OccasionStart {
		text, err := contextblock.WithNotice(block.Text, a.Random)
		if err != nil {
			return served, err
		}
		block.Text = text
	}
	reply := hook.Reply(ev, block.Text)
	if len(reply) == 0 {
		return served, nil
	}
	if _, err := a.Stdout.Write(reply); err != nil || len(block.Items) == 0 {
		return served, err
	}
	err = (hook.Keeper{Journal: j, Timeout: f.timeout}).Keep(context.WithoutCancel(ctx), hook.Shown(ev, block.Items))
	if err != nil {
		a.Out.Note("what was put before the agent is not kept, and may come again: %v", err)
	}
	return served, nil
}

// hookContext looks for memories until the budget is used up. It writes nothing. It asks the server of the home
// where there is one, or the process that drains the journal: that process has a store that is open and a warm
// index. This process looks into the store itself where the other one refuses, does not take the request in a
// third of the budget, or does not answer while there is time to open the store; the first answer counts.
// Served reports whether the answer is from the server of the home. Where memory lies on a server elsewhere,
// hookContext asks that server alone.
func (a *app) hookContext(ctx context.Context, budget time.Duration, loaded config.Loaded, at *agent.Agent, j *journal.Journal, ev journal.HostEvent) (block wire.ContextBlock, served bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	late := amber.Errorf(amber.KindUnreachable, "build context", "", "the time of %v is used up", budget).WithHint("set context.budget in the configuration")
	r, err := hookRequest(ctx, loaded, j, ev)
	if err != nil {
		return block, false, err
	}
	if loaded.Config.IsEdge() {
		block, err = askServer(ctx, at, r)
		if err != nil && ctx.Err() != nil {
			err = late
		}
		return block, false, err
	}
	server := hooksocket.OfServer(at.Home().Dir())
	var others <-chan answered
	if sockets := a.nearSockets(at); len(sockets) > 0 {
		taken := make(chan struct{})
		others = inBackground(func() answered { return a.askNear(ctx, sockets, loaded.Config, r, taken) })
		got, ok := patiently(ctx, budget, others, taken)
		if ok && got.err == nil {
			return got.block, got.socket == server, nil
		}
		if ok {
			others = nil
		}
	}
	here := inBackground(func() answered { return a.buildHere(ctx, loaded, r) })
	for {
		select {
		case got := <-others:
			if others = nil; got.err == nil {
				return got.block, got.socket == server, nil
			}
		case got := <-here:
			switch {
			case got.err == nil:
				return got.block, false, nil
			case errors.Is(got.err, context.DeadlineExceeded) || ctx.Err() != nil:
				return block, false, late
			case others == nil:
				return block, false, got.err
			}
			here = nil
		case <-ctx.Done():
			return block, false, late
		}
	}
}

// askServer asks the server where the memory of an edge lies, until ctx ends.
func askServer(ctx context.Context, at *agent.Agent, r wire.ContextRequest) (wire.ContextBlock, error) {
	asked := inBackground(func() (got answered) {
		got.block, got.err = at.AskServer(ctx, r)
		return got
	})
	select {
	case got := <-asked:
		return got.block, got.err
	case <-ctx.Done():
		return wire.ContextBlock{}, ctx.Err()
	}
}

// timeToOpen is what opening a large store takes on a busy machine. With less, a process that
// is at work is nearer to an answer, and opening the store would take processor time from it.
const timeToOpen = 500 * time.Millisecond

// patiently waits for another process: a third of the budget for a sign that it has taken the
// request, and then two thirds, or all of a budget that has no time to open the store.
func patiently(ctx context.Context, budget time.Duration, others <-chan answered, taken <-chan struct{}) (got answered, ok bool) {
	first, stop := context.WithTimeout(ctx, budget/3)
	defer stop()
	patience := budget * 2 / 3
	if budget-patience < timeToOpen {
		patience = budget
	}
	then, stopThen := context.WithTimeout(ctx, patience)
	defer stopThen()
	select {
	case got = <-others:
		return got, true
	case <-first.Done():
		return got, false
	case <-taken:
	}
	select {
	case got = <-others:
		return got, true
	case <-then.Done():
		return got, false
	}
}

// answered is what came of a search for memories.
type answered struct {
	block  wire.ContextBlock
	socket string // where it was asked for; "": it was made here
	err    error
}

// inBackground runs find, which may panic.
func inBackground(find func() answered) <-chan answered {
	found := make(chan answered, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				found <- answered{err: amber.Errorf(amber.KindInternal, "build context", "", "panic: %v", r)}
			}
		}()
		found <- find()
	}()
	return found
}

// hookRequest is the request for the context of an event.
func hookRequest(ctx context.Context, loaded config.Loaded, j *journal.Journal, ev journal.HostEvent) (wire.ContextRequest, error) {
	known, err := hook.ShownBefore(ctx, j, journal.Session{Host: ev.Host, ID: ev.SessionID})
	if err != nil {
		return wire.ContextRequest{}, err
	}
	goal := ev.Prompt
	if len(goal) > amber.MaxQueryBytes {
		goal = strings.ToValidUTF8(goal[:amber.MaxQueryBytes], "")
	}
	return wire.ContextRequest{
		RecallInput: amber.RecallInput{Goal: goal, Identities: amber.Identities{SessionID: ev.SessionID, ProjectID: ev.Project}},
		Occasion:    hook.OccasionOf(ev), Known: known, MaxBytes: max(loaded.Config.Context.MaxBytes, wire.MinContextBytes),
	}, nil
}

// hookGC is how many percent the memory of a hook that opens the store may grow between two
// collections: all of them, not only the first as of every process.
const hookGC = 1000

// buildHere opens the store and builds the context.
func (a *app) buildHere(ctx context.Context, loaded config.Loaded, r wire.ContextRequest) (got answered) {
	defer a.GCPercent(hookGC)() // the process ends before much is to be collected
	s, err := a.Look(ctx, loaded)
	if err != nil {
		return answered{err: err}
	}
	defer s.Close()
	got.block, got.err = s.Local.Context(ctx, r)
	return got
}
