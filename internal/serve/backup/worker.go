package backup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/base/timetable"
	"github.com/amber-memory/amber/internal/serve/server"
)

// Outcome is how a backup ended that did not fail.
type Outcome string

// The outcomes.
const (
	Made      Outcome = "backed up"
	Unchanged Outcome = "unchanged"
	Nothing   Outcome = "without notes"
)

// Worker keeps the notes of every agent in a vault: at the scheduled times, and after sessions. It
// writes down that a backup is due before it tries one, and tries until one succeeds, whatever is
// restarted or away meanwhile. One goroutine uses it.
type Worker struct {
	Clock   amber.Clock // in the location whose calendar counts
	Records Records
	Config  func() config.Vault
	Agents  func() ([]server.AgentName, error)
	// Mark returns a text that changes whenever the agent changes; "" if that is
	// not known.
	Mark func(server.AgentName) string
	// Ended reports whether a session of an agent ended from since on until now.
	// When none did, ahead is when the first of those ends that are still to
	// come, the zero time without one: another machine's clock may be ahead.
	Ended func(ctx context.Context, k server.AgentName, since, now amber.Time) (ended bool, ahead amber.Time, err error)
	// Backup makes one. Its error may have a method RetryAfter.
	Backup  func(ctx context.Context, k server.AgentName, c config.Vault) (Outcome, error)
	Observe Observer
	Log     *slog.Logger

	was    config.Vault // the configuration of the last round
	states map[server.AgentName]*State
	looked map[server.AgentName]glance
	hold   time.Time // no agent is tried before: the vault answers no agent, or not yet
	misses int       // attempts that it did not answer, one after the other
	began  bool      // there was a round
}

// glance is what a look at the sessions of an agent found: nothing, until the
// agent has another mark, or the time has come.
type glance struct {
	mark  string
	ahead amber.Time // zero: there is no such time
}

// Observer is told about backups; it counts them.
type Observer interface {
	Backup(tenant amber.TenantID, agent amber.AgentID, unchanged bool, err error)
	// BackedUp tells when the last one succeeded, BackupsFail since when they
	// fail; the zero time for never.
	BackedUp(tenant amber.TenantID, agent amber.AgentID, at amber.Time)
	BackupsFail(tenant amber.TenantID, agent amber.AgentID, since amber.Time)
}

// round looks for the agents that are due and backs them up. It reports whether there is news, and
// what the news is: which agents fail now, since when and why.
func (b *Worker) round(ctx context.Context) (detail string, failing error, news bool) {
	c := b.Config()
	first := !b.began
	b.began = true
	if c.URL == "" || c.Schedule == timetable.Off && !c.AfterSession {
		news = first || b.on()
		b.forget(nil, true)
		b.states, b.looked = nil, nil
		return "off", nil, news
	}
	first = b.begin(c) || first
	keys, err := b.Agents()
	errs := []error{err}
	b.forget(keys, err == nil)
	due, err := b.whoIsDue(ctx, c, keys)
	errs = append(errs, err)
	did := map[Outcome]int{}
	for _, k := range due {
		if ctx.Err() != nil {
			return "", nil, false
		}
		if b.held() {
			break
		}
		outcome, err := b.try(ctx, k, c)
		if ctx.Err() != nil {
			return "", nil, false
		}
		news = true
		did[outcome]++
		errs = append(errs, err)
	}
	detail = fmt.Sprintf("%d backed up, %d unchanged", did[Made], did[Unchanged]) + b.lastSuccess()
	return detail, server.JoinSome(append(errs, b.failing()...)), news || first || errors.Join(errs...) != nil
}

// on reports whether the last round had something to do.
func (b *Worker) on() bool { return b.states != nil }

// begin takes a configuration. A configuration that differs from the last one is a reason to try at
// once: a person may have corrected it.
func (b *Worker) begin(c config.Vault) (changed bool) {
	if b.on() && reflect.DeepEqual(c, b.was) {
		return false
	}
	b.was, b.hold, b.misses = c, time.Time{}, 0
	b.forget(nil, true)
	b.states, b.looked = map[server.AgentName]*State{}, map[server.AgentName]glance{}
	return true
}

// forget lets go of agents that are not there any more.
func (b *Worker) forget(keys []server.AgentName, all bool) {
	if !all {
		return
	}
	there := map[server.AgentName]bool{}
	for _, k := range keys {
		there[k] = true
	}
	for k := range b.states {
		if !there[k] {
			delete(b.states, k)
			delete(b.looked, k)
			b.Observe.BackedUp(k.Tenant, k.Agent, amber.Time{})
			b.Observe.BackupsFail(k.Tenant, k.Agent, amber.Time{})
		}
	}
}

