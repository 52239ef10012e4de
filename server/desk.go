package server

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/amber-memory/amber"
)

// Desk is where requests of every door come in. Agents is required.
type Desk struct {
	Agents Agents
	// Audit is told of every change; nil: nobody is.
	Audit amber.AuditLog
	// BeforeTool is called before a tool of an agent host changes something; an
	// error keeps it from doing so. Nil: nobody is asked.
	BeforeTool func(ctx context.Context, tenant amber.TenantID, agent amber.AgentID, tool string) error
	// Observe is told of every call of a tool: how it ended and how long it
	// took, by Clock. Nil: nobody is.
	Observe func(tool string, err error, took time.Duration)
	Clock   amber.Clock  // needed for Observe
	Log     *slog.Logger // nil: silent

	// deaf is set while the audit log cannot be written: no change is begun
	// then.
	deaf atomic.Bool
}

// Job is one thing to be done with an agent.
type Job struct {
	Tenant amber.TenantID
	Agent  amber.AgentID // "": it concerns the whole tenant
	Scope  amber.TokenScope
	Action string // for the audit log, "memory.write"
	// Mutates says that something is changed, so it is written down.
	Mutates bool
	// Subject is the id it is about, where that is known before.
	Subject string
	// Closed says that the store of the agent is not needed, so it is not
	// opened: it may be missing or damaged. [Agents] is asked for the tenant.
	Closed bool
}

// Do does a job for the caller of ctx: it looks whether that is allowed, opens
// the agent, calls fn and writes down what became of it. Fn returns the id it
// was about, "" to leave the one of the job. What fn changed is recorded before
// Do returns nil; when that fails the error says so, and nothing is changed any
// more until it works again. Errors: those of [Caller.Allow], of the agents and
// of fn.
func (d *Desk) Do(ctx context.Context, j Job, fn func(ctx context.Context, a *Agent) (subject string, err error)) error {
	tool, ok := strings.CutPrefix(j.Action, ToolAction)
	if !ok || d.Observe == nil || d.Clock == nil {
		return d.do(ctx, j, fn)
	}
	started := d.Clock()
	err := d.do(ctx, j, fn)
	d.Observe(tool, err, d.Clock().Sub(started))
	return err
}

func (d *Desk) do(ctx context.Context, j Job, fn func(ctx context.Context, a *Agent) (subject string, err error)) error {
	c := CallerOf(ctx)
	if err := c.Allow(j.Tenant, j.Agent, j.Scope); err != nil {
		if j.Mutates && amber.KindOf(err) == amber.KindRefused {
			err = errors.Join(err, d.record(ctx, c, j, err))
		}
		return err
	}
	if j.Mutates && d.deaf.Load() {
		if err := d.record(ctx, c, Job{Tenant: j.Tenant, Agent: j.Agent, Action: "audit.resume"}, nil); err != nil {
			return err
		}
	}
	agent, release, err := d.open(ctx, c, j)
	if err != nil {
		return err
	}
	defer release()
	if !j.Mutates {
		_, err := fn(ctx, agent)
		return err
	}
	subject := ""
	if err = d.beforeTool(ctx, j); err == nil {
		subject, err = fn(ctx, agent)
	}
	if subject != "" {
		j.Subject = subject
	}
	return errors.Join(err, d.record(ctx, c, j, err))
}

// open opens the agent of a job. Whoever may write makes it by using it.
func (d *Desk) open(ctx context.Context, c Caller, j Job) (*Agent, func(), error) {
	if j.Closed {
		return d.Agents.Agent(ctx, j.Tenant, "", false)
	}
	return d.Agents.Agent(ctx, j.Tenant, j.Agent, j.Agent != "" && c.Grant.Has(amber.TokenWrite))
}

// ToolAction begins the actions of tools of agent hosts; the tool follows.
const ToolAction = "mcp."

func (d *Desk) beforeTool(ctx context.Context, j Job) error {
	tool, ok := strings.CutPrefix(j.Action, ToolAction)
	if !ok || d.BeforeTool == nil {
		return nil
	}
	return d.BeforeTool(ctx, j.Tenant, j.Agent, tool)
}

// record writes a job down, also when the caller has gone meanwhile.
func (d *Desk) record(ctx context.Context, c Caller, j Job, outcome error) error {
	if d.Audit == nil {
		return nil
	}
	if amber.CheckID("subject", j.Subject) != nil {
		j.Subject = "" // a request that names what is no id was not about anything
	}
	e := amber.AuditEntry{
		Tenant: j.Tenant, Agent: j.Agent, Actor: c.Actor(), Action: j.Action, Subject: j.Subject,
		Outcome: "ok", RequestID: c.RequestID,
	}
	if outcome != nil {
		e.Outcome = string(amber.KindOf(outcome))
	}
	err := d.Audit.Record(context.WithoutCancel(ctx), e)
	d.deaf.Store(err != nil)
	if err == nil {
		return nil
	}
	if d.Log != nil {
		d.Log.ErrorContext(ctx, "audit log cannot be written", "error", err, "action", j.Action, "request_id", c.RequestID)
	}
	return &amber.Error{Op: "write audit log", Kind: amber.KindInternal, ID: j.Subject, Err: err, Hint: "amber audit verify"}
}
