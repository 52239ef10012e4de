package server

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// listening returns nil when the audit log can be written, as far as is known.
func (d *Desk) listening(ctx context.Context, c Caller, j Job) error {
	if !d.deaf.Load() {
		return nil
	}
	return d.record(ctx, c, Job{Tenant: j.Tenant, Agent: j.Agent, Action: "audit.resume"}, nil)
}

// recordAll writes down what became of a job: an entry for each thing that was
// done, and one for the job where there is none or it failed. It returns the
// outcome; why the log could not be written is told only where nothing else went
// wrong.
func (d *Desk) recordAll(ctx context.Context, c Caller, j Job, done []string, outcome error) error {
	var failed error
	for _, id := range done {
		one := j
		one.Subject = id
		if err := d.record(ctx, c, one, nil); err != nil {
			failed = err
		}
	}
	if len(done) == 0 || outcome != nil {
		if err := d.record(ctx, c, j, outcome); err != nil {
			failed = err
		}
	}
	if outcome != nil {
		return outcome
	}
	return failed
}

// record writes a job down, also when the caller has gone meanwhile. Where the
// caller was told no to the same within the last minute, that entry stands for
// this one too.
func (d *Desk) record(ctx context.Context, c Caller, j Job, outcome error) error {
	if d.Audit == nil {
		return nil
	}
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
	return &amber.Error{Op: "write audit log", Kind: amber.KindInternal, ID: j.Subject, Err: err, Hint: "amber audit verify"}
}
