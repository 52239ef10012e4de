package web

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/client"
	"github.com/amber-memory/amber/wire"
)

// quick is how long a form waits for work that may be done at once.
const quick = 1500 * time.Millisecond

// begin starts work for the visitor that goes on when the request has ended. The work asks the API with the token
// of the visitor, and the API reports to the job how far it is.
func (v *visit) begin(j *job, work func(ctx context.Context, a *client.Agent) (any, error)) error {
	j.Tenant, j.Agent, j.Wide = v.tenant, v.agent, v.grant.Tenant == ""
	d, err := v.detached()
	if err != nil {
		return err
	}
	return v.p.jobs.start(j, func(ctx context.Context, j *job) (any, error) {
		return work(wire.WithProgress(ctx, j.tell), d.remote)
	})
}

// detached is the visit for work that outlives its request.
func (v *visit) detached() (*visit, error) {
	d := *v
	d.r = v.r.Clone(context.WithoutCancel(v.r.Context()))
	d.w, d.log = &answer{header: maps.Clone(v.w.Header())}, &calls{}
	return &d, d.connect()
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

// How many jobs go on at the same time and how many are remembered. Each bound of an agent or a tenant is its own,
// so that no agent or tenant takes the room of others.
const (
	agentRuns  = 4
	tenantRuns = 32
	agentJobs  = 16
	tenantJobs = 128
	maxJobs    = 2048
)

// room makes room for a job: the oldest report of the agent goes where the agent has too many, that of the
// tenant where the tenant has, and where all have, that of the tenant that has most. Errors: busy when too many
// jobs go on.
func (s *jobs) room(j *job) error {
	ofAgent := func(k *job) bool { return k.Tenant == j.Tenant && k.Agent == j.Agent }
	ofTenant := func(k *job) bool { return k.Tenant == j.Tenant }
	if n := s.count(func(k *job) bool { return ofAgent(k) && k.goesOn() }); n >= agentRuns {
		return amber.Errorf(amber.KindBusy, "begin work", string(j.Agent), "%d jobs of this agent are running: wait until one has ended", n)
	}
	if n := s.count(func(k *job) bool { return ofTenant(k) && k.goesOn() }); n >= tenantRuns {
		return amber.Errorf(amber.KindBusy, "begin work", string(j.Tenant), "%d jobs of this tenant are running: wait until one has ended", n)
	}
	if s.count(ofAgent) >= agentJobs {
		s.forget(ofAgent)
	}
	if s.count(ofTenant) >= tenantJobs {
		s.forget(ofTenant)
	}
	if len(s.known) >= maxJobs && !s.forget(s.ofLargest()) {
		return amber.Errorf(amber.KindBusy, "begin work", "", "the server has too much work")
	}
	return nil
}

func (j *job) goesOn() bool { return j.progress().Ended.IsZero() }

func (s *jobs) count(which func(*job) bool) (n int) {
	for _, j := range s.known {
		if which(j) {
			n++
		}
	}
	return n
}

// forget forgets the oldest of some jobs that has ended, and reports whether there was one.
func (s *jobs) forget(which func(*job) bool) bool {
	i := slices.IndexFunc(s.known, func(j *job) bool { return which(j) && !j.goesOn() })
	if i >= 0 {
		s.known = slices.Delete(s.known, i, i+1)
	}
	return i >= 0
}

// ofLargest chooses the jobs of the tenant with the most that have ended.
func (s *jobs) ofLargest() func(*job) bool {
	ended, most := map[amber.TenantID]int{}, amber.TenantID("")
	for _, j := range s.known {
		if !j.goesOn() {
			if ended[j.Tenant]++; ended[j.Tenant] > ended[most] {
				most = j.Tenant
			}
		}
	}
	return func(j *job) bool { return j.Tenant == most }
}
