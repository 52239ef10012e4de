package server

import (
	"context"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/guard/audited"
	"github.com/amber-memory/amber/internal/guard/intake"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

// listening returns nil when the audit log can be written, as far as is known.
func (d *Desk) listening(ctx context.Context, c op.Caller, j Job) error {
	if !d.deaf.Load() {
		return nil
	}
	return d.record(ctx, c, Job{Tenant: j.Tenant, Agent: j.Agent, Action: "audit.resume"}, nil)
}

// entries are the audit entries of a job that stores write into the transactions of its changes, where they can.
// Nil has no entries.
type entries struct {
	desk *Desk
	job  *audited.Job
	of   func(subject string) wire.AuditEntry
}

// entering returns the entries of a job; nil where they cannot be written with its changes.
func (d *Desk) entering(c op.Caller, j Job) *entries {
	if d.Audit == nil || d.Enter == nil || j.Home {
		return nil
	}
	of := func(subject string) wire.AuditEntry {
		one := j
		one.Subject = subject
		return entryOf(c, one, nil)
	}
	return &entries{d, audited.NewJob(j.Subject, func(ctx context.Context, conn audited.Conn, at amber.Time, subject string) error {
		return d.Enter(ctx, conn, at, of(subject))
	}), of}
}

// with returns the context in which stores find the entries.
func (e *entries) with(ctx context.Context) context.Context {
	if e == nil {
		return ctx
	}
	return audited.With(ctx, e.job)
}

// end returns the subjects of the entries that are written.
func (e *entries) end() []string {
	if e == nil {
		return nil
	}
	subjects := e.job.End()
	for _, s := range subjects {
		if e.desk.Entered != nil {
			e.desk.Entered(e.of(s))
		}
	}
	return subjects
}

// recordAll writes down what became of a job: an entry for each thing that was done, and one for the job where
// nothing was done or the job failed. Entered lists the things whose entries were written in the transactions of
// the changes; they are not written again. It returns the error of the job, if there is one, and else the
// error of the audit log.
func (d *Desk) recordAll(ctx context.Context, c op.Caller, j Job, entered, done []string, outcome error) error {
	var failed error
	for _, id := range done {
		if slices.Contains(entered, id) {
			continue
		}
		one := j
		one.Subject = id
		if err := d.record(ctx, c, one, nil); err != nil {
			failed = err
		}
	}
	if len(done) == 0 && len(entered) == 0 || outcome != nil {
		if err := d.record(ctx, c, j, outcome); err != nil {
			failed = err
		}
	}
	if outcome != nil {
		return outcome
	}
	return failed
}

// record writes a job down, also when the caller has gone meanwhile. Where the same attempt of the same caller was
// refused within the last minute, the entry of that one covers this one too.
func (d *Desk) record(ctx context.Context, c op.Caller, j Job, outcome error) error {
	if d.Audit == nil {
		return nil
	}
	e := entryOf(c, j, outcome)
	try := attempt{e.Actor, e.Action, e.Outcome}
	if try.folds() && d.Clock != nil && d.repeats.again(try, d.Clock()) {
		return nil
	}
	err := d.Audit.Record(context.WithoutCancel(ctx), e)
	d.deaf.Store(err != nil)
	if err == nil {
		return nil
	}
	d.repeats.forget(try)
	if d.Log != nil {
		d.Log.ErrorContext(ctx, "audit log cannot be written", "error", err, "action", j.Action, "request_id", c.RequestID)
	}
	return &amber.Error{Op: "write audit log", Kind: amber.KindInternal, ID: e.Subject, Err: err, Hint: "amber audit verify"}
}

// entryOf is the entry about what became of a job.
func entryOf(c op.Caller, j Job, outcome error) wire.AuditEntry {
	if amber.CheckID("subject", j.Subject) != nil {
		j.Subject = "" // a request that names what is no id was not about anything
	}
	e := wire.AuditEntry{
		Tenant: j.Tenant, Agent: j.Agent, Actor: c.Actor(), Action: j.Action, Subject: j.Subject,
		Outcome: "ok", RequestID: c.RequestID,
	}
	if outcome != nil {
		e.Outcome = string(amber.KindOf(outcome))
	}
	return e
}

// clean takes secrets out of what a call writes, to the store of the agent and elsewhere, and counts them in the context.
func (d *Desk) clean(ctx context.Context, c *op.Call) context.Context {
	if d.Redact == nil {
		return ctx
	}
	rules := d.Redact()
	if rules == nil {
		return ctx
	}
	ctx, _ = intake.WithReport(ctx)
	clean := *c.Agent
	clean.Store = intake.CleanAll(c.Store, rules)
	c.Agent = &clean
	c.Clean = func(text string) string { return intake.Text(ctx, rules, text) }
	return ctx
}
