package web

import (
	"context"
	"maps"
	"time"

	"github.com/amber-memory/amber/client"
	"github.com/amber-memory/amber/wire"
)

// quick is how long a form waits for work that may be done at once.
const quick = 1500 * time.Millisecond

// begin starts work for the visitor that goes on when the request has ended. The work asks the API with the token
// of the visitor, and the API reports to the job how far it is.
func (v *visit) begin(j *job, work func(ctx context.Context, a *client.Agent) (any, error)) error {
	j.Tenant, j.Agent, j.Wide = v.tenant, v.agent, v.grant.Tenant == ""
	a, err := v.detached().remote()
	if err != nil {
		return err
	}
	return v.p.jobs.start(j, func(ctx context.Context, j *job) (any, error) {
		return work(wire.WithProgress(ctx, j.tell), a)
	})
}

// detached is the visit for work that outlives its request.
func (v *visit) detached() *visit {
	d := *v
	d.r = v.r.Clone(context.WithoutCancel(v.r.Context()))
	d.w, d.log = &answer{header: maps.Clone(v.w.Header())}, &calls{}
	return &d
}

// await waits a moment for a job and reports whether it has ended.
func (v *visit) await(j *job) bool {
	t := time.NewTimer(quick)
	defer t.Stop()
	select {
	case <-j.over:
		return true
	case <-t.C:
	case <-v.r.Context().Done():
	}
	return false
}

// jobPath is the address of a job. It holds the subject of the job, so that the page can still report what became
// of the job when the server has forgotten it.
func (v *visit) jobPath(j *job, pairs ...string) string {
	at := []string{"at", j.Begun.String()}
	return addQuery(v.path("jobs", j.ID), append(at, pairs...)...)
}