// whoIsDue returns the agents to be backed up now, those first that wait the longest since they
// were tried. An error about one agent does not keep the others from their turn.
func (b *Worker) whoIsDue(ctx context.Context, c config.Vault, keys []server.AgentName) ([]server.AgentName, error) {
	table, err := timetable.Parse(c.Schedule)
	errs := []error{err}
	var due []server.AgentName
	for _, k := range keys {
		if ctx.Err() != nil {
			break
		}
		st, err := b.mind(ctx, k, c, table)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s/%s: %w", k.Tenant, k.Agent, err))
			continue
		}
		now := amber.At(b.Clock())
		if wait := st.Next.Time().Sub(now.Time()); !st.DueSince.IsZero() && (wait <= 0 || wait > maxWait) {
			due = append(due, k)
		}
	}
	slices.SortStableFunc(due, func(x, y server.AgentName) int {
		return cmp.Compare(b.states[x].Tried.Time().UnixNano(), b.states[y].Tried.Time().UnixNano())
	})
	return due, server.JoinSome(errs)
}

// mind returns what is known about an agent, and writes down when it has become
// due.
func (b *Worker) mind(ctx context.Context, k server.AgentName, c config.Vault, table timetable.Table) (*State, error) {
	st, err := b.state(k, c)
	if err != nil || !st.DueSince.IsZero() {
		return st, err
	}
	now := b.Clock()
	reason := ""
	if b.scheduled(st, table, now) {
		reason = "schedule"
	} else if c.AfterSession {
		ended, err := b.sessionEnded(ctx, k, st, now)
		if err != nil {
			return st, err
		}
		if ended {
			reason = "session"
		}
	}
	if reason == "" {
		return st, nil
	}
	next := *st
	next.DueSince, next.Reason = amber.At(now), reason
	if err := b.Records.Write(k, next); err != nil {
		return st, err
	}
	*st = next
	return st, nil
}

// state returns what is known about an agent, and reads it from the record the first time. A record
// of another vault says nothing about this vault. A record that is damaged costs a backup, which is
// made at once.
func (b *Worker) state(k server.AgentName, c config.Vault) (*State, error) {
	if st, ok := b.states[k]; ok {
		return st, nil
	}
	vault := VaultName(c)
	st, err := b.Records.Read(k)
	switch {
	case amber.KindOf(err) == amber.KindDamaged:
		b.Log.Warn("vault backup", "tenant", k.Tenant, "agent", k.Agent, "error", err)
		st = State{Vault: vault, DueSince: amber.At(b.Clock()), Reason: "damage"}
		if err := b.Records.Write(k, st); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	case st.Vault != vault:
		st = State{DueSince: st.DueSince, Reason: st.Reason}
	}
	st.Vault, st.Next = vault, amber.Time{}
	b.states[k] = &st
	b.show(k)
	return &st, nil
}

// VaultName tells vaults apart.
func VaultName(c config.Vault) string { return c.URL + " " + c.Label }

// scheduled reports whether it is time. The last time that is one to come is of
// a clock that was wrong, and does not count.
func (b *Worker) scheduled(st *State, table timetable.Table, now time.Time) bool {
	last := st.Began.Time().In(now.Location())
	if table.Off() {
		return false
	}
	if st.Began.IsZero() || last.After(now) {
		return true
	}
	due, ok := table.Next(last)
	return ok && !due.After(now)
}

// sessionEnded reports whether a session has ended that the last backup does not
// cover. It looks when the agent has changed.
func (b *Worker) sessionEnded(ctx context.Context, k server.AgentName, st *State, now time.Time) (bool, error) {
	mark := b.Mark(k)
	if last, ok := b.looked[k]; ok && mark != "" && mark == last.mark && !last.over(now) {
		return false, nil
	}
	since := st.Began
	if since.Time().After(now) {
		since = amber.Time{}
	}
	ended, ahead, err := b.Ended(ctx, k, since, amber.At(now))
	if err == nil && !ended {
		b.looked[k] = glance{mark, ahead}
	}
	return ended, err
}

// over reports whether the time has come to look again.
func (g glance) over(now time.Time) bool { return !g.ahead.IsZero() && !now.Before(g.ahead.Time()) }

// show reports to the observer what is known about an agent. An agent without notes has nothing in
// the vault that could grow old.
func (b *Worker) show(k server.AgentName) {
	st := b.states[k]
	success := st.Success
	if st.Success != st.Began {
		success = amber.Time{}
	}
	b.Observe.BackedUp(k.Tenant, k.Agent, success)
	b.Observe.BackupsFail(k.Tenant, k.Agent, st.FailingSince)
}

// Run makes rounds until ctx ends.
func (b *Worker) Run(ctx context.Context, report server.Report) error {
	return server.Every(ctx, time.Second, func() {
		detail, failing, news := b.round(ctx)
		if news && ctx.Err() == nil {
			report(detail, failing)
		}
	})
}
