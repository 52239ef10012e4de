package server

import (
	"cmp"
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/guard/audited"
	"github.com/amber-memory/amber/internal/guard/intake"
	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

// Desk is where requests of every door come in. Agents is required.
type Desk struct {
	Agents Agents
	// Audit is called for every change; it may be nil.
	Audit wire.AuditLog
	// Enter writes an audit entry into the transaction of the change that the entry is about, for stores that can
	// do that: such a change is never without its entry. Enter may be nil: then every entry is written after the
	// change.
	Enter func(ctx context.Context, c audited.Conn, at amber.Time, e wire.AuditEntry) error
	// Entered is called with every entry that Enter wrote, once the entry is durable. It may be nil.
	Entered func(wire.AuditEntry)
	// BeforeTool is called before a tool of an agent host changes something; an
	// error stops the tool. It may be nil.
	BeforeTool func(ctx context.Context, tenant amber.TenantID, agent amber.AgentID, tool string) error
	// Observe is called after every call of a tool, with its outcome and how long
	// it took by Clock. It may be nil.
	Observe func(tool string, err error, took time.Duration)
	// Refused is called for every caller whose grant does not reach an agent, or
	// lacks the scope for a job. It may be nil.
	Refused func()
	// Changed is called after every job that may have changed an agent, and must
	// not block. It may be nil.
	Changed func(AgentName)
	// Redact returns the rules by which secrets are taken out of what jobs write;
	// nil, or a function that returns nil: nothing is taken.
	Redact func() *redact.Redactor
	Clock  amber.Clock  // needed for Observe, and to fold refused attempts in the audit log
	Log    *slog.Logger // nil: silent

	// deaf is set while the audit log cannot be written: no change is begun
	// then.
	deaf    atomic.Bool
	locks   locks
	repeats repeats
}

// Job is one thing to be done with an agent.
type Job struct {
	Tenant amber.TenantID
	Agent  amber.AgentID // "": it concerns the whole tenant
	Scope  wire.TokenScope
	// Reads says that the answer shows stored text by its nature, so the caller needs the scope read, too.
	Reads  bool
	Action string // for the audit log, "memory.write"
	// Mutates says that the job changes something, so the desk writes it down.
	Mutates bool
	// Subject is the id that the job is about, where that is known before.
	Subject string
	// Closed says that the store of the agent is not needed, so it is not
	// opened: it may be missing or damaged. [Agents] is asked for the tenant.
	Closed bool
	// Existing says that an agent that is not there is never made.
	Existing bool
	// Within says that the job stays within what a bound caller reaches. A bound caller is refused every other job,
	// see [wire.Bound].
	Within bool
	// Home says that the job concerns what belongs to the home and to no agent: tokens and the audit log. Tenant
	// and Agent say which part of it, both "" for all; no agent is opened, and none need exist.
	Home bool
}

// Allowed says whether a caller may do the job. Errors: those of
// [op.Caller.Allow], or of [op.Caller.AllowPart].
func (j Job) Allowed(c op.Caller) error {
	err := error(nil)
	if j.Home {
		err = c.AllowPart(j.Tenant, j.Agent, j.Scope)
	} else {
		err = c.Allow(j.Tenant, j.Agent, j.Scope)
	}
	if err == nil && j.Reads && !j.Home {
		err = c.Allow(j.Tenant, j.Agent, wire.TokenRead)
	}
	if err == nil && !j.Within {
		err = c.AllowWhole()
	}
	return err
}

// Do does a job for a caller: it checks that the caller may, opens the agent, calls fn and writes down what became
// of the job. Fn notes in its [op.Call] the ids that it worked on, also when it fails after a change. Do records
// the changes of fn in the audit log before it returns nil. When the log cannot be written, the error of Do says
// so, and the desk begins no further change until the log works again. Errors: those of [op.Caller.Allow], of the
// agents and of fn.
func (d *Desk) Do(ctx context.Context, c op.Caller, j Job, fn func(ctx context.Context, c *op.Call) error) error {
	tool, ok := strings.CutPrefix(j.Action, ToolAction)
	if !ok {
		return d.do(ctx, c, j, fn)
	}
	started := d.now()
	err := d.do(ctx, c, j, fn)
	d.ObserveTool(tool, err, started)
	return err
}

// ObserveTool reports a call of a tool to Observe. Started is when the call began; the zero time means that the
// call was refused before it began. Do reports its own calls.
func (d *Desk) ObserveTool(tool string, err error, started time.Time) {
	if d.Observe == nil || d.Clock == nil {
		return
	}
	var took time.Duration
	if !started.IsZero() {
		took = d.Clock().Sub(started)
	}
	d.Observe(tool, err, took)
}

// now is the current time; the zero time where Observe or Clock is nil, since no code needs the time then.
func (d *Desk) now() time.Time {
	if d.Observe == nil || d.Clock == nil {
		return time.Time{}
	}
	return d.Clock()
}

func (d *Desk) do(ctx context.Context, c op.Caller, j Job, fn func(ctx context.Context, c *op.Call) error) error {
	if err := j.Allowed(c); err != nil {
		return d.refuse(ctx, c, j, err)
	}
	if j.Mutates {
		if err := d.listening(ctx, c, j); err != nil {
			return err
		}
	}
	agent, release, err := d.open(ctx, c, j)
	if err != nil {
		return err
	}
	defer release()
	call := &op.Call{Agent: agent.Within(c.Grant.Bound), Caller: c}
	if !j.Mutates {
		return fn(ctx, call)
	}
	ctx = d.clean(ctx, call)
	call.Agent = call.Signed(c.Writer())
	entries := d.entering(c, j)
	if err = d.beforeTool(ctx, j); err == nil {
		err = fn(entries.with(ctx), call)
		d.changed(j)
	}
	if call.Redacted == nil {
		call.Redacted = intake.Taken(ctx)
	}
	j.Subject = cmp.Or(call.Subject, j.Subject)
	return d.recordAll(ctx, c, j, entries.end(), call.Did, err)
}

func (d *Desk) changed(j Job) {
	if d.Changed != nil && j.Agent != "" && !j.Home {
		d.Changed(AgentName{Tenant: j.Tenant, Agent: j.Agent})
	}
}

// refuse counts a caller that may not do a job. Where the error is refused and the job would have changed something,
// refuse also writes the attempt into the audit log.
func (d *Desk) refuse(ctx context.Context, c op.Caller, j Job, err error) error {
	kind := amber.KindOf(err)
	if d.Refused != nil && kind != amber.KindInvalid {
		d.Refused()
	}
	if kind != amber.KindRefused { // whose it would have been is not its business
		return err
	}
	if j.Mutates {
		_ = d.record(ctx, c, j, err) // it is in the log; the caller is told no
	}
	return err
}

// open opens the agent of a job. A caller that may write makes the agent by using it, also by reading: agents ask
// for memories before there are any.
func (d *Desk) open(ctx context.Context, c op.Caller, j Job) (*op.Agent, func(), error) {
	if j.Home {
		return &op.Agent{Tenant: j.Tenant, ID: j.Agent}, func() {}, nil
	}
	if j.Closed {
		return d.Agents.Agent(ctx, j.Tenant, "", false)
	}
	a, release, err := d.Agents.Agent(ctx, j.Tenant, j.Agent, false)
	if j.Agent == "" || j.Existing || amber.KindOf(err) != amber.KindNotFound || !c.Grant.Has(wire.TokenWrite) {
		return a, release, err
	}
	return d.create(ctx, c, j)
}

// Made writes down that a caller has made an agent by a job that was not its own. It is called inside of that job.
func (d *Desk) Made(ctx context.Context, c op.Caller, tenant amber.TenantID, agent amber.AgentID) error {
	return d.record(ctx, c, Job{Tenant: tenant, Agent: agent, Action: CreateAction}, nil)
}

// create makes the agent of a job and writes that down, once however many ask.
func (d *Desk) create(ctx context.Context, c op.Caller, j Job) (*op.Agent, func(), error) {
	unlock, err := d.Alone(ctx, j.Tenant, j.Agent)
	if err != nil {
		return nil, nil, err
	}
	defer unlock()
	a, release, err := d.Agents.Agent(ctx, j.Tenant, j.Agent, false)
	if amber.KindOf(err) != amber.KindNotFound {
		return a, release, err // another caller was faster, or the agent cannot be opened
	}
	if err := d.listening(ctx, c, j); err != nil {
		return nil, nil, err
	}
	made := Job{Tenant: j.Tenant, Agent: j.Agent, Action: CreateAction}
	entries := d.entering(c, made)
	a, release, err = d.Agents.Agent(entries.with(ctx), j.Tenant, j.Agent, true)
	entered := entries.end()
	if err != nil {
		return nil, nil, err
	}
	if len(entered) > 0 {
		return a, release, nil
	}
	if err := d.record(ctx, c, made, nil); err != nil {
		release()
		return nil, nil, err
	}
	return a, release, nil
}

const (
	// ToolAction begins the actions of tools of agent hosts; the tool follows.
	ToolAction = "mcp."
	// CreateAction is the action of making an agent, for every kind of job that makes one.
	CreateAction = "agent.create"
)

func (d *Desk) beforeTool(ctx context.Context, j Job) error {
	tool, ok := strings.CutPrefix(j.Action, ToolAction)
	if !ok || d.BeforeTool == nil {
		return nil
	}
	return d.BeforeTool(ctx, j.Tenant, j.Agent, tool)
}

// Deaf reports whether the last entry could not be written to the audit log. No
// change is begun until one can be.
func (d *Desk) Deaf() bool { return d.deaf.Load() }

// Listening returns nil when the audit log can be written. Where the last entry
// could not be, it tries.
func (d *Desk) Listening(ctx context.Context) error { return d.listening(ctx, op.Caller{}, Job{}) }
